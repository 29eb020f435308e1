"""The gate, which is experimental: statements leave one by one, each when a judge supports it.

Each statement is judged as an addition to the answer so far, and leaves when it is supported and all before it have
left. The first that is not ends the release. Judging goes on beside generating. A statement that leaves is not yet an
answer that is `answered`: that needs the judgement of the whole, at the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from groundguard.capture import Found
from groundguard.flow.steps import PENDING, Emit, Finished, Flow, Start
from groundguard.judges.statements import Statement, statements
from groundguard.records import Decision, Exchange, Response, Status, Turn, Verdict
from groundguard.status import unasked
from groundguard.streaming.modes import Outlet
from groundguard.streaming.pieces import Collected
from groundguard.text import is_blank

MOST_AT_ONCE = 4
"""How many statements are in judgement at once, at most."""

_FINENESS = 64
"""A text is split again when it has grown by this part of its length: splitting each piece would cost its square."""


class _Judgement(NamedTuple):
    """A statement that a judge was asked about."""

    statement: Statement
    handle: Any


class Gate(Outlet):
    """Lets out what a judge supports, statement by statement, as text.

    A statement is complete when another follows it, or the end. Where the text that comes later moves its boundaries,
    its judgement is void and the statement as it stands then is judged. If no chunks are known when a statement is
    complete, nothing leaves before the status is known.

    Args:
        ask: Asks the judge about one exchange; always a verdict.
        question: The question.
        history: What was said before it.
        known: The chunks that are known so far.
    """

    def __init__(
        self,
        ask: Callable[[Exchange], Flow[Verdict]],
        question: str,
        history: tuple[Turn, ...],
        known: Callable[[], Found],
    ) -> None:
        self._ask, self._question, self._history, self._known = ask, question, history, known
        self._open = True
        self._length = 0
        self._text = ""  # when it was last split
        self._released = 0
        self._waiting: deque[Statement] = deque()
        self._judging: deque[_Judgement] = deque()
        self._void: list[Any] = []  # judgements under way that nobody waits for

    def taken(self, collected: Collected) -> Flow[None]:
        """Let out what has been judged meanwhile, and have judged what is complete by now."""
        self._length += len(collected.texts[-1])
        if self._open and (self._has_grown() or (yield from self._has_heard())):
            self._split(collected.text, ended=False)
            yield from self._advance(wait=False)

    def ended(self, collected: Collected) -> Flow[None]:
        """Have the rest judged, as long as everything is supported."""
        if self._open:
            self._split(collected.text, ended=True)
            yield from self._advance(wait=True)

    def settled(self, collected: Collected, response: Response[Any]) -> Flow[None]:
        """Let out the rest of an answer that is `answered`; of any other, only what the policy put in its place."""
        answered = response.status is Status.ANSWERED
        text = collected.text[self._released :] if answered else response.answer
        if text and (answered or text != response.generated):
            yield Emit(text)

    def _has_grown(self) -> bool:
        return (self._length - len(self._text)) * _FINENESS > self._length

    def _has_heard(self) -> Flow[bool]:
        """Whether the statement that is to leave next has a verdict."""
        if not self._judging:
            return False
        return (yield Finished(self._judging[0].handle, wait=False)) is not PENDING

    def _split(self, text: str, *, ended: bool) -> None:
        """Look where the statements stand now. A judgement about one that is no longer there is void."""
        split = statements(text)
        complete = split if ended else split[:-1]
        there = set(complete)
        valid = 0
        while valid < len(self._judging) and self._judging[valid].statement in there:
            valid += 1
        while len(self._judging) > valid:
            self._void.append(self._judging.pop().handle)
        asked = self._judging[-1].statement.end if self._judging else self._released
        self._text = text
        self._waiting = deque(statement for statement in complete if statement.end > asked)

    def _advance(self, *, wait: bool) -> Flow[None]:
        """Ask about statements while there is room, and let out those that are supported, in order."""
        while self._open:
            yield from self._fill(wait=wait)
            if not self._judging:
                return
            statement, handle = self._judging[0]
            verdict = yield Finished(handle, wait)
            if verdict is PENDING:
                return
            if verdict.decision is Decision.SUPPORTED:
                self._judging.popleft()
                piece = self._text[self._released : statement.end]
                self._released = statement.end
                yield Emit(piece)
            else:
                self._shut()

    def _fill(self, *, wait: bool) -> Flow[None]:
        """Ask about statements while there is room."""
        while self._waiting and (yield from self._has_room(wait=wait)):
            statement, found = self._waiting.popleft(), self._known()
            if unasked(found.chunks, statement.text, observed=found.observed) is not None:
                self._shut()
                return
            before = self._text[: statement.start]
            exchange = Exchange(self._question, found.chunks, statement.text, (*self._history, *_said(before)))
            handle = yield Start(self._ask(exchange))
            self._judging.append(_Judgement(statement, handle))

    def _has_room(self, *, wait: bool) -> Flow[bool]:
        """Whether one more may be judged. Void judgements take room until they end, which may be waited for."""
        handles, self._void = self._void, []
        for handle in handles:
            if (yield Finished(handle, wait and not self._judging)) is PENDING:
                self._void.append(handle)
        return len(self._judging) + len(self._void) < MOST_AT_ONCE

    def _shut(self) -> None:
        """Let nothing more out before the status is known."""
        self._open = False
        self._waiting.clear()
        self._judging.clear()


def _said(before: str) -> Iterable[Turn]:
    """The answer so far, as what the assistant has said last."""
    return () if is_blank(before) else (Turn("assistant", before.rstrip()),)
