"""How much a measurement moves by itself: what repeats of the same items show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from statistics import fmean, stdev, variance

from groundguard.evaluation.results import Figure, Interval, Score
from groundguard.evaluation.statistics.student import t_of

_DIGITS = 9
"""Beyond so many digits two values differ by the arithmetic only."""


def label(score: Score) -> str:
    """What a repeat says about an item, to be compared with what another says.

    The judge's decision where one was asked, the value where none was; and that it could not be scored is a label too.
    """
    if score.value is None:
        return "unscored"
    return str(round(score.value, _DIGITS)) if score.verdict is None else score.verdict.decision.value


def flip_rate(items: Iterable[Mapping[int, Score]]) -> float | None:
    """Share of the items whose label was not the same in every repeat; None where no item was repeated.

    Args:
        items: The scores of each item, by repeat. Passes and failures alike were repeated.
    """
    flipped = [len({label(score) for score in scores.values()}) > 1 for scores in items if len(scores) > 1]
    return sum(flipped) / len(flipped) if flipped else None


def by_repeat(items: Iterable[Mapping[int, Score]]) -> list[float]:
    """The mean of each repeat, over the items that were scored in every one: so the repeats differ by nothing else."""
    rows = list(items)
    repeats = sorted({repeat for scores in rows for repeat in scores})
    values = [[scores[repeat].value if repeat in scores else None for repeat in repeats] for scores in rows]
    whole = [[value for value in row if value is not None] for row in values if None not in row]
    return [fmean(column) for column in zip(*whole, strict=True)] if repeats else []


def spread(items: Iterable[Mapping[int, Score]]) -> float | None:
    """Standard deviation of the mean over repeats, each a run of all items by itself; None where there is but one.

    The larger of what the means show and what the items' own variances make of it.
    """
    rows = list(items)
    means = [round(mean, _DIGITS) for mean in by_repeat(rows)]
    return max(stdev(means), _within(rows)) if len(means) > 1 else None


def _within(rows: Iterable[Mapping[int, Score]]) -> float:
    """The same by the items' own variances: the means of a few repeats may agree by luck, while items flip."""
    values = [[score.value for score in scores.values()] for scores in rows]
    whole = [[value for value in row if value is not None] for row in values if None not in row]
    repeated = [variance(row) for row in whole if len(row) > 1]
    return sqrt(sum(repeated)) / len(repeated) if repeated else 0.0


def band(figure: Figure, repeats: int, level: float = 0.95) -> Interval | None:
    """Where the figure of another run of the same items would fall by noise alone, with as many repeats.

    A prediction interval for the mean of as many repeats again, by Student's t with one degree of freedom less than
    there are repeats: few repeats know little, and the band says so. None without repeats.

    Args:
        figure: The figure, with its spread.
        repeats: How many repeats it is the mean of.
        level: How often the figure of another run falls inside.

    Source: G. J. Hahn and W. Q. Meeker, "Statistical Intervals" (1991), section 4.7.
    """
    if figure.value is None or figure.spread is None or repeats < 2:  # noqa: PLR2004  # one repeat has no spread
        return None
    reach = t_of(level, repeats - 1) * figure.spread * (2 / repeats) ** 0.5
    return Interval(max(0.0, figure.value - reach), min(1.0, figure.value + reach), level, "repeats")


def flipped(items: Mapping[str, Mapping[int, Score]]) -> Sequence[str]:
    """The ids of the items whose label changed between repeats, in their order."""
    return tuple(item for item, scores in items.items() if len({label(score) for score in scores.values()}) > 1)
