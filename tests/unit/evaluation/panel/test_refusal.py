import pytest

from groundguard import Guard
from groundguard.errors import UsageError
from groundguard.evaluation.panel import Refusal, refused
from groundguard.evaluation.panel.prompts import REFUSAL, REFUSAL_VERSION
from groundguard.evaluation.results import Score
from groundguard.judges import Lexical
from groundguard.models import FunctionModel, Reply
from groundguard.policy import Replace
from groundguard.records import Usage
from groundguard.testing import ScriptedModel
from support.doors import both_doors
from support.panel import SUPPORTED, item, response

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

WANTED, UNWANTED = item(refusal=True), item()
SORRY = "I don't know."


@both_doors
@pytest.mark.parametrize(
    ("golden", "word", "value", "declined"),
    [
        (WANTED, "yes", 1.0, True),
        (WANTED, "no", 0.0, False),
        (UNWANTED, "yes", 0.0, True),
        (UNWANTED, "no", 1.0, False),
    ],
)
def test_a_refusal_is_scored_as_the_item_wants(door, golden, word, value, declined):
    metric = Refusal(ScriptedModel(Reply(word, "stop", usage=Usage(900, 1), model="m-1")))
    given = response(SORRY)
    said = door.call(metric.acall if door.is_async else metric, golden, given)
    assert (said.metric, said.value, said.applies) == ("refusal", value, True)
    assert (said.verdict.decision is SUPPORTED) is declined
    assert (said.verdict.judge, said.verdict.fingerprint) == ("refusal:scripted", metric.fingerprint)
    assert (said.verdict.model, said.verdict.usage, said.verdict.calls) == ("m-1", Usage(900, 1), 1)
    assert (said.verdict.prompt_version, said.verdict.prompt_hash) == (REFUSAL_VERSION, metric.question.prompt_hash)
    assert refused(golden, given, [Score("faithfulness", 1.0), said]) is declined


@pytest.mark.parametrize("reply", ["Yes.", " yes", "si", "", None, "no no", RuntimeError("x"), Reply("yes", "length")])
@pytest.mark.parametrize("golden", [WANTED, UNWANTED])
def test_anything_but_the_literal_word_is_unscored(golden, reply):
    said = Refusal(ScriptedModel(reply))(golden, response(SORRY))
    assert (said.value, said.unscored) == (None, said.verdict.reason.value)
    assert refused(golden, response(SORRY), [said]) is None


def test_no_words_decide_without_a_model():
    for golden in (WANTED, UNWANTED):
        assert Refusal()(golden, response(SORRY)) == Score("refusal", None, "needs a model")
        assert Refusal()(golden, response(SORRY, [])) == Score("refusal", None, "needs a model")


@pytest.mark.parametrize("answer", ["", " \u200b\n"])
@pytest.mark.parametrize("golden", [WANTED, UNWANTED])
def test_a_blank_answer_neither_answers_nor_declines(golden, answer):
    model = ScriptedModel("yes")
    said = Refusal(model)(golden, response(answer))
    assert (said, model.prompts) == (Score("refusal", 0.0), [])
    assert refused(golden, response(answer), [said]) is None


def test_what_a_policy_withheld_was_declined():
    guard = Guard(Lexical(), policy=Replace("Please call us."))
    given = guard.check("What voltage?", answer="It is 900 volts.", chunks=["The lamp runs on 12 volts."])
    assert Refusal()(WANTED, given) == Score("refusal", 1.0)
    assert Refusal()(UNWANTED, given) == Score("refusal", 0.0)
    assert refused(WANTED, given, [Refusal()(WANTED, given)]) is True


def test_nobody_asked():
    assert refused(WANTED, response(), [Score("faithfulness", 1.0)]) is None


def test_the_question_and_the_answer_are_shown_and_no_passages():
    model = ScriptedModel("no")
    Refusal(model)(UNWANTED, response(SORRY, ["A passage."]))
    (prompt,) = model.prompts
    assert prompt.system.startswith(REFUSAL)
    assert prompt.user.splitlines() == [
        "<question>",
        '"What voltage does the lamp need?"',
        "</question>",
        "<answer>",
        '"I don\'t know."',
        "</answer>",
        "Does the answer decline to answer? Reply with one word: yes or no.",
    ]
    assert model.schemas == [None]


def test_the_server_can_be_asked_to_constrain_its_output():
    model = ScriptedModel('{"verdict": "yes"}')
    metric = Refusal(model, constrained=True)
    assert metric(WANTED, response(SORRY)).value == 1.0
    assert model.schemas[0] is not None
    assert model.prompts[0].user.endswith('Reply with {"verdict": "yes"} or {"verdict": "no"}.')
    assert metric.fingerprint != Refusal(model).fingerprint != Refusal().fingerprint
    assert Refusal(ScriptedModel("yes"), constrained=True)(WANTED, response(SORRY)).unscored == "verdict_malformed"


def test_wiring_mistakes_are_told():
    with pytest.raises(UsageError, match="constrained is True, False or None"):
        Refusal(ScriptedModel("yes"), constrained=1)
    with pytest.raises(UsageError):
        Refusal(FunctionModel(lambda prompt: "yes"), constrained=True)
