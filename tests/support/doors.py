"""The two doors of a guard, plain and async, so that one test goes through both.

```python
@both_doors
def test_something(door: Door):
    response = door.ask(guard, "…")
```
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from groundguard import Guard, Response


@dataclass(frozen=True)
class Door:
    """One way in."""

    is_async: bool

    def ask(self, guard: Guard, question: Any = "Q?", **arguments: Any) -> Response[Any]:
        """`ask` or `aask`."""
        return self.call(guard.aask if self.is_async else guard.ask, question, **arguments)

    def check(self, guard: Guard, question: Any = "Q?", **arguments: Any) -> Response[Any]:
        """`check` or `acheck`."""
        return self.call(guard.acheck if self.is_async else guard.check, question, **arguments)

    def invoke(self, chain: Any, given: Any, **arguments: Any) -> Response[Any]:
        """`invoke` or `ainvoke`."""
        return self.call(chain.ainvoke if self.is_async else chain.invoke, given, **arguments)

    def call(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function of this door's kind."""
        return asyncio.run(fn(*args, **kwargs)) if self.is_async else fn(*args, **kwargs)

    def function(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """`plain` as a function of this door's kind: `def` or `async def`."""
        if not self.is_async:
            return plain

        @functools.wraps(plain)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            await asyncio.sleep(0)
            return plain(*args, **kwargs)

        return coroutine

    def generator(self, pieces: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
        """`pieces` as a generator function of this door's kind."""
        if self.is_async:

            @functools.wraps(pieces)
            async def async_generator(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
                for piece in pieces(*args, **kwargs):
                    await asyncio.sleep(0)
                    yield piece

            return async_generator

        @functools.wraps(pieces)
        def generator(*args: Any, **kwargs: Any) -> Iterator[Any]:
            yield from pieces(*args, **kwargs)

        return generator

    def items(self, fn: Callable[..., Any], *args: Any, into: list[Any] | None = None) -> list[Any]:
        """Everything a stream of this door's kind yields, in order; `into` keeps what came before an error."""
        items: list[Any] = [] if into is None else into

        async def drain() -> None:
            async for item in fn(*args):
                items.append(item)  # noqa: PERF401  # what came before an error is kept

        if self.is_async:
            asyncio.run(drain())
        else:
            for item in fn(*args):
                items.append(item)  # noqa: PERF402  # what came before an error is kept
        return items


PLAIN, ASYNC = Door(is_async=False), Door(is_async=True)

both_doors = pytest.mark.parametrize("door", [PLAIN, ASYNC], ids=["plain", "async"])
