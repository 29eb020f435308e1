"""The ratchet proposes a step up where every recent run bears it, and never else."""

from dataclasses import replace

import pytest

from groundguard.errors import UsageError
from groundguard.evaluation.gates.gates import Bound, Gate
from groundguard.evaluation.gates.ratchet import propose
from support.measured import PINS, run_with

GATE = Gate("faithfulness", 0.7)
GOOD = run_with([1] * 60)
FAIR = run_with([1] * 50 + [0] * 10)


def why(runs, gate=GATE, **options):
    proposal = propose(gate, runs, **options)
    assert proposal.proposed is None
    return proposal.why


def test_a_step_up_where_all_recent_runs_are_above_it():
    proposal = propose(GATE, [GOOD] * 3)
    assert proposal.proposed == Gate("faithfulness", 0.8)
    assert proposal.lowest == pytest.approx(0.9398, abs=1e-4)
    assert proposal.why == "the lower bound of each of the last 3 runs is above 0.80"
    assert proposal.to_dict()["proposed"] == {"metric": "faithfulness", "at": 0.8, "bound": "value"}


def test_the_bound_stays_what_it_is():
    gate = Gate("faithfulness", 0.7, Bound.LOWER)
    assert propose(gate, [GOOD] * 3).proposed == Gate("faithfulness", 0.8, Bound.LOWER)


def test_the_value_being_above_is_not_enough():
    assert why([GOOD, GOOD, FAIR]) == "the lowest lower bound of the last 3 runs is 0.72, not above 0.80"


def test_older_runs_do_not_count():
    assert propose(GATE, [FAIR, GOOD, GOOD, GOOD]).proposed is not None


def test_a_smaller_step_may_fit():
    assert propose(GATE, [FAIR] * 3, step=0.01).proposed == Gate("faithfulness", 0.71)


def test_there_is_nothing_above_1():
    assert "1.05 is more than there is" in why([GOOD] * 3, Gate("faithfulness", 0.95))


def test_too_few_runs():
    assert why([GOOD] * 2) == "it takes 3 runs, and there are 2"
    assert why([]) == "it takes 3 runs, and there are 0"
    assert propose(GATE, [GOOD], recent=1).proposed is not None


def test_what_was_not_measured_bears_nothing():
    assert "not every one" in why([GOOD, GOOD, run_with(["judge_error"] * 3)])
    assert "not every one" in why([GOOD] * 3, Gate("context_recall", 0.5))


def test_what_is_missing_bears_nothing():
    unscored, stopped = run_with([1] * 60 + ["judge_error"] * 4), replace(GOOD, stopped="budget")
    assert "4 of 64 could not be scored (4 judge_error), and more than 5% failed" in why([GOOD, GOOD, unscored])
    assert "complete" in why([GOOD, GOOD, stopped])
    assert "complete" in why([GOOD, GOOD, replace(GOOD, expected=61)])
    assert propose(GATE, [GOOD, GOOD, run_with([1] * 60 + ["judge_error"])]).proposed is not None


def test_never_into_the_noise():
    noisy = run_with([[1, 1, 1]] * 54 + [[0, 1, 1]] * 3 + [[1, 1, 1]] * 3, pins=replace(PINS, repeats=3))
    lower = propose(GATE, [noisy] * 3).lowest
    assert lower > 0.9
    assert "inside the noise" in why([noisy] * 3, Gate("faithfulness", round(lower - 0.005, 3)), step=0.001)


@pytest.mark.parametrize("pins", [replace(PINS, content_hash="bb"), replace(PINS, judges={"faithfulness": "f2"})])
def test_runs_that_are_not_alike(pins):
    with pytest.raises(UsageError, match=r"differ in (content_hash|the judge of faithfulness)"):
        propose(GATE, [GOOD, GOOD, replace(GOOD, pins=pins)])


@pytest.mark.parametrize("options", [{"step": 0}, {"step": 1}, {"recent": 0}])
def test_numbers_that_are_none(options):
    with pytest.raises(UsageError):
        propose(GATE, [GOOD] * 3, **options)
