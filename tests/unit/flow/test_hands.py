"""How many threads flows that run together may have, and what happens when the system has no more."""

from __future__ import annotations

import threading

from groundguard.flow import drive
from groundguard.flow.drive import MOST_AT_WORK, run
from groundguard.flow.steps import Call, Callee, Flow, Together
from support.scripts import run_script

WIDTH = 40


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


def test_a_run_goes_on_with_the_threads_that_the_system_gives() -> None:
    script = """
        import threading
        from groundguard import Exchange, Chunk, Guard

        start, given = threading.Thread.start, []

        class Scarce(threading.Thread):
            def start(self):
                if len(given) >= 2:
                    raise RuntimeError("can't start new thread")
                given.append(self)
                super().start()

        threading.Thread = Scarce
        exchanges = [Exchange("q", (Chunk("a"),), "a")] * 20
        guard = Guard(lambda exchange: True, timeout=None)
        print(len(list(guard.check_many(exchanges, concurrency=8))), len(given))
    """
    assert run_script(script).stdout.split() == ["20", "2"]
