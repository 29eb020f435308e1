import asyncio

import pytest

from groundguard.errors import UsageError
from groundguard.evaluation.panel import Faithfulness, FunctionMetric, Metric, as_metric
from groundguard.evaluation.results import Score
from groundguard.flow.steps import Call, Callee
from groundguard.judges import Lexical
from support.doors import both_doors
from support.panel import item, response


def score(door, metric, golden=None, given=None):
    metric = as_metric(metric)
    return door.call(metric.acall if door.is_async else metric, golden or item(), given or response())


@both_doors
@pytest.mark.parametrize(("said", "value"), [(0.25, 0.25), (1, 1.0), (0, 0.0), (True, 1.0), (False, 0.0)])
def test_a_function_scores_by_a_number_or_a_truth_value(door, said, value):
    metric = FunctionMetric(door.function(lambda item, response: said), "mine")
    assert score(door, metric) == Score("mine", value)


@both_doors
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (None, "it returned a NoneType"),
        (len, "it returned a builtin_function_or_method"),
        ("high", "it returned a str"),
        (1.5, "a number outside of 0 to 1"),
        (float("nan"), "a number outside of 0 to 1"),
        (float("inf"), "a number outside of 0 to 1"),
        (Score("other", 1.0), "a score of another metric"),
    ],
)
def test_anything_else_is_a_metric_error_that_tells_the_type(door, said, kind):
    metric = FunctionMetric(lambda item, response: said, "mine")
    assert score(door, metric) == Score("mine", None, f"metric error: {kind}")


@both_doors
def test_what_a_function_raises_is_a_metric_error_without_its_words(door):
    def mine(item, response):
        raise KeyError("a secret")

    said = score(door, FunctionMetric(door.function(mine), "mine"))
    assert said == Score("mine", None, "metric error: KeyError")


def test_a_function_may_return_a_score_of_its_own():
    said = Score("mine", None, "no headings")
    assert FunctionMetric(lambda item, response: said, "mine")(item(), response()) is said


def test_a_wiring_mistake_is_told():
    async def mine(item, response):
        return 1.0

    with pytest.raises(UsageError, match="async"):
        as_metric(mine)(item(), response())
    with pytest.raises(UsageError, match="2 positional arguments"):
        as_metric(lambda response: 1.0)
    for wrong in (None, 0.5, "faithfulness", Faithfulness):
        with pytest.raises(UsageError, match="a metric is"):
            as_metric(wrong)


def test_interrupts_reach_the_caller():
    def mine(item, response):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        as_metric(mine)(item(), response())


def test_a_metric_of_ones_own_is_held_to_its_type():
    class Odd(Metric):
        name = "odd"
        fingerprint = "odd/1"

        def flow(self, item, response):
            return (yield Call(Callee(lambda: "a score", None, "odd")))

    assert Odd()(item(), response()) == Score("odd", None, "metric error: it returned a str")


def test_names_and_fingerprints_of_functions():
    def mine(item, response):
        return 1.0

    metric = as_metric(mine)
    assert metric.name.endswith("mine")
    assert metric.fingerprint == as_metric(mine).fingerprint
    assert metric.fingerprint != FunctionMetric(mine, "other").fingerprint
    assert as_metric(metric) is metric
    assert as_metric(Faithfulness(Lexical())) == Faithfulness(Lexical())


def test_an_async_function_works_on_the_running_loop():
    async def mine(item, response):
        await asyncio.sleep(0)
        return 0.5

    assert asyncio.run(FunctionMetric(mine, "mine").acall(item(), response())) == Score("mine", 0.5)
