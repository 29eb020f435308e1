"""Two measurements of the same items: did it get better, or does it only look so?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from groundguard.errors import UsageError
from groundguard.evaluation.results import Interval
from groundguard.evaluation.statistics.bootstrap import percentile
from groundguard.evaluation.statistics.intervals import LEVEL, MOST_TO_RESAMPLE, binomial_at_most, wilson
from groundguard.evaluation.statistics.student import t_of


def mcnemar(gained: int, lost: int) -> float:
    """How likely so uneven a change is by chance, if gains and losses are alike: McNemar's exact test, two-sided.

    Args:
        gained: How many items were wrong and are right now.
        lost: How many were right and are wrong now.

    Returns:
        The p-value; 1 if nothing changed.

    Source: Q. McNemar, "Note on the sampling error of the difference between correlated proportions", Psychometrika 12
    (1947); exact by the binomial distribution.
    """
    if gained < 0 or lost < 0:
        raise UsageError(f"gains and losses are counts from 0; got {gained} and {lost}")
    return min(1.0, 2 * binomial_at_most(min(gained, lost), gained + lost, 0.5))


def difference_of_rates(both: int, gained: int, lost: int, neither: int, level: float = LEVEL) -> Interval:
    """The interval of how much a rate rose between two measurements of the same items.

    Args:
        both: How many items were right both times.
        gained: How many became right.
        lost: How many became wrong.
        neither: How many were right neither time.
        level: How often such an interval holds the true difference.

    Source: R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on
    paired data", Statistics in Medicine 17 (1998), method 10.
    """
    n = both + gained + lost + neither
    before, after = (both + lost) / n, (both + gained) / n
    first, second = wilson(both + lost, n, level), wilson(both + gained, n, level)
    tie = _correlation(both, gained, lost, neither)
    down = _joined(after - second.low, first.high - before, tie)
    up = _joined(second.high - after, before - first.low, tie)
    return Interval(max(-1.0, after - before - down), min(1.0, after - before + up), level, "newcombe")


def _correlation(both: int, gained: int, lost: int, neither: int) -> float:
    """The phi coefficient, with Newcombe's correction for continuity."""
    margins = (both + gained) * (lost + neither) * (both + lost) * (gained + neither)
    if margins == 0:
        return 0.0
    cross = both * neither - gained * lost
    half = (both + gained + lost + neither) / 2
    return (max(cross - half, 0.0) if cross > 0 else cross) / math.sqrt(margins)


def _joined(one: float, other: float, tie: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * tie * one * other + other * other))


def difference_of_means(changes: Sequence[float], *, seed: int = 0, level: float = LEVEL) -> Interval:
    """The interval of a mean change, one change an item: the paired bootstrap, by percentiles.

    Above 5,000 items Student's t says the same, and at once.

    Args:
        changes: After minus before, one an item; at least one.
        seed: Of the resampling.
        level: How often such an interval holds the true mean change.

    Source: B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.
    """
    if len(changes) > MOST_TO_RESAMPLE:
        return student_difference(changes, level)
    low, high = percentile(changes, seed=seed, level=level)
    return Interval(low, high, level, "bootstrap")


def student_difference(changes: Sequence[float], level: float = LEVEL) -> Interval:
    """The interval of a mean change by Student's t: for levels so strict that a bootstrap would need too many samples.

    Of one change it is everything from -1 to 1.

    Source: "Student", "The probable error of a mean", Biometrika 6 (1908), on the differences of pairs.
    """
    n, centre = len(changes), fmean(changes)
    if n == 1:
        return Interval(-1.0, 1.0, level, "student")
    reach = t_of(level, n - 1) * stdev(changes) / math.sqrt(n)
    return Interval(max(-1.0, centre - reach), min(1.0, centre + reach), level, "student")


def difference_of_two(one: float, first: Interval, other: float, second: Interval) -> Interval:
    """The interval of `one - other`, where they were measured on different items, from their own intervals.

    Source: G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general approach",
    Statistics in Medicine 27 (2008): square and add.
    """
    down = math.hypot(one - first.low, second.high - other)
    up = math.hypot(first.high - one, other - second.low)
    return Interval(max(-1.0, one - other - down), min(1.0, one - other + up), first.level, "square-and-add")
