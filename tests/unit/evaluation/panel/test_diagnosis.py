import pytest

from groundguard.evaluation.golden.items import Want
from groundguard.evaluation.panel import Diagnosis, RunDiagnosis, Stage, diagnose, diagnose_run
from groundguard.evaluation.results import ItemResult, Score
from support.panel import response

GOOD = {
    "faithfulness": 1.0,
    "answer_relevancy": 1.0,
    "context_precision": 1.0,
    "context_recall": 1.0,
    "refusal": 1.0,
}


def scores(**values):
    return [
        Score(name, value) if value is not None else Score(name, None, "judge_error")
        for name, value in {**GOOD, **values}.items()
    ]


@pytest.mark.parametrize(
    ("values", "want", "stages"),
    [
        ({}, Want.ANSWER, []),
        ({"context_recall": 0.5}, Want.ANSWER, [Stage.MISSES_EVIDENCE]),
        ({"context_recall": 0.0, "context_precision": 0.0}, Want.ANSWER, [Stage.MISSES_EVIDENCE]),
        (
            {"context_recall": 0.0, "context_precision": 0.0, "faithfulness": 0.0},
            Want.ANSWER,
            [Stage.MISSES_EVIDENCE, Stage.INVENTS],
        ),
        ({"context_precision": 0.5}, Want.ANSWER, [Stage.LOUD]),
        ({"context_precision": 0.0, "context_recall": None}, Want.ANSWER, [Stage.LOUD]),
        ({"faithfulness": 0.5}, Want.ANSWER, [Stage.INVENTS]),
        ({"answer_relevancy": 0.5}, Want.ANSWER, [Stage.ANOTHER_QUESTION]),
        ({"answer_relevancy": 0.5, "faithfulness": 0.0}, Want.ANSWER, [Stage.INVENTS, Stage.ANOTHER_QUESTION]),
        ({"refusal": 0.0, "answer_relevancy": 0.0}, Want.ANSWER, [Stage.DECLINES_TOO_MUCH]),
        ({"refusal": 0.0, "answer_relevancy": 0.0, "context_recall": 0.0}, Want.ANSWER, [Stage.MISSES_EVIDENCE]),
        ({"refusal": 0.0}, Want.REFUSAL, [Stage.DECLINES_TOO_LITTLE]),
        ({"refusal": 0.0, "faithfulness": 0.0}, Want.REFUSAL, [Stage.DECLINES_TOO_LITTLE, Stage.INVENTS]),
        ({"refusal": None, "faithfulness": 0.0}, Want.REFUSAL, []),
        ({"refusal": None, "faithfulness": 0.0}, Want.ANSWER, [Stage.INVENTS_OR_DECLINES]),
        ({"refusal": None, "faithfulness": 0.5}, Want.ANSWER, [Stage.INVENTS]),
        ({"refusal": 1.0, "faithfulness": 0.0}, Want.ANSWER, [Stage.INVENTS]),
        (
            {"refusal": None, "faithfulness": 0.0, "context_recall": 0.0},
            Want.ANSWER,
            [Stage.MISSES_EVIDENCE, Stage.INVENTS_OR_DECLINES],
        ),
        ({"faithfulness": 0.75, "answer_relevancy": 0.8, "context_precision": 0.7}, Want.ANSWER, []),
        ({"context_recall": 0.8}, Want.ANSWER, []),
    ],
)
def test_the_stage_by_what_the_panel_says(values, want, stages):
    found = diagnose(scores(**values), want)
    assert list(found.stages) == stages
    assert found.stage == (stages[0] if stages else None)


def test_what_is_not_scored_is_left_unknown():
    found = diagnose([Score("faithfulness", 0.0), Score("refusal", None, "needs a model")])
    assert found == Diagnosis(
        (Stage.INVENTS_OR_DECLINES,), ("answer_relevancy", "context_precision", "context_recall", "refusal")
    )
    assert str(found) == (
        "generator invents, or declines; not known: answer_relevancy, context_precision, context_recall, refusal"
    )
    assert diagnose([]).stage is None
    assert str(diagnose([])).startswith("no fault found; not known: faithfulness,")


def test_what_does_not_apply_is_not_unknown():
    left_out = [Score(name, None, applies=False) for name in GOOD if name != "refusal"]
    found = diagnose([*left_out, Score("refusal", 1.0)], Want.REFUSAL)
    assert (found, str(found)) == (Diagnosis(), "no fault found")


def test_other_bars_and_metrics_of_ones_own():
    values = [*scores(faithfulness=0.9), Score("mine", 0.0)]
    assert diagnose(values).stages == ()
    assert diagnose(values, bars={"faithfulness": 0.95}).stages == (Stage.INVENTS,)


def result(at, want=Want.ANSWER, *, fails=False, **values):
    given = None if fails else response()
    error = "TimeoutError" if fails else None
    return ItemResult(str(at), 0, "?", given, error, tuple(scores(**values)) if given else (), want=want)


def test_a_run_counts_first_faults_and_all():
    results = [
        *(result(at, context_recall=0.0, faithfulness=0.0) for at in range(3)),
        *(result(at, faithfulness=0.0) for at in range(3, 5)),
        result(5, answer_relevancy=None),
        result(6),
        result(7, fails=True),
    ]
    found = diagnose_run(iter(results))
    assert (found.answers, found.failed) == (7, 1)
    assert dict(found.first) == {Stage.MISSES_EVIDENCE: 3, Stage.INVENTS: 2}
    assert dict(found.found) == {Stage.MISSES_EVIDENCE: 3, Stage.INVENTS: 5}
    assert dict(found.unknown) == {"answer_relevancy": 1}
    assert found.stage is Stage.MISSES_EVIDENCE
    assert str(found) == (
        "retriever misses evidence in 3 of 7 answers; generator invents in 5 of 7 answers; the pipeline failed in 1"
        " more; not known: answer_relevancy in 1"
    )


def test_of_two_faults_that_come_equally_often_the_earlier_is_named():
    found = diagnose_run([result(0, faithfulness=0.0), result(1, context_precision=0.0)])
    assert found.stage is Stage.LOUD


def test_a_run_without_faults_and_one_without_answers():
    assert str(diagnose_run([result(0)])) == "no fault found in 1 answers"
    assert str(diagnose_run([])) == "no answers to look at"
    assert diagnose_run([]) == RunDiagnosis(0)
    assert diagnose_run([]).stage is None
