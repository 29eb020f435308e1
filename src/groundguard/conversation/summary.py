"""Turn faithfulness: what the verdicts on the turns of a conversation amount to. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from groundguard.fields import collect, expect, plain_fields
from groundguard.records import Decision, Reason, Status, Verdict, check_label


@dataclass(frozen=True, slots=True)
class TurnResult:
    """One assistant turn.

    Attributes:
        index: Its place in the conversation, from 0: among all turns of a log, or among the turns of a session.
        status: `answered`, `ungrounded` or `no_context`.
        reason: Why that status.
        verdict: The judge's verdict; None if no judge was asked.
    """

    index: int
    status: Status
    reason: Reason
    verdict: Verdict | None = None

    def __post_init__(self) -> None:
        expect(self, int, "index")
        if self.index < 0:
            raise ValueError("TurnResult.index counts from 0")
        expect(self, Verdict | None, "verdict")
        check_label(self)

    @property
    def score(self) -> float | None:
        """The share of the claims that are supported, of those that assert something; without claims, 1 for SUPPORTED.

        It is 0 for UNSUPPORTED without claims, or with claims that don't tell why. None for a turn that could not be
        scored: nothing was retrieved, nothing was said, or the judge failed.
        """
        verdict = self.verdict
        if verdict is None or verdict.decision is Decision.UNKNOWN:
            return None
        supported = verdict.decision is Decision.SUPPORTED
        decisions = [claim.decision for claim in verdict.claims if claim.decision is not None]
        if not decisions:
            return 1.0 if supported else 0.0
        share = decisions.count(Decision.SUPPORTED) / len(decisions)
        return share if supported or share < 1 else 0.0


@dataclass(frozen=True, slots=True)
class TurnFaithfulness:
    """Turn faithfulness of one conversation.

    A turn that could not be scored counts 0 in the headline, and is left out of the mean: look at `scored` before you
    read either. Nothing scored is a failure to measure, not a measured zero.

    Attributes:
        turns: Every assistant turn, in order.
    """

    turns: tuple[TurnResult, ...]

    def __post_init__(self) -> None:
        collect(self, TurnResult, "turns")

    @property
    def headline(self) -> float | None:
        """The sum of the turn scores divided by the number of assistant turns, 0 to 1; None if there are none."""
        return sum(self._scores) / len(self.turns) if self.turns else None

    @property
    def mean(self) -> float | None:
        """The mean over the turns that could be scored, 0 to 1; None if there are none."""
        return sum(self._scores) / self.scored if self.scored else None

    @property
    def scored(self) -> int:
        """How many turns could be scored."""
        return len(self._scores)

    @property
    def unscored(self) -> int:
        """How many turns could not be scored."""
        return len(self.turns) - self.scored

    @property
    def lowest(self) -> TurnResult | None:
        """The turn with the lowest score, the first of several; None if none was scored."""
        scored = [turn for turn in self.turns if turn.score is not None]
        return min(scored, key=_score, default=None)

    @property
    def _scores(self) -> Sequence[float]:
        return [turn.score for turn in self.turns if turn.score is not None]

    def to_dict(self) -> dict[str, Any]:
        """The figures and the turns as JSON values."""
        return {
            "headline": self.headline,
            "mean": self.mean,
            "scored": self.scored,
            "unscored": self.unscored,
            "lowest": None if self.lowest is None else self.lowest.index,
            "turns": [plain_fields(turn) | {"score": turn.score} for turn in self.turns],
        }


def _score(turn: TurnResult) -> float:
    return -1.0 if turn.score is None else turn.score
