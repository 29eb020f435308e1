"""Agreement with labels, ranks, corrected rates and how many it takes; against published examples."""

import math
import random

import pytest

from groundguard.errors import UsageError
from groundguard.evaluation.statistics import agreement, intervals, prevalence, rank, samples
from groundguard.evaluation.statistics.agreement import Table

SURE, RUBBER_STAMP, ONE_KIND = Table(45, 5, 4, 46), Table(9, 0, 1, 0), Table(10, 0, 0, 0)


def test_kappa_by_hand():
    """Cohen's rule on 20 and 15 of 50 agreed, 5 and 10 not: agreement 0.7, chance 0.5."""
    assert agreement.kappa(Table(20, 5, 10, 15)) == pytest.approx(0.4)


def test_the_error_of_kappa_by_hand():
    """Half of both kinds, agreement 0.7: Fleiss, Cohen and Everitt reduce to 2 * sqrt(0.7 * 0.3 / n) for equal margins."""
    assert agreement.kappa_error(Table(35, 15, 15, 35)) == pytest.approx(2 * (0.7 * 0.3 / 100) ** 0.5)


def test_a_judge_that_always_says_yes_has_no_kappa_to_show_for_its_agreement():
    assert RUBBER_STAMP.agreement == 0.9
    assert agreement.kappa(RUBBER_STAMP) == 0
    assert agreement.balanced_accuracy(RUBBER_STAMP) == 0.5


@pytest.mark.parametrize("table", [ONE_KIND, Table(0, 0, 3, 4), Table(0, 0, 0, 0)])
def test_labels_of_one_kind_say_nothing(table):
    assert agreement.kappa(table) is None
    assert agreement.kappa_interval(table) is None
    assert agreement.balanced_accuracy(table) is None
    assert agreement.balanced_interval(table) is None
    assert prevalence.rogan_gladen(1, 2, table) is None


def test_nothing_agrees_with_nothing():
    assert Table(0, 0, 0, 0).agreement is None


def test_intervals_have_a_width_where_all_agree():
    perfect = Table(20, 0, 0, 20)
    kappa, balanced = agreement.kappa_interval(perfect), agreement.balanced_interval(perfect)
    assert (kappa.low < 0.9, kappa.high) == (True, 1)
    assert (balanced.low < 0.95, balanced.high) == (True, 1)


def test_the_interval_of_kappa_holds_it_as_often_as_it_says():
    drawn, truth, held = random.Random(5), 0.4, 0
    for _ in range(400):
        cells = [0, 0, 0, 0]
        for _ in range(80):
            cells[drawn.choices((0, 1, 2, 3), (35, 15, 15, 35))[0]] += 1
        interval = agreement.kappa_interval(Table(*cells))
        held += interval.low <= truth <= interval.high
    assert held >= 0.92 * 400


def test_rogan_and_gladen_by_hand():
    """70 of 100 passed, sensitivity 0.9, specificity 0.92: (0.7 + 0.92 - 1) / 0.82."""
    corrected = prevalence.rogan_gladen(70, 100, SURE)
    assert corrected.value == pytest.approx(0.62 / 0.82)
    assert not corrected.clipped
    assert corrected.interval.low < corrected.value < corrected.interval.high


@pytest.mark.parametrize(("passed", "value"), [(0, 0), (100, 1)])
def test_what_falls_outside_is_clipped_and_says_so(passed, value):
    corrected = prevalence.rogan_gladen(passed, 100, SURE)
    assert corrected.value == value
    assert corrected.clipped
    assert corrected.interval.low <= value <= corrected.interval.high


def test_a_judge_no_better_than_a_coin_corrects_nothing():
    assert prevalence.rogan_gladen(1, 2, Table(5, 5, 5, 5)) is None


def test_a_judge_hardly_better_than_a_coin_on_few_labels():
    corrected = prevalence.rogan_gladen(5, 10, Table(1, 0, 49, 1))
    assert (corrected.interval.low, corrected.interval.high) == (0, 1)


def test_rates_of_nothing():
    with pytest.raises(UsageError):
        prevalence.rogan_gladen(3, 2, SURE)


def test_the_corrected_interval_holds_the_truth_as_often_as_it_says():
    drawn, held = random.Random(3), 0
    for _ in range(400):
        good, bad, passed = (
            sum(drawn.random() < p for _ in range(n)) for p, n in ((0.9, 60), (0.2, 40), (0.85 * 0.9 + 0.15 * 0.2, 200))
        )
        corrected = prevalence.rogan_gladen(passed, 200, Table(good, 60 - good, bad, 40 - bad))
        held += corrected.interval.low <= 0.85 <= corrected.interval.high
    assert held >= 0.92 * 400


def test_auroc_with_ties_by_hand():
    """Of six pairs four are won and one is a tie."""
    assert rank.auroc([0.9, 0.5], [0.1, 0.5, 0.7]) == pytest.approx(4.5 / 6)
    assert rank.auroc([1, 1], [1]) == 0.5
    assert rank.auroc([], [0.1]) is None
    assert rank.auroc([0.1], []) is None


def test_an_auroc_has_an_interval_at_its_ends():
    top, bottom = rank.auroc_interval(1.0, 10, 10), rank.auroc_interval(0.0, 10, 10)
    assert 0.7 < top.low < 0.9
    assert top.high == pytest.approx(1)
    assert (bottom.low, bottom.high) == (pytest.approx(0), pytest.approx(1 - top.low))


def test_the_interval_of_an_auroc_holds_it_as_often_as_it_says():
    """Two normals a standard deviation apart: the area is Phi(1 / sqrt(2))."""
    drawn, held = random.Random(11), 0
    for _ in range(400):
        good, bad = [drawn.gauss(1, 1) for _ in range(40)], [drawn.gauss(0, 1) for _ in range(30)]
        interval = rank.auroc_interval(rank.auroc(good, bad), 40, 30)
        held += interval.low <= 0.7602499 <= interval.high
    assert held >= 0.92 * 400


def test_how_many_labels_it_takes():
    assert samples.to_bound(0, 0.05) == 59
    assert samples.to_bound(0, 0.1) == 29
    assert samples.to_bound(0.05, 0.05) is None
    assert samples.to_bound(0.0999999, 0.1) is None
    assert samples.to_width(0.5, 0.05) == 381
    assert samples.to_width(0.5, 0.0001) is None


@pytest.mark.parametrize("rate", [0, 0.01, 0.05, 1 / 7, 0.2, 1 / 3])
@pytest.mark.parametrize("below", [0.1, 0.25, 0.4, 0.9])
def test_it_takes_no_label_more(rate, below):
    found = samples.to_bound(rate, below)
    fits = (n for n in range(1, 700) if intervals.upper_bound(math.ceil(round(rate * n, 9)), n) <= below)
    assert found == (next(fits, None) if rate < below else None)


def test_many_labels_near_the_mark():
    assert samples.to_bound(0.05, 0.1) == 116
    assert samples.to_bound(0.099, 0.1) == 244_101
    with pytest.raises(UsageError):
        samples.to_bound(0.05, 0.1, level=1)


@pytest.mark.parametrize("call", [samples.to_bound, samples.to_width])
@pytest.mark.parametrize("numbers", [(-1, 0.1), (0.5, 0)])
def test_numbers_that_are_none(call, numbers):
    with pytest.raises(UsageError):
        call(*numbers)
