"""What the guard reads of a chain's stream, where that differs from what the consumer gets."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, Protocol

from groundguard.capture import Capture
from groundguard.errors import UngroundedError
from groundguard.fields import is_mapping, is_sequence
from groundguard.foreign import ANSWER_KEYS, CHUNK_KEYS, get
from groundguard.records import Response

_RESPONSE: Any = Response


class Seen(dict[str, Any]):
    """A piece as the guard reads it: text and chunks under their usual keys.

    Attributes:
        piece: What the chain yielded.
        shown: Whether `piece` goes to the consumer; if not, it is the chain's whole output.
    """

    def __init__(self, fields: Mapping[str, Any], piece: Any, *, shown: bool = True) -> None:
        super().__init__(fields)
        self.piece = piece
        self.shown = shown


class Reading(Protocol):
    """How the pieces of one stream are read."""

    @property
    def kwargs(self) -> Mapping[str, Any]:
        """Keyword arguments with which the stream is asked for."""
        ...

    @property
    def capture(self) -> Capture:
        """Where text and chunks stand in the pieces as they are read."""
        ...

    def see(self, piece: Any) -> Iterable[Any]:
        """What is read of one piece."""
        ...

    def end(self) -> Iterable[Any]:
        """What is read when the stream is over."""
        ...


@dataclass(frozen=True)
class ChainReading:
    """A chain's pieces are parts of its answer, but for those texts of its input that it hands on.

    Attributes:
        given: The input.
        kwargs: Keyword arguments with which the stream is asked for.
        capture: Where text and chunks stand in the pieces.
    """

    given: InitVar[Any]
    kwargs: Mapping[str, Any]
    capture: Capture
    _said: dict[Any, str] = field(init=False, repr=False)

    def __post_init__(self, given: Any) -> None:
        object.__setattr__(self, "_said", _texts(given))  # now: a chain may write into its input later

    def see(self, piece: Any) -> Iterable[Any]:
        """The piece without what the caller said: that is no answer to be judged. A selector sees the whole piece.

        The consumer gets a copy of such a piece: what the chain changes in its own later is not what was judged.
        """
        if self.capture.answer is not None or callable(self.capture.chunks):
            return (piece,)
        kept = {*ANSWER_KEYS, *CHUNK_KEYS, self.capture.chunks}
        echo = {key for key, text in _texts(piece).items() if key not in kept and self._said.get(key) == text}
        if not echo:
            return (piece,)
        return (Seen({key: value for key, value in piece.items() if key not in echo}, _copy(piece)),)

    def end(self) -> Iterable[Any]:
        """Nothing more."""
        return ()


def _copy(piece: Any) -> Any:
    """The same fields in a mapping of the same class, where that can be copied."""
    try:
        return copy(piece)
    except TypeError:
        return dict(piece)


def _texts(thing: object) -> dict[Any, str]:
    return {key: value for key, value in thing.items() if isinstance(value, str)} if is_mapping(thing) else {}


def read(pieces: Iterator[Any], reading: Reading) -> Generator[Any]:
    """The pieces as they are read; closes them."""
    try:
        for piece in pieces:
            yield from reading.see(piece)
        yield from reading.end()
    finally:
        close = get(pieces, "close")
        if close is not None:
            close()


async def aread(pieces: AsyncIterator[Any], reading: Reading) -> AsyncGenerator[Any]:
    """`read` on the running event loop."""
    try:
        async for piece in pieces:
            for seen in reading.see(piece):
                yield seen
        for seen in reading.end():
            yield seen
    finally:
        close = get(pieces, "aclose")
        if close is not None:
            await close()


def shown(item: Any) -> Iterable[Any]:
    """What the consumer gets of an item that the guard emits: nothing, or one thing."""
    if isinstance(item, Seen):
        return (item.piece,) if item.shown else ()
    return (unread(item) if type(item) is _RESPONSE else item,)


def unread(response: Response[Any]) -> Response[Any]:
    """The response with what the chain itself returned: its output if that is known, else the pieces it yielded."""
    pieces: list[Any] = list(response.output) if is_sequence(response.output) else []
    if not any(isinstance(piece, Seen) for piece in pieces):
        return response
    last = pieces[-1]
    whole = isinstance(last, Seen) and not last.shown
    return replace(response, output=last.piece if whole else tuple(map(_piece, pieces)))


def _piece(seen: Any) -> Any:
    return seen.piece if isinstance(seen, Seen) else seen


@contextmanager
def unread_errors() -> Generator[None]:
    """Give the response of an `UngroundedError` what the chain itself returned."""
    try:
        yield
    except UngroundedError as error:
        error.response = unread(error.response)
        raise
