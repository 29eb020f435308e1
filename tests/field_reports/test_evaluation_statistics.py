"""Field reports of the area evaluation that are about figures, gates and comparisons."""

import random
from dataclasses import replace

import pytest

from groundguard.errors import UsageError
from groundguard.evaluation.comparison.compare import compare
from groundguard.evaluation.comparison.differing import Word
from groundguard.evaluation.figures import figures, measured
from groundguard.evaluation.gates.gates import Gate, Outcome, exit_code, held
from groundguard.evaluation.noise import flip_rate, flipped
from support.measured import PINS, response, row, run_of, run_with


@pytest.mark.parametrize(
    ("values", "threshold", "passes", "printed"),
    [
        ([1] * 4 + [0], 0.8, True, "0.80 >= 0.80"),
        ([0.8461], 0.85, False, "0.846 < 0.85"),
        ([1] * 7 + [0] * 3, 0.7, True, "0.70 >= 0.70"),
        ([1] * 29 + [0], 0.9667, False, "0.96667 < 0.9667"),
    ],
)
def test_the_threshold_decides_on_what_is_printed(values, threshold, passes, printed):  # eval-threshold-rounding
    (result,) = held([Gate("faithfulness", threshold)], figures(run_with(values)))
    assert (result.outcome is Outcome.PASSED) is passes
    assert result.why == f"faithfulness {printed} (n {len(values)})"


def test_an_outage_of_the_judge_is_not_blamed_on_answers():  # eval-judge-outage-blamed-on-answers
    run = run_with([1, "judge_error"])
    (figure,) = figures(run)
    assert (figure.value, figure.n, figure.unscored, figure.reasons) == (1, 1, 1, {"judge_error": 1})
    (result,) = held([Gate("faithfulness", 0.7)], [figure])
    assert result.outcome is Outcome.FAILED
    assert "1 of 2 could not be scored (1 judge_error), and more than 5% failed" in result.why


def test_a_metric_that_measured_nothing_is_not_green():  # eval-evaluator-error-invisible
    found = figures(run_with(["verdict_malformed"] * 3))
    (result,) = held([Gate("faithfulness", 0.7)], found)
    assert result.outcome is Outcome.FAILED
    assert exit_code(found, [result]) == 3


def test_an_empty_run_is_not_green_and_not_a_missed_threshold():  # eval-empty-set-is-green
    assert exit_code(figures(run_of())) == 2


def flaky(seed):
    """20 rows, each asked five times; the judge says yes with probability 0.9, whatever it said before."""
    drawn = random.Random(seed)
    return run_with([[float(drawn.random() < 0.9) for _ in range(5)] for _ in range(20)], pins=replace(PINS, repeats=5))


def test_a_flaky_judge_has_a_flip_rate_per_row_and_overall():  # eval-flaky-judge
    run = flaky(4)
    (figure,) = figures(run)
    items = {name: item.scores for name, item in measured(run.results)["faithfulness"].items()}
    assert figure.flip_rate == flip_rate(items.values()) == len(flipped(items)) / 20
    assert 0 < figure.flip_rate < 1
    assert figure.spread > 0
    (result,) = held([Gate("faithfulness", round(figure.value, 2))], [figure], repeats=5)
    assert result.outcome is Outcome.REFUSED


def test_noise_of_a_flaky_judge_is_told_from_change():  # eval-flaky-judge
    words = [compare(flaky(seed), flaky(seed + 1)).metrics[1].word for seed in range(0, 40, 2)]
    assert words.count(Word.CANT_TELL) >= 17
    worse = run_with([[0.0] * 5] * 10 + [[1.0] * 5] * 10, pins=replace(PINS, repeats=5))
    assert compare(flaky(4), worse).word is Word.WORSE


def test_a_judge_whose_name_floats_is_refused_and_named():  # eval-floating-judge-model
    runs = [run_with([1], pins=replace(PINS, judge_models=(name,))) for name in ("muse-9-2031-01", "muse-9-2031-03")]
    with pytest.raises(UsageError, match="judge_models: muse-9-2031-01 -> muse-9-2031-03"):
        compare(*runs)


def test_only_rows_that_are_the_same_in_both_are_compared():  # eval-dataset-drift
    one = run_of(*(row(name, 1.0, reference=name) for name in "abc"))
    drifted = replace(PINS, version="2", content_hash="bb")
    other = run_of(*(row(name, 1.0, reference=name.upper() if name == "b" else name) for name in "dcba"), pins=drifted)
    with pytest.raises(UsageError, match=r"version: 1 -> 2; content_hash: aa -> bb"):
        compare(one, other)
    result = compare(one, other, allow=["version", "content_hash"])
    assert (result.only_before, result.only_after, result.edited) == ((), ("d",), ("b",))
    assert next(each for each in result.metrics if each.metric == "faithfulness").n == 2


def test_noise_of_the_retriever_is_told_from_that_of_the_judge():  # eval-retrieval-noise-blamed-on-judge
    one = run_of(row("a", 1.0, response=response(chunk="First.")), row("b", 1.0, response=response()))
    other = run_of(row("a", 0.0, response=response(chunk="Second.")), row("b", 0.0, response=response()))
    result = compare(one, other)
    assert {change.id: change.context_changed for change in result.changes} == {"a": True, "b": False}
