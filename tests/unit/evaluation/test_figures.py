"""From results to figures: n, unscored items apart, intervals, noise."""

import pytest

from groundguard.evaluation.figures import figures, figures_of
from groundguard.evaluation.golden.items import Want
from groundguard.evaluation.results import Pins
from groundguard.evaluation.statistics import intervals
from groundguard.records import Decision, Verdict
from support.measured import PINS, row, run_of, run_with, score


def one(*values, **more):
    """The only figure of a run."""
    (figure,) = figures(run_with(values, **more))
    return figure


def test_a_figure_has_its_mean_its_n_and_wilsons_interval():
    figure = one(1, 1, 1, 0)
    assert (figure.value, figure.n, figure.unscored) == (0.75, 4, 0)
    assert figure.interval == intervals.wilson(3, 4)
    assert figure.spread is figure.flip_rate is None


def test_what_could_not_be_scored_stands_apart_with_its_reasons():
    figure = one(1, 0, "judge_timeout", "judge_timeout", "no reference")
    assert (figure.value, figure.n, figure.unscored) == (0.5, 2, 3)
    assert figure.reasons == {"judge_timeout": 2, "no reference": 1}


def test_nothing_scored_has_no_value():
    figure = one("judge_error", "judge_error")
    assert figure.value is figure.interval is None
    assert (figure.n, figure.unscored) == (0, 2)


def test_what_does_not_apply_is_left_out():
    figure = one(1, None, 0)
    assert (figure.n, figure.unscored) == (2, 0)


def test_a_metric_that_applies_to_nothing_has_no_figure():
    assert figures(run_with([None, None])) == ()


def test_an_item_whose_pipeline_failed_is_unscored_under_every_metric():
    results = (
        row("a", 1.0),
        row("a2", 1.0, metric="context_recall"),
        row("b", ValueError()),
    )
    by_name = {figure.metric: figure for figure in figures_of(results)}
    assert list(by_name) == ["faithfulness", "context_recall"]
    assert by_name["faithfulness"].reasons == {"not scored": 1, "pipeline failed": 1}
    assert by_name["context_recall"].reasons == {"not scored": 1, "pipeline failed": 1}


@pytest.mark.parametrize(
    ("metric", "unscored"),
    [
        ("faithfulness", 2),
        ("refusal", 2),
        ("my_own", 2),
        ("answer_relevancy", 1),
        ("context_precision", 1),
        ("context_recall", 1),
    ],
)
def test_a_refusal_whose_pipeline_failed_is_left_out_where_the_metric_says_nothing_about_refusals(metric, unscored):
    results = (
        row("a", 1.0, metric=metric),
        row("b", ValueError()),
        row("c", ValueError(), want=Want.REFUSAL),
    )
    (figure,) = figures_of(results)
    assert (figure.n, figure.unscored) == (1, unscored)


def test_no_results_have_no_figures():
    assert figures(run_of()) == ()


def test_with_repeats_an_item_counts_once_by_its_mean():
    figure = one([1, 0, 1], [1, 1, 1])
    assert (figure.value, figure.n) == (pytest.approx(5 / 6), 2)
    assert figure.flip_rate == 0.5
    assert figure.spread == pytest.approx(0.288675, abs=1e-6)


def test_half_a_measurement_is_none():
    figure = one([1, "judge_error"], [1, 0])
    assert (figure.value, figure.n, figure.unscored) == (0.5, 1, 1)
    assert figure.flip_rate == 1
    assert figure.spread == pytest.approx(0.5**0.5)


def test_repeats_are_compared_over_the_items_that_all_of_them_scored():
    figure = one([1, 1], [0, None])
    assert figure.spread == 0
    assert figure.flip_rate == 0


def test_the_label_of_a_judge_is_its_decision():
    rows = [
        row("a", 0.8, repeat=0),
        row("a", 0.9, repeat=1),
    ]
    assert figures_of(rows)[0].flip_rate == 1
    said = [Verdict(Decision.SUPPORTED)] * 2
    judged = [score(value, verdict=verdict) for value, verdict in zip((0.8, 0.9), said, strict=True)]
    from dataclasses import replace

    rows = [replace(each, scores=(scored,)) for each, scored in zip(rows, judged, strict=True)]
    assert figures_of(rows)[0].flip_rate == 0


def test_the_seed_of_the_run_makes_the_interval():
    values = [0.1, 0.4, 0.5, 0.9, 1.0] * 4
    assert one(*values).interval == one(*values).interval
    assert one(*values).interval != one(*values, pins=Pins("lamps", "1", "aa", seed=3)).interval
    assert PINS.seed == 0
