"""Every public door through both drivers, over one table of outcomes: equal responses, up to times."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from groundguard import Decision, Guard, Reason, Response, Retry, Status, UngroundedError, Verdict, record_chunks
from groundguard.errors import UsageError
from groundguard.judges import FactCheck
from groundguard.models import Reply
from groundguard.policy import Policy, Raise, Replace, Return
from groundguard.records import JUDGE_FAILURES, Timings
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever
from support.doors import ASYNC, PLAIN, Door
from support.telemetry import Counts, Spans

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

QUESTION, ANSWER, CHUNKS = "Where?", "Paris, of course.", ["Paris is in France.", "", "Rome is not."]


class Busy(Exception):
    status_code = 503


@dataclass(frozen=True)
class Outcome:
    """What happens outside, and what it must come to."""

    judge: Callable[[], object]
    reason: Reason
    chunks: Any = tuple(CHUNKS)
    answer: str = ANSWER


def says(*replies: Any) -> Callable[[], object]:
    return lambda: FactCheck(ScriptedModel(*replies))


OUTCOMES = {
    "yes": Outcome(says("YES"), Reason.SUPPORTED),
    "no": Outcome(says("No"), Reason.UNSUPPORTED),
    "malformed": Outcome(says("Yes."), Reason.VERDICT_MALFORMED),
    "refused": Outcome(says(Reply(None, refusal="no way")), Reason.JUDGE_REFUSED),
    "filtered": Outcome(says(Reply("yes", "content_filter")), Reason.JUDGE_FILTERED),
    "cut": Outcome(says(Reply("yes", "length")), Reason.JUDGE_TRUNCATED),
    "busy, then yes": Outcome(says(Busy(), "yes"), Reason.SUPPORTED),
    "busy for ever": Outcome(says(Busy()), Reason.JUDGE_ERROR),
    "late": Outcome(says(TimeoutError()), Reason.JUDGE_TIMEOUT),
    "true": Outcome(lambda: lambda exchange: True, Reason.SUPPORTED),
    "false": Outcome(lambda: lambda exchange: False, Reason.UNSUPPORTED),
    "neither": Outcome(lambda: lambda exchange: "yes", Reason.VERDICT_MALFORMED),
    "raises": Outcome(lambda: ScriptedJudge(RuntimeError("down")), Reason.JUDGE_ERROR),
    "scored": Outcome(lambda: ScriptedJudge(Verdict(Decision.SUPPORTED, score=0.9)), Reason.SUPPORTED),
    **{
        f"own {reason.value}": Outcome(
            lambda reason=reason: ScriptedJudge(Verdict(Decision.UNKNOWN, reason)), reason  # type: ignore[misc]
        )
        for reason in sorted(JUDGE_FAILURES)
    },
    "no chunks": Outcome(says("yes"), Reason.NO_CHUNKS, chunks=()),
    "blank chunks": Outcome(says("yes"), Reason.BLANK_CHUNKS, chunks=("", "\u200b")),
    "empty answer": Outcome(says("yes"), Reason.EMPTY_ANSWER, answer="\u2060"),
    "surrogates": Outcome(says("yes"), Reason.SUPPORTED, chunks=("\ud800 half",), answer="\udfff half"),
}  # fmt: skip


def ask(door: Door, guard: Guard, outcome: Outcome) -> Response[Any]:
    retriever, generator = ScriptedRetriever(outcome.chunks), ScriptedGenerator(outcome.answer)
    return door.ask(guard.with_options(retriever=retriever, generator=generator), QUESTION)


def ask_async_parts(door: Door, guard: Guard, outcome: Outcome) -> Response[Any]:
    retriever = door.function(lambda question: outcome.chunks)
    generator = door.function(lambda question, chunks: outcome.answer)
    return door.ask(guard.with_options(retriever=retriever, generator=generator), QUESTION)


def check(door: Door, guard: Guard, outcome: Outcome) -> Response[Any]:
    return door.check(guard, QUESTION, answer=outcome.answer, chunks=outcome.chunks)


def check_many(door: Door, guard: Guard, outcome: Outcome) -> Response[Any]:
    given = [{"question": QUESTION, "answer": outcome.answer, "chunks": outcome.chunks}]
    response: Response[Any]
    (response,) = door.items(guard.acheck_many if door.is_async else guard.check_many, given)
    return response


def returned(door: Door, guard: Guard, outcome: Outcome) -> Response[Any]:
    return door.call(guard(door.function(lambda question: (outcome.answer, outcome.chunks))), QUESTION)


def named(door: Door, guard: Guard, outcome: Outcome) -> Response[Any]:
    function = door.function(lambda question: {"reply": outcome.answer, "docs": outcome.chunks})
    return door.call(guard.wraps(answer="reply", chunks="docs")(function), QUESTION)


def recorded(door: Door, guard: Guard, outcome: Outcome) -> Response[Any]:
    def function(question: str) -> str:
        record_chunks(outcome.chunks)
        return outcome.answer

    return door.call(guard.wrap(door.function(function)), QUESTION)


def streamed(door: Door, guard: Guard, outcome: Outcome) -> Response[Any]:
    def pieces(question: str) -> Iterator[str]:
        record_chunks(outcome.chunks)
        yield from outcome.answer

    response: Response[Any] = door.items(guard(door.generator(pieces)), QUESTION)[-1]
    return response


def asked_of_a_stream(door: Door, guard: Guard, outcome: Outcome) -> Response[Any]:
    generator = door.generator(lambda question, chunks: outcome.answer)
    return door.ask(guard.with_options(retriever=ScriptedRetriever(outcome.chunks), generator=generator), QUESTION)


def streamed_by_the_guard(door: Door, guard: Guard, outcome: Outcome) -> Response[Any]:
    generator = door.generator(lambda question, chunks: outcome.answer)
    guard = guard.with_options(retriever=ScriptedRetriever(outcome.chunks), generator=generator)
    response: Response[Any] = door.items(guard.astream if door.is_async else guard.stream, QUESTION)[-1]
    return response


def streamed_by_the_guard_and_held(door: Door, guard: Guard, outcome: Outcome) -> Response[Any]:
    return streamed_by_the_guard(door, guard.with_options(streaming="hold"), outcome)


def chained(door: Door, guard: Guard, outcome: Outcome) -> Response[Any]:
    class Chain:
        def invoke(self, question: str) -> dict[str, Any]:
            return {"answer": outcome.answer, "context": outcome.chunks}

    return door.invoke(guard.wrap(Chain()), QUESTION)


DOORS = [
    ask, ask_async_parts, check, check_many, returned, named, recorded, streamed, asked_of_a_stream,
    streamed_by_the_guard, streamed_by_the_guard_and_held, chained,
]  # fmt: skip

doors = pytest.mark.parametrize("way", DOORS, ids=lambda way: way.__name__)
outcomes = pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)


def timeless(response: Response[Any]) -> Response[Any]:
    verdict = response.verdict and dataclasses.replace(response.verdict, seconds=None)
    return dataclasses.replace(response, timings=Timings(), verdict=verdict)


def through(door: Door, way: Any, outcome: Outcome, policy: Policy) -> tuple[Any, ...]:
    """What comes out of one door: the response or the error, what was counted, and the spans."""
    guard = Guard(outcome.judge(), policy=policy, retry=Retry(attempts=2, initial=0, maximum=0))
    counts, spans = Counts(), Spans()
    raised: type[BaseException] | None = None
    try:
        response = way(door, guard, outcome)
    except UngroundedError as error:
        raised, response = type(error), error.response
    return raised, timeless(response), response.output, counts.queries, counts.judge_failures, spans.names


@doors
@outcomes
def test_both_drivers_come_to_the_same(way: Any, outcome: Outcome) -> None:
    for policy in (Return(), Replace("Sorry.")) if way is check_many else (Return(), Raise(), Replace("Sorry.")):
        plain, by_loop = through(PLAIN, way, outcome, policy), through(ASYNC, way, outcome, policy)

        assert plain == by_loop
        raised, response, _, queries, failures, _ = plain
        assert response.reason is outcome.reason
        assert (response.status is Status.ANSWERED) is (outcome.reason is Reason.SUPPORTED)
        assert (raised is not None) is (isinstance(policy, Raise) and response.status is not Status.ANSWERED)
        assert queries == {response.status.value: 1}
        assert failures == ({outcome.reason.value: 1} if outcome.reason in JUDGE_FAILURES else {})


@outcomes
def test_all_doors_come_to_the_same(outcome: Outcome) -> None:
    def essence(response: Response[Any]) -> Response[Any]:
        return dataclasses.replace(timeless(response), chunks_from="given")  # type: ignore[arg-type]

    first, *others = [essence(way(PLAIN, Guard(outcome.judge(), retry=Retry(2, 0, 0)), outcome)) for way in DOORS]
    assert all(other == first for other in others)


@doors
def test_an_async_judge_is_a_mistake_in_the_plain_door_only(way: Any) -> None:
    async def judge(exchange: object) -> bool:
        return True

    outcome = OUTCOMES["yes"]
    assert way(ASYNC, Guard(judge), outcome).status is Status.ANSWERED
    with pytest.raises(UsageError, match="use the async door"):
        way(PLAIN, Guard(judge), outcome)
