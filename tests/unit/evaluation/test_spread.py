"""An evaluation in several processes equals the one in this process; its parts add up in any order."""

from __future__ import annotations

import json
import os
import sys
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard.errors import InputError, UsageError
from groundguard.evaluation import Budget, ItemResult, Pins, evaluate, spread
from groundguard.evaluation.runner.budget import Spent
from groundguard.evaluation.runner.store import Row
from groundguard.evaluation.spread import Jobs, Part, built, shard_of, work_on
from groundguard.records import Usage
from support.spread_app import golden, setup

SETUP = "support.spread_app:setup"


@pytest.fixture(autouse=True)
def _workers_find_the_tests(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[2]), *sys.path]))


USAGES = st.none() | st.builds(Usage, st.none() | st.integers(0, 9), st.none() | st.integers(0, 9))
ROWS = st.dictionaries(
    st.tuples(st.integers(0, 30), st.integers(0, 2)), st.builds(Spent, st.integers(0, 9), USAGES, st.integers(0, 1)),
    max_size=20,
)  # fmt: skip


@st.composite
def cut(draw) -> list[Part]:
    """The rows of one run, dealt out to parts; some stand in two."""
    spent = draw(ROWS)
    rows = [Row(place, at, ItemResult(f"i{place}", at, "q"), took) for (place, at), took in spent.items()]
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        own = sorted(draw(st.lists(st.sampled_from(rows), unique=True)) if rows else [], key=lambda row: row[:2])
        stopped = draw(st.frozensets(st.sampled_from(["budget", "interrupted"])))
        parts.append(Part(tuple(own), draw(st.sampled_from(["", "2026-01-01", "2026-01-02"])), stopped))
    return parts


@given(cut(), st.randoms(use_true_random=False))
def test_parts_add_up_in_any_order_and_grouping(parts, chance):
    whole = reduce(Part.__add__, parts, Part())
    shuffled = chance.sample(parts, len(parts))
    middle = chance.randint(0, len(parts))
    left, right = (reduce(Part.__add__, side, Part()) for side in (shuffled[:middle], shuffled[middle:]))
    assert left + right == right + left == whole
    assert whole + Part() == Part() + whole == whole + whole == whole
    assert Part.from_json(whole.to_json()) == whole
    pins = Pins("d", "1", "h")
    assert (left + right).run(pins, 93, Budget()).canonical() == whole.run(pins, 93, Budget()).canonical()


def test_parts_that_contradict_each_other_are_refused():
    one, other = (Part((Row(0, 0, ItemResult("i", 0, question), Spent()),)) for question in "ab")
    with pytest.raises(InputError, match="differ in one result, repeat 0 of item i"):
        one + other


def test_an_item_belongs_to_the_same_shard_everywhere():
    shards = [shard_of(item, 4) for item in golden(40).items]
    assert set(shards) == {0, 1, 2, 3}
    assert [shard_of(item, 4) for item in golden(40).items] == shards


def test_two_processes_give_what_one_gives_and_go_on(tmp_path):
    target, panel = setup("model")
    prices = Budget(price_in=1.0, price_out=1.0)
    local = evaluate(golden(12), target, panel=panel, repeats=2, budget=prices)
    options = {"engine": "processes", "workers": 2, "shards": 3, "repeats": 2, "store": tmp_path / "parts"}
    there = spread(golden(12), SETUP, {"judge": "model"}, budget=prices, **options)
    assert there.canonical() == local.canonical()
    assert there.cost is not None
    assert sorted(each.name for each in (tmp_path / "parts").iterdir()) == [
        f"shard-000{n}-of-0003.store" for n in (1, 2, 3)
    ]
    with pytest.raises(InputError, match="is not empty"):
        spread(golden(12), SETUP, {"judge": "model"}, **options)
    again = spread(golden(12), SETUP, {"judge": "model"}, budget=prices, resume=True, **options)
    assert again.canonical() == local.canonical()


def test_the_budget_is_shared_out_and_holds():
    run = spread(golden(12), SETUP, {"judge": "model"}, engine="processes", workers=2, shards=2, budget=Budget(calls=4))
    assert run.calls <= 4
    assert run.stopped == "budget"
    assert not run.is_complete


def test_what_is_wired_wrong_is_told():
    with pytest.raises(UsageError, match="shards is a whole number from 1; got 0"):
        spread(golden(), SETUP, shards=0)
    with pytest.raises(UsageError, match="got a str"):
        spread(golden(), SETUP, shards="4")
    with pytest.raises(UsageError, match="builds a pair"):
        built("support.spread_app:wrong", {})
    with pytest.raises(UsageError, match="not a Response"):
        spread(golden(4), "support.spread_app:broken", engine="processes", workers=1, shards=1)


def test_a_worker_tells_what_is_wrong_with_its_data(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    written = Jobs(golden(2), "support.spread_app:nothing", {}, 1, 1, 0, 1, Budget(), None).written(10)
    jobs = [json.loads(job) | {"folder": str(tmp_path)} for job in written]
    said = json.loads(work_on(json.dumps(jobs[0])))
    assert (said["usage"], "has no 'nothing'" in said["error"]) == (False, True)
    assert str(tmp_path) in sys.path
    parts = json.loads(work_on(json.dumps(jobs[0] | {"factory": SETUP, "store": str(tmp_path / "a" / "b.store")})))
    assert len(Part.from_json(parts["part"]).rows) == 2


def test_ray_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'groundguard-rag\[ray\]'"):
        spread(golden(2), SETUP)


class Local:
    """What `spread` uses of Ray, in this process."""

    def __init__(self, *, begun: bool) -> None:
        self.begun, self.log = begun, []

    def is_initialized(self):
        return self.begun

    def init(self, **options):
        self.log.append("init")

    def shutdown(self):
        self.log.append("shutdown")

    def remote(self, function):
        return type("Task", (), {"remote": staticmethod(function)})

    def wait(self, running):
        return running[:1], running[1:]

    def get(self, done):
        return done


@pytest.mark.parametrize("begun", [True, False])
def test_ray_is_begun_and_ended_only_if_nobody_has(monkeypatch, begun):
    ray = Local(begun=begun)
    monkeypatch.setitem(sys.modules, "ray", ray)
    target, panel = setup("model")
    run = spread(golden(8), SETUP, {"judge": "model"}, workers=2, shards=3)
    assert run.canonical() == evaluate(golden(8), target, panel=panel).canonical()
    assert ray.log == ([] if begun else ["init", "shutdown"])


def test_a_judge_that_is_down_in_one_shard_stops_the_others(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", Local(begun=True))
    run = spread(golden(60), SETUP, {"judge": "down"}, workers=1, shards=4, patience=3, concurrency=1)
    assert run.stopped == "judge unhealthy"
    assert len(run.results) < 10
