"""What the guard does with a status. Policies are values; all but `Return` act on whatever isn't answered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from groundguard.errors import NoContextError, UngroundedError, UsageError, told
from groundguard.records import Response, Status

T = TypeVar("T")

NOT_ANSWERED = frozenset(Status) - {Status.ANSWERED}


class Policy(ABC):
    """Decides what is delivered. Pure: it sees a labelled response and nothing else."""

    skip_generator: bool = False
    """Whether the generator is left alone when nothing was retrieved."""

    @abstractmethod
    def settle(self, response: Response[T]) -> Response[T]:
        """The response to deliver; raises if the policy is to raise."""


@dataclass(frozen=True, slots=True)
class Return(Policy):
    """Hand back the answer with its status: the default. The caller decides.

    Args:
        skip_generator: Don't call the generator when nothing was retrieved; the answer is then empty.
    """

    skip_generator: bool = False

    def settle(self, response: Response[T]) -> Response[T]:
        """The response as it is."""
        return response


@dataclass(frozen=True, slots=True)
class Raise(Policy):
    """Raise `UngroundedError`, or `NoContextError` if nothing was retrieved; both carry the response.

    Args:
        on: The statuses to raise on: by default every one that is not `answered`.
    """

    on: Iterable[Status] = NOT_ANSWERED

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", _statuses(self.on))

    def settle(self, response: Response[T]) -> Response[T]:
        """The response, if its status is not one to raise on."""
        if response.status not in self.on:
            return response
        raise (NoContextError if response.status is Status.NO_CONTEXT else UngroundedError)(response)


@dataclass(frozen=True, slots=True)
class Replace(Policy):
    """Deliver a fixed text instead of the answer. The status stays what it is.

    Args:
        text: What to deliver.
        on: The statuses to replace: by default every one that is not `answered`.
        skip_generator: Don't call the generator when nothing was retrieved.
    """

    text: str
    on: Iterable[Status] = NOT_ANSWERED
    skip_generator: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise UsageError(f"Replace needs the text to deliver, not {type(self.text).__name__}")
        object.__setattr__(self, "on", _statuses(self.on))
        if self.skip_generator and Status.NO_CONTEXT not in self.on:
            raise UsageError("Replace(skip_generator=True) would deliver nothing: `on` leaves out Status.NO_CONTEXT")

    def settle(self, response: Response[T]) -> Response[T]:
        """The response, with the fixed text as its answer if its status is one to replace."""
        return replace(response, answer=self.text) if response.status in self.on else response


def as_policy(policy: Any) -> Policy:
    """Check what a guard was given as its policy; raises `UsageError` if it is none."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, type) and issubclass(policy, Policy):
        raise UsageError(f"a policy is a value, not a class: write {policy.__name__}(...)")
    raise UsageError(f"a policy is a value: Return(), Raise() or Replace('…'); got {told(policy)}")


def _statuses(on: Iterable[Status]) -> frozenset[Status]:
    try:
        statuses = frozenset(map(Status, [on] if isinstance(on, str) else on))
    except (TypeError, ValueError) as error:
        raise UsageError(f"`on` is a set of statuses, such as {{Status.UNGROUNDED}}: {error}") from error
    if not statuses or Status.ANSWERED in statuses:
        raise UsageError("`on` names at least one status, and `answered` is not one to act on")
    return statuses
