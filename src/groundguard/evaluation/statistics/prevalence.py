"""What the true rate is, given what an imperfect judge found and how imperfect it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from groundguard.errors import UsageError
from groundguard.evaluation.results import Interval
from groundguard.evaluation.statistics.agreement import Table
from groundguard.evaluation.statistics.intervals import LEVEL, z_of


@dataclass(frozen=True, slots=True)
class Corrected:
    """A true rate, as an imperfect judge lets one see it.

    Attributes:
        value: The rate; from 0 to 1.
        interval: Its interval: for the few answers and for the few labels.
        clipped: Whether the estimate fell outside 0 to 1, and was cut off there: the judge did not find what its labels
            promise, so it met other answers than it was calibrated on, or the labels were too few.
    """

    value: float
    interval: Interval
    clipped: bool


def rogan_gladen(passed: int, n: int, table: Table, level: float = LEVEL) -> Corrected | None:
    """The share of answers that are truly grounded, from the share that the judge passed.

    Args:
        passed: How many of the answers the judge passed.
        n: How many answers it was asked about; at least 1.
        table: How it did on labelled ones.
        level: How often such an interval holds the true rate.

    Returns:
        The corrected rate; None where the judge is no better than a coin, or the labels are all of one kind: then
        what it finds says nothing.

    Source: W. J. Rogan and B. Gladen, "Estimating prevalence from the results of a screening test", American Journal of
    Epidemiology 107 (1978). Interval: Z. Lang and J. Reiczigel, "Confidence limits for prevalence of disease adjusted
    for estimated sensitivity and specificity", Preventive Veterinary Medicine 113 (2014).
    """
    if n < 1 or not 0 <= passed <= n:
        raise UsageError(f"the answers are at least one, and no more passed than there are; got {passed} of {n}")
    if not table.good or not table.bad:
        return None
    sensitivity, specificity = table.true_passes / table.good, table.true_stops / table.bad
    if sensitivity + specificity <= 1:
        return None
    rate = (passed / n + specificity - 1) / (sensitivity + specificity - 1)
    value, (low, high) = min(1.0, max(0.0, rate)), _bounds(passed, n, table, z_of(level))
    interval = Interval(max(0.0, min(low, value)), min(1.0, max(high, value)), level, "lang-reiczigel")
    return Corrected(value, interval, not 0 <= rate <= 1)


def _bounds(passed: int, n: int, table: Table, z: float) -> tuple[float, float]:
    square = z * z
    many, good, bad = n + square, table.good + 2, table.bad + 2
    rate = (passed + square / 2) / many
    sensitivity, specificity = (table.true_passes + 1) / good, (table.true_stops + 1) / bad
    better = sensitivity + specificity - 1
    if better <= 0:
        return 0.0, 1.0
    centre = (rate + specificity - 1) / better
    of_good = sensitivity * (1 - sensitivity) / good
    of_bad = specificity * (1 - specificity) / bad
    centre_moved = centre + 2 * square * (centre * of_good - (1 - centre) * of_bad)
    spread = rate * (1 - rate) / many + centre**2 * of_good + (1 - centre) ** 2 * of_bad
    reach = z * math.sqrt(spread) / better
    return centre_moved - reach, centre_moved + reach
