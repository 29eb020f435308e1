"""Intervals for a rate, and for a mean of numbers from 0 to 1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import NormalDist, fmean, stdev

from groundguard.errors import UsageError
from groundguard.evaluation.results import Interval
from groundguard.evaluation.statistics.bootstrap import bca

LEVEL = 0.95
"""The level of every interval, unless told."""

FEWEST_TO_RESAMPLE = 10
"""Below this many values a bootstrap promises more than it knows."""

FEWEST_OTHERS = 5
"""With fewer values that differ from the rest, too."""

MOST_TO_RESAMPLE = 5_000
"""Above this many values resampling only repeats what the normal distribution says at once."""


def z_of(level: float) -> float:
    """How many standard deviations a two-sided interval of this level reaches to each side: 1.96 for 0.95."""
    if not 0 < level < 1:
        raise UsageError(f"a level lies between 0 and 1, such as 0.95; got {level}")
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(successes: float, n: int, level: float = LEVEL) -> Interval:
    """Wilson's score interval for a rate.

    For numbers from 0 to 1 that are not all 0 or 1, their sum may stand for the successes: such numbers never vary
    more than a yes or no with the same mean does (Bhatia and Davis, 2000), so the interval is then too wide at worst.

    Args:
        successes: How many of the `n`; need not be whole.
        n: Of how many; at least 1.
        level: How often such an interval holds the true rate.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    if n < 1 or not 0 <= successes <= n:
        raise UsageError(f"a rate needs at least one trial, and no more successes than trials; got {successes} of {n}")
    z = z_of(level)
    rate, square = successes / n, z * z
    centre = (rate + square / (2 * n)) / (1 + square / n)
    reach = z / (1 + square / n) * math.sqrt(rate * (1 - rate) / n + square / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, centre - reach)
    high = 1.0 if successes == n else min(1.0, centre + reach)
    return Interval(low, high, level, "wilson")


def upper_bound(successes: int, n: int, level: float = LEVEL) -> float:
    """The highest rate that still fits with so few successes: a one-sided exact bound.

    None in `n` gives about 3 / n at 0.95, the "rule of three". Of no trials at all it is 1.

    Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial", Biometrika 26 (1934).
    """
    if n < 0 or not 0 <= successes <= n:
        raise UsageError(f"a rate has no more successes than trials; got {successes} of {n}")
    if not 0 < level < 1:
        raise UsageError(f"a level lies between 0 and 1, such as 0.95; got {level}")
    if successes == n:
        return 1.0
    return bisect(lambda rate: binomial_at_most(successes, n, rate) - (1 - level), 0.0, 1.0)


def binomial_at_most(k: int, n: int, rate: float) -> float:
    """The probability of at most `k` successes in `n` trials."""
    if rate <= 0 or k >= n:
        return 1.0
    if rate >= 1:
        return 0.0
    log, other, whole = math.log(rate), math.log1p(-rate), math.lgamma(n + 1)
    terms = (
        math.exp(whole - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * log + (n - i) * other) for i in range(k + 1)
    )
    return min(1.0, math.fsum(terms))


def bisect(falls: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function crosses zero between `low` and `high`, to the last digit."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if falls(middle) > 0 else (low, middle)
    return (low + high) / 2


def _hardly_varies(values: Sequence[float]) -> bool:
    """Whether all values but a few are one and the same: then resampling shows less than what there is."""
    (_, most), *_ = Counter(values).most_common(1)
    return most > len(values) - FEWEST_OTHERS


def of_mean(values: Sequence[float], *, seed: int = 0, level: float = LEVEL) -> Interval:
    """The interval of a mean of numbers from 0 to 1.

    Wilson's where every value is 0 or 1; also where there are fewer than 10, or all but fewer than 5 are equal, since
    it is too wide at worst there, and a bootstrap far too narrow. A bootstrap else (BCa, 2,000 samples); above 5,000
    values the normal distribution's, which is the same by then.

    Args:
        values: One an item; at least one.
        seed: Of the resampling: one seed, one interval.
        level: How often such an interval holds the true mean.
    """
    n = len(values)
    if n < FEWEST_TO_RESAMPLE or _hardly_varies(values) or all(value in {0, 1} for value in values):
        return wilson(min(math.fsum(values), n), n, level)
    if n > MOST_TO_RESAMPLE:
        centre, reach = fmean(values), z_of(level) * stdev(values) / math.sqrt(n)
        return Interval(max(0.0, centre - reach), min(1.0, centre + reach), level, "normal")
    low, high = bca(values, seed=seed, level=level)
    return Interval(low, high, level, "bootstrap")
