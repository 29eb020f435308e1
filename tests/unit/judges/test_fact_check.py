import asyncio
import dataclasses

import pytest

from groundguard.errors import UsageError
from groundguard.guard import Guard
from groundguard.judges import FactCheck
from groundguard.judges.prompts import FACT_CHECK, VERDICT_SCHEMA, prompt_hash
from groundguard.models import FunctionModel, Reply
from groundguard.records import Chunk, Decision, Exchange, Reason, Status, Usage
from groundguard.testing import ScriptedModel

EXCHANGE = Exchange("What voltage?", (Chunk("It runs on 12 volts."),), "12 volts.")


class WithSettings(ScriptedModel):
    def __init__(self, *replies, name="scripted", **settings):
        super().__init__(*replies, name=name)
        self._settings = settings

    @property
    def settings(self):
        return self._settings


def check(judge):
    return Guard(judge).check("What voltage?", answer="12 volts.", chunks=["It runs on 12 volts."])


def test_one_call_one_word():
    model = ScriptedModel(Reply("YES", "stop", usage=Usage(321, 1), model="scripted-2024"))
    judge = FactCheck(model)
    verdict = judge(EXCHANGE)
    assert verdict.decision is Decision.SUPPORTED
    assert verdict.raw == "YES"
    assert verdict.judge == "fact_check:scripted"
    assert verdict.fingerprint == judge.fingerprint
    assert verdict.prompt_version == "fact-check/1"
    assert verdict.prompt_hash == prompt_hash(FACT_CHECK)
    assert verdict.model == "scripted-2024"
    assert verdict.usage == Usage(321, 1)
    assert verdict.calls == 1
    assert len(model.prompts) == 1
    assert model.schemas == [None]


def test_the_model_sees_the_exchange_and_two_runs_see_the_same_bytes():
    model = ScriptedModel("no")
    judge = FactCheck(model)
    assert {judge(EXCHANGE).decision for _ in range(2)} == {Decision.UNSUPPORTED}
    assert model.prompts[0] == model.prompts[1]
    for text in ("What voltage?", "It runs on 12 volts.", "12 volts."):
        assert f'"{text}"' in model.prompts[0].user
        assert text not in model.prompts[0].system


@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_a_malformed_reply_keeps_its_raw_text_its_shape_and_its_usage():
    verdict = FactCheck(ScriptedModel(Reply("Yes.", "stop", usage=Usage(400, 2))))(EXCHANGE)
    assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, Reason.VERDICT_MALFORMED)
    assert verdict.raw == "Yes."
    assert verdict.detail == "4 characters; equals yes after removing the final full stop"
    assert verdict.usage == Usage(400, 2)
    assert "Yes." not in repr(verdict)


# Your own instructions.


def test_instructions_of_your_own_keep_the_frame_and_the_demand_for_one_word():
    model = ScriptedModel("yes")
    judge = FactCheck(model, instructions="Only prices count: {chunks} %s")
    verdict = judge(EXCHANGE)
    assert model.prompts[0].system.startswith("Only prices count: {chunks} %s\n\nReply with exactly one English word")
    assert "<passages>" in model.prompts[0].user
    assert (verdict.prompt_version, verdict.prompt_hash) == ("custom", judge.prompt_hash)
    assert judge.prompt_hash != FactCheck(model).prompt_hash


@pytest.mark.parametrize("instructions", [None, 5, b"x", ["x"]])
def test_instructions_are_text(instructions):
    with pytest.raises(UsageError, match=f"instructions are a text .*, not {type(instructions).__name__}"):
        FactCheck(ScriptedModel("yes"), instructions=instructions)


# Constrained output.


@pytest.mark.parametrize(
    ("reply", "decision"),
    [
        ('{"verdict": "yes"}', Decision.SUPPORTED),
        ('{"verdict":"NO"}', Decision.UNSUPPORTED),
        ([{"type": "text", "text": '{"verdict": "yes"}'}], Decision.SUPPORTED),
    ],
)
def test_constrained_sends_the_schema_and_reads_the_object(reply, decision):
    model = ScriptedModel(reply)
    assert FactCheck(model, constrained=True)(EXCHANGE).decision is decision
    assert model.schemas == [VERDICT_SCHEMA]
    assert "exactly one JSON object" in model.prompts[0].system


@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
@pytest.mark.parametrize("reply", ["yes", '{"verdict": "yes."}', {"verdict": "yes"}, '{"verdict": "yes", "x": 1}'])
def test_constrained_takes_nothing_but_the_object(reply):
    verdict = FactCheck(ScriptedModel(reply), constrained=True)(EXCHANGE)
    assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, Reason.VERDICT_MALFORMED)


def test_constrained_needs_a_model_that_takes_a_schema():
    for function in (lambda prompt: "yes", FunctionModel(lambda prompt: "yes")):
        with pytest.raises(UsageError, match="a plain function can't be told a JSON schema"):
            FactCheck(function, constrained=True)
        assert FactCheck(function)(EXCHANGE).decision is Decision.SUPPORTED


# Models.


@pytest.mark.parametrize("model", [None, 5, "gpt", "openai:", "openai: ", "anthropic:claude", ScriptedModel, object()])
def test_what_is_no_model_is_refused(model):
    with pytest.raises(UsageError, match=r"openai:NAME"):
        FactCheck(model)


def test_a_function_gets_the_whole_prompt_as_one_text():
    seen = []

    def model(prompt):
        seen.append(prompt)
        return "yes"

    judge = FactCheck(model)
    assert check(judge).status is Status.ANSWERED
    assert seen[0].startswith(FACT_CHECK)
    assert seen[0].endswith("Reply with one word: yes or no.")
    assert judge.name.startswith("fact_check:")


@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
@pytest.mark.parametrize(("said", "kind"), [(True, "bool"), (1, "int"), (None, "no content"), ({}, "dict")])
def test_a_function_that_returns_no_text_supports_nothing(said, kind):
    response = check(FactCheck(lambda prompt: said))
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.VERDICT_MALFORMED)
    assert response.verdict.detail.startswith(kind)


def test_an_async_function_needs_the_async_door():
    async def model(prompt):
        return "yes"

    with pytest.raises(UsageError, match="is async: use the async door"):
        check(FactCheck(model))
    assert asyncio.run(FactCheck(model).acall(EXCHANGE)).decision is Decision.SUPPORTED


# A judge is a value.


def test_the_fingerprint_covers_whatever_shapes_the_verdict():
    base = FactCheck(ScriptedModel("yes"))
    others = [
        FactCheck(ScriptedModel("yes", name="other")),
        FactCheck(ScriptedModel("yes"), instructions="Other."),
        FactCheck(ScriptedModel("yes"), constrained=True),
        FactCheck(WithSettings("yes", temperature=0)),
        FactCheck(WithSettings("yes", temperature=1)),
        FactCheck(WithSettings("yes", logit_bias={1: 2})),
    ]
    assert len({judge.fingerprint for judge in (base, *others)}) == 7
    assert FactCheck(ScriptedModel("no")).fingerprint == base.fingerprint
    same = [FactCheck(WithSettings("yes", a=1, b=2)), FactCheck(WithSettings("yes", b=2, a=1))]
    assert same[0].fingerprint == same[1].fingerprint


def test_equality_and_hash():
    model = ScriptedModel("yes")
    judge = FactCheck(model)
    assert judge == FactCheck(model, instructions=FACT_CHECK)
    assert hash(judge) == hash(FactCheck(model))
    assert judge not in {FactCheck(model, constrained=True), FactCheck(model, instructions="x")}
    assert judge != FactCheck(ScriptedModel("yes", name="other"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        judge.constrained = True
    assert dataclasses.replace(judge, constrained=True) == FactCheck(model, constrained=True)
    assert "instructions" not in repr(judge)
