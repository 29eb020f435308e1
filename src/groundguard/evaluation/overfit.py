"""The smell of overfitting: better on what was tuned on than on what was held out, or too good to be true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from groundguard.evaluation.figures import figures_of
from groundguard.evaluation.gates.gates import shown
from groundguard.evaluation.golden.items import Split
from groundguard.evaluation.results import Figure, Interval, Run
from groundguard.evaluation.statistics.paired import difference_of_two
from groundguard.fields import plain_fields


@dataclass(frozen=True, slots=True)
class Gap:
    """How one metric differs between the items tuned on and those held out.

    Attributes:
        metric: Which metric.
        tune: Its figure over the items of the split `tune`; None where it has no item.
        heldout: Its figure over those of `heldout`; likewise.
        gap: `tune` minus `heldout`; None where one of them is.
        interval: Its interval.
        smells: Whether the gap is above 0 by more than chance explains.
        perfect: Whether all of several scored items are perfect: a set too easy, or one that leaked into the pipeline.
        why: In words.
    """

    metric: str
    tune: Figure | None
    heldout: Figure | None
    gap: float | None
    interval: Interval | None
    smells: bool
    perfect: bool
    why: str

    def to_dict(self) -> dict[str, Any]:
        """The gap as JSON values."""
        return plain_fields(self)


def overfit(run: Run) -> tuple[Gap, ...]:
    """Compare `tune` with `heldout`, one metric after the other, and flag what is perfect."""
    parts = {
        split: {
            figure.metric: figure
            for figure in figures_of((row for row in run.results if row.split is split), seed=run.pins.seed)
        }
        for split in Split
    }
    return tuple(
        _gap(figure, parts[Split.TUNE].get(figure.metric), parts[Split.HELDOUT].get(figure.metric))
        for figure in figures_of(run.results, seed=run.pins.seed)
    )


def _gap(whole: Figure, tune: Figure | None, heldout: Figure | None) -> Gap:
    one, other = _measured(tune), _measured(heldout)
    gap, interval = None, None
    if one is not None and other is not None:
        gap, interval = one[0] - other[0], difference_of_two(*one, *other)
    perfect = whole.value == 1 and whole.n > 1
    why = _told(gap, interval, [name for name, part in (("tune", one), ("heldout", other)) if part is None])
    if perfect:
        why += (
            f"; all {whole.n} scored items are perfect, which is suspicious: the set may be too easy, or its answers"
            " stand where the pipeline sees them"
        )
    return Gap(whole.metric, tune, heldout, gap, interval, interval is not None and interval.low > 0, perfect, why)


def _measured(figure: Figure | None) -> tuple[float, Interval] | None:
    if figure is None or figure.value is None or figure.interval is None:
        return None
    return figure.value, figure.interval


def _told(gap: float | None, interval: Interval | None, lacks: list[str]) -> str:
    if gap is None or interval is None:
        return f"no gap to measure: no scored item is of the split {' or '.join(lacks)}"
    bounds = f"{shown(gap)} (from {shown(interval.low)} to {shown(interval.high)})"
    if interval.low > 0:
        return f"better on what was tuned on by {bounds}: it smells of overfitting"
    if interval.high < 0:
        return f"worse on what was tuned on, by {bounds}: the two splits are not of one kind"
    return f"tune minus heldout is {bounds}: no more than chance explains"
