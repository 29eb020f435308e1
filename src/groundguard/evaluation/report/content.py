"""What a report tells, whatever its form: the runs, their figures and slices, and what was found out about the last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundguard.errors import UsageError, told
from groundguard.evaluation.calibration.record import Calibration
from groundguard.evaluation.figures import figures, figures_of
from groundguard.evaluation.gates.gates import Gate, GateResult, held
from groundguard.evaluation.overfit import Gap, overfit
from groundguard.evaluation.report.findings import Finding, findings
from groundguard.evaluation.report.trust import Trust, trust_in
from groundguard.evaluation.results import Figure, ItemResult, Run
from groundguard.evaluation.runner.health import Health, health
from groundguard.fields import is_sequence


@dataclass(frozen=True, slots=True)
class Slice:
    """The figures of some of the items.

    Attributes:
        kind: `split` or `tag`.
        name: Which split or tag.
        size: How many items it has.
        figures: One a metric.
    """

    kind: str
    name: str
    size: int
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Past:
    """An earlier run, with its panel."""

    run: Run
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What there is to tell about a run.

    Attributes:
        run: The run.
        figures: Its panel.
        gates: What became of its gates; empty where none was asked for.
        past: The runs before it, oldest first: for the trend.
        slices: Its figures by split and by tag.
        findings: Which stage is at fault, and in which items.
        gaps: How far what was tuned on is better than what was held out.
        trust: Whether its judge is calibrated.
        health: How its judge fared.
    """

    run: Run
    figures: tuple[Figure, ...]
    gates: tuple[GateResult, ...] = ()
    past: tuple[Past, ...] = ()
    slices: tuple[Slice, ...] = ()
    findings: tuple[Finding, ...] = ()
    gaps: tuple[Gap, ...] = ()
    trust: Trust = Trust()  # noqa: RUF009  # a frozen value
    health: Health = Health(0, 0)  # noqa: RUF009  # likewise

    @property
    def is_complete(self) -> bool:
        """Whether the run has every result that it should have."""
        return self.run.stopped is None and self.run.is_complete

    @property
    def is_scored(self) -> bool:
        """Whether any metric scored anything."""
        return any(figure.n for figure in self.figures)

    @property
    def history(self) -> tuple[Past, ...]:
        """All runs with their panels, this one last."""
        return (*self.past, Past(self.run, self.figures))


def report_on(
    runs: Run | Sequence[Run],
    *,
    gates: Iterable[Gate] | Iterable[GateResult] = (),
    calibrations: Iterable[Calibration] = (),
) -> Report:
    """A report on the last of some runs; the ones before it make the trend.

    Args:
        runs: One run, or several, oldest first.
        gates: The gates of the last run; or what became of them, where they were held with options of their own.
        calibrations: What is known of judges, oldest first: that of the run's judge is found among them.

    Raises:
        UsageError: if there is no run, or something else among them.
    """
    *before, run = _checked(runs)
    panel = figures(run)
    return Report(
        run,
        panel,
        tuple(gate if isinstance(gate, GateResult) else _held(gate, panel, run) for gate in gates),
        tuple(Past(earlier, figures(earlier)) for earlier in before),
        slices_of(run),
        findings(run),
        overfit(run),
        trust_in(run, calibrations),
        health(run.results),
    )


def slices_of(run: Run) -> tuple[Slice, ...]:
    """The figures by split, where there is one, and by tag, in the order of the alphabet."""
    splits = sorted({result.split for result in run.results if result.split})
    tags = sorted({tag for result in run.results for tag in result.tags})
    return (
        *(_slice(run, "split", split.value, (r for r in run.results if r.split is split)) for split in splits),
        *(_slice(run, "tag", tag, (r for r in run.results if tag in r.tags)) for tag in tags),
    )


def _checked(runs: object) -> tuple[Run, ...]:
    many = tuple(runs) if is_sequence(runs) else (runs,)
    wrong = [run for run in many if not isinstance(run, Run)]
    if wrong or not many:
        raise UsageError(f"a report is on one or more runs, not on {told(wrong[0]) if wrong else 'none'}")
    return tuple(run for run in many if isinstance(run, Run))


def _held(gate: Gate, panel: Sequence[Figure], run: Run) -> GateResult:
    return held([gate], panel, repeats=run.pins.repeats)[0]


def _slice(run: Run, kind: str, name: str, results: Iterable[ItemResult]) -> Slice:
    rows = tuple(results)
    return Slice(kind, name, len({row.id for row in rows}), figures_of(rows, seed=run.pins.seed))
