"""How many it takes."""

from __future__ import annotations

import math
from collections.abc import Callable

from groundguard.errors import UsageError
from groundguard.evaluation.statistics.intervals import LEVEL, upper_bound, wilson

MOST = 1_000_000
"""Nobody labels more."""


def to_bound(rate: float, below: float, level: float = LEVEL) -> int | None:
    """How many trials it takes until the upper bound of a rate lies below a mark, if the rate stays what it is.

    59 for a rate of 0 and a mark of 0.05, at 0.95. None where the rate itself is not below the mark, or so close that a
    million would not do.

    Args:
        rate: The rate, as far as it is known.
        below: The mark.
        level: Of the one-sided bound.
    """
    if not 0 <= rate <= 1 or not 0 < below < 1:
        raise UsageError(f"a rate lies between 0 and 1, and so does its mark; got {rate} and {below}")
    return _fewest(lambda n: upper_bound(_hits(rate, n), n, level) <= below) if rate < below else None


def _hits(rate: float, n: int) -> int:
    """So many successes as a rate comes to among `n`, rounded up: a doubt counts against."""
    return math.ceil(round(rate * n, 9))


def to_width(rate: float, reach: float, level: float = LEVEL) -> int | None:
    """How many trials it takes until the interval of a rate reaches no farther than so to either side on average.

    Args:
        rate: The rate, as far as it is known; 0.5 asks for the most.
        reach: Half the width of Wilson's interval.
        level: Of the interval.
    """
    if not 0 <= rate <= 1 or not 0 < reach < 1:
        raise UsageError(f"a rate lies between 0 and 1, and so does the reach; got {rate} and {reach}")
    return _fewest(lambda n: _width(rate, n, level) <= 2 * reach)


def _width(rate: float, n: int, level: float) -> float:
    interval = wilson(rate * n, n, level)
    return interval.high - interval.low


def _fewest(enough: Callable[[int], bool]) -> int | None:
    """The smallest number that is enough, where more never does worse but for rounding."""
    high = 1
    while not enough(high):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
