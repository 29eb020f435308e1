"""Which chunks are evidence for a turn of a conversation. Pure. The assistant's own words are none by any rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from groundguard.errors import UsageError, told
from groundguard.fields import is_mapping
from groundguard.foreign import is_iterable
from groundguard.records import Chunk


class EvidenceRule(ABC):
    """Says which chunks of earlier turns are evidence beside those of the turn itself.

    A rule of your own derives from this and returns `Chunk`s in any iterable; the plainest is a tuple.
    """

    @abstractmethod
    def earlier(self, turns: Sequence[tuple[Chunk, ...]]) -> tuple[Chunk, ...]:
        """The chunks that still count, oldest first, nothing merged or dropped.

        Args:
            turns: The chunks that each earlier assistant turn retrieved itself, oldest first.
        """


@dataclass(frozen=True, slots=True)
class ThisTurn(EvidenceRule):
    """The chunks of this turn, and no others."""

    def earlier(self, turns: Sequence[tuple[Chunk, ...]]) -> tuple[Chunk, ...]:  # noqa: ARG002  # by this rule, none counts
        """Nothing."""
        return ()


@dataclass(frozen=True, slots=True)
class LastTurns(EvidenceRule):
    """The chunks of the last `turns` assistant turns, this one included: those that still stand in the prompt.

    Args:
        turns: How many turns, from 1. `LastTurns(1)` is `ThisTurn()`.

    Raises:
        UsageError: if it is no whole number above 0.
    """

    turns: int

    def __post_init__(self) -> None:
        if type(self.turns) is not int or self.turns < 1:
            number = type(self.turns) is int
            raise UsageError(
                "LastTurns takes a whole number of turns from 1, this one included;"
                f" got {self.turns if number else told(self.turns)}"
            )

    def earlier(self, turns: Sequence[tuple[Chunk, ...]]) -> tuple[Chunk, ...]:
        """The chunks of the `turns - 1` turns before this one."""
        last = turns[max(0, len(turns) - self.turns + 1) :]
        return tuple(chunk for chunks in last for chunk in chunks)


def as_rule(evidence: object) -> EvidenceRule:
    """Check what was given as the evidence rule; raises `UsageError` if it is none."""
    if isinstance(evidence, EvidenceRule):
        return evidence
    raise UsageError(f"evidence is a rule: ThisTurn() or LastTurns(n); got {told(evidence)}")


def earlier_chunks(rule: EvidenceRule, turns: Sequence[tuple[Chunk, ...]]) -> tuple[Chunk, ...]:
    """What a rule says about a conversation so far, as one frozen tuple.

    Args:
        rule: The evidence rule.
        turns: The chunks that each earlier assistant turn retrieved itself, oldest first.

    Raises:
        UsageError: if the rule returns anything but chunks. What it raises itself passes through.
    """
    said: object = rule.earlier(tuple(turns))
    if isinstance(said, (str, Chunk)) or is_mapping(said) or not is_iterable(said):
        raise _no_chunks(rule, told(said))
    chunks: list[Chunk] = []
    for each in said:
        if type(each) is not Chunk:
            raise _no_chunks(rule, f"{told(each)} among them")
        chunks.append(each)
    return tuple(chunks)


def _no_chunks(rule: EvidenceRule, got: str) -> UsageError:
    return UsageError(
        f"the evidence rule {type(rule).__qualname__} must return a tuple of chunks of earlier turns; got {got}"
    )
