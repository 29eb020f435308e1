"""Wrong facts in right words: what the judge without a model makes of them, and judges that say one thing to all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundguard import Decision, Exchange, Guard, Reason, Status
from groundguard.cli.advice import advice
from groundguard.cli.cases import CASES, Finding
from groundguard.judges import Claims, FactCheck, Lexical
from groundguard.judges.prompts import FACT_CHECK
from groundguard.records import Chunk
from groundguard.testing import ScriptedModel
from support.doors import Door, both_doors

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

ALARM = "Alarms are enabled by default. The lease must not be extended."
TOWN = "Ostby lies on the river Lo. Ostby has 48 000 inhabitants."
BOLT = "The bolt is 14 mm long."
BEND = "Die größte Biegung beträgt 2,5 %. The greatest bend is 2,5 %."
BEAMS = "The three beams measure 61, 64 and 68.5 cm."
QUESTIONS = {ALARM: "Can the lease be extended?", TOWN: "How many inhabitants has Ostby?"}


@both_doors
@pytest.mark.parametrize(
    ("chunk", "answer", "status"),
    [
        (ALARM, "Alarms are disabled by default.", "ungrounded"),
        (ALARM, "The lease must be extended.", "ungrounded"),
        (ALARM, "The lease cannot be extended.", "answered"),
        (TOWN, "Ostby lies on the river Lo. It has **888 000** inhabitants.", "ungrounded"),
        (TOWN, "It has 84 000 inhabitants.", "ungrounded"),
        (TOWN, "It has about 48 thousand inhabitants.", "answered"),
        (BOLT, "The bolt is 1.4 cm long.", "answered"),
        (BOLT, "The bolt is 14 cm long.", "ungrounded"),
        (BEND, "The greatest bend is 2.5 %.", "answered"),
        (BEND, "The greatest bend is 25 %.", "ungrounded"),
        ("Due on 05.06.2031 (day first).", "Due on May 6, 2031.", "ungrounded"),
        (BEAMS, "All beams are class B.", "ungrounded"),
        (BEAMS, "Two beams are longer than 66 cm.", "ungrounded"),
        ("My aunt flew home from Oslo on Friday.", "Oslo is the capital of Norway.", "ungrounded"),
    ],
)
def test_lexical_tells_a_fact_from_another_in_the_same_words(door: Door, chunk: str, answer: str, status: str) -> None:
    assert (
        door.check(Guard(Lexical()), QUESTIONS.get(chunk, "What is said?"), answer=answer, chunks=[chunk]).status
        == status
    )


def test_lexical_takes_no_word_for_an_answer_that_the_passage_does_not_give() -> None:
    response = Guard(Lexical()).check(
        "What is the capital of Latvia?", answer="Riga.", chunks=["Riga has a jazz festival."]
    )
    assert response.status is Status.UNGROUNDED


@pytest.mark.parametrize(("word", "right"), [("yes", Decision.SUPPORTED), ("no", Decision.UNSUPPORTED)])
def test_fact_small_judge_too_lenient_is_told_from_one_that_judges(word: str, right: Decision) -> None:
    judge = FactCheck(ScriptedModel(word))
    findings = [Finding(case, judge(case.exchange)) for case in CASES]
    assert sum(finding.was_right for finding in findings) == sum(case.right is right for case in CASES)
    assert advice(findings, constrained=False).startswith(f"It says {word} to everything, which is no judgement")


@pytest.mark.parametrize("kind", [FactCheck, Claims])
def test_the_prompt_of_a_judge_can_be_replaced_for_a_model(kind: Any) -> None:
    reply = "no" if kind is FactCheck else json.dumps({"verdicts": [{"id": 1, "verdict": "no", "passages": []}]})
    model = ScriptedModel(reply)
    usual, own = kind(model), kind(model, instructions="Be strict: a number that differs in one digit is wrong.")
    verdict = own(Exchange("?", (Chunk(BOLT),), "The bolt is 15 mm long."))
    assert (verdict.decision, verdict.reason, verdict.prompt_version) == (
        Decision.UNSUPPORTED,
        Reason.UNSUPPORTED,
        "custom",
    )
    assert "Be strict" in model.prompts[0].system
    assert own.fingerprint != usual.fingerprint


def test_the_prompt_forbids_knowledge_of_the_world() -> None:
    text = " ".join(FACT_CHECK.split())
    assert "Use only what the passages state or directly entail, not what you know." in text
