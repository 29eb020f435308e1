"""Answers that somebody labelled: what a judge is held against."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from groundguard.chunks import freeze
from groundguard.errors import InputError, UsageError
from groundguard.evaluation.golden.jsonl import records_of_lines
from groundguard.evaluation.golden.located import Record, kind
from groundguard.fields import choose, expect, member, plain_fields
from groundguard.records import Chunk, Exchange
from groundguard.text import is_blank


class Labeller(StrEnum):
    """Who wrote a label."""

    HUMAN = "human"
    MODEL = "model"
    UNSAID = "unsaid"
    """The file doesn't say: it is not taken for a human."""


@dataclass(frozen=True, slots=True)
class Label:
    """An answer, and whether it is grounded.

    Attributes:
        exchange: Question, chunks and answer.
        grounded: What the label says.
        id: The line's own name; None where it has none.
        line: Where it stands, from 1.
        labeller: Who labelled it, by name; None where the file doesn't say.
        kind: Whether that is a person.
    """

    exchange: Exchange = field(repr=False)
    grounded: bool
    id: str | None = None
    line: int = 0
    labeller: str | None = field(default=None, repr=False)
    kind: Labeller = Labeller.UNSAID

    def __post_init__(self) -> None:
        expect(self, Exchange, "exchange")
        expect(self, bool, "grounded")
        expect(self, str | None, "id", "labeller")
        expect(self, int, "line")
        choose(self, Labeller, "kind")

    @property
    def text(self) -> str:
        """What was labelled, as canonical JSON: two labels with one text are of the same answer."""
        return json.dumps(plain_fields(self.exchange), sort_keys=True, ensure_ascii=True)


_WORDS = {
    **dict.fromkeys(("grounded", "supported", "yes"), True),
    **dict.fromkeys(("ungrounded", "unsupported", "no"), False),
}


def read_labels(path: Path) -> tuple[Label, ...]:
    """The labels of a file: a JSON object a line.

    ```json
    {"question": "How long?", "chunks": ["Two years."], "answer": "Two years.", "label": "grounded",
     "labeller": "kim", "labeller_kind": "human"}
    ```

    `label` is `grounded` or `ungrounded` (or `supported`, `unsupported`, `yes`, `no`); `"supported": true` says the
    same. `question`, `id`, `labeller` and `labeller_kind` (`human`, `model`) may be left out; any other key is ignored.

    Raises:
        InputError: if the file can't be read, a line holds anything else, or there is none; says which line.
    """
    labels = tuple(map(_label, records_of_lines(path)))
    if not labels:
        raise InputError(f"{path} holds no label: a line is a JSON object with question, chunks, answer and label")
    _ids(path, labels)
    return labels


def content_hash(labels: Iterable[Label]) -> str:
    """SHA-256 over what was labelled and how; neither order nor names change it."""
    written = sorted(f"{label.text} {label.grounded} {label.kind}" for label in labels)
    return hashlib.sha256("\n".join(written).encode("ascii")).hexdigest()


def _label(record: Record) -> Label:
    answer = _text(record, "answer") or ""
    if is_blank(answer):
        raise record.wrong(f"answer is {'blank' if 'answer' in record.values else 'missing'}")
    return Label(
        Exchange(_text(record, "question") or "", _chunks(record), answer),
        _grounded(record),
        _name(record),
        record.line,
        _text(record, "labeller"),
        _kind(record),
    )


def _text(record: Record, key: str) -> str | None:
    value = record.values.get(key)
    if value is None or isinstance(value, str):
        return value
    raise record.wrong(f"{key} must be a string, not {kind(value)}")


def _name(record: Record) -> str | None:
    value = record.values.get("id")
    return str(value) if type(value) is int else _text(record, "id")


def _chunks(record: Record) -> tuple[Chunk, ...]:
    value: Any = record.values.get("chunks")
    if value is None:
        raise record.wrong("chunks is missing")
    try:
        chunks = freeze(value)
    except UsageError as error:
        raise record.wrong(f"chunks: {error}") from error
    if all(is_blank(chunk.text) for chunk in chunks):
        raise record.wrong("chunks holds no text, so no judge would be asked about this answer: leave it out")
    return chunks


def _grounded(record: Record) -> bool:
    said = [
        value
        for value in (_WORDS.get(_text(record, "label") or ""), record.values.get("supported"))
        if value is not None
    ]
    if len(said) == 1 and isinstance(said[0], bool) and ("label" in record.values) != ("supported" in record.values):
        return said[0]
    raise record.wrong('it needs "label": "grounded" or "ungrounded", or else "supported": true or false')


def _kind(record: Record) -> Labeller:
    text = _text(record, "labeller_kind")
    found = Labeller.UNSAID if text is None else member(Labeller, text)
    if found is None:
        raise record.wrong("labeller_kind must be human or model")
    return found


def _ids(path: Path, labels: Iterable[Label]) -> None:
    seen: dict[str, int] = {}
    for label in labels:
        if label.id is not None:
            first = seen.setdefault(label.id, label.line)
            if first != label.line:
                raise InputError(f"{path}, line {label.line}: its id stands on line {first} already")
