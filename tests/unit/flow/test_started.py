"""Flows begun beside another: their results, their failures, and what becomes of those that nobody waits for."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any

import pytest

from groundguard import Retry
from groundguard.errors import UsageError
from groundguard.flow.drive import aiterate, arun, iterate, run
from groundguard.flow.steps import (
    PENDING,
    Call,
    Callee,
    Emit,
    Finished,
    Flow,
    OutOfTimeError,
    Pull,
    Sleep,
    Start,
    interpose,
    scoped,
    within,
)
from groundguard.retry import retrying
from support.exchange import stuck, wait_until

both_drivers = pytest.mark.parametrize("drive", [run, lambda flow: asyncio.run(arun(flow))], ids=["run", "arun"])

LONG = 10.0
"""Seconds after which a test that waits in vain fails."""


def call(fn: Callable[..., Any], *args: Any, **more: Any) -> Flow[Any]:
    return (yield Call(Callee(fn, None, "the fake fn"), args, **more))


def start(flow: Flow[Any]) -> Flow[Any]:
    return (yield Start(flow))


def finished(handle: Any, *, wait: bool = True) -> Flow[Any]:
    return (yield Finished(handle, wait))


def raising(error: BaseException) -> Flow[Any]:
    def fail() -> None:
        raise error

    yield from call(fail)


class OwnError(Exception):
    pass


# Results.


@both_drivers
def test_a_flow_goes_on_beside_those_that_it_started(drive: Any) -> None:
    meanwhile = threading.Event()

    def outer() -> Flow[list[Any]]:
        first = yield from start(call(meanwhile.wait, LONG))
        second = yield from start(call(lambda: "second"))
        yield from call(meanwhile.set)
        second = yield from finished(second)
        return [second, (yield from finished(first))]

    assert drive(outer()) == ["second", True]


@both_drivers
def test_one_that_is_still_under_way_is_pending(drive: Any) -> None:
    release = threading.Event()

    def outer() -> Flow[list[Any]]:
        handle = yield from start(call(release.wait, LONG))
        before = yield from finished(handle, wait=False)
        yield from call(release.set)
        after = yield from finished(handle)
        again = yield from finished(handle, wait=False)
        return [before, after, again]

    assert drive(outer()) == [PENDING, True, True]


@both_drivers
def test_one_that_asks_for_nothing_and_returns_nothing_is_not_pending(drive: Any) -> None:
    def nothing() -> Flow[None]:
        yield from ()

    def outer() -> Flow[Any]:
        return (yield from finished((yield from start(nothing()))))

    assert drive(outer()) is None


@both_drivers
def test_what_it_emits_goes_nowhere(drive: Any) -> None:
    def talking() -> Flow[str]:
        yield Emit("piece")
        return "done"

    def outer() -> Flow[Any]:
        return (yield from finished((yield from start(talking()))))

    assert drive(outer()) == "done"


@both_drivers
def test_one_may_start_others(drive: Any) -> None:
    def inner() -> Flow[Any]:
        return (yield from finished((yield from start(call(lambda: "deep")))))

    def outer() -> Flow[Any]:
        return (yield from finished((yield from start(inner()))))

    assert drive(outer()) == "deep"


@both_drivers
def test_it_sees_a_copy_of_the_context(drive: Any) -> None:
    variable = contextvars.ContextVar("variable", default="outside")

    def change() -> str:
        seen = variable.get()
        variable.set("inside")
        return seen

    def outer() -> Flow[Any]:
        seen = yield from finished((yield from start(call(change))))
        return seen, (yield from call(variable.get))

    variable.set("caller's")
    assert drive(outer()) == ("caller's", "caller's")


# Failures.


@both_drivers
@pytest.mark.parametrize("error", [OwnError("own"), UsageError("own"), OutOfTimeError("own"), IndexError()], ids=repr)
def test_an_exception_reaches_whoever_asks_as_it_is_and_nobody_else(drive: Any, error: Exception) -> None:
    def outer() -> Flow[str]:
        failing = yield from start(raising(error))
        other = yield from start(call(lambda: "other"))
        for wait in (True, False):
            with pytest.raises(type(error)) as raised:
                yield from finished(failing, wait=wait)
            assert raised.value is error
        return (yield from finished(other))

    assert drive(outer()) == "other"


@both_drivers
def test_an_exception_that_nobody_asks_for_is_lost(drive: Any) -> None:
    def outer() -> Flow[str]:
        yield from start(raising(OwnError()))
        other = yield from start(call(lambda: "other"))
        return (yield from finished(other))

    assert drive(outer()) == "other"


def test_one_that_is_cancelled_from_inside_has_failed() -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    def inner() -> Flow[None]:
        yield Call(Callee(None, cancelled, "the call"))

    def outer() -> Flow[None]:
        yield from finished((yield from start(inner())))

    with pytest.raises(RuntimeError, match="cancelled from inside"):
        asyncio.run(arun(outer()))


# Those that nobody waits for.


def stubborn(begun: threading.Event, event: threading.Event, log: list[str]) -> Flow[None]:
    def first() -> None:
        begun.set()
        event.wait(LONG)

    try:
        yield from call(first)
        yield from call(lambda: log.append("second step"))
    except BaseException as end:
        log.append(type(end).__name__)
        raise


def test_one_under_way_is_closed_at_its_next_step_when_the_flow_ends() -> None:
    begun, log = threading.Event(), []

    def outer(event: threading.Event) -> Flow[str]:
        yield from start(stubborn(begun, event, log))
        yield from call(begun.wait, LONG)
        return "done"

    with stuck() as event:
        assert run(outer(event)) == "done"
        assert log == []
    wait_until(lambda: log == ["GeneratorExit"])


def test_one_under_way_is_cancelled_when_the_flow_ends_on_a_loop() -> None:
    begun, log = threading.Event(), []

    async def main(event: threading.Event) -> str:
        def outer() -> Flow[str]:
            yield from start(stubborn(begun, event, log))
            yield from call(begun.wait, LONG)
            return "done"

        result = await arun(outer())
        assert log == ["CancelledError"]
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return result

    with stuck() as event:
        assert asyncio.run(main(event)) == "done"


def test_one_under_way_is_given_up_when_the_consumer_closes() -> None:
    begun, log = threading.Event(), []

    def outer(event: threading.Event) -> Flow[None]:
        yield from start(stubborn(begun, event, log))
        yield from call(begun.wait, LONG)
        yield Emit("piece")

    with stuck() as event:
        pieces = iterate(outer(event))
        assert next(pieces) == "piece"
        pieces.close()
    wait_until(lambda: log == ["GeneratorExit"])


def test_one_under_way_is_given_up_when_the_consumer_closes_in_another_task() -> None:
    begun, log = threading.Event(), []

    async def main(event: threading.Event) -> None:
        def outer() -> Flow[None]:
            yield from start(stubborn(begun, event, log))
            yield from call(begun.wait, LONG)
            yield Emit("piece")

        pieces: Any = aiterate(outer())
        assert await asyncio.create_task(pieces.__anext__()) == "piece"
        await asyncio.create_task(pieces.aclose())
        assert log == ["CancelledError"]

    with stuck() as event:
        asyncio.run(main(event))


def test_a_task_that_waits_for_one_can_be_cancelled() -> None:
    closed: list[str] = []

    async def main() -> None:
        begun = asyncio.Event()

        async def hang() -> None:
            begun.set()
            try:
                await asyncio.sleep(60)
            finally:
                closed.append("closed")

        def inner() -> Flow[None]:
            yield Call(Callee(None, hang, "hang"))

        def outer() -> Flow[None]:
            yield from finished((yield from start(inner())))

        task = asyncio.create_task(arun(outer()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert closed == ["closed"]


# Who else is told.


def test_interpose_reaches_the_steps_of_started_flows() -> None:
    seen: list[Any] = []

    def perform(step: Any) -> Flow[Any]:
        seen.append(step)
        return (yield step)

    def outer() -> Flow[Any]:
        return (yield from finished((yield from start(call(lambda: "inside")))))

    assert run(interpose(outer(), perform)) == "inside"
    assert {type(step) for step in seen} == {Call, Finished}


@both_drivers
def test_a_scope_is_entered_around_the_calls_of_started_flows(drive: Any) -> None:
    variable = contextvars.ContextVar("variable", default="outside")

    class Scope:
        def __enter__(self) -> None:
            self.token = variable.set("scoped")

        def __exit__(self, *_: object) -> None:
            variable.reset(self.token)

    def outer() -> Flow[Any]:
        return (yield from finished((yield from start(call(variable.get)))))

    assert drive(scoped(outer(), Scope)) == "scoped"


@both_drivers
def test_a_deadline_holds_in_started_flows(drive: Any) -> None:
    def inner() -> Flow[None]:
        yield Sleep(1_000)

    def outer() -> Flow[None]:
        yield from finished((yield from start(inner())))

    with pytest.raises(OutOfTimeError):
        drive(within(outer(), 100, lambda: 0.0))


@both_drivers
def test_a_retry_holds_in_started_flows(drive: Any) -> None:
    attempts: list[int] = []

    def flaky() -> str:
        attempts.append(1)
        if len(attempts) < 3:
            raise ConnectionError
        return "at last"

    def outer() -> Flow[Any]:
        return (yield from finished((yield from start(call(flaky, retry="default")))))

    assert drive(retrying(outer(), Retry(initial=0, maximum=0))) == "at last"


# Plain iterators on a loop.


def passing_on(source: Any) -> Flow[None]:
    while (piece := (yield Pull(source))) != "stop":
        yield Emit(piece)


async def pieces_of(source: Any) -> list[Any]:
    return [piece async for piece in aiterate(passing_on(source))]


def test_a_plain_iterator_is_pulled_off_the_loop_in_one_context() -> None:
    variable = contextvars.ContextVar("variable", default="outside")
    threads: list[threading.Thread] = []

    def numbers() -> Any:
        token = variable.set("inside")
        try:
            for _ in range(3):
                threads.append(threading.current_thread())
                yield variable.get()
            yield "stop"
        finally:
            variable.reset(token)  # fails in any other context
            threads.append(threading.current_thread())

    async def main() -> list[Any]:
        variable.set("caller's")
        pieces = await pieces_of(numbers())
        assert variable.get() == "caller's"
        return pieces

    assert asyncio.run(main()) == ["inside"] * 3
    assert len(threads) == 4
    assert threading.main_thread() not in threads


def test_a_plain_iterator_that_waits_does_not_block_the_loop() -> None:
    async def main() -> list[Any]:
        moved = threading.Event()
        asyncio.get_running_loop().call_later(0, moved.set)

        def slow() -> Any:
            yield moved.wait(LONG)
            yield "stop"

        return await pieces_of(slow())

    assert asyncio.run(main()) == [True]


def test_an_error_of_a_plain_iterator_comes_out_of_the_loop_as_it_is() -> None:
    error = OwnError()

    def failing() -> Any:
        yield 1
        raise error

    with pytest.raises(OwnError) as raised:
        asyncio.run(pieces_of(failing()))
    assert raised.value is error


def test_a_plain_iterator_that_outlasts_its_reader_is_closed_when_it_comes_back() -> None:
    begun, closed = threading.Event(), threading.Event()

    async def main(event: threading.Event) -> None:
        def slow() -> Any:
            try:
                begun.set()
                event.wait(LONG)
                yield 1
            finally:
                closed.set()
                raise OwnError  # nobody is left to be told

        task = asyncio.create_task(pieces_of(slow()))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not closed.is_set()

    with stuck() as event:
        asyncio.run(main(event))
    assert closed.wait(LONG)


def test_a_plain_iterator_without_close_is_none_of_our_business() -> None:
    assert asyncio.run(pieces_of(iter([1, 2, "stop"]))) == [1, 2]


def test_an_async_stream_may_have_an_async_close_only() -> None:
    class Stream:
        closed = 0

        def __aiter__(self) -> Any:
            return self

        async def __anext__(self) -> str:
            return "stop"

        async def close(self) -> None:
            await asyncio.sleep(0)
            self.closed += 1

    stream = Stream()
    assert asyncio.run(pieces_of(stream)) == []
    assert stream.closed == 1


def test_an_async_source_behind_the_plain_driver_is_a_usage_error() -> None:
    async def numbers() -> Any:
        yield 1

    with pytest.raises(UsageError, match="async_generator is an async stream: use the async door"):
        run(passing_on(numbers()))
