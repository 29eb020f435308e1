"""Which stage of the pipeline is at fault, by what the panel says. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from groundguard.evaluation.golden.items import Want
from groundguard.evaluation.panel.base import (
    ANSWER_RELEVANCY,
    CONTEXT_PRECISION,
    CONTEXT_RECALL,
    FAITHFULNESS,
    REFUSAL,
)
from groundguard.evaluation.results import ItemResult, Score
from groundguard.fields import freeze

BARS: Mapping[str, float] = MappingProxyType(
    {FAITHFULNESS: 0.75, ANSWER_RELEVANCY: 0.8, CONTEXT_PRECISION: 0.7, CONTEXT_RECALL: 0.8, REFUSAL: 1.0}
)
"""Below these an answer is at fault: the usual gates of the panel."""


class Stage(StrEnum):
    """What is wrong, and where; in the order of the path."""

    MISSES_EVIDENCE = "retriever misses evidence"
    """Context recall is low."""
    LOUD = "retriever is loud"
    """The evidence is there, but context precision is low: other chunks stand before it."""
    DECLINES_TOO_MUCH = "generator declines too much"
    """An answer was wanted and refused, or nothing was said, though no evidence is known to be missing."""
    DECLINES_TOO_LITTLE = "generator declines too little"
    """A refusal was wanted, and an answer was given, or nothing was said."""
    INVENTS = "generator invents"
    """Faithfulness is low, and the answer does not just decline: it says what its chunks don't."""
    INVENTS_OR_DECLINES = "generator invents, or declines"
    """Nothing that the answer says is in its chunks, and nobody could tell whether it just declines."""
    ANOTHER_QUESTION = "generator answers another question"
    """Answer relevancy is low, and the answer does not just decline."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is wrong with one answer.

    Attributes:
        stages: Every fault found, in the order of the path: the first may be the cause of the others.
        unknown: The metrics that could not be scored, or were not asked: what they would find is not known.
    """

    stages: tuple[Stage, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def stage(self) -> Stage | None:
        """The first fault; None where none was found."""
        return self.stages[0] if self.stages else None

    def __str__(self) -> str:
        found = ", ".join(self.stages) or "no fault found"
        return found if not self.unknown else f"{found}; not known: {', '.join(self.unknown)}"


@dataclass(frozen=True, slots=True)
class RunDiagnosis:
    """What is wrong with the answers of a run.

    Attributes:
        answers: How many answers were looked at; a repeat counts as an answer of its own.
        failed: In how many further cases the pipeline failed, and gave none.
        first: In how many answers each fault is the first on the path.
        found: In how many answers each fault was found at all.
        unknown: In how many answers each metric could not be scored, or was not asked.
    """

    answers: int
    failed: int = 0
    first: Mapping[Stage, int] = field(default_factory=dict[Stage, int], hash=False)
    found: Mapping[Stage, int] = field(default_factory=dict[Stage, int], hash=False)
    unknown: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)

    def __post_init__(self) -> None:
        for name in ("first", "found", "unknown"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    @property
    def stage(self) -> Stage | None:
        """The fault that is most often the first; the earlier on the path of two; None where none was found."""
        return max((stage for stage in Stage if stage in self.first), key=self.first.__getitem__, default=None)

    def __str__(self) -> str:
        stages = sorted(
            filter(self.found.__contains__, Stage), key=lambda each: (each is not self.stage, -self.found[each])
        )
        told = [f"{stage} in {self.found[stage]} of {self.answers} answers" for stage in stages]
        told = told or [f"no fault found in {self.answers} answers" if self.answers else "no answers to look at"]
        told += [f"the pipeline failed in {self.failed} more"] if self.failed else []
        unscored = ", ".join(f"{metric} in {count}" for metric, count in self.unknown.items())
        return "; ".join([*told, f"not known: {unscored}"] if unscored else told)


def diagnose(scores: Iterable[Score], want: Want = Want.ANSWER, bars: Mapping[str, float] = BARS) -> Diagnosis:
    """Name the stage that is at fault for one answer.

    Args:
        scores: What the panel says.
        want: What the item wants.
        bars: The value of each metric below which it is low.
    """
    by_metric = {score.metric: score for score in scores}
    low = {name for name, score in by_metric.items() if score.value is not None and score.value < bars.get(name, 0)}
    unknown = tuple(name for name in BARS if _is_unknown(by_metric.get(name)))
    if want is Want.REFUSAL and REFUSAL in unknown:
        low.discard(FAITHFULNESS)  # a refusal, which may be what it is, invents nothing
    unsupported = FAITHFULNESS in low and by_metric[FAITHFULNESS].value == 0
    declines = unsupported and REFUSAL in unknown  # "I don't know." has no support either
    return Diagnosis(tuple(_stages(low, want, may_decline=declines)), unknown)


def diagnose_run(results: Iterable[ItemResult], bars: Mapping[str, float] = BARS) -> RunDiagnosis:
    """Count over a run which stages are at fault.

    Args:
        results: The results, which may be a stream.
        bars: As for `diagnose`.
    """
    answers = failed = 0
    first, found, unknown = Counter[Stage](), Counter[Stage](), Counter[str]()
    for result in results:
        if result.response is None:
            failed += 1
            continue
        diagnosis = diagnose(result.scores, result.want, bars)
        answers += 1
        first.update(diagnosis.stages[:1])
        found.update(diagnosis.stages)
        unknown.update(diagnosis.unknown)
    return RunDiagnosis(answers, failed, first, found, unknown)


def _stages(low: set[str], want: Want, *, may_decline: bool) -> list[Stage]:
    missing, wrongly = CONTEXT_RECALL in low, REFUSAL in low
    declined, answered = wrongly and want is Want.ANSWER, wrongly and want is Want.REFUSAL
    found = {
        Stage.MISSES_EVIDENCE: missing,
        Stage.LOUD: CONTEXT_PRECISION in low and not missing,  # without evidence, precision is low as well
        Stage.DECLINES_TOO_MUCH: declined and not missing,  # without evidence, to decline is right
        Stage.DECLINES_TOO_LITTLE: answered,
        Stage.INVENTS: FAITHFULNESS in low and not declined and not may_decline,
        Stage.INVENTS_OR_DECLINES: may_decline,
        Stage.ANOTHER_QUESTION: ANSWER_RELEVANCY in low and not declined,
    }
    return [stage for stage in Stage if found[stage]]


def _is_unknown(score: Score | None) -> bool:
    return score is None or (score.applies and score.value is None)
