"""Calibrations are kept with their judge's fingerprint, and go stale with it."""

from dataclasses import replace

import pytest

from groundguard.errors import InputError
from groundguard.evaluation.calibration.calibrate import assess
from groundguard.evaluation.calibration.kept import Stale, calibration_of, load, save
from groundguard.judges import FactCheck, Lexical
from groundguard.testing import ScriptedModel
from support.labels import NO, YES, labelled, said

JUDGE = Lexical()


def made(judge=JUDGE, when="2026-01-01", kinds=(True, False), model=None):
    """A calibration of a judge."""
    return assess(labelled(*kinds), said(*(YES if kind else NO for kind in kinds), model=model), judge, made=when)


def test_what_was_kept_is_found(tmp_path):
    file = save(made(), tmp_path / "new" / "folder")
    assert calibration_of(JUDGE, file.parent) == made()
    assert made().fits(JUDGE)


def test_nothing_kept_is_nothing_found(tmp_path):
    assert calibration_of(JUDGE, tmp_path / "nowhere") is None
    save(made(), tmp_path)
    assert calibration_of(FactCheck(ScriptedModel("yes")), tmp_path) is None


def test_another_setting_makes_it_stale(tmp_path):
    save(made(), tmp_path)
    judge = Lexical(threshold=0.5)
    found = calibration_of(judge, tmp_path)
    assert isinstance(found, Stale)
    assert found.calibration == made()
    assert not found.calibration.fits(judge)
    assert found.why.startswith("its model or a setting of it changed since")


def test_another_prompt_makes_it_stale_and_is_named(tmp_path):
    model = ScriptedModel("yes")
    judge = FactCheck(model)
    save(replace(made(judge), prompt_hash=judge.prompt_hash), tmp_path)
    found = calibration_of(FactCheck(model, instructions="Be strict."), tmp_path)
    assert found.why.startswith("its prompt changed since")


def test_another_model_behind_the_name_makes_it_stale(tmp_path):
    save(made(model="muse-9-2031-01"), tmp_path)
    assert calibration_of(JUDGE, tmp_path, models=["muse-9-2031-01"]) == made(model="muse-9-2031-01")
    assert calibration_of(JUDGE, tmp_path) == made(model="muse-9-2031-01")
    found = calibration_of(JUDGE, tmp_path, models=["muse-9-2031-03"])
    assert found.why == "the model changed: the server reports muse-9-2031-03, and the calibration is of muse-9-2031-01"


def test_the_newest_that_fits_is_taken(tmp_path):
    for each in (made(when="2026-02-01", kinds=(True, True)), made(when="2026-03-01"), made(when=None, kinds=(False,))):
        save(each, tmp_path)
    save(made(Lexical(threshold=0.5), when="2026-04-01"), tmp_path)
    assert len(load(tmp_path)) == 4
    assert calibration_of(JUDGE, tmp_path).made == "2026-03-01"


def test_the_same_labels_again_take_the_place_of_the_old_and_nothing_else(tmp_path):
    first = save(made(when="2026-01-01"), tmp_path)
    assert save(made(when="2026-02-01"), tmp_path) == first
    assert save(made(model="muse-9"), tmp_path) != first
    assert {each.made for each in load(tmp_path)} == {"2026-02-01", "2026-01-01"}


@pytest.mark.parametrize("text", ["{", "{}", "[" * 100_000, "3"])
def test_a_file_that_is_none_is_named(tmp_path, text):
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(InputError, match=r"odd\.json"):
        calibration_of(JUDGE, tmp_path)


def test_a_folder_that_can_not_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't make the folder"):
        save(made(), tmp_path / "file" / "folder")
