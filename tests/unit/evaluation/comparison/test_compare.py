"""Two runs compared: refused, paired, and said in words."""

import json
from dataclasses import replace

import pytest

from groundguard.errors import UsageError
from groundguard.evaluation.comparison.compare import compare
from groundguard.evaluation.comparison.differing import Rule, Word, difference
from groundguard.evaluation.comparison.likeness import pin_differences
from groundguard.evaluation.comparison.pairing import Pair
from groundguard.evaluation.golden.items import Want
from groundguard.evaluation.results import Pins
from groundguard.records import Decision
from support.measured import PINS, response, row, run_of, run_with, score

NEW = replace(PINS, pipeline="v2")


def of(before, after, metric="faithfulness", **options):
    """The difference of one metric."""
    result = compare(run_with(before), run_with(after, pins=NEW), **options)
    return next(each for each in result.metrics if each.metric == metric)


def test_better_by_mcnemar():
    found = of([0] * 9 + [1] * 11, [1] * 20)
    assert found.word is Word.BETTER
    assert (found.gained, found.lost, found.n) == (9, 0, 20)
    assert found.p == pytest.approx(2 / 2**9)
    assert 0 < found.interval.low < found.change == 0.45 < found.interval.high
    assert str(found).startswith("faithfulness: better, 0.55 -> 1.00 (+0.45, 0.95 interval +")


def test_worse_by_mcnemar():
    assert of([1] * 20, [0] * 9 + [1] * 11).word is Word.WORSE


def test_five_of_five_may_be_chance():
    """Exact: 2 / 2**5 is 0.0625."""
    found = of([0] * 5 + [1] * 15, [1] * 20)
    assert found.p == 0.0625
    assert found.word is Word.CANT_TELL


def test_scores_by_the_paired_bootstrap():
    before = [0.5, 0.6, 0.4, 0.7, 0.55] * 6
    after = [value + gain for value, gain in zip(before, [0.1, 0.2, 0.05, 0.15, 0.0] * 6, strict=True)]
    up, down = of(before, after), of(after, before)
    assert (up.word, down.word) == (Word.BETTER, Word.WORSE)
    assert up.p is None
    assert up.interval.method == "bootstrap"
    assert (up.gained, up.lost) == (24, 0)
    assert of(before, before).word is Word.CANT_TELL


def test_of_fewer_than_thirty_scores_student_speaks():
    assert of([0.5, 0.6] * 10, [0.6, 0.8] * 10).interval.method == "student"


def test_where_most_pairs_are_unscored_nobody_can_tell_and_nothing_is_shown():
    pairs = [Pair(str(at), "m", 0.1, 0.9 if at < 13 else None) for at in range(40)]
    found = difference(pairs, Rule(0.95, 0.2, 0), "m")
    assert (found.n, found.unscored, found.word, found.no_worse) == (13, 27, Word.CANT_TELL, False)


def test_below_ten_pairs_of_scores_nobody_can_tell():
    assert of([0.1] * 9, [0.9] * 9).word is Word.CANT_TELL
    assert of([0.1] * 10, [0.9] * 10).word is Word.BETTER


def test_few_changes_among_many_pairs_may_be_chance():
    """The bootstrap alone is sure of four: they are drawn at least once in 98 of 100 samples."""
    still = [0.5] * 50
    assert of(still, [0.9] * 5 + [0.5] * 45).interval.low > 0
    assert of(still, [0.9] * 5 + [0.5] * 45).word is Word.CANT_TELL
    assert of(still, [0.9] * 6 + [0.5] * 44).word is Word.BETTER


def test_repeats_count_by_their_mean():
    pins = replace(PINS, repeats=2)
    result = compare(run_with([[1, 0]] * 12, pins=pins), run_with([[1, 1]] * 12, pins=pins))
    (found,) = [each for each in result.metrics if each.metric == "faithfulness"]
    assert (found.before, found.after, found.n, found.word) == (0.5, 1, 12, Word.BETTER)


def test_what_one_side_could_not_score_is_left_out_and_told():
    found = of([1, 1, "judge_error", None], [1, "no reference", 1, None])
    assert (found.n, found.unscored) == (1, 2)
    assert ", 2 unscored" in str(found)
    nothing = of(["judge_error"], [1], margin=0.1)
    assert str(nothing) == "faithfulness: can't tell, nothing to compare (n 0, 1 unscored)"
    assert nothing.no_worse is False


def test_no_worse_than_a_margin():
    same = [1] * 90 + [0] * 10
    assert of(same, same, margin=0.05).no_worse is True
    assert of(same, same, margin=0.001).no_worse is False
    assert of(same, same).no_worse is None
    few = compare(run_with([1] * 5), run_with([1] * 5), margin=0.05)
    assert few.no_worse is False
    assert compare(run_with(same), run_with(same)).no_worse is None


def test_what_neither_run_measured_says_nothing_about_a_margin():
    rows = [row(f"q{at}", 1.0, response=response()) for at in range(200)]
    both = run_of(*(replace(each, scores=(*each.scores, score("needs a model", "answer_relevancy"))) for each in rows))
    assert compare(both, both, margin=0.05).no_worse is True


@pytest.mark.parametrize("margin", [-0.1, 1])
def test_a_margin_is_small(margin):
    with pytest.raises(UsageError, match="margin"):
        compare(run_with([1]), run_with([1]), margin=margin)


def test_the_word_of_a_comparison_is_its_worst():
    def both(first, second, pins):
        rows = [row(f"q{at}", value) for at, value in enumerate(first)]
        scores = [row(f"q{at}", value, metric="context_recall").scores for at, value in enumerate(second)]
        return run_of(
            *(replace(each, scores=each.scores + more) for each, more in zip(rows, scores, strict=True)), pins=pins
        )

    low, high = [0] * 20, [1] * 20
    assert compare(both(low, high, PINS), both(high, low, NEW)).word is Word.WORSE
    assert compare(both(low, low, PINS), both(high, low, NEW)).word is Word.BETTER
    assert compare(both(low, low, PINS), both(low, low, NEW)).word is Word.CANT_TELL


def test_the_guards_own_label_is_compared_too():
    def run(decisions, pins):
        rows = [
            row(f"q{at}", 1.0, response=response(decision=decision), want=want)
            for at, (decision, want) in enumerate(decisions)
        ]
        return run_of(*rows, pins=pins)

    yes, no, unknown = Decision.SUPPORTED, Decision.UNSUPPORTED, Decision.UNKNOWN
    before = [(no, Want.ANSWER)] * 8 + [(unknown, Want.ANSWER), (yes, Want.REFUSAL)]
    after = [(yes, Want.ANSWER)] * 9 + [(no, Want.REFUSAL)]
    found = compare(run(before, PINS), run(after, NEW)).metrics[0]
    assert (found.metric, found.n, found.unscored, found.word) == ("answered", 8, 1, Word.BETTER)


def test_a_pipeline_that_failed_has_no_label():
    before = run_of(row("a", 1.0, response=response()), row("b", ValueError()))
    found = compare(before, before).metrics[0]
    assert (found.metric, found.n, found.unscored) == ("answered", 1, 1)


def test_runs_that_differ_in_more_are_refused_and_the_pins_are_named():
    other = replace(PINS, judges={"faithfulness": "f2"}, library="0.2.0", pipeline="v2", content_hash="b" * 64)
    with pytest.raises(UsageError) as caught:
        compare(run_with([1]), run_with([1], pins=other))
    told = str(caught.value)
    assert "judges.faithfulness: f1 -> f2" in told
    assert "library: 0.1.0 -> 0.2.0" in told
    assert "content_hash: aa -> bbbbbbbbbbbb..." in told
    assert "--allow content_hash --allow judges --allow library" in told
    assert "pipeline" not in told


def test_what_is_allowed_may_differ_and_stands_in_the_result():
    other = replace(PINS, library="0.2.0", model="muse-9")
    result = compare(run_with([1]), run_with([1], pins=other), allow=["library"])
    assert [str(each) for each in result.differs] == ["model: None -> muse-9", "library: 0.1.0 -> 0.2.0"]


def test_allowing_what_is_no_pin():
    with pytest.raises(UsageError, match="no pin colour; it has dataset, version"):
        compare(run_with([1]), run_with([1]), allow=["colour"])


def test_a_floating_model_is_seen():
    moved = replace(PINS, judge_models=("muse-9-2031-03",))
    with pytest.raises(UsageError, match=r"judge_models: \(none\) -> muse-9-2031-03"):
        compare(run_with([1]), run_with([1], pins=moved))


def test_a_judge_counts_for_a_metric_that_both_measured():
    wider = replace(PINS, judges={"faithfulness": "f1", "context_recall": "r1"})
    assert pin_differences(PINS, wider) == ()
    assert pin_differences(PINS, Pins("lamps", "1", "aa")) == pin_differences(
        PINS, replace(PINS, judges={}, pipeline=None, library="")
    )


def test_items_are_paired_by_id_whatever_their_order_and_what_is_missing_is_named():
    one = run_of(row("a", 0.0), row("b", 1.0), row("gone", 1.0))
    other = run_of(row("new", 1.0), row("b", 1.0), row("a", 1.0), pins=NEW)
    result = compare(one, other)
    assert (result.only_before, result.only_after) == (("gone",), ("new",))
    (change,) = result.changes
    assert change.to_dict() == {
        "id": "a", "metric": "faithfulness", "before": 0.0, "after": 1.0, "tags": [], "context_changed": False,
    }  # fmt: skip


def test_an_edited_item_is_not_compared():
    one = run_of(row("a", 0.0, reference="x"), row("b", 1.0))
    other = run_of(row("a", 1.0, reference="y"), row("b", 1.0))
    result = compare(one, other)
    assert result.edited == ("a",)
    assert result.changes == ()


def test_nothing_in_common_is_nothing_to_compare():
    with pytest.raises(UsageError, match="no item in common"):
        compare(run_of(row("a", 1.0)), run_of(row("b", 1.0)))


def test_other_chunks_are_told():
    one = run_of(row("a", 1.0, response=response()), row("b", 1.0, response=response()))
    other = run_of(row("a", 0.0, response=response(chunk="Other.")), row("b", 1.0, response=response()))
    result = compare(one, other)
    assert result.context_changed == ("a",)
    assert result.changes[0].context_changed


def test_changes_begin_with_what_fell_most():
    result = compare(run_with([1, 1, 0.2, 0.5]), run_with([0.9, 0, 1, 0.5], pins=NEW))
    assert [change.id for change in result.changes] == ["q1", "q0", "q2"]


def test_slices_are_held_to_a_stricter_level():
    def run(values, pins):
        rows = [row(f"{tag}{at}", value, tags=(tag,)) for tag in values for at, value in enumerate(values[tag])]
        return run_of(*rows, pins=pins)

    before = run({"a": [0] * 7, "b": [0.1] * 12, "c": [0.3, 0.4] * 6, "d": [0] * 12}, PINS)
    after = run({"a": [1] * 7, "b": [0.8] * 12, "c": [0.3, 0.4] * 6, "d": [1] * 12}, NEW)
    result = compare(before, after)
    words = {each.tag: each.word for each in result.slices if each.metric == "faithfulness"}
    assert words == {"a": Word.CANT_TELL, "b": Word.BETTER, "c": Word.CANT_TELL, "d": Word.BETTER}
    levels = {each.interval.level for each in result.slices if each.interval is not None}
    assert levels == {1 - (1 - 0.95) / 4}
    assert "4 slices were looked at" in " ".join(result.notes)
    assert str(next(each for each in result.slices if each.tag == "b" and each.n)).startswith(
        "faithfulness [b]: better"
    )


def test_what_a_reader_should_know():
    one = run_of(row("a", 1.0), row("a2", 1.0, metric="context_recall"), expected=3)
    other = run_of(row("a", 1.0), row("a3", 1.0, metric="answer_relevancy"), stopped="budget")
    notes = " | ".join(compare(one, other).notes)
    assert "the first run is not complete: 2 of 3 results" in notes
    assert "the second run is not complete: 2 of 2 results" in notes
    assert "only one of the runs has context_recall, answer_relevancy: not compared" in notes


def test_a_comparison_is_strict_json():
    result = compare(run_with([0] * 20), run_with([1] * 20, pins=NEW), margin=0.1)
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert (data["word"], data["no_worse"], data["differs"][0]["pin"]) == ("better", True, "pipeline")
    assert [each["metric"] for each in data["metrics"]] == ["answered", "faithfulness"]
    assert data["metrics"][1]["told"].startswith("faithfulness: better")
    assert result.differs[0].to_dict() == {"pin": "pipeline", "before": "v1", "after": "v2"}
