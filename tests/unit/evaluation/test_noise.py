"""What repeats show: flips, spread and the band."""

import pytest

from groundguard.evaluation import noise
from groundguard.evaluation.figures import figures
from groundguard.evaluation.results import Figure, Interval
from support.measured import run_with, score


def test_the_band_by_hand():
    """Two repeats at 0.7 and 0.9: t for one degree is 12.706, the spread 0.1414, and the root of 2 / 2 is 1."""
    (figure,) = figures(run_with([[1, 1]] * 7 + [[0, 1]] * 2 + [[0, 0]]))
    assert figure.spread == pytest.approx(0.02**0.5)
    band = noise.band(figure, 2)
    assert (band.low, band.high) == (0, 1)
    narrow = noise.band(Figure("m", 0.5, 10, Interval(0.2, 0.8), spread=0.01), 5)
    assert narrow.high - 0.5 == pytest.approx(2.776445 * 0.01 * (2 / 5) ** 0.5)
    assert 0.5 - narrow.low == pytest.approx(narrow.high - 0.5)


@pytest.mark.parametrize(("value", "spread", "repeats"), [(None, 0.1, 3), (0.5, None, 3), (0.5, 0.1, 1)])
def test_without_repeats_there_is_no_band(value, spread, repeats):
    assert noise.band(Figure("m", value, 1, spread=spread), repeats) is None


def test_a_judge_that_never_moves_has_a_band_of_no_width():
    (figure,) = figures(run_with([[0.1, 0.1, 0.1]] * 3))
    band = noise.band(figure, 3)
    assert figure.spread == 0
    assert band.low == band.high == figure.value


def test_which_items_flipped():
    items = {
        "still": {0: score(1.0), 1: score(1.0)},
        "flips": {0: score(1.0), 1: score(0.0)},
        "fails": {0: score(1.0), 1: score("judge_error")},
        "once": {0: score(1.0)},
    }
    assert noise.flipped(items) == ("flips", "fails")
    assert noise.flip_rate(items.values()) == pytest.approx(2 / 3)
    assert noise.flip_rate([{0: score(1.0)}]) is None
    assert noise.flip_rate([]) is None
    assert noise.by_repeat([]) == []


def test_means_that_agree_by_luck_leave_the_band_as_wide_as_the_items_own_flips_make_it():
    """Ten of fifty items flip, five each way: a variance of 1/2 each, so the mean's is ten halves by fifty squared."""
    (figure,) = figures(run_with([[0, 1]] * 5 + [[1, 0]] * 5 + [[1, 1]] * 40))
    assert noise.by_repeat(figure_items([[0, 1]] * 5 + [[1, 0]] * 5 + [[1, 1]] * 40)) == [0.9, 0.9]
    assert figure.spread == pytest.approx((10 * 0.5) ** 0.5 / 50)
    band = noise.band(figure, 2)
    assert band.low < 0.75
    assert band.high > 0.95


def figure_items(values):
    """Scores of items by repeat."""
    return [{repeat: score(value) for repeat, value in enumerate(each)} for each in values]
