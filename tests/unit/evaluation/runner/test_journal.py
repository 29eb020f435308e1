"""Replies that are known are not asked for again, and everything else is."""

from __future__ import annotations

from contextlib import closing

import pytest

from groundguard import Guard, record_chunks
from groundguard.evaluation import GoldenItem
from groundguard.evaluation.runner.budget import Budget, Purse, Spent
from groundguard.evaluation.runner.control import Control, Halt
from groundguard.evaluation.runner.journal import Journal
from groundguard.evaluation.runner.store import Key, Store
from groundguard.evaluation.runner.target import as_target
from groundguard.flow.drive import arun, run
from groundguard.flow.steps import Call, Callee, Sleep, Together
from groundguard.judges import FactCheck
from groundguard.records import ChunksFrom
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever
from support.doors import Door, both_doors

KEY = Key("h", 0)
ITEM = GoldenItem("i", "How long?")


@pytest.fixture
def store():
    with closing(Store(None, {}, "now")) as opened:
        yield opened


def control(**limits) -> Control:
    return Control(Purse(Budget(**limits), Spent(), []))


def answered(door: Door, store, target, watched=None):
    journal = Journal(KEY, store, watched or control(), target.pipeline)
    return door.call(arun if door.is_async else run, journal.around(target.flow(ITEM))), journal


@both_doors
@pytest.mark.parametrize("way", ["returned", "recorded"])
def test_pipeline_and_judge_are_asked_once(door: Door, store, way):
    calls, model = [], ScriptedModel("yes")

    def pipeline(question):
        calls.append(question)
        if way == "recorded":
            record_chunks(["Two years."])
            return "Two years."
        return "Two years.", ["Two years."]

    target = as_target(door.function(pipeline), Guard(FactCheck(model)))
    first, one = answered(door, store, target)
    again, other = answered(door, store, target)
    assert again.chunks_from is first.chunks_from is ChunksFrom(way)
    assert again.chunks == first.chunks
    assert (len(calls), len(model.prompts)) == (1, 1)
    assert (one.seen, one.known, other.seen, other.known) == (1, 0, 1, 1)


@both_doors
def test_a_retriever_and_a_generator_likewise(door: Door, store):
    retriever, generator = ScriptedRetriever(["c"]), ScriptedGenerator("a")
    target = as_target(Guard(ScriptedJudge(True), retriever=retriever, generator=generator))
    first, _ = answered(door, store, target)
    again, _ = answered(door, store, target)
    assert again.chunks == first.chunks
    assert (len(retriever.questions), len(generator.calls)) == (1, 1)


@both_doors
def test_an_output_that_cant_be_written_is_asked_for_again(door: Door, store):
    calls = []

    def pipeline(question):
        calls.append(question)
        return {"answer": "a", "context": ["c"], "odd": object()}

    target = as_target(pipeline, Guard(ScriptedJudge(True)))
    answered(door, store, target)
    assert answered(door, store, target)[0].answer == "a"
    assert len(calls) == 2


def asking(*questions, judge):
    """A flow that asks a judge side by side."""

    def one(question):
        return (yield Call(Callee(judge, None, "the judge"), (question,), retry="asked"))

    def flow():
        return (yield Together(tuple(map(one, questions))))

    return flow()


@both_doors
def test_who_is_out_of_budget_waits_for_the_calls_beside_it(door: Door, store):
    asked = []

    def judge(question):
        asked.append(question)
        return True

    driver = arun if door.is_async else run
    with pytest.raises(Halt):
        door.call(driver, Journal(KEY, store, control(calls=2), ()).around(asking("a", "b", "c", judge=judge)))
    assert (len(asked), store.count_replies()) == (2, 2)
    assert (
        door.call(driver, Journal(KEY, store, control(), ()).around(asking("a", "b", "c", judge=judge))) == (True,) * 3
    )
    assert sorted(asked) == ["a", "b", "c"]


@both_doors
def test_steps_that_cost_nothing_pass(door: Door, store):
    def flow():
        yield Sleep(0)
        return (yield Call(Callee(lambda: 3, None, "a function of ours")))

    journal = Journal(KEY, store, control(calls=0), ())
    assert door.call(arun if door.is_async else run, journal.around(flow())) == 3
    assert journal.seen == 0


def test_nothing_is_begun_once_the_run_is_stopped(store):
    stopped = control()
    stopped.stop("interrupted")
    calls = []
    target = as_target(lambda question: calls.append(question) or ("a", ["c"]), Guard(ScriptedJudge(True)))
    with pytest.raises(Halt):
        answered(Door(is_async=False), store, target, stopped)
    assert not calls


def test_a_store_that_fails_ends_the_run_and_no_judge_is_blamed(store):
    target = as_target(lambda question: ("a", ["c"]), Guard(ScriptedJudge(True)))
    watched = control()
    journal = Journal(KEY, store, watched, target.pipeline)
    store.close()
    with pytest.raises(Halt):
        run(journal.around(target.flow(ITEM)))
    assert watched.stopped == "the store failed"
    assert "what was written before is kept" in str(watched.broken)


@both_doors
def test_a_question_that_cant_be_written_is_asked_again(door: Door, store):
    asked = []

    def judge(question):
        asked.append(question)
        return True

    for _ in range(2):
        flow = Journal(KEY, store, control(), ()).around(asking(object(), judge=judge))
        assert door.call(arun if door.is_async else run, flow) == (True,)
    assert len(asked) == 2
