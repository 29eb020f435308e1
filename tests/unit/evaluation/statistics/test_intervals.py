"""Intervals, against published examples and scipy."""

import math

import pytest

from groundguard.errors import UsageError
from groundguard.evaluation.statistics import bootstrap, intervals, student


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_newcombe_published_it(hits, n, low, high):
    """R. G. Newcombe, Statistics in Medicine 17 (1998), 857-872, table I, method 3."""
    interval = intervals.wilson(hits, n)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


def test_wilson_never_leaves_0_to_1_and_ends_exactly():
    assert intervals.wilson(0, 3).low == 0
    assert intervals.wilson(3, 3).high == 1


@pytest.mark.parametrize(("hits", "n"), [(1, 0), (-1, 3), (4, 3)])
def test_a_rate_that_is_none_is_refused(hits, n):
    with pytest.raises(UsageError):
        intervals.wilson(hits, n)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_lies_between_0_and_1(level):
    with pytest.raises(UsageError, match=r"0\.95"):
        intervals.wilson(1, 2, level)
    with pytest.raises(UsageError, match=r"0\.95"):
        intervals.upper_bound(1, 2, level)


def test_the_rule_of_three():
    assert intervals.upper_bound(0, 100) == pytest.approx(1 - 0.05**0.01)
    assert intervals.upper_bound(0, 100) == pytest.approx(3 / 100, abs=0.001)


def test_an_upper_bound_at_the_ends():
    assert intervals.upper_bound(0, 0) == 1
    assert intervals.upper_bound(5, 5) == 1
    with pytest.raises(UsageError):
        intervals.upper_bound(2, 1)


def test_a_binomial_at_its_ends():
    assert intervals.binomial_at_most(0, 5, 0.0) == 1
    assert intervals.binomial_at_most(5, 5, 0.5) == 1
    assert intervals.binomial_at_most(2, 5, 1.0) == 0


def test_values_of_0_and_1_have_wilsons_interval():
    assert intervals.of_mean([1.0] * 15 + [0.0] * 5) == intervals.wilson(15, 20)


@pytest.mark.parametrize(
    "values", [[0.5] * 40, [0.5] * 36 + [0.6] * 4, [0.2, 0.9, 0.4]], ids=["all equal", "most equal", "few"]
)
def test_where_a_bootstrap_would_promise_too_much_wilson_stands_in(values):
    assert intervals.of_mean(values) == intervals.wilson(math.fsum(values), len(values))


def test_a_few_that_differ_are_enough_to_resample():
    assert intervals.of_mean([0.5] * 35 + [0.6] * 5).method == "bootstrap"


def test_many_values_have_the_normal_interval():
    values = [0.0, 0.5, 1.0] * 2_000
    interval = intervals.of_mean(values)
    assert interval.method == "normal"
    reach = 1.959964 * math.sqrt(sum((value - 0.5) ** 2 for value in values) / 5_999 / 6_000)
    assert (interval.low, interval.high) == (pytest.approx(0.5 - reach), pytest.approx(0.5 + reach))


def test_other_values_have_a_bootstrap_that_one_seed_makes_again():
    values = [0.1, 0.4, 0.5, 0.9, 1.0] * 6
    first = intervals.of_mean(values, seed=7)
    assert first.method == "bootstrap"
    assert first == intervals.of_mean(values, seed=7) != intervals.of_mean(values, seed=8)
    assert first.low < 0.58 < first.high


def test_a_bootstrap_needs_something_to_draw():
    with pytest.raises(UsageError):
        bootstrap.means([])


def test_equal_values_have_no_width():
    assert bootstrap.bca([0.5] * 20) == (0.5, 0.5)


def test_a_quantile_lies_between_two_values():
    assert bootstrap.quantile([0, 10], 0.25) == 2.5
    assert bootstrap.quantile([3], 0.9) == 3


@pytest.mark.parametrize(("degrees", "t"), [(1, 12.706), (2, 4.303), (9, 2.262), (30, 2.042)])
def test_students_t_as_in_every_table(degrees, t):
    assert round(student.t_of(0.95, degrees), 3) == t


@pytest.mark.parametrize(("level", "degrees"), [(1, 3), (0.9, 0)])
def test_students_t_of_nothing(level, degrees):
    with pytest.raises(UsageError):
        student.t_of(level, degrees)
