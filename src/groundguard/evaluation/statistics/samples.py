"""How many it takes."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable

from groundguard.errors import UsageError
from groundguard.evaluation.statistics.intervals import LEVEL, wilson

MOST = 1_000_000
"""Nobody labels more."""

_BACK = 50
_NOTHING = 1e-18


def to_bound(rate: float, below: float, level: float = LEVEL) -> int | None:
    """How many trials it takes until the upper bound of a rate lies below a mark, if the rate stays what it is.

    59 for a rate of 0 and a mark of 0.05, at 0.95. A few trials more may bring one more success, and not do; a few more
    again will. None where the rate itself is not below the mark, or so close that a
    million would not do.

    Args:
        rate: The rate, as far as it is known.
        below: The mark.
        level: Of the one-sided bound.
    """
    if not 0 <= rate <= 1 or not 0 < below < 1:
        raise UsageError(f"a rate lies between 0 and 1, and so does its mark; got {rate} and {below}")
    if not 0 < level < 1:
        raise UsageError(f"a level lies between 0 and 1, such as 0.95; got {level}")
    if rate >= below:
        return None

    def enough(n: int) -> bool:
        return _at_most(_hits(rate, n), n, below) <= 1 - level

    hits = _first(lambda k: enough(_last(rate, k)), 0, _hits(rate, MOST))
    if hits is None:
        return None
    hits = next((k for k in range(max(0, hits - _BACK), hits) if enough(_last(rate, k))), hits)
    return _first(enough, _last(rate, hits - 1) + 1, _last(rate, hits))


def _first(enough: Callable[[int], bool], low: int, high: int) -> int | None:
    """The first number of a range that is enough, if the later ones are; None if the last is not."""
    if not enough(high):
        return None
    return bisect_left(range(low, high + 1), True, key=enough) + low  # noqa: FBT003  # False stands before True


def _last(rate: float, hits: int) -> int:
    """The most trials, up to `MOST`, that a rate makes no more than so many successes of; 0 for less than none."""
    return bisect_right(range(1, MOST + 1), hits, key=lambda n: _hits(rate, n))


def _at_most(k: int, n: int, rate: float) -> float:
    """The probability of at most `k` successes in `n` trials: from the last term down, while the terms count."""
    if k >= n:
        return 1.0
    other = math.log1p(-rate) * (n - k) + math.log(rate) * k
    term = total = math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + other)
    while k > 0 and term > total * _NOTHING:
        term *= k * (1 - rate) / ((n - k + 1) * rate)
        total += term
        k -= 1
    return total


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
