"""Policies that have another text judged, on the path: through every door, with every attempt on record."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.runnables import RunnableLambda

from groundguard import (
    Chunk,
    Decision,
    Exchange,
    Guard,
    Reason,
    Response,
    Status,
    UngroundedError,
    Verdict,
    record_chunks,
)
from groundguard.errors import NoContextError, UsageError
from groundguard.judges.statements import statements
from groundguard.policy import Feedback, Policy, Prune, Raise, Regenerate, Replace, Return, Revision
from groundguard.records import Attempt, Claim, Turn
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedRetriever
from support.doors import ASYNC, Door, both_doors
from support.telemetry import Counts, Spans

CHUNK = "The lamp runs on 12 volts. It has a switch."
GOOD, BAD, WORSE = "It runs on 12 volts.", "It is made of gold.", "It is made of tin."
MIXED = f"{GOOD} {BAD} It has a switch."
PRUNED = f"{GOOD} It has a switch."
ASKED = "invoke_workflow groundguard"


def judge_statements(exchange: Exchange) -> Verdict:
    """Support every statement but those about what it is made of."""
    claims = tuple(
        Claim(one.text, Decision.UNSUPPORTED if "made of" in one.text else Decision.SUPPORTED, one.start, one.end)
        for one in statements(exchange.answer)
    )
    bad = any(claim.decision is Decision.UNSUPPORTED for claim in claims)
    return Verdict(Decision.UNSUPPORTED if bad else Decision.SUPPORTED, claims=claims)


def guard_of(judge: object, *answers: Any, policy: Policy, chunks: object = CHUNK, **options: Any) -> Guard:
    generator = ScriptedGenerator(*answers)
    return Guard(judge, retriever=ScriptedRetriever(chunks), generator=generator, policy=policy, **options)


def generator_of(guard: Guard) -> ScriptedGenerator:
    assert guard.generator is not None
    generator = guard.generator.plain
    assert isinstance(generator, ScriptedGenerator)
    return generator


# Regenerate.


@both_doors
def test_a_better_answer_is_generated_and_judged_like_the_first(door: Door) -> None:
    judge = ScriptedJudge(False, True)
    guard = guard_of(judge, BAD, GOOD, policy=Regenerate(2, then=Raise()))
    response = door.ask(guard, history=[("user", "Hi")])

    assert (response.status, response.answer, response.generated, response.output) == ("answered", GOOD, GOOD, GOOD)
    assert [exchange.answer for exchange in judge.exchanges] == [BAD, GOOD]
    assert all(exchange.chunks is response.chunks for exchange in judge.exchanges)
    assert all(exchange.history == (Turn("user", "Hi"),) for exchange in judge.exchanges)
    (attempt,) = response.attempts
    assert (attempt.generated, attempt.status, attempt.reason) == (BAD, Status.UNGROUNDED, Reason.UNSUPPORTED)
    assert attempt.verdict is not None
    assert attempt.verdict.decision is Decision.UNSUPPORTED
    assert attempt.removed == ()
    assert generator_of(guard).feedback == [None, Feedback(BAD, Reason.UNSUPPORTED)]
    assert [chunks for _, chunks in generator_of(guard).calls] == [response.chunks] * 2


@both_doors
@pytest.mark.parametrize("times", [1, 2, 3])
def test_it_generates_so_often_and_then_goes_on(door: Door, times: int) -> None:
    judge = ScriptedJudge(False)
    guard = guard_of(judge, *"abcde", policy=Regenerate(times, then=Replace("Sorry.")))
    response = door.ask(guard)

    assert (response.answer, response.status, response.generated) == ("Sorry.", Status.UNGROUNDED, "abcde"[times])
    assert [attempt.generated for attempt in response.attempts] == list("abcde"[:times])
    assert len(judge.exchanges) == len(generator_of(guard).calls) == times + 1
    assert [told and told.answer for told in generator_of(guard).feedback] == [None, *"abcde"[:times]]


@both_doors
def test_an_answer_that_is_supported_at_once_is_left_alone(door: Door) -> None:
    for policy in (Regenerate(2, then=Raise()), Prune(then=Raise())):
        judge = ScriptedJudge(True)
        response = door.ask(guard_of(judge, GOOD, BAD, policy=policy))
        assert (response.answer, response.attempts) == (GOOD, ())
        assert len(judge.exchanges) == 1


@both_doors
def test_then_raises_with_every_attempt(door: Door) -> None:
    with pytest.raises(UngroundedError) as caught:
        door.ask(guard_of(ScriptedJudge(False), "a", "b", policy=Regenerate(1, then=Raise())))
    assert caught.value.response.generated == "b"
    assert [attempt.generated for attempt in caught.value.response.attempts] == ["a"]


@both_doors
@pytest.mark.parametrize("chunks", [[], [" "]])
def test_without_context_then_acts_at_once(door: Door, chunks: object) -> None:
    for policy in (Regenerate(2, then=Raise(), on_failure=True), Prune(then=Regenerate(2, then=Raise()))):
        guard = guard_of(ScriptedJudge(True), "a", "b", policy=policy, chunks=chunks)
        with pytest.raises(NoContextError) as caught:
            door.ask(guard)
        assert caught.value.response.attempts == ()
        assert len(generator_of(guard).calls) == 1


@both_doors
def test_without_context_the_generator_can_be_skipped(door: Door) -> None:
    policy = Regenerate(2, then=Prune(then=Replace("Sorry.", skip_generator=True)))
    guard = guard_of(ScriptedJudge(True), "a", policy=policy, chunks=[])
    assert door.ask(guard).answer == "Sorry."
    assert generator_of(guard).calls == []


@both_doors
def test_an_empty_answer_is_generated_again(door: Door) -> None:
    guard = guard_of(ScriptedJudge(True), " ", GOOD, policy=Regenerate(1, then=Raise()))
    response = door.ask(guard)
    assert (response.answer, response.status) == (GOOD, Status.ANSWERED)
    assert response.attempts == (Attempt(" ", Status.UNGROUNDED, Reason.EMPTY_ANSWER),)


@both_doors
def test_an_answer_whose_judge_failed_is_generated_again_only_if_asked_for(door: Door) -> None:
    left = door.ask(guard_of(ScriptedJudge(OSError("down"), True), "a", "b", policy=Regenerate(2, then=Return())))
    assert (left.answer, left.reason, left.attempts) == ("a", Reason.JUDGE_ERROR, ())

    policy = Regenerate(2, then=Return(), on_failure=True)
    again = door.ask(guard_of(ScriptedJudge(OSError("down"), True), "a", "b", policy=policy))
    assert (again.answer, again.status) == ("b", Status.ANSWERED)
    assert [attempt.reason for attempt in again.attempts] == [Reason.JUDGE_ERROR]


@both_doors
def test_an_error_of_the_second_generation_reaches_the_user_as_it_is(door: Door) -> None:
    error = LookupError("mine")
    with pytest.raises(LookupError) as caught:
        door.ask(guard_of(ScriptedJudge(False), BAD, error, policy=Regenerate(1, then=Return())))
    assert caught.value is error


def test_each_judgement_has_the_whole_timeout() -> None:
    async def wait(exchange: Exchange) -> bool:
        await asyncio.sleep(0.4)
        return exchange.answer == GOOD

    guard = guard_of(wait, "a", "b", GOOD, policy=Regenerate(2, then=Raise()), timeout=1)
    assert ASYNC.ask(guard).status is Status.ANSWERED


@both_doors
def test_the_times_of_all_attempts_add_up(door: Door) -> None:
    response = door.ask(guard_of(ScriptedJudge(False), "a", "b", "c", policy=Regenerate(2, then=Return())))
    seconds = [one.verdict.seconds for one in (*response.attempts, response) if one.verdict]
    assert len(seconds) == 3
    assert (response.timings.judge or 0) >= sum(each or 0 for each in seconds)
    parts = (response.timings.retrieval, response.timings.generation, response.timings.judge)
    assert (response.timings.total or 0) >= sum(part or 0 for part in parts)


# What Regenerate needs.


def by_name(question: str, chunks: object, *, feedback: object = None) -> str:
    return GOOD if feedback else BAD


def always_told(question: str, chunks: object, *, feedback: object) -> str:
    return GOOD if feedback else BAD


def by_position(question: str, chunks: object, feedback: object = None, history: object = None) -> str:
    return GOOD if feedback and history else BAD


def by_any_name(question: str, chunks: object, **kwargs: Any) -> str:
    return GOOD if kwargs["feedback"] else BAD


@functools.wraps(by_name)
def wrapped(*args: Any, **kwargs: Any) -> str:
    return by_name(*args, **kwargs)


class Generator:
    def __call__(self, question: str, chunks: object, feedback: object = None) -> str:
        return GOOD if feedback else BAD


TAKERS = [by_name, always_told, by_position, by_any_name, wrapped, functools.partial(by_name), Generator()]


@both_doors
@pytest.mark.parametrize("generator", TAKERS, ids=lambda taker: getattr(taker, "__name__", type(taker).__name__))
def test_generators_that_take_feedback(door: Door, generator: Callable[..., str]) -> None:
    options: dict[str, Any] = {"policy": Regenerate(1, then=Raise()), "retriever": lambda question: CHUNK}
    for own in (generator, door.function(generator) if hasattr(generator, "__name__") else generator):
        response = door.ask(Guard(ScriptedJudge(False, True), generator=own, **options), history=[("user", "Hi")])
        assert (response.answer, response.status) == (GOOD, Status.ANSWERED)


@both_doors
def test_a_generator_is_given_feedback_only_if_it_names_it_or_the_policy_generates_again(door: Door) -> None:
    seen: list[Any] = []

    def anything(question: str, chunks: object, **kwargs: Any) -> str:
        seen.append(kwargs)
        return GOOD

    for generator, policy in (
        (anything, Return()),
        (anything, Regenerate(1, then=Return())),
        (always_told, Return()),
    ):
        door.ask(Guard(ScriptedJudge(True), retriever=lambda q: CHUNK, generator=generator, policy=policy))
    assert seen == [{}, {"feedback": None}]


def no_keyword(question: str, chunks: object) -> str:
    return GOOD


class NotByKeyword:
    def __call__(self, question: str, chunks: object, feedback: object = None, /) -> str:
        return GOOD


class AllOfThem:
    def __call__(self, question: str, chunks: object, *feedback: object) -> str:
        return GOOD


@functools.wraps(by_name)
def narrower(question: str, chunks: object) -> str:
    return by_name(question, chunks)


REGENERATING = [Regenerate(1, then=Return()), Prune(then=Regenerate(1, then=Return()))]
regenerating = pytest.mark.parametrize("policy", REGENERATING)


@regenerating
@pytest.mark.parametrize("generator", [no_keyword, NotByKeyword(), AllOfThem(), narrower, "{}".format])
def test_any_other_generator_is_a_mistake(policy: Policy, generator: Any) -> None:
    with pytest.raises(UsageError, match=r"a keyword `feedback`, and the generator .* has none"):
        Guard(ScriptedJudge(True), retriever=lambda question: CHUNK, generator=generator, policy=policy)
    guard = Guard(ScriptedJudge(True), retriever=lambda question: CHUNK, generator=generator)
    with pytest.raises(UsageError, match="needs a generator with a keyword `feedback`, and the generator"):
        guard.with_options(policy=policy)


@regenerating
def test_no_generator_is_a_mistake(policy: Policy) -> None:
    with pytest.raises(UsageError, match="needs the guard's own generator"):
        Guard(ScriptedJudge(True), policy=policy)
    guard = Guard(ScriptedJudge(True)).with_options(policy=policy, generator=by_name, retriever=lambda q: CHUNK)
    assert guard.ask("Q?").answer == BAD


@both_doors
@regenerating
def test_where_the_generator_has_no_part_it_is_a_mistake(door: Door, policy: Policy) -> None:
    guard = guard_of(ScriptedJudge(True), GOOD, policy=policy)
    runnable = RunnableLambda(lambda question: {"answer": GOOD, "context": [CHUNK]})
    for wrapped_in in (
        lambda: guard.wrap(runnable),
        lambda: guard.wrap(SimpleNamespace(invoke=print)),
        lambda: guard.wrap(door.function(no_keyword)),
        lambda: guard(door.function(no_keyword)),
        lambda: guard.wraps(question="text"),
        lambda: door.check(guard, answer=GOOD, chunks=CHUNK),
    ):
        with pytest.raises(UsageError, match="Regenerate works with `ask`, `stream` and their async doors only"):
            wrapped_in()


# Prune.


def through_ask(door: Door, guard: Guard) -> Response[Any]:
    own = guard.with_options(retriever=lambda question: CHUNK, generator=lambda question, chunks: MIXED)
    return door.ask(own)


def through_check(door: Door, guard: Guard) -> Response[Any]:
    return door.check(guard, answer=MIXED, chunks=CHUNK)


def through_the_decorator(door: Door, guard: Guard) -> Response[Any]:
    def answer(question: str) -> tuple[str, list[str]]:
        return MIXED, [CHUNK]

    return door.call(guard(door.function(answer)), "Q?")


def through_a_chain(door: Door, guard: Guard) -> Response[Any]:
    async def ainvoke(question: str) -> Any:
        return {"answer": MIXED, "context": [CHUNK]}

    invoke = lambda question: {"answer": MIXED, "context": [CHUNK]}  # noqa: E731  # beside its twin
    return door.invoke(guard.wrap(SimpleNamespace(invoke=invoke, ainvoke=ainvoke)), "Q?")


def through_langchain(door: Door, guard: Guard) -> Response[Any]:
    return door.invoke(guard.wrap(RunnableLambda(lambda question: {"answer": MIXED, "context": [CHUNK]})), "Q?")


doors_in = pytest.mark.parametrize(
    "enter", [through_ask, through_check, through_the_decorator, through_a_chain, through_langchain]
)


@both_doors
@doors_in
def test_what_is_not_supported_is_cut_and_the_rest_judged_again(
    door: Door, enter: Callable[..., Response[Any]]
) -> None:
    response = enter(door, Guard(judge_statements, policy=Prune(then=Raise())))

    assert (response.answer, response.generated, response.status) == (PRUNED, PRUNED, Status.ANSWERED)
    assert response.verdict is not None
    assert response.verdict.decision is Decision.SUPPORTED
    (attempt,) = response.attempts
    assert (attempt.generated, attempt.status, attempt.removed) == (MIXED, Status.UNGROUNDED, (BAD,))
    assert response.removed == (BAD,)
    assert attempt.verdict is not None
    assert [claim.decision for claim in attempt.verdict.claims] == ["supported", "unsupported", "supported"]
    assert "gold" not in repr(response)
    assert Response.from_dict(response.to_dict()) == response
    if enter is not through_check:
        assert response.output is not None
        assert "gold" in str(response.output)


@both_doors
@doors_in
def test_what_is_left_must_be_supported_too(door: Door, enter: Callable[..., Response[Any]]) -> None:
    def never(exchange: Exchange) -> Verdict:
        return dataclasses.replace(judge_statements(exchange), decision=Decision.UNSUPPORTED, reason=Reason.UNSUPPORTED)

    response = enter(door, Guard(never, policy=Prune(then=Replace("Sorry."))))
    assert (response.answer, response.generated, response.status) == ("Sorry.", PRUNED, Status.UNGROUNDED)
    assert [attempt.generated for attempt in response.attempts] == [MIXED]


@both_doors
def test_a_judge_that_fails_on_what_is_left_does_not_pass_it(door: Door) -> None:
    first = judge_statements(Exchange("Q?", (Chunk(CHUNK),), MIXED))
    judge = ScriptedJudge(first, OSError("down"))
    response = door.check(Guard(judge, policy=Prune(then=Return())), answer=MIXED, chunks=CHUNK)
    assert (response.answer, response.status, response.reason) == (PRUNED, Status.UNGROUNDED, Reason.JUDGE_ERROR)


@both_doors
def test_without_claims_nothing_is_cut(door: Door) -> None:
    judge = ScriptedJudge(False)
    response = door.check(Guard(judge, policy=Prune(then=Replace("Sorry."))), answer=MIXED, chunks=CHUNK)
    assert (response.answer, response.generated, response.attempts) == ("Sorry.", MIXED, ())
    assert len(judge.exchanges) == 1


@both_doors
def test_of_a_stream_the_pruned_text_comes_as_one_piece(door: Door) -> None:
    def answer(question: str) -> Iterator[Any]:
        yield "", [CHUNK]
        yield from (f"{GOOD} ", BAD, " It has a switch.")

    guard = Guard(judge_statements, policy=Prune(then=Raise()))
    *pieces, response = door.items(guard(door.generator(answer)), "Q?")
    assert pieces == [PRUNED]
    assert (response.answer, response.status, len(response.attempts)) == (PRUNED, Status.ANSWERED, 1)
    assert response.output == (("", [CHUNK]), f"{GOOD} ", BAD, " It has a switch.")


# Both.


@both_doors
def test_policies_compose(door: Door) -> None:
    policy = Regenerate(2, then=Prune(then=Replace("Sorry.")))
    guard = guard_of(judge_statements, BAD, WORSE, MIXED, policy=policy)
    response = door.ask(guard)

    assert (response.answer, response.status, response.output) == (PRUNED, Status.ANSWERED, MIXED)
    assert [attempt.generated for attempt in response.attempts] == [BAD, WORSE, MIXED]
    assert [attempt.removed for attempt in response.attempts] == [(), (), (BAD,)]
    second, third = generator_of(guard).feedback[1:]
    assert second is not None
    assert third is not None
    assert [claim.text for claim in second.claims] == [BAD]
    assert [claim.text for claim in third.claims] == [WORSE]

    hopeless = door.ask(guard_of(judge_statements, BAD, WORSE, BAD, policy=policy))
    assert (hopeless.answer, hopeless.generated, len(hopeless.attempts)) == ("Sorry.", BAD, 2)


@both_doors
def test_what_is_left_may_be_generated_anew(door: Door) -> None:
    judge = ScriptedJudge(judge_statements(Exchange("Q?", (Chunk(CHUNK),), MIXED)), False, True)
    guard = guard_of(judge, MIXED, GOOD, policy=Prune(then=Regenerate(1, then=Raise())))
    response = door.ask(guard)
    assert (response.answer, response.status) == (GOOD, Status.ANSWERED)
    assert [attempt.generated for attempt in response.attempts] == [MIXED, PRUNED]
    assert [attempt.removed for attempt in response.attempts] == [(BAD,), ()]


# Policies of one's own.


class Shorten(Policy):
    """Have the first word judged, and then go on as told."""

    def revise(self, response: Response[Any]) -> Revision | None:
        return Revision(Return(), response.generated.split()[0])

    def settle(self, response: Response[Any]) -> Response[Any]:
        raise AssertionError("another policy settles")


class Nag(Policy):
    """Ask the generator again, once, without saying so beforehand."""

    def revise(self, response: Response[Any]) -> Revision | None:
        return Revision(Return(), Feedback(response.generated, Reason.UNSUPPORTED))

    def settle(self, response: Response[Any]) -> Response[Any]:
        raise AssertionError("another policy settles")


@both_doors
def test_a_policy_of_ones_own_may_revise(door: Door) -> None:
    judge = ScriptedJudge(True, False)
    response = door.check(Guard(judge, policy=Shorten()), answer="Paris, France.", chunks=CHUNK)
    assert (response.answer, response.status) == ("Paris,", Status.UNGROUNDED)
    assert [(attempt.generated, attempt.status) for attempt in response.attempts] == [("Paris, France.", "answered")]


@both_doors
def test_a_policy_of_ones_own_asks_a_generator_again_only_where_one_takes_feedback(door: Door) -> None:
    assert door.ask(guard_of(ScriptedJudge(False), "a", "b", policy=Nag())).answer == "b"
    deaf = Guard(ScriptedJudge(False), retriever=lambda q: CHUNK, generator=no_keyword, policy=Nag())
    for ask in (lambda: door.ask(deaf), lambda: door.check(deaf, answer=GOOD, chunks=CHUNK)):
        with pytest.raises(UsageError, match="no generator here that takes `feedback`"):
            ask()


# Never unjudged.

decisions = st.none() | st.sampled_from(Decision)
answers = st.lists(st.sampled_from([GOOD, BAD, WORSE, "It hums.", "- Well", " ", ""]), max_size=4).map(" ".join)
policies = st.recursive(
    st.sampled_from([Return(), Replace("Sorry."), Return(skip_generator=True)]),
    lambda then: st.builds(Prune, then) | st.builds(Regenerate, st.integers(1, 3), then, on_failure=st.booleans()),
    max_leaves=4,
)


@st.composite
def verdicts(draw: st.DrawFn) -> list[Any]:
    spans = st.tuples(st.none() | st.integers(-2, 60), st.none() | st.integers(-2, 60))
    claims = st.lists(st.builds(lambda decision, at: Claim("x", decision, *at), decisions, spans), max_size=4)
    return draw(st.lists(st.builds(Verdict, st.sampled_from(Decision), claims=claims.map(tuple)), min_size=1))


@given(verdicts(), st.lists(answers, min_size=1), policies, st.sampled_from([CHUNK, "", []]))
@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_answered_means_that_the_last_verdict_affirmed_the_very_text_that_is_delivered(
    said: list[Verdict], texts: list[str], policy: Policy, chunks: object
) -> None:
    judge = ScriptedJudge(*said)
    response = guard_of(judge, *texts, policy=policy, chunks=chunks).ask("Q?")

    given_verdicts = list(chain(said, repeat(said[-1], 30)))[: len(judge.exchanges)]
    if response.status is Status.ANSWERED:
        assert judge.exchanges[-1].answer == response.answer == response.generated
        assert given_verdicts[-1].decision is Decision.SUPPORTED
    assert all(attempt.status is not Status.ANSWERED for attempt in response.attempts)
    judged = [attempt for attempt in (*response.attempts, response) if attempt.verdict is not None]
    assert [one.generated for one in judged] == [exchange.answer for exchange in judge.exchanges]
    assert [one.verdict.decision for one in judged if one.verdict] == [verdict.decision for verdict in given_verdicts]


# Telemetry.


@both_doors
def test_a_query_of_several_attempts_is_one_response(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    spans, counts = Spans(), Counts()
    with caplog.at_level("INFO", "groundguard"):
        judge = ScriptedJudge(False, OSError("down"), True)
        response = door.ask(guard_of(judge, "a", "b", GOOD, policy=Regenerate(2, then=Return(), on_failure=True)))

    assert response.status is Status.ANSWERED
    assert (counts.queries, counts.judge_failures) == ({"answered": 1}, {})
    assert len(caplog.records) == 1
    generate, check = "groundguard generate", "groundguard check"
    assert spans.names == [ASKED, "retrieval groundguard", *[generate, check] * 3]
    assert len(spans.ended) == len(spans.started)
    checks = [span.attributes for span in spans.ended if span.name == check]
    assert [attributes["groundguard.reason"] for attributes in checks] == ["unsupported", "judge_error", "supported"]
    assert [attributes.get("error.type") for attributes in checks] == [None, "OSError", None]
    assert all(spans.parent_of(span) == ASKED for span in spans.ended if span.name in {generate, check})
    assert spans.one(ASKED).attributes["groundguard.status"] == "answered"


@both_doors
def test_the_last_attempt_is_counted_and_no_other(door: Door) -> None:
    counts = Counts()
    door.ask(guard_of(ScriptedJudge(False, OSError("down")), "a", "b", policy=Regenerate(1, then=Return())))
    assert (counts.queries, counts.judge_failures) == ({"ungrounded": 1}, {"judge_error": 1})


@both_doors
def test_an_error_on_the_way_ends_every_span_and_counts_nothing(door: Door) -> None:
    spans, counts = Spans(), Counts()
    with pytest.raises(LookupError):
        door.ask(guard_of(ScriptedJudge(False), "a", LookupError(), policy=Regenerate(1, then=Return())))
    assert sorted(span.name for span in spans.ended) == sorted(spans.names)
    assert counts.queries == {}


# Policies of the user's own.


class Own(Policy):
    """Settles by a function."""

    def __init__(self, settle: Callable[[Response[Any]], Any]) -> None:
        self._settle = settle

    def settle(self, response: Response[Any]) -> Response[Any]:
        settled: Response[Any] = self._settle(response)
        return settled


YES = Verdict(Decision.SUPPORTED)


@pytest.mark.parametrize(
    "forge",
    [
        lambda r: dataclasses.replace(r, status=Status.ANSWERED, reason=Reason.SUPPORTED, verdict=YES),
        lambda r: dataclasses.replace(r, answer="x", generated="x"),
        lambda r: dataclasses.replace(r, chunks=(Chunk("other"),)),
        lambda r: dataclasses.replace(r, attempts=(Attempt("y", Status.UNGROUNDED, Reason.UNSUPPORTED),)),
    ],
    ids=["label", "text", "chunks", "attempts"],
)
@both_doors
def test_a_policy_may_change_the_answer_and_nothing_else(door: Door, forge: Callable[[Any], Any]) -> None:
    guard = Guard(ScriptedJudge(False), policy=Own(forge))
    with pytest.raises(UsageError, match="the policy Own may change the answer of a response and nothing else"):
        door.check(guard, answer=BAD, chunks=CHUNK)
    sorry = Guard(ScriptedJudge(False), policy=Own(lambda r: dataclasses.replace(r, answer="Sorry.")))
    response = door.check(sorry, answer=BAD, chunks=CHUNK)
    assert (response.answer, response.generated, response.status) == ("Sorry.", BAD, Status.UNGROUNDED)


def test_a_policy_settles_on_a_response() -> None:
    with pytest.raises(UsageError, match="the policy Own must settle on a response, not a NoneType"):
        Guard(ScriptedJudge(True), policy=Own(lambda r: None)).check("?", answer=GOOD, chunks=CHUNK)


# A generator that reports chunks.


@pytest.mark.parametrize(
    "said",
    [
        lambda chunks: (GOOD, ["other"]),
        lambda chunks: (GOOD, []),
        lambda chunks: {"answer": GOOD, "context": [*chunks, "more"]},
        lambda chunks: record_chunks([]) or GOOD,
    ],
    ids=["pair", "empty pair", "mapping", "recorded"],
)
@both_doors
def test_the_guards_own_generator_reports_no_other_chunks_than_it_was_handed(door: Door, said: Any) -> None:
    guard = Guard(
        ScriptedJudge(True),
        retriever=ScriptedRetriever(CHUNK),
        generator=lambda question, chunks: said(chunks),
    )
    with pytest.raises(UsageError, match="was handed the chunks of the retriever and reported others"):
        door.ask(guard)


@pytest.mark.parametrize(
    "said",
    [
        lambda chunks: (GOOD, chunks),
        lambda chunks: {"answer": GOOD, "context": [CHUNK]},
        lambda chunks: record_chunks(chunks) and GOOD,
    ],
    ids=["pair", "mapping", "recorded"],
)
@both_doors
def test_it_may_report_those(door: Door, said: Any) -> None:
    guard = Guard(
        ScriptedJudge(True),
        retriever=ScriptedRetriever(CHUNK),
        generator=lambda question, chunks: said(chunks),
    )
    assert door.ask(guard).status is Status.ANSWERED
