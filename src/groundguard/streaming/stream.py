"""What `Guard.stream` and `Guard.astream` return: iterate over it, then look at its response."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import aclosing
from types import TracebackType
from typing import Any, Self

from groundguard.errors import UsageError
from groundguard.flow.drive import aiterate, iterate
from groundguard.flow.steps import Flow
from groundguard.records import Response


class _Streamed:
    """The response of a stream, once it has come. The iterator holds the list, not the stream: no cycle."""

    def __init__(self) -> None:
        self._responses: list[Response[Any]] = []

    @property
    def response(self) -> Response[Any]:
        """The labelled response.

        Raises:
            UsageError: before the end of the stream, or if it was closed or failed before its end.
        """
        if not self._responses:
            raise UsageError("there is no response yet: iterate over the stream to its end first")
        return self._responses[0]


class Stream(_Streamed, Iterator[Any]):
    """The pieces of an answer as they leave, and the labelled `Response` as the last item.

    Nothing runs before the first item is asked for. Closing early, also by leaving `with`, closes the source; nothing
    is judged or logged then.
    """

    def __init__(self, flow: Flow[Response[Any]]) -> None:
        super().__init__()
        self._items = _items(flow, self._responses)

    def __next__(self) -> Any:
        return next(self._items)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the stream where it is."""
        self._items.close()


class AsyncStream(_Streamed, AsyncIterator[Any]):
    """`Stream` on the running event loop, for `async for` and `async with`."""

    def __init__(self, flow: Flow[Response[Any]]) -> None:
        super().__init__()
        self._items = _aitems(flow, self._responses)

    async def __anext__(self) -> Any:
        return await anext(self._items)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the stream where it is."""
        await self._items.aclose()


def _items(flow: Flow[Response[Any]], responses: list[Response[Any]]) -> Generator[Any, None, None]:
    response = yield from iterate(flow)
    responses.append(response)
    yield response


async def _aitems(flow: Flow[Response[Any]], responses: list[Response[Any]]) -> AsyncGenerator[Any, None]:
    async with aclosing(aiterate(flow, responses.append)) as pieces:
        async for piece in pieces:
            yield piece
    yield responses[0]
