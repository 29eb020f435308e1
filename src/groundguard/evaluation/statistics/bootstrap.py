"""The bootstrap of a mean: draw the items again and again, and look how far the mean moves."""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from statistics import NormalDist, fmean

from groundguard.errors import UsageError

SAMPLES = 2_000
"""How many times the items are drawn."""

_NORMAL = NormalDist()


def means(values: Sequence[float], *, seed: int = 0, samples: int = SAMPLES) -> list[float]:
    """The means of `samples` drawings with replacement, sorted."""
    if not values or samples < 1:
        raise UsageError("a bootstrap needs at least one value and one sample")
    drawn, n = random.Random(seed), len(values)  # noqa: S311  # statistics, no secret
    return sorted(math.fsum(drawn.choices(values, k=n)) / n for _ in range(samples))


def percentile(
    values: Sequence[float], *, seed: int = 0, level: float = 0.95, samples: int = SAMPLES
) -> tuple[float, float]:
    """The percentile interval of the mean.

    Source: B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.
    """
    return _between(means(values, seed=seed, samples=samples), (1 - level) / 2, (1 + level) / 2)


def bca(values: Sequence[float], *, seed: int = 0, level: float = 0.95, samples: int = SAMPLES) -> tuple[float, float]:
    """The bias-corrected and accelerated interval of the mean: right also where the values lean to one side.

    Values that are all equal have an interval of no width.

    Source: B. Efron, "Better bootstrap confidence intervals", JASA 82 (1987).
    """
    drawn, centre = means(values, seed=seed, samples=samples), fmean(values)
    bias = _NORMAL.inv_cdf(_share_below(drawn, centre))
    lean = acceleration(values)
    shares = [_corrected(bias, lean, _NORMAL.inv_cdf(tail)) for tail in ((1 - level) / 2, (1 + level) / 2)]
    return _between(drawn, *shares)


def acceleration(values: Sequence[float]) -> float:
    """How fast the standard error of the mean changes with the mean: its skewness by the jackknife, over 6.

    For a mean, leaving out a value moves the mean against that value, so the jackknife needs no loop of its own.
    """
    centre = fmean(values)
    square = math.fsum((value - centre) ** 2 for value in values)
    cube = math.fsum((value - centre) ** 3 for value in values)
    return cube / (6 * square**1.5) if square > 0 else 0.0


def _share_below(drawn: Sequence[float], centre: float) -> float:
    """Which share of the sorted means lies below the centre, one that equals it by half; never quite 0 or 1."""
    share = (bisect_left(drawn, centre) + bisect_right(drawn, centre)) / (2 * len(drawn))
    least = 1 / (2 * len(drawn))
    return min(max(share, least), 1 - least)


def _corrected(bias: float, lean: float, z: float) -> float:
    return _NORMAL.cdf(bias + (bias + z) / (1 - lean * (bias + z)))


def _between(drawn: Sequence[float], low: float, high: float) -> tuple[float, float]:
    return quantile(drawn, low), quantile(drawn, high)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which a share of the sorted values lies, between two of them if need be.

    Source: R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages" (1996), definition 7.
    """
    place = share * (len(ordered) - 1)
    below = min(max(math.floor(place), 0), len(ordered) - 1)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
