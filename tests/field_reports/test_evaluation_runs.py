"""Field reports of the area evaluation that are about runs: what they cost, keep, survive and say."""

import asyncio
import gc
import json
import random
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from end_to_end.command import environment, invoke
from groundguard import Guard, Reason, Status
from groundguard.evaluation import Budget, GoldenItem, GoldenSet, aevaluate, evaluate, figures, read_run, write_run
from groundguard.evaluation.runner.estimate import estimate
from groundguard.evaluation.runner.health import health
from groundguard.evaluation.runner.pins import floating
from groundguard.evaluation.runner.plan import Plan
from groundguard.evaluation.runner.target import as_target
from groundguard.judges import FactCheck
from groundguard.models import Reply
from groundguard.records import Usage
from groundguard.testing import ScriptedJudge, ScriptedModel
from support.evaluating import golden, number, only, rag


def test_a_run_from_its_store_has_everything_that_the_first_had(tmp_path):  # eval-cached-run-differs
    judge = ScriptedJudge(True, ConnectionError(), True)
    options = {"judge": judge, "panel": only(judge), "store": tmp_path / "s", "concurrency": 1}
    first = evaluate(golden(3), rag, **options)
    assert health(first.results).failed == 1
    second = evaluate(golden(3), rag, resume=True, **options)
    assert len(judge.exchanges) == 4  # the error was no verdict, and is asked again
    assert health(second.results).failed == 0
    third = evaluate(golden(3), rag, resume=True, **options)
    assert (third, third.canonical()) == (second, second.canonical())


def test_what_is_not_known_of_the_cost_is_null_and_not_0():  # eval-cost-unknown
    replies = [Reply("yes", "stop", usage=usage, model="m") for usage in (Usage(900, 1), Usage(900, 1), None)]
    judge = FactCheck(ScriptedModel(*replies))
    run = evaluate(
        golden(3), rag, judge=judge, panel=only(judge), concurrency=1, budget=Budget(price_in=1, price_out=1)
    )
    assert len(run.results) - run.silent == 2
    assert json.loads("\n".join(run.lines()))["cost"] is None

    def asked(prompt):
        raise AssertionError(prompt)

    unasked = FactCheck(asked)
    found = estimate(Plan(golden(3), as_target(rag, Guard(unasked)), only(unasked)))
    assert (found.calls, found.prompt_tokens > 100) == (3, True)


def test_a_filter_that_leaves_nothing_is_not_green(tmp_path):  # eval-empty-set-is-green
    file = tmp_path / "golden.jsonl"
    file.write_text('{"name": "d", "version": "1"}\n{"id": "a", "question": "q"}\n')
    done = invoke("eval", file, "--target", "support.evaluating:rag", "--tag", "doesnotexist", "--gate", "faithfulness")
    assert (done.exit_code, "--tag doesnotexist" in done.stderr) == (2, True)


def test_it_runs_where_a_loop_runs_and_twice():  # eval-event-loop-clash
    judge = ScriptedJudge(True)

    async def notebook():
        runs = [evaluate(golden(3), rag, judge=judge) for _ in range(2)]
        return runs + [await aevaluate(golden(3), rag, judge=judge) for _ in range(2)]

    assert len({run.canonical() for run in asyncio.run(notebook())}) == 1


def test_repeats_measure_how_often_a_judge_changes_its_mind():  # eval-flaky-judge
    chance = random.Random(7)

    def flaky(exchange):
        return chance.random() < 0.9

    run = evaluate(golden(20), rag, judge=flaky, panel=only(flaky), repeats=5, concurrency=1)
    figure = figures(run)[0]
    assert figure.n == 20
    assert figure.flip_rate > 0
    assert figure.spread > 0
    assert {result.repeat for result in run.results} == set(range(5))  # passes and failures alike


def test_a_model_that_moves_under_its_name_is_seen():  # eval-floating-judge-model
    names = iter(["muse-9-2031-01"] * 2 + ["muse-9-2031-03"] * 2)
    judge = FactCheck(lambda prompt: Reply("yes", "stop", model=next(names)))
    run = evaluate(golden(4), rag, judge=judge, panel=only(judge), concurrency=1)
    assert run.pins.judge_models == ("muse-9-2031-01", "muse-9-2031-03")
    assert list(floating(run.results).values()) == [("muse-9-2031-01", "muse-9-2031-03")]
    assert all(result.response.verdict.prompt_hash for result in run.results)


def test_what_could_not_be_judged_is_told_apart_from_what_was_judged_wrong():  # eval-judge-outage-blamed-on-answers
    def model(prompt):
        if "Question 1?" in prompt:
            raise ConnectionError
        return "yes"

    judge = FactCheck(model)
    run = evaluate(golden(2), rag, judge=judge, panel=only(judge))
    good, bad = run.results
    assert good.response.status is Status.ANSWERED
    assert (bad.response.status, bad.response.reason) == (Status.UNGROUNDED, Reason.JUDGE_ERROR)
    assert bad.scores[0].value is None
    figure = figures(run)[0]
    assert (figure.value, figure.n, figure.unscored) == (1.0, 1, 1)
    assert not health(run.results).is_well()


class Heavy(str):
    __slots__ = ("__weakref__",)


def test_nothing_of_a_result_is_kept_once_it_is_written_down(tmp_path):  # eval-memory-growth
    alive = []

    def pipeline(question):
        output = {"answer": f"Answer {number(question)}.", "context": ["c" * 1000], "heavy": Heavy("h")}
        alive.append(weakref.ref(output["heavy"]))
        return output

    judge = ScriptedJudge(True)
    run = evaluate(golden(50), pipeline, judge=judge, panel=only(judge), store=tmp_path / "s")
    judge.exchanges.clear()
    gc.collect()
    assert run.is_complete
    assert not [each for each in alive if each() is not None]


@pytest.mark.parametrize("changes", [{}, {"CI": "true"}])
def test_a_log_gets_a_few_lines_and_stdout_what_was_asked_for(tmp_path, changes):  # eval-progress-noise
    file = tmp_path / "golden.jsonl"
    items = [{"id": f"i{n}", "question": f"Question {n}?"} for n in range(100)]
    file.write_text("\n".join(map(json.dumps, [{"name": "d", "version": "1"}, *items])))
    tests = str(Path(__file__).parents[1])
    environ = environment(**changes)
    environ["PYTHONPATH"] += f":{tests}"
    command = [sys.executable, "-m", "groundguard", "eval", str(file), "--target", "support.evaluating:rag", "--json"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environ, timeout=60, check=False)
    assert done.returncode == 0
    assert json.loads(done.stdout)["done"] == 100
    assert b"\r" not in done.stderr
    assert done.stderr.count(b"\n") < 15
    quiet = subprocess.run(
        [*command, "--quiet"], capture_output=True, cwd=tmp_path, env=environ, timeout=60, check=False
    )
    assert quiet.stderr == b""


def test_a_written_run_is_strict_json(tmp_path):  # eval-report-is-not-valid-json
    def odd(question):
        return ["\ud800 lone", "line \u2028 end", ""][number(question)], ["c"]

    def refuse(name):
        raise AssertionError(name)

    judge = ScriptedJudge(True, ConnectionError())
    run = evaluate(golden(3), odd, judge=judge, panel=[*only(judge).metrics, lambda item, response: float("nan")])
    write_run(run, tmp_path / "run.json")
    json.loads((tmp_path / "run.json").read_bytes().decode("utf-8"), parse_constant=refuse)
    assert read_run(tmp_path / "run.json") == run


def test_the_chunks_of_every_row_are_on_record_and_can_be_judged_again(
    tmp_path,
):  # eval-retrieval-noise-blamed-on-judge
    chance = random.Random(1)

    def unsteady(question):
        return "Answer.", chance.sample(["Answer.", "Another."], 2)

    judge = ScriptedJudge(True)
    one, other = (evaluate(golden(9), unsteady, judge=judge, panel=only(judge), concurrency=1) for _ in range(2))
    pairs = list(zip(one.results, other.results, strict=True))
    assert any(a.response.evidence_digest != b.response.evidence_digest for a, b in pairs)
    rows = [
        {"id": each.id, "answer": each.response.generated, "chunks": [chunk.text for chunk in each.response.chunks]}
        for each in one.results
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    again = [evaluate(golden(9), file, judge=judge, panel=only(judge)) for _ in range(2)]
    assert again[0].canonical() == again[1].canonical()
    digests = [result.response.evidence_digest for result in again[0].results]
    assert digests == [result.response.evidence_digest for result in one.results]


def test_the_nouns_hold_what_the_set_holds():  # eval-dataset-drift: the hash of the set goes with the run
    run = evaluate(GoldenSet("d", "1", (GoldenItem("a", "Question 1?"),)), rag, judge=ScriptedJudge(True))
    assert run.pins.content_hash == GoldenSet("d", "1", (GoldenItem("a", "Question 1?"),)).content_hash
