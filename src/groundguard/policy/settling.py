"""The policies that settle at once what is delivered: the answer, an error or a fixed text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from groundguard.errors import NoContextError, UngroundedError, UsageError
from groundguard.policy.base import NOT_ANSWERED, Policy, as_statuses
from groundguard.records import Response, Status

T = TypeVar("T")


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
        object.__setattr__(self, "on", as_statuses(self.on))

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
        object.__setattr__(self, "on", as_statuses(self.on))
        if self.skip_generator and Status.NO_CONTEXT not in self.on:
            raise UsageError("Replace(skip_generator=True) would deliver nothing: `on` leaves out Status.NO_CONTEXT")

    def settle(self, response: Response[T]) -> Response[T]:
        """The response, with the fixed text as its answer if its status is one to replace."""
        return replace(response, answer=self.text) if response.status in self.on else response
