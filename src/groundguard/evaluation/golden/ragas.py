"""Rows of ragas: test sets and evaluation data sets, of today (`user_input`, `reference`) and before (`question`).

In a generated test set of old, `contexts` are those the question was made from; elsewhere they are what was retrieved,
which is no ground truth.
"""

from __future__ import annotations

import re
from typing import Any

from groundguard.evaluation.golden.foreign import Reader, column, optional, question
from groundguard.evaluation.golden.items import GoldenItem, Origin
from groundguard.evaluation.golden.located import Record
from groundguard.evaluation.golden.tables import literal, texts
from groundguard.fields import is_list, is_mapping
from groundguard.records import Chunk, Turn
from groundguard.text import is_blank

_QUESTION = ("user_input", "question")
_ANSWER = ("reference", "ground_truth", "ground_truths")
_GENERATED = ("synthesizer_name", "evolution_type")
_ABOUT = (*_GENERATED, "persona_name", "query_style", "query_length")
_CONVERSATION = re.compile(r"\s*\[\s*\{")
_ROLES = {"human": "user", "ai": "assistant"}


def _item(record: Record, _: str) -> GoldenItem:
    asked, history = _asked(record)
    chunks = texts(record, record.values.get("reference_contexts"), "reference_contexts")
    if not chunks and record.values.get("evolution_type"):
        chunks = texts(record, record.values.get("contexts"), "contexts")
    return GoldenItem(
        id="",
        question=asked,
        answer=_answer(record),
        chunks=tuple(map(Chunk, chunks)),
        chunk_ids=tuple(_ids(record)),
        origin=Origin.SYNTHETIC if any(record.values.get(name) for name in _GENERATED) else Origin.HUMAN,
        history=history,
        metadata={name: value for name in _ABOUT if (value := record.values.get(name)) is not None},
    )


def _asked(record: Record) -> tuple[str, tuple[Turn, ...]]:
    """The question, and what was said before it: the last message of a person, in a conversation."""
    messages = _messages(record)
    if not is_list(messages):
        return question(record, _QUESTION), ()
    turns = [_turn(record, message) for message in messages]
    last = max((at for at, turn in enumerate(turns) if turn.role == "user"), default=None)
    if last is None:
        raise record.wrong("user_input is a conversation in which no person asks anything", "user_input")
    if is_blank(turns[last].content):
        raise record.wrong("user_input is a conversation whose last question is blank", "user_input")
    return turns[last].content, tuple(turns[:last])


def _messages(record: Record) -> Any:
    """What stands under `user_input`; a printed list of messages as the list that it is."""
    said = record.values.get("user_input")
    if not isinstance(said, str) or not _CONVERSATION.match(said):
        return said
    found = literal(said.strip())
    if not is_list(found):
        raise record.wrong("user_input is a printed conversation that can't be read: write it as JSON", "user_input")
    return found


def _turn(record: Record, message: Any) -> Turn:
    role, content = (message.get(key) if is_mapping(message) else None for key in ("type", "content"))
    if not isinstance(role, str) or is_blank(role) or not isinstance(content, str):
        raise record.wrong("user_input must hold messages with type and content", "user_input")
    return Turn(_ROLES.get(role, role), content)


def _answer(record: Record) -> str | None:
    """The reference answer; of several ground truths, all of them."""
    name, value = column(record, _ANSWER)
    if name != "ground_truths":
        return optional(record, _ANSWER)
    return " ".join(texts(record, value, name)) or None


def _ids(record: Record) -> list[str]:
    """Ids of reference chunks, which ragas lets be numbers."""
    value = record.values.get("reference_context_ids")
    if isinstance(value, str) and is_list(found := literal(value)) and all(isinstance(item, int) for item in found):
        value = found
    if is_list(value):
        value = [str(item) if isinstance(item, int) else item for item in value]
    return texts(record, value, "reference_context_ids")


READER = Reader(
    _QUESTION, frozenset((*_QUESTION, *_ANSWER, *_ABOUT, "reference_contexts", "reference_context_ids")), _item
)
"""How rows of ragas are read."""
