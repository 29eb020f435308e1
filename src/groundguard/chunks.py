"""Chunks, from whatever a retriever returns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard
from uuid import UUID

from groundguard.errors import UsageError
from groundguard.fields import is_mapping
from groundguard.foreign import get, has, is_iterable, is_pair
from groundguard.records import Chunk

TEXT_KEYS = ("text", "page_content", "content", "document", "body", "passage")


def freeze(chunks: object) -> tuple[Chunk, ...]:
    """Chunks as one frozen tuple: same order, nothing dropped or merged.

    An odd element, such as a document without text, becomes a blank chunk: it is counted, and it supports nothing.

    Args:
        chunks: None, one string, one document, or an iterable of `Chunk`s, strings, documents, nodes, mappings or pairs
            `(document, score)`. An iterator is consumed once.

    Raises:
        UsageError: if it can't be iterated over.
    """
    if chunks is None:
        return ()
    if is_single(chunks):
        return (as_chunk(chunks),)
    if not is_iterable(chunks):
        hint = "; await it first" if has(chunks, "__aiter__") or has(chunks, "__await__") else ""
        raise UsageError(f"chunks are a string or an iterable of chunks, not a {type(chunks).__name__}{hint}")
    return tuple(map(as_chunk, chunks))


def holds_chunks(output: object) -> TypeGuard[tuple[Any, Any]]:
    """Whether this is a pair `(answer, chunks)`; the second of a message and its metadata is no chunk."""
    return is_pair(output) and not (is_mapping(output[1]) and _text(output[1]) is None)


def is_single(chunks: object) -> bool:
    """Whether this is one chunk, rather than an iterable of some."""
    return isinstance(chunks, (str, bytes, Chunk, Mapping)) or _text(chunks) is not None


def as_chunk(thing: object) -> Chunk:
    """One chunk from a string, a document, a node, a mapping or a pair `(document, score)`; blank if it has no text."""
    if type(thing) is Chunk:
        return thing
    if isinstance(thing, str):
        return Chunk(thing)
    if is_pair(thing) and _finite(thing[1]) is not None:
        return _scored(as_chunk(thing[0]), thing[1])
    metadata = get(thing, "metadata")
    return Chunk(
        text=_text(thing) or "",
        id=_first(get(thing, key) for key in ("id", "id_", "node_id")),
        source=_first([get(thing, "source"), get(metadata, "source"), get(metadata, "file_path")]),
        score=_finite(get(thing, "score")),
        metadata=_readable(metadata),
    )


def _readable(metadata: object) -> Mapping[str, Any]:
    try:
        return Chunk("", metadata=metadata).metadata if is_mapping(metadata) else {}
    except Exception:  # noqa: BLE001  # values that can't even be written as text, or that contain themselves
        return {}


def _scored(chunk: Chunk, score: object) -> Chunk:
    return Chunk(chunk.text, chunk.id, chunk.source, _finite(score), chunk.metadata)


def _text(thing: object) -> str | None:
    return next((value for key in TEXT_KEYS if isinstance(value := get(thing, key), str)), None)


def _first(values: Iterable[object]) -> str | None:
    return next((str(value) for value in values if isinstance(value, (str, int, UUID))), None)


def _finite(value: object) -> float | None:
    """`value` as a float; numpy's numbers too, no truth values."""
    if isinstance(value, bool) or not hasattr(type(value), "__float__"):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # its type has __float__
    except Exception:  # noqa: BLE001  # an array, a number too large, a number that fails
        return None
    return number if math.isfinite(number) else None
