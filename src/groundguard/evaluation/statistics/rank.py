"""How well a score ranks the good above the bad."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from groundguard.evaluation.results import Interval
from groundguard.evaluation.statistics.intervals import LEVEL, bisect, z_of


def auroc(good: Sequence[float], bad: Sequence[float]) -> float | None:
    """The chance that a good one has a higher score than a bad one, a tie counting half; None without both kinds.

    Source: J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a ROC curve", Radiology 143 (1982).
    """
    if not good or not bad:
        return None
    of_good, of_bad = Counter(good), Counter(bad)
    wins, passed = 0.0, 0
    for score in sorted({*of_good, *of_bad}):
        wins += of_good[score] * (passed + of_bad[score] / 2)
        passed += of_bad[score]
    return wins / (len(good) * len(bad))


def auroc_interval(area: float, good: int, bad: int, level: float = LEVEL) -> Interval:
    """The interval of an AUROC; it has a width even where the area is 1.

    Args:
        area: The AUROC.
        good: How many good ones it was measured with.
        bad: How many bad ones.
        level: How often such an interval holds the true area.

    Source: R. G. Newcombe, "Confidence intervals for an effect size measure based on the Mann-Whitney statistic.
    Part 2", Statistics in Medicine 25 (2006), method 5.
    """
    z = z_of(level)

    def reach(true: float) -> float:
        half = (good + bad) / 2 - 1
        varies = 1 + half * (1 - true) / (2 - true) + half * true / (1 + true)
        return z * math.sqrt(true * (1 - true) * varies / (good * bad))

    low = bisect(lambda true: area - true - reach(true), 0.0, area)
    high = bisect(lambda true: area - true + reach(true), area, 1.0)
    return Interval(low, high, level, "newcombe")
