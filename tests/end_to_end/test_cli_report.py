"""`groundguard report`: runs in, a page, XML and Markdown out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from end_to_end.command import invoke, process
from groundguard.evaluation.calibration.kept import FOLDER
from groundguard.evaluation.results import Run
from groundguard.evaluation.runner.files import write_run
from groundguard.records import Reason
from support.runs import PINS, insurer, result, verdict

GOOD = insurer(results=(insurer().results[0],), expected=1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def saved(folder: Path, run: Run = GOOD, name: str = "run.json") -> Path:
    write_run(run, folder / name)
    return folder / name


def test_it_writes_every_form_and_says_the_same_in_the_terminal(folder: Path) -> None:
    run = saved(folder)

    done = invoke(
        "report", run, "--html", "r.html", "--junit", "r.xml", "--markdown", "r.md", "--gate", "faithfulness=0.8"
    )

    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "Passed",
        "The one gate passed.",
        "Complete run: 1 result.",
        "Judge not calibrated. Nobody has held it against human labels: groundguard calibrate does.",
        "Faithfulness 1.000 (0.207 to 1.000, n 1)",
        "Context recall 1.000 (0.207 to 1.000, n 1)",
        "Refusal 1.000 (0.207 to 1.000, n 1)",
        "passed  faithfulness=0.80: faithfulness 1.00 >= 0.80 (n 1)",
        "written: r.html",
        "written: r.xml",
        "written: r.md",
    ]
    assert (folder / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (folder / "r.xml").read_bytes().startswith(b"<?xml")
    assert (folder / "r.md").read_text(encoding="utf-8").startswith("### ✅ Passed")


def test_several_runs_make_a_trend_in_the_order_given(folder: Path) -> None:
    before = saved(folder, replace(GOOD, pins=replace(PINS, pipeline="v6")), "old.json")

    done = invoke("report", before, saved(folder), "--html", "r.html", "--json")

    data = json.loads(done.stdout)
    assert (data["run"]["pins"]["pipeline"], data["past"][0]["run"]["pins"]["pipeline"]) == ("v7", "v6")
    assert "2 runs, oldest first" in (folder / "r.html").read_text(encoding="utf-8")


SILENT = verdict(unknown=Reason.JUDGE_TIMEOUT)


@pytest.mark.parametrize(
    ("run", "options", "code", "title"),
    [
        (GOOD, [], 0, "Measured"),
        (insurer(results=insurer().results[1:2], expected=1), ["--gate", "faithfulness"], 1, "Failed"),
        (replace(GOOD, expected=2), ["--gate", "faithfulness"], 2, "Not complete"),
        (replace(GOOD, expected=2), [], 0, "Not complete"),
        (replace(GOOD, results=()), [], 2, "Nothing was scored"),
        (
            insurer(results=(insurer().results[0], result("x", said=SILENT)), expected=2),
            [],
            3,
            "The judge is unhealthy",
        ),
    ],
)
def test_the_exit_code_says_how_the_run_stands(
    folder: Path, run: Run, options: list[str], code: int, title: str
) -> None:
    done = invoke("report", saved(folder, run), *options)

    assert (done.exit_code, done.stdout.splitlines()[0]) == (code, title)


def test_unscored_items_stand_apart_in_the_terminal(folder: Path) -> None:
    done = invoke("report", saved(folder, insurer()))

    assert "n 5, unscored 2 (judge timeout 1, pipeline failed 1))" in done.stdout


def test_gates_come_from_a_file_too_and_flags_go_before_it(folder: Path) -> None:
    (folder / "gates.toml").write_text("[gates]\nfaithfulness = 0.9\nrefusal = 0.5\n", encoding="utf-8")

    done = invoke("report", saved(folder), "--gates", "gates.toml", "--gate", "faithfulness=0.6", "--json")

    assert [each["gate"]["at"] for each in json.loads(done.stdout)["gates"]] == [0.5, 0.6]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["run.json", "--html", "run.json"], "run.json is one of the runs: write the report to another file"),
        (["run.json", "--html", "r", "--junit", "./r"], "r is named twice"),
        (["nowhere.json"], "can't read nowhere.json"),
        (["bad.json"], "bad.json is no JSON"),
        (["run.json", "--html", "nowhere/r.html"], "can't write nowhere/r.html"),
        (["run.json", "--gate", "faithfulness=2"], "a gate is METRIC=VALUE"),
    ],
)
def test_what_is_wrong_is_one_line(folder: Path, args: list[str], said: str) -> None:
    saved(folder)
    (folder / "bad.json").write_text('{"format": NaN}', encoding="utf-8")

    done = invoke("report", *args)

    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_calibration_in_the_folder_is_looked_at(folder: Path) -> None:
    (folder / FOLDER).mkdir(parents=True)
    (folder / FOLDER / "x.json").write_text("{}", encoding="utf-8")

    done = invoke("report", saved(folder))

    assert (done.exit_code, "x.json" in done.stderr) == (2, True)


@pytest.mark.parametrize(("module", "option"), [("jinja2", "--html"), ("junitparser", "--junit")])
def test_a_missing_extra_is_named(folder: Path, module: str, option: str) -> None:
    run = saved(folder)
    code = f"import sys; sys.modules[{module!r}] = None; sys.argv = ['groundguard', 'report', {str(run)!r}, {option!r}, 'o']"

    done: Any = process(code=code + "; from groundguard.cli import main; main()")

    assert done.returncode == 2
    assert f"needs {module}: pip install 'groundguard-rag[eval]'" in done.stderr.decode()
    assert not (folder / "o").exists()
