"""What a run may cost."""

from __future__ import annotations

import pytest

from groundguard import Decision, Verdict
from groundguard.errors import UsageError
from groundguard.evaluation.runner.budget import Budget, Purse, Spent, read_spent, spent_on
from groundguard.fields import plain_fields
from groundguard.guard import Guard
from groundguard.records import Usage
from groundguard.testing import ScriptedJudge

USAGE = Usage(10, 2)


def asked(calls=1, usage=USAGE, **more):
    return Verdict(Decision.SUPPORTED, calls=calls, usage=usage, **more)


@pytest.mark.parametrize("options", [{"calls": -1}, {"tokens": True}, {"cost": "1"}, {"price_in": float("inf")}])
def test_a_limit_is_a_number_from_0(options):
    with pytest.raises(UsageError, match="is a number from 0"):
        Budget(**options)


def test_a_limit_on_cost_needs_prices():
    with pytest.raises(UsageError, match="both prices"):
        Budget(cost=1.0, price_in=1.0)


def test_money_is_known_only_where_tokens_and_prices_are():
    prices = Budget(price_in=2.0, price_out=10.0)
    assert Spent(1, Usage(1_000_000, 100_000)).cost(prices) == 3.0
    assert Spent(1, Usage(1, 1)).cost(Budget()) is None
    assert Spent(1, Usage(1, None)).cost(prices) is None
    assert Spent(1, None).cost(prices) is None
    assert Spent(2, Usage(1, 1), silent=1).cost(prices) is None


def test_what_results_took_adds_up_and_silence_is_not_0():
    one, other = spent_on(None, [asked(), None]), spent_on(None, [asked(2, None)])
    assert one == Spent(1, Usage(10, 2), 0)
    assert other == Spent(2, None, 1)
    assert one + other == Spent(3, Usage(10, 2), 1)
    assert (Spent() + Spent()).usage is None
    assert Spent().tokens == 0
    assert read_spent(plain_fields(one + other)) == one + other
    assert read_spent(plain_fields(Spent())) == Spent()


def test_a_judge_of_judges_is_silent_if_one_of_them_is():
    loud = asked(2, Usage(10, 2), members=(asked(), asked()))
    quiet = asked(2, Usage(10, 2), members=(asked(), asked(usage=None)))
    assert [spent_on(None, [verdict]).silent for verdict in (loud, quiet)] == [0, 1]
    assert spent_on(None, [asked(0, None)]).silent == 0  # no model, no tokens to be told


def test_the_verdicts_of_a_response_count():
    response = Guard(ScriptedJudge(asked(3))).check("q", answer="a", chunks=["c"])
    assert spent_on(response, []).calls == 3


def test_calls_are_taken_one_by_one_and_never_one_too_many():
    purse = Purse(Budget(calls=3), Spent(calls=1), [])
    assert [purse.take() for _ in range(4)] == [True, True, False, False]
    assert all(Purse(Budget(), Spent(), []).take() for _ in range(10))


def test_calls_that_nobody_saw_are_taken_when_the_result_is_there():
    purse = Purse(Budget(calls=5), Spent(), [])
    purse.deliver(Spent(calls=4), 1, 0)
    assert purse.take()
    assert purse.take()
    assert not purse.take()


def test_known_replies_are_not_counted_again():
    purse = Purse(Budget(), Spent(calls=2), [])
    purse.deliver(Spent(calls=3), 3, 2)
    assert purse.spent.calls == 3


def test_the_first_result_runs_alone_and_the_others_leave_room_for_the_dearest():
    purse = Purse(Budget(tokens=100), Spent(), [])
    assert purse.admits(0)
    assert not purse.admits(1)
    purse.deliver(Spent(1, Usage(20, 10)), 1, 0)
    assert [purse.admits(number) for number in (1, 2, 3)] == [True, True, False]
    purse.deliver(Spent(1, Usage(40, 10)), 1, 0)
    assert not purse.admits(2)
    assert purse.is_first(2)


def test_money_holds_likewise():
    purse = Purse(Budget(cost=1.0, price_in=1e6, price_out=0.0), Spent(1, Usage(0, 0)), [Spent(1, Usage(0, 0))])
    assert purse.admits(5)
    purse.deliver(Spent(1, Usage(1, 0)), 1, 0)
    assert not purse.admits(1)


def test_a_limit_that_cant_be_held_is_seen():
    assert not Purse(Budget(calls=1), Spent(1, None, 1), []).is_blind
    assert Purse(Budget(tokens=1), Spent(1, None, 1), []).is_blind
