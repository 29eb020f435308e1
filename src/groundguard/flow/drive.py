"""The two drivers of a flow. The only file with threads and asyncio.

| what a flow asks for         | plain door                      | async door                           |
|------------------------------|---------------------------------|--------------------------------------|
| a plain function             | the caller's thread             | a daemon thread, context copied      |
| the same, with a timeout     | a daemon thread, context copied | a daemon thread, context copied      |
| a coroutine function         | UsageError                      | the caller's loop                    |
| a plain iterator's next      | the caller's thread             | a daemon thread, context copied once |
| an async iterator's next     | UsageError                      | the caller's loop                    |
| a model call                 | its flow, here and now          | its flow, here and now               |
| flows to run together        | daemon threads                  | tasks of the caller's loop           |
| a flow to start              | a daemon thread, context copied | a task of the caller's loop          |
| many flows, one by one out   | daemon threads                  | tasks of the caller's loop           |

A call that outlasts its timeout is abandoned. Its thread is a daemon, so neither `asyncio.run` nor the end of the
process waits for it.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager, suppress
from contextvars import Context, copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from groundguard.errors import UsageError, told
from groundguard.flow.steps import (
    END,
    PENDING,
    Call,
    Emit,
    Finished,
    Flow,
    ModelCall,
    OutOfTimeError,
    Pull,
    Scope,
    Sleep,
    Start,
    Step,
    Together,
    TooManyAbandonedError,
    interpose,
)

T = TypeVar("T")

MOST_AT_WORK = 256
"""How many threads run flows side by side in this process; beyond it a flow's own thread runs them one by one."""

MOST_ABANDONED = 64
"""How many abandoned calls may hang in this process before no further call with a timeout is started."""

MOST_AHEAD = 4
"""How many flows may be taken and not yet delivered, for each one that may run at once."""

NOT_YET: Any = object()
"""What a source of `many` yields when the next flow would have to be waited for, and some are not delivered yet."""


def run(flow: Flow[T]) -> T:
    """Run `flow` to its result. Needs no event loop, so it works inside a running one."""
    pieces = iterate(flow)
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            value: T = end.value
            return value


def iterate(flow: Flow[T]) -> Generator[Any, None, T]:
    """Run `flow`, yielding what it emits; closing early closes it and every source that it pulled from."""
    resume: Callable[[], Any] = partial(next, flow)
    under_way = _UnderWay()
    try:
        while True:
            try:
                step = resume()
            except StopIteration as end:
                value: T = end.value
                return value
            try:
                result: Any = None
                if isinstance(step, Emit):
                    yield step.piece
                else:
                    result = under_way.perform(step)
            except BaseException as error:  # noqa: BLE001  # whatever it is, the flow decides
                resume = partial(flow.throw, error)
            else:
                resume = partial(flow.send, result)
    finally:
        under_way.end()


async def arun(flow: Flow[T]) -> T:
    """Run `flow` to its result on the running event loop."""
    box: list[T] = []
    async for _ in aiterate(flow, box.append):
        pass
    return box[0]


async def aiterate(flow: Flow[T], done: Callable[[T], object] = lambda _: None) -> AsyncGenerator[Any, None]:
    """Run `flow` on the running event loop, yielding what it emits; `done` receives its result."""
    resume: Callable[[], Any] = partial(next, flow)
    under_way = _AsyncUnderWay()
    try:
        while True:
            try:
                step = resume()
            except StopIteration as end:
                done(end.value)
                return
            try:
                result: Any = None
                if isinstance(step, Emit):
                    yield step.piece
                else:
                    result = await under_way.perform(step)
            except BaseException as error:  # noqa: BLE001  # whatever it is, the flow decides
                resume = partial(flow.throw, error)
            else:
                resume = partial(flow.send, result)
    finally:
        await under_way.end()


class _UnderWay:
    """What one flow has under way outside: the sources that it pulled from, and the flows that it started."""

    def __init__(self) -> None:
        self._sources: list[Any] = []
        self._given_up = threading.Event()

    def perform(self, step: Step) -> Any:
        """Do what the flow asks for."""
        if isinstance(step, Call):
            return _call(step)
        if isinstance(step, Pull):
            return _pull(step, self._sources)
        if isinstance(step, (Together, ModelCall)):
            return _together(step) if isinstance(step, Together) else run(step.flow)
        if isinstance(step, Start):
            return _in_daemon(partial(run, _until(self._given_up, step.flow)))
        if isinstance(step, Finished):
            return step.handle.result() if step.wait or step.handle.done() else PENDING
        assert isinstance(step, Sleep)  # noqa: S101  # nothing else is left
        return time.sleep(step.seconds)

    def end(self) -> None:
        """Close and give up all of it."""
        self._given_up.set()
        for source in self._sources:
            _close(source)


class _AsyncUnderWay:
    """The same on a loop."""

    def __init__(self) -> None:
        self._sources: list[_Source] = []
        self._started: list[asyncio.Task[Any]] = []

    async def perform(self, step: Step) -> Any:
        """Do what the flow asks for."""
        if isinstance(step, Call):
            return await _acall(step)
        if isinstance(step, Pull):
            return await _apull(step, self._sources)
        if isinstance(step, (Together, ModelCall)):
            return await (_atogether(step) if isinstance(step, Together) else arun(step.flow))
        if isinstance(step, Start):
            self._started.append(asyncio.ensure_future(arun(step.flow)))
            return self._started[-1]
        if isinstance(step, Finished):
            return await _finished(step)
        assert isinstance(step, Sleep)  # noqa: S101  # nothing else is left
        return await asyncio.sleep(step.seconds)

    async def end(self) -> None:
        """Close and give up all of it."""
        try:
            for task in self._started:
                task.cancel()
            await asyncio.gather(*self._started, return_exceptions=True)
        finally:
            for source in self._sources:
                await source.aclose()


class PerLoop(Generic[T]):
    """One object for each event loop, for clients whose connections belong to a loop: entered at first use.

    It is exited when the loop shuts down its async generators, as `asyncio.run` does at its end: nothing else tells
    that a loop is about to close.
    """

    def __init__(self, build: Callable[[], AbstractAsyncContextManager[T]]) -> None:
        self._build = build
        self._kept: dict[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[T, None]]] = {}

    async def get(self) -> T:
        """The object of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._kept:
            keeper = self._keep(loop)
            self._kept[loop] = (await anext(keeper), keeper)
        return self._kept[loop][0]

    async def _keep(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[T, None]:
        async with self._build() as built:
            try:
                yield built
            finally:
                self._kept.pop(loop, None)


def _call(call: Call) -> Any:
    plain = call.callee.plain
    if plain is None:
        raise UsageError(_needs_async(call))
    with _entered(call.scopes):
        timeout = call.timeout
        result = _shielded(plain, call) if timeout is None else _wait_for(_start(plain, call), timeout)
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise UsageError(_needs_async(call))
    return result


async def _acall(call: Call) -> Any:
    ends = None if call.timeout is None else time.monotonic() + call.timeout
    with _entered(call.scopes):
        if call.callee.coroutine is not None:
            _check_abandoned(call)
            result = call.callee.coroutine(*call.args, **_keywords(call))
        else:
            result = await _in_thread(call, ends)
        if inspect.isawaitable(result):
            result = await (_await(result, call) if ends is None else _await_for(result, ends))
    return result


def _pull(pull: Pull, sources: list[Any]) -> Any:
    source = pull.source
    if not hasattr(source, "__next__"):
        raise UsageError(
            f"{told(source)} is an async stream: use the async door (astream, aask, or a decorated async generator)"
        )
    if not any(source is known for known in sources):
        sources.append(source)
    with _entered(pull.scopes):
        return next(source, END)


async def _apull(pull: Pull, sources: list[_Source]) -> Any:
    with _entered(pull.scopes):
        known = next((known for known in sources if known.source is pull.source), None)
        if known is None:
            sources.append(known := _Source(pull.source))
        return await known.next()


def _close(source: Any) -> None:
    if hasattr(source, "close"):
        source.close()


class _Source:
    """What pieces are pulled from on a loop. A plain one lives in threads, one pull at a time, in one context."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self._plain = not hasattr(source, "__anext__")
        self._context = copy_context()
        self._work: Future[Any] | None = None

    async def next(self) -> Any:
        """The next piece, or `END`."""
        return await (self._in_thread(partial(next, self.source, END)) if self._plain else anext(self.source, END))

    async def aclose(self) -> None:
        """Close it. A pull that nobody waits for any more comes to its end first, and nobody waits for that either."""
        if not self._plain:
            closed = _closer(self.source)()
            if inspect.isawaitable(closed):
                await closed
        elif self._work is not None and not self._work.done():
            self._work.add_done_callback(lambda _: self._close_late())
        elif hasattr(self.source, "close"):
            await self._in_thread(self.source.close)

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        self._work = future = _in_daemon(work, self._context)
        await _until_done(asyncio.wrap_future(future), None)
        return future.result()

    def _close_late(self) -> None:
        with suppress(Exception):  # nobody is left to be told
            self._context.run(_close, self.source)


def _closer(source: Any) -> Callable[[], Any]:
    nothing: Callable[[], None] = lambda: None  # noqa: E731
    return getattr(source, "aclose", None) or getattr(source, "close", None) or nothing


async def _finished(step: Finished) -> Any:
    if step.wait:
        await asyncio.wait({step.handle})
    return _result(step.handle) if step.handle.done() else PENDING


def _entered(scopes: tuple[Scope, ...]) -> ExitStack:
    stack = ExitStack()
    with stack:
        for scope in scopes:
            stack.enter_context(scope())
        return stack.pop_all()


def _keywords(call: Call) -> dict[str, Any]:
    told = {} if call.timeout_keyword is None else {call.timeout_keyword: call.timeout}
    return {**call.kwargs, **told}


def _shielded(plain: Callable[..., Any], call: Call) -> Any:
    try:
        return plain(*call.args, **_keywords(call))
    except asyncio.CancelledError as error:
        if call.retry == "never":
            raise
        raise RuntimeError(_CANCELLED) from error
    except (StopIteration, StopAsyncIteration) as error:  # no generator, so no flow and no driver, can carry them
        raise RuntimeError(f"{call.callee.name} raised {type(error).__name__}") from error


def _needs_async(call: Call) -> str:
    return f"{call.callee.name} is async: use the async door (aask, acheck, ainvoke, or `async def`)"


# Flows side by side.


def _together(step: Together) -> tuple[Any, ...]:
    """Each in a daemon thread. Whoever is still at work when one fails, or the caller is interrupted, soon ends."""
    waiting: deque[tuple[int, Flow[Any]]] = deque(enumerate(step.flows))
    results: list[Any] = [None] * len(step.flows)
    failures: list[BaseException] = []  # the first in time, not in place
    given_up = threading.Event()

    def work() -> None:
        try:
            for place, flow in _taken(waiting):
                results[place] = run(_until(given_up, flow))
        except BaseException as error:
            failures.append(error)
            raise

    try:
        with _hands(min(step.limit, len(waiting))) as hands:
            wait([_in_daemon(work) for _ in range(hands)], return_when=FIRST_EXCEPTION)
            if not hands:
                work()
    finally:
        given_up.set()
        waiting.clear()
    if failures:
        raise failures[0]
    return tuple(results)


@contextmanager
def _hands(wanted: int) -> Generator[int]:
    """How many threads of their own flows may have: none, if so many are at work that each would wait for more."""
    global _at_work  # noqa: PLW0603  # a count of the whole process, as threads are
    with _counting:
        hands = min(wanted, max(0, MOST_AT_WORK - _at_work))
        _at_work += hands
    try:
        yield hands
    finally:
        with _counting:
            _at_work -= hands


async def _atogether(step: Together) -> tuple[Any, ...]:
    """Each in a task. Those that are still at work when one fails, or the caller is cancelled, are cancelled."""
    waiting: deque[tuple[int, Flow[Any]]] = deque(enumerate(step.flows))
    results: list[Any] = [None] * len(step.flows)

    async def work() -> None:
        for place, flow in _taken(waiting):
            results[place] = await arun(flow)

    workers = [asyncio.ensure_future(work()) for _ in range(min(step.limit, len(waiting)))]
    try:
        await asyncio.gather(*workers)  # raises what is first in time, not in place
    except asyncio.CancelledError as error:
        if _is_cancelled():
            raise
        raise RuntimeError(_CANCELLED) from error
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return tuple(results)


def _taken(waiting: deque[T]) -> Iterator[T]:
    """What is left to do, for several workers that take it from one queue."""
    with suppress(IndexError):
        while True:
            yield waiting.popleft()


def _until(given_up: threading.Event, flow: Flow[T]) -> Flow[T]:
    """`flow`, closed at its next step when nobody waits for it any more."""

    def perform(step: Step) -> Flow[Any]:
        if given_up.is_set():
            raise GeneratorExit
        return (yield step)

    return interpose(flow, perform)


# Many flows, of which some run at once and all come out in order.


def many(flows: Generator[Flow[T], None, None], limit: int) -> Generator[T, None, None]:
    """Run every one of `flows`, at most `limit` at once, and yield their results in order.

    Flows are taken on the consumer's thread, while it waits for a result: at most `MOST_AHEAD * limit` of them are
    taken and not yet delivered. An exception, of a flow or of the source of flows, is raised in its place and is the
    end; one that is no `Exception`, such as `KeyboardInterrupt`, at once. Closing early starts nothing more: flows that
    run are closed at their next step.
    """
    crew = _Crew(limit)
    line: deque[Future[T]] = deque()
    more, failure = True, None
    try:
        while line or more:
            while more and crew.has_room() and len(line) < MOST_AHEAD * limit:
                flow, failure = _next(flows)
                if flow is NOT_YET:
                    break
                more = flow is not END
                if more:
                    line.append(crew.start(flow))
                if line and line[0].done():
                    break
            if line and not line[0].done():
                crew.wait()
            if line and line[0].done():
                yield line.popleft().result()
        if failure is not None:
            raise failure
    finally:
        crew.stop()
        flows.close()


def _next(flows: Iterator[Flow[T]]) -> tuple[Any, Exception | None]:
    try:
        return next(flows, END), None
    except Exception as error:  # noqa: BLE001  # its turn to be raised comes after the results before it
        return END, error


class _Crew:
    """Daemon threads that run one flow after another for one consumer: as many as it needs, at most `size`."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._threads = 0
        self._busy = 0
        self._todo: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._ended: SimpleQueue[Future[Any]] = SimpleQueue()
        self._given_up = threading.Event()

    def start(self, flow: Flow[T]) -> Future[T]:
        """Run `flow` in a copy of the consumer's context."""
        future = _begun()
        work: Callable[[], T] = partial(run, _until(self._given_up, flow))
        self._todo.put((future, partial(copy_context().run, work)))
        self._busy += 1
        if self._busy > self._threads:
            self._hire()
        return future

    def _hire(self) -> None:
        """One more thread; if the system has none left, those that there are go on."""
        self._threads += 1  # first, since an interrupt may come while the thread starts
        try:
            _daemon(self._work)
        except RuntimeError:
            self._threads -= 1
            if not self._threads:
                raise

    def has_room(self) -> bool:
        """Whether one more may run."""
        while not self._ended.empty():
            self.wait()
        return self._busy < self._size

    def wait(self) -> None:
        """Wait until one of them has ended; raises what must reach the consumer at once."""
        error = self._ended.get().exception()
        self._busy -= 1
        if error is not None and not isinstance(error, Exception):
            raise error

    def stop(self) -> None:
        """Start nothing more."""
        self._given_up.set()
        for _ in range(self._threads):
            self._todo.put(None)

    def _work(self) -> None:
        while (job := self._todo.get()) is not None:
            _settle(*job)
            self._ended.put(job[0])


async def amany(flows: AsyncGenerator[Flow[T], None], limit: int) -> AsyncGenerator[T, None]:
    """`many` on the running event loop. One task takes the flows, so that a slow source delays no result."""
    line: asyncio.Queue[Any] = asyncio.Queue()
    running, places = asyncio.Semaphore(limit), asyncio.Semaphore(MOST_AHEAD * limit)
    tasks: set[asyncio.Task[Any]] = set()
    context = copy_context()

    def ended(task: asyncio.Task[Any]) -> None:
        tasks.discard(task)
        running.release()
        _retrieve(task)

    async def feed() -> None:
        try:
            while True:
                await places.acquire()
                await running.acquire()
                flow = await anext(flows, END)
                if flow is END:
                    break
                task = asyncio.create_task(arun(flow), context=context.copy())
                tasks.add(task)
                task.add_done_callback(ended)
                line.put_nowait(task)
        finally:
            line.put_nowait(END)

    feeder = asyncio.create_task(feed())
    try:
        while (task := await line.get()) is not END:
            result = await task
            places.release()
            yield result
            context = copy_context()
        await feeder
    finally:
        for task in (feeder, *tasks):
            task.cancel()
        await asyncio.gather(feeder, *tasks, return_exceptions=True)
        await flows.aclose()


# Calls in threads of their own.

_CANCELLED = "the call was cancelled from inside"
_at_work = 0
_abandoned: WeakSet[Future[Any] | asyncio.Future[Any]] = WeakSet()
_counting = threading.Lock()


def _check_abandoned(call: Call) -> None:
    hanging = 0 if call.timeout is None else _hanging()
    if hanging >= MOST_ABANDONED:
        raise TooManyAbandonedError(f"{hanging} calls that timed out are still hanging; no further one is started")


def _start(plain: Callable[..., Any], call: Call) -> Future[Any]:
    _check_abandoned(call)
    return _in_daemon(partial(_shielded, plain, call))


def _in_daemon(work: Callable[[], Any], context: Context | None = None) -> Future[Any]:
    future = _begun()
    _daemon(partial(_settle, future, partial((context or copy_context()).run, work)))
    return future


def _daemon(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="groundguard-call", daemon=True).start()


def _begun() -> Future[Any]:
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    return future


def _settle(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001  # carried to the thread that waits
        future.set_exception(error)
    else:
        future.set_result(result)


def _wait_for(future: Future[Any], timeout: float) -> Any:
    try:
        wait([future], timeout)
    finally:
        if not future.done():
            _abandon(future)
    if not future.done():
        raise OutOfTimeError(f"no result within {timeout:g} s")
    return _result(future)


async def _in_thread(call: Call, ends: float | None) -> Any:
    assert call.callee.plain is not None  # noqa: S101  # a Callee has one of the two
    future = _start(call.callee.plain, call)
    try:
        await _until_done(asyncio.wrap_future(future), ends)
    finally:
        if ends is not None and not future.done():
            _abandon(future)
    return future.result() if ends is None else _result(future)  # not the wrapper's, which replaces some exceptions


async def _await(result: Awaitable[Any], call: Call) -> Any:
    try:
        return await result
    except asyncio.CancelledError as error:
        if call.retry == "never" or _is_cancelled():
            raise
        raise RuntimeError(_CANCELLED) from error


def _is_cancelled() -> bool:
    """Whether somebody wants the running task to end."""
    task = asyncio.current_task()
    return task is not None and bool(task.cancelling())


async def _await_for(result: Awaitable[Any], ends: float) -> Any:
    task = asyncio.ensure_future(result)
    try:
        await _until_done(task, ends)
    except OutOfTimeError:
        _abandon(task)
        raise
    return _result(task)


async def _until_done(future: asyncio.Future[Any], ends: float | None) -> None:
    timeout = None if ends is None else max(0.0, ends - time.monotonic())
    future.add_done_callback(_retrieve)
    try:
        await asyncio.wait({future}, timeout=timeout)
    finally:
        late = not future.done()
        future.cancel()
    if late:
        raise OutOfTimeError("no result in time")


def _result(future: Future[Any] | asyncio.Future[Any]) -> Any:
    try:
        return future.result()
    except asyncio.CancelledError as error:  # nobody cancelled the caller: the call failed
        raise RuntimeError(_CANCELLED) from error


def _retrieve(future: asyncio.Future[Any]) -> None:
    """Look at the exception of a call that nobody waits for any more, so that asyncio doesn't complain."""
    if not future.cancelled():
        future.exception()


def _abandon(call: Future[Any] | asyncio.Future[Any]) -> None:
    with _counting:
        _abandoned.add(call)


def _hanging() -> int:
    """How many abandoned calls have not come back."""
    with _counting:
        for call in [call for call in _abandoned if call.done()]:
            _abandoned.discard(call)
        return len(_abandoned)
