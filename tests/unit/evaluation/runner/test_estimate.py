"""What a run would ask of its judges, counted without asking."""

from __future__ import annotations

import json

import pytest

from groundguard import Guard
from groundguard.evaluation import GoldenItem, GoldenSet
from groundguard.evaluation.panel import Faithfulness, Panel
from groundguard.evaluation.runner.answers import recorded
from groundguard.evaluation.runner.estimate import estimate
from groundguard.evaluation.runner.plan import Plan
from groundguard.evaluation.runner.target import as_target
from groundguard.judges import FactCheck
from groundguard.testing import ScriptedGenerator, ScriptedModel, ScriptedRetriever
from support.evaluating import golden, only, rag


@pytest.fixture
def model():
    return ScriptedModel("yes")


def asked(text: str) -> str:
    raise AssertionError(text)


def planned(target, judge, items=None, **options):
    return Plan(items or golden(), target, only(judge), **options)


def test_a_chain_is_guessed_by_the_reference_and_nothing_is_asked():
    judge = FactCheck(asked)
    found = estimate(planned(as_target(asked, Guard(judge)), judge, repeats=2))
    assert (found.results, found.calls, found.by_reference) == (40, 40, True)
    assert found.prompt_tokens > 1000
    assert found.to_dict()["calls"] == 40


def test_a_guard_is_not_run_either():
    judge = FactCheck(asked)
    guard = Guard(judge, retriever=ScriptedRetriever(RuntimeError()), generator=ScriptedGenerator(RuntimeError()))
    assert estimate(planned(as_target(guard), judge)).calls == 20


def test_the_judge_inside_a_guarded_chain_is_not_seen(model):
    chain = Guard(FactCheck(model))(rag)
    assert estimate(planned(as_target(chain), FactCheck(asked))).calls == 20


def test_recorded_answers_are_measured_themselves(tmp_path):
    judge = FactCheck(asked)
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"id": "i0", "answer": "a" * 4000, "chunks": ["c"]}))
    found = estimate(planned(recorded(path, Guard(judge)), judge))
    assert (found.results, found.calls, found.by_reference) == (20, 1, False)
    assert found.prompt_tokens > 1000


def test_functions_as_judges_are_measured_by_what_they_get():
    def judge(exchange):
        raise AssertionError

    items = GoldenSet("d", "1", (GoldenItem("i", "q" * 400),))
    assert estimate(planned(as_target(rag, Guard(judge)), judge, items)).prompt_tokens >= 200
    assert Panel([Faithfulness(judge)]).names == ("faithfulness",)
