"""What a policy is: it looks at a labelled response, and says what to judge next or what to deliver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from groundguard.errors import UsageError, told
from groundguard.fields import exact, is_sequence, member
from groundguard.foreign import is_iterable
from groundguard.policy.feedback import Feedback
from groundguard.records import Response, Status

T = TypeVar("T")

NOT_ANSWERED = frozenset(Status) - {Status.ANSWERED}


class Policy(ABC):
    """Decides what is delivered. Pure: it sees a labelled response and nothing else.

    The guard asks `revise` until there is nothing more to judge, each time the policy that the last revision named, and
    then lets that policy `settle`.
    """

    skip_generator: bool = False
    """Whether the generator is left alone when nothing was retrieved."""

    @property
    def regenerates(self) -> bool:
        """Whether it may ask the generator again, so that the guard needs one that takes `feedback`."""
        return False

    def revise(self, response: Response[Any]) -> Revision | None:  # noqa: ARG002  # for policies that do revise
        """What to judge in the place of this response; None if there is nothing."""
        return None

    @abstractmethod
    def settle(self, response: Response[T]) -> Response[T]:
        """The response to deliver; raises if the policy is to raise."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What is judged in the place of a response that was not good enough: a text, or what the generator makes next.

    Attributes:
        policy: What to do with the new response.
        revised: The new text, or what to tell the generator that is to make it.
        removed: What was cut from the old text to make the new one.

    Raises:
        UsageError: if any of these is not what it should be.
    """

    policy: Policy
    revised: str | Feedback = field(repr=False)
    removed: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "policy", as_policy(self.policy))
        if not isinstance(self.revised, (str, Feedback)):
            raise UsageError(f"a revision is a text to judge or a Feedback for the generator; got {told(self.revised)}")
        object.__setattr__(self, "removed", _as_texts(self.removed))


def _as_texts(removed: object) -> tuple[str, ...]:
    if not is_sequence(removed):
        raise UsageError(f"what a revision `removed` is a tuple of texts; got {told(removed)}")
    for each in removed:
        if not isinstance(each, str):
            raise UsageError(f"what a revision `removed` is a tuple of texts; got {told(each)} in it")
    return tuple(map(exact, removed))


def as_policy(policy: Any) -> Policy:
    """Check what a guard was given as its policy; raises `UsageError` if it is none."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, type) and issubclass(policy, Policy):
        raise UsageError(f"a policy is a value, not a class: write {policy.__name__}(...)")
    raise UsageError(
        "a policy is a value: Return(), Raise(), Replace(text), Regenerate(times, then) or Prune(then);"
        f" got {told(policy)}"
    )


def as_statuses(on: Iterable[Status]) -> frozenset[Status]:
    """Check what a policy was given as the statuses to act on; raises `UsageError` if it can't act on them."""
    given: object = on
    if not is_iterable(given):
        raise UsageError(f"`on` is a set of statuses, such as {{Status.UNGROUNDED}}; got {told(given)}")
    statuses = frozenset(map(_as_status, [given] if isinstance(given, str) else given))
    if not statuses or Status.ANSWERED in statuses:
        raise UsageError("`on` names at least one status, and `answered` is not one to act on")
    return statuses


def _as_status(each: object) -> Status:
    status = member(Status, each)
    if status is None:
        raise UsageError(f"`on` is a set of statuses, each one of {', '.join(Status)}; got {told(each)} that is none")
    return status
