import json

import pytest

from groundguard.errors import UsageError
from groundguard.evaluation.panel import AnswerRelevancy
from groundguard.evaluation.panel.asking import MOST
from groundguard.evaluation.panel.prompts import RELEVANCY, RELEVANCY_VERSION
from groundguard.evaluation.results import Score
from groundguard.models import FunctionModel, Reply
from groundguard.records import Claim, Turn, Usage
from groundguard.testing import ScriptedModel
from support.claims import asked_about
from support.doors import both_doors
from support.panel import SUPPORTED, UNKNOWN, UNSUPPORTED, item, response, words

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

ANSWER = "Hello! The lamp needs 12 volts. The shop opens at nine."


def measure(*replies, answer=ANSWER, golden=None, **options):
    return AnswerRelevancy(ScriptedModel(*replies), **options)(golden or item(), response(answer))


@both_doors
def test_the_share_of_relevant_statements_worked_by_hand(door):
    # Of three statements one greets, one answers, one is about something else: 1/2.
    model = ScriptedModel(Reply(words("none", "yes", "no"), "stop", usage=Usage(300, 9), model="m-1"))
    metric = AnswerRelevancy(model)
    said = door.call(metric.acall if door.is_async else metric, item(), response(ANSWER))
    assert (said.metric, said.value) == ("answer_relevancy", 0.5)
    assert said.verdict.claims == (
        Claim("Hello!", None, 0, 6),
        Claim("The lamp needs 12 volts.", SUPPORTED, 7, 31),
        Claim("The shop opens at nine.", UNSUPPORTED, 32, 55),
    )
    assert (said.verdict.decision, said.verdict.score, said.verdict.calls) == (UNSUPPORTED, 0.5, 1)
    assert (said.verdict.model, said.verdict.usage) == ("m-1", Usage(300, 9))
    assert (said.verdict.judge, said.verdict.fingerprint) == ("answer_relevancy:scripted", metric.fingerprint)
    assert said.verdict.prompt_version == RELEVANCY_VERSION
    assert said.verdict.prompt_hash == metric.question.prompt_hash
    assert len(model.prompts) == 1


def test_all_relevant_is_affirmed():
    said = measure(words("none", "yes", "yes"))
    assert (said.value, said.verdict.decision) == (1.0, SUPPORTED)


def test_the_answer_and_the_question_are_shown_and_no_passages():
    model = ScriptedModel(words("none", "yes", "no"))
    AnswerRelevancy(model)(item(history=(Turn("user", "I need a lamp."),)), response(ANSWER, ["A passage."]))
    (prompt,) = model.prompts
    assert prompt.system.startswith(RELEVANCY)
    assert prompt.user.splitlines() == [
        "<conversation>",
        '"user": "I need a lamp."',
        "</conversation>",
        "<question>",
        '"What voltage does the lamp need?"',
        "</question>",
        "<answer>",
        json.dumps(ANSWER),
        "</answer>",
        "<statements>",
        '[1] "Hello!"',
        '[2] "The lamp needs 12 volts."',
        '[3] "The shop opens at nine."',
        "</statements>",
        "Do these statements address the question? Reply with one JSON object that has one verdict for each number.",
    ]


def test_what_was_delivered_is_scored():
    model = ScriptedModel(words("no"))
    said = AnswerRelevancy(model)(item(), response("It is 12 volts.", delivered="Ask the shop."))
    assert asked_about(model.prompts[0].user, "statements") == {1: "Ask the shop."}
    assert said.value == 0.0


@pytest.mark.parametrize("replies", [("no", "no", "no"), ("none", "no", "no"), ("none", "none", "none")])
def test_an_answer_that_commits_to_nothing_scores_zero(replies):
    said = measure(words(*replies))
    assert (said.value, said.verdict.decision) == (0.0, UNSUPPORTED)


@pytest.mark.parametrize("answer", ["", " \n\u200b"])
def test_a_blank_answer_addresses_nothing_and_costs_no_call(answer):
    model = ScriptedModel("yes")
    assert AnswerRelevancy(model)(item(), response(answer)) == Score("answer_relevancy", 0.0)
    assert model.prompts == []


def test_where_a_refusal_is_wanted_it_has_nothing_to_say():
    model = ScriptedModel("yes")
    assert AnswerRelevancy(model)(item(refusal=True), response()) == Score("answer_relevancy", None, applies=False)
    assert model.prompts == []


def test_without_a_model_it_is_unscored():
    assert AnswerRelevancy()(item(), response()) == Score("answer_relevancy", None, "needs a model")


@pytest.mark.parametrize(
    "reply",
    [
        words("none", "yes"),
        words("none", "yes", "no", "yes"),
        words("none", "yes", "perhaps"),
        words("none", "yes", "yes."),
        words("yes", "yes", "no", first=0),
        "yes",
        "",
        "```\n{}\n```",
        None,
        RuntimeError("down"),
        Reply(words("none", "yes", "no"), "length"),
        Reply(None, "content_filter"),
        '{"verdicts": [{"id": 1, "verdict": "yes"}, {"id": 1, "verdict": "yes"}, {"id": 2, "verdict": "yes"}]}',
    ],
)
@both_doors
def test_a_reply_that_is_not_one_verdict_a_number_leaves_it_unscored(door, reply):
    metric = AnswerRelevancy(ScriptedModel(reply))
    said = door.call(metric.acall if door.is_async else metric, item(), response(ANSWER))
    assert (said.value, said.verdict.decision, said.verdict.score) == (None, UNKNOWN, None)
    assert said.unscored == said.verdict.reason.value


def test_the_reason_of_the_failure_is_told():
    assert measure(RuntimeError("down")).unscored == "judge_error"
    assert measure(Reply(None, "content_filter")).unscored == "judge_filtered"
    assert measure(Reply("x", "length")).unscored == "judge_truncated"
    assert measure("x").unscored == "verdict_malformed"
    assert "number 3: missing" in measure(words("none", "yes")).verdict.detail
    assert "number 2: answered with another word" in measure(words("yes", "si", "si")).verdict.detail


def test_more_statements_than_one_call_is_asked_about_are_unscored():
    model = ScriptedModel("x")
    said = AnswerRelevancy(model)(item(), response("\n".join(f"- item {at}" for at in range(MOST + 1))))
    assert (said.unscored, model.prompts) == ("judge_error", [])


def test_the_server_is_asked_to_constrain_its_output_where_it_can():
    model = ScriptedModel(words("none", "yes", "no"))
    AnswerRelevancy(model)(item(), response(ANSWER))
    (schema,) = model.schemas
    assert schema["properties"]["verdicts"]["items"]["properties"]["verdict"]["enum"] == ["yes", "no", "none"]
    AnswerRelevancy(model, constrained=False)(item(), response(ANSWER))
    assert model.schemas[1] is None
    fenced = f"```json\n{words('none', 'yes', 'no')}\n```"
    assert measure(fenced, constrained=False).value == 0.5
    assert measure(fenced, constrained=True).value is None


def test_fingerprints_cover_the_model_and_the_form():
    one = AnswerRelevancy(ScriptedModel("x"))
    assert one.fingerprint == AnswerRelevancy(ScriptedModel("y")).fingerprint
    others = [AnswerRelevancy(ScriptedModel("x", name="other")), AnswerRelevancy(ScriptedModel("x"), constrained=False)]
    assert len({one.fingerprint, AnswerRelevancy().fingerprint, *(each.fingerprint for each in others)}) == 4


def test_wiring_mistakes_are_told():
    def model(prompt):
        return "yes"

    with pytest.raises(UsageError, match="constrained is True, False or None"):
        AnswerRelevancy(model, constrained="yes")
    with pytest.raises(UsageError):
        AnswerRelevancy(FunctionModel(model), constrained=True)
    with pytest.raises(UsageError):
        AnswerRelevancy(3)


def test_nothing_of_the_texts_stands_in_a_repr():
    assert "lamp" not in repr(measure(words("none", "yes", "no")))
