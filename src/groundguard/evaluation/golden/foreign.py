"""What the readers of other tools' files have in common."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from groundguard.evaluation.golden.items import GoldenItem
from groundguard.evaluation.golden.located import Record, is_deep
from groundguard.fields import is_mapping
from groundguard.text import is_blank


@dataclass(frozen=True, slots=True)
class Reader:
    """How the rows of one tool are read.

    Attributes:
        questions: Columns of which one holds the question.
        known: Columns that are taken over.
        item: An item without an id, from a row and the delimiter of lists.
    """

    questions: tuple[str, ...]
    known: frozenset[str]
    item: Callable[[Record, str], GoldenItem]


def column(record: Record, names: tuple[str, ...]) -> tuple[str, Any]:
    """The first of these columns that holds something, and what; else the first name and None."""
    return next(((name, value) for name in names if (value := record.values.get(name)) is not None), (names[0], None))


def question(record: Record, names: tuple[str, ...]) -> str:
    """The question of a row.

    Raises:
        InputError: if there is none.
    """
    text = optional(record, names)
    if text is None or is_blank(text):
        raise record.wrong(f"{names[0]} is missing: it holds the question", names[0])
    return text


def optional(record: Record, names: tuple[str, ...]) -> str | None:
    """The text in the first of these columns that holds something.

    Raises:
        InputError: if it is no text.
    """
    name, value = column(record, names)
    if value is not None and not isinstance(value, str):
        raise record.wrong(f"{name} must be a string", name)
    return value


def mapping(record: Record, names: tuple[str, ...]) -> Mapping[str, Any]:
    """The mapping in the first of these columns that holds something, or the JSON of one; empty if it is neither.

    Raises:
        InputError: if it nests too deeply.
    """
    name, value = column(record, names)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except RecursionError:
            raise record.wrong(f"{name} is nested too deeply", name) from None
        except ValueError:
            return {}
    if is_deep(value):
        raise record.wrong(f"{name} is nested too deeply", name)
    return {str(key): item for key, item in value.items()} if is_mapping(value) else {}
