"""Every exception that groundguard raises on purpose.

GroundguardError
├── UsageError        a wiring mistake: wrong argument, async judge behind a sync door
├── InputError        bad data: says which file, which line, what to do
└── UngroundedError   the policy `Raise()` met a status that is not `answered`; carries the response
    └── NoContextError    ... because nothing was retrieved

An exception of the user's own retriever or generator is none of these: it passes through untouched.
An exception of a judge is none of these either: it becomes a verdict.

GroundguardWarning    a surprise that doesn't stop anything, told once
"""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundguard.records import Response


class GroundguardError(Exception):
    """The root of the tree."""


class UsageError(GroundguardError):
    """A wiring mistake. Raised at construction or at the first call; it never becomes a status."""


class InputError(GroundguardError):
    """Data that can't be read: says what, where and what to do."""


class UngroundedError(GroundguardError):
    """The answer is not grounded and the policy is `Raise()`.

    Attributes:
        response: The whole labelled response, answer included.
    """

    def __init__(self, response: Response[Any]) -> None:
        super().__init__(f"{response.status.value} ({response.reason.value})")
        self.response = response

    def __reduce__(self) -> tuple[type[UngroundedError], tuple[Response[Any]]]:
        return type(self), (self.response,)


class NoContextError(UngroundedError):
    """Nothing was retrieved, so nothing could be checked, and the policy is `Raise()`."""


class GroundguardWarning(UserWarning):
    """Something a person should know once, such as a judge that says more than one word."""


def told(thing: Any) -> str:
    """What a thing is, for an error message: never its value, which may hold a key or a text."""
    return f"the class {thing.__qualname__}" if inspect.isclass(thing) else f"a {type(thing).__qualname__}"


_told: set[tuple[str, ...]] = set()


def warn_once(message: str, *key: str) -> None:
    """Warn the first time that `key` comes up in this process, and never again; it points at the caller's own line."""
    if key not in _told:
        _told.add(key)
        warnings.warn(message, GroundguardWarning, stacklevel=_levels_to_the_caller())


def _levels_to_the_caller() -> int:
    """How many frames above `warn_once` the first one lies that is not ours."""
    level, frame = 1, inspect.currentframe()
    frame = frame.f_back if frame else None
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "groundguard":
        level, frame = level + 1, frame.f_back
    return level


def forget_warnings() -> None:
    """Let every once-only warning be told again: for tests."""
    _told.clear()
