import asyncio
import dataclasses
import itertools
import pickle
import threading

import pytest

from groundguard.errors import UsageError
from groundguard.guard import Guard
from groundguard.judges import Cascade, FactCheck, Lexical, Majority
from groundguard.models import Reply
from groundguard.records import JUDGE_FAILURES, Chunk, Claim, Decision, Exchange, Reason, Status, Usage, Verdict
from groundguard.retry import Retry
from groundguard.testing import ScriptedJudge, ScriptedModel
from support.doors import Door, both_doors
from support.exchange import stuck

YES, NO, SILENT = Decision.SUPPORTED, Decision.UNSUPPORTED, Decision.UNKNOWN
EXCHANGE = Exchange("What voltage?", (Chunk("It runs on 12 volts."),), "12 volts.")
AT_ONCE = Retry(attempts=3, initial=0, maximum=0)
SCORES = (None, 0.0, 0.3, 0.6, 1.0)


class Busy(Exception):
    status_code = 503


def check(door: Door, judge, **options):
    return door.check(Guard(judge, **options), "What voltage?", answer="12 volts.", chunks=["It runs on 12 volts."])


def says(decision, score=None, **more):
    return ScriptedJudge(Verdict(decision, score=score, **more))


def decisions(verdict):
    return [member.decision for member in verdict.members]


# Cascade: who decides.


@pytest.mark.parametrize("second", Decision)
@pytest.mark.parametrize("first", Decision)
@both_doors
def test_only_a_no_of_the_first_is_sure(door, first, second):
    one, other = says(first, 0.9), says(second, 0.1)
    verdict = check(door, Cascade(one, other)).verdict
    stops = first is NO
    assert verdict.decision is (first if stops else second)
    assert verdict.score == (0.9 if stops else 0.1)
    assert len(other.exchanges) == (0 if stops else 1)
    assert decisions(verdict) == ([first] if stops else [first, second])
    assert verdict.calls_saved == (1 if stops else 0)


@pytest.mark.parametrize(
    ("decision", "score", "no_at", "yes_at"),
    list(itertools.product(Decision, SCORES, SCORES, (None, 0.3, 0.6, 1.0))),
)
def test_what_is_sure(decision, score, no_at, yes_at):
    verdict = Cascade(says(decision, score), says(SILENT), no_at=no_at, yes_at=yes_at)(EXCHANGE)
    sure_no = decision is NO and (no_at is None or (score is not None and score <= no_at))
    sure_yes = decision is YES and yes_at is not None and score is not None and score >= yes_at
    assert verdict.decision is (decision if sure_no or sure_yes else SILENT)
    assert verdict.calls_saved == (1 if sure_no or sure_yes else 0)


@pytest.mark.parametrize("reason", sorted(JUDGE_FAILURES))
@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_a_first_that_could_not_say_has_decided_nothing_and_a_second_decides_with_its_own_reason(reason):
    silent = Verdict(SILENT, reason, detail="why", error_type="Odd", raw="raw")
    assert Cascade(ScriptedJudge(silent), says(YES), yes_at=0.1)(EXCHANGE).reason is Reason.SUPPORTED
    verdict = Cascade(says(YES), ScriptedJudge(silent))(EXCHANGE)
    assert (verdict.decision, verdict.reason, verdict.detail) == (SILENT, reason, "why")
    assert (verdict.error_type, verdict.raw) == ("Odd", "raw")


def test_a_judge_that_raises_is_a_silent_one():
    broken = ScriptedJudge(ValueError("down"))
    assert Cascade(broken, says(NO))(EXCHANGE).reason is Reason.UNSUPPORTED
    verdict = Cascade(says(YES, 1.0), broken)(EXCHANGE)
    assert (verdict.decision, verdict.reason, verdict.error_type) == (SILENT, Reason.JUDGE_ERROR, "ValueError")


def test_the_verdict_tells_what_the_deciding_judge_said_and_what_all_cost():
    claim = Claim("12 volts.", YES, 0, 9)
    first = says(YES, 0.4, claims=(Claim("12", YES),), raw="first", usage=Usage(1, 2), calls=5, calls_saved=2)
    then = says(NO, 0.2, claims=(claim,), raw="then", detail="d", model="m", usage=Usage(10, 20), calls=6)
    verdict = Cascade(first, then)(EXCHANGE)
    assert (verdict.decision, verdict.score, verdict.claims) == (NO, 0.2, (claim,))
    assert (verdict.raw, verdict.detail, verdict.model) == ("then", "d", "m")
    assert verdict.usage == Usage(11, 22)
    assert [member.usage for member in verdict.members] == [Usage(1, 2), Usage(10, 20)]
    assert [member.calls for member in verdict.members] == [5, 6]
    assert (verdict.calls, verdict.calls_saved) == (2, 2)
    assert (verdict.judge, verdict.fingerprint) == ("cascade(scripted, scripted)", Cascade(first, then).fingerprint)
    assert [member.judge for member in verdict.members] == ["scripted", "scripted"]
    assert verdict.seconds >= sum(member.seconds for member in verdict.members) > 0


def test_the_embedded_judge_saves_the_model():
    model = ScriptedModel("yes", name="big")
    judge = Cascade(Lexical(), then=FactCheck(model))
    assert judge.name == "cascade(lexical, fact_check:big)"
    with pytest.warns(UserWarning, match="understands nothing"):
        wrong = judge(dataclasses.replace(EXCHANGE, answer="It runs on 13 volts."))
    assert (wrong.decision, wrong.calls, wrong.calls_saved, model.prompts) == (NO, 0, 1, [])
    assert wrong.claims[0].missing
    right = judge(dataclasses.replace(EXCHANGE, answer="It runs on 12 volts."))
    assert (right.decision, right.calls, right.calls_saved, len(model.prompts)) == (YES, 1, 0, 1)
    assert right.prompt_version == right.members[1].prompt_version is not None


# Majority: who has it.


@pytest.mark.parametrize("said", [s for n in (2, 3, 4) for s in itertools.product(Decision, repeat=n)])
def test_a_strict_majority_of_the_seats(said):
    verdict = Majority([says(decision) for decision in said])(EXCHANGE)
    half = len(said) / 2
    yes, silent = said.count(YES), said.count(SILENT)
    expected = YES if yes > half else SILENT if yes + silent > half else NO
    assert verdict.decision is expected
    assert verdict.score == yes / len(said)
    assert decisions(verdict) == list(said)
    assert (verdict.detail is None) == (silent == 0)


@both_doors
def test_one_judge_takes_every_seat_and_may_say_another_thing_each_time(door):
    judge = ScriptedJudge(True, False, True, ValueError("down"), False)
    verdict = check(door, Majority(judge, of=5)).verdict
    assert sorted(decisions(verdict)) == sorted([YES, NO, YES, SILENT, NO])
    assert (verdict.decision, verdict.reason, verdict.error_type) == (SILENT, Reason.JUDGE_ERROR, "ValueError")
    assert verdict.detail == "2 yes, 2 no, 1 silent"
    assert len(judge.exchanges) == 5


def test_three_seats_unless_told():
    judge = says(YES)
    assert Majority(judge).seats == (judge, judge, judge)
    assert Majority(judge) == Majority(judge, of=3)


@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_the_reason_is_that_of_the_first_silent_seat():
    late, cut = says(SILENT, reason=Reason.JUDGE_TIMEOUT), says(SILENT, reason=Reason.JUDGE_TRUNCATED)
    for seats, reason in [
        ([late, cut, says(NO)], Reason.JUDGE_TIMEOUT),
        ([says(YES), cut, late], Reason.JUDGE_TRUNCATED),
    ]:
        assert Majority(seats)(EXCHANGE).reason is reason


def test_the_claims_are_those_of_the_first_seat_that_agrees_and_has_some():
    def judge(decision, *texts):
        return says(decision, claims=tuple(Claim(text, decision) for text in texts))

    seats = [judge(YES, "a"), judge(NO), judge(NO, "b"), judge(NO, "c")]
    assert [claim.text for claim in Majority(seats)(EXCHANGE).claims] == ["b"]
    assert Majority([judge(YES, "a"), judge(NO)])(EXCHANGE).claims == ()


def test_what_all_seats_cost():
    model = ScriptedModel(Reply("yes", usage=Usage(10, 1)))
    cheap = Cascade(says(NO, usage=Usage(3, None)), FactCheck(model))
    verdict = Majority([FactCheck(model), cheap, FactCheck(model)])(EXCHANGE)
    assert (verdict.usage, verdict.calls, verdict.calls_saved) == (Usage(23, 2), 3, 1)
    assert all(member.seconds > 0 for member in verdict.members)
    assert verdict.seconds >= max(member.seconds for member in verdict.members)


# Side by side.


def test_async_seats_wait_for_each_other():
    met = asyncio.Event()

    async def first(exchange):
        return await met.wait()

    async def second(exchange):
        met.set()
        return True

    response = asyncio.run(Guard(Majority([first, second])).acheck("?", answer="12 volts.", chunks=["12 volts."]))
    assert response.status is Status.ANSWERED


@both_doors
@pytest.mark.parametrize("timeout", [None, 30])
def test_plain_seats_wait_for_each_other(door, timeout):
    barrier = threading.Barrier(3, timeout=20)

    def judge(exchange):
        barrier.wait()
        return True

    assert check(door, Majority(judge), timeout=timeout).status is Status.ANSWERED


@both_doors
def test_plain_and_async_functions_are_members(door):
    def plain(exchange):
        return exchange.answer == "12 volts."

    judge = Cascade(Majority([plain, door.function(plain)]), Majority([door.function(plain), says(YES)]))
    assert (
        judge.name
        == f"cascade(majority({plain.__qualname__}, {plain.__qualname__}), majority({plain.__qualname__}, scripted))"
    )
    assert check(door, judge).status is Status.ANSWERED


@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_a_member_that_says_neither_is_silent():
    verdict = Majority([lambda exchange: "yes", lambda exchange: 1, says(YES)])(EXCHANGE)
    assert (verdict.decision, verdict.reason) == (SILENT, Reason.VERDICT_MALFORMED)
    assert Cascade(says(YES), lambda exchange: "yes")(EXCHANGE).reason is Reason.VERDICT_MALFORMED


async def never(exchange):
    raise AssertionError("asked")


@pytest.mark.parametrize(
    "judge",
    [
        Cascade(never, says(YES)),
        Cascade(says(YES), never),
        Majority(never),
        Majority([says(YES), says(YES), Cascade(says(YES), Majority([never, says(NO)]))]),
    ],
    ids=["first", "then", "seats", "nested"],
)
def test_an_async_member_behind_a_plain_door_is_a_wiring_mistake(judge):
    with pytest.raises(UsageError, match="is async: use the async door"):
        judge(EXCHANGE)
    with pytest.raises(UsageError, match="is async: use the async door"):
        Guard(judge).check("?", answer="12 volts.", chunks=["12 volts."])


# Deadline and retries are the guard's.


@both_doors
def test_the_deadline_of_the_guard_ends_every_member(door):
    with stuck() as event:

        def hanging(exchange):
            return event.wait()

        for judge in (Cascade(hanging, hanging), Majority([says(YES), hanging, hanging])):
            verdict = check(door, judge, timeout=0.05).verdict
            assert (verdict.decision, verdict.reason) == (SILENT, Reason.JUDGE_TIMEOUT)
            assert verdict.members[1].reason is Reason.JUDGE_TIMEOUT
        decided = check(door, Majority([says(YES), says(YES), hanging]), timeout=1.0)
        assert decided.status is Status.ANSWERED


@both_doors
def test_a_member_is_tried_as_often_as_it_would_be_alone(door):
    def judges(model):
        check_ = FactCheck(model)
        return {1: check_, 2: Cascade(check_, Cascade(says(YES), check_)), 4: Cascade(Majority(check_), check_)}

    for members in judges(ScriptedModel("yes")):
        model = ScriptedModel(Busy("busy"))
        response = check(door, judges(model)[members], retry=AT_ONCE)
        assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.JUDGE_ERROR)
        assert len(model.prompts) == 3 * members
        assert response.verdict.calls == 3 * members + (members == 2)


@both_doors
def test_a_member_that_is_tried_again_may_still_say_yes(door):
    model = ScriptedModel(Busy("busy"), Busy("busy"), "yes")
    verdict = check(door, Majority([FactCheck(model), says(YES)]), retry=AT_ONCE).verdict
    assert verdict.decision is YES
    assert (verdict.calls, verdict.members[0].calls) == (4, 1)


# Values.


def test_a_nested_verdict_is_written_and_read_back():
    broken = ScriptedJudge(ValueError("down"))
    judge = Majority([Cascade(says(YES, 0.5), says(YES, usage=Usage(1, 2))), Cascade(says(NO), says(YES)), broken])
    response = Guard(judge).check("?", answer="12 volts.", chunks=["12 volts."])
    verdict = response.verdict
    assert [len(member.members) for member in verdict.members] == [2, 1, 0]
    assert verdict.calls_saved == 1
    assert Verdict.from_dict(verdict.to_dict()) == verdict == pickle.loads(pickle.dumps(verdict))
    assert type(response).from_dict(response.to_dict()) == response


def test_fingerprints_cover_members_and_options():
    one, other = FactCheck(ScriptedModel("yes", name="one")), FactCheck(ScriptedModel("yes", name="other"))
    judges = [
        Cascade(one, other),
        Cascade(other, one),
        Cascade(one, one),
        Cascade(one, other, no_at=0.2),
        Cascade(one, other, no_at=0.0),
        Cascade(one, other, yes_at=0.2),
        Majority([one, other]),
        Majority([other, one]),
        Majority([one, other, other]),
        Majority(one),
        Majority(one, of=2),
    ]
    assert len({judge.fingerprint for judge in judges}) == len(judges)
    assert Majority([one, one, one]).fingerprint == Majority(one, of=3).fingerprint
    assert Cascade(one, other, no_at=1).fingerprint == Cascade(one, other, no_at=1.0).fingerprint


def test_judges_of_judges_are_values():
    one, other = says(YES), says(NO)
    assert Cascade(one, other) == Cascade(one, then=other) != Cascade(one, other, yes_at=0.5)
    assert len({Majority([one, other]), Majority((one, other)), Majority(one)}) == 2
    cascade = dataclasses.replace(Cascade(one, other), yes_at=0.9)
    assert cascade == Cascade(one, other, yes_at=0.9)
    assert dataclasses.replace(Majority(one), of=5).seats == (one,) * 5
    assert dataclasses.replace(Majority(one, other)) == Majority(one, other) == Majority([one, other])
    assert Majority(one, other, one).seats == (one, other, one)
    with pytest.raises(dataclasses.FrozenInstanceError):
        cascade.no_at = 0.1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cascade("openai:x", says(YES)), "not a string"),
        (lambda: Cascade(says(YES), None), "got a NoneType"),
        (lambda: Cascade(says(YES), FactCheck), "not a class"),
        (lambda: Cascade(says(YES), says(YES), no_at=1.1), r"no_at is a score from 0 to 1, or None; got 1\.1"),
        (lambda: Cascade(says(YES), says(YES), no_at=float("nan")), "no_at .* got nan"),
        (lambda: Cascade(says(YES), says(YES), no_at="CANARY"), "no_at .* got a str"),
        (lambda: Cascade(says(YES), says(YES), no_at=True), "no_at .* got True"),
        (lambda: Cascade(says(YES), says(YES), yes_at=0), "yes_at is a number above 0"),
        (lambda: Cascade(says(YES), says(YES), yes_at=1.5), "yes_at .* got 1.5"),
        (lambda: Majority(None), "got a NoneType"),
        (lambda: Majority("openai:x"), "not a string"),
        (lambda: Majority([says(YES), 5]), "got a int"),
        (lambda: Majority([]), "at least 2 judges; got 0"),
        (lambda: Majority({says(YES), says(NO)}), "a list or tuple of judges; got a set"),
        (lambda: Majority(each for each in [says(YES)]), "a list or tuple of judges; got a generator"),
        (lambda: Majority({"CANARY": says(YES)}), "a list or tuple of judges; got a dict"),
        (lambda: Majority(says(YES), says(NO), of=2), "leave `of` out"),
        (lambda: Majority(says(YES), "openai:x"), "not a string"),
        (lambda: Majority([says(YES), says(NO)], says(YES)), "got a list"),
        (lambda: Majority([says(YES)]), "at least 2 judges; got 1"),
        (lambda: Majority([says(YES), says(NO)], of=2), "leave `of` out"),
        (lambda: Majority(says(YES), of=1), "number of seats, 2 or more; got 1"),
        (lambda: Majority(says(YES), of=3.0), r"number of seats, 2 or more; got 3\.0"),
        (lambda: Majority(says(YES), of=True), "number of seats, 2 or more; got True"),
        (lambda: Majority(says(YES), of="CANARY"), "number of seats, 2 or more; got a str"),
    ],
)
def test_what_is_no_judge_of_judges_is_refused(make, message):
    with pytest.raises(UsageError, match=message) as raised:
        make()
    assert "CANARY" not in str(raised.value)
