import dataclasses

import pytest

from groundguard.errors import NoContextError, UngroundedError, UsageError
from groundguard.guard import Guard
from groundguard.policy import NOT_ANSWERED, Policy, Raise, Replace, Return, as_policy
from groundguard.records import Status
from groundguard.testing import ScriptedJudge

OTHER = "I can't say."


def response(status):
    chunks = [] if status is Status.NO_CONTEXT else ["12 volts"]
    return Guard(ScriptedJudge(status is Status.ANSWERED)).check("?", answer="12 volts", chunks=chunks)


statuses = pytest.mark.parametrize("status", Status)
narrowed = pytest.mark.parametrize(
    "on", [{Status.UNGROUNDED}, {Status.NO_CONTEXT}, NOT_ANSWERED, [Status.UNGROUNDED, Status.NO_CONTEXT]]
)


@statuses
def test_return_hands_back_what_it_was_given(status):
    given = response(status)
    assert given.status is status
    assert Return().settle(given) is given


@statuses
@narrowed
def test_raise_raises_on_the_statuses_it_names_and_never_on_answered(status, on):
    given = response(status)
    policy = Raise(on=on)
    if status not in on:
        assert policy.settle(given) is given
        return
    with pytest.raises(UngroundedError) as caught:
        policy.settle(given)
    assert caught.value.response is given
    assert type(caught.value) is (NoContextError if status is Status.NO_CONTEXT else UngroundedError)


@statuses
@narrowed
def test_replace_changes_the_answer_and_nothing_else(status, on):
    given = response(status)
    settled = Replace(OTHER, on=on).settle(given)
    assert settled.answer == (OTHER if status in on else "12 volts")
    assert dataclasses.replace(settled, answer=given.answer) == given
    assert settled.generated == "12 volts"
    assert settled.status is status


@statuses
@pytest.mark.parametrize("make", [Raise, lambda: Replace(OTHER)])
def test_by_default_a_policy_acts_on_every_status_that_is_not_answered(make, status):
    assert (status in make().on) == (status is not Status.ANSWERED)


def test_replace_may_deliver_nothing_and_keeps_the_output():
    given = dataclasses.replace(response(Status.UNGROUNDED), output=object())
    settled = Replace("").settle(given)
    assert settled.answer == ""
    assert settled.output is given.output


def test_an_iterator_of_statuses_is_taken_once():
    policy = Raise(on=iter([Status.UNGROUNDED]))
    assert policy == Raise(on={Status.UNGROUNDED})
    assert hash(policy) == hash(Raise(on={Status.UNGROUNDED}))
    for _ in range(2):
        with pytest.raises(UngroundedError):
            policy.settle(response(Status.UNGROUNDED))


@pytest.mark.parametrize("make", [Raise, lambda on: Replace(OTHER, on=on)])
@pytest.mark.parametrize(
    ("on", "message"),
    [
        ((), "at least one status"),
        ({Status.ANSWERED}, "`answered` is not one to act on"),
        (list(Status), "`answered` is not one to act on"),
        ("answered", "`answered` is not one to act on"),
        ("raise", "'raise' is not a valid Status"),
        ("", "'' is not a valid Status"),
        ({"grounded"}, "'grounded' is not a valid Status"),
        ({"Ungrounded"}, "'Ungrounded' is not a valid Status"),
        ({None}, "None is not a valid Status"),
        ([True], "True is not a valid Status"),
        (None, "`on` is a set of statuses"),
        (5, "`on` is a set of statuses"),
    ],
)
def test_an_impossible_on_is_refused(make, on, message):
    with pytest.raises(UsageError, match=message):
        make(on)


def test_one_status_will_do():
    assert Raise(on=Status.UNGROUNDED) == Raise(on={Status.UNGROUNDED})


def test_a_policy_that_would_deliver_nothing_is_refused():
    with pytest.raises(UsageError, match=r"`on` leaves out Status\.NO_CONTEXT"):
        Replace(OTHER, on={Status.UNGROUNDED}, skip_generator=True)
    assert Replace(OTHER, on={Status.NO_CONTEXT}, skip_generator=True).skip_generator


@pytest.mark.parametrize("text", [None, 5, b"x", ["x"]])
def test_replace_needs_a_text(text):
    with pytest.raises(UsageError, match=f"needs the text to deliver, not {type(text).__name__}"):
        Replace(text)


def test_only_those_that_say_so_skip_the_generator():
    assert Return(skip_generator=True).skip_generator
    assert not any(policy.skip_generator for policy in (Return(), Raise(), Replace(OTHER)))


def test_policies_are_values():
    assert Return() == Return()
    assert Raise() == Raise()
    assert Replace("x") == Replace("x") != Replace("y")
    assert len({Return(), Return(), Raise(), Replace("x")}) == 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        Return().skip_generator = True


@pytest.mark.parametrize("policy", [Return(), Raise(), Replace("x")])
def test_a_policy_is_recognised(policy):
    assert as_policy(policy) is policy


def test_a_policy_of_your_own_is_one_too():
    class Shout(Policy):
        def settle(self, response):
            return dataclasses.replace(response, answer=response.answer.upper())

    guard = Guard(ScriptedJudge(False), policy=Shout())
    settled = guard.check("?", answer="12 volts", chunks=["12 volts"])
    assert (settled.answer, settled.generated, settled.status) == ("12 VOLTS", "12 volts", Status.UNGROUNDED)


def test_a_policy_of_your_own_cannot_make_it_answered():
    class Wishful(Policy):
        def settle(self, response):
            return dataclasses.replace(response, status=Status.ANSWERED)

    with pytest.raises(ValueError, match=r"can't have the reason|`answered` needs"):
        Guard(ScriptedJudge(False), policy=Wishful()).check("?", answer="12 volts", chunks=["12 volts"])


@pytest.mark.parametrize("policy", ["raise", None, Raise, True, lambda response: response])
def test_what_is_no_policy_is_refused(policy):
    with pytest.raises(UsageError, match="a policy is a value"):
        as_policy(policy)


@pytest.mark.parametrize("policy", [Return, Raise, Replace])
def test_a_class_is_no_policy(policy):
    with pytest.raises(UsageError, match=f"not a class: write {policy.__name__}"):
        as_policy(policy)
