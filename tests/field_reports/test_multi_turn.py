"""Conversations, as people met them: each test is named after the report it answers."""

import re

import pytest

from groundguard import Guard
from groundguard.conversation import LastTurns, ThisTurn, turn_faithfulness
from groundguard.judges import FactCheck
from groundguard.records import Reason, Status
from groundguard.testing import ScriptedModel
from support.doors import both_doors


def block(prompt, name):
    """What stands in one block of a prompt."""
    found = re.search(rf"^<{name}>\n(.*)\n</{name}>$", prompt, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def number_in_passages(prompt):
    """A judge's model that says yes exactly if the answer's number stands in the passages."""
    number = re.search(r"\d+", block(prompt, "answer"))[0]
    return "yes" if number in block(prompt, "passages") else "no"


def check(door, session, question, answer, chunks):
    return door.call(session.acheck if door.is_async else session.check, question, answer=answer, chunks=chunks)


@both_doors
@pytest.mark.parametrize(
    ("evidence", "status"),
    [(ThisTurn(), Status.NO_CONTEXT), (LastTurns(2), Status.ANSWERED), (LastTurns(1), Status.NO_CONTEXT)],
)
def test_turns_evidence_from_an_earlier_turn(door, evidence, status):
    session = Guard(FactCheck(number_in_passages)).session(evidence=evidence)
    lamp = "The lamp runs on 12 volts; its cord is 240 cm long."
    assert check(door, session, "What voltage does the lamp need?", "12 volts.", [lamp]).status is Status.ANSWERED
    assert check(door, session, "And how long is its cord?", "240 cm.", []).status is status


@both_doors
def test_turns_evidence_from_an_earlier_turn_does_not_excuse_an_invention(door):
    session = Guard(FactCheck(number_in_passages)).session(evidence=LastTurns(2))
    check(door, session, "What voltage does the lamp need?", "12 volts.", ["The lamp runs on 12 volts."])
    response = check(door, session, "And how long is its cord?", "300 cm.", [])
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.UNSUPPORTED)


@both_doors
@pytest.mark.parametrize("evidence", [ThisTurn(), LastTurns(5)])
def test_turns_own_words_as_evidence(door, evidence):
    seen = []

    def blue_in_passages(prompt):
        seen.append(prompt)
        return "yes" if "blue" in block(prompt, "passages") else "no"

    session = Guard(FactCheck(blue_in_passages)).session(evidence=evidence)
    lamp = ["The lamp weighs one kilogram."]
    assert check(door, session, "What colour is it?", "The lamp is blue.", lamp).status is Status.UNGROUNDED
    response = check(door, session, "Are you sure?", "As I said, the lamp is blue.", lamp)
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.UNSUPPORTED)
    assert '"assistant": "The lamp is blue."' in block(seen[1], "conversation")
    assert "blue" not in block(seen[1], "passages")
    assert "the conversation are not evidence" in seen[1].partition("<passages>")[0].replace("\n", " ")


def test_turns_windowing_gives_odd_scores():
    model = ScriptedModel("yes")
    result = turn_faithfulness(
        [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "Hello, how can I help?"},
            {"role": "user", "content": "Which voltage does the lamp take?"},
            {"role": "assistant", "content": "12 volts.", "retrieval_context": ["The lamp runs on 12 volts."]},
            {"role": "user", "content": "thanks"},
            {"role": "assistant", "content": "Any time!"},
        ],
        FactCheck(model),
        evidence=ThisTurn(),
    )
    assert len(model.prompts) == 1
    assert [(turn.index, turn.status, turn.score) for turn in result.turns] == [
        (1, Status.NO_CONTEXT, None),
        (3, Status.ANSWERED, 1.0),
        (5, Status.NO_CONTEXT, None),
    ]
    assert (result.mean, result.scored, result.unscored) == (1.0, 1, 2)
    assert result.headline == pytest.approx(1 / 3)
