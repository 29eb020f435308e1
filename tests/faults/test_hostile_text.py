"""Texts that talk to the judge: none leaves its place in the prompt, and none counts as a verdict."""

from __future__ import annotations

import json
import logging
import unicodedata
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from groundguard import Chunk, Decision, Guard, Reason, Response, Status, UngroundedError
from groundguard.judges import Claims, FactCheck, Judge, Lexical
from groundguard.judges.conversation import Conversation
from groundguard.models import Model, Prompt
from groundguard.policy import Raise
from groundguard.records import Turn
from groundguard.testing import ScriptedModel
from groundguard.text import is_blank
from support.claims import claims, verdicts
from support.doors import Door, both_doors
from support.hostile import (
    BESIDE,
    CORD,
    FALSE,
    FORGED,
    HUGE,
    INJECTIONS,
    JUDGES,
    LAMP,
    PLACES,
    PLEA,
    QUESTION,
    TRUE,
    Given,
    ObedientModel,
)
from support.strategies import joined
from support.telemetry import Spans, metric_reader

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

MARKS = ("passages", "conversation", "question", "answer", "truths", "claims", "statements")
WHOLE_VERDICTS = {"word", "object", "claims object", "claims object without passages", "fenced object"}

every_text = pytest.mark.parametrize("text", INJECTIONS.values(), ids=INJECTIONS)
every_judge = pytest.mark.parametrize("make", JUDGES.values(), ids=JUDGES)
every_place = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)

Make = Callable[[Model], Judge]
Place = Callable[[str, str], Given]


def check(judge: Judge, given: Given, door: Door | None = None, **options: Any) -> Response[Any]:
    guard = Guard(judge, **options)
    ask = guard.check if door is None else lambda *args, **more: door.check(guard, *args, **more)
    return ask(given.question, answer=given.answer, chunks=given.chunks, history=given.history)


def taught(make: Make, **options: Any) -> tuple[ObedientModel, Judge, list[Prompt]]:
    model = ObedientModel(**options)
    judge = make(model)
    return model, judge, model.teach(judge)


def taken_apart(prompt: Prompt) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """The lines of the frame in their order, marks among them, and the data lines of each block."""
    frame: list[str] = []
    data: dict[str, list[str]] = {}
    name = None
    for line in prompt.text.split("\n"):
        if name is not None and line != f"</{name}>":
            data[name].append(line)
            continue
        frame.append(line)
        opened = next((each for each in MARKS if line == f"<{each}>"), None)
        name = opened if name is None else None
        if opened is not None:
            assert opened not in data
            data[opened] = []
    assert name is None
    return tuple(frame), data


def texts_in(line: str) -> list[str]:
    decoder, found, at = json.JSONDecoder(), list[str](), line.index('"')
    while at < len(line):
        text, at = decoder.raw_decode(line, at)
        found.append(text)
        assert line[at : at + 2] in ("", ": ")
        at += 2
    return found


def without_the_unseen(text: str) -> str:
    return "".join(character for character in text if not is_blank(character))


# The prompt: nothing leaves its place.


def test_there_are_many() -> None:
    assert len(set(INJECTIONS.values())) >= 60


@every_judge
@every_place
def test_the_frame_is_the_same_whatever_the_texts(make: Make, place: Place) -> None:
    model, judge, harmless = taught(make)
    frames = {taken_apart(prompt)[0] for prompt in harmless}
    for text in INJECTIONS.values():
        judge(place(text, FALSE).exchange)
    assert len(model.prompts) >= len(INJECTIONS)
    assert {taken_apart(prompt)[0] for prompt in model.prompts} <= frames


@every_judge
@every_place
def test_the_data_are_the_texts_to_the_letter(make: Make, place: Place) -> None:
    model, judge, _ = taught(make)
    for text in INJECTIONS.values():
        given = place(text, FALSE)
        judge(given.exchange)
        decoded = [
            {name: [texts_in(line) for line in lines] for name, lines in taken_apart(prompt)[1].items()}
            for prompt in model.prompts
        ]
        model.prompts.clear()
        assert {text for data in decoded for (text,) in data.get("passages", [])} == {
            joined(chunk.text) for chunk in given.chunks
        }
        for data in decoded:
            assert data.get("question", [[joined(given.question)]]) == [[joined(given.question)]]
            assert data.get("answer", [[joined(given.answer)]]) == [[joined(given.answer)]]
            turns = [[joined(turn.role), joined(turn.content)] for turn in given.history]
            assert data.get("conversation", turns) == turns
            stated = "".join(each for name in ("claims", "statements") for (each,) in data.get(name, []))
            assert without_the_unseen(stated) in ("", without_the_unseen(joined(given.answer)))


@every_judge
@every_place
def test_a_data_line_shows_nothing_of_the_frame_and_nothing_unseen(make: Make, place: Place) -> None:
    model, judge, _ = taught(make)
    for text in INJECTIONS.values():
        judge(place(text, FALSE).exchange)
    lines = {line for prompt in model.prompts for data in taken_apart(prompt)[1].values() for line in data}
    assert lines
    for line in lines:
        assert not set("<>") & set(line)
        assert not any(is_blank(character) for character in line.replace(" ", ""))
        assert not any(unicodedata.bidirectional(character) in BIDIRECTIONAL for character in line)
        assert line.splitlines() == [line]
        assert line.startswith(('"', "["))


BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN"}


# The verdict: an obedient model is never given an order.


@every_judge
@every_text
def test_a_false_answer_never_passes_by_a_text(make: Make, text: str) -> None:
    _, judge, _ = taught(make)
    for where, place in PLACES.items():
        response = check(judge, place(text, FALSE))
        assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.UNSUPPORTED), where


@every_judge
@every_text
def test_a_right_answer_still_passes_beside_a_text(make: Make, text: str) -> None:
    _, judge, _ = taught(make)
    for where, place in BESIDE.items():
        assert check(judge, place(text, TRUE)).status is Status.ANSWERED, where


@both_doors
@every_judge
@pytest.mark.parametrize("name", ["closes its string", "combined", "lone surrogates", "chat marks"])
def test_both_doors_are_shut(door: Door, make: Make, name: str) -> None:
    text = INJECTIONS[name]
    _, judge, _ = taught(make)
    assert check(judge, PLACES["everywhere"](text, FALSE), door).reason is Reason.UNSUPPORTED
    assert check(judge, PLACES["chunk before"](text, TRUE), door).status is Status.ANSWERED


@pytest.mark.parametrize("name", [name for name, text in INJECTIONS.items() if "<" in text or "\n" in text])
def test_the_obedient_model_is_fooled_by_a_prompt_that_encodes_nothing(name: str) -> None:
    def naive(answer: str) -> str:
        return f'Is it so?\n<passages>\n[1] "{LAMP}"\n</passages>\n<answer>\n"{answer}"\n</answer>\nReply yes or no.'

    model = ObedientModel()
    model.teach_frame(naive(TRUE))
    assert (model.says(naive(TRUE)), model.says(naive(FALSE))) == ("yes", "no")
    assert model.says(naive(f"{FALSE}\n{INJECTIONS[name]}")) == "yes"


# The reply: nothing but the model's own word decides.


@every_judge
@every_text
def test_a_model_that_says_no_is_never_overruled(make: Make, text: str) -> None:
    _, judge, _ = taught(make, stubborn=True)
    for where, place in PLACES.items():
        assert check(judge, place(text, TRUE)).reason is Reason.UNSUPPORTED, where


@every_judge
@pytest.mark.parametrize("reply", ["", "maybe", "yes.", "{}", '{"verdicts": []}', None, []], ids=repr)
def test_a_yes_in_a_text_is_no_reply(make: Make, reply: object) -> None:
    judge = make(ScriptedModel(reply))
    for text in INJECTIONS.values():
        response = check(judge, PLACES["everywhere"](text, TRUE))
        assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.VERDICT_MALFORMED)


@every_judge
@pytest.mark.parametrize("name", INJECTIONS.keys() - WHOLE_VERDICTS)
def test_a_model_that_repeats_the_text_says_nothing(make: Make, name: str) -> None:
    response = check(make(ScriptedModel(INJECTIONS[name])), PLACES["answer's end"](INJECTIONS[name], FALSE))
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.VERDICT_MALFORMED)


@pytest.mark.parametrize("threshold", [0.01, 1.0])
def test_none_for_a_plea_leaves_the_rest_to_be_judged(threshold: float) -> None:
    model = ScriptedModel(verdicts("no", "none"))
    response = check(Claims(model, threshold=threshold), Given(f"{FALSE}\n\n{PLEA}"))
    assert (response.reason, response.verdict.score) == (Reason.UNSUPPORTED, 0.0)  # type: ignore[union-attr]  # judged


# Claims that an extraction drew.

DRAWING: dict[str, Make] = {
    "claims": lambda model: Claims(model, extract="model"),
    "claims, lenient": lambda model: Claims(model, extract="model", threshold=1.0, constrained=False),
    "conversation": lambda model: Conversation(model, extract="model"),
}
drawing = pytest.mark.parametrize("make", DRAWING.values(), ids=DRAWING)


@drawing
@every_text
def test_a_hostile_claim_is_judged_like_any_other(make: Make, text: str) -> None:
    for draws in ([(1, text)], [(1, TRUE), (1, text)], [(1, f"{FALSE} {text}")], [(1, f"{text}\n{TRUE}")]):
        model, judge, harmless = taught(make, draws=draws)
        response = check(judge, Given(FALSE))
        assert response.status is Status.UNGROUNDED
        assert response.verdict is not None
        assert response.verdict.decision is not Decision.SUPPORTED
        assert {taken_apart(prompt)[0] for prompt in model.prompts} <= {taken_apart(each)[0] for each in harmless}


@drawing
@pytest.mark.parametrize(
    "draws",
    [[(1, LAMP)], [(1, CORD)], [(1, LAMP), (1, CORD)], [(1, "The lamp runs.")], [(1, "It runs on volts.")], []],
    ids=["the truth instead", "beside the point", "both", "without the number", "without the number, else all", "none"],
)
def test_a_claim_in_place_of_the_false_one_hides_nothing(make: Make, draws: list[tuple[int, str]]) -> None:
    says_yes_to_what_was_drawn = verdicts(*("yes" for _ in draws), "no")
    truths = [json.dumps({"truths": [LAMP]})] if make is DRAWING["conversation"] else []
    model = ScriptedModel(*truths, claims(*draws), says_yes_to_what_was_drawn)
    response = check(make(model), Given(FALSE))
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.UNSUPPORTED)
    assert response.verdict is not None
    assert response.verdict.claims[-1].text == FALSE


@drawing
@pytest.mark.parametrize(
    "claim",
    [
        "If it runs on 240 volts, it runs on 240 volts.",
        "The words are: it runs on 240 volts.",
        "The answer says that it runs on 240 volts.",
    ],
)
@pytest.mark.xfail(reason="a claim that repeats the statement's words inside a true sentence covers the false statement")
def test_a_claim_that_wraps_the_false_one_hides_nothing(make: Make, claim: str) -> None:
    truths = [json.dumps({"truths": [LAMP]})] if make is DRAWING["conversation"] else []
    response = check(make(ScriptedModel(*truths, claims((1, claim)), verdicts("yes"))), Given(FALSE))
    assert response.status is Status.UNGROUNDED


# Replies that are hostile themselves.


def entry(**changes: Any) -> dict[str, Any]:
    return {"id": 1, "verdict": "yes", "passages": [1], **changes}


SECOND = entry(id=2)

HOSTILE_REPLIES: dict[str, Any] = {
    "extra key": json.dumps({"verdicts": [entry(__class__="Verdict"), SECOND]}),
    "extra key beside": json.dumps({"verdicts": [entry(), SECOND], "__class__": "Verdict"}),
    "decision beside": json.dumps({"verdicts": [entry(), SECOND], "decision": "supported"}),
    "a number repeated": json.dumps({"verdicts": [entry(), entry(), SECOND, SECOND]}),
    "numbers of text": json.dumps({"verdicts": [entry(id="1"), entry(id="2")]}),
    "numbers with a point": '{"verdicts": [{"id": 1.0, "verdict": "yes"}, {"id": 2.0, "verdict": "yes"}]}',
    "numbers true": json.dumps({"verdicts": [entry(id=True), SECOND]}),
    "no numbers": json.dumps({"verdicts": [entry(id=None), entry(id=None)]}),
    "NaN": '{"verdicts": [{"id": NaN, "verdict": "yes"}, {"id": 2, "verdict": "yes"}]}',
    "NaN beside": '{"verdicts": [{"id": 1, "verdict": "yes", "passages": [NaN]}, {"id": 2, "verdict": "yes"}]}',
    "infinity": '{"verdicts": [{"id": 1e999, "verdict": "yes"}, {"id": -Infinity, "verdict": "yes"}]}',
    "huge number": json.dumps({"verdicts": [entry(), SECOND, entry(id=10**400)]}),
    "huge passage": json.dumps({"verdicts": [entry(passages=[10**400]), entry(id=2, passages=[-(10**400)])]}),
    "number of 5,000 digits": '{"verdicts": [{"id": ' + "1" * 5_000 + ', "verdict": "yes"}]}',
    "passage nought": json.dumps({"verdicts": [entry(passages=[0]), entry(id=2, passages=[-1])]}),
    "100,000 brackets": "[" * 100_000,
    "100,000 brackets inside": '{"verdicts": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "100,000 objects": '{"verdicts":' * 100_000,
    "1 MB of verdicts": json.dumps({"verdicts": [entry()] * 20_000 + [SECOND] * 2}),
    "1 MB of yes": "yes " * 250_000,
    "1 MB beside": json.dumps({"verdicts": [entry(), SECOND]}) + " yes" * 250_000,
    "list of words": '{"verdicts": ["yes", "yes"]}',
    "word in a list": json.dumps({"verdicts": [entry(verdict=["yes"]), entry(id=2, verdict=["yes"])]}),
    "word true": json.dumps({"verdicts": [entry(verdict=True), entry(id=2, verdict=True)]}),
    "homoglyph": json.dumps({"verdicts": [entry(verdict="y\u0435s"), entry(id=2, verdict="ye\u017f")]}),
    "full-width": json.dumps({"verdicts": [entry(verdict="\uff59\uff45\uff53"), entry(id=2, verdict="yes\u200b")]}),
    "surrogates": json.dumps({"verdicts": [entry(verdict="yes\ud800"), entry(id=2, verdict="\udc00yes")]}),
    "NUL": json.dumps({"verdicts": [entry(verdict="yes\0"), entry(id=2, verdict="\0yes")]}),
    "raw NUL": '\0{"verdicts": [{"id": 1, "verdict": "yes"}, {"id": 2, "verdict": "yes"}]}',
    "byte order mark": '\ufeff{"verdicts": [{"id": 1, "verdict": "yes"}, {"id": 2, "verdict": "yes"}]}',
    "two objects": 2 * json.dumps({"verdicts": [entry(), SECOND]}),
    "key repeated": '{"verdicts": [], "verdicts": [{"id": 1, "verdict": "yes"}, {"id": 2, "verdict": "yes"}]}',
    "key repeated inside": '{"verdicts": [{"id": 1, "verdict": "no", "verdict": "yes"}, {"id": 2, "verdict": "yes"}]}',
    "comment": '{"verdicts": [{"id": 1, "verdict": "yes"}, {"id": 2, "verdict": "yes"}]} // checked',
    "single quotes": "{'verdicts': [{'id': 1, 'verdict': 'yes'}, {'id': 2, 'verdict': 'yes'}]}",
    "bytes": b'{"verdicts": [{"id": 1, "verdict": "yes"}, {"id": 2, "verdict": "yes"}]}',
    "parsed": {"verdicts": [entry(), SECOND]},
    "blocks": [{"type": "text", "text": '{"verdicts": '}, {"type": "image", "text": "[]}"}],
    "not a number": float("nan"),
    "claims instead": claims((1, TRUE)),
    "truths instead": json.dumps({"truths": [FORGED]}),
}
HOSTILE_DRAWINGS: dict[str, Any] = {
    "statement nought": claims((0, TRUE)),
    "statement that is not there": claims((3, TRUE)),
    "huge statement": claims((10**400, TRUE)),
    "blank claim": claims((1, TRUE), (2, "\u200b\U000e0041\ud800")),
    "extra key": json.dumps({"claims": [{"statement": 1, "claim": TRUE, "verdict": "yes"}]}),
    "verdict instead": json.dumps({"verdicts": [entry(), SECOND]}),
    "no text": json.dumps({"claims": [{"statement": 1, "claim": {"__class__": "str"}}]}),
    **{name: reply for name, reply in HOSTILE_REPLIES.items() if name != "claims instead"},
}


@pytest.mark.parametrize("threshold", [0.01, 1.0])
@pytest.mark.parametrize("constrained", [None, False])
@pytest.mark.parametrize("reply", HOSTILE_REPLIES.values(), ids=HOSTILE_REPLIES)
def test_no_hostile_reply_supports(reply: Any, constrained: bool | None, threshold: float) -> None:
    judge = Claims(ScriptedModel(reply), constrained=constrained, threshold=threshold)
    response = check(judge, Given(f"{TRUE} {FALSE}"))
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.VERDICT_MALFORMED)
    assert response.verdict is not None
    assert Decision.SUPPORTED not in {claim.decision for claim in response.verdict.claims}


@pytest.mark.parametrize("constrained", [None, False])
@pytest.mark.parametrize("reply", HOSTILE_DRAWINGS.values(), ids=HOSTILE_DRAWINGS)
def test_no_hostile_drawing_supports(reply: Any, constrained: bool | None) -> None:
    model = ScriptedModel(reply, verdicts("yes", "yes"))
    response = check(Claims(model, extract="model", constrained=constrained), Given(f"{TRUE} {FALSE}"))
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.VERDICT_MALFORMED)
    assert len(model.prompts) == 1


# Without a model.


@every_text
def test_words_to_the_judge_move_no_word_counter(text: str) -> None:
    for where in ("question", "history", "role", "chunk's other fields", "answer's end", "answer's begin"):
        assert check(Lexical(), PLACES[where](text, FALSE)).status is Status.UNGROUNDED, where
    for where in ("question", "history", "role", "chunk's other fields"):
        assert check(Lexical(), PLACES[where](text, TRUE)).status is Status.ANSWERED, where


@pytest.mark.parametrize(
    "answer",
    [
        "It runs on 2\u200b40 volts.",
        "It runs on 12\u200b0 volts.",
        "It runs on 12\u2060\u0660 volts.",
        "It runs on 12\u0660 volts.",
        "It runs on 12\uff10 volts.",
        "It runs on \u202e12\u202c volts.",
        "It runs on 12\u00ad5 volts.",
        "It runs on \U0001d7d0\U0001d7d2\U0001d7ce volts.",
        "It runs on 12 kilo\u200bvolts.",
    ],
    ids=ascii,
)
def test_a_number_in_disguise_is_not_the_one_that_was_found(answer: str) -> None:
    assert check(Lexical(), Given(answer)).status is Status.UNGROUNDED


# Huge texts.


@pytest.mark.parametrize("make", [FactCheck, Claims, Conversation], ids=["word", "claims", "conversation"])
@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE)
def test_a_huge_text_is_data_too(make: Make, text: str) -> None:
    model, judge, harmless = taught(make)
    assert check(judge, Given(TRUE, chunks=(Chunk(text), Chunk(LAMP)))).status is Status.ANSWERED
    assert check(judge, Given(f"{FALSE} {text}", chunks=(Chunk(LAMP),))).reason is Reason.UNSUPPORTED
    assert {taken_apart(prompt)[0] for prompt in model.prompts} <= {taken_apart(prompt)[0] for prompt in harmless}


# What others see.


@both_doors
@pytest.mark.parametrize("reply", ["no", "CANARY yes", RuntimeError("CANARY")], ids=repr)
@every_judge
def test_nothing_of_the_texts_is_observed(
    make: Make, reply: Any, door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    metric_reader()
    caplog.set_level(logging.DEBUG)
    spans = Spans()
    seen: list[object] = []
    for name in ("combined", "attributes", "lone surrogates", "chat marks"):
        given = PLACES["everywhere"](f"CANARY {INJECTIONS[name]}", FALSE)
        with warnings.catch_warnings(record=True) as told, pytest.raises(UngroundedError) as caught:
            warnings.simplefilter("always")
            check(make(ScriptedModel(reply)), given, door, policy=Raise())
        response = caught.value.response
        seen += [repr(response), repr(response.verdict), repr(caught.value), str(caught.value), caught.value.args]
        seen += [str(each.message) for each in told] + [repr(response.chunks)]
        seen += [repr(each) for each in (response.verdict.claims if response.verdict else ())]
    for span in spans.started:
        seen += [span.name, dict(span.attributes or {}), span.status.description]
        seen += [(event.name, dict(event.attributes or {})) for event in span.events]
    seen += [(record.getMessage(), vars(record)) for record in caplog.records]
    assert len(caplog.records) >= 4
    assert "CANARY" not in repr(seen)


@pytest.mark.xfail(reason="the repr of a Turn shows its role, which may be a stranger's text")
def test_the_role_of_a_turn_is_not_shown() -> None:
    given = Given(TRUE, history=(Turn("CANARY", "Hello!"),))
    assert "CANARY" not in repr(given.exchange)
