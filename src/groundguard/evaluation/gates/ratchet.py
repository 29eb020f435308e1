"""The ratchet: when runs have long been better than their gate, it proposes a higher one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from groundguard.errors import UsageError
from groundguard.evaluation.figures import figures
from groundguard.evaluation.gates.gates import Gate, is_inside, reaches, shown, too_few, written
from groundguard.evaluation.noise import band
from groundguard.evaluation.results import Figure, Run
from groundguard.fields import plain_fields

STEP = 0.1
"""How much higher a proposed gate is, unless told."""

RECENT = 3
"""How many runs must bear a proposal, unless told."""

_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the ratchet says about one gate.

    Attributes:
        gate: The gate as it is.
        proposed: The higher gate; None where the runs don't bear one.
        lowest: The lowest of the runs' lower bounds; None where one of them did not measure the metric.
        runs: How many runs were looked at.
        why: In words.
    """

    gate: Gate
    proposed: Gate | None
    lowest: float | None
    runs: int
    why: str

    def to_dict(self) -> dict[str, Any]:
        """The proposal as JSON values."""
        return plain_fields(self)


def propose(gate: Gate, runs: Sequence[Run], *, step: float = STEP, recent: int = RECENT) -> Proposal:
    """Propose a gate that is one step higher, if the recent runs bear it; never a lower one.

    They bear it where the lower bound of every one of them is above it, they are complete, not too many items are
    unscored, and it does not stand inside the noise that repeats measured. A gate is never raised past 1.

    Args:
        gate: The gate as it is.
        runs: The runs, oldest first: of one golden set, under one judge.
        step: How much higher.
        recent: How many of the last runs must bear it.

    Raises:
        UsageError: if a number is not what it should be, or the recent runs are not alike; says how they differ.
    """
    if not 0 < step < 1 or recent < 1:
        raise UsageError(f"a step lies between 0 and 1, and the recent runs are at least one; got {step} and {recent}")
    last = runs[-recent:]
    _alike(gate.metric, last)
    measured = [_of(gate.metric, run) for run in last]
    lows = [figure.interval.low for figure in measured if figure is not None and figure.interval is not None]
    lowest = min(lows) if lows and len(lows) == len(last) else None
    higher = round(gate.at + step, _DIGITS)
    if against := _against(higher, last, measured, lowest, recent):
        return Proposal(gate, None, lowest, len(last), against)
    why = f"the lower bound of each of the last {recent} runs is above {written(higher)}"
    return Proposal(gate, Gate(gate.metric, higher, gate.bound), lowest, len(last), why)


def _against(
    higher: float, runs: Sequence[Run], measured: Sequence[Figure | None], lowest: float | None, recent: int
) -> str | None:
    """What speaks against a higher gate; None if nothing."""
    if higher > 1:
        return f"{written(higher)} is more than there is: a smaller step may fit"
    if lacking := _lacking(runs, measured, recent):
        return lacking
    if lowest is None or reaches(higher, lowest):
        low = "unknown" if lowest is None else shown(lowest)
        return f"the lowest lower bound of the last {recent} runs is {low}, not above {written(higher)}"
    if any(_is_noisy(higher, figure, run) for figure, run in zip(measured, runs, strict=True)):
        return f"{written(higher)} stands inside the noise that repeats measured"
    return None


def _lacking(runs: Sequence[Run], measured: Sequence[Figure | None], recent: int) -> str | None:
    """What the runs lack to say anything; None if nothing."""
    if len(runs) < recent:
        return f"it takes {recent} runs, and there are {len(runs)}"
    if any(figure is None or figure.value is None for figure in measured):
        return "not every one of the recent runs measured it"
    if not all(run.is_complete and run.stopped is None for run in runs):
        return "not every one of the recent runs is complete"
    return next((against for figure in measured if figure is not None and (against := too_few(figure))), None)


def _is_noisy(at: float, figure: Figure | None, run: Run) -> bool:
    noise = None if figure is None else band(figure, run.pins.repeats)
    return noise is not None and is_inside(at, noise)


def _of(metric: str, run: Run) -> Figure | None:
    return next((figure for figure in figures(run) if figure.metric == metric), None)


def _alike(metric: str, runs: Sequence[Run]) -> None:
    """Runs that a gate is raised by measured the same items with the same judge."""
    for name in ("dataset", "version", "content_hash", "judge_models"):
        if len({getattr(run.pins, name) for run in runs}) > 1:
            raise UsageError(f"the recent runs are not alike: they differ in {name}. Give runs of one kind")
    if len({run.pins.judges.get(metric) for run in runs}) > 1:
        raise UsageError(f"the recent runs are not alike: they differ in the judge of {metric}. Give runs of one kind")
