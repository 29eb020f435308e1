"""`groundguard eval`: a golden set through a pipeline, from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from end_to_end.command import COMMAND, environment, invoke, process
from groundguard import Chunk, Decision, Exchange, Verdict
from groundguard.cli import evaluate as evaluate_command
from groundguard.cli.eval_summary import Summary, calibration_line, show_summary
from groundguard.evaluation import Pins, Run, calibrate, load, read_run
from groundguard.evaluation.calibration.kept import save
from groundguard.evaluation.calibration.labels import Label, Labeller
from groundguard.evaluation.gates.gates import Gate
from groundguard.evaluation.golden import lock
from groundguard.evaluation.results import ItemResult, Score
from groundguard.evaluation.runner.store import Store
from groundguard.judges import FunctionJudge

APP = """
import os, time
from collections import Counter
from random import Random
from groundguard import Guard, Verdict, Decision
from groundguard.judges import Lexical
from groundguard.models import Reply
from groundguard.evaluation.panel import Faithfulness, Panel

def number(question):
    return int(question.split()[1].rstrip("?"))

def rag(question):
    time.sleep(float(os.environ.get("SLOW", "0")))
    return f"Number {number(question)} is red.", [f"Number {number(question)} is red."]

def wrong(question):
    return f"Number {number(question)} is red.", ["Nothing of the kind."]

def odd(question):
    if number(question) % 5 == 0:
        raise LookupError("a secret")
    return rag(question)

async def arag(question):
    return rag(question)

chain = Guard(Lexical())(rag)
guard = Guard(Lexical(), retriever=lambda q: rag(q)[1], generator=lambda q, c: rag(q)[0])

class Chain:
    def invoke(self, given):
        answer, docs = rag(given["q"])
        return {"reply": answer, "docs": docs}

dict_chain = Chain()

def judge(exchange):
    return Verdict(Decision.SUPPORTED)

def down(exchange):
    raise ConnectionError

def shaky(exchange):
    if number(exchange.question) == 3:
        raise ConnectionError
    return True

_asked = Counter()
def flaky(exchange):
    _asked[exchange.question] += 1
    return Random(f"{exchange.question} {_asked[exchange.question] % 6}").random() < 0.7

panel = Panel([Faithfulness(judge)])
metrics = [Faithfulness(judge), lambda item, response: 0.5]
"""

TOKENS = """
from groundguard.judges import FactCheck
from groundguard.records import Usage

def model(prompt):
    return Reply("yes", "stop", usage=Usage(1000, 1), model="m")

asked = FactCheck(model)
judged_once = Panel([Faithfulness(asked)])
"""

MOVING = """
from groundguard.judges import FactCheck
_names = iter(["m-1"] * 5 + ["m-2"] * 100)

def model(prompt):
    return Reply("yes", "stop", model=next(_names))

moving = FactCheck(model)
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("eval_app.py").write_text(APP)
    write_golden(30)
    yield
    sys.modules.pop("eval_app", None)


def write_golden(items: int, path: str = "golden.jsonl") -> None:
    rows = [{"name": "numbers", "version": "1"}]
    rows += [
        {
            "id": f"i{n}",
            "question": f"Number {n}?",
            "answer": f"Number {n} is red.",
            "tags": ["even" if n % 2 == 0 else "odd"],
            "split": "tune" if n % 3 else "heldout",
        }
        for n in range(items)
    ]
    Path(path).write_text("\n".join(map(json.dumps, rows)))


def evaluated(*options, golden="golden.jsonl", target="eval_app:rag", **more):
    return invoke("eval", golden, "--target", target, *options, **more)


def summary(*options, **more) -> dict:
    return json.loads(evaluated("--json", "--quiet", *options, **more).stdout)


def test_figures_gates_and_what_can_be_believed():
    done = evaluated("--gate", "faithfulness")
    assert done.exit_code == 0
    assert "numbers 1: 30 of 30 results" in done.stdout
    assert "faithfulness       1.000  0.886 - 1.000     30         0" in done.stdout
    assert "30 needs a model" in done.stdout
    assert "diagnosis: no fault found" in done.stdout
    assert "its judge is not calibrated" in done.stdout
    assert "which is suspicious" in done.stdout
    assert "passed  faithfulness 1.00 >= 0.70 (n 30)" in done.stdout
    assert "note: judged by lexical" in done.stderr
    assert list(Path(".groundguard").iterdir()) == []


@pytest.mark.parametrize(
    "target", ["eval_app:rag", "eval_app:arag", "eval_app:chain", "eval_app:guard", "answers.jsonl"]
)
def test_every_kind_of_target(target):
    rows = [{"id": f"i{n}", "answer": f"Number {n} is red.", "chunks": [f"Number {n} is red."]} for n in range(30)]
    Path("answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert summary(target=target)["figures"][0]["value"] == 1.0


def test_a_chain_with_keys():
    options = ["--question", "q", "--chunks", "docs", "--answer", "reply"]
    assert summary(*options, target="eval_app:dict_chain")["figures"][0]["value"] == 1.0


def test_a_gate_that_fails():
    done = evaluated("--gate", "faithfulness", target="eval_app:wrong")
    assert done.exit_code == 1
    assert "failed  faithfulness 0.00 < 0.70" in done.stdout
    assert evaluated(target="eval_app:wrong").exit_code == 0  # no gate unless asked


def test_gates_from_a_file_and_flags_go_before_it():
    Path("gates.toml").write_text("[gates]\nfaithfulness = 0.5\n")
    found = summary("--gates", "gates.toml", "--gate", "faithfulness.lower=0.6")
    assert [(gate["gate"]["at"], gate["gate"]["bound"]) for gate in found["gates"]] == [(0.5, "value"), (0.6, "lower")]
    assert [gate["gate"]["at"] for gate in summary("--gates", "gates.toml", "--gate", "faithfulness=0.9")["gates"]] == [
        0.9
    ]


def test_a_gate_inside_the_noise_is_refused_unless_allowed():
    options = ["--judge", "eval_app:flaky", "--repeats", "3", "--concurrency", "1"]
    value = summary(*options)["figures"][0]["value"]
    done = evaluated(*options, "--gate", f"faithfulness={value}")
    assert done.exit_code == 2
    assert "stands inside the noise" in done.stdout
    assert "flips  spread" in done.stdout
    assert evaluated(*options, "--gate", f"faithfulness={value}", "--allow-noisy-gate").exit_code == 0


def test_the_run_is_written_and_can_be_read(tmp_path):
    found = summary("--output", "run.json", "--pipeline", "7", "--model", "m", "--seed", "3")
    run = read_run("run.json")
    assert (run.pins.pipeline, run.pins.model, run.pins.seed) == ("7", "m", 3)
    assert found["output"] == "run.json"
    assert found["done"] == len(run.results) == 30
    assert not Path("run.json.store").exists()
    assert (
        summary("--output", "run.json", "--pipeline", "7", "--model", "m", "--seed", "3")["digest"] == found["digest"]
    )


def test_panels_of_ones_own():
    assert [each["metric"] for each in summary("--panel", "eval_app:panel")["figures"]] == ["faithfulness"]
    assert len(summary("--panel", "eval_app:metrics")["figures"]) == 2


def test_a_panel_without_a_judge():
    Path("eval_app.py").write_text(APP + "half = [lambda item, response: 0.5]\n")
    found = summary("--panel", "eval_app:half")
    assert found["figures"][0]["value"] == 0.5
    assert "no judge of faithfulness" in found["calibration"]
    assert evaluated("--panel", "eval_app:half").exit_code == 0


def test_a_model_by_name_scores_the_whole_panel():
    found = json.loads(
        evaluated("--dry-run", "--json", "--judge", "claims:openai:tiny", env={"OPENAI_API_KEY": "none"}).stdout
    )
    assert found["calls"] > 30 * 3


def test_a_calibration_that_fits_is_told_and_a_stale_one_too():
    judge = FunctionJudge(lambda exchange: True)
    labels = [Label(Exchange("q", (Chunk("c"),), f"a{n}"), n % 2 == 0, kind=Labeller.HUMAN) for n in range(4)]
    save(calibrate(labels, judge))
    run = Run(Pins("d", "1", "h"), (), 1, "")
    assert "its judge is calibrated" in calibration_line(judge, run)
    assert "but 4 labels by people" in calibration_line(judge, run)
    held = next(Path(".groundguard/calibrations").iterdir())
    held.write_text(held.read_text().replace(judge.fingerprint, "0123456789abcdef"))
    assert "not calibrated any more: its" in calibration_line(judge, run)


def test_the_model_of_another_judge_makes_no_calibration_stale():
    judge = FunctionJudge(lambda exchange: True)
    labels = [Label(Exchange("q", (Chunk("c"),), f"a{n}"), n % 2 == 0, kind=Labeller.HUMAN) for n in range(4)]
    save(replace(calibrate(labels, judge), models=("small-1",)))
    own = Score("faithfulness", 1.0, verdict=Verdict(Decision.SUPPORTED, model="small-1"))
    other = Score("answer_relevancy", 1.0, verdict=Verdict(Decision.SUPPORTED, model="large-7"))
    run = Run(Pins("d", "1", "h"), (ItemResult("i", 0, "q", scores=(own, other)),), 1, "")
    assert calibration_line(judge, run).startswith("its judge is calibrated")
    moved = replace(own, verdict=Verdict(Decision.SUPPORTED, model="small-2"))
    run = Run(Pins("d", "1", "h"), (ItemResult("i", 0, "q", scores=(moved, other)),), 1, "")
    assert "the server reports small-2, and the calibration is of small-1" in calibration_line(judge, run)


def test_names_from_outside_can_not_command_the_terminal(capsys):
    evil = "x\x1b[31m\u202e"
    verdicts = [Verdict(Decision.SUPPORTED, model=f"{evil}{n}", fingerprint="0123456789abcdef") for n in range(2)]
    rows = [
        ItemResult(f"i{n}", 0, "q", scores=(Score("faithfulness", 1.0, verdict=verdict), Score(evil, None, evil)))
        for n, verdict in enumerate(verdicts)
    ]
    rows.append(ItemResult("i2", 0, "q", error=evil))
    run = Run(Pins(evil, evil, "h"), tuple(rows), 3, "")
    gates = [Gate("faithfulness", 0.5), Gate(evil, 0.5)]
    show_summary(Summary.of(run, None, gates, allow_noisy=False, most_failures=0.1))
    told = capsys.readouterr().out
    assert not {"\x1b", "\u202e"} & set(told)
    for part in ("of 3 results", "the pipeline failed in 1", "floats", "unscored"):
        assert part in told
    assert told.count("x\\x1b[31m\\u202e") >= 6


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--tag", "nothing"], "golden.jsonl has no items with --tag nothing: nothing to measure"),
        (["--split", "heldout", "--tag", "x", "--tag", "y"], "with --split heldout --tag x --tag y"),
        (["--judge", "nobody"], "--judge is 'lexical'"),
        (["--judge", "eval_app:nobody"], "has no 'nobody'"),
        (["--judge", "eval_app:judge", "--constrained"], "--constrained is for a judge by name"),
        (["--gate", "nothing"], "has no value of its own"),
        (["--gates", "nowhere.toml"], "can't read nowhere.toml"),
        (["--max-cost", "1"], "needs both prices"),
        (["--gate", "faithfulness>0.5"], "a gate is METRIC=VALUE or METRIC>=VALUE"),
        (
            ["--gate", "faithfullness=0.8"],
            "no metric of this run is called faithfullness: it measures faithfulness, answer",
        ),
        (["--workers", "2"], "--workers goes with --engine processes or --engine ray"),
        (["--output", "missing/run.json"], "there is no folder missing to write run.json into"),
        (["--store", "missing/run.store"], "there is no folder missing to write run.store into"),
        (["--target", "eval_app:missing"], "has no 'missing'"),
    ],
)
def test_bad_input_is_one_line(options, what):
    done = evaluated("--quiet", *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert what in done.stderr


def test_a_target_that_is_wired_wrong_leaves_nothing_to_stumble_over():
    Path("eval_app.py").write_text(APP + "\ndef nothing(question):\n    return None\n")
    for _ in range(2):
        done = evaluated("--quiet", target="eval_app:nothing")
        assert (done.exit_code, "no answer" in done.stderr) == (2, True)
        assert list(Path(".groundguard").iterdir()) == []
    assert evaluated("--quiet", "--output", "run.json", target="eval_app:rag").exit_code == 0
    assert evaluated("--quiet", "--output", "run.json", target="eval_app:nothing").exit_code == 2
    Path("kept.store").touch()
    assert evaluated("--quiet", "--store", "kept.store", "--resume", target="eval_app:nothing").exit_code == 2
    assert Path("kept.store").exists()


def test_runs_of_two_targets_are_kept_apart():
    for target in ("eval_app:rag", "eval_app:wrong"):
        done = evaluated("--quiet", "--judge", "eval_app:down", target=target)
        assert done.exit_code == 3
        assert "`groundguard doctor --judge` tells why" in done.stdout
    assert len(list(Path(".groundguard").glob("numbers-*.store"))) == 2


def test_a_module_that_can_not_be_imported_is_bad_input():
    Path("eval_app.py").write_text("def chain(question:\n")
    done = evaluated("--quiet", target="eval_app:chain")
    assert (done.exit_code, done.stdout, "Traceback" in done.stderr) == (2, "", False)
    assert "'eval_app' can't be imported: SyntaxError" in done.stderr


def test_an_empty_set_and_a_missing_one_are_not_green():
    Path("empty.jsonl").write_text('{"name": "d", "version": "1"}\n')
    done = evaluated(golden="empty.jsonl")
    assert done.exit_code == 2
    assert "empty.jsonl has a header and no items" in done.stderr
    done = evaluated(golden="nowhere.jsonl")
    assert (done.exit_code, "nowhere.jsonl" in done.stderr) == (2, True)


def test_filters():
    assert summary("--tag", "even", "--split", "tune")["expected"] == 10


def test_pipeline_failures_are_counted_by_class():
    done = evaluated("--quiet", target="eval_app:odd")
    assert "the pipeline failed in 6 of 30 results: 6 LookupError" in done.stdout
    assert "secret" not in done.output
    assert done.stderr == ""


def test_a_judge_that_is_down_is_no_failed_gate():
    done = evaluated("--judge", "eval_app:down", "--gate", "faithfulness", "--output", "run.json")
    assert done.exit_code == 3
    assert "the judge is unhealthy, and that says nothing about the answers" in done.stdout
    assert "stopped (judge unhealthy) after" in done.stderr
    assert "judge failed 3" in done.stderr
    assert not read_run("run.json").is_complete


def test_one_failure_of_many_is_told_and_can_be_made_good():
    done = evaluated("--judge", "eval_app:shaky", "--output", "run.json")
    assert done.exit_code == 0
    assert "the judge failed in 1 of 30 results (1 judge_error)" in done.stdout
    assert "--resume asks again where the judge failed (run.json.store)" in done.stderr
    assert (
        evaluated(
            "--judge", "eval_app:shaky", "--resume", "--max-judge-failures", "0", "--output", "run.json"
        ).exit_code
        == 3
    )


def test_a_budget_stops_it_and_resume_goes_on():
    options = ["--judge", "eval_app:judge", "--panel", "eval_app:panel", "--output", "run.json"]
    options += ["--concurrency", "1"]
    done = evaluated(*options, "--max-calls", "21", "--gate", "faithfulness")
    assert done.exit_code == 2
    assert "stopped (budget) after 10 of 30: --resume goes on (run.json.store)" in done.stderr
    assert "judges took 20 calls, tokens unknown" in done.stdout
    again = evaluated(*options, "--max-calls", "21")
    assert again.exit_code == 2
    assert "holds a run already" in again.stderr
    assert evaluated(*options, "--max-calls", "40", "--resume").exit_code == 0
    assert evaluated(*options, "--resume").exit_code == 0
    assert read_run("run.json").is_complete


def test_a_store_in_use_is_told():
    with closing(Store("mine.store", {}, "now")):
        done = evaluated("--store", "mine.store", "--resume")
    assert (done.exit_code, "in use by another run" in done.stderr) == (2, True)


def test_a_dry_run_counts_and_asks_nothing():
    done = evaluated("--dry-run", "--judge", "eval_app:down", "--panel", "eval_app:panel")
    assert done.exit_code == 0
    assert "30 results, at least 60 calls of the judge's model" in done.stdout
    assert "Nothing was asked." in done.stdout
    assert "reference answers and chunks stood in" in done.stdout
    Path("answers.jsonl").write_text('{"id": "i0", "answer": "a", "chunks": ["c"]}\n{\n')
    done = evaluated("--dry-run", target="answers.jsonl")
    assert "0 calls" in done.stdout
    assert "answers.jsonl: 1 lines hold no answer with an id (line 2)" in done.stderr
    assert summary("--dry-run")["results"] == 30


def test_a_few_plain_lines_where_nobody_looks():
    write_golden(200)
    done = evaluated()
    assert done.stderr.count(" of 200") == 10
    assert "\r" not in done.output
    assert evaluated("--quiet").stderr == ""


def test_progress_on_a_terminal_is_a_bar_and_leaves_nothing_in_the_output():
    done = evaluated(env={"FORCE_COLOR": "1", "TTY_INTERACTIVE": "1", "COLUMNS": "100"})
    assert "evaluating" in done.stderr
    assert "30 of 30\n" not in done.stderr
    assert "evaluating" not in done.stdout


def test_tokens_and_money():
    Path("eval_app.py").write_text(APP + TOKENS)
    options = ["--judge", "eval_app:asked", "--panel", "eval_app:judged_once", "--price-in", "1", "--price-out", "10"]
    done = evaluated(*options)
    assert "judges took 30 calls, 30000 tokens in, 30 out, cost 0.0303" in done.stdout
    capped = summary(*options, "--max-cost", "0.005")
    assert (capped["stopped"], capped["cost"] <= 0.005) == ("budget", True)


def test_a_model_whose_name_moves_is_told():
    Path("eval_app.py").write_text(APP + MOVING)
    assert "the judge's model floats: its server reported m-1 and m-2" in evaluated("--judge", "eval_app:moving").stdout


def test_several_processes(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    local = summary("--output", "local.json")
    there = summary("--engine", "processes", "--workers", "2", "--output", "there.json")
    assert there["digest"] == local["digest"]
    assert not Path("there.json.store").exists()


@pytest.mark.parametrize(
    "changes",
    [{"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
)
def test_narrow_encodings(changes):
    text = "Größe 5 µm – 温度 \U0001f600"
    rows = [{"name": text, "version": "1"}, {"id": "i", "question": text, "answer": text}]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    Path("wide.jsonl").write_bytes(b"\xef\xbb\xbf" + lines.encode())
    answer = {"id": "i", "answer": text, "chunks": [text]}
    Path("answers.jsonl").write_text(json.dumps(answer, ensure_ascii=False), encoding="utf-8")
    done = process("eval", "wide.jsonl", "--target", "answers.jsonl", "--output", "run.json", **changes)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert read_run("run.json").results[0].response.answer == text


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_leaves_a_run_that_can_be_used_and_says_how_to_go_on():
    command = [
        *COMMAND,
        "eval",
        "golden.jsonl",
        "--target",
        "eval_app:rag",
        "--output",
        "run.json",
        "--concurrency",
        "2",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(SLOW="0.05")
    ) as child:
        while b"3 of 30" not in child.stderr.readline():
            time.sleep(0)
        child.send_signal(signal.SIGINT)
        out, errors = child.communicate(timeout=60)
    assert child.returncode == 130, errors
    assert b"Traceback" not in errors
    assert b"stopping: the calls under way come to their end" in errors
    assert b"--resume goes on (run.json.store)" in errors
    part = read_run("run.json")
    assert part.stopped == "interrupted"
    assert 3 <= len(part.results) < 30
    assert b"faithfulness" in out
    assert evaluated("--resume", "--output", "run.json").exit_code == 0
    assert read_run("run.json").is_complete


def test_a_folder_of_ones_own_is_not_taken_for_a_store():
    Path("keep").mkdir()
    Path("keep/precious").write_text("mine")
    done = evaluated("--engine", "processes", "--workers", "2", "--store", "keep")
    assert (done.exit_code, "keep is not empty" in done.stderr) == (2, True)
    done = evaluated("--engine", "processes", "--workers", "2", "--store", "keep", "--resume")
    assert (done.exit_code, "something else" in done.stderr) == (2, True)
    assert Path("keep/precious").read_text() == "mine"
    done = evaluated("--engine", "processes", "--store", "golden.jsonl", "--resume")
    assert (done.exit_code, "is a file" in done.stderr) == (2, True)


def test_a_finished_run_removes_its_stores_and_nothing_beside_them():
    assert evaluated("--engine", "processes", "--workers", "2", "--store", "parts").exit_code == 0
    assert not Path("parts").exists()
    kept = Path("own")
    kept.mkdir()
    (kept / "shard-0001-of-0001.store").write_text("")
    (kept / "precious").write_text("mine")
    evaluate_command._remove(kept)
    assert [each.name for each in kept.iterdir()] == ["precious"]


def test_a_run_that_was_stopped_for_whatever_reason_passes_no_gate():
    Path("eval_app.py").write_text(
        APP
        + "\nfrom groundguard.judges import FactCheck\nmute = Panel([Faithfulness(FactCheck(lambda prompt: 'yes'))])\n"
    )
    done = evaluated("--panel", "eval_app:mute", "--max-tokens", "1000", "--gate", "faithfulness")
    assert (done.exit_code, "tokens unknown" in done.stderr) == (2, True)


def test_items_that_changed_under_their_version_are_not_run():
    lock(load("golden.jsonl"), Path("golden.jsonl"))
    assert evaluated().exit_code == 0
    write_golden(31)
    done = evaluated("--gate", "faithfulness")
    assert (done.exit_code, "version" in done.stderr) == (2, True)


def test_a_calibration_that_can_not_be_read_costs_no_run():
    Path(".groundguard/calibrations").mkdir(parents=True)
    Path(".groundguard/calibrations/x.json").write_text("{")
    done = evaluated("--output", "run.json")
    assert done.exit_code == 0
    assert "whether its judge is calibrated is not known" in done.stdout
    assert Path("run.json").exists()


def test_the_higher_of_two_gates_holds():
    Path("gates.toml").write_text("[gates]\nfaithfulness = 0.99\n")
    gates = summary("--gates", "gates.toml", "--gate", "faithfulness=0.5")["gates"]
    assert [each["gate"]["at"] for each in gates] == [0.99]
