"""Field reports of the area calibration."""

import json

import pytest

from end_to_end.command import invoke
from groundguard.evaluation.calibration.calibrate import assess
from groundguard.evaluation.calibration.kept import Stale, calibration_of, save
from groundguard.evaluation.calibration.labels import Labeller
from groundguard.judges import FactCheck, Lexical
from groundguard.testing import ScriptedModel
from support.labels import LINE, NO, YES, label, labelled, said, write


def test_agreement_is_never_shown_alone():  # calib-raw-agreement-misleads
    result = assess(labelled(*[True] * 9, False), said(*[YES] * 10), Lexical())
    assert (result.n, result.agreement, result.best_guess, result.kappa.value) == (10, 0.9, 0.9, 0)
    assert (result.specificity.value, result.specificity.n) == (0, 1)
    assert result.balanced_accuracy.value == 0.5
    assert [case.id for case in result.false_passes] == ["l10"]
    assert "no better than a coin" in " ".join(result.notes)


def test_labels_of_one_class_have_no_kappa_and_no_nan():  # calib-raw-agreement-misleads
    result = assess(labelled(*[True] * 10), said(*[YES] * 10), Lexical())
    assert result.kappa.value is None
    assert "NaN" not in json.dumps(result.to_dict(), allow_nan=False)


def test_no_labels_at_all_are_an_error(tmp_path):  # calib-raw-agreement-misleads
    done = invoke("calibrate", write(tmp_path / "labels.jsonl"))
    assert done.exit_code == 2
    assert "holds no label" in done.stderr


def test_labels_of_a_model_are_counted_and_a_missing_source_is_no_human(tmp_path):  # calib-labels-from-a-model
    kinds = (Labeller.HUMAN, Labeller.MODEL, Labeller.UNSAID)
    result = assess([label(at, True, kind) for at, kind in enumerate(kinds)], said(YES, YES, NO), Lexical())
    assert (result.n, result.human, result.by_model) == (3, 1, 1)
    assert sum("labels" in note and ("made by a model" in note or "don't say" in note) for note in result.notes) == 2
    lines = [LINE, {**LINE, "labeller_kind": "model"}, {key: LINE[key] for key in LINE if key != "labeller_kind"}]
    done = invoke("calibrate", write(tmp_path / "labels.jsonl", *lines), "--human-only", "--no-keep", "--json")
    assert json.loads(done.stdout)["n"] == 1
    assert "2 labels left out" in done.stderr


def test_a_calibration_goes_stale_with_the_prompt(tmp_path):  # calib-stale
    model = ScriptedModel("yes", name="muse-9")
    judge = FactCheck(model)
    verdicts = said(*[YES] * 60, prompt_hash=judge.prompt_hash)
    save(assess(labelled(*[True] * 40, *[False] * 20), verdicts, judge), tmp_path)
    found = calibration_of(FactCheck(model, instructions="Be strict."), tmp_path)
    assert isinstance(found, Stale)
    assert found.why.startswith("its prompt changed since")


@pytest.mark.parametrize(("needed", "code"), [((1, 0.1), 0), ((50, 0.1), 1), ((1, 1.0), 1)])
def test_a_bad_calibration_opens_no_gate(tmp_path, needed, code):  # calib-stale
    lines = [
        LINE,
        {**LINE, "question": "And how dim?", "label": "ungrounded"},
        {**LINE, "answer": "9 lumens.", "label": "ungrounded"},
    ]
    labels = write(tmp_path / "labels.jsonl", *lines)
    before = labels.read_bytes()
    done = invoke("calibrate", labels, "--store", tmp_path, "--need-labels", needed[0], "--need-kappa", needed[1])
    assert done.exit_code == code
    assert labels.read_bytes() == before
