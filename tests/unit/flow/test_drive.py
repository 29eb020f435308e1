"""The two drivers: one flow, one outcome, whichever of them runs it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import gc
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundguard import Exchange, Guard, Reason, Response, Status
from groundguard.errors import UsageError
from groundguard.flow.drive import PerLoop, aiterate, arun, iterate, run
from groundguard.flow.steps import END, Call, Callee, Emit, Flow, OutOfTimeError, Pull, Sleep
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedRetriever
from support.exchange import ANSWER, CHUNKS, QUESTION, stuck

DOORS: dict[str, Callable[[Guard], Response[Any]]] = {
    "ask": lambda guard: guard.ask(QUESTION),
    "aask": lambda guard: asyncio.run(guard.aask(QUESTION)),
}

both_doors = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
both_drivers = pytest.mark.parametrize("drive", [run, lambda flow: asyncio.run(arun(flow))], ids=["run", "arun"])


def call(fn: Callable[..., Any], *args: Any, **more: Any) -> Flow[Any]:
    return (yield Call(Callee(fn, None, "the judge fn"), args, **more))


def acall(fn: Callable[..., Any], *args: Any, **more: Any) -> Flow[Any]:
    return (yield Call(Callee(None, fn, "the judge fn"), args, **more))


def guard(**parts: Any) -> Guard:
    usual: dict[str, Any] = {
        "judge": ScriptedJudge(True),
        "retriever": ScriptedRetriever(CHUNKS),
        "generator": ScriptedGenerator(ANSWER),
    }
    return Guard(**(usual | parts))


# Parity.

ERRORS = (ValueError, KeyError, OutOfTimeError, UsageError, ConnectionError)


class Line:
    """One line of a random flow."""

    def __init__(self, kind: str, value: Any, timeout: float | None, *, forgiven: bool) -> None:
        self.kind, self.value, self.timeout, self.forgiven = kind, value, timeout, forgiven

    def __repr__(self) -> str:
        return f"Line({self.kind!r}, {self.value!r}, {self.timeout!r}, forgiven={self.forgiven})"


LINES = st.lists(
    st.builds(
        Line,
        st.sampled_from(["return", "raise", "sleep", "emit", "pull"]),
        st.integers(0, 4),
        st.sampled_from([None, None, None, 30.0]),
        forgiven=st.booleans(),
    ),
    max_size=8,
)


def scripted(lines: list[Line], pull: Callable[[], Any]) -> Flow[list[object]]:
    """A flow of calls, waits, pieces and pulls, some of which fail and some of whose failures are forgiven."""
    log: list[object] = []
    for line in lines:
        try:
            log.append((yield _step(line, pull)))
        except Exception as error:
            log.append(type(error))
            if not line.forgiven:
                raise
    return log


def _step(line: Line, pull: Callable[[], Any]) -> Any:
    def work() -> int:
        if line.kind == "raise":
            raise ERRORS[line.value]("scripted")
        return line.value

    match line.kind:
        case "sleep":
            return Sleep(0)
        case "emit":
            return Emit(line.value)
        case "pull":
            return Pull(pull())
        case _:
            return Call(Callee(work, None, "work"), timeout=line.timeout)


def _outcome(drive: Callable[[], object]) -> tuple[object, object]:
    try:
        return "returned", drive()
    except Exception as error:
        return type(error), str(error)


@settings(deadline=None, max_examples=60)
@given(LINES)
def test_one_flow_has_one_outcome_in_both_drivers(lines: list[Line]) -> None:
    source, asource = iter(range(3)), _counting(3)
    plain_pieces: list[object] = []
    async_pieces: list[object] = []

    def plain() -> object:
        pieces = iterate(scripted(lines, lambda: source))
        while True:
            try:
                plain_pieces.append(next(pieces))
            except StopIteration as end:
                return end.value

    async def coroutine() -> object:
        box: list[object] = []
        async for piece in aiterate(scripted(lines, lambda: asource), box.append):
            async_pieces.append(piece)  # noqa: PERF401  # what came before an error is kept
        return box[0]

    assert _outcome(plain) == _outcome(lambda: asyncio.run(coroutine()))
    assert plain_pieces == async_pieces
    if not any(line.kind == "pull" for line in lines):
        again = _outcome(lambda: run(scripted(lines, list)))
        assert again == _outcome(lambda: asyncio.run(arun(scripted(lines, list)))) == _outcome(plain)


async def _counting(to: int) -> AsyncIterator[int]:
    for number in range(to):
        yield number


# What both drivers do.


@both_drivers
def test_arguments_and_keywords_arrive(drive: Any) -> None:
    callee = Callee(lambda *args, **kwargs: (args, kwargs), None, "fn")

    def flow() -> Flow[Any]:
        return (yield Call(callee, (1, 2), {"three": 3}, timeout=30.0, timeout_keyword="limit"))

    assert drive(flow()) == ((1, 2), {"three": 3, "limit": 30.0})


@both_drivers
@pytest.mark.parametrize("timeout", [None, 30.0], ids=["no timeout", "timeout"])
def test_scopes_are_entered_around_the_call_and_the_context_is_seen_inside(drive: Any, timeout: float | None) -> None:
    variable = contextvars.ContextVar("variable", default="outside")
    log: list[str] = []

    @contextmanager
    def scope() -> Iterator[None]:
        token = variable.set("inside")
        log.append("entered")
        yield
        log.append("left")
        variable.reset(token)

    def work() -> str:
        log.append("called")
        return variable.get()

    assert drive(call(work, timeout=timeout, scopes=(scope,))) == "inside"
    assert log == ["entered", "called", "left"]
    assert variable.get() == "outside"


@both_drivers
def test_a_scope_that_fails_leaves_the_ones_before_it(drive: Any) -> None:
    log: list[str] = []

    @contextmanager
    def first() -> Iterator[None]:
        try:
            yield
        finally:
            log.append("left")

    @contextmanager
    def second() -> Iterator[None]:
        raise ValueError("scope")
        yield

    with pytest.raises(ValueError, match="scope"):
        drive(call(print, scopes=(first, second)))
    assert log == ["left"]


@both_drivers
def test_waits_are_waited(drive: Any) -> None:
    def flow() -> Flow[None]:
        yield Sleep(0.05)

    began = time.monotonic()
    drive(flow())
    assert time.monotonic() - began >= 0.04


@both_drivers
def test_a_timeout_raises_inside_the_flow_which_may_go_on(drive: Any) -> None:
    with stuck() as event:

        def flow() -> Flow[str]:
            try:
                yield from call(event.wait, timeout=0.02)
            except OutOfTimeError:
                return (yield from call(lambda: "went on"))
            return "did not time out"

        assert drive(flow()) == "went on"


def test_plain_calls_stay_on_the_callers_thread_under_the_plain_driver_unless_they_have_a_timeout() -> None:
    assert run(call(threading.current_thread)) is threading.current_thread()
    other = run(call(threading.current_thread, timeout=30.0))
    assert (other is threading.current_thread(), other.daemon) == (False, True)


def test_plain_calls_leave_the_loop_and_async_ones_stay_on_it_under_the_async_driver() -> None:
    async def where() -> threading.Thread:
        return threading.current_thread()

    for timeout in (None, 30.0):
        other = asyncio.run(arun(call(threading.current_thread, timeout=timeout)))
        assert (other is threading.current_thread(), other.daemon) == (False, True)
        assert asyncio.run(arun(acall(where, timeout=timeout))) is threading.current_thread()


def test_what_a_plain_function_returns_is_awaited_in_the_async_driver_only() -> None:
    async def coroutine() -> str:
        return "awaited"

    class Awaitable:
        def __await__(self) -> Any:
            return coroutine().__await__()

    for timeout in (None, 30.0):
        for make in (lambda: coroutine(), functools.partial(coroutine), Awaitable):
            assert asyncio.run(arun(call(make, timeout=timeout))) == "awaited"
            with pytest.raises(UsageError, match="the judge fn is async: use the async door"):
                run(call(make, timeout=timeout))
    gc.collect()  # a coroutine that was never awaited would warn, and a warning is an error here


@pytest.mark.parametrize("timeout", [None, 30.0], ids=["no timeout", "timeout"])
def test_an_async_callee_behind_the_plain_driver_is_not_even_called(timeout: float | None) -> None:
    def never() -> None:
        raise AssertionError("called")

    with pytest.raises(UsageError, match="the judge fn is async"):
        run(acall(never, timeout=timeout))


@both_drivers
@pytest.mark.parametrize("timeout", [None, 30.0], ids=["no timeout", "timeout"])
@pytest.mark.parametrize("error", [StopIteration(1), StopAsyncIteration(1)], ids=repr)
def test_stop_iteration_of_user_code_becomes_a_runtime_error(
    drive: Any, timeout: float | None, error: Exception
) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(RuntimeError, match=rf"the judge fn raised {type(error).__name__}") as raised:
        drive(call(fail, timeout=timeout))
    assert raised.value.__cause__ is error


@pytest.mark.parametrize("timeout", [None, 30.0], ids=["no timeout", "timeout"])
@pytest.mark.parametrize("error", [StopIteration(1), StopAsyncIteration(1)], ids=repr)
def test_stop_iteration_of_a_coroutine_becomes_a_runtime_error(timeout: float | None, error: Exception) -> None:
    async def fail() -> None:
        raise error

    with pytest.raises(RuntimeError):
        asyncio.run(arun(acall(fail, timeout=timeout)))


# Pieces and their sources.


class Source:
    """An iterator, plain and async, that knows how often it was closed."""

    def __init__(self, *items: Any) -> None:
        self.items = list(items)
        self.closed = 0

    def __iter__(self) -> Source:
        return self

    def __next__(self) -> Any:
        if not self.items:
            raise StopIteration
        item = self.items.pop(0)
        if isinstance(item, BaseException):
            raise item
        return item

    def __aiter__(self) -> Source:
        return self

    async def __anext__(self) -> Any:
        await asyncio.sleep(0)
        try:
            return next(self)
        except StopIteration:
            raise StopAsyncIteration from None

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        await asyncio.sleep(0)
        self.closed += 1


def passing_on(*sources: Any) -> Flow[str]:
    for source in sources:
        while (piece := (yield Pull(source))) is not END:
            yield Emit(piece)
    return "done"


def test_a_source_is_closed_once_when_it_is_exhausted() -> None:
    first, second = Source(1, 2), Source(3)
    assert list(iterate(passing_on(first, second, first))) == [1, 2, 3]
    assert (first.closed, second.closed) == (1, 1)

    async def main() -> list[Any]:
        return [piece async for piece in aiterate(passing_on(afirst, asecond, afirst))]

    afirst, asecond = Source(1, 2), Source(3)
    assert asyncio.run(main()) == [1, 2, 3]
    assert (afirst.closed, asecond.closed) == (1, 1)


def test_a_source_is_closed_once_when_it_fails_and_its_error_comes_out_as_it_is() -> None:
    error = KeyError("source")

    async def main() -> None:
        async for _ in aiterate(passing_on(async_source)):
            pass

    source, async_source = Source(1, error), Source(1, error)
    for drive in (lambda: list(iterate(passing_on(source))), lambda: asyncio.run(main())):
        with pytest.raises(KeyError) as raised:
            drive()
        assert raised.value is error
    assert (source.closed, async_source.closed) == (1, 1)


def test_a_source_is_closed_once_when_the_consumer_closes_early() -> None:
    source, async_source = Source(1, 2), Source(1, 2)
    pieces = iterate(passing_on(source))
    assert next(pieces) == 1
    pieces.close()

    async def main() -> None:
        pieces = aiterate(passing_on(async_source))
        assert await anext(pieces) == 1
        await asyncio.create_task(pieces.aclose())  # from another task

    asyncio.run(main())
    assert (source.closed, async_source.closed) == (1, 1)


def test_a_source_is_closed_once_when_the_consumer_throws() -> None:
    source, async_source = Source(1, 2), Source(1, 2)
    pieces = iterate(passing_on(source))
    next(pieces)
    with pytest.raises(KeyError):
        pieces.throw(KeyError())

    async def main() -> None:
        pieces = aiterate(passing_on(async_source))
        await anext(pieces)
        with pytest.raises(KeyError):
            await pieces.athrow(KeyError())

    asyncio.run(main())
    assert (source.closed, async_source.closed) == (1, 1)


def test_a_source_is_closed_once_when_nobody_holds_the_stream_any_more() -> None:
    source, async_source = Source(1, 2), Source(1, 2)
    next(iterate(passing_on(source)))
    gc.collect()

    async def main() -> None:
        await anext(aiterate(passing_on(async_source)))
        gc.collect()
        await asyncio.sleep(0.01)

    asyncio.run(main())
    assert (source.closed, async_source.closed) == (1, 1)


def test_a_source_is_closed_once_when_the_task_is_cancelled() -> None:
    class Slow(Source):
        async def __anext__(self) -> Any:
            await asyncio.sleep(60)

    async def main() -> None:
        async def consume() -> None:
            async for _ in aiterate(passing_on(source)):
                pass

        task = asyncio.create_task(consume())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    source = Slow()
    asyncio.run(main())
    assert source.closed == 1


def test_a_source_without_close_is_none_of_our_business() -> None:
    class Numbers:
        def __aiter__(self) -> Any:
            return self

        async def __anext__(self) -> int:
            raise StopAsyncIteration

    async def main() -> list[Any]:
        return [piece async for piece in aiterate(passing_on(Numbers()))]

    assert list(iterate(passing_on(iter([1])))) == [1]
    assert asyncio.run(main()) == []


def test_pieces_nobody_waits_for_are_dropped_by_run() -> None:
    assert run(passing_on(iter([1, 2]))) == "done"
    assert asyncio.run(arun(passing_on(_counting(2)))) == "done"


# The user's own errors.


class OwnError(Exception):
    pass


OWN_ERRORS = [
    OwnError,
    TimeoutError,
    OutOfTimeError,
    GeneratorExit,
    asyncio.CancelledError,
    concurrent.futures.CancelledError,
    concurrent.futures.InvalidStateError,
]


def raising(error: BaseException) -> Callable[..., Any]:
    def where_it_was_raised(*_: Any) -> Any:
        raise error

    return where_it_was_raised


@both_doors
@pytest.mark.parametrize("part", ["retriever", "generator"])
@pytest.mark.parametrize("kind", OWN_ERRORS)
def test_an_error_of_the_users_own_comes_out_as_it_is(door: Any, part: str, kind: type[BaseException]) -> None:
    cause, context = KeyError("cause"), KeyError("context")
    error = kind("own")
    error.__cause__, error.__context__ = cause, context
    error.add_note("a note")

    with pytest.raises(kind) as raised:
        door(guard(**{part: raising(error)}))

    assert raised.value is error
    assert (error.__cause__, error.__context__) == (cause, context)
    assert error.__notes__ == ["a note"]
    assert "where_it_was_raised" in [frame.name for frame in traceback.extract_tb(error.__traceback__)]


@both_doors
@pytest.mark.parametrize("part", ["judge", "retriever", "generator"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_comes_out_as_it_is(door: Any, part: str, kind: type[BaseException]) -> None:
    error = kind("own")
    with pytest.raises(kind) as raised:
        door(guard(**{part: raising(error)}))
    assert raised.value is error


@pytest.mark.parametrize("part", ["retriever", "generator"])
def test_an_error_of_an_async_function_comes_out_as_it_is(part: str) -> None:
    error = OwnError()

    async def where_it_was_raised(*_: Any) -> Any:
        await asyncio.sleep(0)
        raise error

    with pytest.raises(OwnError) as raised:
        DOORS["aask"](guard(**{part: where_it_was_raised}))
    assert raised.value is error
    assert error.__context__ is None
    assert "where_it_was_raised" in [frame.name for frame in traceback.extract_tb(error.__traceback__)]


@both_doors
@pytest.mark.parametrize("part", ["retriever", "generator"])
def test_stop_iteration_of_a_part_names_the_part(door: Any, part: str) -> None:
    with pytest.raises(RuntimeError, match=f"the {part} .*where_it_was_raised raised StopIteration"):
        door(guard(**{part: raising(StopIteration())}))


@both_doors
@pytest.mark.parametrize(
    "error",
    [
        StopIteration(),
        StopAsyncIteration(),
        asyncio.CancelledError(),
        concurrent.futures.CancelledError(),
        OwnError(),
    ],
    ids=repr,
)
def test_whatever_a_judge_raises_is_a_verdict(door: Any, error: BaseException) -> None:
    response = door(guard(judge=raising(error)))
    assert (response.status, response.reason, response.answer) == (Status.UNGROUNDED, Reason.JUDGE_ERROR, ANSWER)


@pytest.mark.parametrize("timeout", [None, 30.0], ids=["no timeout", "timeout"])
def test_an_async_judge_that_is_cancelled_from_inside_has_failed(timeout: float | None) -> None:
    async def judge(exchange: Exchange) -> bool:
        task = asyncio.ensure_future(asyncio.sleep(60))
        asyncio.get_running_loop().call_soon(task.cancel)
        await task
        return True

    assert DOORS["aask"](guard(judge=judge, timeout=timeout)).reason is Reason.JUDGE_ERROR


# The loop.


async def _ticks_during(work: Any) -> int:
    ticks = 0

    async def beat() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    heart = asyncio.create_task(beat())
    await work
    heart.cancel()
    return ticks


@pytest.mark.parametrize("part", ["judge", "retriever", "generator"])
@pytest.mark.parametrize("timeout", [None, 30.0], ids=["no timeout", "timeout"])
def test_a_plain_function_does_not_block_the_loop(part: str, timeout: float | None) -> None:
    results = {"judge": True, "retriever": CHUNKS, "generator": ANSWER}

    def slow(*_: Any) -> Any:
        time.sleep(0.2)
        return results[part]

    async def main() -> int:
        return await _ticks_during(guard(timeout=timeout, **{part: slow}).aask(QUESTION))

    assert asyncio.run(main()) >= 5


@both_doors
def test_context_variables_are_seen_by_every_part(door: Any) -> None:
    variable = contextvars.ContextVar("variable", default="unset")
    seen: dict[str, str] = {}

    def part(name: str, result: Any) -> Callable[..., Any]:
        def look(*_: Any) -> Any:
            seen[name] = variable.get()
            return result

        return look

    variable.set("set by the caller")
    parts = {"judge": True, "retriever": CHUNKS, "generator": ANSWER}
    door(guard(**{name: part(name, result) for name, result in parts.items()}))
    assert seen == dict.fromkeys(parts, "set by the caller")


def test_the_sync_door_works_inside_a_running_loop() -> None:
    async def main() -> Response[Any]:
        return guard().ask(QUESTION)

    assert asyncio.run(main()).status is Status.ANSWERED


@pytest.mark.parametrize("part", ["judge", "retriever", "generator"])
@pytest.mark.parametrize("kind", ["plain", "async"])
def test_a_cancellation_of_the_caller_reaches_the_caller_at_once(part: str, kind: str) -> None:
    entered = threading.Event()
    cancelled: list[bool] = []

    with stuck() as event:

        def plain(*_: Any) -> Any:
            entered.set()
            event.wait()

        async def coroutine(*_: Any) -> Any:
            entered.set()
            try:
                await asyncio.sleep(60)
            finally:
                cancelled.append(True)

        async def main() -> float:
            task = asyncio.create_task(guard(**{part: plain if kind == "plain" else coroutine}).aask(QUESTION))
            while not entered.is_set():
                await asyncio.sleep(0.005)
            began = time.monotonic()
            task.cancel("by the caller")
            with pytest.raises(asyncio.CancelledError) as raised:
                await task
            assert raised.value.args == ("by the caller",)
            return time.monotonic() - began

        assert asyncio.run(main()) < 1.0
    assert cancelled == ([] if kind == "plain" else [True])


@both_doors
@pytest.mark.parametrize("timeout", [None, 30.0], ids=["no timeout", "timeout"])
def test_a_judge_may_ask_another_guard(door: Any, timeout: float | None) -> None:
    inner = guard(timeout=timeout)

    def judge(exchange: Exchange) -> bool:
        return inner.check(exchange.question, answer=exchange.answer, chunks=exchange.chunks).status == "answered"

    assert door(guard(judge=judge, timeout=timeout)).status is Status.ANSWERED


def test_an_async_judge_may_ask_another_guard() -> None:
    inner = guard()

    async def judge(exchange: Exchange) -> bool:
        response = await inner.acheck(exchange.question, answer=exchange.answer, chunks=exchange.chunks)
        return response.status is Status.ANSWERED

    assert DOORS["aask"](guard(judge=judge)).status is Status.ANSWERED


async def async_part(*_: Any) -> Any:
    return CHUNKS


class AsyncPart:
    async def __call__(self, *_: Any) -> Any:
        return CHUNKS

    async def method(self, *_: Any) -> Any:
        return CHUNKS


@pytest.mark.parametrize("part", ["judge", "retriever", "generator"])
@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (async_part, "async_part"),
        (AsyncPart(), "AsyncPart"),
        (AsyncPart().method, "method"),
        (functools.partial(async_part), "partial"),
        (lambda *args: async_part(*args), "<lambda>"),
    ],
    ids=["function", "object", "method", "partial", "lambda"],
)
def test_an_async_part_behind_the_sync_door_is_a_usage_error_that_names_it(part: str, thing: Any, name: str) -> None:
    with pytest.raises(UsageError, match=f"the {part} .*{name} is async: use the async door"):
        guard(**{part: thing}).ask(QUESTION)
    gc.collect()  # a coroutine that was never awaited would warn, and a warning is an error here


@pytest.mark.parametrize(
    "kind",
    [
        lambda fn: fn,
        functools.partial,
        lambda fn: lambda *args: fn(*args),
        lambda fn: type("C", (), {"__call__": staticmethod(fn)})(),
    ],
    ids=["function", "partial", "lambda", "object"],
)
def test_every_kind_of_async_callable_serves_the_async_door(kind: Any) -> None:
    async def retrieve(question: str) -> Any:
        return CHUNKS

    async def generate(question: str, chunks: Any) -> str:
        return ANSWER

    async def judge(exchange: Exchange) -> bool:
        return True

    parts = {"retriever": kind(retrieve), "generator": kind(generate), "judge": kind(judge)}
    assert DOORS["aask"](guard(**parts)).status is Status.ANSWERED


def test_one_guard_serves_loops_in_many_threads() -> None:
    shared = guard()
    statuses: list[Status] = []

    def serve() -> None:
        statuses.extend(DOORS["aask"](shared).status for _ in range(5))

    threads = [threading.Thread(target=serve) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [Status.ANSWERED] * 20


# PerLoop.


class Client:
    """Something that belongs to a loop."""

    def __init__(self) -> None:
        self.open = False

    async def __aenter__(self) -> Self:
        self.open = True
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.sleep(0)
        self.open = False


def test_a_loop_has_one_client_which_is_closed_when_the_loop_ends() -> None:
    clients = PerLoop(Client)

    async def main() -> Client:
        first, second = await asyncio.gather(clients.get(), clients.get())
        assert first is second
        assert first.open
        return first

    one, two = asyncio.run(main()), asyncio.run(main())
    assert one is not two
    assert (one.open, two.open) == (False, False)


def test_a_client_goes_with_the_one_who_holds_it() -> None:
    async def main() -> None:
        client = await PerLoop(Client).get()
        gc.collect()
        await asyncio.sleep(0.01)
        assert not client.open

    asyncio.run(main())
