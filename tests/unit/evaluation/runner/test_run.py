"""`evaluate` and `aevaluate`: one run comes out, whatever happens on the way."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import pytest

from groundguard import Decision, Guard, Reason, Status, Verdict
from groundguard.errors import InputError, UsageError
from groundguard.evaluation import Budget, GoldenItem, GoldenSet, Run, aevaluate, evaluate
from groundguard.evaluation.golden.items import Split, Want
from groundguard.evaluation.panel import Faithfulness, Panel
from groundguard.evaluation.runner.control import health_of
from groundguard.evaluation.runner.run import How, opened, perform_work, planned
from groundguard.judges import FactCheck, Majority
from groundguard.models import Reply
from groundguard.records import Usage
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever
from support.doors import PLAIN, Door, both_doors
from support.evaluating import evaluated, golden, number, only, rag

YES = ScriptedJudge(True)


@both_doors
def test_every_item_is_answered_and_scored(door: Door):
    items = golden()
    run = evaluated(door, items, door.function(rag), judge=YES, panel=only(YES), repeats=2)
    assert run.is_complete
    assert run.stopped is None
    assert [(each.id, each.repeat) for each in run.results] == [(item.id, n) for item in items.items for n in (0, 1)]
    for result in run.results:
        assert result.response.answer == f"Answer {number(result.question)}."
        assert result.response.status is Status.ANSWERED
        assert [score.value for score in result.scores] == [1.0]
    assert Run.from_dict(json.loads(json.dumps(run.to_dict()))) == run


@both_doors
def test_an_item_is_told_as_the_set_has_it(door: Door):
    item = GoldenItem(
        "i", "Question 1?", answer="a", want=Want.REFUSAL, split=Split.TUNE, tags=("t",), chunk_ids=("c",)
    )
    result = evaluated(door, GoldenSet("d", "1", (item,)), rag, judge=YES).results[0]
    assert (result.want, result.split, result.tags, result.reference, result.chunk_ids) == (
        Want.REFUSAL, Split.TUNE, ("t",), "a", ("c",),
    )  # fmt: skip


@both_doors
def test_a_pipeline_that_fails_is_told_by_the_class_and_the_run_goes_on(door: Door):
    def failing(question):
        if number(question) % 3 == 0:
            raise LookupError("a secret")
        return rag(question)

    run = evaluated(door, golden(), door.function(failing), judge=YES, panel=only(YES))
    assert Counter(result.error for result in run.results) == {None: 13, "LookupError": 7}
    assert run.is_complete
    assert "secret" not in json.dumps(run.to_dict())


@both_doors
def test_a_run_in_the_plain_and_in_the_async_door_is_the_same(door: Door):
    run = evaluated(door, golden(), rag, judge=YES)
    assert run.canonical() == evaluate(golden(), rag, judge=YES, concurrency=1).canonical()


def test_both_work_inside_a_running_loop_and_twice():
    async def inside():
        runs = [evaluate(golden(), rag, judge=YES), evaluate(golden(), rag, judge=YES)]
        runs += [await aevaluate(golden(), rag, judge=YES), await aevaluate(golden(), rag, judge=YES)]
        return {run.canonical() for run in runs}

    assert len(asyncio.run(inside())) == 1


def test_an_async_target_needs_the_async_door():
    async def pipeline(question):
        return rag(question)

    with pytest.raises(UsageError, match=r"is async: await aevaluate"):
        evaluate(golden(), pipeline, judge=YES)


def test_the_guards_own_judge_scores_unless_told():
    judge = ScriptedJudge(True)
    guard = Guard(judge, retriever=ScriptedRetriever(["c"]), generator=ScriptedGenerator("a"))
    run = evaluate(golden(3), guard)
    assert run.pins.judges["faithfulness"] == "scripted"
    assert len(judge.exchanges) == 3  # the verdict of the guard is not asked for a second time


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({}, "needs a judge or a panel"),
        ({"judge": YES, "concurrency": 0}, "concurrency is how many results"),
        ({"judge": YES, "concurrency": "4"}, "concurrency is how many results"),
        ({"judge": YES, "patience": 0}, "patience is how many failures"),
        ({"judge": YES, "budget": 3}, r"budget is a Budget"),
        ({"judge": YES, "panel": [3]}, "a metric is"),
    ],
)
def test_what_is_wired_wrong_is_told(options, what):
    with pytest.raises(UsageError, match=what):
        evaluate(golden(), rag, **options)


def test_recorded_answers_need_a_judge():
    with pytest.raises(UsageError, match="recorded answers need a judge"):
        evaluate(golden(), "answers.jsonl")


def test_the_set_and_the_target_may_be_named(tmp_path):
    path = tmp_path / "golden.jsonl"
    lines = [{"name": "d", "version": "1"}, {"id": "i", "question": "Question 1?"}]
    path.write_text("\n".join(map(json.dumps, lines)))
    run = evaluate(path, "support.evaluating:rag", judge=YES, panel=[Faithfulness(YES)])
    assert run.results[0].response.answer == "Answer 1."
    with pytest.raises(InputError, match="can't read"):
        evaluate(tmp_path / "nowhere.jsonl", rag, judge=YES)


@both_doors
def test_a_target_that_can_answer_nothing_is_a_wiring_mistake(door: Door):
    with pytest.raises(UsageError, match="no answer found"):
        evaluated(door, golden(40), lambda question: 3, judge=YES)
    with pytest.raises(UsageError, match="no answer found"):
        evaluated(door, golden(2), lambda question: 3, judge=YES)


def test_one_odd_output_among_good_ones_is_a_failure_of_that_item():
    run = evaluate(golden(), lambda question: rag(question) if number(question) else 3, judge=YES)
    assert [result.error for result in run.results if result.error] == ["UsageError"]


# The judge.


def down(exchange):
    raise ConnectionError("a secret")


@both_doors
def test_a_judge_that_is_down_is_not_blamed_on_the_answers(door: Door):
    run = evaluated(door, golden(100), rag, judge=down, panel=only(down), patience=5)
    assert run.stopped == "judge unhealthy"
    assert 5 <= len(run.results) < 40
    for result in run.results:
        assert result.response.reason is Reason.JUDGE_ERROR
        assert [(score.value, score.unscored) for score in result.scores] == [(None, "judge_error")]
        assert health_of(result) is False


def test_a_failure_now_and_then_stops_nothing():
    judge = ScriptedJudge(*[True, ConnectionError()] * 10)
    run = evaluate(golden(), rag, judge=judge, panel=only(judge), patience=3, concurrency=1)
    assert run.is_complete
    assert Counter(health_of(result) for result in run.results) == {True: 10, False: 10}


def test_when_the_judge_is_back_what_it_owes_is_asked_again_and_nothing_else(tmp_path):
    store = tmp_path / "run.store"
    judge = ScriptedJudge(*[True] * 5, *[ConnectionError()] * 3, *[True] * 100)
    pipeline_calls = []

    def pipeline(question):
        pipeline_calls.append(question)
        return rag(question)

    first = evaluate(golden(), pipeline, judge=judge, panel=only(judge), concurrency=1, store=store)
    assert Counter(health_of(result) for result in first.results) == {True: 17, False: 3}
    again = evaluate(golden(), pipeline, judge=judge, panel=only(judge), concurrency=1, store=store, resume=True)
    assert Counter(health_of(result) for result in again.results) == {True: 20}
    assert len(judge.exchanges) == 23
    assert len(pipeline_calls) == 20


def test_another_time_a_whole_run_costs_nothing(tmp_path):
    judge = ScriptedJudge(True)
    options = {"judge": judge, "panel": only(judge), "store": tmp_path / "run.store"}
    whole = evaluate(golden(), rag, **options)
    assert evaluate(golden(), rag, resume=True, **options).canonical() == whole.canonical()
    assert len(judge.exchanges) == 20
    with pytest.raises(InputError, match="another repeats"):
        evaluate(golden(), rag, resume=True, repeats=2, **options)
    with pytest.raises(InputError, match="another content_hash"):
        evaluate(golden(21), rag, resume=True, **options)


def test_repeats_ask_anew():
    judge = ScriptedJudge(True)
    evaluate(golden(5), rag, judge=judge, panel=only(judge), repeats=3)
    assert len(judge.exchanges) == 15


# The budget.


@both_doors
def test_calls_are_never_one_too_many(door: Door):
    model = ScriptedModel("yes")
    judge = Majority(FactCheck(model), of=3)
    run = evaluated(door, golden(), rag, judge=judge, panel=only(judge), budget=Budget(calls=20))
    assert len(model.prompts) == 20
    assert run.stopped == "budget"
    assert run.calls == 3 * len(run.results) == 18
    assert run.expected == 20


def test_the_calls_inside_a_guarded_target_count_when_they_are_known():
    model = ScriptedModel("yes")
    chain = Guard(FactCheck(model))(rag)
    run = evaluate(golden(), chain, panel=only(FactCheck(model)), budget=Budget(calls=6))
    assert run.stopped == "budget"
    assert run.calls == len(model.prompts) == 6


@pytest.mark.parametrize("limit", [{"tokens": 12_000}, {"cost": 12.0, "price_in": 1000.0, "price_out": 1000.0}])
@both_doors
def test_tokens_and_money_stop_it_before_the_limit(door: Door, limit):
    def model(prompt):
        return Reply("yes", "stop", usage=Usage(len(prompt) // 3, 1), model="m")

    judge = FactCheck(model)
    run = evaluated(door, golden(200), rag, judge=judge, panel=only(judge), budget=Budget(**limit))
    assert run.stopped == "budget"
    assert 0 < run.input_tokens + run.output_tokens <= 12_000
    assert len(run.results) > 3


def test_a_limit_on_tokens_needs_a_server_that_tells_them():
    judge = FactCheck(ScriptedModel("yes"))
    run = evaluate(golden(), rag, judge=judge, panel=only(judge), budget=Budget(tokens=1000))
    assert run.stopped == "tokens unknown"
    assert len(run.results) == 1


def test_what_a_server_does_not_tell_is_unknown_and_not_0():
    replies = [Reply("yes", "stop", usage=usage, model="m") for usage in (Usage(900, 1), Usage(900, 1), None)]
    judge = FactCheck(ScriptedModel(*replies))
    run = evaluate(
        golden(3), rag, judge=judge, panel=only(judge), concurrency=1, budget=Budget(price_in=1.0, price_out=1.0)
    )
    assert (run.input_tokens, run.output_tokens, run.silent, run.cost) == (1800, 2, 1, None)
    quiet = evaluate(golden(3), rag, judge=YES, panel=only(YES))
    assert (quiet.input_tokens, quiet.output_tokens, quiet.cost) == (None, None, None)


def test_a_store_that_fails_is_told_at_the_end():
    plan = planned(golden(), rag, YES, None, 1, 0, None, None, None, None, None)
    with opened(plan, How()) as work:
        work._store.close()
        with pytest.raises(InputError, match="what was written before is kept"):
            perform_work(work, How()) or work.run()


# Metrics of the user's.


@pytest.mark.parametrize("said", [None, len, "high", 3, float("nan")])
def test_a_metric_that_returns_no_number_measures_nothing(said):
    def custom(item, response):
        return said

    run = evaluate(golden(2), rag, judge=YES, panel=Panel([custom]))
    for result in run.results:
        assert result.scores[0].value is None
        assert "metric error" in result.scores[0].unscored


def test_progress_is_told_result_by_result():
    told = []
    evaluate(golden(5), lambda question: rag(question) if number(question) else 1 / 0, judge=YES, progress=told.append)
    assert [each.done for each in told] == [1, 2, 3, 4, 5]
    assert told[-1].failed == 1
    assert (told[-1].expected, told[-1].unjudged, told[-1].stopped) == (5, 0, None)


def test_verdicts_of_all_kinds_are_kept_whole(tmp_path):
    verdict = Verdict(Decision.UNSUPPORTED, score=0.5, raw="\ud800", members=(Verdict(Decision.SUPPORTED),))
    judge = ScriptedJudge(verdict)
    run = evaluate(golden(1), rag, judge=judge, panel=only(judge), store=tmp_path / "s")
    kept = run.results[0].response.verdict
    assert (kept.raw, kept.score, len(kept.members)) == ("\ud800", 0.5, 1)
    assert run.canonical() == evaluate(golden(1), rag, judge=judge, panel=only(judge)).canonical()
    assert evaluated(PLAIN, golden(1), rag, judge=judge).canonical() != run.canonical()
