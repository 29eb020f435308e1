"""How far a judge agrees with a person, beyond what a coin would."""

from __future__ import annotations

import math
from dataclasses import dataclass

from groundguard.evaluation.results import Interval
from groundguard.evaluation.statistics.intervals import LEVEL, wilson, z_of


@dataclass(frozen=True, slots=True)
class Table:
    """What the labels say, and what the judge does.

    Attributes:
        true_passes: Grounded, and passed.
        false_stops: Grounded, and not passed.
        false_passes: Ungrounded, and passed: the costly ones.
        true_stops: Ungrounded, and not passed.
    """

    true_passes: int
    false_stops: int
    false_passes: int
    true_stops: int

    @property
    def good(self) -> int:
        """How many are grounded by their label."""
        return self.true_passes + self.false_stops

    @property
    def bad(self) -> int:
        """How many are ungrounded by their label."""
        return self.false_passes + self.true_stops

    @property
    def n(self) -> int:
        """How many there are."""
        return self.good + self.bad

    @property
    def agreement(self) -> float | None:
        """Share on which judge and label agree; None where there is nothing."""
        return (self.true_passes + self.true_stops) / self.n if self.n else None


def kappa(table: Table) -> float | None:
    """Cohen's kappa: the agreement beyond chance, as a share of what was possible.

    None where the labels are all of one kind, or there are none: then no agreement tells a judge from a rubber stamp.

    Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20
    (1960).
    """
    if table.agreement is None or not table.good or not table.bad:
        return None
    chance = _chance(table)
    return (table.agreement - chance) / (1 - chance)


def _chance(table: Table) -> float:
    passed = table.true_passes + table.false_passes
    return (table.good * passed + table.bad * (table.n - passed)) / table.n**2


def kappa_interval(table: Table, level: float = LEVEL) -> Interval | None:
    """The interval of Cohen's kappa; None where kappa is.

    The wider one, to each side, of two: the one of the asymptotic standard error, which has no width where they agree
    on everything; and Wilson's for the agreement, the agreement by chance taken as known (Cohen, 1960).

    Source: J. L. Fleiss, J. Cohen and B. S. Everitt, "Large sample standard errors of kappa and weighted kappa",
    Psychological Bulletin 72 (1969), equation 13.
    """
    value = kappa(table)
    if value is None or table.agreement is None:
        return None
    chance, reach = _chance(table), z_of(level) * kappa_error(table)
    agreed = wilson(table.true_passes + table.true_stops, table.n, level)
    low, high = ((share - chance) / (1 - chance) for share in (agreed.low, agreed.high))
    return Interval(max(-1.0, min(low, value - reach)), min(1.0, max(high, value + reach)), level, "fleiss")


def kappa_error(table: Table) -> float:
    """The asymptotic standard error of Cohen's kappa (Fleiss, Cohen and Everitt, 1969); both kinds of label needed."""
    n = table.n
    agree = (table.true_passes + table.true_stops) / n
    chance = _chance(table)
    passed = (table.true_passes + table.false_passes) / n
    rows, columns = (table.good / n, table.bad / n), (passed, 1 - passed)
    cells = (
        (table.true_passes / n, table.false_stops / n),
        (table.false_passes / n, table.true_stops / n),
    )
    on = sum(cells[i][i] * ((1 - chance) - (rows[i] + columns[i]) * (1 - agree)) ** 2 for i in (0, 1))
    off = sum(cells[i][1 - i] * (columns[i] + rows[1 - i]) ** 2 for i in (0, 1)) * (1 - agree) ** 2
    inside = on + off - (agree * chance - 2 * chance + agree) ** 2
    return math.sqrt(max(0.0, inside) / n) / (1 - chance) ** 2


def balanced_accuracy(table: Table) -> float | None:
    """The mean of sensitivity and specificity: 0.5 for whoever always says the same; None with labels of one kind.

    Source: K. H. Brodersen et al., "The balanced accuracy and its posterior distribution", ICPR (2010).
    """
    if not table.good or not table.bad:
        return None
    return (table.true_passes / table.good + table.true_stops / table.bad) / 2


def balanced_interval(table: Table, level: float = LEVEL) -> Interval | None:
    """The interval of the balanced accuracy, from Wilson's for its two halves; None where it is.

    Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions", Statistics in
    Medicine 17 (1998), method 10: square and add.
    """
    value = balanced_accuracy(table)
    if value is None:
        return None
    halves = (table.true_passes, table.good), (table.true_stops, table.bad)
    intervals = [(hits / n, wilson(hits, n, level)) for hits, n in halves]
    down = math.hypot(*(rate - interval.low for rate, interval in intervals)) / 2
    up = math.hypot(*(interval.high - rate for rate, interval in intervals)) / 2
    return Interval(max(0.0, value - down), min(1.0, value + up), level, "square-and-add")
