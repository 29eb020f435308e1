"""Many flows, of which some run at once and all come out in order, under either driver."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import itertools
import random
import signal
import sys
import threading
import time
import tracemalloc
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from contextlib import aclosing, closing
from typing import Any

import pytest

from groundguard.flow.drive import MOST_AHEAD, NOT_YET, amany, many
from groundguard.flow.steps import Call, Callee, Flow
from support.exchange import running_calls, stuck, wait_until

LONG = 10.0
"""Seconds after which a test that waits in vain fails."""

Consume = Callable[[Iterable[Flow[Any]], int, Callable[[Any], Any]], None]


def plain(flows: Iterable[Flow[Any]], limit: int, each: Callable[[Any], Any]) -> None:
    """Hand every result to `each`, which may stop with True."""
    with closing(many(generated(flows), limit)) as results:
        for result in results:
            if each(result):
                break


def by_loop(flows: Iterable[Flow[Any]], limit: int, each: Callable[[Any], Any]) -> None:
    """The same by the async driver."""

    async def main() -> None:
        async with aclosing(amany(agenerated(flows), limit)) as results:
            async for result in results:
                if each(result):
                    break
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


both = pytest.mark.parametrize("consume", [plain, by_loop], ids=["many", "amany"])


def generated(flows: Iterable[Flow[Any]]) -> Generator[Flow[Any], None, None]:
    yield from flows


async def agenerated(flows: Iterable[Flow[Any]]) -> AsyncGenerator[Flow[Any], None]:
    for flow in flows:
        yield flow


def call(fn: Callable[..., Any], *args: Any) -> Flow[Any]:
    return (yield Call(Callee(fn, None, "the fake fn"), args))


def returning(value: Any) -> Flow[Any]:
    return value
    yield


def raising(error: BaseException) -> Flow[Any]:
    def fail() -> None:
        raise error

    yield from call(fail)


def everything(consume: Consume, flows: Iterable[Flow[Any]], limit: int) -> list[Any]:
    results: list[Any] = []
    consume(flows, limit, results.append)
    return results


@both
def test_nothing_comes_to_nothing(consume: Consume) -> None:
    assert everything(consume, [], 3) == []


@both
@pytest.mark.parametrize("limit", [1, 2, 7, 1000])
def test_results_come_in_order(consume: Consume, limit: int) -> None:
    randomly = random.Random(7)

    def work(number: int, seconds: float) -> int:
        time.sleep(seconds)
        return number

    flows = (call(work, number, randomly.choice([0, 0, 0, 0.002])) for number in range(200))
    assert everything(consume, flows, limit) == list(range(200))


@both
def test_results_come_in_order_when_they_end_the_other_way_round(consume: Consume) -> None:
    ended = [threading.Event() for _ in range(16)]

    def work(number: int) -> int:
        if number % 4 < 3:
            assert ended[number + 1].wait(LONG)
        ended[number].set()
        return number

    assert everything(consume, (call(work, number) for number in range(16)), 4) == list(range(16))


@both
def test_so_many_run_at_once_and_no_more(consume: Consume) -> None:
    lock, barrier = threading.Lock(), threading.Barrier(3)
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        barrier.wait(LONG)  # passes only when three are inside
        with lock:
            inside -= 1

    assert everything(consume, (call(work) for _ in range(12)), 3) == [None] * 12
    assert most == 3


@both
def test_a_slow_head_lets_the_others_run_so_far_ahead_and_no_farther(consume: Consume) -> None:
    limit, taken, delivered, ended = 4, 0, 0, 0
    far, lock = threading.Event(), threading.Lock()
    most = MOST_AHEAD * limit

    def head() -> None:
        assert far.wait(LONG)
        time.sleep(0.05)  # time enough to go too far

    def work() -> None:
        nonlocal ended
        with lock:
            ended += 1
            if ended == most - 1:
                far.set()

    def source() -> Iterator[Flow[Any]]:
        nonlocal taken
        for number in range(500):
            taken += 1
            assert taken - delivered <= most
            yield call(work if number else head)

    def count(_: Any) -> None:
        nonlocal delivered
        delivered += 1

    consume(source(), limit, count)
    assert delivered == 500


@both
def test_an_endless_source_is_taken_as_far_as_needed(consume: Consume) -> None:
    taken: list[int] = []
    results: list[int] = []

    def source() -> Iterator[Flow[Any]]:
        for number in itertools.count():
            taken.append(number)
            yield call(lambda number=number: number)

    def ten(result: int) -> bool:
        results.append(result)
        return len(results) == 10

    consume(source(), 4, ten)
    assert results == list(range(10))
    assert len(taken) <= 10 + 4 * MOST_AHEAD
    wait_until(lambda: not running_calls())


@both
def test_memory_stays_flat(consume: Consume) -> None:
    def peak(count: int) -> int:
        gc.collect()
        tracemalloc.start()
        consume((returning(bytes(2000)) for _ in range(count)), 8, lambda _: None)
        try:
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)
    assert peak(6000) < 2 * peak(600) + 200_000  # all of them are 12 MB


def test_the_source_is_closed_with_it() -> None:
    flows, aflows = generated(map(returning, range(99))), agenerated(map(returning, range(99)))

    async def main() -> None:
        async with aclosing(amany(aflows, 2)) as results:
            await anext(results)
        assert aflows.ag_frame is None

    with closing(many(flows, 2)) as results:
        next(results)
    assert flows.gi_frame is None
    asyncio.run(main())


# Failures come in their place.


class OwnError(Exception):
    pass


@both
def test_a_failing_source_is_told_after_what_came_before(consume: Consume) -> None:
    error, results = OwnError("source"), []

    def source() -> Iterator[Flow[Any]]:
        for number in range(5):
            yield call(lambda number=number: time.sleep(0.001) or number)
        raise error

    with pytest.raises(OwnError) as raised:
        consume(source(), 3, results.append)
    assert raised.value is error
    assert results == [0, 1, 2, 3, 4]


@both
def test_a_failing_flow_is_told_in_its_place_and_is_the_end(consume: Consume) -> None:
    error, results = OwnError("flow"), []
    with pytest.raises(OwnError) as raised:
        consume(
            itertools.chain(map(returning, range(5)), [raising(error)], map(returning, range(99))), 3, results.append
        )
    assert raised.value is error
    assert results == [0, 1, 2, 3, 4]


@both
def test_failures_that_are_never_told_are_dropped_in_silence(
    consume: Consume, caplog: pytest.LogCaptureFixture
) -> None:
    others = threading.Semaphore(0)

    def head() -> None:
        for _ in range(3):
            assert others.acquire(timeout=LONG)
        time.sleep(0.02)  # time enough for the failures to be noticed
        raise OwnError("head")

    def fail() -> None:
        others.release()
        raise OwnError("other")

    with pytest.raises(OwnError, match="head"):
        consume([call(head), *(call(fail) for _ in range(9))], 4, lambda _: None)
    gc.collect()
    assert caplog.records == []


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
@both
def test_an_interrupt_inside_does_not_wait_for_its_place(consume: Consume, kind: type[BaseException]) -> None:
    error = kind("own")
    with stuck() as event, pytest.raises(kind) as raised:
        consume([call(event.wait), raising(error)], 2, lambda _: None)
    assert raised.value is error


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_reaches_the_consumer_at_once_and_starts_nothing_more() -> None:
    log: list[str] = []
    with stuck() as event:

        def interrupt() -> None:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            event.wait(LONG)

        def first() -> Flow[None]:
            yield from call(interrupt)
            yield from call(lambda: log.append("second step"))

        with pytest.raises(KeyboardInterrupt):
            next(many(generated([first(), call(lambda: log.append("second flow"))]), 1))
        assert running_calls()
    wait_until(lambda: not running_calls())
    assert log == []


# Closing early.


@both
def test_closing_early_starts_nothing_more_and_closes_what_runs(consume: Consume) -> None:
    log: list[Any] = []
    begun = threading.Event()

    with stuck() as event:

        def hang() -> None:
            begun.set()
            event.wait(LONG)

        def running() -> Flow[None]:
            try:
                yield from call(hang)
                log.append("second step")
                yield from call(print)
            except BaseException as end:
                log.append(type(end))
                raise

        def first() -> bool:
            return begun.wait(LONG)

        consume([call(first), running(), *(call(log.append, "started") for _ in range(50))], 2, bool)
        started = log.count("started")
        assert started < 50
    wait_until(lambda: not running_calls())
    assert log.count("started") <= started + 1
    assert [entry for entry in log if entry != "started"] in (
        [GeneratorExit],
        ["second step", GeneratorExit],
        [asyncio.CancelledError],
    )


def test_closing_or_dropping_before_the_first_result_asks_the_source_for_nothing() -> None:
    def source() -> Iterator[Flow[Any]]:
        raise AssertionError("asked")
        yield

    async def main() -> None:
        await amany(agenerated(source()), 2).aclose()
        amany(agenerated(source()), 2)
        gc.collect()

    many(generated(source()), 2).close()
    many(generated(source()), 2)
    asyncio.run(main())


def test_dropping_it_ends_its_threads_and_tasks() -> None:
    next(many(generated(call(lambda: 1) for _ in range(99)), 4))
    gc.collect()
    wait_until(lambda: not running_calls())

    async def main() -> None:
        await anext(amany(agenerated(call(lambda: 1) for _ in range(99)), 4))
        gc.collect()
        while len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0.001)

    asyncio.run(main())
    wait_until(lambda: not running_calls())


def test_a_loop_that_ends_ends_them_too() -> None:
    kept = []

    async def main() -> None:
        kept.append(amany(agenerated(call(lambda: 1) for _ in range(99)), 4))
        await anext(kept[0])

    asyncio.run(main())
    wait_until(lambda: not running_calls())


def test_a_source_that_goes_on_elsewhere_is_not_closed() -> None:
    mine = (number for number in itertools.count())

    def source() -> Iterator[Flow[Any]]:
        for number in mine:
            yield returning(number)

    plain(source(), 2, lambda _: True)
    by_loop(source(), 2, lambda _: True)
    assert next(mine) > 0


# The context.


def test_each_flow_sees_the_context_of_its_start() -> None:
    variable = contextvars.ContextVar("variable", default=0)

    def flows() -> Iterator[Flow[Any]]:
        return (call(variable.get) for _ in range(MOST_AHEAD * 3))

    plain_seen, async_seen = [], []
    for seen in many(generated(flows()), 1):
        plain_seen.append(seen)
        variable.set(len(plain_seen))

    async def main() -> None:
        variable.set(0)
        async for seen in amany(agenerated(flows()), 1):
            async_seen.append(seen)
            variable.set(len(async_seen))

    asyncio.run(main())
    for seen in (plain_seen, async_seen):
        assert seen == sorted(seen)
        assert seen[0] == 0
        assert seen[-1] >= len(seen) - 1 - MOST_AHEAD


def test_what_one_sets_no_other_sees() -> None:
    variable = contextvars.ContextVar("variable", default=0)

    async def change() -> int:
        before = variable.get()
        variable.set(before + 1)
        return before

    def acall() -> Flow[int]:
        return (yield Call(Callee(None, change, "change")))

    seen: list[int] = []
    plain((call(lambda: (variable.get(), variable.set(1))[0]) for _ in range(9)), 2, seen.append)
    by_loop((acall() for _ in range(9)), 2, seen.append)
    assert seen == [0] * 18


# Slow sources.


def test_a_source_may_say_that_there_is_nothing_yet() -> None:
    asked, delivered = 0, 0

    def source() -> Generator[Flow[Any], None, None]:
        nonlocal asked
        for number in range(5):
            while delivered < number:
                asked += 1
                yield NOT_YET
            yield call(lambda number=number: number)

    for result in many(source(), 3):
        assert result == delivered
        delivered += 1
    assert delivered == 5
    assert asked


def test_a_slow_async_source_holds_up_no_result() -> None:
    async def main() -> list[int]:
        asked = asyncio.Queue[int]()

        async def source() -> AsyncGenerator[Flow[Any], None]:
            for _ in range(5):
                yield returning(await asked.get())

        results = []
        asked.put_nowait(0)
        async for result in amany(source(), 8):
            results.append(result)
            asked.put_nowait(result + 1)
        return results

    assert asyncio.run(main()) == [0, 1, 2, 3, 4]


def test_an_async_source_is_driven_by_one_task() -> None:
    tasks = set()

    async def source() -> AsyncGenerator[Flow[Any], None]:
        for number in range(9):
            tasks.add(asyncio.current_task())
            await asyncio.sleep(0)
            yield returning(number)

    async def main() -> list[int]:
        return [result async for result in amany(source(), 2)]

    assert asyncio.run(main()) == list(range(9))
    assert len(tasks) == 1


# The caller is cancelled.


@pytest.mark.parametrize("waits_for", ["a result", "the source"])
def test_a_cancellation_of_the_consumer_cancels_everything(waits_for: str) -> None:
    log: list[str] = []

    async def main() -> None:
        begun = asyncio.Event()

        async def hang(what: str) -> None:
            begun.set()
            try:
                await asyncio.sleep(60)
            finally:
                log.append(what)

        def acall() -> Flow[None]:
            yield Call(Callee(None, hang, "hang"), ("a result",))

        async def source() -> AsyncGenerator[Flow[Any], None]:
            if waits_for == "the source":
                await hang("the source")
            for _ in range(99):
                yield acall()

        async def consume() -> None:
            async for _ in amany(source(), 3):
                raise AssertionError("a result")

        task = asyncio.create_task(consume())
        await begun.wait()
        task.cancel("by the caller")
        with pytest.raises(asyncio.CancelledError) as raised:
            await task
        assert raised.value.args == ("by the caller",)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert set(log) == {waits_for}
    assert len(log) <= 3


def test_the_plain_driver_works_inside_a_running_loop() -> None:
    async def main() -> list[int]:
        return list(many(generated(call(lambda n=n: n) for n in range(9)), 3))

    assert asyncio.run(main()) == list(range(9))


def test_few_threads_do_the_work_of_many_flows() -> None:
    threads: set[threading.Thread] = set()
    plain((call(lambda: threads.add(threading.current_thread())) for _ in range(200)), 3, lambda _: None)
    assert len(threads) <= 3
