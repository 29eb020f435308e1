"""Paired comparisons, against published examples."""

import random

import pytest

from groundguard.errors import UsageError
from groundguard.evaluation.statistics import intervals, paired


def test_mcnemar_exact():
    """Two of fourteen discordant pairs: 2 * (1 + 14 + 91) / 2**14."""
    assert paired.mcnemar(12, 2) == pytest.approx(2 * 106 / 2**14)
    assert paired.mcnemar(2, 12) == paired.mcnemar(12, 2)
    assert paired.mcnemar(0, 0) == 1
    assert paired.mcnemar(5, 5) == 1


def test_mcnemar_counts():
    with pytest.raises(UsageError):
        paired.mcnemar(-1, 2)


def test_a_difference_of_rates_as_newcombe_published_it():
    """R. G. Newcombe, Statistics in Medicine 17 (1998), 2635-2650, table I, example with 36, 12, 2 and 0; method 10."""
    interval = paired.difference_of_rates(36, 12, 2, 0)
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.0569, 0.3404)


def test_the_interval_of_a_difference_holds_it_as_often_as_it_says():
    drawn, held = random.Random(2), 0
    for _ in range(400):
        kinds = drawn.choices(range(4), (50, 20, 10, 20), k=60)
        interval = paired.difference_of_rates(*(kinds.count(kind) for kind in range(4)))
        held += interval.low <= 0.1 <= interval.high
    assert held >= 0.92 * 400


def test_a_difference_of_rates_without_losses():
    interval = paired.difference_of_rates(30, 0, 0, 30)
    assert interval.low < 0 < interval.high
    assert interval.high == pytest.approx(-interval.low)
    assert paired.difference_of_rates(0, 10, 0, 0).high == 1


def test_a_bootstrap_of_changes_is_made_again_by_its_seed():
    changes = [0.1, -0.05, 0.2, 0.0, 0.3] * 5
    interval = paired.difference_of_means(changes, seed=1)
    assert interval == paired.difference_of_means(changes, seed=1)
    assert 0 < interval.low < 0.11 < interval.high


def test_many_changes_go_by_students_t():
    changes = [0.1, -0.1] * 3_000
    assert paired.difference_of_means(changes) == paired.student_difference(changes)


def test_one_change_says_nothing():
    interval = paired.student_difference([0.5])
    assert (interval.low, interval.high) == (-1, 1)


def test_two_groups_by_square_and_add():
    """R. G. Newcombe, Statistics in Medicine 17 (1998), 873-890, example (a): 56/70 - 48/80, method 10."""
    one, other = intervals.wilson(56, 70), intervals.wilson(48, 80)
    interval = paired.difference_of_two(56 / 70, one, 48 / 80, other)
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.0524, 0.3339)
