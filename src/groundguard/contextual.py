"""A context variable that holds a value for a while."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def holding(variable: ContextVar[T], value: T) -> Generator[None]:
    """Let a context variable hold a value, and give it back its former one at the end.

    Args:
        variable: Which one.
        value: What it holds meanwhile.
    """
    token = variable.set(value)
    try:
        yield
    finally:
        with suppress(ValueError):  # left in another context, as by a coroutine that is thrown away: nothing to undo
            variable.reset(token)
