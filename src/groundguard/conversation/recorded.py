"""Turn faithfulness of a conversation that was recorded: a log in, one judged result an assistant turn out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundguard import options
from groundguard.chunks import freeze
from groundguard.conversation.evidence import EvidenceRule, as_rule, earlier_chunks
from groundguard.conversation.summary import TurnFaithfulness, TurnResult
from groundguard.errors import InputError, UsageError, told
from groundguard.fields import exact, is_mapping
from groundguard.flow.drive import arun, run
from groundguard.flow.steps import Flow, Together
from groundguard.foreign import get, is_iterable, message_text, role_of
from groundguard.judges import Judge, as_judge, judged
from groundguard.records import Chunk, Exchange, Turn, Verdict
from groundguard.retry import Retry
from groundguard.status import label, unasked

USERS = frozenset({"user", "human"})
ASSISTANTS = frozenset({"assistant", "ai", "agent"})
OTHERS = frozenset({"system", "developer", "tool", "function"})
EVIDENCE_KEYS = ("retrieval_context", "contexts")


def turn_faithfulness(
    turns: Iterable[object],
    judge: object,
    *,
    evidence: EvidenceRule,
    window: int = 10,
    timeout: float | None = 30.0,
    retry: Retry | None = None,
    concurrency: int = 8,
) -> TurnFaithfulness:
    """Judge every assistant turn of a recorded conversation on the evidence that a rule allows it.

    A turn without evidence is never judged: its status is `no_context`. So is no turn of the user's, and no turn that
    says nothing.

    Args:
        turns: The messages in order: mappings or objects with `role` (`user`, `assistant`, …; or `speaker`), `content`
            (or `text`) and, where an assistant turn retrieved something, `retrieval_context` (or `contexts`): one
            string, or a list of strings, chunks, documents or mappings. None and a missing one mean that nothing was
            retrieved.
        judge: Who decides, as for `Guard`.
        evidence: `ThisTurn()` or `LastTurns(n)`.
        window: How many earlier messages the judge gets as history, at most; never as evidence. The user's message
            that the turn answers is the question, and no part of it.
        timeout: Seconds for the judgement of one turn, retries included; None sets no limit.
        retry: As for `Guard`.
        concurrency: How many turns are judged at once, at most.

    Returns:
        The headline, the mean, and the result of every assistant turn.

    Raises:
        InputError: if a turn can't be read; it says which.
        UsageError: if an argument is not what it should be, or the judge is async only.
    """
    return run(_faithfulness(turns, judge, evidence, window, timeout=timeout, retry=retry, concurrency=concurrency))


async def aturn_faithfulness(
    turns: Iterable[object],
    judge: object,
    *,
    evidence: EvidenceRule,
    window: int = 10,
    timeout: float | None = 30.0,  # noqa: ASYNC109  # a deadline for each turn, not for this call
    retry: Retry | None = None,
    concurrency: int = 8,
) -> TurnFaithfulness:
    """`turn_faithfulness` on the running event loop."""
    return await arun(
        _faithfulness(turns, judge, evidence, window, timeout=timeout, retry=retry, concurrency=concurrency)
    )


@dataclass(frozen=True, slots=True)
class _Message:
    """One turn of the log, read."""

    turn: Turn
    chunks: tuple[Chunk, ...]

    @property
    def is_users(self) -> bool:
        return self.turn.role in USERS

    @property
    def is_assistants(self) -> bool:
        return self.turn.role in ASSISTANTS


def _faithfulness(
    turns: Iterable[object],
    judge: object,
    evidence: EvidenceRule,
    window: int,
    *,
    timeout: float | None,
    retry: Retry | None,
    concurrency: int,
) -> Flow[TurnFaithfulness]:
    rule, judge, limit = as_rule(evidence), as_judge(judge), _whole(concurrency, "concurrency", least=1)
    exchanges = _exchanges(_messages(turns), rule, _whole(window, "window", least=0))
    options.instance(retry, (Retry, type(None)), "retry is a Retry(...) or None")
    seconds = options.seconds(timeout)
    flows = tuple(_result(*each, judge, seconds, retry) for each in exchanges)
    results: Sequence[TurnResult] = yield Together(flows, limit)
    return TurnFaithfulness(tuple(results))


def _result(
    index: int, exchange: Exchange, judge: Judge, timeout: float | None, retry: Retry | None
) -> Flow[TurnResult]:
    verdict: Verdict | None = None
    if unasked(exchange.chunks, exchange.answer) is None:
        verdict = yield from judged(judge, exchange, timeout=timeout, retry=retry, clock=time.monotonic)
    return TurnResult(index, *label(exchange.chunks, exchange.answer, verdict), verdict)


def _exchanges(messages: Sequence[_Message], rule: EvidenceRule, window: int) -> list[tuple[int, Exchange]]:
    """What the judge is asked about each assistant turn, and the turn's place."""
    found: list[tuple[int, Exchange]] = []
    retrieved: list[tuple[Chunk, ...]] = []
    asked: int | None = None
    for index, message in enumerate(messages):
        if message.is_users:
            asked = index
        if message.is_assistants:
            question = "" if asked is None else messages[asked].turn.content
            recent = range(max(0, index - window - 1), index)
            before = [messages[place].turn for place in recent if place != asked]
            history = tuple(before[max(0, len(before) - window) :])
            chunks = (*earlier_chunks(rule, retrieved), *message.chunks)
            found.append((index, Exchange(question, chunks, message.turn.content, history)))
            retrieved.append(message.chunks)
    return found


def _messages(turns: Iterable[object]) -> list[_Message]:
    given: object = turns
    if isinstance(given, str) or is_mapping(given) or not is_iterable(given):
        raise InputError(f"the turns of a conversation are a list of messages; got {told(given)}")
    return [_message(turn, number) for number, turn in enumerate(given, 1)]


def _message(turn: object, number: int) -> _Message:
    role, content = _role(turn), _content(turn)
    if role is None or content is None:
        lacks = "role" if role is None else "content that is text"
        raise InputError(f"turn {number} of the conversation, {told(turn)}, has no {lacks}")
    if role not in USERS | ASSISTANTS | OTHERS:
        known = ", ".join(sorted(USERS | ASSISTANTS | OTHERS))
        raise InputError(f"turn {number} of the conversation has a role that is none of {known}")
    return _Message(Turn(role, content), _chunks(turn, number) if role in ASSISTANTS else ())


def _role(turn: object) -> str | None:
    role = role_of(turn)
    speaker: object = get(turn, "speaker") if role is None else role
    return exact(speaker).lower() if isinstance(speaker, str) else None


def _content(turn: object) -> str | None:
    content = message_text(turn)
    text: object = get(turn, "text") if content is None else content
    return exact(text) if isinstance(text, str) else None


def _chunks(turn: object, number: int) -> tuple[Chunk, ...]:
    context = next((found for key in EVIDENCE_KEYS if (found := get(turn, key)) is not None), None)
    try:
        return freeze(context)
    except UsageError as error:
        raise InputError(f"the retrieval context of turn {number} of the conversation: {error}") from error


def _whole(value: object, name: str, *, least: int) -> int:
    if type(value) is not int or value < least:
        raise UsageError(f"{name} is a whole number from {least}; got {value if type(value) is int else told(value)}")
    return value
