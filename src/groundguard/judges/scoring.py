"""From statements to a decision: the one rule of every judge that looks at statements one by one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundguard.errors import UsageError, told
from groundguard.records import Chunk, Claim, Decision, Reason


@dataclass(frozen=True, slots=True)
class Weighed:
    """What the claims of an answer amount to.

    Attributes:
        decision: SUPPORTED, UNSUPPORTED or UNKNOWN.
        reason: Why.
        score: Supported claims divided by those that were asked about, 0 to 1.
    """

    decision: Decision
    reason: Reason
    score: float


def weigh(claims: Sequence[Claim], threshold: float, failure: Reason = Reason.VERDICT_MALFORMED) -> Weighed | None:
    """Weigh the claims of one answer.

    Of n claims that assert something (their decision is not None), s are supported and u unknown. The answer is
    SUPPORTED if s/n reaches the threshold, UNSUPPORTED if it would not even if every unknown claim were supported, else
    UNKNOWN. An unknown claim never counts as supported.

    Args:
        claims: The claims.
        threshold: The least share of supported claims, in (0, 1].
        failure: The reason of an UNKNOWN decision.

    Returns:
        None if nothing asserts anything: there is nothing to weigh, which is not support.
    """
    decisions = [claim.decision for claim in claims if claim.decision is not None]
    if not decisions:
        return None
    supported, unknown, asked = decisions.count(Decision.SUPPORTED), decisions.count(Decision.UNKNOWN), len(decisions)
    score = supported / asked
    if score >= threshold:
        return Weighed(Decision.SUPPORTED, Reason.SUPPORTED, score)
    if (supported + unknown) / asked < threshold:
        return Weighed(Decision.UNSUPPORTED, Reason.UNSUPPORTED, score)
    return Weighed(Decision.UNKNOWN, failure, score)


def chunk_names(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """What a claim calls the chunks that support it.

    Args:
        chunks: All chunks of the exchange, in order.

    Returns:
        One name for each: their ids if every chunk has one and no two are the same; else the positions of all, from 1.
        An id can't pass for a position, since the two never stand side by side.
    """
    ids = tuple(chunk.id for chunk in chunks if chunk.id)
    distinct = len(set(ids)) == len(chunks)
    return ids if distinct else tuple(str(position) for position in range(1, len(chunks) + 1))


def checked_share(value: object, name: str) -> float:
    """A number in (0, 1]; raises `UsageError` naming the option if it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        raise UsageError(f"{name} is a number above 0 and up to 1; got {value if number else told(value)}")
    return float(value)
