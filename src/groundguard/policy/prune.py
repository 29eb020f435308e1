"""Keep only the statements of an answer that are supported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

from groundguard.judges.statements import Statement, statements
from groundguard.policy.base import NOT_ANSWERED, Policy, Revision
from groundguard.policy.continuing import Continuing
from groundguard.policy.feedback import is_unsupported
from groundguard.records import Claim, Response, Status


@dataclass(frozen=True, slots=True)
class Prune(Continuing):
    """Cut every statement that the judge's claims don't support, and have what is left judged like any other answer.

    Args:
        then: What to do when what is left is not supported either, or there is nothing to cut or to keep: the judge
            names no claims, an unsupported claim can't be found in the answer, or no supported statement is left.
        on: The statuses to act on: by default every one that is not `answered`.

    Raises:
        UsageError: if any of these is not what it should be.
    """

    then: Policy
    _: KW_ONLY
    on: Iterable[Status] = NOT_ANSWERED

    def _own_revision(self, response: Response[Any]) -> Revision | None:
        pruned = None if response.verdict is None else prune(response.generated, response.verdict.claims)
        return None if pruned is None else Revision(self.then, pruned.text, pruned.removed)


class Pruned(NamedTuple):
    """What is left of an answer, and what was cut from it."""

    text: str
    removed: tuple[str, ...]


_SILENT, _SUPPORTED, _UNSUPPORTED = range(1, 4)
"""What the claims say about one character, else 0; where they overlap, the highest holds."""


def prune(answer: str, claims: Iterable[Claim]) -> Pruned | None:
    """Cut every statement that a claim which is not supported touches, or that no claim touches: whole, never in part.

    Between two statements that are kept stands one of the separators that stood there: the one with the most line
    breaks, so that a list stays a list and a paragraph a paragraph.

    Args:
        answer: The answer that was judged.
        claims: What the judge made of it; their offsets are those of `answer`.

    Returns:
        None if nothing is to be cut, nothing supported is to be kept, or an unsupported claim can't be found.
    """
    marks = _marks(len(answer), claims)
    if marks is None:
        return None
    split = [(statement, _is_kept(statement, marks)) for statement in statements(answer)]
    removed = tuple(statement.text for statement, kept in split if not kept)
    supported = any(kept and _SUPPORTED in marks[statement.start : statement.end] for statement, kept in split)
    return Pruned(_joined(answer, split), removed) if removed and supported else None


def _marks(length: int, claims: Iterable[Claim]) -> bytearray | None:
    """What the claims say about each character; None if an unsupported one doesn't say where it stands."""
    marks = bytearray(length)
    for claim in sorted(claims, key=_mark):
        start, end = claim.start, claim.end
        if start is not None and end is not None and 0 <= start < end <= length:
            marks[start:end] = bytes([_mark(claim)]) * (end - start)
        elif is_unsupported(claim):
            return None
    return marks


def _mark(claim: Claim) -> int:
    if is_unsupported(claim):
        return _UNSUPPORTED
    return _SILENT if claim.decision is None else _SUPPORTED


def _is_kept(statement: Statement, marks: bytearray) -> bool:
    inside = marks[statement.start : statement.end]
    return any(inside) and _UNSUPPORTED not in inside


def _joined(answer: str, split: Iterable[tuple[Statement, bool]]) -> str:
    parts: list[str] = []
    end, gap = 0, ""
    for statement, kept in split:
        gap = max(gap, answer[end : statement.start], key=lambda blank: (blank.count("\n"), len(blank)))
        end = statement.end
        if kept:
            parts += [gap if parts else "", statement.text]
            gap = ""
    return "".join(parts)
