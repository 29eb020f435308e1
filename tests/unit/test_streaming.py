"""Answers that arrive in pieces: guarded generators, plain and async."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import inspect
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry import trace

from groundguard import Guard, Reason, Response, Status, UngroundedError, record_chunks
from groundguard.errors import GroundguardWarning, NoContextError, UsageError
from groundguard.policy import Policy, Raise, Replace, Return
from groundguard.records import ChunksFrom
from groundguard.testing import ScriptedJudge
from support.doors import ASYNC, PLAIN, Door, both_doors
from support.telemetry import Counts, Spans

PIECES = ["Paris ", "is ", "in France."]
EVIDENCE = ["Paris is in France."]


@pytest.fixture
def judge() -> ScriptedJudge:
    return ScriptedJudge(True)


def recording(question: str, pieces: list[Any] = PIECES, chunks: Any = EVIDENCE) -> Iterator[Any]:
    record_chunks(chunks)
    yield from pieces


def stream(door: Door, guard: Guard, pieces: Callable[..., Any] = recording, *more: Any) -> list[Any]:
    return door.items(guard(door.generator(pieces)), "Q?", *more)


# Pieces and response.


@both_doors
@pytest.mark.parametrize(
    ("said", "status"), [(True, Status.ANSWERED), (False, Status.UNGROUNDED), (OSError("down"), Status.UNGROUNDED)]
)
def test_pieces_come_unchanged_and_the_response_comes_last(door: Door, said: Any, status: Status) -> None:
    judge = ScriptedJudge(said)
    *pieces, response = stream(door, Guard(judge))

    assert pieces == PIECES
    assert all(piece is given for piece, given in zip(pieces, PIECES, strict=True))
    assert isinstance(response, Response)
    assert response.status is status
    assert response.answer == response.generated == "Paris is in France."
    assert response.output == tuple(PIECES)
    assert response.chunks_from is ChunksFrom.RECORDED
    (exchange,) = judge.exchanges
    assert exchange.answer == "Paris is in France."
    assert exchange.chunks is response.chunks


@both_doors
def test_a_stream_has_the_status_of_the_plain_call(door: Door) -> None:
    def whole(question: str, pieces: list[str], chunks: Any) -> str:
        record_chunks(chunks)
        return "".join(pieces)

    for pieces, chunks in [(PIECES, EVIDENCE), ([" "], EVIDENCE), ([], EVIDENCE), (PIECES, []), (PIECES, [" "])]:
        guard = Guard(ScriptedJudge(False))
        streamed = stream(door, guard, recording, pieces, chunks)[-1]
        called = door.call(guard(door.function(whole)), "Q?", pieces, chunks)
        assert (streamed.status, streamed.reason) == (called.status, called.reason)


@both_doors
@pytest.mark.parametrize("policy", [Return(), Replace("Sorry."), Replace("Sorry.", on=Status.UNGROUNDED)])
def test_nothing_retrieved_ends_in_a_response_too(door: Door, policy: Policy, judge: ScriptedJudge) -> None:
    for chunks, reason in (([], Reason.NO_CHUNKS), (" ", Reason.BLANK_CHUNKS)):
        *pieces, response = stream(door, Guard(judge, policy=policy), recording, PIECES, chunks)
        assert (response.status, response.reason) == (Status.NO_CONTEXT, reason)
        assert "".join(pieces) == response.answer
    assert judge.exchanges == []


@both_doors
def test_nothing_observed_is_told_once(door: Door, judge: ScriptedJudge) -> None:
    with pytest.warns(GroundguardWarning, match="no retrieval was observed"):
        *pieces, response = stream(door, Guard(judge), lambda question: iter(PIECES))
    stream(door, Guard(judge), lambda question: iter(PIECES))

    assert pieces == PIECES
    assert response.reason is Reason.RETRIEVAL_NOT_OBSERVED
    assert judge.exchanges == []


@both_doors
def test_an_empty_stream_is_an_empty_answer(door: Door, judge: ScriptedJudge) -> None:
    (response,) = stream(door, Guard(judge), recording, [])

    assert (response.status, response.reason, response.output) == (Status.UNGROUNDED, Reason.EMPTY_ANSWER, ())
    assert judge.exchanges == []


# What a piece may be.

MESSAGES = [SimpleNamespace(content="Paris "), SimpleNamespace(content=[{"type": "text", "text": "is in France."}])]


@both_doors
@pytest.mark.parametrize(
    ("pieces", "way"),
    [
        (
            [{"context": EVIDENCE}, {"answer": "Paris is "}, {"answer": "in "}, {"answer": "France."}],
            ChunksFrom.OUTPUT,
        ),
        ([("", EVIDENCE), "Paris is in France."], ChunksFrom.RETURNED),
        ([("Paris is ", EVIDENCE), ("in France.", [])], ChunksFrom.RETURNED),
        ([{"answer": "Paris is in France.", "context": EVIDENCE}], ChunksFrom.OUTPUT),
        ([{"answer": "Paris is in France."}, {"answer": None, "source_documents": EVIDENCE}], ChunksFrom.OUTPUT),
        (MESSAGES, ChunksFrom.RECORDED),
        ([{"role": "assistant", "content": "Paris is in France."}], ChunksFrom.RECORDED),
        ([(SimpleNamespace(content="Paris is in France."), EVIDENCE)], ChunksFrom.RETURNED),
    ],
)
def test_pieces_of_every_kind(door: Door, pieces: list[Any], way: ChunksFrom, judge: ScriptedJudge) -> None:
    chunks = [] if way is ChunksFrom.RETURNED else EVIDENCE
    *seen, response = stream(door, Guard(judge), recording, pieces, chunks)

    assert all(piece is given for piece, given in zip(seen, pieces, strict=True))
    assert response.status is Status.ANSWERED
    assert response.answer == "Paris is in France."
    assert [chunk.text for chunk in response.chunks] == EVIDENCE
    assert (response.chunks_from, response.chunks_exact) == (way, True)
    assert judge.exchanges[0].chunks is response.chunks


@both_doors
def test_selectors_apply_to_every_piece(door: Door, judge: ScriptedJudge) -> None:
    pieces: list[Any] = [
        {"docs": EVIDENCE, "context": ["usual"]},
        {"step": "writing"},
        {"reply": "Paris is ", "answer": "Rome"},
        {"reply": None},
        SimpleNamespace(reply="in France."),
        ({"reply": ""}, []),
    ]
    guard = Guard(judge)
    by_key = guard.wraps(answer="reply", chunks="docs")
    by_function = guard.wraps(
        answer=lambda piece: getattr(piece, "reply", None) or (piece.get("reply") if isinstance(piece, dict) else ""),
        chunks=lambda piece: piece.get("docs") if isinstance(piece, dict) else None,
    )
    for decorate in (by_key, by_function, Guard(judge, capture=by_key.capture)):
        *seen, response = door.items(decorate(door.generator(lambda question: pieces)), "Q?")
        assert seen == pieces
        assert response.answer == "Paris is in France."
        assert [chunk.text for chunk in response.chunks] == EVIDENCE
        assert response.status is Status.ANSWERED


@both_doors
@pytest.mark.parametrize("odd", ["plain text", ({"reply": 3}, []), {"reply": 3}, {"reply": ["x"]}])
def test_text_that_a_selector_would_miss_is_a_mistake(door: Door, odd: Any, judge: ScriptedJudge) -> None:
    guarded = Guard(judge).wraps(answer="reply")(door.generator(lambda question: [{"reply": "Paris."}, odd]))
    with pytest.raises(UsageError):
        door.items(guarded, "Q?")
    assert judge.exchanges == []


@both_doors
def test_chunks_that_a_piece_finds_lazily_are_found_once(door: Door, judge: ScriptedJudge) -> None:
    for piece in ({"context": iter(EVIDENCE)}, ("", iter(EVIDENCE))):
        response = door.items(Guard(judge)(door.generator(lambda question, p=piece: [p, "Paris."])), "Q?")[-1]
        assert [chunk.text for chunk in response.chunks] == EVIDENCE


@both_doors
def test_chunks_of_several_pieces_add_up(door: Door, judge: ScriptedJudge) -> None:
    response = stream(door, Guard(judge), recording, [("a", ["1"]), {"context": ["2", "1"]}, ("b", [])])[-1]
    assert [chunk.text for chunk in response.chunks] == ["1", "2", "1"]


@both_doors
def test_explicitly_nothing_wins_over_what_was_recorded(door: Door, judge: ScriptedJudge) -> None:
    response = stream(door, Guard(judge), recording, [("Paris.", [])])[-1]
    assert (response.reason, response.chunks_from) == (Reason.NO_CHUNKS, ChunksFrom.RETURNED)
    assert judge.exchanges == []


@both_doors
@pytest.mark.parametrize("policy", [Return(), Raise()])
@pytest.mark.parametrize(
    "odd",
    [
        3,
        None,
        b"Paris",
        {"delta": "Paris"},
        {"context": ["Paris."], "delta": "Rome."},
        {"answer": 3},
        ["Paris"],
        object(),
        ("a", 3),
    ],
)
def test_a_piece_of_another_type_is_a_mistake(door: Door, policy: Policy, odd: Any, judge: ScriptedJudge) -> None:
    with pytest.raises(UsageError):
        stream(door, Guard(judge, policy=policy), recording, ["Paris", odd, "more"])
    assert judge.exchanges == []


# Policies.


class Own(Return):
    """A policy of one's own that only looks like `Return`."""

    def settle(self, response: Response[Any]) -> Response[Any]:
        return Replace("Own.").settle(response)


@both_doors
@pytest.mark.parametrize("policy", [Raise(), Replace("Sorry."), Own()])
def test_any_policy_but_return_holds_the_pieces_until_the_verdict(door: Door, policy: Policy) -> None:
    events: list[Any] = []

    def pieces(question: str) -> Iterator[str]:
        for piece in recording(question):
            events.append("made")
            yield piece

    def judge(exchange: Any) -> bool:
        events.append("judged")
        return True

    door.items(Guard(judge, policy=policy)(door.generator(pieces)), "Q?", into=events)

    assert events[:4] == ["made", "made", "made", "judged"]
    assert events[4:7] == PIECES
    assert events[7].status is Status.ANSWERED


@both_doors
@pytest.mark.parametrize(
    ("said", "chunks"), [(False, EVIDENCE), (OSError("down"), EVIDENCE), (True, []), (True, [" "])]
)
def test_raise_lets_no_piece_out(door: Door, said: Any, chunks: Any) -> None:
    items: list[Any] = []
    guarded = Guard(ScriptedJudge(said), policy=Raise())(door.generator(recording))
    with pytest.raises(UngroundedError) as caught:
        door.items(guarded, "Q?", PIECES, chunks, into=items)

    assert items == []
    assert caught.value.response.generated == "Paris is in France."
    assert isinstance(caught.value, NoContextError) is (chunks != EVIDENCE)


@both_doors
@pytest.mark.parametrize(
    ("said", "chunks"), [(False, EVIDENCE), (OSError("down"), EVIDENCE), (True, []), (True, [" "])]
)
@pytest.mark.parametrize("text", ["Sorry.", ""])
def test_replace_lets_only_its_text_out(door: Door, said: Any, chunks: Any, text: str) -> None:
    *pieces, response = stream(door, Guard(ScriptedJudge(said), policy=Replace(text)), recording, PIECES, chunks)

    assert pieces == ([text] if text else [])
    assert (response.answer, response.generated) == (text, "Paris is in France.")
    assert response.status is not Status.ANSWERED


@both_doors
def test_replace_lets_no_piece_out_even_if_its_text_is_the_answers_own(door: Door) -> None:
    pieces = [{"answer": "Paris is in ", "draft": 1}, {"answer": "France.", "draft": 2}]
    guard = Guard(ScriptedJudge(False), policy=Replace("Paris is in France."))

    assert stream(door, guard, recording, pieces)[:-1] == ["Paris is in France."]
    assert stream(door, guard.with_options(judge=ScriptedJudge(True)), recording, pieces)[:-1] == pieces


@both_doors
@pytest.mark.parametrize("change", [{"output": "Rome"}, {"answer": "Rome is "}, {"answer": 3}])
def test_a_piece_that_can_not_be_read_any_more_has_changed(door: Door, change: dict[str, Any]) -> None:
    def growing(question: str) -> Iterator[Any]:
        record_chunks(EVIDENCE)
        piece = {"answer": "Paris is "}
        yield piece
        yield "in France."
        piece.update(change)

    *pieces, response = door.items(Guard(ScriptedJudge(True), streaming="hold")(door.generator(growing)), "Q?")

    assert pieces == ["Paris is ", "in France."]
    assert response.status is Status.ANSWERED


@both_doors
def test_a_piece_that_holds_nothing_but_chunks_under_a_named_key_says_nothing(door: Door) -> None:
    def found(question: str) -> Iterator[Any]:
        yield {"passage": EVIDENCE[0]}
        yield "Paris is in France."

    *pieces, response = door.items(Guard(ScriptedJudge(True)).wraps(chunks="passage")(door.generator(found)), "Q?")

    assert pieces == [{"passage": EVIDENCE[0]}, "Paris is in France."]
    assert (response.answer, response.chunks_from) == ("Paris is in France.", ChunksFrom.OUTPUT)
    assert [chunk.text for chunk in response.chunks] == EVIDENCE


@both_doors
def test_return_delivers_before_the_verdict(door: Door) -> None:
    events: list[Any] = []

    def judge(exchange: Any) -> bool:
        events.append("judged")
        return False

    door.items(Guard(judge)(door.generator(recording)), "Q?", into=events)

    assert events[:-1] == [*PIECES, "judged"]
    assert events[-1].status is Status.UNGROUNDED


# Errors.


@both_doors
@pytest.mark.parametrize("policy", [Return(), Raise()])
@pytest.mark.parametrize("kind", [LookupError, KeyboardInterrupt])
def test_an_error_on_the_way_reaches_the_consumer_as_it_is(
    door: Door, policy: Policy, kind: type[BaseException], judge: ScriptedJudge
) -> None:
    error = kind("mine")

    def pieces(question: str) -> Iterator[str]:
        yield from recording(question)
        raise error

    items: list[Any] = []
    with pytest.raises(kind) as caught:
        door.items(Guard(judge, policy=policy)(door.generator(pieces)), "Q?", into=items)

    assert caught.value is error
    assert items == (PIECES if policy == Return() else [])
    assert judge.exchanges == []


@both_doors
def test_no_question_is_a_mistake_before_anything_runs(door: Door, judge: ScriptedJudge) -> None:
    ran: list[str] = []

    def pieces(question: str) -> Iterator[str]:
        ran.append("ran")
        yield "Paris."

    with pytest.raises(UsageError, match="no question found"):
        door.items(Guard(judge)(door.generator(pieces)), 3)
    assert ran == []


# Kinds of generators.


class Streamer:
    def method(self, question: str) -> Iterator[str]:
        """Stream an answer."""
        return (yield from recording(question))

    async def amethod(self, question: str) -> AsyncIterator[str]:
        for piece in recording(question):
            yield piece


class Callable_:
    def __call__(self, question: str) -> Iterator[str]:
        yield from recording(question)


class AsyncCallable:
    async def __call__(self, question: str) -> AsyncIterator[str]:
        for piece in recording(question):
            yield piece


GENERATORS = [
    (PLAIN, recording),
    (PLAIN, Streamer().method),
    (PLAIN, Callable_()),
    (ASYNC, ASYNC.generator(recording)),
    (ASYNC, Streamer().amethod),
    (ASYNC, AsyncCallable()),
]


@pytest.mark.parametrize(("door", "function"), GENERATORS)
def test_every_kind_of_generator_function(door: Door, function: Any, judge: ScriptedJudge) -> None:
    guard = Guard(judge)
    for guarded in (guard(function), guard.wrap(function), guard.wraps(question="question")(function)):
        *pieces, response = door.items(guarded, "Q?")
        assert pieces == PIECES
        assert response.status is Status.ANSWERED
        assert inspect.signature(guarded).parameters == inspect.signature(function).parameters
        assert guarded.__doc__ == function.__doc__
        assert inspect.isgeneratorfunction(guarded) is not door.is_async
        assert inspect.isasyncgenfunction(guarded) is door.is_async
    assert len(judge.exchanges) == 3


# Giving up early.


class Source:
    """A generator of pieces that knows whether it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    def pieces(self, question: str) -> Iterator[str]:
        try:
            yield from recording(question)
        finally:
            self.closed += 1

    async def apieces(self, question: str) -> AsyncIterator[str]:
        try:
            for piece in recording(question):
                await asyncio.sleep(0)
                yield piece
        finally:
            self.closed += 1


def given_up(spans: Spans, judge: ScriptedJudge, source: Source, counts: Counts, caplog: Any) -> None:
    """The source is closed, nobody was asked, the spans ended once and say why, and nothing was logged."""
    assert source.closed == 1
    assert judge.exchanges == []
    assert spans.names == ["invoke_workflow groundguard", "groundguard generate"]
    for name in spans.names:
        span = spans.one(name)
        assert span.attributes["groundguard.given_up"] is True
        assert "error.type" not in span.attributes
        assert span.status.is_unset
    assert counts.queries == counts.judge_failures == {}
    assert caplog.records == []


def test_a_reader_that_leaves_early(judge: ScriptedJudge, caplog: pytest.LogCaptureFixture) -> None:
    def leave_by_break(stream: Iterator[Any]) -> None:
        for _ in stream:
            break

    def leave_by_close(stream: Any) -> None:
        next(stream)
        stream.close()
        stream.close()

    def leave_by_error(stream: Any) -> None:
        with suppress(LookupError):
            for _ in stream:
                raise LookupError
        stream.close()

    caplog.set_level(logging.DEBUG)
    for leave in (leave_by_break, leave_by_close, leave_by_error):
        source, spans, counts = Source(), Spans(), Counts()
        leave(Guard(judge)(source.pieces)("Q?"))
        gc.collect()
        given_up(spans, judge, source, counts, caplog)


def test_an_async_reader_that_leaves_early(judge: ScriptedJudge, caplog: pytest.LogCaptureFixture) -> None:
    async def leave_by_break(stream: AsyncIterator[Any]) -> None:
        async for _ in stream:
            break

    async def leave_by_aclose(stream: Any) -> None:
        await anext(stream)
        await stream.aclose()
        await stream.aclose()

    async def leave_by_error(stream: Any) -> None:
        with suppress(LookupError):
            async for _ in stream:
                raise LookupError
        await stream.aclose()

    async def leave_in_another_task(stream: Any) -> None:
        await asyncio.create_task(stream.__anext__())
        await asyncio.create_task(stream.aclose())

    async def leave_in_another_context(stream: Any) -> None:
        await asyncio.create_task(stream.__anext__(), context=contextvars.Context())
        await asyncio.create_task(stream.aclose(), context=contextvars.Context())

    async def leave_to_the_collector(stream: Any) -> None:
        await anext(stream)
        del stream
        gc.collect()
        await asyncio.sleep(0.001)

    async def main(leave: Any, source: Source) -> None:
        await leave(Guard(judge)(source.apieces)("Q?"))

    caplog.set_level(logging.INFO)
    for leave in (
        leave_by_break, leave_by_aclose, leave_by_error, leave_in_another_task, leave_in_another_context, leave_to_the_collector
    ):  # fmt: skip
        source, spans, counts = Source(), Spans(), Counts()
        asyncio.run(main(leave, source))
        gc.collect()
        given_up(spans, judge, source, counts, caplog)


def test_a_task_cancelled_while_it_waits_for_a_piece(judge: ScriptedJudge, caplog: pytest.LogCaptureFixture) -> None:
    closed: list[str] = []

    async def pieces(question: str) -> AsyncIterator[str]:
        try:
            yield "Paris "
            await asyncio.sleep(60)
        finally:
            closed.append("closed")

    async def consume(got: asyncio.Event) -> None:
        async for _ in Guard(judge)(pieces)("Q?"):
            got.set()

    async def main() -> None:
        got = asyncio.Event()
        task = asyncio.create_task(consume(got))
        await got.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    caplog.set_level(logging.INFO)
    spans, counts = Spans(), Counts()
    asyncio.run(main())

    assert closed == ["closed"]
    assert judge.exchanges == []
    for name in ("invoke_workflow groundguard", "groundguard generate"):
        assert spans.one(name).attributes["error.type"] == "CancelledError"
    assert counts.queries == {}
    assert caplog.records == []


@both_doors
def test_a_reader_that_leaves_a_held_stream_leaves_a_judged_one(door: Door, judge: ScriptedJudge) -> None:
    async def aleave(stream: Any) -> None:
        await anext(stream)
        await stream.aclose()

    source, spans, counts = Source(), Spans(), Counts()
    guard = Guard(judge, policy=Raise())
    if door.is_async:
        asyncio.run(aleave(guard(source.apieces)("Q?")))
    else:
        stream = guard(source.pieces)("Q?")
        next(stream)
        stream.close()

    assert source.closed == 1
    assert len(judge.exchanges) == 1
    assert counts.queries == {"answered": 1}
    assert spans.one("invoke_workflow groundguard").attributes["groundguard.status"] == "answered"


@both_doors
def test_a_stream_that_is_never_started_does_nothing(door: Door, judge: ScriptedJudge) -> None:
    ran: list[str] = []

    def pieces(question: str) -> Iterator[str]:
        ran.append("ran")
        yield "Paris."

    async def aclose() -> None:
        stream: Any = guarded("Q?")
        await stream.aclose()
        guarded("Q?")

    spans, counts = Spans(), Counts()
    guarded = Guard(judge)(door.generator(pieces))
    if door.is_async:
        asyncio.run(aclose())
    else:
        guarded("Q?").close()
        guarded("Q?")
    gc.collect()

    assert ran == []
    assert spans.started == []
    assert counts.queries == {}
    assert judge.exchanges == []


@both_doors
def test_work_between_two_pieces_is_not_part_of_the_query(door: Door, judge: ScriptedJudge) -> None:
    tracer = trace.get_tracer("app")
    spans = Spans()

    def between() -> None:
        record_chunks("made up by the reader")
        tracer.start_span("between").end()

    class Reader(list[Any]):
        def append(self, item: Any) -> None:
            super().append(item)
            between()

    response = door.items(Guard(judge)(door.generator(recording)), "Q?", into=Reader())[-1]

    assert [chunk.text for chunk in response.chunks] == EVIDENCE
    assert {spans.parent_of(span) for span in spans.started if span.name == "between"} == {None}


def test_many_streams_at_once_mix_nothing(judge: ScriptedJudge) -> None:
    async def pieces(question: str) -> AsyncIterator[str]:
        record_chunks(question)
        for _ in range(3):
            await asyncio.sleep(0)
            yield question
        record_chunks(question)

    guarded = Guard(judge)(pieces)

    async def one(number: int) -> Any:
        return [item async for item in guarded(f"<{number}>")]

    async def main() -> list[Any]:
        return await asyncio.gather(*map(one, range(60)))

    for number, (*seen, response) in enumerate(asyncio.run(main())):
        assert seen == [f"<{number}>"] * 3
        assert [chunk.text for chunk in response.chunks] == [f"<{number}>"] * 2
        assert response.status is Status.ANSWERED


def test_a_plain_stream_read_in_several_threads_one_after_the_other(
    judge: ScriptedJudge, caplog: pytest.LogCaptureFixture
) -> None:
    stream = Guard(judge)(recording)("Q?")
    items: list[Any] = []

    def read() -> None:
        items.append(next(stream))

    for _ in range(4):
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()

    assert items[:3] == PIECES
    assert items[3].status is Status.ANSWERED
    assert caplog.records == []


# What is delivered is what was judged.


@both_doors
@pytest.mark.parametrize(
    "odd",
    [{"answer": "Paris.", "text": "Rome."}, {"answer": "Paris.", "content": "Rome.", "context": EVIDENCE}],
)
def test_a_piece_with_two_texts_is_a_mistake(door: Door, odd: Any, judge: ScriptedJudge) -> None:
    with pytest.raises(UsageError, match="a mapping with one text"):
        stream(door, Guard(judge), recording, [odd])
    assert judge.exchanges == []


@both_doors
def test_a_held_piece_that_has_changed_since_is_handed_on_as_it_was_judged(door: Door, judge: ScriptedJudge) -> None:
    def reusing(question: str) -> Iterator[Any]:
        record_chunks(EVIDENCE)
        buffer: dict[str, str] = {}
        for text in ("Paris ", "is in ", "France."):
            buffer["answer"] = text
            yield buffer

    *pieces, response = stream(door, Guard(judge, policy=Raise()), reusing)
    assert pieces == ["Paris ", "is in ", {"answer": "France."}]
    assert response.generated == "Paris is in France."


@both_doors
def test_a_piece_that_only_repeats_the_question_is_silent(door: Door, judge: ScriptedJudge) -> None:
    pieces = [{"input": "Q?"}, {"chat_history": []}, {"context": EVIDENCE}, {"answer": "Paris."}]
    *seen, response = stream(door, Guard(judge), recording, pieces, [])
    assert seen == pieces
    assert (response.answer, response.status) == ("Paris.", Status.ANSWERED)


@both_doors
def test_a_message_with_its_metadata_is_no_pair_of_text_and_chunks(door: Door, judge: ScriptedJudge) -> None:
    pieces = [(SimpleNamespace(content="Paris."), {"langgraph_node": "answer"})]
    response = stream(door, Guard(judge), recording, pieces, EVIDENCE)[-1]
    assert (response.answer, response.chunks_from) == ("Paris.", ChunksFrom.RECORDED)


@both_doors
def test_a_held_string_of_a_class_of_ones_own_is_handed_on_as_it_was_judged(door: Door, judge: ScriptedJudge) -> None:
    class Liar(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "Rome."

    *pieces, _ = stream(door, Guard(judge, policy=Raise()), recording, [Liar("Paris.")])
    assert [type(piece) for piece in pieces] == [str]
    assert pieces == ["Paris."]
