"""The smell of overfitting."""

import pytest

from groundguard.evaluation.golden.items import Split
from groundguard.evaluation.overfit import overfit
from support.measured import row, run_of


def gap(tune, heldout):
    """The gap of a run with these values."""
    rows = [
        row(f"{split}{at}", value, split=split)
        for split, values in ((Split.TUNE, tune), (Split.HELDOUT, heldout))
        for at, value in enumerate(values)
    ]
    (found,) = overfit(run_of(*rows))
    return found


def test_better_on_what_was_tuned_on_smells():
    found = gap([1] * 29 + [0], [1] * 15 + [0] * 15)
    assert found.gap == pytest.approx(29 / 30 - 0.5)
    assert 0 < found.interval.low < found.gap < found.interval.high
    assert found.smells
    assert "smells of overfitting" in found.why
    assert found.to_dict()["tune"]["n"] == 30


def test_what_chance_explains_does_not():
    found = gap([1, 1, 1, 0], [1, 1, 0, 0])
    assert not found.smells
    assert "no more than chance explains" in found.why


def test_worse_on_what_was_tuned_on_is_no_overfitting():
    found = gap([0] * 30, [1] * 30)
    assert not found.smells
    assert "the two splits are not of one kind" in found.why


def test_a_perfect_score_is_flagged():
    found = gap([1] * 6, [1] * 5)
    assert found.perfect
    assert not found.smells
    assert "all 11 scored items are perfect, which is suspicious" in found.why
    assert not gap([1], []).perfect


@pytest.mark.parametrize(
    ("tune", "heldout", "lacks"),
    [([1, 0], [], "heldout"), ([], [1, 0], "tune"), ([1, 0], ["judge_error"], "heldout")],
)
def test_without_both_splits_there_is_no_gap(tune, heldout, lacks):
    found = gap(tune, heldout)
    assert found.gap is found.interval is None
    assert found.why == f"no gap to measure: no scored item is of the split {lacks}"


def test_without_any_split_neither():
    (found,) = overfit(run_of(row("a", 1.0), row("b", 0.0)))
    assert found.why.endswith("of the split tune or heldout")
