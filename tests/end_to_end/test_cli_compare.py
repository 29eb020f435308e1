"""`groundguard compare`: two files of runs."""

import json
from dataclasses import replace

import pytest

from end_to_end.command import invoke, process
from groundguard.evaluation.runner.files import write_run
from support.measured import PINS, response, row, run_of, run_with, score

NEW = replace(PINS, pipeline="v2")


@pytest.fixture
def files(tmp_path):
    def write(*runs):
        paths = [tmp_path / f"run{at}.json" for at in range(len(runs))]
        for run, path in zip(runs, paths, strict=True):
            write_run(run, path)
        return paths

    return write


def test_better_in_words(files):
    result = invoke("compare", *files(run_with([0] * 9 + [1] * 11), run_with([1] * 20, pins=NEW)))
    assert result.exit_code == 0
    assert result.stdout.startswith("better\n  pipeline: v1 -> v2\n")
    assert "  faithfulness: better, 0.55 -> 1.00" in result.stdout
    assert "what changed, those that fell most first\n  q0  faithfulness  0.00 -> 1.00\n" in result.stdout


def test_worse_fails_only_where_that_was_asked_for(files):
    paths = files(run_with([1] * 20), run_with([0] * 20, pins=NEW))
    assert invoke("compare", *paths).exit_code == 0
    result = invoke("compare", *paths, "--fail-on-worse", "--changes", 2)
    assert result.exit_code == 1
    assert result.stdout.startswith("worse\n")
    assert "and 18 more; --changes 20 lists them all" in result.stdout
    assert "what changed" not in invoke("compare", *paths, "--changes", 0).stdout


def test_a_margin_must_be_shown(files):
    few, many = files(run_with([1] * 5), run_with([1] * 200))
    result = invoke("compare", few, few, "--margin", 0.05)
    assert result.exit_code == 1
    assert "not shown to be no worse" in result.stdout
    rows = [row(f"q{at}", 1.0, response=response()) for at in range(200)]
    (many,) = files(run_of(*rows))
    result = invoke("compare", many, many, "--margin", 0.05)
    assert result.exit_code == 0
    assert "; no worse than the margin" in result.stdout


@pytest.mark.parametrize("asked", [["--margin", 0.3], ["--fail-on-worse"]], ids=["margin", "worse"])
def test_a_metric_that_the_second_run_lacks_is_not_shown_to_be_no_worse(files, asked):
    rows = [row(f"q{at}", 1.0) for at in range(40)]
    both = [replace(each, scores=(*each.scores, score(1.0, "relevancy"))) for each in rows]
    whole, part = files(run_of(*both), run_of(*rows, pins=NEW))
    result = invoke("compare", whole, part, *asked)
    assert result.exit_code == 1
    assert "relevancy" in result.stdout
    assert invoke("compare", whole, whole, *asked).exit_code == invoke("compare", part, whole, *asked).exit_code == 0


def test_unlike_runs_are_refused_until_told(files):
    paths = files(run_with([1]), run_with([1], pins=replace(PINS, library="0.2.0")))
    result = invoke("compare", *paths)
    assert result.exit_code == 2
    assert "library: 0.1.0 -> 0.2.0" in result.stderr
    assert "--allow library" in result.stderr
    assert invoke("compare", *paths, "--allow", "library").exit_code == 0


def test_nothing_scored_in_common_is_no_result(files):
    result = invoke("compare", *files(run_with(["judge_error"]), run_with([1], pins=NEW)))
    assert result.exit_code == 2
    assert "nothing to compare" in result.stdout


def test_a_file_that_is_no_run(tmp_path):
    file = tmp_path / "odd.json"
    file.write_text("{}")
    result = invoke("compare", file, file)
    assert result.exit_code == 2
    assert "odd.json" in result.stderr


def test_everything_there_is_to_tell(files):
    one = run_of(
        *(row(f"q{at}", 0.0, tags=("pipes",), response=response()) for at in range(20)),
        row("old", 1.0, response=response()),
        row("same", 1.0, reference="x", response=response()),
        row("lost", "no reference", response=response()),
    )
    other = run_of(
        *(row(f"q{at}", 1.0, tags=("pipes",), response=response(chunk="Other.")) for at in range(20)),
        *(row(f"new{at}", 1.0, response=response()) for at in range(25)),
        row("same", 1.0, reference="y", response=response()),
        row("lost", 1.0, response=response()),
        pins=NEW,
        stopped="budget",
    )
    shown = invoke("compare", *files(one, other)).stdout
    assert "note: the second run is not complete" in shown
    assert "slices that differ by more than chance" in shown
    assert "  faithfulness [pipes]: better" in shown
    assert "q0  faithfulness  0.00 -> 1.00  (other chunks)" in shown
    assert "only in the first run (1): old" in shown
    assert "only in the second run (25): new0, " in shown
    assert " and 5 more" in shown
    assert "not the same item in both, so not compared (1): same" in shown
    assert "the generator saw other chunks (20): q0" in shown


def test_json_is_one_strict_document(files):
    hostile = run_of(row("\x1b[31m\u202e", 0.0), row("\ud800", 1.0))
    other = run_of(row("\x1b[31m\u202e", 1.0), row("\ud800", 1.0), pins=NEW)
    paths = files(hostile, other)
    data = json.loads(invoke("compare", *paths, "--json").stdout, parse_constant=pytest.fail)
    assert data["word"] == "can't tell"
    assert data["changes"][0]["id"] == "\x1b[31m\u202e"
    shown = invoke("compare", *paths).stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_as_a_process_with_an_old_code_page(files):
    paths = files(run_of(row("Größe 温度 \U0001f600", 0.0)), run_of(row("Größe 温度 \U0001f600", 1.0), pins=NEW))
    done = process("compare", *paths, PYTHONIOENCODING="cp1252:strict", PYTHONUTF8="0", LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"can't tell")


def test_help_teaches_by_example():
    shown = invoke("compare", "--help").stdout
    assert "groundguard compare main.json branch.json --fail-on-worse" in shown
