"""Hold a judge against labels: the judge, behind the guard, that runs in production."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from groundguard.errors import UsageError
from groundguard.evaluation.calibration.labels import Label, Labeller, content_hash
from groundguard.evaluation.calibration.record import ENOUGH, Calibration, Case, Rate, Row
from groundguard.evaluation.calibration.sweep import swept
from groundguard.evaluation.statistics.agreement import (
    Table,
    balanced_accuracy,
    balanced_interval,
    kappa,
    kappa_interval,
)
from groundguard.evaluation.statistics.intervals import upper_bound, wilson
from groundguard.evaluation.statistics.rank import auroc, auroc_interval
from groundguard.evaluation.statistics.samples import to_bound
from groundguard.guard import Guard
from groundguard.judges import Judge
from groundguard.judges.base import FunctionJudge
from groundguard.records import Decision, Response, Verdict

TARGET = 0.1
"""The false-pass rate that is asked to be shown, unless told."""

Counted = Callable[[], object]
"""Called once an answer, for progress."""


def calibrate(
    labels: Sequence[Label],
    judge: object,
    *,
    timeout: float | None = 30.0,
    concurrency: int = 8,
    target: float = TARGET,
    made: str | None = None,
    counted: Counted = lambda: None,
) -> Calibration:
    """Ask a judge about every labelled answer, and say how far it can be trusted.

    Args:
        labels: The labels, as `read_labels` gives them; at least one.
        judge: The judge.
        timeout: Seconds for one judgement; None sets no limit.
        concurrency: How many judgements run at once.
        target: The false-pass rate to be shown, for the number of labels that it takes.
        made: When, to be kept with the result.
        counted: Called once an answer, in their order.

    Raises:
        UsageError: if an argument is not what it should be.
    """
    _check(labels, target)
    guard = Guard(judge, timeout=timeout)
    verdicts: list[Verdict] = []
    for response in guard.check_many((label.exchange for label in labels), concurrency=concurrency):
        verdicts.append(_verdict(response))
        counted()
    return assess(labels, verdicts, guard.judge, target=target, made=made)


async def acalibrate(
    labels: Sequence[Label],
    judge: object,
    *,
    timeout: float | None = 30.0,  # noqa: ASYNC109  # of one judgement, not of this call
    concurrency: int = 8,
    target: float = TARGET,
    made: str | None = None,
    counted: Counted = lambda: None,
) -> Calibration:
    """`calibrate` on the running event loop."""
    _check(labels, target)
    guard = Guard(judge, timeout=timeout)
    verdicts: list[Verdict] = []
    async for response in guard.acheck_many((label.exchange for label in labels), concurrency=concurrency):
        verdicts.append(_verdict(response))
        counted()
    return assess(labels, verdicts, guard.judge, target=target, made=made)


def _check(labels: Sequence[Label], target: float) -> None:
    if not labels:
        raise UsageError("a judge is calibrated on at least one label")
    if not 0 < target < 1:
        raise UsageError(f"the target is a false-pass rate between 0 and 1, such as 0.1; got {target}")


def _verdict(response: Response[None]) -> Verdict:
    """The verdict; unknown where the judge was not asked, since there was nothing to ask about."""
    return response.verdict or Verdict(Decision.UNKNOWN, detail=f"not asked: {response.reason.value}")


def assess(
    labels: Sequence[Label],
    verdicts: Sequence[Verdict],
    judge: Judge,
    *,
    target: float = TARGET,
    made: str | None = None,
) -> Calibration:
    """What labels and verdicts say about a judge; pure.

    Args:
        labels: The labels.
        verdicts: The judge's verdict on each, in their order.
        judge: Who gave them.
        target: The false-pass rate to be shown.
        made: When.
    """
    pairs = list(zip(labels, verdicts, strict=True))
    good, bad = (_row(verdict for label, verdict in pairs if label.grounded is kind) for kind in (True, False))
    table = Table(good.passed, good.n - good.passed, bad.passed, bad.n - bad.passed)
    kinds = Counter(label.kind for label in labels)
    ranks = [_scores(pairs, grounded=kind) for kind in (True, False)]
    false_pass = _share(table.false_passes, table.bad)
    return Calibration(
        judge=judge.name,
        fingerprint=judge.fingerprint,
        models=tuple(sorted({name for verdict in verdicts for name in _models(verdict)})),
        prompt_hash=next((verdict.prompt_hash for verdict in verdicts if verdict.prompt_hash is not None), None),
        labels_hash=content_hash(labels),
        n=len(labels),
        human=kinds[Labeller.HUMAN],
        by_model=kinds[Labeller.MODEL],
        distinct=len({label.text for label in labels}),
        human_ungrounded=sum(label.kind is Labeller.HUMAN and not label.grounded for label in labels),
        grounded=good,
        ungrounded=bad,
        sensitivity=_share(table.true_passes, table.good),
        specificity=_share(table.true_stops, table.bad),
        false_pass=false_pass,
        false_pass_upper=upper_bound(table.false_passes, table.bad),
        balanced_accuracy=Rate(balanced_accuracy(table), balanced_interval(table), table.n),
        kappa=Rate(kappa(table), kappa_interval(table), table.n),
        auroc=_area(*ranks),
        sweep=swept(*ranks),
        false_passes=_cases(pairs, grounded=False, passed=True),
        false_stops=_cases(pairs, grounded=True, passed=False),
        labels_needed=to_bound(false_pass.value or 0.0, target),
        target=target,
        made=made,
        notes=tuple(_notes(labels, table, good.unknown + bad.unknown, judge)),
    )


def _row(verdicts: Iterable[Verdict]) -> Row:
    said = Counter(verdict.decision for verdict in verdicts)
    return Row(said[Decision.SUPPORTED], said[Decision.UNSUPPORTED], said[Decision.UNKNOWN])


def _share(hits: int, n: int) -> Rate:
    return Rate(hits / n, wilson(hits, n), n) if n else Rate(None, None, 0)


def _scores(pairs: Iterable[tuple[Label, Verdict]], *, grounded: bool) -> list[float]:
    """The scores of the answers with one kind of label; a judge that could not judge has none."""
    return [
        verdict.score
        for label, verdict in pairs
        if label.grounded is grounded and verdict.score is not None and verdict.decision is not Decision.UNKNOWN
    ]


def _area(good: Sequence[float], bad: Sequence[float]) -> Rate:
    area = auroc(good, bad)
    return Rate(area, None if area is None else auroc_interval(area, len(good), len(bad)), len(good) + len(bad))


def _models(verdict: Verdict) -> set[str]:
    """The model names that servers reported, those of a judge's members included."""
    own: set[str] = set() if verdict.model is None else {verdict.model}
    return own.union(*map(_models, verdict.members))


def _cases(pairs: Iterable[tuple[Label, Verdict]], *, grounded: bool, passed: bool) -> tuple[Case, ...]:
    return tuple(
        Case(label.line, label.id)
        for label, verdict in pairs
        if label.grounded is grounded and (verdict.decision is Decision.SUPPORTED) is passed
    )


def _notes(labels: Sequence[Label], table: Table, unknown: int, judge: Judge) -> Iterable[str]:
    kinds = Counter(label.kind for label in labels)
    if len(labels) < ENOUGH:
        yield f"{len(labels)} labels are few: below {ENOUGH} a calibration says little"
    if kinds[Labeller.MODEL]:
        yield (
            f"{kinds[Labeller.MODEL]} of the {len(labels)} labels were made by a model: agreement with them may be no"
            " more than blind spots that two models share"
        )
    if kinds[Labeller.UNSAID]:
        yield (
            f'{kinds[Labeller.UNSAID]} of the {len(labels)} labels don\'t say who made them ("labeller_kind": "human"):'
            " they are not taken for a person's"
        )
    if not table.good or not table.bad:
        yield "the labels are all of one kind, so nothing tells this judge from one that always says the same"
    elif table.true_passes * table.bad <= table.false_passes * table.good:
        yield "the judge passes ungrounded answers as readily as grounded ones: it is no better than a coin"
    if twice := len(labels) - len({label.text for label in labels}):
        yield f"{twice} labels are of an answer that has one already: the intervals are narrower than they should be"
    if unknown:
        yield f"the judge could not judge {unknown} of {len(labels)} answers; they count as not passed"
    if isinstance(judge, FunctionJudge):
        yield "the judge is a function: nobody sees when it changes, so this calibration can't go stale by itself"
