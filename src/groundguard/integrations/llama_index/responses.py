"""What an engine's response holds: its chunks, and its text, at once or in pieces."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, closing
from dataclasses import replace
from typing import Any

from groundguard.chunks import as_chunk
from groundguard.errors import UsageError
from groundguard.flow.drive import aiterate, iterate
from groundguard.flow.steps import END, Callee, Emit, Flow, Pull
from groundguard.foreign import get, has
from groundguard.records import Chunk


def source_chunks(output: object) -> tuple[Chunk, ...]:
    """The chunks of an engine's response: its source nodes, with the text that they have in a prompt.

    A chat engine that asks a query engine may leave them in that tool's output.

    Raises:
        UsageError: if the response has no source nodes, not even an empty list.
    """
    if not has(output, "source_nodes"):
        raise UsageError(
            f"the engine's response, a {type(output).__name__}, has no source_nodes: name its chunks with chunks='KEY'"
            " or chunks=FUNCTION"
        )
    nodes = get(output, "source_nodes") or [node for tool in get(output, "sources") or () for node in _of_tool(tool)]
    return tuple(map(_chunk, nodes))


def _of_tool(tool: object) -> Any:
    return get(get(tool, "raw_output"), "source_nodes") or ()


def _chunk(node: object) -> Chunk:
    """A node as a chunk. A node's metadata stand in the prompt too, unless they are excluded for the model."""
    chunk, content = as_chunk(node), get(node, "get_content")
    return replace(chunk, text=content(metadata_mode="llm")) if callable(content) else chunk


def answer_of(output: object) -> Any:
    """The text of an engine's response; a structured one as the response itself writes it; blank if there is none."""
    if isinstance(output, str):
        return output
    texts = (get(output, key) for key in ("response_txt", "unformatted_response", "response"))
    said: Any = next((text for text in texts if text), "")
    return said if isinstance(said, str) else str(output)


# Responses that stream.


def collecting(callee: Callee) -> Callee:
    """The same call, whose response has its whole text."""
    plain, coroutine = callee.plain, callee.coroutine

    def called(*args: Any, **kwargs: Any) -> Any:
        output = plain(*args, **kwargs)  # type: ignore[misc]  # only called if there is one
        return output if has(output, "__await__") else collected(output)

    async def awaited(*args: Any, **kwargs: Any) -> Any:
        return await acollected(await coroutine(*args, **kwargs))  # type: ignore[misc]  # only called if there is one

    return Callee(plain and called, coroutine and awaited, callee.name)


def collected(output: Any) -> Any:
    """A response, read to its end if it streams."""
    for _ in pieces_of(output):
        pass
    return output


async def acollected(output: Any) -> Any:
    """`collected` on the running event loop."""
    async for _ in apieces_of(output):
        pass
    return output


def pieces_of(output: Any) -> Iterator[str]:
    """The pieces of a response; its text, if it has that already."""
    with closing(iterate(_pulled(output))) as pieces:
        yield from pieces


async def apieces_of(output: Any) -> AsyncGenerator[str]:
    """`pieces_of` on the running event loop; those of a plain stream are pulled in threads."""
    async with aclosing(aiterate(_pulled(output))) as pieces:
        async for piece in pieces:
            yield piece


def _pulled(output: Any) -> Flow[None]:
    source = _stream(output)
    if source is None:
        yield Emit(answer_of(output))
        return
    texts: list[str] = []
    while (piece := (yield Pull(source))) is not END:
        texts.append(piece)
        yield Emit(piece)
    if has(output, "response_txt"):  # left with the response, as its own `get_response` does
        output.response_txt = "".join(texts)


def _stream(output: object) -> Any:
    """The source of a response's pieces; None if it has its text already."""
    if get(output, "response_txt") is not None or get(output, "is_dummy_stream") is not None:
        return None
    source = get(output, "async_response_gen")
    return source() if callable(source) and get(output, "chat_stream") is None else get(output, "response_gen")
