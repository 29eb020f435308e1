"""Records on their way in, each with the place in its file where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from groundguard.errors import InputError

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


def kind(value: object) -> str:
    """What a value is, in the words of a file."""
    return _KINDS.get(type(value).__name__, "a number")
