"""Generate again, telling the generator what was not supported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from groundguard.errors import UsageError, told
from groundguard.policy.base import NOT_ANSWERED, Policy, Revision
from groundguard.policy.continuing import Continuing
from groundguard.policy.feedback import feedback_on
from groundguard.records import JUDGE_FAILURES, Response, Status


@dataclass(frozen=True, slots=True)
class Regenerate(Continuing):
    """Call the generator again, with a `Feedback`, until an answer is supported; each is judged like the first.

    It needs a guard with a generator that takes the keyword `feedback`. When nothing was retrieved, `then` acts at
    once: there is nothing new to generate from.

    Args:
        times: How often at most, from 1.
        then: What to do when the last answer is not supported either, or another one would not help.
        on_failure: Whether to generate again also when the judge failed, which says nothing about the answer.
        on: The statuses to act on: by default every one that is not `answered`.

    Raises:
        UsageError: if any of these is not what it should be.
    """

    times: int
    then: Policy
    _: KW_ONLY
    on_failure: bool = False
    on: Iterable[Status] = NOT_ANSWERED

    def __post_init__(self) -> None:
        _check_times(self.times)
        if not isinstance(self.on_failure, bool):
            raise UsageError(f"`on_failure` is True or False; got {told(self.on_failure)}")
        Continuing.__post_init__(self)

    @property
    def regenerates(self) -> bool:
        """It does."""
        return True

    def _own_revision(self, response: Response[Any]) -> Revision | None:
        failed = response.reason in JUDGE_FAILURES
        if response.status is Status.NO_CONTEXT or (failed and not self.on_failure):
            return None
        rest = self.then if self.times == 1 else replace(self, times=self.times - 1)
        return Revision(rest, feedback_on(response))


def _check_times(times: object) -> None:
    whole = isinstance(times, int) and not isinstance(times, bool)
    if not whole or times < 1:  # type: ignore[operator]  # a number
        raise UsageError(f"`times` is a whole number from 1; got {times if whole else told(times)}")
