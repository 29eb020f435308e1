"""Whether a run goes on."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from groundguard import Decision, Guard, Reason, Verdict
from groundguard.evaluation import ItemResult, Score
from groundguard.evaluation.runner.budget import Budget, Purse, Spent
from groundguard.evaluation.runner.control import Control, health_of, owes, stoppable
from groundguard.evaluation.runner.health import Health, health
from groundguard.testing import ScriptedJudge


def control(patience=3, **limits) -> Control:
    return Control(Purse(Budget(**limits), Spent(), []), patience)


def test_the_first_reason_stands():
    state = control(calls=0)
    assert state.admits_call(paid=False)
    assert not state.admits_call(paid=True)
    state.stop("interrupted")
    assert state.stopped == "budget"
    assert not state.admits_call(paid=False)
    assert state.admits_result(0) is False


def test_a_result_waits_for_others_and_is_refused_when_there_are_none():
    state = control(tokens=10)
    assert state.admits_result(0) is True
    assert state.admits_result(1) is None
    state.purse.deliver(Spent(1), 1, 0)
    assert state.admits_result(1) is True
    over = control(tokens=0)
    over.purse.spent = Spent(1, None)
    over.purse._learn(Spent(1))
    over.purse.spent = Spent(1)
    over.purse._tokens = 5
    assert over.admits_result(0) is False
    assert over.stopped == "budget"


def test_only_failures_in_a_row_make_a_judge_ill():
    state = control(patience=3)
    for health_now in (False, False, True, False, None, False):
        state.look_at(health_now)
    assert state.stopped is None
    state.look_at(False)
    assert state.stopped == "judge unhealthy"


def result(judge=True, scores=(), **options) -> ItemResult:
    verdict = judge if isinstance(judge, Verdict) else None
    response = Guard(ScriptedJudge(verdict or judge)).check("q", answer="a", chunks=["c"])
    return ItemResult("i", 0, "q", response, scores=scores, **options)


def failed(reason: Reason) -> Verdict:
    return Verdict(Decision.UNKNOWN, reason)


GOOD, BAD = Score("m", 1.0, verdict=Verdict(Decision.SUPPORTED)), Score("m", None, "judge_timeout")


@pytest.mark.parametrize(
    ("item", "well", "owed"),
    [
        (ItemResult("i", 0, "q", error="LookupError"), None, False),
        (result(), True, False),
        (result(failed(Reason.JUDGE_TIMEOUT)), False, True),
        (result(failed(Reason.JUDGE_REFUSED)), False, False),
        (result(failed(Reason.JUDGE_ERROR), (GOOD,)), True, True),
        (result(True, (BAD,)), True, True),
        (result(failed(Reason.JUDGE_ERROR), (BAD, Score("n", None, "no reference"))), False, True),
    ],
)
def test_whether_the_judges_were_well_and_what_they_owe(item, well, owed):
    assert (health_of(item), owes(item)) == (well, owed)


def test_one_judge_of_several_that_fails_is_a_failure():
    found = health([result(True, (GOOD, BAD)), result(True, (GOOD,))])
    assert (found, found.is_well()) == (Health(2, 1, {"judge_timeout": 1}), False)


def test_a_failure_that_a_metric_took_over_is_one():
    assert health([result(failed(Reason.JUDGE_TIMEOUT), (BAD,))]) == Health(1, 1, {"judge_timeout": 1})


def test_the_health_of_a_run_is_counted_apart():
    found = health([result(), result(failed(Reason.JUDGE_ERROR), (BAD,)), ItemResult("i", 0, "q", error="E")])
    assert found == Health(2, 1, {"judge_timeout": 1, "judge_error": 1})
    assert str(found) == "the judge failed in 1 of 2 results (1 judge_timeout, 1 judge_error)"
    assert not found.is_well()
    assert found.is_well(0.5)
    assert Health(0, 0).is_well(0.0)
    assert str(Health(2, 0)) == "the judge failed in 0 of 2 results"
    assert found.to_dict() == {"asked": 2, "failed": 1, "reasons": {"judge_timeout": 1, "judge_error": 1}}


def test_the_first_interrupt_ends_it_in_order_and_the_second_at_once():
    state, told = control(), []
    usual = signal.getsignal(signal.SIGINT)
    with stoppable(state, told.append):
        signal.raise_signal(signal.SIGINT)
        assert state.stopped == "interrupted"
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert len(told) == 1
    assert signal.getsignal(signal.SIGINT) is usual


def test_handlers_of_others_are_left_alone():
    heard = []
    usual = signal.signal(signal.SIGINT, lambda *_: heard.append("theirs"))
    try:
        with stoppable(control(), print):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert heard == ["theirs"]


def test_outside_the_main_thread_there_are_no_handlers():
    def inside():
        with stoppable(control(), print):
            return "done"

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(inside).result() == "done"
