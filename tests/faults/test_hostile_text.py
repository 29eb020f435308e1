"""Texts that talk to the judge: none leaves its place in the prompt, and none counts as a verdict."""

from __future__ import annotations

import functools
import json
import logging
import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import dataclass
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
    TRUE,
    Given,
    ObedientModel,
)
from support.strategies import joined
from support.telemetry import Spans, metric_reader

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

MARKS = ("passages", "conversation", "question", "answer", "truths", "claims", "statements")
WHOLE_VERDICTS = {"word", "object", "claims object", "claims object without passages", "fenced object"}

every_judge = pytest.mark.parametrize("make", JUDGES.values(), ids=JUDGES)

CASES = [
    (judge, place)
    for judge in JUDGES
    for place in PLACES
    if place == "everywhere"
    or place in {"word": PLACES, "claims": PLACES, "claims, drawn": {"answer's end"}}.get(judge, ())
]
every_case = pytest.mark.parametrize(("judge", "place"), CASES, ids=map(", ".join, CASES))

Make = Callable[[Model], Judge]


def check(judge: Judge, given: Given, door: Door | None = None, **options: Any) -> Response[Any]:
    guard = Guard(judge, timeout=None, **options)  # without a deadline there is no thread a call
    ask = guard.check if door is None else lambda *args, **more: door.check(guard, *args, **more)
    return ask(given.question, answer=given.answer, chunks=given.chunks, history=given.history)


def taught(make: Make, *, stubborn: bool = False) -> tuple[ObedientModel, Judge, list[Prompt]]:
    model = ObedientModel(stubborn=stubborn)
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


@dataclass(frozen=True)
class Asked:
    """What became of a false answer with a hostile text in one place."""

    name: str
    given: Given
    response: Response[Any]
    pages: list[tuple[tuple[str, ...], dict[str, list[str]]]]


@functools.cache
def asked(judge: str, place: str) -> tuple[set[tuple[str, ...]], list[Asked]]:
    """The frames of harmless prompts, and what an obedient model was asked for each hostile text."""
    model, own, harmless = taught(JUDGES[judge])
    done: list[Asked] = []
    for name, text in INJECTIONS.items():
        given = PLACES[place](text, FALSE)
        response = check(own, given)
        done.append(Asked(name, given, response, [taken_apart(prompt) for prompt in model.prompts]))
        model.prompts.clear()
    return {taken_apart(prompt)[0] for prompt in harmless}, done


# The prompt: nothing leaves its place.


def test_there_are_many() -> None:
    assert len(set(INJECTIONS.values())) >= 60


@every_case
def test_the_frame_is_the_same_whatever_the_texts(judge: str, place: str) -> None:
    frames, done = asked(judge, place)
    assert [each.name for each in done if not each.pages or not {frame for frame, _ in each.pages} <= frames] == []


@every_case
def test_the_data_are_the_texts_to_the_letter(judge: str, place: str) -> None:
    for each in asked(judge, place)[1]:
        given = each.given
        decoded = [{name: [texts_in(line) for line in lines] for name, lines in data.items()} for _, data in each.pages]
        passages = {text for data in decoded for (text,) in data.get("passages", [])}
        assert passages == {joined(chunk.text) for chunk in given.chunks}, each.name
        turns = [[joined(turn.role), joined(turn.content)] for turn in given.history]
        for data in decoded:
            assert data.get("question", [[joined(given.question)]]) == [[joined(given.question)]], each.name
            assert data.get("answer", [[joined(given.answer)]]) == [[joined(given.answer)]], each.name
            assert data.get("conversation", turns) == turns, each.name
            stated = "".join(text for name in ("claims", "statements") for (text,) in data.get(name, []))
            assert without_the_unseen(stated) in ("", without_the_unseen(joined(given.answer))), each.name


@every_case
def test_a_data_line_shows_nothing_of_the_frame_and_nothing_unseen(judge: str, place: str) -> None:
    _, done = asked(judge, place)
    lines = {line for each in done for _, data in each.pages for texts in data.values() for line in texts}
    assert len(lines) >= 5
    for line in lines:
        assert not set("<>") & set(line)
        assert not any(is_blank(character) for character in line.replace(" ", ""))
        assert not any(unicodedata.bidirectional(character) in BIDIRECTIONAL for character in line)
        assert line.splitlines() == [line]
        assert line.startswith(('"', "["))


BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN"}


# The verdict: an obedient model is never given an order.


@every_case
def test_a_false_answer_never_passes_by_a_text(judge: str, place: str) -> None:
    said = {each.name: (each.response.status, each.response.reason) for each in asked(judge, place)[1]}
    assert said == dict.fromkeys(INJECTIONS, (Status.UNGROUNDED, Reason.UNSUPPORTED))


@pytest.mark.parametrize(
    ("judge", "place"), [(judge, place) for judge in JUDGES for place in BESIDE if judge == "word" or "all" in place]
)
def test_a_right_answer_still_passes_beside_a_text(judge: str, place: str) -> None:
    _, own, _ = taught(JUDGES[judge])
    said = {name: check(own, BESIDE[place](text, TRUE)).status for name, text in INJECTIONS.items()}
    assert said == dict.fromkeys(INJECTIONS, Status.ANSWERED)


@both_doors
@every_judge
@pytest.mark.parametrize("name", ["closes its string", "combined", "lone surrogates", "chat marks"])
def test_both_doors_are_shut(door: Door, make: Make, name: str) -> None:
    text = INJECTIONS[name]
    _, judge, _ = taught(make)
    assert check(judge, PLACES["everywhere"](text, FALSE), door).reason is Reason.UNSUPPORTED
    assert check(judge, PLACES["chunk before"](text, TRUE), door).status is Status.ANSWERED


def test_the_obedient_model_is_fooled_by_a_prompt_that_encodes_nothing() -> None:
    def naive(answer: str) -> str:
        return f'Is it so?\n<passages>\n[1] "{LAMP}"\n</passages>\n<answer>\n"{answer}"\n</answer>\nSay yes or no.'

    model = ObedientModel()
    model.teach_frame(naive(TRUE))
    assert (model.says(naive(TRUE)), model.says(naive(FALSE))) == ("yes", "no")
    honest = {name for name, text in INJECTIONS.items() if model.says(naive(f"{FALSE} {text}")) == "no"}
    assert len(INJECTIONS) - len(honest) >= 30
    assert not honest & {"closes its block", "on one line", "closes its string", "odd line breaks"}
    assert not honest & {"line separators", "lone surrogates", "NUL and controls", "chat marks", "combined"}
    assert "plea" in honest


# The reply: nothing but the model's own word decides.


@every_judge
def test_a_model_that_says_no_is_never_overruled(make: Make) -> None:
    _, judge, _ = taught(make, stubborn=True)
    said = {name: check(judge, PLACES["everywhere"](text, TRUE)).reason for name, text in INJECTIONS.items()}
    assert said == dict.fromkeys(INJECTIONS, Reason.UNSUPPORTED)


@every_judge
def test_a_yes_in_a_text_is_no_reply(make: Make) -> None:
    replies: list[object] = ["", "maybe", "yes.", "{}", '{"verdicts": []}', None, [], {"verdict": "yes"}]
    for reply in replies:
        for name in ("combined", "plea", *WHOLE_VERDICTS):
            response = check(make(ScriptedModel(reply)), PLACES["everywhere"](INJECTIONS[name], TRUE))
            assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.VERDICT_MALFORMED), name


@every_judge
def test_a_model_that_repeats_the_text_says_nothing(make: Make) -> None:
    said = {
        name: check(make(ScriptedModel(text)), PLACES["answer's end"](text, FALSE)).reason
        for name, text in INJECTIONS.items()
        if name not in WHOLE_VERDICTS
    }
    assert said == dict.fromkeys(said, Reason.VERDICT_MALFORMED)


@pytest.mark.parametrize("threshold", [0.01, 1.0])
def test_none_for_a_plea_leaves_the_rest_to_be_judged(threshold: float) -> None:
    model = ScriptedModel(verdicts("no", "none"))
    response = check(Claims(model, threshold=threshold), Given(f"{FALSE}\n\n{PLEA}"))
    assert (response.reason, response.verdict.score) == (Reason.UNSUPPORTED, 0.0)  # type: ignore[union-attr]  # judged


# Claims that an extraction drew.

DRAWING: dict[str, Make] = {
    "claims": lambda model: Claims(model, extract="model"),
    "conversation": lambda model: Conversation(model, extract="model"),
}
drawing = pytest.mark.parametrize("make", DRAWING.values(), ids=DRAWING)


@drawing
@pytest.mark.parametrize(
    "draw", [[(1, "{}")], [(1, TRUE), (1, "{}")], [(1, FALSE + " {}")], [(1, "{}\n" + TRUE)]], ids=str
)
def test_a_hostile_claim_is_judged_like_any_other(make: Make, draw: list[tuple[int, str]]) -> None:
    model, judge, harmless = taught(make)
    frames = {taken_apart(prompt)[0] for prompt in harmless}
    said: dict[str, Status] = {}
    for name, text in INJECTIONS.items():
        model.draws = [(number, claim.replace("{}", text)) for number, claim in draw]
        said[name] = check(judge, Given(FALSE)).status
    assert said == dict.fromkeys(INJECTIONS, Status.UNGROUNDED)
    assert {taken_apart(prompt)[0] for prompt in model.prompts} <= frames


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
def test_a_claim_that_wraps_the_false_one_hides_nothing(make: Make, claim: str) -> None:
    truths = [json.dumps({"truths": [LAMP]})] if make is DRAWING["conversation"] else []
    model = ScriptedModel(*truths, claims((1, claim)), verdicts("yes", "no"))
    response = check(make(model), Given(FALSE))
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.UNSUPPORTED)


@pytest.mark.parametrize(
    "lost", ["\u2260", "!=", ">", "\u2264", "\u00b1", "\u2011", "\u274c ", "\U0001f4af "], ids=ascii
)
def test_a_claim_that_lost_a_sign_hides_nothing(lost: str) -> None:
    answer = f"It runs on {lost}12 volts."
    model = ScriptedModel(claims((1, TRUE)), verdicts("yes", "no"))
    response = check(Claims(model, extract="model"), Given(answer))
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.UNSUPPORTED)


def test_answers_and_drawings_without_end_cost_no_calls_without_end() -> None:
    bullets = "\n".join(f"- Lamp {number} is blue" for number in range(4_000))
    many = claims(*((1, f"It runs on {number} volts.") for number in range(40_000)))
    for make, answer, replies, calls in (
        (Claims, bullets, [], 0),
        (Conversation, bullets, [json.dumps({"truths": [LAMP]})], 1),
        (DRAWING["claims"], FALSE, [many], 1),
        (DRAWING["conversation"], FALSE, [json.dumps({"truths": [LAMP]}), many], 2),
    ):
        model = ScriptedModel(*replies, verdicts("yes"))
        response = check(make(model), Given(answer))
        assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.JUDGE_ERROR)
        assert len(model.prompts) == calls


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


@pytest.mark.parametrize("reply", HOSTILE_REPLIES.values(), ids=HOSTILE_REPLIES)
def test_no_hostile_reply_supports(reply: Any) -> None:
    for constrained in (None, False):
        judge = Claims(ScriptedModel(reply), constrained=constrained, threshold=0.01)
        response = check(judge, Given(f"{TRUE} {FALSE}"))
        assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.VERDICT_MALFORMED)
        assert response.verdict is not None
        assert {claim.decision for claim in response.verdict.claims} == {Decision.UNKNOWN}


@pytest.mark.parametrize("reply", HOSTILE_DRAWINGS.values(), ids=HOSTILE_DRAWINGS)
def test_no_hostile_drawing_supports(reply: Any) -> None:
    for constrained in (None, False):
        model = ScriptedModel(reply, verdicts("yes", "yes"))
        response = check(Claims(model, extract="model", constrained=constrained), Given(f"{TRUE} {FALSE}"))
        assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.VERDICT_MALFORMED)
        assert len(model.prompts) == 1


HOSTILE_WORDS: dict[str, Any] = {
    "extra key": '{"verdict": "yes", "__class__": "Verdict"}',
    "other key": '{"verdicts": "yes"}',
    "key repeated": '{"verdict": "no", "verdict": "yes"}',
    "key escaped and repeated": '{"verdict": "no", "\\u0076erdict": "yes"}',
    "list": '[{"verdict": "yes"}]',
    "list inside": '{"verdict": ["yes"]}',
    "object inside": '{"verdict": {"verdict": "yes"}}',
    "true": '{"verdict": true}',
    "NaN": '{"verdict": NaN}',
    "NaN beside": '{"verdict": "yes", "score": NaN}',
    "huge number": '{"verdict": ' + "9" * 5_000 + "}",
    "100,000 brackets": '{"verdict": ' + "[" * 100_000,
    "two objects": '{"verdict": "yes"}{"verdict": "yes"}',
    "1 MB of yes": "yes" * 350_000,
    "1 MB before": " " * 1_000_000 + "yes",
    "raw NUL": "yes\0",
    "NUL": '{"verdict": "yes\\u0000"}',
    "lone surrogate": "yes\ud800",
    "escaped lone surrogate": '{"verdict": "yes\\ud800"}',
    "long s": '{"verdict": "ye\\u017f"}',
    "byte order mark": '\ufeff{"verdict": "yes"}',
    "bytes": b"yes",
    "blocks": [{"type": "text", "text": "yes"}, {"type": "tool_use", "text": ""}],
    "number": 10**400,
}


@pytest.mark.parametrize("reply", HOSTILE_WORDS.values(), ids=HOSTILE_WORDS)
def test_no_hostile_word_supports(reply: Any) -> None:
    for constrained in (True, False):
        response = check(FactCheck(ScriptedModel(reply), constrained=constrained), Given(TRUE))
        assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.VERDICT_MALFORMED)


# Without a model.


@pytest.mark.parametrize("place", sorted(PLACES.keys() - {"chunk before", "all beside", "everywhere"}))
def test_without_a_model_words_to_the_judge_move_nothing(place: str) -> None:
    said = {name: check(Lexical(), PLACES[place](text, FALSE)).status for name, text in INJECTIONS.items()}
    assert said == dict.fromkeys(INJECTIONS, Status.UNGROUNDED)


@pytest.mark.parametrize("place", BESIDE)
def test_without_a_model_a_right_answer_still_passes_beside_a_text(place: str) -> None:
    said = {name: check(Lexical(), BESIDE[place](text, LAMP)).status for name, text in INJECTIONS.items()}
    assert said == dict.fromkeys(INJECTIONS, Status.ANSWERED)


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


@pytest.mark.parametrize(
    "sign",
    ["\u2011", "\u2260", "!=", "\u00ac", ">", "<", "\u2264", "\u2265", ">=", "\u00b1", "~", "\u2248", "\u274c"],
    ids=ascii,
)
def test_a_number_behind_a_sign_is_not_the_one_that_was_found(sign: str) -> None:
    for space in ("", " " * (sign != "\u2011")):
        assert check(Lexical(), Given(f"It runs on {sign}{space}12 volts.")).status is Status.UNGROUNDED


@pytest.mark.parametrize(
    "answer",
    [
        "\u274c {}",
        "{} \U0001f6ab",
        "{}\u274c\ufe0f",
        "\U0001f6d1\U0001f6d1 {}",
        "{} \U0001f645\U0001f3fd\u200d\u2642\ufe0f",
    ],
    ids=ascii,
)
def test_a_cross_beside_the_truth_turns_it_round(answer: str) -> None:
    assert check(Lexical(), Given(answer.replace("{}", TRUE))).status is Status.UNGROUNDED


@pytest.mark.parametrize("mark", ["> ", ">> ", "+ ", "- ", "* ", "1. ", "\u2705 ", "- **", "-> "])
def test_a_mark_of_layout_before_the_truth_is_no_sign(mark: str) -> None:
    assert check(Lexical(), Given(mark + TRUE)).status is Status.ANSWERED


# Huge texts.


@pytest.mark.parametrize("make", [FactCheck, Claims, Conversation], ids=["word", "claims", "conversation"])
@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE)
def test_a_huge_text_is_data_too(make: Make, text: str) -> None:
    model, judge, harmless = taught(make)
    assert check(judge, Given(TRUE, chunks=(Chunk(text), Chunk(LAMP)))).status is Status.ANSWERED
    if make is FactCheck or len(text) < 200_000:
        assert check(judge, Given(f"{FALSE} {text}", chunks=(Chunk(LAMP),))).reason is Reason.UNSUPPORTED
    assert {taken_apart(prompt)[0] for prompt in model.prompts} <= {taken_apart(prompt)[0] for prompt in harmless}


# What others see.


@both_doors
@pytest.mark.parametrize("reply", ["no", "CANARY yes", RuntimeError("CANARY")], ids=repr)
@every_judge
def test_nothing_of_the_texts_is_observed(make: Make, reply: Any, door: Door, caplog: pytest.LogCaptureFixture) -> None:
    metric_reader()
    caplog.set_level(logging.DEBUG)
    spans = Spans()
    seen: list[object] = []
    for name in ("combined", "attributes", "lone surrogates", "chat marks"):
        given = PLACES["everywhere"](f"CANARY {INJECTIONS[name]}", FALSE)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with pytest.raises(UngroundedError) as caught:
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


def test_the_role_of_a_turn_is_not_shown() -> None:
    given = Given(TRUE, history=(Turn("CANARY", "Hello!"),))
    assert "CANARY" not in repr(given.exchange)
