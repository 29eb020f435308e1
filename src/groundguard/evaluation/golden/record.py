"""A header or an item from what a file holds. Strict: what is unknown, missing or of another kind is an error."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, TypeVar

from groundguard.evaluation.golden.items import GoldenItem, Origin, Split, Want
from groundguard.evaluation.golden.located import Record, kind
from groundguard.fields import is_list, is_mapping, member
from groundguard.records import Chunk, Turn
from groundguard.text import is_blank

E = TypeVar("E", bound=StrEnum)

HEADER = ("name", "version", "description")
ITEM = tuple(GoldenItem.__dataclass_fields__)
CHUNK = ("text", "id", "source", "score", "metadata")
_A_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_header(record: Record) -> dict[str, Any]:
    """The name, version and description of a set.

    Raises:
        InputError: if the record is no header.
    """
    if "question" in record.values and "name" not in record.values:
        raise record.wrong('an item stands where the header must be: {"name": "...", "version": "1"}')
    _known(record, HEADER, "a header")
    name, version = (_visible(record, key) for key in ("name", "version"))
    return {"name": name, "version": version, "description": _text(record, "description")}


def read_item(record: Record) -> GoldenItem:
    """The item that a record holds.

    Raises:
        InputError: if it holds none.
    """
    _known(record, ITEM, "an item")
    return GoldenItem(
        id=_visible(record, "id"),
        question=_visible(record, "question"),
        answer=_text(record, "answer"),
        chunks=tuple(_chunk(record, chunk) for chunk in _list(record, "chunks")),
        chunk_ids=_names(record, "chunk_ids"),
        want=_one_of(record, "want", Want) or Want.ANSWER,
        verified_by=_text(record, "verified_by"),
        verified_on=_date(record, "verified_on"),
        origin=_one_of(record, "origin", Origin) or Origin.HUMAN,
        split=_one_of(record, "split", Split),
        tags=_names(record, "tags"),
        history=tuple(_turn(record, turn) for turn in _list(record, "history")),
        metadata=_mapping(record, "metadata"),
    )


def _known(record: Record, known: Sequence[str], what: str) -> None:
    """Refuse a key that nobody reads: a slip of the pen would go unnoticed."""
    for key in record.values:
        if key not in known:
            shown = repr(key) if len(key) <= len("verified_on_date") and key.isprintable() else "one of its keys"
            raise record.wrong(f"unknown: {shown}; {what} has {', '.join(known)}", key)


def _text(record: Record, key: str) -> str | None:
    value = record.values.get(key)
    if value is None or isinstance(value, str):
        return value
    quotes = ": put it in quotes" if isinstance(value, (bool, int, float)) else ""
    raise record.wrong(f"{key} must be a string, not {kind(value)}{quotes}", key)


def _visible(record: Record, key: str) -> str:
    value = _text(record, key)
    if value is None:
        raise record.wrong(f"{key} is missing", key)
    if is_blank(value):
        raise record.wrong(f"{key} is blank", key)
    return value


def _list(record: Record, key: str) -> list[Any]:
    value = record.values.get(key)
    if value is None:
        return []
    if not is_list(value):
        raise record.wrong(f"{key} must be a list, not {kind(value)}", key)
    return value


def _names(record: Record, key: str) -> tuple[str, ...]:
    values = _list(record, key)
    for value in values:
        if not isinstance(value, str) or is_blank(value):
            what = "a blank string" if isinstance(value, str) else kind(value)
            raise record.wrong(f"{key} must hold strings, not {what}", key)
    if len(set(values)) < len(values):
        raise record.wrong(f"{key} holds the same string twice", key)
    return tuple(values)


def _one_of(record: Record, key: str, choices: type[E]) -> E | None:
    text = _text(record, key)
    found = member(choices, text)
    if text is not None and found is None:
        raise record.wrong(f"{key} must be one of {', '.join(choices)}", key)
    return found


def _date(record: Record, key: str) -> str | None:
    text = _text(record, key)
    if text is not None and as_date(text) is None:
        raise record.wrong(f"{key} must be a date such as 2026-01-31", key)
    return text


def as_date(text: str) -> dt.date | None:
    """The date that a text such as `2026-01-31` names."""
    try:
        return dt.date.fromisoformat(text) if _A_DATE.fullmatch(text) else None
    except ValueError:
        return None


def _mapping(record: Record, key: str) -> dict[str, Any]:
    value = record.values.get(key)
    if value is None:
        return {}
    if not is_mapping(value):
        raise record.wrong(f"{key} must be a mapping, not {kind(value)}", key)
    return dict(value)


def _chunk(record: Record, value: object) -> Chunk:
    inner = _inner(record, "chunks", {"text": value} if isinstance(value, str) else value, CHUNK)
    score = inner.values.get("score")
    if isinstance(score, bool) or not isinstance(score, (int, float, type(None))):
        raise record.wrong(f"the score of a chunk must be a number, not {kind(score)}", "chunks")
    try:
        return Chunk(
            _visible(inner, "text"), _text(inner, "id"), _text(inner, "source"), score, _mapping(inner, "metadata")
        )
    except ValueError:
        raise record.wrong("the score of a chunk must be finite", "chunks") from None


def _turn(record: Record, value: object) -> Turn:
    inner = _inner(record, "history", value, ("role", "content"))
    return Turn(_visible(inner, "role"), _text(inner, "content") or "")


def _inner(record: Record, key: str, value: object, known: Sequence[str]) -> Record:
    """A mapping inside a field of the record, at the line of that field."""
    if not is_mapping(value):
        raise record.wrong(f"{key} must hold mappings with {', '.join(known)}, not {kind(value)}", key)
    inner = Record(record.file, record.lines.get(key, record.line), value)
    _known(inner, known, f"an entry of {key}")
    return inner
