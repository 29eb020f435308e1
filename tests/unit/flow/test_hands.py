"""How many threads flows that run together may have, and what happens when the system has no more."""

from __future__ import annotations

import asyncio
import threading

import pytest

from groundguard import Chunk, Exchange, Guard
from groundguard.flow import drive
from groundguard.flow.drive import MOST_AT_WORK, arun, run
from groundguard.flow.steps import Call, Callee, Flow, Together

WIDTH = 40
EXCHANGES = [Exchange("q", (Chunk("a"),), "a")] * 20


def leaf(seen: set[int]) -> Flow[int]:
    return (yield Call(Callee(lambda: seen.add(threading.active_count()) or 1, None, "leaf")))


def tree(depth: int, seen: set[int]) -> Flow[int]:
    """The number of its leaves: `WIDTH` subtrees side by side, and below them three at a time."""
    if depth == 0:
        return (yield from leaf(seen))
    width = WIDTH if depth == 4 else 3
    return sum((yield Together(tuple(tree(depth - 1, seen) for _ in range(width)), limit=width)))


def test_nested_flows_have_a_bounded_number_of_threads_and_all_are_run() -> None:
    seen: set[int] = set()
    before = threading.active_count()
    assert run(tree(4, seen)) == WIDTH * 27
    assert max(seen) <= before + MOST_AT_WORK + 1
    assert drive._at_work == 0


@pytest.mark.parametrize("available", [0, 2])
def test_a_run_goes_on_with_the_threads_that_the_system_gives(available: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[threading.Thread] = []

    class Scarce(threading.Thread):
        def start(self) -> None:
            if len(given) >= available:
                raise RuntimeError("can't start new thread")
            given.append(self)
            super().start()

    monkeypatch.setattr(threading, "Thread", Scarce)
    responses = Guard(lambda exchange: True, timeout=None).check_many(EXCHANGES, concurrency=8)
    if available:
        assert len(list(responses)) == len(EXCHANGES)
        assert len(given) == available
    else:
        with pytest.raises(RuntimeError, match="can't start new thread"):
            list(responses)


def test_a_flow_that_cancels_its_own_task_has_failed_and_nobody_else_is_cancelled() -> None:
    async def cancels() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    def flow() -> Flow[None]:
        yield Call(Callee(None, cancels, "cancels"))

    def both() -> Flow[None]:
        yield Together((flow(), leaf(set())))

    with pytest.raises(RuntimeError, match="cancelled from inside"):
        asyncio.run(arun(both()))
