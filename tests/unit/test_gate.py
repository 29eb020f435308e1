"""The gate: statements leave one by one, when they are supported, and only the last judgement makes a status."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry import trace

from groundguard import Exchange, Guard, Reason, Response, Status, UngroundedError, record_chunks
from groundguard.errors import UsageError
from groundguard.policy import Policy, Raise, Replace, Return
from groundguard.records import Chunk, Turn
from groundguard.testing import ScriptedRetriever
from support.doors import Door, both_doors
from support.exchange import stuck
from support.telemetry import Counts, Spans

pytestmark = pytest.mark.filterwarnings("ignore:no retrieval was observed")

QUESTION = "What is known of the lamp?"
ONE, TWO, THREE = "The lamp runs on 12 volts.", "It has a steel foot.", "Its cord is 240 cm long."
TEXT = f"{ONE} {TWO}\n\n{THREE}"
PIECES = [ONE, f" {TWO}\n", f"\n{THREE}"]
CHUNKS = ["All about the lamp."]

LONG = 10.0
"""Seconds after which a test that waits in vain fails."""


class Judge:
    """Affirms all but some texts, and remembers what it was asked about."""

    def __init__(self, *unsupported: str) -> None:
        self.unsupported = unsupported
        self.exchanges: list[Exchange] = []

    def __call__(self, exchange: Exchange) -> bool:
        self.exchanges.append(exchange)
        return exchange.answer not in self.unsupported

    @property
    def answers(self) -> list[str]:
        return [exchange.answer for exchange in self.exchanges]


def guard_of(judge: Any, generator: Any = None, *, chunks: Any = CHUNKS, **options: Any) -> Guard:
    options = {"streaming": "gate", "retriever": ScriptedRetriever(chunks), "generator": generator, **options}
    return Guard(judge, **options)


Stream = Callable[..., list[Any]]


def own(door: Door, judge: Any, pieces: Callable[[], Any] = lambda: PIECES, into: Any = None, **options: Any) -> Any:
    """The items of a stream of the guard's own generator."""
    guard = guard_of(judge, door.generator(lambda question, chunks: pieces()), **options)
    return door.items(guard.astream if door.is_async else guard.stream, QUESTION, into=into)


def decorated(
    door: Door, judge: Any, pieces: Callable[[], Any] = lambda: PIECES, into: Any = None, chunks: Any = CHUNKS, **options: Any
) -> Any:  # fmt: skip
    """The items of a decorated generator that records its chunks first."""

    def recording(question: str) -> Iterator[Any]:
        record_chunks(chunks)
        yield from pieces()

    return door.items(guard_of(judge, **options)(door.generator(recording)), QUESTION, into=into)


both_ways = pytest.mark.parametrize("stream", [own, decorated])


# What leaves, and when.


@both_doors
@both_ways
def test_what_is_supported_leaves_as_text_and_the_response_comes_last(door: Door, stream: Stream) -> None:
    judge, counts, spans = Judge(), Counts(), Spans()
    *pieces, response = stream(door, judge)

    assert pieces == [ONE, f" {TWO}", f"\n\n{THREE}"]
    assert response.status is Status.ANSWERED
    assert response.answer == response.generated == "".join(pieces) == TEXT
    assert response.output == tuple(PIECES)
    assert counts.queries == {"answered": 1}
    assert spans.names.count("groundguard check") == 1


@both_doors
@both_ways
def test_each_statement_is_judged_as_an_addition_to_the_answer_so_far(door: Door, stream: Stream) -> None:
    judge = Judge()
    response = stream(door, judge)[-1]

    asked = {exchange.answer: exchange for exchange in judge.exchanges}
    assert sorted(asked) == sorted([ONE, TWO, THREE, TEXT])
    assert judge.answers[-1] == TEXT
    assert asked[ONE].history == asked[TEXT].history == ()
    assert asked[TWO].history == (Turn("assistant", ONE),)
    assert asked[THREE].history == (Turn("assistant", f"{ONE} {TWO}"),)
    assert {exchange.question for exchange in judge.exchanges} == {QUESTION}
    assert {exchange.chunks for exchange in judge.exchanges} == {response.chunks}
    assert response.verdict.decision == "supported"


def test_the_history_stands_before_the_answer_so_far() -> None:
    judge, hello = Judge(), Turn("user", "Hello")
    list(guard_of(judge, lambda question, chunks: iter(PIECES)).stream(QUESTION, history=[hello]))
    histories = {exchange.answer: exchange.history for exchange in judge.exchanges}
    assert histories[ONE] == histories[TEXT] == (hello,)
    assert histories[TWO] == (hello, Turn("assistant", ONE))


@both_doors
@both_ways
def test_judging_goes_on_beside_generating(door: Door, stream: Stream) -> None:
    begun = threading.Event()

    def judge(exchange: Exchange) -> bool:
        begun.set()
        return True

    def pieces() -> Iterator[str]:
        yield from PIECES[:2]
        for _ in range(1000):  # an async door needs the loop to come round
            if begun.wait(0.01):
                break
            yield ""
        yield str(begun.is_set())

    for kind in (judge, door.function(judge)):
        begun.clear()
        assert stream(door, kind, pieces)[-1].generated.endswith("True")


def test_judging_goes_on_beside_a_plain_generator_at_the_async_door() -> None:
    begun = asyncio.Event()

    async def judge(exchange: Exchange) -> bool:
        begun.set()
        return True

    async def main() -> list[Any]:
        loop = asyncio.get_running_loop()

        def generate(question: str, chunks: Any) -> Iterator[str]:
            yield from PIECES[:2]
            asyncio.run_coroutine_threadsafe(begun.wait(), loop).result(LONG)
            yield PIECES[2]

        return [item async for item in guard_of(judge, generate).astream(QUESTION)]

    *pieces, response = asyncio.run(main())
    assert "".join(pieces) == response.generated == TEXT


@both_doors
@both_ways
def test_a_supported_statement_leaves_before_the_generator_is_done(door: Door, stream: Stream) -> None:
    items: list[Any] = []

    def pieces() -> Iterator[str]:
        yield from PIECES[:2]
        for _ in range(1000):
            if items:
                break
            threading.Event().wait(0.005)
            yield ""
        yield str(items)

    assert stream(door, Judge(), pieces, items)[-1].generated.endswith(str([ONE]))


@both_doors
@both_ways
def test_nothing_leaves_before_all_before_it_have_left_and_at_most_four_are_in_judgement(
    door: Door, stream: Stream
) -> None:
    release, asked, items = threading.Event(), list[str](), list[Any]()
    sentences = [f"Part {number} is made of steel." for number in range(8)]

    def judge(exchange: Exchange) -> bool:
        asked.append(exchange.answer)
        return exchange.answer != sentences[0] or release.wait(LONG)

    def pieces() -> Iterator[str]:
        for sentence in sentences:
            yield f"{sentence} "
        for _ in range(1000):
            if len(asked) == 4:
                break
            threading.Event().wait(0.005)
            yield ""
        for _ in range(20):
            threading.Event().wait(0.001)
            yield ""
        assert sorted(asked) == sentences[:4]
        assert items == []
        release.set()

    *out, response = stream(door, judge, pieces, items)
    assert out == [sentences[0], *(f" {sentence}" for sentence in sentences[1:]), " "]
    assert response.status is Status.ANSWERED
    assert sorted(asked[:-1]) == sentences


# The first that is not supported.


@both_doors
@both_ways
@pytest.mark.parametrize(("bad", "released"), [(ONE, []), (TWO, [ONE]), (THREE, [ONE, f" {TWO}"])])
def test_the_first_that_is_not_supported_ends_the_release(
    door: Door, stream: Stream, bad: str, released: list[str]
) -> None:
    judge, counts = Judge(bad, TEXT), Counts()
    *pieces, response = stream(door, judge)

    assert pieces == released
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.UNSUPPORTED)
    assert response.answer == response.generated == TEXT
    assert TEXT in judge.answers
    assert counts.queries == {"ungrounded": 1}


@both_doors
@both_ways
def test_raise_raises_at_the_end(door: Door, stream: Stream) -> None:
    items: list[Any] = []
    with pytest.raises(UngroundedError) as caught:
        stream(door, Judge(TWO, TEXT), into=items, policy=Raise())
    assert items == [ONE]
    assert caught.value.response.generated == TEXT


@both_doors
@both_ways
@pytest.mark.parametrize("text", ["Sorry.", ""])
def test_replace_puts_its_text_behind_what_has_left(door: Door, stream: Stream, text: str) -> None:
    *pieces, response = stream(door, Judge(TWO, TEXT), policy=Replace(text))
    assert pieces == ([ONE, text] if text else [ONE])
    assert (response.answer, response.generated, response.status) == (text, TEXT, Status.UNGROUNDED)


@both_doors
@both_ways
@pytest.mark.parametrize("policy", [Return(), Raise(), Replace("Sorry.")])
def test_only_the_last_judgement_makes_a_status(door: Door, stream: Stream, policy: Policy) -> None:
    *pieces, response = stream(door, Judge(TWO), policy=policy)
    assert pieces == [ONE, TEXT.removeprefix(ONE)]
    assert response.status is Status.ANSWERED
    assert response.answer == TEXT


@both_doors
@both_ways
def test_supported_parts_do_not_make_a_supported_answer(door: Door, stream: Stream) -> None:
    *pieces, response = stream(door, Judge(TEXT))
    assert "".join(pieces) == TEXT
    assert response.status is Status.UNGROUNDED


@both_doors
@both_ways
@pytest.mark.parametrize("policy", [Return(), Replace("Sorry.", on=Status.NO_CONTEXT)])
def test_of_an_ungrounded_answer_that_is_returned_nothing_more_leaves(
    door: Door, stream: Stream, policy: Policy
) -> None:
    *pieces, response = stream(door, Judge(TWO, TEXT), policy=policy)
    assert pieces == [ONE]
    assert response.answer == TEXT


@both_doors
@both_ways
def test_a_judge_that_fails_supports_nothing(door: Door, stream: Stream) -> None:
    def judge(exchange: Exchange) -> bool:
        if exchange.answer == TWO:
            raise OSError("down")
        return True

    counts = Counts()
    *pieces, response = stream(door, judge)
    assert pieces == [ONE, TEXT.removeprefix(ONE)]
    assert response.status is Status.ANSWERED
    assert counts.queries == {"answered": 1}
    assert counts.judge_failures == {}


@both_doors
@both_ways
def test_each_statement_has_a_timeout_of_its_own(door: Door, stream: Stream) -> None:
    with stuck() as event:

        def judge(exchange: Exchange) -> bool:
            return exchange.answer != TWO or event.wait(LONG)

        *pieces, response = stream(door, judge, timeout=1.0)
    assert pieces == [ONE, TEXT.removeprefix(ONE)]
    assert response.status is Status.ANSWERED


@both_doors
@both_ways
def test_a_wiring_mistake_of_the_judge_is_told(door: Door, stream: Stream) -> None:
    def judge(exchange: Exchange) -> bool:
        raise UsageError("wired wrong")

    with pytest.raises(UsageError, match="wired wrong"):
        stream(door, judge)


@both_doors
@both_ways
def test_statements_are_judged_inside_the_generation_and_the_answer_in_its_own_span(door: Door, stream: Stream) -> None:
    tracer, spans = trace.get_tracer("app"), Spans()

    def judge(exchange: Exchange) -> bool:
        tracer.start_span("whole" if exchange.answer == TEXT else "statement").end()
        return True

    stream(door, judge)
    parents = [(span.name, spans.parent_of(span)) for span in spans.started if span.name in {"whole", "statement"}]
    assert sorted(parents) == [("statement", "groundguard generate")] * 3 + [("whole", "groundguard check")]


# Chunks.


@both_doors
@both_ways
@pytest.mark.parametrize(("chunks", "reason"), [([], Reason.NO_CHUNKS), (["\u200b"], Reason.BLANK_CHUNKS)])
def test_without_chunks_nothing_leaves_and_nobody_is_asked(
    door: Door, stream: Stream, chunks: Any, reason: Reason
) -> None:
    judge = Judge()
    (response,) = stream(door, judge, chunks=chunks)
    assert (response.status, response.reason, response.answer) == (Status.NO_CONTEXT, reason, TEXT)
    assert judge.exchanges == []


@both_doors
def test_chunks_that_are_known_too_late_let_nothing_out_before_the_end(door: Door) -> None:
    judge, items = Judge(), list[Any]()

    def late(question: str) -> Iterator[str]:
        yield from PIECES
        record_chunks(CHUNKS)
        yield " "
        assert items == []

    door.items(guard_of(judge)(door.generator(late)), QUESTION, into=items)
    *pieces, response = items
    assert pieces == [f"{TEXT} "]
    assert response.status is Status.ANSWERED
    assert judge.answers == [f"{TEXT} "]


@both_doors
def test_chunks_that_nobody_reports_let_nothing_out(door: Door) -> None:
    judge = Judge()
    (response,) = door.items(guard_of(judge)(door.generator(lambda question: PIECES)), QUESTION)
    assert response.reason is Reason.RETRIEVAL_NOT_OBSERVED
    assert judge.exchanges == []


@both_doors
def test_chunks_that_a_piece_reports_are_known_from_then_on(door: Door) -> None:
    judge = Judge(TEXT)
    guarded = guard_of(judge)(door.generator(lambda question: [{"context": CHUNKS}, *PIECES]))
    *pieces, response = door.items(guarded, QUESTION)
    assert "".join(pieces) == TEXT
    assert {exchange.chunks for exchange in judge.exchanges} == {response.chunks} == {(Chunk(CHUNKS[0]),)}


@both_doors
def test_what_a_judge_retrieves_is_no_evidence(door: Door) -> None:
    def judge(exchange: Exchange) -> bool:
        record_chunks(["made up"])
        return True

    response = decorated(door, judge)[-1]
    assert [chunk.text for chunk in response.chunks] == CHUNKS


# Leaving early.


def leave(door: Door, guard: Guard) -> None:
    """Read one item of a stream and close it, at the async door in another task."""

    async def aleave() -> None:
        stream = guard.astream(QUESTION)
        await anext(stream)
        await asyncio.create_task(stream.aclose())

    if door.is_async:
        asyncio.run(aleave())
    else:
        stream = guard.stream(QUESTION)
        next(stream)
        stream.close()


@both_doors
def test_a_reader_that_leaves_gives_up_what_is_in_judgement(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    closed, asked, two = list[str](), list[str](), threading.Event()

    def generate(question: str, chunks: Any) -> Iterator[str]:
        try:
            yield from PIECES[:2]
            while True:
                threading.Event().wait(0.001)
                yield " And so on."
        finally:
            closed.append("closed")

    with stuck() as event:

        def judge(exchange: Exchange) -> bool:
            asked.append(exchange.answer)
            if exchange.answer == TWO:
                two.set()
            return two.wait(LONG) if exchange.answer == ONE else event.wait(LONG)

        spans, counts = Spans(), Counts()
        leave(door, guard_of(judge, door.generator(generate)))
        gc.collect()
        assert closed == ["closed"]
        assert {ONE, TWO} <= set(asked)
        assert all(len(answer) < len(TEXT) for answer in asked)
        assert spans.names[-1] == "groundguard generate"
        for name in ("invoke_workflow groundguard", "groundguard generate"):
            assert spans.one(name).attributes["groundguard.given_up"] is True
        assert counts.queries == counts.judge_failures == {}
        assert caplog.records == []


@both_doors
@both_ways
def test_pieces_that_are_no_text_stay_behind(door: Door, stream: Stream) -> None:
    given = [{"step": None}, {"answer": ONE}, {"answer": f" {TWO}"}]
    *pieces, response = stream(door, Judge(), lambda: given)
    assert pieces == [ONE, f" {TWO}"]
    assert response.output == tuple(given)
    assert isinstance(response, Response)
