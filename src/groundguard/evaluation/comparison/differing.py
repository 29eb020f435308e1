"""How one metric differs between two runs, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Any, NamedTuple

from groundguard.evaluation.comparison.pairing import Pair
from groundguard.evaluation.gates.gates import MOST_UNSCORED, shown
from groundguard.evaluation.results import Interval
from groundguard.evaluation.statistics.intervals import FEWEST_TO_RESAMPLE
from groundguard.evaluation.statistics.paired import (
    difference_of_means,
    difference_of_rates,
    mcnemar,
    student_difference,
)
from groundguard.fields import plain_fields


class Word(StrEnum):
    """What a comparison comes to."""

    BETTER = "better"
    WORSE = "worse"
    CANT_TELL = "can't tell"
    """What differs may be chance."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How one metric differs between two runs, over the items that both scored.

    Attributes:
        metric: Which metric; `answered` is the guard's own label.
        tag: Over the items with this tag only; None for all.
        n: How many pairs were compared.
        unscored: How many pairs were left out, since one side of them is unscored.
        before: Mean of the first run over these pairs; None where there are none.
        after: Mean of the second.
        change: `after` minus `before`.
        interval: Its interval.
        gained: How many pairs rose.
        lost: How many fell.
        p: McNemar's exact p-value, where every value is 0 or 1; None else.
        word: `better`, `worse` or `can't tell`.
        no_worse: Whether it is shown to be no worse than by the margin; None where none was given, or neither run
            measured the metric.
    """

    metric: str
    tag: str | None
    n: int
    unscored: int
    before: float | None = None
    after: float | None = None
    change: float | None = None
    interval: Interval | None = None
    gained: int = 0
    lost: int = 0
    p: float | None = None
    word: Word = Word.CANT_TELL
    no_worse: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """The difference as JSON values, and in words."""
        return plain_fields(self) | {"told": str(self)}

    def __str__(self) -> str:
        name = self.metric if self.tag is None else f"{self.metric} [{self.tag}]"
        apart = f", {self.unscored} unscored" if self.unscored else ""
        if self.before is None or self.after is None or self.interval is None or self.change is None:
            return f"{name}: {self.word}, nothing to compare (n 0{apart})"
        low, high = self.interval.low, self.interval.high
        return (
            f"{name}: {self.word}, {shown(self.before)} -> {shown(self.after)}"
            f" ({self.change:+.2f}, {self.interval.level:.3g} interval {low:+.2f} to {high:+.2f}; n {self.n}{apart};"
            f" {self.gained} rose, {self.lost} fell)"
        )


MANY = 30
"""From so many pairs on the bootstrap holds its level; below, Student's interval does (tests simulate both)."""


class Rule(NamedTuple):
    """What makes a difference one.

    Attributes:
        level: Of the interval and the test.
        margin: How much worse would not matter; None where nobody asked.
        seed: Of the resampling.
    """

    level: float
    margin: float | None
    seed: int


def difference(pairs: Iterable[Pair], rule: Rule, metric: str, tag: str | None = None) -> Difference:
    """How a metric differs over the pairs that have it, and the tag where one is given."""
    mine = [pair for pair in pairs if pair.metric == metric and (tag is None or tag in pair.tags)]
    scored = [(pair.before, pair.after) for pair in mine if pair.before is not None and pair.after is not None]
    if not scored:
        measured = any(pair.before is not None or pair.after is not None for pair in mine)
        return Difference(metric, tag, 0, len(mine), no_worse=False if rule.margin is not None and measured else None)
    changes = [round(after - before, 9) for before, after in scored]
    few = len(mine) - len(scored) > MOST_UNSCORED * len(mine)
    interval, p = _judged(scored, changes, rule, sliced=tag is not None)
    before, after = fmean(pair[0] for pair in scored), fmean(pair[1] for pair in scored)
    return Difference(
        metric,
        tag,
        len(scored),
        len(mine) - len(scored),
        before,
        after,
        round(after - before, 9),
        interval,
        sum(change > 0 for change in changes),
        sum(change < 0 for change in changes),
        p,
        Word.CANT_TELL if few else _word(after - before, changes, interval, p),
        None if rule.margin is None else not few and interval.low > -rule.margin,
    )


def _word(change: float, changes: Sequence[float], interval: Interval, p: float | None) -> Word:
    doubt = 1 - interval.level
    sure = not interval.low <= 0 <= interval.high and _could_show(changes, doubt) if p is None else p <= doubt
    return Word.CANT_TELL if not sure else Word.BETTER if change > 0 else Word.WORSE


def _could_show(changes: Sequence[float], doubt: float) -> bool:
    """Whether so few changes could show anything: of k that all go one way, a coin does the same once in 2**(k-1)."""
    return len(changes) >= FEWEST_TO_RESAMPLE and 2 * 0.5 ** sum(change != 0 for change in changes) <= doubt


def _judged(
    scored: Sequence[tuple[float, float]], changes: Sequence[float], rule: Rule, *, sliced: bool
) -> tuple[Interval, float | None]:
    """The interval of the change, and the exact p-value where every value is 0 or 1."""
    if all(value in {0, 1} for pair in scored for value in pair):
        both, gained, lost, neither = (scored.count(kind) for kind in ((1, 1), (0, 1), (1, 0), (0, 0)))
        return difference_of_rates(both, gained, lost, neither, rule.level), mcnemar(gained, lost)
    if sliced or len(changes) < MANY:
        return student_difference(changes, rule.level), None
    return difference_of_means(changes, seed=rule.seed, level=rule.level), None
