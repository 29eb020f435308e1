"""How evaluation scales: memory of a stream of recorded responses, and what a run adds to the pipeline and its judge.

python benchmarks/evaluation.py [RESPONSES] [ITEMS]
"""

from __future__ import annotations

import gc
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from groundguard import Exchange, Guard
from groundguard.chunks import freeze
from groundguard.evaluation import GoldenItem, GoldenSet, evaluate
from groundguard.evaluation.panel import Faithfulness, Panel
from groundguard.evaluation.results import ItemResult
from groundguard.evaluation.runner.budget import Spent
from groundguard.evaluation.runner.store import Key, Row, Store


def yes(_: Exchange) -> bool:
    return True


def resident() -> float:
    """Resident memory now, in MiB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def responses(count: int) -> Iterator[Exchange]:
    """Recorded responses of about 4 kB each, made as they are asked for."""
    for number in range(count):
        chunk = f"Number {number} is red. " + "x" * 4000
        yield Exchange(f"What is {number}?", freeze([chunk]), f"Number {number} is red.")


def stream(count: int) -> None:
    """`check_many`: memory after a warm-up, and at the end."""
    warm, began = 0.0, time.perf_counter()
    for number, _ in enumerate(Guard(yes).check_many(responses(count), concurrency=8), 1):
        if number == count // 10:
            warm = resident()
    seconds = time.perf_counter() - began
    print(f"check_many, {count} responses: {count / seconds:,.0f} a second; {warm:.1f} MiB after a tenth,"
          f" {resident():.1f} MiB at the end")  # fmt: skip


def store(count: int) -> None:
    """The store: rows in and out, one by one."""
    guard = Guard(yes)
    with tempfile.TemporaryDirectory() as folder:
        opened = Store(Path(folder) / "run.store", {}, "now")
        began, warm = time.perf_counter(), 0.0
        for place, exchange in enumerate(responses(count)):
            response = guard.check(exchange.question, answer=exchange.answer, chunks=exchange.chunks)
            row = Row(place, 0, ItemResult(str(place), 0, exchange.question, response), Spent())
            opened.keep(Key(str(place), 0), row, final=True)
            if place == count // 10:
                warm = resident()
        written, began = time.perf_counter() - began, time.perf_counter()
        assert sum(1 for _ in opened.rows()) == count
        print(f"store, {count} results: written in {written:.1f} s, read in {time.perf_counter() - began:.1f} s;"
              f" {warm:.1f} MiB after a tenth, {resident():.1f} MiB at the end")  # fmt: skip
        opened.close()


def run(items: int) -> None:
    """A run whose pipeline and judge take no time: what is left is ours."""
    golden = GoldenSet("d", "1", tuple(GoldenItem(str(n), f"What is {n}?") for n in range(items)))
    panel = Panel([Faithfulness(yes)])
    with tempfile.TemporaryDirectory() as folder:
        for name, where in (("in memory", None), ("on disk", Path(folder) / "run.store")):
            began = time.perf_counter()
            evaluate(golden, lambda question: (question, [question]), judge=yes, panel=panel, store=where)
            each = (time.perf_counter() - began) / items * 1000
            print(f"evaluate, {items} items, store {name}: {each:.2f} ms an item")


if __name__ == "__main__":
    given = [*map(int, sys.argv[1:]), *(100_000, 2_000)[len(sys.argv) - 1 :]]
    stream(given[0])
    store(given[0] // 10)
    run(given[1])
