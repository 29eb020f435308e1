import asyncio
import itertools
import json

import pytest

from groundguard import Guard
from groundguard.errors import UsageError
from groundguard.evaluation.panel import (
    AnswerRelevancy,
    ContextPrecision,
    ContextRecall,
    Faithfulness,
    FunctionMetric,
    Panel,
    Refusal,
    panel,
)
from groundguard.evaluation.panel.whole import panel_of
from groundguard.evaluation.results import Score
from groundguard.flow.drive import run
from groundguard.judges import Claims, FactCheck, Lexical
from groundguard.models import as_model
from groundguard.retry import Retry
from groundguard.testing import ScriptedJudge, ScriptedModel
from support.claims import verdicts
from support.doors import both_doors
from support.exchange import stuck
from support.panel import REFERENCE, Reader, item, named, response, words

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

FIVE = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "refusal")


class ConnectionLostError(ConnectionError):
    pass


def ask(door, panel, golden=None, given=None):
    return door.call(panel.acall if door.is_async else panel, golden or item(), given or response())


def values(scores):
    return {score.metric: score.value for score in scores}


def reasons(scores):
    return {score.metric: score.unscored for score in scores if score.unscored}


@both_doors
def test_the_five_metrics_by_one_model(door):
    reader = Reader()
    scores = ask(door, panel(reader), given=response(REFERENCE, [REFERENCE, "The cord is 2 m long."]))
    assert tuple(score.metric for score in scores) == FIVE
    assert values(scores) == dict.fromkeys(FIVE, 1.0)
    assert len(reader.prompts) == 5
    assert all(score.verdict.fingerprint for score in scores)


@both_doors
def test_without_a_model_it_is_deterministic_and_says_what_it_can_not_tell(door):
    given = response("The lamp runs on 12 volts. It weighs 900 kilograms.", named("x", "a") + response().chunks)
    offline = panel(judge=Lexical())
    scores = ask(door, offline, item(chunk_ids=("a", "b")), given)
    assert values(scores) == {
        "faithfulness": 0.5,
        "answer_relevancy": None,
        "context_precision": None,
        "context_recall": None,
        "refusal": None,
    }
    assert reasons(scores) == {
        "answer_relevancy": "needs a model",
        "context_precision": "chunks without ids",
        "context_recall": "chunks without ids",
        "refusal": "needs a model",
    }
    by_ids = ask(door, offline, item(chunk_ids=("a", "b")), response(REFERENCE, named("x", "a")))
    assert (by_ids[2].value, by_ids[3].value) == (0.5, 0.5)
    again = ask(door, panel(judge=Lexical()), item(chunk_ids=("a", "b")), given)
    assert (values(again), reasons(again)) == (values(scores), reasons(scores))


def test_which_judge_and_model_asks_what():
    model = ScriptedModel("x")
    assert panel(model).metrics == (
        Faithfulness(Claims(model)),
        AnswerRelevancy(model),
        ContextPrecision(model),
        ContextRecall(Claims(model)),
        Refusal(model),
    )
    judge = Claims(model, threshold=0.5)
    assert panel(model, judge).metrics[0] == Faithfulness(judge)
    assert panel(model, judge).metrics[3] == ContextRecall(judge)
    assert panel(model, Lexical()).metrics[0] == Faithfulness(Lexical())
    assert panel(model, Lexical()).metrics[3] == ContextRecall(Claims(model))
    assert panel(model, context="ids").metrics[2:4] == (ContextPrecision(), ContextRecall())
    assert panel(model, context="model") == panel(model)
    assert panel(judge=judge).metrics[2:4] == (ContextPrecision(), ContextRecall())
    assert panel(model, constrained=False).metrics[3] == ContextRecall(Claims(model, constrained=False))


def test_fingerprints_by_metric():
    model = ScriptedModel("x")
    whole = panel(model)
    assert whole.names == FIVE
    assert whole.fingerprints == {metric.name: metric.fingerprint for metric in whole.metrics}
    assert len(set(whole.fingerprints.values())) == 5
    assert whole.fingerprints == panel(ScriptedModel("y")).fingerprints
    assert whole.fingerprints != panel(ScriptedModel("x", name="other")).fingerprints


@both_doors
def test_a_guards_verdict_is_reused_and_the_other_metrics_are_asked(door):
    reader = Reader()
    given = Guard(Claims(reader)).check(item().question, answer=REFERENCE, chunks=[REFERENCE])
    scores = ask(door, panel(reader), given=given)
    assert values(scores) == dict.fromkeys(FIVE, 1.0)
    assert len(reader.prompts) == 1 + 4


@both_doors
def test_a_judge_that_is_down_leaves_everything_unscored_and_raises_nothing(door):
    scores = ask(door, panel(ScriptedModel(RuntimeError("down"))))
    assert values(scores) == dict.fromkeys(FIVE)
    assert reasons(scores) == dict.fromkeys(FIVE, "judge_error")


@both_doors
def test_one_metric_that_fails_takes_none_with_it(door):
    def broken(item, response):
        raise ZeroDivisionError

    scores = ask(door, Panel([Faithfulness(ScriptedJudge(True)), FunctionMetric(broken, "mine")]))
    assert scores[0].value == 1.0
    assert scores[1] == Score("mine", None, "metric error: ZeroDivisionError")


def test_each_metric_has_its_deadline():
    with stuck() as event:
        scores = Panel(
            [AnswerRelevancy(lambda prompt: event.wait() and ""), Refusal(ScriptedModel("no"))], timeout=0.05
        )(item(), response())
    assert (scores[0].value, scores[0].unscored) == (None, "judge_timeout")
    assert scores[1].value == 1.0


def test_a_function_that_has_no_time_left_is_unscored():
    ticks = itertools.count(0, 100)
    whole = Panel([FunctionMetric(lambda item, response: 1.0, "mine")], timeout=1)
    scores = run(whole.flow(item(), response(), clock=lambda: next(ticks)))
    assert scores == (Score("mine", None, "judge_timeout"),)


@both_doors
def test_model_calls_are_tried_again_as_asked(door):
    def asked(attempts):
        metric = Refusal(ScriptedModel(ConnectionLostError("x"), "no"))
        return ask(door, Panel([metric], retry=Retry(attempts, initial=0, maximum=0)))[0]

    assert asked(2).value == 1.0
    assert (asked(1).value, asked(1).unscored) == (None, "judge_error")


@both_doors
def test_a_wanted_refusal_leaves_nothing_to_be_faithful_about(door):
    golden = item(refusal=True)
    metrics = [Faithfulness(ScriptedJudge(False)), Refusal(ScriptedModel("yes"))]
    faithful, declined = ask(door, Panel(metrics), golden, response("I don't know."))
    assert (faithful.applies, faithful.value, declined.value) == (False, None, 1.0)
    assert faithful.verdict is not None
    answered = [Faithfulness(ScriptedJudge(False)), Refusal(ScriptedModel("no"))]
    faithful, declined = ask(door, Panel(answered), golden, response("It is 9 volts."))
    assert (faithful.applies, faithful.value, declined.value) == (True, 0.0, 0.0)


def test_where_nobody_can_tell_whether_a_wanted_refusal_was_given_faithfulness_is_unscored():
    golden, given = item(refusal=True), response("The documents don't say.")
    for judge in (True, False):
        faithful, declined = Panel([Faithfulness(ScriptedJudge(judge)), Refusal()])(golden, given)
        assert (faithful.unscored, declined.unscored) == ("refusal unknown", "needs a model")
        assert faithful.verdict is not None
    broken = Panel([Faithfulness(ScriptedJudge(RuntimeError("x"))), Refusal()])(golden, given)
    assert broken[0].unscored == "judge_error"
    assert Panel([Faithfulness(ScriptedJudge(False))])(golden, given)[0].value == 0.0
    nothing = Claims(ScriptedModel(verdicts("none"), "no"))
    assert not Panel([Faithfulness(nothing), Refusal()])(golden, given)[0].applies


def test_it_works_inside_a_running_loop():
    async def main():
        whole = panel(Reader())
        return whole(item(), response()), await whole.acall(item(), response())

    plain, asynchronous = asyncio.run(main())
    assert values(plain) == values(asynchronous) == dict.fromkeys(FIVE, 1.0)


def test_prompts_about_the_same_chunks_begin_alike():
    reader = Reader()
    whole = panel(reader, context="model")
    for answer in ("One answer.", "Another answer."):
        whole(item(), response(answer, ["A passage.", "Another passage."]))
    beginnings = {prompt[: prompt.index("</passages>")] for prompt in reader.prompts if "<passages>" in prompt}
    assert len([prompt for prompt in reader.prompts if "<passages>" in prompt]) == 6
    assert len(beginnings) == 2, "one for each set of instructions: claims, usefulness"


def test_the_reply_of_one_metric_is_none_for_another():
    scores = panel(ScriptedModel(words("yes")))(item(), response())
    assert values(scores) == {**dict.fromkeys(FIVE, 1.0), "refusal": None}
    assert json.loads(scores[1].verdict.raw) == json.loads(words("yes"))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Panel([]), "at least one metric"),
        (lambda: Panel(3), "as a list"),
        (lambda: Panel("faithfulness"), "as a list"),
        (lambda: Panel([ContextRecall(), ContextRecall(Lexical())]), "two metrics are called context_recall"),
        (lambda: Panel([Lexical()]), "a judge is no metric"),
        (lambda: Panel([ContextRecall()], timeout=0), "timeout is a number of seconds"),
        (lambda: Panel([ContextRecall()], retry=3), "retry is a Retry"),
        (lambda: panel(), "needs a model"),
        (lambda: panel(judge=Lexical(), context="model"), 'context="model" needs a model'),
        (lambda: panel(ScriptedModel("x"), context="texts"), 'context is "model", "ids"'),
        (lambda: panel(3), "model"),
        (lambda: panel(ScriptedModel("x"), judge="lexical"), "a judge is"),
    ],
)
def test_wiring_mistakes_are_told(make, told):
    with pytest.raises(UsageError, match=told):
        make()


@pytest.mark.parametrize("kind", [FactCheck, Claims])
def test_the_usual_panel_of_a_judge_asks_the_judges_own_model(kind):
    model = as_model(lambda prompt: "yes")
    judge = kind(model)
    by_judge = panel_of(judge)
    assert by_judge.fingerprints == panel(model, judge).fingerprints
    assert by_judge.fingerprints != panel(judge=judge).fingerprints


def test_the_usual_panel_of_a_judge_without_a_model_asks_none():
    assert panel_of(Lexical()).fingerprints == panel(judge=Lexical()).fingerprints
