"""Student's t distribution: its quantiles, by its distribution function."""

from __future__ import annotations

import math

from groundguard.errors import UsageError
from groundguard.evaluation.statistics.intervals import bisect

_TINY = 1e-300
_ENOUGH = 1e-15


def t_of(level: float, degrees: int) -> float:
    """How many standard errors a two-sided interval of this level reaches: 12.71 for 0.95 and one degree of freedom.

    Source: "Student", "The probable error of a mean", Biometrika 6 (1908).
    """
    if not 0 < level < 1 or degrees < 1:
        raise UsageError(f"a level lies between 0 and 1, and degrees of freedom begin at 1; got {level}, {degrees}")
    share = bisect(lambda x: incomplete_beta(degrees / 2, 0.5, 1 - x) - (1 - level), 0.0, 1.0)
    return math.sqrt(degrees * share / (1 - share))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function.

    Source: W. H. Press et al., "Numerical Recipes" (1992), section 6.4: Lentz's continued fraction.
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(front) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    product, step, m = d, 0.0, 1
    while abs(step - 1) > _ENOUGH and m < 500:  # noqa: PLR2004  # it has converged long before
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1 / _away_from_zero(1 + term * d), _away_from_zero(1 + term / c)
            step = c * d
            product *= step
        m += 1
    return product


def _away_from_zero(x: float) -> float:
    return x if abs(x) > _TINY else _TINY
