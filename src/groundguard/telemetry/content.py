"""Content as attributes: question, answer, prompts and replies, in the forms that backends read.

Every function gives only what `Content` allows, and bounds it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from groundguard.errors import told
from groundguard.fields import is_mapping
from groundguard.models import Prompt
from groundguard.records import Decision, Response
from groundguard.telemetry import names
from groundguard.telemetry.capture import Content
from groundguard.telemetry.values import LIMIT, as_json, text
from groundguard.text import escaped

Shown = dict[str, Any]


def asked(question: str, content: Content) -> Shown:
    """The question, as the input of a span."""
    return _input(question) if content.on_spans and content.question else {}


def answered(answer: str, content: Content) -> Shown:
    """The answer, as the output of a span."""
    return _output(answer) if content.on_spans and content.answer else {}


def judged(response: Response[Any], content: Content) -> Shown:
    """What a judge was given and what it said, as input, output and raw reply of the guard's span."""
    if not (content.on_spans and content.reply):
        return {}
    given = {"question": response.question, "answer": response.generated}
    raw = response.verdict.raw if response.verdict else None
    return {
        **as_json(names.INPUT_VALUE, lambda most: {key: value[:most] for key, value in given.items()}, _longest(given)),
        names.INPUT_MIME: names.JSON,
        names.OUTPUT_VALUE: json.dumps({"status": response.status.value, "reason": response.reason.value}),
        names.OUTPUT_MIME: names.JSON,
        **({} if raw is None else text(names.RAW, _escaped(raw))),
    }


def explanation(response: Response[Any], content: Content, *, allowed: bool) -> str | None:
    """Why a judge could not say, or which statements it did not find supported; None where that may not leave.

    What an exception says is no content and never leaves: it may quote a key.
    """
    verdict = response.verdict
    if verdict is None or not (allowed and content.reply):
        return None
    missing = (claim.text for claim in verdict.claims if claim.decision not in {None, Decision.SUPPORTED})
    detail = verdict.detail if verdict.error_type is None else None
    return _escaped(detail or " ".join(missing)) or None


def sent(prompt: Prompt, content: Content, *, allowed: bool) -> Shown:
    """The messages that a judge's model was sent, as the GenAI conventions have them."""
    if not (allowed and content.prompt):
        return {}

    def user(most: int) -> object:
        return [{"role": "user", "parts": [_part(prompt.user[:most])]}]

    return {
        **as_json(names.SYSTEM_INSTRUCTIONS, lambda most: [_part(prompt.system[:most])], len(prompt.system)),
        **as_json(names.INPUT_MESSAGES, user, len(prompt.user)),
    }


def replied(reply: Any, content: Content, *, allowed: bool) -> Shown:
    """The message that came back, escaped, as the GenAI conventions have it."""
    if not (allowed and content.reply):
        return {}
    said = _said(reply)

    def message(most: int) -> object:
        return [{"role": "assistant", "parts": [_part(said[:most])]}]

    return as_json(names.OUTPUT_MESSAGES, message, len(said))


def sent_span(prompt: Prompt, content: Content) -> Shown:
    """The messages that a judge's model was sent, as OpenInference has them."""
    if not (content.on_spans and content.prompt):
        return {}
    return {
        **_message(names.LLM_INPUT_MESSAGE, 0, "system", prompt.system),
        **_message(names.LLM_INPUT_MESSAGE, 1, "user", prompt.user),
        **_input(prompt.user),
    }


def replied_span(reply: Any, content: Content) -> Shown:
    """The message that came back, escaped, as OpenInference has it."""
    if not (content.on_spans and content.reply):
        return {}
    said = _said(reply)
    return {**_message(names.LLM_OUTPUT_MESSAGE, 0, "assistant", said), **_output(said)}


def _input(value: str) -> Shown:
    return {**text(names.INPUT_VALUE, value), names.INPUT_MIME: names.PLAIN}


def _output(value: str) -> Shown:
    return {**text(names.OUTPUT_VALUE, value), names.OUTPUT_MIME: names.PLAIN}


def _message(form: str, index: int, role: str, said: str) -> Shown:
    return {form.format(index=index, part="role"): role, **text(form.format(index=index, part="content"), said)}


def _part(said: str) -> dict[str, str]:
    return {"type": "text", "content": said}


def _longest(texts: Mapping[str, str]) -> int:
    return max(map(len, texts.values()))


def _said(reply: Any) -> str:
    """What a model said, whatever its form, escaped: a text, blocks, an object, or the answers of a decision model."""
    content = getattr(reply, "content", None)
    if isinstance(content, str):
        return _escaped(content)
    said: object = getattr(reply, "answers", content)
    return _escaped(json.dumps(dict(said) if is_mapping(said) else said, ensure_ascii=False, default=told))


def _escaped(said: str) -> str:
    """Escaped, as far as it may be sent: what stands after that is left as it is, to be cut off."""
    return escaped(said[:LIMIT]) + said[LIMIT:]
