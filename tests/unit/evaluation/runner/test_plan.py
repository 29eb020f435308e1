"""What there is to do, and in which order."""

from __future__ import annotations

import pytest

from groundguard import Guard
from groundguard.errors import InputError, UsageError
from groundguard.evaluation import GoldenItem, GoldenSet
from groundguard.evaluation.panel import Faithfulness, Panel
from groundguard.evaluation.runner.pins import library
from groundguard.evaluation.runner.plan import Plan
from groundguard.evaluation.runner.target import as_target
from groundguard.testing import ScriptedJudge

GOLDEN = GoldenSet("d", "1", tuple(GoldenItem(f"i{n}", "q") for n in range(20)))
JUDGE = ScriptedJudge(True)


def plan(**options) -> Plan:
    target = as_target(lambda question: (question, ["c"]), Guard(JUDGE), name="app:chain")
    return Plan(options.pop("golden", GOLDEN), target, Panel([Faithfulness(JUDGE)]), **options)


def test_every_item_in_every_repeat_one_repeat_after_the_other():
    tasks = list(plan(repeats=3).tasks())
    assert [task.repeat for task in tasks] == [0] * 20 + [1] * 20 + [2] * 20
    for repeat in range(3):
        assert sorted(task.place for task in tasks if task.repeat == repeat) == list(range(20))
    assert all(GOLDEN.items[task.place] is task.item for task in tasks)
    assert len({task.key for task in tasks}) == plan(repeats=3).expected == 60


def test_the_order_is_that_of_the_seed():
    places = [[task.place for task in plan(seed=seed).tasks()] for seed in (0, 0, 1)]
    assert places[0] == places[1] != places[2]
    assert places[0] != sorted(places[0])


@pytest.mark.parametrize("options", [{"repeats": 0}, {"repeats": True}, {"seed": -1}, {"seed": "x"}])
def test_numbers_have_their_range(options):
    with pytest.raises(UsageError, match="is a whole number from"):
        plan(**options)


def test_an_empty_set_is_no_good_news():
    with pytest.raises(InputError, match="d has no items to run: nothing would be measured"):
        plan(golden=GoldenSet("d", "1", ()))


def test_the_pins_tell_what_it_is_made_with():
    pins = plan(pipeline="7", model="m", seed=2, repeats=3).pins
    assert (pins.dataset, pins.version, pins.content_hash) == ("d", "1", GOLDEN.content_hash)
    assert (pins.pipeline, pins.model, pins.seed, pins.repeats, pins.library) == ("7", "m", 2, 3, library())
    assert pins.judges == {"faithfulness": "scripted"}


def test_a_store_is_kept_for_the_pins_and_the_target():
    identity = plan().identity
    assert identity["target"] == "app:chain (scripted)"
    assert "judge_models" not in identity
    assert plan(seed=1).identity != identity
