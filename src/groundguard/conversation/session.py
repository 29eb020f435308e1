"""A live conversation: turn by turn through one guard, each judged on the evidence that its rule allows."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, Protocol

from groundguard.conversation.evidence import EvidenceRule, as_rule, earlier_chunks
from groundguard.conversation.summary import TurnFaithfulness, TurnResult
from groundguard.errors import UngroundedError, UsageError, told
from groundguard.flow.drive import arun, run
from groundguard.flow.steps import Emit, Flow, Step, interpose
from groundguard.records import Chunk, Response, Turn
from groundguard.streaming import AsyncStream, Stream
from groundguard.text import is_blank


class AskPath(Protocol):
    """The guard's path from a question to a response."""

    def __call__(
        self, question: str, history: Iterable[object], earlier: tuple[Chunk, ...] = ()
    ) -> Flow[Response[Any]]:
        """Put the chunks of `earlier` turns before those that are retrieved."""
        ...


class CheckPath(Protocol):
    """The guard's path from an existing answer to a response."""

    def __call__(
        self, question: str, answer: str, chunks: object, history: Iterable[object], earlier: tuple[Chunk, ...] = ()
    ) -> Flow[Response[None]]:
        """Put the chunks of `earlier` turns before those that are given."""
        ...


class Session:
    """One conversation. `guard.session(evidence=...)` begins it.

    What was said last goes to the generator, if it takes `history`, and to the judge, who may read it to resolve "it"
    and "that": never as evidence. The chunks of earlier turns that the evidence rule allows go to both as well, before
    those of the turn.

    A turn whose policy raises is recorded: its question stays in the history, its answer was never delivered. A turn
    that was cancelled, or whose retriever or generator raised, leaves no trace.

    """

    def __init__(
        self, ask: AskPath, stream: AskPath, check: CheckPath, evidence: EvidenceRule, window: int = 10
    ) -> None:
        self._ask_path = ask
        self._stream_path = stream
        self._check_path = check
        self._evidence = as_rule(evidence)
        self._window = _checked(window)
        self._turns: list[Response[Any]] = []
        self._chunks: list[tuple[Chunk, ...]] = []
        self._history: list[Turn] = []
        self._token = [None]

    def __repr__(self) -> str:
        return f"Session(evidence={self.evidence!r}, turns={len(self._turns)})"

    @property
    def evidence(self) -> EvidenceRule:
        """The evidence rule."""
        return self._evidence

    @property
    def turns(self) -> tuple[Response[Any], ...]:
        """The labelled response of every turn so far, oldest first."""
        return tuple(self._turns)

    @property
    def history(self) -> tuple[Turn, ...]:
        """What was said so far: the questions, and the answers that were delivered."""
        return tuple(self._history)

    def ask(self, question: str) -> Response[Any]:
        """Retrieve, generate, judge and label the next turn.

        Args:
            question: What the user says.

        Returns:
            The labelled response, as from `Guard.ask`.

        Raises:
            UsageError: if another turn of this session is still under way, or as for `Guard.ask`.
            UngroundedError: if the policy is to raise; the turn is recorded.
        """
        return run(self._ask(self._ask_path, question))

    async def aask(self, question: str) -> Response[Any]:
        """`ask` on the running event loop."""
        return await arun(self._ask(self._ask_path, question))

    def stream(self, question: str) -> Stream:
        """`ask`, in pieces: iterate over it; the last item is the labelled response, always.

        The turn begins when the first item is asked for, and is recorded when it has its response; one that is left
        early leaves no trace.

        Args:
            question: What the user says.

        Raises:
            UsageError: at the first item, as for `ask`.
            UngroundedError: at the end, if the policy is to raise; the turn is recorded.
        """
        return Stream(self._ask(self._stream_path, question))

    def astream(self, question: str) -> AsyncStream:
        """`stream` on the running event loop."""
        return AsyncStream(self._ask(self._stream_path, question))

    def check(self, question: str, *, answer: str, chunks: object) -> Response[None]:
        """Judge and label the next turn, whose answer already exists.

        Args:
            question: What the user said.
            answer: What the assistant answered.
            chunks: What was retrieved for this turn, as for `Guard.check`.

        Raises:
            UsageError: if another turn of this session is still under way, or as for `Guard.check`.
            UngroundedError: if the policy is to raise; the turn is recorded.
        """
        return run(self._check(question, answer, chunks))

    async def acheck(self, question: str, *, answer: str, chunks: object) -> Response[None]:
        """`check` on the running event loop."""
        return await arun(self._check(question, answer, chunks))

    def summary(self) -> TurnFaithfulness:
        """Turn faithfulness over the turns so far. It describes the generated answers, delivered or not."""
        results = (TurnResult(index, r.status, r.reason, r.verdict) for index, r in enumerate(self._turns))
        return TurnFaithfulness(tuple(results))

    def _ask(self, path: AskPath, question: str) -> Flow[Response[Any]]:
        with self._alone():
            earlier = earlier_chunks(self._evidence, self._chunks)
            streams = path is self._stream_path
            return (yield from self._recorded(path(question, self._recent(), earlier), len(earlier), streams=streams))

    def _check(self, question: str, answer: str, chunks: object) -> Flow[Response[None]]:
        with self._alone():
            earlier = earlier_chunks(self._evidence, self._chunks)
            path = self._check_path(question, answer, chunks, self._recent(), earlier)
            return (yield from self._recorded(path, len(earlier)))

    def _recent(self) -> tuple[Turn, ...]:
        return tuple(self._history[max(0, len(self._history) - self._window) :])

    def _recorded(self, path: Flow[Response[Any]], earlier: int, *, streams: bool = False) -> Flow[Response[Any]]:
        from_users_code: list[UngroundedError] = []
        left: list[Any] = []

        def perform(step: Step) -> Flow[Any]:
            if isinstance(step, Emit):
                left.append(step.piece)
            try:
                return (yield step)
            except UngroundedError as error:  # of a guard inside the user's retriever or generator
                from_users_code.append(error)
                raise

        try:
            response = yield from interpose(path, perform)
        except UngroundedError as error:
            if not any(error is each for each in from_users_code):
                self._record(error.response, earlier, delivered=_joined(left) or "")
            raise
        text = _joined(left) if streams else response.answer
        self._record(response, earlier, delivered=response.answer if text is None else text)
        return response

    def _record(self, response: Response[Any], earlier: int, *, delivered: str) -> None:
        self._turns.append(response)
        self._chunks.append(response.chunks[earlier:])
        self._history.append(Turn("user", response.question))
        if not is_blank(delivered):
            self._history.append(Turn("assistant", delivered))

    @contextmanager
    def _alone(self) -> Generator[None]:
        """One turn at a time. Taking the only token is one step, which no other thread can share."""
        try:
            token = self._token.pop()
        except IndexError:
            raise UsageError(
                "a session is one conversation, and its last turn is still under way: wait for it, or begin another"
                " session"
            ) from None
        try:
            yield
        finally:
            self._token.append(token)


def _joined(pieces: list[Any]) -> str | None:
    """The text that has left in pieces; None if some of them are no text."""
    return "".join(pieces) if all(isinstance(piece, str) for piece in pieces) else None


def _checked(window: object) -> int:
    if type(window) is not int or window < 0:
        got = window if type(window) is int else told(window)
        raise UsageError(f"a session's window is a whole number of messages, 0 or more; got {got}")
    return window
