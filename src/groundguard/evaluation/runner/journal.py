"""The calls of one result, written down as their replies arrive, and taken from there when the result is made again.

A result is made by a flow, which asks for the same calls whenever it gets the same replies. So an interrupted result is
simply begun anew: calls whose replies are known receive them at once, and cost nothing. Replies belong to one item and
one repeat: another repeat asks for itself.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from groundguard.capture import current_recorder
from groundguard.evaluation.runner import codec
from groundguard.evaluation.runner.control import Control, Halt
from groundguard.evaluation.runner.store import Key, Store
from groundguard.flow.steps import Call, Callee, Flow, Sleep, Step, interpose
from groundguard.records import Chunk

T = TypeVar("T")

PAUSE = 0.01
"""Seconds between two looks at whether the calls beside this one have ended."""


class Journal:
    """What one result has asked for.

    Args:
        key: Which result.
        store: Where replies are written down.
        control: Says whether one more call may be made.
        pipeline: The calls of the pipeline under test; all others that are counted are a judge's.

    Attributes:
        seen: How many calls of judges there were, known replies included.
        known: How many of these had their reply already.
    """

    def __init__(self, key: Key, store: Store, control: Control, pipeline: tuple[Callee, ...]) -> None:
        self._key, self._store, self._control, self._pipeline = key, store, control, pipeline
        self._known: defaultdict[str, deque[str]] = defaultdict(deque)
        self._under_way: list[None] = []
        self._counted: list[bool] = []
        with control.guarded(store):
            for digest, reply in store.replies(key):
                self._known[digest].append(reply)

    @property
    def seen(self) -> int:
        """How many calls of judges there were, known replies included."""
        return len(self._counted)

    @property
    def known(self) -> int:
        """How many of these had their reply already."""
        return sum(self._counted)

    def around(self, flow: Flow[T]) -> Flow[T]:
        """`flow`, with its calls written down."""
        return interpose(flow, self._perform)

    def _perform(self, step: Step) -> Flow[Any]:
        if isinstance(step, Call) and any(step.callee is each for each in self._pipeline):
            return (yield from self._pipeline_call(step))
        if isinstance(step, Call) and step.retry != "never":
            return (yield from self._judge_call(step))
        return (yield step)

    def _judge_call(self, call: Call) -> Flow[Any]:
        digest = codec.digest(call)
        known = self._take(digest)
        self._counted.append(known is not None)
        if known is not None:
            return codec.read(known)
        yield from self._admitted(paid=True)
        with self._going_on():
            reply = yield call
            self._keep(digest, reply)
        return reply

    def _pipeline_call(self, call: Call) -> Flow[Any]:
        """The call of a pipeline, and what it reports of its chunks on the side."""
        digest = codec.digest(call)
        known = self._take(digest)
        if known is not None:
            output, recorded, events = codec.read(known)
            return (yield replace(call, callee=_again(call.callee.name, output, recorded, events)))
        yield from self._admitted(paid=False)
        with self._going_on():
            return (yield replace(call, callee=_observed(call.callee, partial(self._keep, digest))))

    def _take(self, digest: str | None) -> str | None:
        with suppress(IndexError):
            return None if digest is None else self._known[digest].popleft()
        return None

    def _keep(self, digest: str | None, reply: object) -> None:
        with suppress(codec.UnwritableError):
            if digest is not None:
                text = codec.written(reply)
                with self._control.guarded(self._store):
                    self._store.keep_reply(self._key, digest, text)

    def _admitted(self, *, paid: bool) -> Flow[None]:
        """Go on, or end here: but not before the calls beside this one have ended, which are paid for already."""
        if self._control.admits_call(paid=paid):
            return
        while self._under_way:
            yield Sleep(PAUSE)
        raise Halt

    @contextmanager
    def _going_on(self) -> Generator[None]:
        self._under_way.append(None)
        try:
            yield
        finally:
            self._under_way.pop()


def _observed(callee: Callee, keep: Callable[[object], None]) -> Callee:
    """`callee`, whose output is kept together with the chunks that were reported while it ran."""

    def kept(output: Any) -> Any:
        recorder = current_recorder()
        recorded = [] if recorder is None else [list(chunks) for chunks in recorder.recorded]
        events = {} if recorder is None else {str(at): list(chunks) for at, chunks in recorder.events.items()}
        keep((output, recorded, events))
        return output

    def plain(*args: Any, **kwargs: Any) -> Any:
        assert callee.plain is not None  # noqa: S101  # only called where there is one
        return kept(callee.plain(*args, **kwargs))

    async def coroutine(*args: Any, **kwargs: Any) -> Any:
        assert callee.coroutine is not None  # noqa: S101  # only called where there is one
        return kept(await callee.coroutine(*args, **kwargs))

    return Callee(plain if callee.plain else None, coroutine if callee.coroutine else None, callee.name)


def _again(name: str, output: object, recorded: list[list[Chunk]], events: dict[str, list[Chunk]]) -> Callee:
    """What says and reports once more what was said and reported before."""

    def plain(*_: Any, **__: Any) -> Any:
        recorder = current_recorder()
        if recorder is not None:
            recorder.recorded.extend(map(tuple, recorded))
            recorder.events.update({int(at): tuple(chunks) for at, chunks in events.items()})
        return output

    async def coroutine(*_: Any, **__: Any) -> Any:
        return plain()

    return Callee(plain, coroutine, name)
