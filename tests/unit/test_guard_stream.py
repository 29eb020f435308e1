"""`Guard.stream` and `Guard.astream`: the guard's own generator, its answer in pieces, and the response last."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from groundguard import Guard, Reason, Response, Status, UngroundedError, record_chunks
from groundguard.errors import NoContextError, UsageError
from groundguard.policy import Policy, Prune, Raise, Regenerate, Replace, Return, Revision
from groundguard.records import ChunksFrom, Claim, Decision, Turn, Verdict
from groundguard.streaming import AsyncStream, Stream
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedRetriever
from support.doors import ASYNC, PLAIN, Door, both_doors
from support.telemetry import Counts, Spans

QUESTION = "Where is Paris?"
PIECES = ["Paris ", "is ", "in France."]
TEXT = "Paris is in France."
CHUNKS = ["Paris is in France."]

LONG = 10.0
"""Seconds after which a test that waits in vain fails."""


def pieces_of(question: str, chunks: Any) -> Iterator[Any]:
    yield from PIECES


def guard_of(generator: Any = pieces_of, judge: Any = None, *, chunks: Any = CHUNKS, **options: Any) -> Guard:
    judge = ScriptedJudge(True) if judge is None else judge
    return Guard(judge, retriever=ScriptedRetriever(chunks), generator=generator, **options)


def stream(door: Door, guard: Guard, **more: Any) -> list[Any]:
    return door.items(guard.astream if door.is_async else guard.stream, QUESTION, **more)


# Pieces and response.


@both_doors
@pytest.mark.parametrize(
    ("said", "status"), [(True, Status.ANSWERED), (False, Status.UNGROUNDED), (OSError("down"), Status.UNGROUNDED)]
)
def test_pieces_come_unchanged_and_the_response_comes_last(door: Door, said: Any, status: Status) -> None:
    judge, counts = ScriptedJudge(said), Counts()
    *pieces, response = stream(door, guard_of(door.generator(pieces_of), judge))

    assert pieces == PIECES
    assert isinstance(response, Response)
    assert response.status is status
    assert response.answer == response.generated == TEXT
    assert response.output == tuple(PIECES)
    assert response.chunks_from is ChunksFrom.RETRIEVER
    assert judge.exchanges[0].answer == TEXT
    assert judge.exchanges[0].chunks is response.chunks
    assert counts.queries == {status.value: 1}


@both_doors
@pytest.mark.parametrize("mode", ["after", "hold", "gate", None])
def test_a_stream_always_ends_in_the_response_that_ask_gives(door: Door, mode: Any) -> None:
    for pieces, chunks, said in [
        (PIECES, CHUNKS, True),
        (PIECES, CHUNKS, False),
        (PIECES, CHUNKS, OSError("down")),
        (PIECES, [], True),
        (PIECES, [" "], True),
        ([], CHUNKS, True),
        ([" "], CHUNKS, True),
    ]:

        def generate(question: str, chunks: Any, pieces: list[str] = pieces) -> Iterator[str]:
            yield from pieces

        guard = guard_of(door.generator(generate), ScriptedJudge(said), chunks=chunks, streaming=mode)
        items = stream(door, guard)
        assert [isinstance(item, Response) for item in items] == [False] * (len(items) - 1) + [True]
        asked = door.ask(guard, QUESTION)
        assert (items[-1].status, items[-1].reason, items[-1].generated, items[-1].output) == (
            asked.status, asked.reason, asked.generated, asked.output
        )  # fmt: skip


@both_doors
@pytest.mark.parametrize("mode", ["after", "hold", "gate"])
@pytest.mark.parametrize(
    "output", [TEXT, SimpleNamespace(content=TEXT), {"answer": TEXT, "text": "more"}, (TEXT, CHUNKS)]
)
def test_an_answer_that_comes_at_once_is_one_piece(door: Door, mode: Any, output: Any) -> None:
    guard = guard_of(door.function(lambda question, chunks: output), streaming=mode)
    piece, response = stream(door, guard)

    assert piece == response.answer == TEXT
    assert response.output is output
    assert response.status is Status.ANSWERED
    assert response.chunks_from is ChunksFrom.RETRIEVER


@both_doors
@pytest.mark.parametrize("mode", ["after", "hold", "gate"])
@pytest.mark.parametrize("said", [True, False, OSError("down")])
def test_an_empty_answer_is_no_piece(door: Door, mode: Any, said: Any) -> None:
    judge = ScriptedJudge(said)
    (response,) = stream(door, guard_of(ScriptedGenerator(""), judge, streaming=mode))
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.EMPTY_ANSWER)
    assert judge.exchanges == []


@both_doors
@pytest.mark.parametrize("policy", [Return(skip_generator=True), Replace("Nothing found.", skip_generator=True)])
def test_a_skipped_generator_ends_in_a_response_too(door: Door, policy: Any) -> None:
    generator = ScriptedGenerator(TEXT)
    *pieces, response = stream(door, guard_of(generator, chunks=[], policy=policy))
    assert pieces == ([policy.text] if isinstance(policy, Replace) else [])
    assert response.reason is Reason.NO_CHUNKS
    assert generator.calls == []


@both_doors
@pytest.mark.parametrize("way", ["recorded", "in a pair", "in a mapping"])
def test_a_generator_that_reports_other_chunks_than_it_was_handed_is_a_mistake(door: Door, way: str) -> None:
    def generate(question: str, chunks: Any) -> Iterator[Any]:
        if way == "recorded":
            record_chunks(["made up"])
        yield ("Paris ", ["made up"]) if way == "in a pair" else "Paris "
        yield {"context": ["made up"], "answer": "is in France."} if way == "in a mapping" else "is in France."

    for ask in (stream, lambda door, guard: door.ask(guard, QUESTION)):
        with pytest.raises(UsageError, match="was handed the chunks of the retriever and reported others"):
            ask(door, guard_of(door.generator(generate)))


@both_doors
def test_the_generator_gets_chunks_and_history(door: Door) -> None:
    seen: list[Any] = []

    def generate(question: str, chunks: Any, *, history: Any, feedback: Any = "unset") -> Iterator[str]:
        seen.append((question, chunks, history, feedback))
        yield TEXT

    judge = ScriptedJudge(True)
    guard = guard_of(door.generator(generate), judge)
    fn = guard.astream if door.is_async else guard.stream
    response = door.items(lambda: fn(QUESTION, history=[("user", "Hello")]))[-1]

    assert seen == [(QUESTION, response.chunks, (Turn("user", "Hello"),), None)]
    assert judge.exchanges[0].history == (Turn("user", "Hello"),)


# What a generator may give.


async def acoroutine(question: str, chunks: Any) -> Any:
    return ASYNC.generator(pieces_of)(question, chunks)


async def acoroutine_of_plain(question: str, chunks: Any) -> Any:
    return iter(PIECES)


class AsyncIterableOnly:
    def __aiter__(self) -> AsyncIterator[str]:
        result: AsyncIterator[str] = ASYNC.generator(pieces_of)("", ())
        return result


GENERATORS: list[tuple[Door, Callable[..., Any]]] = [
    (PLAIN, pieces_of),
    (PLAIN, lambda question, chunks: iter(PIECES)),
    (PLAIN, lambda question, chunks: (piece for piece in PIECES)),
    (ASYNC, pieces_of),
    (ASYNC, lambda question, chunks: iter(PIECES)),
    (ASYNC, ASYNC.generator(pieces_of)),
    (ASYNC, acoroutine),
    (ASYNC, acoroutine_of_plain),
    (ASYNC, lambda question, chunks: AsyncIterableOnly()),
]


@pytest.mark.parametrize(("door", "generator"), GENERATORS)
def test_one_generator_serves_ask_and_stream(door: Door, generator: Any) -> None:
    for policy in (Return(), Raise()):
        guard = guard_of(generator, policy=policy)
        *pieces, response = stream(door, guard)
        assert pieces == PIECES
        asked = door.ask(guard, QUESTION)
        assert (asked.status, asked.generated, asked.chunks) == (response.status, TEXT, response.chunks)
        assert asked.output == response.output == tuple(PIECES)


def test_an_async_stream_behind_a_plain_door_is_a_mistake() -> None:
    guard = guard_of(ASYNC.generator(pieces_of))
    with pytest.raises(UsageError, match="is an async stream: use the async door"):
        list(guard.stream(QUESTION))
    with pytest.raises(UsageError, match="is an async stream: use the async door"):
        guard.ask(QUESTION)


@both_doors
@pytest.mark.parametrize("output", [["Paris"], 3, None, {"delta": "Paris"}])
def test_an_output_without_an_answer_is_a_mistake(door: Door, output: Any) -> None:
    with pytest.raises(UsageError, match="no answer found"):
        stream(door, guard_of(lambda question, chunks: output))


def test_a_plain_generator_does_not_block_the_loop_and_keeps_its_context() -> None:
    variable = contextvars.ContextVar("variable", default="outside")

    async def main() -> list[Any]:
        moved = threading.Event()
        asyncio.get_running_loop().call_later(0, moved.set)

        def generate(question: str, chunks: Any) -> Iterator[str]:
            token = variable.set("inside")
            yield f"{variable.get()} "
            yield str(moved.wait(LONG))
            variable.reset(token)

        variable.set("caller's")
        return [item async for item in guard_of(generate).astream(QUESTION)]

    assert asyncio.run(main())[:-1] == ["inside ", "True"]


# The response.


@both_doors
def test_the_response_is_there_from_the_moment_it_comes(door: Door) -> None:
    class Reader(list[Any]):
        def append(self, item: Any) -> None:
            super().append(item)
            if isinstance(item, Response):
                assert streams[0].response is item
            else:
                with pytest.raises(UsageError, match="iterate over the stream to its end first"):
                    _ = streams[0].response

    guard, streams = guard_of(), list[Any]()

    def begin() -> Any:
        streams.append(guard.astream(QUESTION) if door.is_async else guard.stream(QUESTION))
        return streams[0]

    items = door.items(begin, into=Reader())
    assert streams[0].response is items[-1]


@both_doors
def test_a_piece_that_is_a_response_is_not_the_response(door: Door) -> None:
    inner = guard_of(ScriptedGenerator(TEXT)).ask(QUESTION)

    def generate(question: str, chunks: Any) -> Iterator[Any]:
        yield inner

    piece, response = stream(door, guard_of(door.generator(generate), ScriptedJudge(False)))
    assert piece is inner
    assert (inner.status, response.status) == (Status.ANSWERED, Status.UNGROUNDED)


@both_doors
def test_a_stream_that_failed_or_was_left_has_no_response(door: Door) -> None:
    async def leave(stream: AsyncStream) -> None:
        async with stream as items:
            assert items is stream
            assert await anext(items) == "Paris "

    guard = guard_of()
    if door.is_async:
        left: Any = guard.astream(QUESTION)
        asyncio.run(leave(left))
    else:
        with guard.stream(QUESTION) as left:
            assert isinstance(left, Stream)
            assert next(left) == "Paris "
    with pytest.raises(UsageError, match="iterate over the stream to its end first"):
        _ = left.response


# Modes and policies.


@pytest.mark.parametrize("mode", ["After", "", "hold ", 1, True, ["after"], Return()])
def test_a_mode_that_is_none_is_told_at_once(mode: Any) -> None:
    with pytest.raises(UsageError, match="streaming is 'after', 'hold' or 'gate', or None"):
        Guard(ScriptedJudge(True), streaming=mode)
    with pytest.raises(UsageError, match="streaming is 'after', 'hold' or 'gate', or None"):
        guard_of().with_options(streaming=mode)


class Own(Return):
    """A policy of one's own that only looks like `Return`."""


class Revising(Return):
    """A policy of one's own that makes a new text."""

    def revise(self, response: Response[Any]) -> Revision | None:
        return None


ALL: list[Policy] = [
    Return(), Raise(), Replace("Sorry."), Prune(Return()), Regenerate(1, Return()), Own(), Revising()
]  # fmt: skip


@pytest.mark.parametrize("policy", ALL, ids=lambda policy: type(policy).__name__)
def test_a_mode_that_would_disarm_the_policy_is_refused(policy: Policy) -> None:
    plain = guard_of(ScriptedGenerator(TEXT))
    for streaming, fits in (
        ("after", type(policy) is Return),
        ("hold", True),
        ("gate", not isinstance(policy, (Prune, Regenerate, Revising))),
        (None, True),
    ):
        if fits:
            plain.with_options(policy=policy, streaming=streaming)
            plain.with_options(streaming=streaming if streaming != "after" else None).with_options(policy=policy)
        else:
            with pytest.raises(UsageError, match=f"streaming='{streaming}' hands on"):
                plain.with_options(policy=policy, streaming=streaming)
            with pytest.raises(UsageError, match=f"streaming='{streaming}' hands on"):
                plain.with_options(streaming=streaming).with_options(policy=policy)


@both_doors
@pytest.mark.parametrize(
    ("options", "held"),
    [
        ({}, False),
        ({"streaming": "after"}, False),
        ({"streaming": "hold"}, True),
        ({"policy": Raise()}, True),
        ({"policy": Replace("Sorry."), "streaming": "hold"}, True),
        ({"policy": Own()}, True),
    ],
)
def test_nothing_leaves_in_hold_before_the_status(door: Door, options: Any, *, held: bool) -> None:
    events: list[Any] = []

    def judge(exchange: Any) -> bool:
        events.append("judged")
        return True

    guard = guard_of(door.generator(pieces_of), judge, **options)
    decorated = guard(door.generator(lambda question: recorded()))
    stream(door, guard, into=events)
    door.items(decorated, QUESTION, into=events)

    for run in (events[:5], events[5:]):
        assert run.index("judged") == (0 if held else 3)
        assert run[:3] == (["judged", *PIECES[:2]] if held else PIECES)
        assert isinstance(run[4], Response)


def recorded() -> Iterator[str]:
    record_chunks(CHUNKS)
    yield from PIECES


@both_doors
@pytest.mark.parametrize(
    ("said", "chunks"), [(False, CHUNKS), (OSError("down"), CHUNKS), (True, []), (True, [" "])]
)  # fmt: skip
def test_raise_raises_at_the_end_and_nothing_leaves_before(door: Door, said: Any, chunks: Any) -> None:
    items: list[Any] = []
    with pytest.raises(UngroundedError) as caught:
        stream(
            door, guard_of(door.generator(pieces_of), ScriptedJudge(said), chunks=chunks, policy=Raise()), into=items
        )

    assert items == []
    assert caught.value.response.generated == TEXT
    assert isinstance(caught.value, NoContextError) is (chunks != CHUNKS)


@both_doors
@pytest.mark.parametrize("text", ["Sorry.", ""])
def test_replace_lets_only_its_text_out(door: Door, text: str) -> None:
    guard = guard_of(door.generator(pieces_of), ScriptedJudge(False), policy=Replace(text))
    *pieces, response = stream(door, guard)
    assert pieces == ([text] if text else [])
    assert (response.answer, response.generated, response.status) == (text, TEXT, Status.UNGROUNDED)


@both_doors
def test_hold_with_return_hands_everything_on_once_the_status_is_known(door: Door) -> None:
    *pieces, response = stream(door, guard_of(judge=ScriptedJudge(False), streaming="hold"))
    assert pieces == PIECES
    assert response.status is Status.UNGROUNDED


@both_doors
def test_regenerate_works_in_hold(door: Door) -> None:
    said: list[Any] = []

    def generate(question: str, chunks: Any, *, feedback: Any) -> Iterator[str]:
        said.append(feedback and str(feedback.reason))
        yield from ["Paris ", "is in Spain."] if feedback is None else PIECES

    counts = Counts()
    guard = guard_of(door.generator(generate), ScriptedJudge(False, True), policy=Regenerate(1, Raise()))
    for items in (stream(door, guard), ["", door.ask(guard_again(guard), QUESTION)]):
        assert items[:-1] in ([TEXT], [""])
        response = items[-1]
        assert response.status is Status.ANSWERED
        assert response.answer == TEXT
        assert response.output == tuple(PIECES)
        assert [attempt.generated for attempt in response.attempts] == ["Paris is in Spain."]
    assert said == [None, "unsupported"] * 2
    assert counts.queries == {"answered": 2}


def guard_again(guard: Guard) -> Guard:
    return guard.with_options(judge=ScriptedJudge(False, True))


@both_doors
def test_a_plain_generator_that_takes_feedback_streams_its_one_piece(door: Door) -> None:
    generator = ScriptedGenerator("Paris is in Spain.", TEXT)
    guard = guard_of(generator, ScriptedJudge(False, True), policy=Regenerate(1, Raise()))
    assert stream(door, guard)[:-1] == [TEXT]
    assert len(generator.calls) == 2


@both_doors
def test_prune_in_hold_hands_on_the_pruned_text_as_one_piece(door: Door) -> None:
    answer = "Paris is in France. It is made of cheese."
    claims = (
        Claim("Paris is in France.", Decision.SUPPORTED, 0, 19),
        Claim("It is made of cheese.", Decision.UNSUPPORTED, 20, 41),
    )

    def generate(question: str, chunks: Any) -> Iterator[str]:
        yield from answer

    judge = ScriptedJudge(Verdict(Decision.UNSUPPORTED, claims=claims), True)
    piece, response = stream(door, guard_of(door.generator(generate), judge, policy=Prune(Raise())))
    assert piece == response.answer == TEXT
    assert response.status is Status.ANSWERED


# Errors.


@both_doors
@pytest.mark.parametrize("mode", ["after", "hold", "gate"])
@pytest.mark.parametrize("kind", [LookupError, KeyboardInterrupt])
def test_an_error_on_the_way_reaches_the_consumer_as_it_is(door: Door, mode: Any, kind: type[BaseException]) -> None:
    error, judge, counts, items = kind("mine"), ScriptedJudge(True), Counts(), list[Any]()

    def generate(question: str, chunks: Any) -> Iterator[str]:
        yield from PIECES
        raise error

    with pytest.raises(kind) as caught:
        stream(door, guard_of(door.generator(generate), judge, streaming=mode), into=items)
    assert caught.value is error
    assert items == (PIECES if mode == "after" else [])
    assert judge.exchanges == []
    assert counts.queries == {}


def test_an_error_of_a_plain_generator_comes_out_of_the_async_door_as_it_is() -> None:
    error, items = LookupError("mine"), list[Any]()

    def generate(question: str, chunks: Any) -> Iterator[str]:
        yield "Paris "
        raise error

    with pytest.raises(LookupError) as caught:
        stream(ASYNC, guard_of(generate), into=items)
    assert caught.value is error
    assert items == ["Paris "]


@pytest.mark.parametrize("door", ["stream", "astream"])
def test_wiring_mistakes_are_told_before_the_first_item(door: str) -> None:
    for guard, question, match in [
        (Guard(ScriptedJudge(True)), QUESTION, "needs a retriever"),
        (Guard(ScriptedJudge(True), retriever=ScriptedRetriever()), QUESTION, "needs a generator"),
        (guard_of(), 3, "the question must be a string"),
    ]:
        with pytest.raises(UsageError, match=match):
            getattr(guard, door)(question)
    with pytest.raises(UsageError, match="the history is a list"):
        getattr(guard_of(), door)(QUESTION, history="Hello")


# Giving up early.


class Source:
    """A generator of pieces that knows whether it was closed."""

    def __init__(self) -> None:
        self.closed = 0

    def pieces(self, question: str, chunks: Any) -> Iterator[str]:
        try:
            yield from PIECES
        finally:
            self.closed += 1

    async def apieces(self, question: str, chunks: Any) -> AsyncIterator[str]:
        try:
            for piece in PIECES:
                await asyncio.sleep(0)
                yield piece
        finally:
            self.closed += 1


class Left:
    """What must hold after a reader has left early."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO)
        self.caplog, self.source, self.judge = caplog, Source(), ScriptedJudge(True)
        self.spans, self.counts = Spans(), Counts()

    def check(self) -> None:
        assert self.source.closed == 1
        assert self.judge.exchanges == []
        assert self.spans.names == ["invoke_workflow groundguard", "retrieval groundguard", "groundguard generate"]
        for name in ("invoke_workflow groundguard", "groundguard generate"):
            span = self.spans.one(name)
            assert span.attributes["groundguard.given_up"] is True
            assert span.status.is_unset
        assert self.counts.queries == self.counts.judge_failures == {}
        assert self.caplog.records == []


def test_a_reader_that_leaves_early(caplog: pytest.LogCaptureFixture) -> None:
    def leave_by_break(stream: Stream) -> None:
        for _ in stream:
            break

    def leave_by_close(stream: Stream) -> None:
        next(stream)
        stream.close()
        stream.close()
        assert list(stream) == []

    def leave_by_with(stream: Stream) -> None:
        with suppress(LookupError), stream:
            next(stream)
            raise LookupError

    for leave in (leave_by_break, leave_by_close, leave_by_with):
        left = Left(caplog)
        gc.disable()
        try:
            leave(guard_of(left.source.pieces, left.judge).stream(QUESTION))
            left.check()
        finally:
            gc.enable()


@pytest.mark.parametrize("plain", [True, False])
def test_an_async_reader_that_leaves_early(caplog: pytest.LogCaptureFixture, *, plain: bool) -> None:
    async def leave_by_aclose(stream: AsyncStream) -> None:
        await anext(stream)
        await stream.aclose()
        await stream.aclose()
        assert [item async for item in stream] == []

    async def leave_by_with(stream: AsyncStream) -> None:
        with suppress(LookupError):
            async with stream:
                await anext(stream)
                raise LookupError

    async def leave_in_another_task(stream: AsyncStream) -> None:
        await asyncio.create_task(stream.__anext__(), context=contextvars.Context())
        await asyncio.create_task(stream.aclose(), context=contextvars.Context())

    async def leave_to_the_collector(stream: AsyncStream) -> None:
        await anext(stream)

    async def main(leave: Any, left: Left) -> None:
        generator = left.source.pieces if plain else left.source.apieces
        await leave(guard_of(generator, left.judge).astream(QUESTION))
        gc.collect()
        for _ in range(1000):
            if left.source.closed and len(left.spans.ended) == 3:
                break
            await asyncio.sleep(0.001)

    for leave in (leave_by_aclose, leave_by_with, leave_in_another_task, leave_to_the_collector):
        left = Left(caplog)
        asyncio.run(main(leave, left))
        left.check()


def test_a_task_cancelled_while_it_waits_for_a_piece(caplog: pytest.LogCaptureFixture) -> None:
    closed, judge, spans, counts = list[str](), ScriptedJudge(True), Spans(), Counts()
    caplog.set_level(logging.INFO)

    async def generate(question: str, chunks: Any) -> AsyncIterator[str]:
        try:
            yield "Paris "
            await asyncio.sleep(60)
        finally:
            closed.append("closed")

    async def consume(got: asyncio.Event) -> None:
        async for _ in guard_of(generate, judge).astream(QUESTION):
            got.set()

    async def main() -> None:
        got = asyncio.Event()
        task = asyncio.create_task(consume(got))
        await got.wait()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert closed == ["closed"]
    assert judge.exchanges == []
    assert spans.one("groundguard generate").attributes["error.type"] == "CancelledError"
    assert counts.queries == {}
    assert caplog.records == []


@both_doors
def test_a_stream_that_is_never_started_does_nothing(door: Door) -> None:
    ran: list[str] = []

    def generate(question: str, chunks: Any) -> Iterator[str]:
        ran.append("ran")
        yield TEXT

    async def aclose() -> None:
        await guard.astream(QUESTION).aclose()
        async with guard.astream(QUESTION):
            pass
        guard.astream(QUESTION)

    spans, counts, judge = Spans(), Counts(), ScriptedJudge(True)
    guard = guard_of(door.generator(generate), judge)
    if door.is_async:
        asyncio.run(aclose())
    else:
        guard.stream(QUESTION).close()
        with guard.stream(QUESTION):
            pass
        guard.stream(QUESTION)
    gc.collect()

    assert ran == spans.started == judge.exchanges == []
    assert counts.queries == {}


# Collected by `ask`.


@both_doors
def test_ask_closes_a_stream_that_fails(door: Door) -> None:
    source = Source()

    def generate(question: str, chunks: Any) -> Iterator[Any]:
        yield from source.pieces(question, chunks)
        yield object()

    with pytest.raises(UsageError, match="a piece of a streamed answer is text"):
        door.ask(guard_of(door.generator(generate)), QUESTION)
    assert source.closed == 1


@both_doors
def test_a_session_takes_a_generator_that_streams(door: Door) -> None:
    session = guard_of(door.generator(pieces_of)).session(evidence=_this_turn())
    response = door.call(session.aask if door.is_async else session.ask, QUESTION)
    assert response.answer == TEXT


def _this_turn() -> Any:
    from groundguard.conversation import ThisTurn

    return ThisTurn()
