"""The same evaluation on a local Ray with two workers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ray = pytest.importorskip("ray")

from groundguard.errors import InputError, UsageError
from groundguard.evaluation import Budget, evaluate, spread
from support.spread_app import golden, setup

TESTS = str(Path(__file__).parents[1])

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", autouse=True)
def _cluster():
    os.environ["PYTHONPATH"] = os.pathsep.join((TESTS, os.environ.get("PYTHONPATH", "")))
    ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
    yield
    ray.shutdown()


def test_two_workers_give_what_one_process_gives(tmp_path):
    target, panel = setup()
    local = evaluate(golden(), target, panel=panel, repeats=2)
    there = spread(golden(), "support.spread_app:setup", workers=2, repeats=2, store=tmp_path / "parts")
    assert there.canonical() == local.canonical()
    again = spread(golden(), "support.spread_app:setup", workers=2, repeats=2, store=tmp_path / "parts", resume=True)
    assert again.canonical() == local.canonical()


def test_tokens_and_calls_add_up(tmp_path):
    target, panel = setup("model")
    prices = Budget(price_in=1.0, price_out=2.0)
    local = evaluate(golden(), target, panel=panel, budget=prices)
    there = spread(golden(), "support.spread_app:setup", {"judge": "model"}, workers=2, budget=prices)
    assert there.canonical() == local.canonical()
    assert there.cost is not None
    assert there.calls > 0


def test_what_is_wired_wrong_in_a_worker_is_told_here():
    with pytest.raises(UsageError, match="not a Response"):
        spread(golden(), "support.spread_app:broken", workers=2)
    with pytest.raises(InputError, match="has no 'nothing'"):
        spread(golden(), "support.spread_app:nothing", workers=2)
