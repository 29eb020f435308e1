"""What a Chat Completions server may reply, and what the caller gets: `answered` for the literal yes and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundguard import Decision, Reason, Status
from groundguard.errors import GroundguardWarning
from groundguard.records import JUDGE_FAILURES, Usage
from support.exchange import ANSWER, Ask
from support.server import Behaviour, Server, choice, completion, hang, say, send, send_json
from support.telemetry import Counts

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

MALFORMED_TEXTS = {
    "full stop": "Yes.",
    "space before": " yes",
    "line break after": "yes\n",
    "no-break space": "\u00a0yes",
    "zero-width space": "yes\u200b",
    "byte order mark": "\ufeffyes",
    "long s": "yeſ",
    "full width": "ＹＥＳ",
    "fenced": "```\nyes\n```",
    "bold": "**yes**",
    "quoted": '"yes"',
    "prose": "Yes, because every statement stands in the passages.",
    "undecided": "It depends on how one reads the second passage.",
    "negated prose": "The answer is not yes",
    "both": "yes no",
    "twice": "yesyes",
    "other language": "sí",
    "truth value": "true",
    "digit": "1",
    "empty": "",
    "white space": " \n\t",
    "thoughts": "<think>it says so</think>yes",
    "object": '{"verdict": "yes"}',
    "apology": "I'm sorry, but I can't help with that.",
    "200 kB of words": "yes no maybe " * 15_400,
}

MALFORMED_CONTENTS: dict[str, object] = {
    "null": None,
    "number": 1,
    "true": True,
    "object": {"verdict": "yes"},
    "object as block": [{"verdict": "yes"}],
    "empty list": [],
    "list in a list": [["yes"]],
    "list as text": [{"type": "text", "text": ["yes"]}],
    "image": [{"type": "image_url", "image_url": {"url": "yes"}}],
    "text and an unknown block": [{"type": "text", "text": "yes"}, {"type": "surprise"}],
}

MALFORMED: dict[str, Behaviour] = {
    **{name: say(text) for name, text in MALFORMED_TEXTS.items()},
    **{f"content is {name}": say(content) for name, content in MALFORMED_CONTENTS.items()},
    "tool call": say(None, finish_reason="tool_calls", tool_calls=[]),
    "yes, but a tool call": say("yes", finish_reason="tool_calls"),
    "yes, but an error": say("yes", finish_reason="error"),
    "yes, and a finish reason of the wrong type": say("yes", finish_reason=["stop"]),
}

FAILED: dict[str, tuple[Behaviour, Reason]] = {
    "refusal": (say(None, refusal="I can't judge this."), Reason.JUDGE_REFUSED),
    "refusal beside a yes": (say("yes", refusal="I can't judge this."), Reason.JUDGE_REFUSED),
    "refusal as finish reason": (say("yes", finish_reason="refusal"), Reason.JUDGE_REFUSED),
    "refusal block": (say([{"type": "refusal", "refusal": "No."}]), Reason.JUDGE_REFUSED),
    "cut": (say("yes", finish_reason="length"), Reason.JUDGE_TRUNCATED),
    "cut, nothing left": (say("", finish_reason="length"), Reason.JUDGE_TRUNCATED),
    "cut, null": (say(None, finish_reason="length"), Reason.JUDGE_TRUNCATED),
    "cut prompt": (
        say("yes", usage={"prompt_tokens": 20, "completion_tokens": 1, "total_tokens": 21}),
        Reason.JUDGE_TRUNCATED,
    ),
    "filtered": (say("", finish_reason="content_filter"), Reason.JUDGE_FILTERED),
    "filtered after a yes": (say("yes", finish_reason="content_filter"), Reason.JUDGE_FILTERED),
}

YES = completion("yes")
NOT_A_COMPLETION: dict[str, Behaviour] = {
    "no choices": send_json({**YES, "choices": []}),
    "choices missing": send_json({key: value for key, value in YES.items() if key != "choices"}),
    "choices null": send_json({**YES, "choices": None}),
    "choices an object": send_json({**YES, "choices": {"0": choice("yes")}}),
    "choices text": send_json({**YES, "choices": "y"}),
    "two choices": send_json({**YES, "choices": [choice("yes"), choice("yes")]}),
    "choice null": send_json({**YES, "choices": [None]}),
    "choice text": send_json({**YES, "choices": ["yes"]}),
    "choice a number": send_json({**YES, "choices": [1]}),
    "no message": send_json({**YES, "choices": [{"index": 0, "finish_reason": "stop"}]}),
    "message null": send_json({**YES, "choices": [{**choice("yes"), "message": None}]}),
    "message text": send_json({**YES, "choices": [{**choice("yes"), "message": "yes"}]}),
    "error object with status 200": send_json({"error": {"message": "overloaded", "code": 503}}),
    "JSON null": send("null"),
    "JSON text": send('"yes"'),
    "JSON number": send("1"),
    "JSON true": send("true"),
    "JSON list": send('["yes"]'),
    "broken JSON": send(json.dumps(YES)[:-2]),
    "not JSON": send("yes"),
    "not UTF-8": send(b'{"choices": "\xff\xfe"}'),
    "empty body": send(""),
    "HTML": send("<html><body>yes</body></html>", content_type="text/html; charset=utf-8"),
    "HTML that says it is JSON": send("<html><body>yes</body></html>"),
    "plain text": send("yes", content_type="text/plain"),
    "plain text, empty": send("", content_type="text/plain"),
    "an event stream": send(f"data: {json.dumps(YES)}\n\ndata: [DONE]\n\n", content_type="text/event-stream"),
    "no content": send("", code=204, content_type=None),
}


@pytest.mark.parametrize("text", ["yes", "Yes", "YES", "yEs"])
def test_the_literal_yes_is_answered(ask: Ask, counts: Counts, text: str) -> None:
    usage = {"prompt_tokens": 321, "completion_tokens": 1, "total_tokens": 322}
    with Server(say(text, usage=usage)) as server:
        response = ask(server)

    assert (response.status, response.reason, response.answer) == (Status.ANSWERED, Reason.SUPPORTED, ANSWER)
    assert response.verdict is not None
    assert (response.verdict.raw, response.verdict.calls) == (text, 1)
    assert (response.verdict.model, response.usage) == ("served-model", Usage(321, 1))
    assert (counts.queries, counts.judge_failures) == ({"answered": 1}, {})
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "yes"}],
        [{"type": "text", "text": "y"}, {"type": "text", "text": "es"}],
        [{"type": "reasoning", "text": "no, wait"}, {"type": "text", "text": "yes"}],
    ],
    ids=["one block", "two blocks", "thoughts marked by the server"],
)
def test_text_blocks_are_joined_and_marked_thoughts_dropped(ask: Ask, content: object) -> None:
    with Server(say(content)) as server:
        assert ask(server).status is Status.ANSWERED


@pytest.mark.parametrize("text", ["no", "No", "NO"])
def test_the_literal_no_is_unsupported_and_no_judge_failure(ask: Ask, counts: Counts, text: str) -> None:
    with Server(say(text)) as server:
        response = ask(server)

    assert (response.status, response.reason, response.answer) == (Status.UNGROUNDED, Reason.UNSUPPORTED, ANSWER)
    assert (counts.queries, counts.judge_failures) == ({"ungrounded": 1}, {})


@pytest.mark.parametrize("behaviour", MALFORMED.values(), ids=MALFORMED)
def test_every_other_reply_is_malformed(ask: Ask, counts: Counts, behaviour: Behaviour) -> None:
    _fails(ask, counts, behaviour, Reason.VERDICT_MALFORMED)


@pytest.mark.parametrize(("behaviour", "reason"), FAILED.values(), ids=FAILED)
def test_a_reply_that_was_stopped_has_its_own_reason(
    ask: Ask, counts: Counts, behaviour: Behaviour, reason: Reason
) -> None:
    _fails(ask, counts, behaviour, reason)


@pytest.mark.parametrize("behaviour", NOT_A_COMPLETION.values(), ids=NOT_A_COMPLETION)
def test_a_body_that_is_no_completion_is_a_judge_error(ask: Ask, counts: Counts, behaviour: Behaviour) -> None:
    _fails(ask, counts, behaviour, Reason.JUDGE_ERROR)


def _fails(ask: Ask, counts: Counts, behaviour: Behaviour, reason: Reason) -> None:
    """Ungrounded for `reason` after one request, counted once, and the answer is still delivered."""
    with Server(behaviour) as server:
        response = ask(server, timeout=20.0)

    assert (response.status, response.reason) == (Status.UNGROUNDED, reason)
    assert (response.answer, response.generated) == (ANSWER, ANSWER)
    assert response.verdict is not None
    assert (response.verdict.decision, response.verdict.calls) == (Decision.UNKNOWN, 1)
    assert (counts.queries, counts.judge_failures) == ({"ungrounded": 1}, {reason.value: 1})
    assert len(server.requests) == 1


def test_the_refusal_is_kept(ask: Ask) -> None:
    with Server(say(None, refusal="I can't judge this.")) as server:
        verdict = ask(server).verdict

    assert verdict is not None
    assert verdict.raw == "I can't judge this."
    assert "judge this" not in repr(verdict)


def test_a_malformed_reply_is_told_once_by_its_shape_and_never_quoted(ask: Ask) -> None:
    with Server(say("Yes.")) as server, pytest.warns(GroundguardWarning) as told:
        responses = [ask(server), ask(server)]

    assert len(told) == 1
    assert "equals yes after removing the final full stop" in str(told[0].message)
    assert "groundguard doctor" in str(told[0].message)
    response = responses[0]
    assert response.verdict is not None
    assert response.verdict.raw == "Yes."


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        (None, None),
        ({"prompt_tokens": 321, "completion_tokens": 1, "total_tokens": 322}, Usage(321, 1)),
        ({"prompt_tokens": "many", "completion_tokens": None}, Usage(None, None)),
        ({}, Usage(None, None)),
        ("free", Usage(None, None)),
    ],
)
def test_usage_is_taken_as_reported_and_never_estimated(ask: Ask, usage: object, read: Usage | None) -> None:
    with Server(say("yes", usage=usage)) as server:
        response = ask(server)

    assert (response.status, response.usage) == (Status.ANSWERED, read)


# What is sent.


def test_only_model_and_messages_are_sent(ask: Ask) -> None:
    with Server(say("yes")) as server:
        ask(server)

    body = server.requests[0].body
    assert body.keys() == {"model", "messages"}
    assert body["model"] == "judge-model"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_options_are_sent_along(ask: Ask) -> None:
    with Server(say("yes")) as server:
        ask(server, options={"temperature": 0, "max_completion_tokens": 5, "extra_body": {"top_k": 1}})

    body = server.requests[0].body
    assert body.keys() == {"model", "messages", "temperature", "max_completion_tokens", "top_k"}


def test_constrained_output_is_asked_for_by_a_schema_with_an_enum(ask: Ask) -> None:
    with Server(say('{"verdict": "yes"}')) as server:
        response = ask(server, constrained=True)

    assert response.status is Status.ANSWERED
    format_ = server.requests[0].body["response_format"]
    assert format_["type"] == "json_schema"
    assert format_["json_schema"]["strict"] is True
    assert format_["json_schema"]["schema"]["properties"] == {"verdict": {"type": "string", "enum": ["yes", "no"]}}


@pytest.mark.parametrize(
    "content",
    ["yes", '{"verdict": "maybe"}', '{"verdict": true}', '{"verdict": "yes", "sure": false}', '[{"verdict": "yes"}]'],
)
def test_under_a_schema_the_schema_is_the_contract(ask: Ask, counts: Counts, content: str) -> None:
    with Server(say(content)) as server:
        response = ask(server, constrained=True)

    assert response.reason is Reason.VERDICT_MALFORMED
    assert counts.judge_failures == {"verdict_malformed": 1}


# Through the environment: "openai:name".

BY_NAME: dict[str, tuple[Behaviour, Status, Reason]] = {
    "yes": (say("yes"), Status.ANSWERED, Reason.SUPPORTED),
    "no": (say("no"), Status.UNGROUNDED, Reason.UNSUPPORTED),
    "full stop": (say("Yes."), Status.UNGROUNDED, Reason.VERDICT_MALFORMED),
    "refusal": (say(None, refusal="No."), Status.UNGROUNDED, Reason.JUDGE_REFUSED),
    "cut": (say("yes", finish_reason="length"), Status.UNGROUNDED, Reason.JUDGE_TRUNCATED),
    "filtered": (say("yes", finish_reason="content_filter"), Status.UNGROUNDED, Reason.JUDGE_FILTERED),
    "HTML": (send("<p>yes</p>", content_type="text/html"), Status.UNGROUNDED, Reason.JUDGE_ERROR),
    "hanging": (hang(), Status.UNGROUNDED, Reason.JUDGE_TIMEOUT),
}


@pytest.mark.parametrize(("behaviour", "status", "reason"), BY_NAME.values(), ids=BY_NAME)
def test_by_name_both_doors_agree(by_name: Any, behaviour: Behaviour, status: Status, reason: Reason) -> None:
    with Server(behaviour) as server:
        response = by_name(server, timeout=0.5)

    assert (response.status, response.reason, response.answer) == (status, reason, ANSWER)
    assert len(server.requests) == 1
    assert (response.reason in JUDGE_FAILURES) is (response.verdict.decision is Decision.UNKNOWN)
