"""A run that is killed, and goes on: the same bytes come out, and no call is paid for twice."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

import groundguard
from end_to_end.command import environment
from groundguard.evaluation.runner.budget import Budget
from support.evaluated import KINDS, golden, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

ITEMS = 2000
CONCURRENCY = 8


class Runs:
    """One run, in as many processes as it takes."""

    def __init__(self, folder: Path, items: int, **options: float) -> None:
        self.log, self.store, self.output = (folder / name for name in ("calls.log", "run.store", "run.json"))
        self.items = items
        self.options = [f"{key}={value}" for key, value in {"concurrency": CONCURRENCY, **options}.items()]

    def start(self) -> subprocess.Popen[bytes]:
        """One process of it."""
        tests = Path(__file__).parents[1]
        return subprocess.Popen(
            [sys.executable, "-m", "support.evaluated", *map(str, (self.log, self.store, self.output, self.items)),
             *self.options],
            env=environment(PYTHONPATH=os.pathsep.join((str(tests), str(Path(groundguard.__file__).parents[1])))),
            cwd=tests,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip

    def lines(self) -> list[str]:
        """The log."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def finish(self) -> bytes:
        """Let it come to its end; the canonical bytes."""
        with self.start() as child:
            _, errors = child.communicate(timeout=300)
        assert child.returncode == 0, errors.decode()
        return Path(f"{self.output}.canonical").read_bytes()

    def stop(self, after: int, number: signal.Signals) -> int:
        """Send a signal once the log has so many more lines; the exit code."""
        begun = len(self.lines())
        with self.start() as child:
            while child.poll() is None and len(self.lines()) < begun + after:
                time.sleep(0.002)
            child.send_signal(number)
            _, errors = child.communicate(timeout=60)
        assert b"Traceback" not in errors
        return child.returncode

    def kept(self) -> tuple[int, int]:
        """How many results and single replies are written down."""
        with closing(sqlite3.connect(self.store)) as database:
            count = "SELECT (SELECT count(*) FROM results), (SELECT count(*) FROM replies)"
            return database.execute(count).fetchone()


def begun(lines: list[str]) -> Counter[str]:
    """How often each call began."""
    return Counter(line.removeprefix("begin ") for line in lines if line.startswith("begin "))


def expected_calls(items: int) -> dict[str, int]:
    """Every call of a run, once; a pipeline that fails asks no judge."""
    return {
        f"{kind} {number}": 1 for number in range(items) for kind in KINDS if kind == "pipeline" or number % 11
    }  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    """The bytes of the run that nobody interrupts."""
    runs = Runs(tmp_path_factory.mktemp("whole"), ITEMS)
    found = runs.finish()
    assert begun(runs.lines()) == expected_calls(ITEMS)
    return found


def test_a_run_killed_five_times_ends_like_one_that_was_not(tmp_path, whole):
    runs = Runs(tmp_path, ITEMS)
    chance = random.Random(20)
    lives: list[list[str]] = []
    for _ in range(5):
        before = len(runs.lines())
        assert runs.stop(chance.randrange(200, 1800), signal.SIGKILL) == -signal.SIGKILL
        lives.append(runs.lines()[before:])
    before = len(runs.lines())
    assert runs.finish() == whole
    lives.append(runs.lines()[before:])

    ended = [{line.removeprefix("end ") for line in life if line.startswith("end ")} for life in lives]
    under_way = [set(begun(life)) - done for life, done in zip(lives, ended, strict=True)]
    twice = {call for call, count in begun(runs.lines()).items() if count > 1}
    in_the_air = set().union(*under_way)
    # A call can be made twice only if the kill came before its reply was written down: it was under way, or had come
    # back within the last moment.
    assert len(twice) <= 5 * CONCURRENCY * 2
    assert len(twice - in_the_air) <= 5 * CONCURRENCY
    assert set(begun(runs.lines())) == set(expected_calls(ITEMS))


def test_what_was_written_down_before_a_kill_is_not_asked_for_again(tmp_path):
    items = 300
    runs = Runs(tmp_path, items, seconds=0.005)
    assert runs.stop(400, signal.SIGKILL) == -signal.SIGKILL
    results, replies = runs.kept()
    assert results > 20
    with closing(sqlite3.connect(runs.store)) as database:
        finished = [row[0] for row in database.execute("SELECT result FROM results WHERE final")]
    before = len(runs.lines())
    runs.finish()
    again = begun(runs.lines()[before:])
    numbers = {number for number in range(items) if any(f'"item {number}"' in result for result in finished)}
    assert numbers
    assert not {call for call in again if int(call.split()[1]) in numbers}
    calls = sum(1 if number % 11 == 0 else len(KINDS) for number in numbers)
    assert sum(again.values()) <= sum(expected_calls(items).values()) - calls - replies


def test_a_run_terminated_five_times_ends_like_one_that_was_not_and_makes_no_call_twice(tmp_path, whole):
    runs = Runs(tmp_path, ITEMS)
    chance = random.Random(21)
    for _ in range(5):
        assert runs.stop(chance.randrange(200, 1800), signal.SIGTERM) == 0
        assert len(begun(runs.lines())) < len(expected_calls(ITEMS))
    assert runs.finish() == whole
    assert begun(runs.lines()) == expected_calls(ITEMS)


def test_ctrl_c_lets_the_calls_under_way_end_and_makes_none_twice(tmp_path):
    items = 200
    runs = Runs(tmp_path, items, seconds=0.005)
    for _ in range(3):
        assert runs.stop(120, signal.SIGINT) == 0
        lines = runs.lines()
        assert len(begun(lines)) < len(expected_calls(items))
        assert len([line for line in lines if line.startswith("end ")]) == len(begun(lines).keys())
    runs.finish()
    assert begun(runs.lines()) == expected_calls(items)


@pytest.mark.filterwarnings("ignore:the judge .* replied:groundguard.errors.GroundguardWarning")
def test_a_budget_stops_it_and_a_larger_one_goes_on_where_it_was(tmp_path):
    log, store = str(tmp_path / "calls.log"), str(tmp_path / "run.store")
    part = run(log, store, 60, budget=Budget(calls=37))
    assert (part.stopped, part.calls <= 37) == ("budget", True)
    counts = begun(Path(log).read_text().splitlines())
    assert sum(count for call, count in counts.items() if not call.startswith("pipeline")) == 37
    whole = run(log, store, 60)
    assert whole.is_complete
    assert begun(Path(log).read_text().splitlines()) == expected_calls(60)
    assert whole.canonical() == run(str(tmp_path / "other.log"), None, 60).canonical()
    assert len(golden(60).items) == len(whole.results)
