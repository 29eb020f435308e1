"""`groundguard ratchet`: whether recent runs bear a higher gate."""

import json
from dataclasses import replace

import pytest

from end_to_end.command import invoke
from groundguard.evaluation.runner.files import write_run
from support.measured import run_with


@pytest.fixture
def runs(tmp_path):
    """Files of four runs, the oldest of them bad."""
    made = [run_with([1] * 60)] * 3 + [run_with([0] * 60)]
    paths = []
    for at, run in enumerate(made):
        path = tmp_path / f"{at}.json"
        write_run(replace(run, started=f"2026-01-0{4 - at}T00:00:00+00:00"), path)
        paths.append(path)
    return paths


def test_a_proposal(runs):
    result = invoke("ratchet", *runs, "--gate", "faithfulness=0.7", "--gate", "refusal=0.5")
    assert result.exit_code == 0
    told = result.stdout.splitlines()
    assert (
        told[0]
        == "faithfulness=0.70: propose faithfulness=0.80. the lower bound of each of the last 3 runs is above 0.80"
    )
    assert told[1] == "refusal=0.50: stays. not every one of the recent runs measured it"


def test_the_gates_of_a_file_as_json(runs, tmp_path):
    file = tmp_path / "pyproject.toml"
    file.write_text("[tool.groundguard.gates]\nfaithfulness = 0.9\n")
    result = invoke("ratchet", *runs, "--gates", file, "--step", 0.03, "--json")
    (proposal,) = json.loads(result.stdout)["proposals"]
    assert proposal["proposed"]["at"] == 0.93
    assert proposal["runs"] == 3
    stays = invoke("ratchet", *runs, "--gates", file, "--recent", 4, "--step", 0.03).stdout
    assert "stays. the lowest lower bound of the last 4 runs is 0.00, not above 0.93" in stays


@pytest.mark.parametrize("args", [(), ("--gate", "faithfulness", "--gates", "x.toml"), ("--gate", "faithfulness=8")])
def test_gates_that_are_none(runs, args):
    assert invoke("ratchet", *runs, *args).exit_code == 2


def test_a_file_without_gates(runs, tmp_path):
    file = tmp_path / "gates.toml"
    file.write_text("[gates]\nfaithfulness = false\n")
    result = invoke("ratchet", *runs, "--gates", file)
    assert result.exit_code == 2
    assert "asks for nothing" in result.stderr


def test_a_run_that_is_not_there(tmp_path):
    assert invoke("ratchet", tmp_path / "nowhere.json", "--gate", "faithfulness").exit_code == 2


def test_one_run_counts_once(runs):
    result = invoke("ratchet", runs[0], runs[0], runs[0], "--gate", "faithfulness=0.7")
    assert (result.exit_code, "more than once" in result.stderr) == (2, True)


def test_a_copy_of_a_run_is_the_same_run(runs, tmp_path):
    data = json.loads(runs[0].read_text())
    copy, indented = tmp_path / "copy.json", tmp_path / "indented.json"
    copy.write_bytes(runs[0].read_bytes())
    indented.write_text(json.dumps(data, indent=2))
    for other in (copy, indented):
        result = invoke("ratchet", runs[0], other, runs[1], "--gate", "faithfulness=0.7")
        assert (result.exit_code, "more than once" in result.stderr) == (2, True)


def test_runs_that_come_out_alike_are_runs_of_their_own(runs):
    assert "propose" in invoke("ratchet", *runs[:3], "--gate", "faithfulness=0.7").stdout
