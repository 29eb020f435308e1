"""The judge `Conversation`: truths first, then claims, and what an invented truth can't do."""

import json
import re

import pytest
from hypothesis import given

from groundguard import Guard
from groundguard.conversation import ThisTurn, turn_faithfulness
from groundguard.errors import UsageError
from groundguard.judges import Claims, Conversation, Window
from groundguard.judges.claims.prompts import AID, CLAIMS, VERDICTS_SCHEMA
from groundguard.judges.prompts import encoded
from groundguard.judges.truths import SCHEMA
from groundguard.models import FunctionModel, Reply
from groundguard.records import Chunk, Decision, Exchange, Reason, Status, Turn, Usage
from groundguard.retry import Retry
from groundguard.testing import ScriptedModel
from support import strategies
from support.claims import asked_about, claims, verdicts
from support.doors import both_doors

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

LAMP = Exchange(
    "Which lamp?",
    (Chunk("The lamp is blue."), Chunk("It costs 20 euros.")),
    "It is blue. It costs 30 euros.",
    (Turn("user", "Hi!"),),
)


def truths(*facts):
    return json.dumps({"truths": facts})


def block(prompt, name):
    found = re.search(rf"^<{name}>\n(.*)\n</{name}>$", prompt, re.DOTALL | re.MULTILINE)
    return found[1] if found else None


@both_doors
def test_two_calls_the_truths_then_the_claims(door):
    model = ScriptedModel(
        Reply(truths("The lamp is blue.", "The lamp costs 20 euros."), "stop", usage=Usage(1000, 20), model="m-1"),
        Reply(verdicts(("yes", [1]), "no"), "stop", usage=Usage(2000, 9), model="m-1"),
    )
    judge = Conversation(model)
    verdict = door.call(judge.acall if door.is_async else judge, LAMP)
    assert (verdict.decision, verdict.score) == (Decision.UNSUPPORTED, 0.5)
    assert [claim.decision for claim in verdict.claims] == [Decision.SUPPORTED, Decision.UNSUPPORTED]
    assert (verdict.usage, verdict.calls, verdict.model) == (Usage(3000, 29), 2, "m-1")
    assert (verdict.judge, verdict.prompt_version) == ("conversation:scripted", "conversation/1")
    assert (verdict.prompt_hash, verdict.fingerprint) == (judge.prompt_hash, judge.fingerprint)
    assert verdict.raw == truths("The lamp is blue.", "The lamp costs 20 euros.") + "\n" + verdicts(("yes", [1]), "no")
    assert model.schemas == [SCHEMA, VERDICTS_SCHEMA]


def test_the_truths_are_drawn_from_the_passages_alone_and_stand_beside_them_as_a_reading_aid():
    model = ScriptedModel(truths("The lamp is blue.", "Free."), verdicts("yes", "no"))
    Conversation(model)(LAMP)
    first, second = model.prompts
    assert block(first.user, "passages") == block(second.user, "passages")
    assert (block(first.user, "answer"), block(first.user, "question"), block(first.user, "conversation")) == (
        None,
    ) * 3
    assert block(second.user, "truths") == '"The lamp is blue."\n"Free."'
    assert second.user.index("</passages>") < second.user.index("<truths>") < second.user.index("<claims>")
    assert second.system.startswith(f"{CLAIMS}\n\n{AID}\n\n")
    assert "they are not evidence: every verdict rests on what the passages themselves say, and on nothing else" in AID


def test_an_invented_truth_cant_pass_a_claim():
    def model(prompt):
        if "<claims>" not in prompt:
            return truths("The lamp costs 30 euros.", "The lamp is blue.")
        shown = block(prompt, "passages")
        return verdicts(*("yes" if text.split()[-2] in shown else "no" for text in asked_about(prompt).values()))

    verdict = Conversation(model)(Exchange("?", LAMP.chunks, "It costs 30 euros."))
    assert verdict.decision is Decision.UNSUPPORTED


@given(strategies.texts)
def test_a_truth_stays_in_its_block(text):
    model = ScriptedModel(truths(f"x{text}"), verdicts("yes", "yes"))
    Conversation(model)(LAMP)
    lines = model.prompts[1].user.split("\n")
    at = lines.index("<truths>")
    assert lines[at : at + 3] == ["<truths>", encoded(json.loads(json.dumps(f"x{text}"))), "</truths>"]


def test_without_any_truth_the_claims_are_judged_on_the_passages():
    model = ScriptedModel(truths(), verdicts("yes", "yes"))
    assert Conversation(model)(LAMP).decision is Decision.SUPPORTED
    assert block(model.prompts[1].user, "truths") is None


@both_doors
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("The lamp is blue.", Reason.VERDICT_MALFORMED),
        (truths(3), Reason.VERDICT_MALFORMED),
        (Reply(truths("Blue."), "length"), Reason.JUDGE_TRUNCATED),
        (Reply(truths("Blue."), "content_filter"), Reason.JUDGE_FILTERED),
        (Reply(None, "stop", refusal="no"), Reason.JUDGE_REFUSED),
        (RuntimeError("down"), Reason.JUDGE_ERROR),
        (TimeoutError("late"), Reason.JUDGE_TIMEOUT),
    ],
    ids=str,
)
def test_where_no_truths_come_the_verdict_is_unknown_with_the_reason(door, reply, reason):
    model = ScriptedModel(reply, verdicts("yes", "yes"))
    response = door.check(Guard(Conversation(model), retry=Retry(1)), "?", answer=LAMP.answer, chunks=LAMP.chunks)
    assert (response.status, response.reason) == (Status.UNGROUNDED, reason)
    assert response.verdict.detail.startswith("the truths: ")
    assert "Blue" not in response.verdict.detail
    assert len(model.prompts) == 1


@pytest.mark.parametrize(("threshold", "decision"), [(1.0, Decision.UNSUPPORTED), (0.5, Decision.SUPPORTED)])
def test_the_threshold_is_that_of_claims(threshold, decision):
    model = ScriptedModel(truths("Blue."), verdicts("yes", "no"))
    assert Conversation(model, threshold=threshold)(LAMP).decision is decision


def test_claims_may_be_drawn_by_the_model():
    model = ScriptedModel(
        truths("Blue."), claims((1, "It is blue."), (2, "It costs 30 euros.")), verdicts("yes", "yes")
    )
    verdict = Conversation(model, extract="model")(LAMP)
    assert (verdict.decision, verdict.calls) == (Decision.SUPPORTED, 3)
    assert block(model.prompts[1].user, "truths") is None


def test_a_turn_that_asserts_nothing_gets_the_literal_question():
    model = ScriptedModel(truths("Blue."), verdicts("none"), '{"verdict": "no"}')
    verdict = Conversation(model)(Exchange("Thanks!", LAMP.chunks, "Any time!"))
    assert (verdict.decision, verdict.score, verdict.detail) == (Decision.UNSUPPORTED, None, "no claims")
    assert verdict.calls == 3


def test_it_scores_the_turns_of_a_recorded_conversation():
    log = [
        {"role": "user", "content": "Which lamp?"},
        {"role": "assistant", "content": LAMP.answer, "retrieval_context": [chunk.text for chunk in LAMP.chunks]},
        {"role": "user", "content": "Thanks!"},
        {"role": "assistant", "content": "Any time!"},
    ]
    model = ScriptedModel(truths("Blue."), verdicts("yes", "no"))
    result = turn_faithfulness(log, Conversation(model), evidence=ThisTurn())
    assert (result.headline, result.mean, result.scored) == (0.25, 0.5, 1)


# Evidence that doesn't fit.


def test_evidence_that_doesnt_fit_is_read_in_parts_each_with_all_truths():
    chunks = tuple(Chunk(f"Lamp {number} is blue, and nobody knows why it is. " * 20) for number in range(8))
    seen = []

    def first(prompt):
        return min(asked_about(prompt, "passages"))

    def model(prompt):
        seen.append(prompt)
        if "<claims>" not in prompt:
            return truths(f"Lamp {first(prompt)} is blue.")
        contradicts = CLAIMS not in prompt
        words = ["yes" if "Lamp 0" in block(prompt, "passages") and not contradicts else "no"]
        return verdicts(*words)

    verdict = Conversation(model, window=Window(1900))(Exchange("?", chunks, "Lamp 0 is blue."))
    assert verdict.decision is Decision.SUPPORTED
    drawing, judging = [each for each in seen if "<claims>" not in each], [each for each in seen if "<claims>" in each]
    asking, contradicting = (
        [each for each in judging if CLAIMS in each],
        [each for each in judging if CLAIMS not in each],
    )
    assert len(drawing) > 1
    assert len(asking) > 1
    shown = "\n".join(f'"Lamp {number} is blue."' for number in sorted(map(first, drawing)))
    assert all(block(each, "truths") == shown and AID in each for each in asking)
    assert contradicting
    assert all(block(each, "truths") is None for each in contradicting)


def test_what_cant_be_made_to_fit_is_never_cut():
    model = ScriptedModel(truths("Blue."), verdicts("yes", "yes"))
    verdict = Conversation(model, window=Window(20))(LAMP)
    assert (verdict.decision, verdict.reason, model.prompts) == (Decision.UNKNOWN, Reason.JUDGE_TRUNCATED, [])


# The value.


def test_a_plain_function_is_asked_in_words():
    replies = iter([f"```json\n{truths('Blue.')}\n```", verdicts("yes", "yes")])
    verdict = Conversation(lambda prompt: next(replies))(LAMP)
    assert verdict.decision is Decision.SUPPORTED


def test_what_counts_is_in_the_fingerprint():
    model = ScriptedModel("x")
    judges = [
        Conversation(model),
        Conversation(model, threshold=0.5),
        Conversation(model, extract="model"),
        Conversation(model, constrained=False),
        Conversation(model, window=Window(1000)),
        Conversation(ScriptedModel("x", name="other")),
        Claims(model),
    ]
    assert len({judge.fingerprint for judge in judges}) == len(judges)
    assert Conversation(model) == Conversation(model)
    assert Conversation(model).prompt_hash != Claims(model).prompt_hash


@pytest.mark.parametrize(
    "options",
    [{"threshold": 0}, {"threshold": "1"}, {"extract": "all"}, {"constrained": "yes"}, {"window": 8}],
    ids=str,
)
def test_a_wrong_option_is_a_usage_error(options):
    with pytest.raises(UsageError, match=next(iter(options))):
        Conversation(ScriptedModel("x"), **options)


@pytest.mark.parametrize("options", [{"extract": "SECRET"}, {"extract": None}, {"constrained": "SECRET"}], ids=str)
def test_a_wrong_option_is_named_as_it_was_written(options):
    with pytest.raises(UsageError, match=f"^{next(iter(options))} is ") as raised:
        Conversation(ScriptedModel("x"), **options)
    assert "Claims" not in str(raised.value)
    assert "SECRET" not in str(raised.value)


def test_a_function_cant_be_told_a_schema():
    with pytest.raises(UsageError, match="a plain function can't be told a JSON schema"):
        Conversation(FunctionModel(lambda prompt: "x"), constrained=True)
    assert Conversation(ScriptedModel("x"), constrained=True).constrained is True
