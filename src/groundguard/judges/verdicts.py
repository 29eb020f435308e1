"""From a model's reply to a verdict: one strict parser for each form of reply, and no branch that passes by default."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from groundguard.fields import exact, is_list, is_mapping
from groundguard.models.base import Prompt, Reply
from groundguard.records import Decision, Reason
from groundguard.text import is_invisible

_WORDS: Mapping[str, Decision] = {"yes": Decision.SUPPORTED, "no": Decision.UNSUPPORTED}

_CUT = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "incomplete", "model_context_window_exceeded"}
)
_FILTERED = frozenset(
    {
        *("content_filter", "content_filtered", "guardrail_intervened"),
        *("safety", "recitation", "blocklist", "prohibited_content", "spii"),
    }
)
_REFUSED = frozenset({"refusal"})
_FINISHED = frozenset(
    {"", "stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete", "completed", "finished"}
)

_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking", "reasoning_content"})
_LONGEST_WORD = 30
_LONGEST_TOKEN = 12
_LEAST_WORDS = 50
_RULER = re.compile(r"(\S)\1{3,}")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply amounts to.

    Attributes:
        decision: The verdict.
        reason: Why.
        raw: The text that was read, or the refusal.
        detail: What is wrong with the reply: its shape, never its words.
    """

    decision: Decision
    reason: Reason
    raw: str | None = field(default=None, repr=False)
    detail: str | None = None


class _Unreadable(Exception):  # noqa: N818  # carries a Reading, not a fault
    def __init__(self, reason: Reason, detail: str, raw: str | None = None) -> None:
        super().__init__(detail)
        self.reading = Reading(Decision.UNKNOWN, reason, raw, detail)


def literal(text: str) -> Decision | None:
    """The verdict of a one-word reply: `yes` or `no` under ASCII case rules, or None."""
    return _WORDS.get(text.lower()) if text.isascii() else None


def constrained(text: str) -> Decision | None:
    """The verdict of a reply that follows `VERDICT_SCHEMA`: the parsed value is `yes` or `no` as for `literal`."""
    try:
        value = json.loads(text, object_pairs_hook=no_repeats)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.keys() != {"verdict"} or not isinstance(value["verdict"], str):
        return None
    return literal(value["verdict"])


def read(reply: Reply, sent: Prompt, parse: Callable[[str], Decision | None] = literal) -> Reading:
    """Read a reply. Total: whatever is not a whole, literal verdict is UNKNOWN, with its reason.

    Args:
        reply: What came back.
        sent: The prompt, to notice a server that cut it.
        parse: The parser for this form of reply.
    """
    text = text_of_reply(reply, sent)
    if isinstance(text, Reading):
        return text
    decision = parse(text)
    if decision is None:
        return Reading(Decision.UNKNOWN, Reason.VERDICT_MALFORMED, text, shape(text))
    return Reading(decision, Reason(decision.value), text)


def text_of_reply(reply: Reply, sent: Prompt) -> str | Reading:
    """The text of a reply that came whole, for a parser; what any other amounts to: UNKNOWN, with its reason. Total.

    Args:
        reply: What came back.
        sent: The prompt, to notice a server that cut it.
    """
    try:
        _check_finish(reply)
        text = text_of(reply.content)
        _check_prompt(reply, sent, text)
    except _Unreadable as unreadable:
        return unreadable.reading
    return text


def text_of(content: object) -> str:
    """The text of a message: text blocks joined, blocks that the provider marked as thoughts dropped."""
    if isinstance(content, str):
        return exact(content)
    if is_list(content) and content:
        return "".join(map(_block_text, content))
    raise _malformed(content)


def shape(text: str) -> str:
    """What a reply that is no verdict looks like, without quoting it."""
    size = f"{len(text)} character{'' if len(text) == 1 else 's'}"
    if not text:
        return "an empty reply"
    if all(map(is_invisible, text)):
        return f"{size}, none of them visible"
    if literal(text):
        return f"{size}; the bare word {text.lower()} where a JSON object was asked for"
    rest = text
    removed: list[str] = []
    for what, remove in _PADDING:
        padded, rest = rest, remove(rest)
        if rest != padded:
            removed.append(what)
            if literal(rest):
                return f"{size}; equals {rest.lower()} after removing {' and '.join(removed)}"
    return f"{size}; {_look(text)}"


def least_tokens(text: str) -> int:
    """A number of tokens that no usual tokenizer stays below: one a word, more for what may be several.

    A ruler such as `--------` counts as one character: some tokenizers have one token for it.
    """
    return sum(map(_least_of, _RULER.sub(r"\1", text).split()))


def _least_of(word: str) -> int:
    return 1 if word.isascii() and len(word) <= _LONGEST_WORD else -(-len(word) // _LONGEST_TOKEN)


_PADDING: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("a closed <think> block", lambda text: re.sub(r"\A.*</think>", "", text, flags=re.DOTALL)),
    ("a code fence", lambda text: re.sub(r"\A\s*```\w*\n(.*?)\n?```\s*\Z", r"\1", text, flags=re.DOTALL)),
    ("surrounding white space", str.strip),
    ("quotation marks", lambda text: text.strip("\"'`“”„«»")),
    ("Markdown emphasis", lambda text: text.strip("*_")),
    ("the final full stop", lambda text: text.removesuffix(".")),
    ("final punctuation", lambda text: text.rstrip("!,;:")),
    ("all but the first word", lambda text: re.match(r"\w*", text)[0]),  # type: ignore[index]  # matches always
)


def _look(text: str) -> str:
    if text.lstrip().startswith(("{", "[")):
        return "looks like JSON"
    if "<think>" in text:
        return "a <think> block that was never closed"
    words = len(text.split())
    if words > 1:
        return f"{words} words, none of them the whole reply"
    return "one word, but neither yes nor no" if text.isascii() else "one word with characters outside ASCII"


def _check_finish(reply: Reply) -> None:
    finish = _finish(reply.finish_reason)
    if finish in _FILTERED:
        raise _Unreadable(Reason.JUDGE_FILTERED, "the provider's content filter stopped the reply")
    if reply.refusal or finish in _REFUSED:
        raise _Unreadable(Reason.JUDGE_REFUSED, "the judge refused", str(reply.refusal or "") or None)
    if finish in _CUT:
        raise _Unreadable(Reason.JUDGE_TRUNCATED, "the reply was cut at the output limit", _text_or_none(reply.content))
    if finish not in _FINISHED:
        raise _Unreadable(
            Reason.VERDICT_MALFORMED,
            "a reply that did not end by itself (its finish reason is none we know)",
            _text_or_none(reply.content),
        )


def _finish(reason: object) -> str:
    if isinstance(reason, Enum):
        reason = reason.value if isinstance(reason.value, str) else reason.name
    return "" if reason is None else str(reason).lower()


def _check_prompt(reply: Reply, sent: Prompt, text: str) -> None:
    seen = reply.usage.input_tokens if reply.usage else None
    if seen is None or seen <= 0:
        return
    least = least_tokens(sent.text)
    if least >= _LEAST_WORDS and seen < least:
        detail = f"the judge saw a cut prompt: {seen} tokens reported where at least {least} were sent"
        raise _Unreadable(Reason.JUDGE_TRUNCATED, detail, text)


def _block_text(block: object) -> str:
    if is_mapping(block):
        kind = str(block.get("type"))
        if kind in _THOUGHTS or block.get("thought") is True:
            return ""
        if kind == "refusal":
            raise _Unreadable(Reason.JUDGE_REFUSED, "the judge refused", str(block.get("refusal") or "") or None)
        if kind == "text" and isinstance(block.get("text"), str):
            return exact(block["text"])
    raise _malformed(block, "a text block")


def _malformed(content: object, expected: str = "text") -> _Unreadable:
    what = "no content" if content is None else f"{type(content).__name__} where {expected} was expected"
    return _Unreadable(Reason.VERDICT_MALFORMED, what)


def _text_or_none(content: object) -> str | None:
    return content if isinstance(content, str) else None


def no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object for `json.loads`; raises `ValueError` if one of its keys is repeated."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key is repeated")
    return dict(pairs)
