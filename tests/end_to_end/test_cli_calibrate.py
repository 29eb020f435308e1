"""`groundguard calibrate`: a file of labels, and how far a judge can be trusted."""

import json

import pytest

from end_to_end.chat_server import chat_server
from end_to_end.command import invoke
from groundguard.evaluation.calibration.kept import calibration_of
from groundguard.judges import Lexical
from support.labels import LINE, write

GOOD = [{**LINE, "id": f"g{at}", "question": f"How bright is lamp {at}?"} for at in range(6)]
BAD = [
    {**LINE, "id": f"b{at}", "question": f"What of lamp {at}?", "answer": "It has 900 lumens.", "label": "ungrounded"}
    for at in range(5)
]
MISSED = {**LINE, "id": "sly", "question": "How bright is it not?", "label": "ungrounded"}


@pytest.fixture
def labels(tmp_path):
    return write(tmp_path / "labels.jsonl", *GOOD, *BAD, MISSED)


@pytest.fixture
def calibrated(labels, tmp_path):
    """The command, with a folder of the test's own."""
    return lambda *args, **more: invoke("calibrate", labels, "--store", tmp_path / "kept", *args, **more)


def test_what_a_person_reads(calibrated):
    result = calibrated()
    assert result.exit_code == 0
    told = result.stdout
    assert told.startswith("12 labels, 12 by people; judged by lexical")
    assert "note: 12 labels are few: below 50" in told
    assert "grounded                   6        0        0" in told
    assert "ungrounded                 1        5        0" in told
    assert "balanced accuracy   0.92 (" in told
    assert "false-pass rate     0.17 (" in told
    assert "agreement           0.92 (always saying the same: 0.50)" in told
    assert "no number of labels will show a false-pass rate below 0.10" in told
    assert "false passes, to be read: 1\n  line 12 (sly): It has 300 lumens." in told
    assert "other thresholds on the score" in told


def test_it_is_kept_for_eval_to_find(calibrated, tmp_path):
    result = calibrated()
    assert "kept in" in result.stderr
    found = calibration_of(Lexical(), tmp_path / "kept")
    assert (found.n, found.false_passes[0].id) == (12, "sly")
    assert found.made is not None
    assert "lumens" not in next((tmp_path / "kept").iterdir()).read_text()


def test_or_not_kept(calibrated, tmp_path):
    assert calibrated("--no-keep").exit_code == 0
    assert not (tmp_path / "kept").exists()


def test_the_false_passes_may_be_left_out(calibrated):
    assert "and 1 more; --show 1 prints them all" in calibrated("--show", 0).stdout


def test_the_corrected_rate(calibrated):
    told = calibrated("--observed", "90/100").stdout
    assert "90 of 100 passed (0.90); truly grounded: 0.88 (" in told
    clipped = calibrated("--observed", "0/100").stdout
    assert "truly grounded: 0.00" in clipped
    assert "unlike the labelled ones" in clipped


@pytest.mark.parametrize("text", ["90", "3/2", "0/0", "a/b", "-1/5"])
def test_a_rate_that_is_none(calibrated, text):
    result = calibrated(f"--observed={text}")
    assert result.exit_code == 2
    assert "183/200" in result.stderr


def test_what_is_needed_can_be_said(calibrated):
    assert calibrated("--need-labels", 12, "--need-kappa", 0.8).exit_code == 0
    result = calibrated("--need-labels", 50, "--need-kappa", 0.9)
    assert result.exit_code == 1
    assert "not enough: 12 labels by people, of 50" in result.stderr
    assert "not enough: a kappa of 0.83, below 0.90" in result.stderr


@pytest.mark.parametrize("kappa", ["nan", "inf", "1.01", "-2"])
def test_a_kappa_that_no_judge_can_miss_or_reach_is_refused(calibrated, kappa):
    result = calibrated(f"--need-kappa={kappa}")
    assert result.exit_code == 2
    assert "--need-kappa is a number from -1 to 1, such as 0.6" in result.stderr


def test_json_is_one_strict_document(calibrated):
    data = json.loads(calibrated("--json", "--observed", "90/100").stdout, parse_constant=pytest.fail)
    assert data["kappa"]["value"] == pytest.approx(5 / 6)
    assert data["false_passes"] == [{"line": 12, "id": "sly"}]
    assert data["corrected"]["clipped"] is False
    assert data["file"].endswith(".json")
    bare = json.loads(calibrated("--json", "--no-keep").stdout)
    assert bare["corrected"] is bare["file"] is None


def test_labels_of_others_can_be_left_out(tmp_path, labels):
    mixed = write(tmp_path / "mixed.jsonl", *GOOD, *[{**bad, "labeller_kind": "model"} for bad in BAD])
    told = invoke("calibrate", mixed, "--no-keep")
    assert "note: 5 of the 11 labels were made by a model" in told.stdout
    only = invoke("calibrate", mixed, "--no-keep", "--human-only", "--observed", "1/2")
    assert "5 labels left out" in only.stderr
    assert only.stdout.startswith("6 labels, 6 by people")
    assert "balanced accuracy   can't be told" in only.stdout
    assert "AUROC of its score  no scores of both kinds" in only.stdout
    assert "of how many are truly grounded, this judge says nothing" in only.stdout
    assert "left out" not in invoke("calibrate", labels, "--no-keep", "--human-only").stderr


def test_no_label_of_a_person(tmp_path):
    file = write(tmp_path / "labels.jsonl", {**LINE, "labeller_kind": "model"})
    result = invoke("calibrate", file, "--human-only")
    assert result.exit_code == 2
    assert "no label that a person made" in result.stderr


def test_a_line_that_is_wrong_is_named(tmp_path):
    result = invoke("calibrate", write(tmp_path / "labels.jsonl", LINE, {**LINE, "label": "perhaps"}))
    assert result.exit_code == 2
    assert "labels.jsonl, line 2: " in result.stderr


def test_enough_labels_are_said_to_be(tmp_path):
    many = [
        {**line, "id": f"{line['id']}-{at}", "question": f"{line['question']} {at}"} for at in range(6) for line in BAD
    ]
    told = invoke("calibrate", write(tmp_path / "labels.jsonl", *GOOD, *many), "--no-keep").stdout
    assert "29 ungrounded ones, to show a false-pass rate below 0.10; you have them" in told
    few = invoke("calibrate", write(tmp_path / "few.jsonl", *GOOD, *BAD), "--no-keep").stdout
    assert "29 ungrounded ones, to show a false-pass rate below 0.10; you have 5" in few


def test_a_judge_that_fails_is_unhealthy_and_nothing_is_kept(calibrated, tmp_path):
    with chat_server(lambda request: "perhaps") as server:
        result = calibrated("--judge", "openai:muse-9", env=server.environment)
    assert result.exit_code == 3
    assert "the judge fact_check:muse-9 replied, but not with a verdict" in result.stderr
    assert "could not judge 12 of 12 answers" in result.stderr
    assert "grounded                   0        0        6" in result.stdout
    assert not (tmp_path / "kept").exists()


def test_a_judge_of_ones_own_is_calibrated_as_eval_names_it(calibrated, tmp_path, monkeypatch):
    (tmp_path / "own_judge.py").write_text("from groundguard.judges import Lexical\n\njudge = Lexical()\nnone = 7\n")
    monkeypatch.chdir(tmp_path)
    assert calibrated("--judge", "own_judge:judge").exit_code == 0
    assert calibration_of(Lexical(), tmp_path / "kept").n == 12


@pytest.mark.parametrize(
    ("args", "what"),
    [
        (("own_judge_2:none",), "judge"),
        (("own_judge_2:nothing",), "nothing"),
        (("no_such_module:judge",), "no_such_module"),
        (("own_judge_2:judge", "--constrained"), "--constrained is for a judge by name"),
        (("gpt",), "--judge is 'lexical'"),
    ],
)
def test_what_is_no_judge_is_refused(calibrated, tmp_path, monkeypatch, args, what):
    (tmp_path / "own_judge_2.py").write_text("from groundguard.judges import Lexical\n\njudge = Lexical()\nnone = 7\n")
    monkeypatch.chdir(tmp_path)
    result = calibrated("--judge", *args)
    assert result.exit_code == 2
    assert what in result.stderr


def test_help_teaches_by_example():
    assert (
        "groundguard calibrate labels.jsonl --judge openai:NAME --observed 183/200"
        in invoke("calibrate", "--help").stdout
    )
