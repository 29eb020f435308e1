"""Whether a run goes on: interrupted, out of budget, its judge unhealthy, its store broken."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from groundguard.errors import InputError
from groundguard.evaluation.results import ItemResult, Score
from groundguard.evaluation.runner.budget import Purse
from groundguard.evaluation.runner.store import Store, told
from groundguard.records import JUDGE_FAILURES, Reason

INTERRUPTED, BUDGET, UNHEALTHY, NO_TOKENS = "interrupted", "budget", "judge unhealthy", "tokens unknown"
"""Why a run stops before its end."""

PATIENCE = 10
"""After so many results in a row in which the judge only failed, it is taken for ill."""


PASSING = frozenset({Reason.JUDGE_ERROR, Reason.JUDGE_TIMEOUT, Reason.JUDGE_RATE_LIMITED})
"""Failures in which the judge gave no reply: it may give one another time."""


class Halt(BaseException):
    """Ends a result from inside: past everything that makes a verdict of an exception."""


class Control:
    """The state of a run that every part of it may look at.

    Args:
        purse: What may be spent.
        patience: After how many results in a row with nothing but failures of the judge to stop.

    Attributes:
        stopped: Why no further call is made; None while all is well.
        broken: What the store could not do.
    """

    def __init__(self, purse: Purse, patience: int = PATIENCE) -> None:
        self.purse = purse
        self.stopped: str | None = None
        self.broken: InputError | None = None
        self._patience = patience
        self._failing = 0

    def stop(self, why: str) -> None:
        """Make no further call; the first reason stands."""
        self.stopped = self.stopped or why

    def admits_call(self, *, paid: bool) -> bool:
        """Whether one more call may be made; one of a judge is paid for out of the budget."""
        if self.stopped is None and paid and not self.purse.take():
            self.stop(BUDGET)
        return self.stopped is None

    def admits_result(self, number: int) -> bool | None:
        """Whether the result that began as number `number` may go on; None while it has to wait for others."""
        if self.stopped is not None:
            return False
        if self.purse.admits(number) and not self.purse.is_blind:
            return True
        if not self.purse.is_blind and not self.purse.is_first(number):
            return None
        self.stop(NO_TOKENS if self.purse.is_blind else BUDGET)
        return False

    def look_at(self, health: bool | None) -> None:  # noqa: FBT001  # it is what is looked at
        """Stop once a judge only fails.

        Args:
            health: Whether the judge of a result was well; None where no judge was asked.
        """
        if health is not None:
            self._failing = 0 if health else self._failing + 1
        if self._failing >= self._patience:
            self.stop(UNHEALTHY)

    @contextmanager
    def guarded(self, store: Store) -> Generator[None]:
        """Around what is written: a store that fails ends the run, and is no failure of a judge."""
        try:
            yield
        except sqlite3.Error as error:
            self.broken = self.broken or InputError(told(error, store.path))
            self.stop("the store failed")
            raise Halt from error


def health_of(result: ItemResult) -> bool | None:
    """Whether the judges of a result could say something; None where none was asked."""
    response = result.response
    own = [] if response is None or response.verdict is None else [response.reason in JUDGE_FAILURES]
    asked = [score for score in result.scores if score.applies and _was_asked(score)]
    failures = [*own, *(score.unscored in JUDGE_FAILURES for score in asked)]
    return None if not failures else not all(failures)


def owes(result: ItemResult) -> bool:
    """Whether a judge still owes a reply about this result, since it could not be asked."""
    response = result.response
    own = response is not None and response.reason in PASSING
    return own or any(score.unscored in PASSING for score in result.scores)


def _was_asked(score: Score) -> bool:
    return score.verdict is not None or score.unscored in JUDGE_FAILURES


@contextmanager
def stoppable(control: Control, tell: Callable[[str], None]) -> Generator[None]:
    """Let the first Ctrl-C or SIGTERM end a run in order: what is under way comes to its end. The second ends at once.

    Only in the main thread, and only where nobody else has a handler.

    Args:
        control: Of the run.
        tell: Told what happens, from inside a signal handler: it may use no buffered stream.
    """

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  # signal calls it so
        if control.stopped is not None:
            raise KeyboardInterrupt
        control.stop(INTERRUPTED)
        tell("stopping: the calls under way come to their end, no other begins; once more stops at once")

    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    replaced: dict[signal.Signals, Any] = {}
    with suppress(ValueError):  # not the main thread: nobody can interrupt it there
        for number, default in usual.items():
            if signal.getsignal(number) == default:
                replaced[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)
