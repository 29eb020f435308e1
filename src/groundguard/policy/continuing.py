"""Policies that first have another text judged, and hand on to the policy `then`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, TypeVar

from groundguard.errors import UsageError
from groundguard.policy.base import Policy, Revision, as_policy, as_statuses
from groundguard.records import Response, Status

T = TypeVar("T")


class Continuing(Policy):
    """Does what it can about a status to act on, and leaves the rest to `then`; any other status it leaves alone."""

    then: Policy
    on: Iterable[Status]

    def __post_init__(self) -> None:
        object.__setattr__(self, "then", as_policy(self.then))
        object.__setattr__(self, "on", as_statuses(self.on))
        if self.then.skip_generator and Status.NO_CONTEXT not in self.on:
            raise UsageError(
                f"{type(self).__name__} leaves Status.NO_CONTEXT out of `on`, so its `then` can't skip the generator"
            )

    @property
    def skip_generator(self) -> bool:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride]  # a policy is frozen
        """What `then` says: when nothing was retrieved, there is nothing else to be done."""
        return self.then.skip_generator

    @property
    def regenerates(self) -> bool:
        """Whether `then` does."""
        return self.then.regenerates

    def revise(self, response: Response[Any]) -> Revision | None:
        """What to judge in the place of a response whose status is one to act on."""
        if response.status not in self.on:
            return None
        return self._own_revision(response) or self.then.revise(response)

    def settle(self, response: Response[T]) -> Response[T]:
        """What `then` delivers, if the status is one to act on."""
        return self.then.settle(response) if response.status in self.on else response

    @abstractmethod
    def _own_revision(self, response: Response[Any]) -> Revision | None:
        """What this policy can do itself; None if nothing."""
