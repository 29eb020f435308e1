"""The noun of a lint: what is wrong with a golden set, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from groundguard.fields import choose, collect, expect


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    """The figures will be wrong."""
    WARNING = "warning"
    """The figures will say less than they seem to."""
    NOTE = "note"
    """Worth knowing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a golden set.

    Attributes:
        severity: How bad it is.
        code: Its stable name, such as `few-items`.
        message: What is wrong, and why that matters.
        advice: What to do.
        ids: The items that it is about; empty where it is the set as a whole.
        line: Where the first of them begins in the file; None where that isn't known.
    """

    severity: Severity
    code: str
    message: str
    advice: str
    ids: tuple[str, ...] = ()
    line: int | None = None

    def __post_init__(self) -> None:
        choose(self, Severity, "severity")
        expect(self, str, "code", "message", "advice")
        expect(self, int | None, "line")
        collect(self, str, "ids")
