"""Records on their way in, each with the place in its file where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from groundguard.errors import InputError
from groundguard.fields import is_list, is_mapping

DEEPEST = 50
"""How deep a record may nest; nothing that a golden set holds comes near."""

_KINDS = {"dict": "a mapping", "list": "a list", "str": "a string", "bool": "true or false", "NoneType": "null"}


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping that was read from a file.

    Attributes:
        file: The file.
        line: Where the record begins, from 1.
        values: What it holds.
        lines: Where each of its keys stands, where the format tells.
    """

    file: str
    line: int
    values: Mapping[str, Any] = field(repr=False)
    lines: Mapping[str, int] = field(default_factory=dict[str, int], repr=False)

    def wrong(self, what: str, key: str = "") -> InputError:
        """The error that says what is wrong here, and where that is."""
        return wrong(self.file, self.lines.get(key, self.line), what)


def wrong(file: object, line: int, what: str) -> InputError:
    """The error that says what is wrong on a line of a file."""
    return InputError(f"{file}, line {line}: {what}")


def is_deep(value: object, most: int = DEEPEST) -> bool:
    """Whether lists and mappings nest deeper than so; by levels, since Python's own recursion has an end."""
    level = [value]
    for _ in range(most):
        level = [inner for each in level for inner in _inside(each)]
    return any(is_mapping(each) or is_list(each) for each in level)


def _inside(value: object) -> Iterable[object]:
    if is_mapping(value):
        return value.values()
    return value if is_list(value) else ()


def kind(value: object) -> str:
    """What a value is, in the words of a file."""
    return _KINDS.get(type(value).__name__, "a number")
