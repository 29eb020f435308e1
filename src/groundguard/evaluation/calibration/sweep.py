"""What other thresholds on a judge's score would do."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from groundguard.evaluation.calibration.record import Swept

MOST = 21
"""How many thresholds are shown at most."""


def swept(good: Sequence[float], bad: Sequence[float]) -> tuple[Swept, ...]:
    """What each threshold would do, by rising threshold; nothing unless there are scores of both kinds.

    A threshold that is chosen here is chosen for these labels: hold it against others before trusting it.

    Args:
        good: Scores of the grounded answers.
        bad: Scores of the ungrounded ones.
    """
    if not good or not bad:
        return ()
    of_good, of_bad = sorted(good), sorted(bad)
    return tuple(_at(threshold, of_good, of_bad) for threshold in _thresholds(sorted({*good, *bad})))


def _thresholds(scores: Sequence[float]) -> Sequence[float]:
    """Every score, or as many as are shown, evenly among them, first and last included."""
    if len(scores) <= MOST:
        return scores
    return [scores[round(place * (len(scores) - 1) / (MOST - 1))] for place in range(MOST)]


def _at(threshold: float, good: Sequence[float], bad: Sequence[float]) -> Swept:
    passing, wrong = (1 - bisect_left(scores, threshold) / len(scores) for scores in (good, bad))
    return Swept(threshold, passing, wrong, (passing + 1 - wrong) / 2)
