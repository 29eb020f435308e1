import dataclasses
import pickle

import pytest

from groundguard.errors import NoContextError, UngroundedError, UsageError
from groundguard.guard import Guard
from groundguard.policy import NOT_ANSWERED, Policy, Prune, Raise, Regenerate, Replace, Return, Revision, as_policy
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
@pytest.mark.parametrize(
    "make", [Raise, lambda: Replace(OTHER), lambda: Prune(Return()), lambda: Regenerate(1, Return())]
)
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


@pytest.mark.parametrize(
    "make",
    [
        Raise,
        lambda on: Replace(OTHER, on=on),
        lambda on: Prune(Return(), on=on),
        lambda on: Regenerate(1, Return(), on=on),
    ],
)
@pytest.mark.parametrize(
    ("on", "message"),
    [
        ((), "at least one status"),
        ({Status.ANSWERED}, "`answered` is not one to act on"),
        (list(Status), "`answered` is not one to act on"),
        ("answered", "`answered` is not one to act on"),
        ("raise", "each one of answered, ungrounded, no_context; got a str that is none"),
        ("", "got a str that is none"),
        ({"grounded"}, "got a str that is none"),
        ({"Ungrounded"}, "got a str that is none"),
        ({None}, "got a NoneType that is none"),
        ([True], "got a bool that is none"),
        (None, "`on` is a set of statuses, .*; got a NoneType"),
        (5, "`on` is a set of statuses, .*; got a int"),
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
    assert Prune(Raise()) == Prune(then=Raise()) != Prune(Return())
    assert Regenerate(2, Raise()) != Regenerate(1, Raise())
    assert len({Return(), Return(), Raise(), Replace("x"), Prune(Raise()), Prune(Raise()), Regenerate(1, Raise())}) == 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        Return().skip_generator = True


@pytest.mark.parametrize("policy", [Return(), Raise(), Replace("x"), Prune(Raise()), Regenerate(2, Raise())])
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


def test_all_policies_are_named_to_who_gave_none():
    with pytest.raises(UsageError) as raised:
        Guard(ScriptedJudge(True), policy="SECRET")
    for kind in (Return, Raise, Replace, Regenerate, Prune):
        assert f"{kind.__name__}(" in str(raised.value)
    assert "SECRET" not in str(raised.value)


@pytest.mark.parametrize("policy", [Return, Raise, Replace, Prune, Regenerate])
def test_a_class_is_no_policy(policy):
    with pytest.raises(UsageError, match=f"not a class: write {policy.__name__}"):
        as_policy(policy)


# Policies that go on with another.

continuing = pytest.mark.parametrize("make", [Prune, lambda then, **more: Regenerate(2, then, **more)])


@continuing
def test_what_comes_then_must_be_said_and_must_be_a_policy(make):
    with pytest.raises(TypeError, match="then"):
        Prune()
    with pytest.raises(TypeError, match="then"):
        Regenerate(2)
    for then in ("raise", None, Raise):
        with pytest.raises(UsageError, match="a policy is a value"):
            make(then)


@continuing
@statuses
def test_the_end_is_left_to_then(make, status):
    given = response(status)
    policy = make(Replace(OTHER))
    assert policy.settle(given).answer == ("12 volts" if status is Status.ANSWERED else OTHER)
    assert make(Return()).settle(given) is given


@continuing
@statuses
@narrowed
def test_a_status_that_on_leaves_out_is_left_alone_by_then_too(make, status, on):
    given = response(status)
    policy = make(Replace(OTHER), on=on)
    assert policy.settle(given).answer == (OTHER if status in on else "12 volts")
    assert policy.revise(given) is None or status in on


@continuing
def test_the_generator_is_skipped_as_then_says(make):
    for then in (Return(), Raise(), Replace(OTHER)):
        assert make(then).skip_generator is False
        assert make(make(then)).skip_generator is False
    for then in (Return(skip_generator=True), Replace(OTHER, skip_generator=True)):
        assert make(then).skip_generator is True
        assert make(Prune(Regenerate(1, then))).skip_generator is True


@continuing
def test_what_on_leaves_out_cannot_skip_the_generator(make):
    with pytest.raises(UsageError, match=r"leaves Status\.NO_CONTEXT out of `on`, so its `then` can't skip"):
        make(Return(skip_generator=True), on={Status.UNGROUNDED})
    assert make(Return(skip_generator=True), on={Status.NO_CONTEXT}).skip_generator


def test_a_policy_tells_whether_it_generates_again():
    assert not any(policy.regenerates for policy in (Return(), Raise(), Replace(OTHER), Prune(Prune(Raise()))))
    assert Regenerate(1, Return()).regenerates
    assert Prune(Prune(Regenerate(1, Return()))).regenerates


def test_policies_survive_pickle():
    policy = Regenerate(2, Prune(Replace(OTHER, skip_generator=True)), on_failure=True)
    back = pickle.loads(pickle.dumps(policy))
    assert back == policy
    assert back.skip_generator
    assert back.regenerates


@pytest.mark.parametrize("revised", [None, 3, b"text", ("text",)])
def test_a_revision_is_a_text_or_feedback(revised):
    with pytest.raises(UsageError, match="a revision is a text to judge or a Feedback"):
        Revision(Return(), revised)
    with pytest.raises(UsageError, match="a policy is a value"):
        Revision("return", "text")


@pytest.mark.parametrize(
    ("removed", "got"),
    [("cut", "a str"), (None, "a NoneType"), ({"cut"}, "a set"), (("cut", None), "a NoneType"), ([b"cut"], "a bytes")],
)
def test_what_a_revision_removed_is_texts(removed, got):
    with pytest.raises(UsageError, match=f"`removed` is a tuple of texts; got {got}") as raised:
        Revision(Return(), "text", removed)
    assert "cut" not in str(raised.value)


@pytest.mark.parametrize("removed", [(), ("cut", "also"), ["cut"]])
def test_what_a_revision_removed_becomes_a_tuple_that_the_guard_keeps(removed):
    class Cut(Policy):
        def revise(self, response):
            return Revision(Return(), "12 volts", removed)

        def settle(self, response):
            raise AssertionError("the policy of the revision settles")

    assert Revision(Return(), "text", removed).removed == tuple(removed)
    response = Guard(ScriptedJudge(False, True), policy=Cut()).check("?", answer="24 volts", chunks=["12 volts"])
    assert (response.status, response.removed) == (Status.ANSWERED, tuple(removed))


def test_a_revision_shows_no_text():
    assert "secret" not in repr(Revision(Return(), "secret", ("secret",)))
