"""Flows side by side, under either driver: their results, their failures, and who else is told."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from groundguard import Retry
from groundguard.errors import UsageError
from groundguard.flow.drive import arun, run
from groundguard.flow.steps import Call, Callee, Emit, Flow, OutOfTimeError, Sleep, Together, interpose, scoped, within
from groundguard.retry import retrying
from support.exchange import running_calls, stuck, wait_until

both_drivers = pytest.mark.parametrize("drive", [run, lambda flow: asyncio.run(arun(flow))], ids=["run", "arun"])

LONG = 10.0
"""Seconds after which a test that waits in vain fails."""


def call(fn: Callable[..., Any], *args: Any, **more: Any) -> Flow[Any]:
    return (yield Call(Callee(fn, None, "the fake fn"), args, **more))


def together(*flows: Flow[Any], **more: Any) -> Flow[tuple[Any, ...]]:
    return (yield Together(flows, **more))


def returning(value: Any) -> Flow[Any]:
    return value
    yield


def raising(error: BaseException) -> Flow[Any]:
    def fail() -> None:
        raise error

    yield from call(fail)


def two_steps(first: Callable[[], Any], second: Callable[[], Any]) -> Flow[Any]:
    yield from call(first)
    return (yield from call(second))


class Gauge:
    """How many were inside at once, at most."""

    def __init__(self) -> None:
        self.lock, self.inside, self.most = threading.Lock(), 0, 0

    @contextmanager
    def one(self) -> Iterator[None]:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        yield
        with self.lock:
            self.inside -= 1


@both_drivers
def test_results_come_in_order_whoever_ends_first(drive: Any) -> None:
    ended = [threading.Event() for _ in range(5)]

    def work(place: int) -> int:
        if place < 4:
            assert ended[place + 1].wait(LONG)
        ended[place].set()
        return place

    assert drive(together(*(call(work, place) for place in range(5)))) == (0, 1, 2, 3, 4)


@both_drivers
def test_nothing_together_is_nothing(drive: Any) -> None:
    assert drive(together()) == ()


@both_drivers
def test_flows_that_ask_for_nothing_have_results_too(drive: Any) -> None:
    assert drive(together(*map(returning, range(40)))) == tuple(range(40))


@both_drivers
def test_so_many_run_at_once_and_no_more(drive: Any) -> None:
    gauge, barrier = Gauge(), threading.Barrier(3)

    def work(place: int) -> int:
        with gauge.one():
            barrier.wait(LONG)  # passes only when three are inside
        return place

    assert drive(together(*(call(work, place) for place in range(9)), limit=3)) == tuple(range(9))
    assert gauge.most == 3


@pytest.mark.parametrize("limit", [0, -1])
def test_at_least_one_runs_at_once(limit: int) -> None:
    with pytest.raises(UsageError, match="at least one flow runs at once"):
        Together((), limit=limit)


@both_drivers
def test_flows_may_run_others_together(drive: Any) -> None:
    def inner(first: int) -> Flow[Any]:
        return (yield from together(*(call(lambda n=n: n) for n in (first, first + 1)), limit=1))

    assert drive(together(inner(1), call(lambda: "x"), inner(3))) == ((1, 2), "x", (3, 4))


@both_drivers
def test_what_they_emit_goes_nowhere(drive: Any) -> None:
    def talking() -> Flow[str]:
        yield Emit("piece")
        return "done"

    assert drive(together(talking(), talking())) == ("done", "done")


# Failures.


class OwnError(Exception):
    pass


FAILURES = [OwnError("own"), IndexError("own"), KeyError("own"), UsageError("own"), OutOfTimeError("own")]


@both_drivers
@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("limit", [1, 16])
def test_an_exception_reaches_the_flow_as_it_is(drive: Any, error: Exception, limit: int) -> None:
    def outer() -> Flow[str]:
        with pytest.raises(type(error)) as raised:
            yield from together(call(lambda: 1), raising(error), call(lambda: 3), limit=limit)
        assert raised.value is error
        return "went on"

    assert drive(outer()) == "went on"


@both_drivers
@pytest.mark.parametrize("error", [StopIteration(1), StopAsyncIteration(1)], ids=repr)
def test_stop_iteration_inside_is_a_runtime_error(drive: Any, error: Exception) -> None:
    with pytest.raises(RuntimeError, match=f"the fake fn raised {type(error).__name__}"):
        drive(together(call(lambda: 1), raising(error)))


@both_drivers
@pytest.mark.parametrize("error", [StopIteration(1), IndexError(1)], ids=repr)
def test_an_error_of_the_flow_itself_is_not_taken_for_the_end_of_the_work(drive: Any, error: Exception) -> None:
    def broken() -> Flow[None]:
        yield from call(lambda: None)
        raise error

    with pytest.raises((RuntimeError, IndexError)):
        drive(together(broken(), call(lambda: 2), limit=1))


@both_drivers
def test_the_first_failure_ends_the_others_at_their_next_step(drive: Any) -> None:
    begun, log = threading.Event(), []
    closed: list[type[BaseException]] = []

    def slow(event: threading.Event) -> None:
        begun.set()
        event.wait(LONG)

    def other(event: threading.Event) -> Flow[None]:
        try:
            yield from two_steps(lambda: slow(event), lambda: log.append("second step"))
        except BaseException as end:
            closed.append(type(end))
            raise

    def fail() -> None:
        assert begun.wait(LONG)
        raise OwnError("first")

    def third() -> Flow[None]:
        log.append("third flow")
        yield from call(print)

    with stuck() as event, pytest.raises(OwnError, match="first"):
        drive(together(other(event), call(fail), third(), limit=2))
    assert log == []
    assert closed in ([GeneratorExit], [asyncio.CancelledError])


def test_after_a_failure_no_further_flow_is_begun() -> None:
    begun, log = threading.Event(), []

    def third() -> Flow[None]:
        log.append("third flow")
        yield from call(print)

    def fail() -> None:
        assert begun.wait(LONG)
        raise OwnError

    with stuck() as event:

        def slow() -> None:
            begun.set()
            event.wait(LONG)

        with pytest.raises(OwnError):
            run(together(call(slow), call(fail), third(), limit=2))
    assert log == []


def test_nobody_is_at_work_any_more_when_a_failure_reaches_the_flow_on_a_loop() -> None:
    log: list[str] = []

    async def main() -> None:
        begun = asyncio.Event()

        async def hang() -> None:
            begun.set()
            try:
                await asyncio.sleep(60)
            finally:
                log.append("cancelled")

        async def fail() -> None:
            await begun.wait()
            raise OwnError

        def acall(fn: Callable[[], Any]) -> Flow[None]:
            yield Call(Callee(None, fn, "fn"))

        with pytest.raises(OwnError):
            await arun(together(acall(hang), acall(fail)))
        assert log == ["cancelled"]
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


@both_drivers
def test_a_flow_that_forgives_everything_is_ended_all_the_same(drive: Any) -> None:
    begun = threading.Event()
    steps: list[int] = []

    def stubborn(event: threading.Event) -> Flow[None]:
        for step in range(10_000):
            try:
                yield from call(begun.set if step == 0 else event.wait)
            except Exception:
                steps.append(step)

    def fail() -> None:
        assert begun.wait(LONG)
        raise OwnError

    with stuck() as event, pytest.raises(OwnError):
        drive(together(stubborn(event), call(fail)))
    assert steps == []


@both_drivers
def test_a_failure_inside_the_inner_ends_the_outer(drive: Any) -> None:
    log: list[str] = []
    begun = threading.Event()

    def fail() -> None:
        assert begun.wait(LONG)
        raise OwnError

    with stuck() as event:

        def slow() -> None:
            begun.set()
            event.wait(LONG)

        def inner() -> Flow[Any]:
            return (yield from together(two_steps(slow, lambda: log.append("second step"))))

        with pytest.raises(OwnError):
            drive(together(inner(), together(call(fail))))
    assert log == []


def test_an_async_callee_behind_the_plain_driver_is_a_usage_error() -> None:
    async def coroutine() -> int:
        return 1

    def acall() -> Flow[int]:
        return (yield Call(Callee(None, coroutine, "the judge fn")))

    with pytest.raises(UsageError, match="the judge fn is async"):
        run(together(call(lambda: 1), acall()))
    assert asyncio.run(arun(together(call(lambda: 1), acall()))) == (1, 1)


# Inside other flows.


def test_a_deadline_reaches_every_call_inside() -> None:
    flow = within(together(call(print), together(call(print))), 10.0, lambda: 100.0)
    step = next(flow)
    assert isinstance(step, Together)
    assert next(step.flows[0]).timeout == 10.0
    inner = next(step.flows[1])
    assert isinstance(inner, Together)
    assert next(inner.flows[0]).timeout == 10.0


@both_drivers
def test_time_runs_out_in_each_flow_that_is_late(drive: Any) -> None:
    with stuck() as event:

        def late() -> Flow[str]:
            try:
                yield from call(event.wait)
            except OutOfTimeError:
                return "late"
            return "in time"

        flow = within(together(late(), call(lambda: "in time"), late()), 0.05, time.monotonic)
        assert drive(flow) == ("late", "in time", "late")


@both_drivers
def test_a_wait_that_does_not_fit_the_deadline_is_not_begun(drive: Any) -> None:
    def sleeper() -> Flow[None]:
        yield Sleep(60)

    with pytest.raises(OutOfTimeError):
        drive(within(together(sleeper(), sleeper()), 10.0, lambda: 0.0))


@both_drivers
def test_each_call_inside_is_tried_again(drive: Any) -> None:
    class Busy(Exception):
        status_code = 503

    tries = [0, 0]

    def busy(place: int) -> int:
        tries[place] += 1
        if tries[place] < 3:
            raise Busy
        return place

    calls = (call(busy, place, retry="default") for place in range(2))
    assert drive(retrying(together(*calls), Retry(3, 0, 0))) == (0, 1)
    assert tries == [3, 3]


@both_drivers
def test_scopes_are_entered_around_each_call_inside(drive: Any) -> None:
    variable = contextvars.ContextVar("variable", default="outside")

    @contextmanager
    def scope() -> Iterator[None]:
        token = variable.set("inside")
        yield
        variable.reset(token)

    assert drive(scoped(together(call(variable.get), together(call(variable.get))), scope)) == ("inside", ("inside",))
    assert variable.get() == "outside"


@both_drivers
def test_context_variables_of_the_caller_are_seen_inside(drive: Any) -> None:
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("set by the caller")
    assert drive(together(call(variable.get), call(variable.get, timeout=LONG))) == ("set by the caller",) * 2


def test_interpose_performs_the_steps_inside_and_not_the_together() -> None:
    seen: list[Any] = []

    def perform(step: Any) -> Flow[Any]:
        seen.append(step)
        return (yield step)

    assert run(interpose(together(call(lambda: 1), together(call(lambda: 2))), perform)) == (1, (2,))
    assert [type(step) for step in seen] == [Call, Call]


def test_the_plain_driver_works_inside_a_running_loop() -> None:
    async def main() -> Any:
        return run(together(call(lambda: 1), call(lambda: 2)))

    assert asyncio.run(main()) == (1, 2)


# Who gives up.


def test_a_cancellation_of_the_caller_cancels_every_one() -> None:
    cancelled: list[int] = []

    async def main() -> None:
        begun = asyncio.Semaphore(0)

        async def hang(place: int) -> None:
            begun.release()
            try:
                await asyncio.sleep(60)
            finally:
                cancelled.append(place)

        def acall(place: int) -> Flow[None]:
            yield Call(Callee(None, hang, "hang"), (place,))

        task = asyncio.create_task(arun(together(*map(acall, range(3)))))
        for _ in range(3):
            await begun.acquire()
        task.cancel("by the caller")
        with pytest.raises(asyncio.CancelledError) as raised:
            await task
        assert raised.value.args == ("by the caller",)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert sorted(cancelled) == [0, 1, 2]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_reaches_the_caller_at_once_and_stops_the_rest() -> None:
    log: list[str] = []
    with stuck() as event:

        def interrupt() -> None:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            event.wait(LONG)

        flows = two_steps(interrupt, lambda: log.append("second step")), call(lambda: log.append("never begun"))
        with pytest.raises(KeyboardInterrupt):
            run(together(*flows, limit=1))
        assert running_calls()
    wait_until(lambda: not running_calls())
    assert log == []


@both_drivers
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_inside_comes_out_as_it_is(drive: Any, kind: type[BaseException]) -> None:
    error = kind("own")
    with pytest.raises(kind) as raised:
        drive(together(call(lambda: 1), raising(error)))
    assert raised.value is error
