"""Runnables that hand on one whole response when they are a step of another's stream.

A step that isn't made for pieces adds them up. Text plus a response is the response, or an error, or in a mapping the
text alone: a sum that would lose the label.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableWithFallbacks


class Whole(Runnable[Any, Any]):
    """A Runnable that streams, and transforms streams, by invoking another."""

    def __init__(self, runnable: Runnable[Any, Any]) -> None:
        self.runnable = runnable

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002  # LangChain's name
        """Invoke the other."""
        return self.runnable.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002  # LangChain's name
        """Invoke the other on the running event loop."""
        return await self.runnable.ainvoke(input, config, **kwargs)


class Fallbacks(RunnableWithFallbacks[Any, Any]):
    """A guarded chain and what is tried in its place."""

    def transform(
        self,
        input: Iterator[Any],  # noqa: A002  # LangChain's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Any]:
        """Yield what `invoke` returns for an input that comes in pieces."""
        return Whole(self).transform(input, config, **kwargs)

    def atransform(
        self,
        input: AsyncIterator[Any],  # noqa: A002  # LangChain's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """`transform` on the running event loop."""
        return Whole(self).atransform(input, config, **kwargs)
