import enum
import json
import time
from itertools import product

import pytest

from groundguard.judges.verdicts import constrained, least_tokens, literal, read, shape, text_of
from groundguard.models import Prompt, Reply
from groundguard.records import Decision, Reason, Usage

SENT = Prompt("Instructions.", "Data.")
LONG = Prompt("Check.", "word " * 2_000)

EIGHT = ["".join(letters) for letters in product("yY", "eE", "sS")]
FOUR = ["".join(letters) for letters in product("nN", "oO")]

MALFORMED = [
    "Yes.",
    " yes",
    "yes ",
    "yes\n",
    "yes\r\n",
    "\nyes",
    "**yes**",
    "yes, because",
    "yes yes",
    "yesno",
    "ye",
    "y",
    "sí",
    "Sí",
    "ja",
    "oui",
    "はい",
    "是",
    "हाँ",
    "true",
    "True",
    "1",
    "-1",
    "ye\u017f",
    "YE\u017f",
    "y\u0435s",
    "\uff39\uff25\uff33",
    "yes\u200b",
    "\ufeffyes",
    "y\u0301es",
    "yes些",
    "```\nyes\n```",
    "`yes`",
    '"yes"',
    "'yes'",
    "<yes>",
    "",
    " ",
    "\u200b",
    "None",
    "null",
    "[]",
    '["yes"]',
    '{"verdict": "yes"}',
    "<think>It holds.</think>yes",
    "It holds.</think>yes",
    "<think>so the answer is yes",
    "\ud800yes",
    "yes\x00",
    "The claim is supported.",
    "supported",
    "I'm sorry, but I can't help with that.",
]


def reading(content="yes", **fields):
    return read(Reply(content, **fields), SENT)


# The literal word.


@pytest.mark.parametrize("text", EIGHT)
def test_the_eight_spellings_of_yes_support(text):
    assert literal(text) is Decision.SUPPORTED
    assert (reading(text).decision, reading(text).reason) == (Decision.SUPPORTED, Reason.SUPPORTED)
    assert reading(text).raw == text
    assert reading(text).detail is None


@pytest.mark.parametrize("text", FOUR)
def test_the_four_spellings_of_no_do_not(text):
    assert literal(text) is Decision.UNSUPPORTED
    assert (reading(text).decision, reading(text).reason) == (Decision.UNSUPPORTED, Reason.UNSUPPORTED)


@pytest.mark.parametrize("text", MALFORMED)
def test_everything_else_is_malformed(text):
    assert literal(text) is None
    found = reading(text)
    assert (found.decision, found.reason) == (Decision.UNKNOWN, Reason.VERDICT_MALFORMED)
    assert found.raw == text
    assert found.detail == shape(text)


def test_the_long_s_would_pass_as_yes_under_other_case_rules():
    assert "ye\u017f".casefold() == "yes"
    assert "ye\u017f".upper() == "YES"
    assert literal("ye\u017f") is None


# Content that isn't a string.

BYTES = b"yes"


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (None, "no content"),
        (True, "bool where text was expected"),
        (1, "int where text was expected"),
        (-1, "int where text was expected"),
        (float("nan"), "float where text was expected"),
        (BYTES, "bytes where text was expected"),
        ({"verdict": "yes"}, "dict where text was expected"),
        ({"type": "text", "text": "yes"}, "dict where text was expected"),
        ({"yes"}, "set where text was expected"),
        ([], "list where text was expected"),
        (Decision, "EnumType where text was expected"),
        ([1], "int where a text block was expected"),
        ([{"type": "text", "text": "yes"}, None], "no content"),
        ([["yes"]], "list where a text block was expected"),
        ([{"text": "yes"}], "dict where a text block was expected"),
        ([{"type": "text", "text": None}], "dict where a text block was expected"),
        ([{"type": "text", "text": ["yes"]}], "dict where a text block was expected"),
        ([{"type": "image", "text": "yes"}], "dict where a text block was expected"),
        ([{"type": ["text"], "text": "yes"}], "dict where a text block was expected"),
        ([{"type": {}, "text": "yes"}], "dict where a text block was expected"),
        ([{"type": "text", "text": "yes"}, {"type": "tool_use", "input": {}}], "dict where a text block was expected"),
        (["yes"], "str where a text block was expected"),
        (["y", "es"], "str where a text block was expected"),
        ([{"type": "text", "text": "yes"}, "\n"], "str where a text block was expected"),
    ],
)
def test_content_that_is_no_text_is_malformed_and_names_its_type(content, detail):
    found = reading(content)
    assert (found.decision, found.reason) == (Decision.UNKNOWN, Reason.VERDICT_MALFORMED)
    assert found.detail == detail


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("yes", "yes"),
        ([{"type": "text", "text": "yes"}], "yes"),
        ([{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}], "yes"),
        ([{"type": "text", "text": "yes"}, {"type": "text", "text": "\n"}], "yes\n"),
        ([{"type": "thinking", "thinking": "no"}, {"type": "text", "text": "yes"}], "yes"),
        ([{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "yes"}], "yes"),
        ([{"type": "reasoning", "text": "no no"}, {"type": "text", "text": "yes"}], "yes"),
        ([{"type": "reasoning_content", "text": "no"}, {"type": "text", "text": "no"}], "no"),
        ([{"type": "thinking", "thinking": "yes"}], ""),
        ([{"type": "text", "text": "yes", "thought": True}, {"type": "text", "text": "no"}], "no"),
    ],
)
def test_text_blocks_are_joined_and_marked_thoughts_dropped(content, text):
    assert text_of(content) == text
    assert reading(content).raw == text
    assert (reading(content).decision is Decision.SUPPORTED) == (text == "yes")


def test_only_what_the_provider_marked_is_a_thought():
    found = reading([{"type": "text", "text": "<think>no</think>"}, {"type": "text", "text": "yes"}])
    assert found.reason is Reason.VERDICT_MALFORMED
    assert found.detail == "20 characters; equals yes after removing a closed <think> block"


# How the reply ended.


class Finish(str, enum.Enum):  # noqa: UP042  # its str() is not its value, as in many a client
    STOP = "stop"
    LENGTH = "length"


class Numbered(enum.IntEnum):
    STOP = 1
    MAX_TOKENS = 2
    SAFETY = 3


class Named(enum.Enum):
    END_TURN = "END_TURN"
    CONTENT_FILTER = "content_filter"


@pytest.mark.parametrize(
    "finish",
    [
        None,
        "",
        "stop",
        "STOP",
        "Stop",
        "end_turn",
        "stop_sequence",
        "eos_token",
        "COMPLETE",
        "completed",
        Finish.STOP,
        Numbered.STOP,
        Named.END_TURN,
    ],
)
def test_a_reply_that_ended_by_itself_is_read(finish):
    assert reading(finish_reason=finish).decision is Decision.SUPPORTED
    assert reading("yes.", finish_reason=finish).reason is Reason.VERDICT_MALFORMED


@pytest.mark.parametrize("content", ["yes", "no", "", "yes, ex", None, [{"type": "text", "text": "yes"}], True])
@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("length", Reason.JUDGE_TRUNCATED),
        ("max_tokens", Reason.JUDGE_TRUNCATED),
        ("MAX_TOKENS", Reason.JUDGE_TRUNCATED),
        ("max_output_tokens", Reason.JUDGE_TRUNCATED),
        ("incomplete", Reason.JUDGE_TRUNCATED),
        (Finish.LENGTH, Reason.JUDGE_TRUNCATED),
        (Numbered.MAX_TOKENS, Reason.JUDGE_TRUNCATED),
        ("content_filter", Reason.JUDGE_FILTERED),
        ("SAFETY", Reason.JUDGE_FILTERED),
        (Numbered.SAFETY, Reason.JUDGE_FILTERED),
        (Named.CONTENT_FILTER, Reason.JUDGE_FILTERED),
        ("refusal", Reason.JUDGE_REFUSED),
        ("tool_calls", Reason.VERDICT_MALFORMED),
        ("function_call", Reason.VERDICT_MALFORMED),
        ("error", Reason.VERDICT_MALFORMED),
        ("stopped", Reason.VERDICT_MALFORMED),
        (" stop", Reason.VERDICT_MALFORMED),
        (0, Reason.VERDICT_MALFORMED),
        (True, Reason.VERDICT_MALFORMED),
        (["stop"], Reason.VERDICT_MALFORMED),
    ],
)
def test_a_reply_that_did_not_end_by_itself_is_never_a_verdict(finish, reason, content):
    found = reading(content, finish_reason=finish)
    assert (found.decision, found.reason) == (Decision.UNKNOWN, reason)
    assert found.detail


@pytest.mark.parametrize("content", ["yes", None, "", ["yes"]])
@pytest.mark.parametrize("finish", [None, "stop", "length"])
def test_a_refusal_that_is_set_apart_wins_and_is_kept(finish, content):
    found = reading(content, finish_reason=finish, refusal="I can't judge this.")
    assert (found.decision, found.reason) == (Decision.UNKNOWN, Reason.JUDGE_REFUSED)
    assert found.raw == "I can't judge this."
    assert "judge this" not in found.detail


@pytest.mark.parametrize("refusal", [None, ""])
def test_no_refusal_is_none(refusal):
    assert reading(refusal=refusal).decision is Decision.SUPPORTED


@pytest.mark.parametrize(
    ("block", "raw"),
    [({"type": "refusal", "refusal": "I won't."}, "I won't."), ({"type": "refusal"}, None)],
)
def test_a_refusal_block_is_a_refusal(block, raw):
    found = reading([{"type": "text", "text": "yes"}, block])
    assert (found.decision, found.reason, found.raw) == (Decision.UNKNOWN, Reason.JUDGE_REFUSED, raw)


def test_a_filter_wins_over_a_refusal():
    assert reading(refusal="no", finish_reason="content_filter").reason is Reason.JUDGE_FILTERED


# A prompt that the server cut.


@pytest.mark.parametrize("content", ["yes", "no", "Yes."])
@pytest.mark.parametrize("seen", [1, 50, 1_987, 2_000])
def test_a_cut_prompt_gives_no_verdict(seen, content):
    found = read(Reply(content, "stop", usage=Usage(seen, 1)), LONG)
    assert (found.decision, found.reason) == (Decision.UNKNOWN, Reason.JUDGE_TRUNCATED)
    assert found.detail == f"the judge saw a cut prompt: {seen} tokens reported where at least 2001 were sent"
    assert found.raw == content


@pytest.mark.parametrize("usage", [None, *(Usage(seen, 1) for seen in (None, 0, -1, -5, 2_001, 2_600, 10**9))])
def test_a_whole_prompt_or_an_unknown_count_is_trusted(usage):
    assert read(Reply("yes", "stop", usage=usage), LONG).decision is Decision.SUPPORTED


def test_a_short_prompt_is_not_counted():
    assert read(Reply("yes", usage=Usage(1)), SENT).decision is Decision.SUPPORTED
    fifty = Prompt("one", "word " * 49)
    assert read(Reply("yes", usage=Usage(49)), fifty).reason is Reason.JUDGE_TRUNCATED


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t", 0),
        ("one", 1),
        ("one two\nthree", 3),
        ("abcdefghijkl", 1),
        ("abcdefghijklm", 1),
        ("-" * 80, 1),
        ("|" + "-" * 78 + "|", 1),
        ("=" * 80 + "\n" + "#" * 80, 2),
        ("吃" + "了饭我要" * 6, 3),
    ],
)
def test_the_least_number_of_tokens_errs_on_the_low_side(text, tokens):
    assert least_tokens(text) == tokens


# Constrained output.


@pytest.mark.parametrize("word", [*EIGHT, *FOUR])
@pytest.mark.parametrize("frame", ['{{"verdict":"{}"}}', '{{"verdict": "{}"}}', ' \n{{ "verdict" : "{}" }}\n'])
def test_a_constrained_verdict(frame, word):
    expected = Decision.SUPPORTED if word in EIGHT else Decision.UNSUPPORTED
    assert constrained(frame.format(word)) is expected


NOT_CONSTRAINED = [
    "yes",
    '"yes"',
    "",
    "null",
    "true",
    "NaN",
    "[]",
    "{}",
    '["yes"]',
    '[{"verdict": "yes"}]',
    '{"verdict": "yes."}',
    '{"verdict": " yes"}',
    '{"verdict": "yes\\n"}',
    '{"verdict": "ye\\u017f"}',
    '{"verdict": "supported"}',
    '{"verdict": ""}',
    '{"verdict": true}',
    '{"verdict": 1}',
    '{"verdict": null}',
    '{"verdict": NaN}',
    '{"verdict": Infinity}',
    '{"verdict": ["yes"]}',
    '{"verdict": {"verdict": "yes"}}',
    '{"Verdict": "yes"}',
    '{"verdict ": "yes"}',
    '{"verdict": "yes", "why": "because"}',
    '{"verdict": "yes", "verdict": "yes"}',
    '{"verdict": "no", "verdict": "yes"}',
    '{"verdict": "no", "\\u0076erdict": "yes"}',
    '{"a": {"b": 1, "b": 2}, "verdict": "yes"}',
    '{"verdict": "yes"} {"verdict": "yes"}',
    '{"verdict": "yes"}.',
    '```json\n{"verdict": "yes"}\n```',
    '\ufeff{"verdict": "yes"}',
    '\u200b{"verdict": "yes"}',
    '\xa0{"verdict": "yes"}',
    "{'verdict': 'yes'}",
    '{"verdict": "yes",}',
    '{"verdict": "yes"',
    '{"verdict": ' + "9" * 10_000 + "}",
    '{"verdict": "yes"}' * 2,
    "[" * 100_000,
    '{"verdict":' * 100_000,
    '{"verdict": ' + "[" * 100_000 + "]" * 100_000 + "}",
    '{"verdict": "' + "y" * 1_000_000 + '"}',
]


@pytest.mark.parametrize("text", NOT_CONSTRAINED, ids=lambda text: text[:40])
def test_nothing_else_is_a_constrained_verdict(text):
    assert constrained(text) is None
    found = read(Reply(text, "stop"), SENT, constrained)
    assert (found.decision, found.reason) == (Decision.UNKNOWN, Reason.VERDICT_MALFORMED)
    assert found.detail == shape(text)


def test_a_megabyte_of_white_space_is_still_the_schema():
    assert constrained('{"verdict": "yes"' + " " * 1_000_000 + "}") is Decision.SUPPORTED


def test_the_literal_word_is_judged_by_the_parser_that_was_asked_for():
    text = json.dumps({"verdict": "yes"})
    assert read(Reply(text), SENT).reason is Reason.VERDICT_MALFORMED
    assert read(Reply("yes"), SENT, constrained).reason is Reason.VERDICT_MALFORMED
    assert read(Reply(text), SENT, constrained).decision is Decision.SUPPORTED


# The shape of a reply.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "an empty reply"),
        ("\n", "1 character, none of them visible"),
        (" \u200b", "2 characters, none of them visible"),
        ("Yes.", "4 characters; equals yes after removing the final full stop"),
        ("No.", "3 characters; equals no after removing the final full stop"),
        ("YES\n", "4 characters; equals yes after removing surrounding white space"),
        (" yes", "4 characters; equals yes after removing surrounding white space"),
        ("yes!", "4 characters; equals yes after removing final punctuation"),
        ("**yes**", "7 characters; equals yes after removing Markdown emphasis"),
        ('"yes"', "5 characters; equals yes after removing quotation marks"),
        ("`no`", "4 characters; equals no after removing quotation marks"),
        ("```\nyes\n```", "11 characters; equals yes after removing a code fence"),
        ("```text\nyes\n```\n", "16 characters; equals yes after removing a code fence"),
        ("<think>hm</think>yes", "20 characters; equals yes after removing a closed <think> block"),
        (
            "<think>no</think>**Yes.**",
            "25 characters; equals yes after removing a closed <think> block and Markdown emphasis and the final full stop",
        ),
        ("Yes, it does.", "13 characters; equals yes after removing the final full stop and all but the first word"),
        ("no because", "10 characters; equals no after removing all but the first word"),
        ("<think>so it is yes", "19 characters; a <think> block that was never closed"),
        ("The claim is supported.", "23 characters; 4 words, none of them the whole reply"),
        ("supported", "9 characters; one word, but neither yes nor no"),
        ("***", "3 characters; one word, but neither yes nor no"),
        ("1", "1 character; one word, but neither yes nor no"),
        ("sí", "2 characters; one word with characters outside ASCII"),
        ("ye\u017f", "3 characters; one word with characters outside ASCII"),
        ('{"verdict": "yes"}', "18 characters; looks like JSON"),
        (' ["yes"]', "8 characters; looks like JSON"),
        ("yes", "3 characters; the bare word yes where a JSON object was asked for"),
        ("NO", "2 characters; the bare word no where a JSON object was asked for"),
    ],
)
def test_the_shape_says_what_is_wrong(text, expected):
    assert shape(text) == expected


SIZE = 200_000
HOSTILE = [
    "```" * SIZE,
    "```\n" * SIZE,
    "```\n" + "```    " * SIZE,
    "```\n" + " " * SIZE + "```" + " " * SIZE + "x",
    "\n```" * SIZE,
    "```" + "a" * SIZE,
    " " * SIZE + "x",
    "\n" * SIZE + "```",
    "<think>" * SIZE,
    "</think>" * SIZE,
    "<think>" + "</think" * SIZE,
    "<" * SIZE,
    "*_" * SIZE,
    "yes" * SIZE,
    "yes " * SIZE,
    "." * SIZE,
    "!,;:" * SIZE,
    "\u200b" * SIZE + "x",
    '"' * SIZE,
    "{" * SIZE,
    '{"verdict":"' * SIZE,
    "a" * SIZE,
    "ab" * SIZE,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
@pytest.mark.parametrize("parse", [literal, constrained])
def test_reading_takes_linear_time(parse, text):
    began = time.perf_counter()
    assert read(Reply(text, "stop"), SENT, parse).decision is Decision.UNKNOWN
    least_tokens(text)
    assert time.perf_counter() - began < 5


def test_a_reading_does_not_show_the_reply():
    assert "surprise" not in repr(reading("surprise"))
