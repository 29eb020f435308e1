"""From what a generator gave to its answer: piece by piece if it streams, else as one."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterator
from typing import Any

from groundguard.flow.steps import END, Flow, Pull, Scope
from groundguard.foreign import find_answer
from groundguard.streaming.modes import Outlet
from groundguard.streaming.pieces import Collected


def is_stream(output: object) -> bool:
    """Whether a generator gave an iterator or an async stream: a message, a mapping or a list is none."""
    return isinstance(output, (Iterator, AsyncIterable))


def collect(source: Any, collected: Collected, outlet: Outlet, scopes: tuple[Scope, ...] = ()) -> Flow[None]:
    """Take every piece of `source` into `collected`, and show each to `outlet`.

    A piece is text, a message, a mapping with an answer or chunks under their usual keys, or a pair `(text, chunks)`.
    A selector is applied to every piece; where it finds nothing, that piece adds nothing.

    Args:
        source: An iterator, an async one, or what gives one.
        collected: Where the pieces go.
        outlet: Decides what of them leaves.
        scopes: Entered around each pull.
    """
    if not hasattr(source, "__next__") and not hasattr(source, "__anext__"):
        source = aiter(source) if hasattr(source, "__aiter__") else iter(source)
    while (piece := (yield Pull(source, scopes))) is not END:
        collected.take(piece)
        yield from outlet.taken(collected)
    yield from outlet.ended(collected)


def whole(output: object, collected: Collected, outlet: Outlet) -> Flow[None]:
    """Take an output that came at once, anything that holds an answer, as a stream of one piece: its text."""
    text = find_answer(output)
    if text:
        collected.take(text)
        yield from outlet.taken(collected)
    yield from outlet.ended(collected)
