"""A judge held against labels."""

import asyncio
import json
from dataclasses import replace

import pytest

from groundguard.errors import InputError, UsageError
from groundguard.evaluation.calibration.calibrate import acalibrate, assess, calibrate
from groundguard.evaluation.calibration.labels import Label, Labeller
from groundguard.evaluation.calibration.record import Calibration, Case, Row
from groundguard.evaluation.calibration.sweep import MOST, swept
from groundguard.evaluation.statistics.intervals import wilson
from groundguard.judges import FactCheck, Lexical
from groundguard.judges.base import as_judge
from groundguard.records import Chunk, Exchange, Verdict
from groundguard.testing import ScriptedJudge, ScriptedModel
from support.doors import Door, both_doors
from support.labels import NO, UNKNOWN, YES, label, labelled, said

KINDS = (True, True, True, False, False, False)
JUDGE = Lexical()


def held(kinds, decisions, **more):
    """What labels and decisions say."""
    return assess(labelled(*kinds), said(*decisions), JUDGE, **more)


def test_the_confusion_table_has_the_unknown_apart():
    result = held(KINDS, (YES, NO, UNKNOWN, YES, NO, UNKNOWN))
    assert result.grounded == result.ungrounded == Row(1, 1, 1)
    assert result.unknown == 2


def test_a_failing_judge_is_not_a_passing_judge():
    result = held(KINDS, (UNKNOWN,) * 6)
    assert (result.sensitivity.value, result.specificity.value, result.false_pass.value) == (0, 1, 0)
    assert (result.balanced_accuracy.value, result.kappa.value) == (0.5, 0)
    assert "could not judge 6 of 6" in " ".join(result.notes)


def test_the_figures_by_hand():
    """Of 50 grounded 45 passed, of 50 ungrounded 4: agreement 0.91, kappa (0.91 - 0.5) / 0.5."""
    result = held((True,) * 50 + (False,) * 50, (YES,) * 45 + (NO,) * 5 + (YES,) * 4 + (NO,) * 46)
    assert result.agreement == 0.91
    assert result.best_guess == 0.5
    assert result.kappa.value == pytest.approx(0.82)
    assert result.balanced_accuracy.value == pytest.approx(0.91)
    assert (result.sensitivity.value, result.specificity.value) == (0.9, 0.92)
    assert result.false_pass.value == 0.08
    assert result.false_pass.interval == wilson(4, 50)
    assert result.false_pass_upper == pytest.approx(0.1738, abs=1e-4)
    assert result.corrected(70, 100).value == pytest.approx(0.62 / 0.82)
    assert result.labels_needed > 50
    assert result.notes == ()
    assert result.lacks() == ()


def test_how_many_labels_it_takes():
    perfect = held(KINDS, (YES,) * 3 + (NO,) * 3)
    assert (perfect.labels_needed, perfect.target) == (29, 0.1)
    assert held(KINDS, (YES,) * 3 + (NO,) * 3, target=0.05).labels_needed == 59
    assert held(KINDS, (YES,) * 6).labels_needed is None


def test_the_false_passes_are_listed_to_be_read():
    result = held(KINDS, (YES, NO, UNKNOWN, YES, NO, YES))
    assert result.false_passes == (Case(4, "l4"), Case(6, "l6"))
    assert result.false_stops == (Case(2, "l2"), Case(3, "l3"))


def test_labels_of_one_kind_tell_nothing():
    result = held((True,) * 3, (YES,) * 3)
    assert result.kappa.value is result.kappa.interval is result.balanced_accuracy.value is None
    assert result.specificity.value is result.false_pass.value is None
    assert result.false_pass_upper == 1
    assert result.corrected(1, 2) is None
    assert "all of one kind" in " ".join(result.notes)
    assert "no kappa: the labels are all of one kind" in result.lacks()


def test_no_better_than_a_coin_is_said():
    assert "no better than a coin" in " ".join(held(KINDS, (YES,) * 6).notes)


def test_few_labels_are_said_aloud():
    assert "6 labels are few: below 50" in " ".join(held(KINDS, (YES,) * 6).notes)
    assert held(KINDS, (YES,) * 6).lacks() == (
        "6 labels by people, of 50",
        "a kappa of 0.00: no better than chance",
    )


def test_one_answer_labelled_often_is_one_answer():
    labels = [replace(each, exchange=Exchange("Q?", (Chunk("c"),), "A.")) for each in labelled(*KINDS * 10)]
    lacks = assess(labels, said(*(YES,) * 60), JUDGE).lacks()
    assert "1 different answers among its labels, of 50" in lacks


def test_false_passes_that_no_person_labelled_are_said():
    kinds = {True: Labeller.HUMAN, False: Labeller.MODEL}
    labels = [label(at, grounded, kinds[grounded]) for at, grounded in enumerate(KINDS * 20, 1)]
    lacks = assess(labels, said(*(YES,) * 120), JUDGE).lacks()
    assert "no label by a person of an ungrounded answer, so its false passes are a model's word" in lacks


def test_labels_of_a_model_are_said_aloud_and_a_missing_source_is_no_human():
    labels = [label(1, True, Labeller.MODEL), label(2, False, Labeller.UNSAID), label(3, False)]
    result = assess(labels, said(YES, NO, NO), JUDGE)
    assert (result.n, result.human, result.by_model) == (3, 1, 1)
    notes = " ".join(result.notes)
    assert "1 of the 3 labels were made by a model" in notes
    assert "1 of the 3 labels don't say who made them" in notes
    assert result.lacks(least=2) == ("1 labels by people, of 2",)


def test_a_kappa_can_be_needed():
    result = held(KINDS, (YES, YES, NO, YES, NO, NO))
    assert result.lacks(least=6, kappa=0.6) == ("a kappa of 0.33, below 0.60",)
    assert result.lacks(least=6, kappa=0.3) == ()


def test_an_answer_that_stands_twice_is_said():
    labels = [label(1, True), label(1, True), label(2, False)]
    assert "1 labels are of an answer that has one already" in " ".join(assess(labels, said(YES, YES, NO), JUDGE).notes)


def test_a_function_can_not_go_stale_and_that_is_said():
    judge = as_judge(lambda exchange: True)
    assert "can't go stale by itself" in " ".join(assess(labelled(*KINDS), said(*(YES,) * 6), judge).notes)


def test_scores_rank_and_the_unknown_have_none():
    verdicts = [Verdict(YES, score=0.9), Verdict(YES, score=0.7), Verdict(UNKNOWN, score=0.0),
                Verdict(NO, score=0.2), Verdict(YES, score=0.8), Verdict(NO)]  # fmt: skip
    result = assess(labelled(*KINDS), verdicts, JUDGE)
    assert (result.auroc.value, result.auroc.n) == (0.75, 4)
    assert [each.threshold for each in result.sweep] == [0.2, 0.7, 0.8, 0.9]
    at = {each.threshold: each for each in result.sweep}
    assert (at[0.8].sensitivity, at[0.8].false_passes, at[0.8].balanced_accuracy) == (0.5, 0.5, 0.5)
    assert (at[0.9].sensitivity, at[0.9].false_passes, at[0.9].balanced_accuracy) == (0.5, 0, 0.75)


def test_without_scores_there_is_nothing_to_rank():
    result = held(KINDS, (YES,) * 6)
    assert (result.auroc.value, result.auroc.interval, result.auroc.n) == (None, None, 0)
    assert result.sweep == ()


def test_a_sweep_is_never_long():
    scores = [at / 1_000 for at in range(500)]
    rows = swept(scores, scores)
    assert len(rows) == MOST
    assert (rows[0].threshold, rows[-1].threshold) == (0, 0.499)
    assert (rows[0].sensitivity, rows[0].false_passes) == (1, 1)


def test_the_models_that_answered_are_kept_those_of_members_too():
    inner = Verdict(YES, model="muse-9-a")
    verdicts = [Verdict(YES, model="muse-9-b", members=(inner,), prompt_hash="p"), *said(NO, model="muse-9-b")]
    result = assess(labelled(True, False), verdicts, JUDGE)
    assert (result.models, result.prompt_hash) == (("muse-9-a", "muse-9-b"), "p")


@both_doors
def test_the_judge_is_asked_behind_the_very_guard(door: Door):
    counted = []
    judge = FactCheck(ScriptedModel("yes", "no", "yes.", ConnectionError("no"), name="muse-9"))
    call = acalibrate if door.is_async else calibrate
    with pytest.warns(UserWarning, match="not with a verdict"):
        result = door.call(
            call,
            labelled(True, False, False, False),
            judge,
            concurrency=1,
            made="2026-01-01",
            counted=lambda: counted.append(1),
        )
    assert (result.grounded, result.ungrounded) == (Row(1, 0, 0), Row(0, 1, 2))
    assert (result.judge, result.fingerprint) == (judge.name, judge.fingerprint)
    assert (result.models, result.prompt_hash, result.made) == (("muse-9",), judge.prompt_hash, "2026-01-01")
    assert len(counted) == 4


def test_an_answer_that_no_judge_is_asked_about_is_unknown():
    nothing = [Label(Exchange("Q?", (), "A."), grounded) for grounded in (True, False)]
    judge = ScriptedJudge(True)
    assert calibrate(nothing, judge).unknown == 2


@pytest.mark.parametrize(
    ("labels", "options"), [([], {}), (labelled(True), {"target": 0}), (labelled(True), {"target": 1})]
)
def test_arguments_that_are_none(labels, options):
    with pytest.raises(UsageError):
        calibrate(labels, JUDGE, **options)
    with pytest.raises(UsageError):
        asyncio.run(acalibrate(labels, JUDGE, **options))


def test_a_calibration_comes_back_from_json_and_holds_no_text():
    verdicts = [Verdict(YES, score=0.9), Verdict(NO, score=0.1)]
    labels = [
        Label(Exchange("Secret?", (Chunk("Secret."),), f"Secret {at}."), grounded)
        for at, grounded in enumerate((True, False))
    ]
    result = assess(labels, verdicts, JUDGE, made="2026-01-01")
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert Calibration.from_dict(json.loads(text)) == result
    assert "Secret" not in text


@pytest.mark.parametrize(
    "spoil", [{"n": "many"}, {"kappa": {"value": 2}}, {"grounded": None}, {"colour": 1}, {"sweep": 3}]
)
def test_what_is_no_calibration(spoil):
    data = held(KINDS, (YES,) * 6).to_dict()
    with pytest.raises(InputError, match="not a calibration"):
        Calibration.from_dict(data | spoil)
