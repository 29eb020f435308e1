"""Gates: what a run must reach. There is none unless one is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from groundguard.evaluation.figures import NOT_SCORED, PIPELINE_FAILED
from groundguard.evaluation.noise import band
from groundguard.evaluation.panel.base import METRIC_ERROR
from groundguard.evaluation.results import Figure, Interval
from groundguard.fields import choose, expect, measure, plain_fields
from groundguard.records import JUDGE_FAILURES

PANEL = {"faithfulness": 0.75, "answer_relevancy": 0.8, "context_precision": 0.7, "context_recall": 0.8}
"""What `panel` asks for."""

DEFAULTS = {"faithfulness": 0.7}
"""What a metric asks for that is named alone."""

MOST_FAILED = 0.05
"""The largest share of items with which a gate can pass that are unscored since something failed, unless told."""

MOST_UNSCORED = 0.5
"""The largest share of items with which a gate can pass that are unscored for any reason, unless told."""

FAILURES = frozenset({reason.value for reason in JUDGE_FAILURES} | {PIPELINE_FAILED, NOT_SCORED})
"""Why an item is unscored that could have been scored: something failed."""

DIGITS = 9
"""Beyond so many digits two values differ by the arithmetic only."""


class Bound(StrEnum):
    """Which number of a figure a gate looks at."""

    VALUE = "value"
    """The figure itself."""
    LOWER = "lower"
    """The lower bound of its interval: what the items of this run prove."""


class Outcome(StrEnum):
    """What became of a gate."""

    PASSED = "passed"
    FAILED = "failed"
    REFUSED = "refused"
    """It stands where the measurement moves by itself, so that nothing would follow from it."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What one metric must reach.

    Attributes:
        metric: Which metric.
        at: The least value that passes, above 0 and up to 1, to nine digits.
        bound: Whether the figure must reach it, or its lower bound.
    """

    metric: str
    at: float
    bound: Bound = Bound.VALUE

    def __post_init__(self) -> None:
        expect(self, str, "metric")
        measure(self, "at", least=0, most=1)
        choose(self, Bound, "bound")
        object.__setattr__(self, "at", round(self.at, DIGITS))
        if not self.at:
            raise ValueError("a gate at 0 stops nothing")

    def __str__(self) -> str:
        return f"{self.metric}{'.lower' if self.bound is Bound.LOWER else ''}={written(self.at)}"


@dataclass(frozen=True, slots=True)
class GateResult:
    """A gate, and what became of it.

    Attributes:
        gate: The gate.
        outcome: `passed`, `failed` or `refused`.
        value: What was held against it; None where nothing was measured.
        why: In words, with as many digits as it takes to see why.
        noise: Where another such run would fall by noise alone; None where no repeats measured that.
    """

    gate: Gate
    outcome: Outcome
    value: float | None
    why: str
    noise: Interval | None = None

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        return plain_fields(self)


def held(
    gates: Iterable[Gate],
    figures: Iterable[Figure],
    *,
    repeats: int = 1,
    most_failed: float = MOST_FAILED,
    most_unscored: float = MOST_UNSCORED,
    allow_noisy: bool = False,
) -> tuple[GateResult, ...]:
    """Hold figures against gates. At the gate passes.

    A gate passes where its metric was measured, not too many of its items are unscored, and the value reaches it.
    Values are compared as they are, and printed with as many digits as it takes that what is printed says the same.

    Args:
        gates: The gates; of none nothing is asked.
        figures: The figures of a run.
        repeats: How many repeats they are means of.
        most_failed: The largest share of items with which a gate can pass that are unscored since the judge or the
            pipeline failed.
        most_unscored: Likewise that are unscored for whatever reason, such as having no reference.
        allow_noisy: Whether a gate may stand where the figure moves by noise alone.
    """
    by_metric = {figure.metric: figure for figure in figures}
    return tuple(
        _held(gate, by_metric.get(gate.metric), repeats, (most_failed, most_unscored), allow_noisy=allow_noisy)
        for gate in gates
    )


def _held(
    gate: Gate, figure: Figure | None, repeats: int, most: tuple[float, float], *, allow_noisy: bool
) -> GateResult:
    if figure is None or figure.value is None or figure.interval is None:
        return GateResult(gate, Outcome.FAILED, None, f"{gate.metric} was not measured: {_why_not(figure)}")
    value = figure.value if gate.bound is Bound.VALUE else figure.interval.low
    noise = _around(value, figure, repeats)
    if noise is not None and is_inside(gate.at, noise) and not allow_noisy:
        why = (
            f"{gate} stands inside the noise: by chance alone another such run falls between"
            f" {noise.low:.3f} and {noise.high:.3f}. Use more repeats, move the gate or allow a noisy one"
        )
        return GateResult(gate, Outcome.REFUSED, value, why, noise)
    if against := too_few(figure, *most):
        return GateResult(gate, Outcome.FAILED, value, against, noise)
    passed = reaches(value, gate.at)
    return GateResult(gate, Outcome.PASSED if passed else Outcome.FAILED, value, _told(gate, figure, value), noise)


def too_few(figure: Figure, most_failed: float = MOST_FAILED, most_unscored: float = MOST_UNSCORED) -> str | None:
    """Why a figure says too little, in words: too many of its items are unscored; None if not."""
    items = figure.n + figure.unscored
    failed = sum(count for reason, count in figure.reasons.items() if has_failed(reason))
    if figure.unscored > most_unscored * items:
        return f"{figure.metric}: {_unscored(figure)}, which is more than {most_unscored:.0%} of them"
    if failed > most_failed * items:
        return f"{figure.metric}: {_unscored(figure)}, and more than {most_failed:.0%} failed"
    return None


def has_failed(reason: str) -> bool:
    """Whether an item is unscored for this reason because something failed: judge, pipeline, or the metric itself."""
    return reason in FAILURES or reason.startswith(METRIC_ERROR)


def reaches(value: float, at: float) -> bool:
    """Whether a value is at a gate or above; digits beyond the ninth are arithmetic, not measurement."""
    return round(value, DIGITS) >= round(at, DIGITS)


def is_inside(at: float, noise: Interval) -> bool:
    """Whether noise alone decides on which side of a gate a run falls."""
    return reaches(noise.high, at) and not reaches(noise.low, at)


def _around(value: float, figure: Figure, repeats: int) -> Interval | None:
    """The noise around the number that the gate looks at: as wide as around the figure itself."""
    noise = band(figure, repeats)
    if noise is None or figure.value is None:
        return None
    shift = value - figure.value
    return Interval(max(0.0, noise.low + shift), min(1.0, noise.high + shift), noise.level, noise.method)


def _told(gate: Gate, figure: Figure, value: float) -> str:
    name = gate.metric if gate.bound is Bound.VALUE else f"the lower bound of {gate.metric}"
    sign = ">=" if reaches(value, gate.at) else "<"
    apart = f"; {_unscored(figure)}" if figure.unscored else ""
    return f"{name} {shown(value, gate.at)} {sign} {written(gate.at)} (n {figure.n}{apart})"


def _unscored(figure: Figure) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in figure.reasons.items())
    return f"{figure.unscored} of {figure.n + figure.unscored} could not be scored ({reasons})"


def _why_not(figure: Figure | None) -> str:
    if figure is None or not figure.unscored:
        return "no item has it"
    return _unscored(figure)


def shown(value: float, at: float | None = None) -> str:
    """A value with two digits after the point, or as many as it takes to fall on its own side of a gate.

    Args:
        value: The value.
        at: The gate.
    """
    digits = 2
    while at is not None and digits < DIGITS and (float(f"{value:.{digits}f}") >= at) != reaches(value, at):
        digits += 1
    return f"{value:.{digits}f}"


def written(at: float) -> str:
    """A gate's own value with all its digits, and at least two."""
    digits = max(2, len(f"{at:.{DIGITS}f}".rstrip("0").partition(".")[2]))
    return f"{at:.{digits}f}"


def exit_code(figures: Sequence[Figure], results: Iterable[GateResult] = ()) -> int:
    """How a run ends: 0 fine, 1 a gate failed, 2 nothing was measured or a gate was refused, 3 the judge is unhealthy.

    Nothing scored is a failure, with gates or without: 3 where it was the judge that failed, 2 else.
    """
    if not any(figure.n for figure in figures):
        reasons = {reason for figure in figures for reason in figure.reasons}
        return 3 if any(reason.value in reasons for reason in JUDGE_FAILURES) else 2
    outcomes = {result.outcome for result in results}
    return 2 if Outcome.REFUSED in outcomes else 1 if Outcome.FAILED in outcomes else 0
