"""The same path for answers that arrive in pieces.

The pieces pass through as they come and the status comes last, or they are held until the status is known: held
whenever the policy does anything but `Return()`. The last item is always the response.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from groundguard.capture import (
    ANSWER_KEYS,
    CHUNK_KEYS,
    QUESTION_KEYS,
    Capture,
    Found,
    Recorder,
    Selector,
    found_below,
    freeze,
    get,
    has,
    is_pair,
    message_text,
    select,
)
from groundguard.errors import UsageError
from groundguard.fields import is_mapping
from groundguard.flow.steps import END, Emit, Flow, Pull
from groundguard.records import Chunk, ChunksFrom, Response


@dataclass(slots=True)
class Collected:
    """What came out of a stream.

    Attributes:
        pieces: The pieces as they came.
        text: Their texts, joined.
        chunks: The chunks that pieces reported; None if none did.
    """

    pieces: list[Any] = field(default_factory=list[Any])
    text: str = ""
    chunks: tuple[Chunk, ...] | None = None

    def found(self, recorder: Recorder) -> Found:
        """The chunks that the stream reported, else those that were reported from below."""
        below = found_below(recorder)
        return below if self.chunks is None else Found(self.chunks, ChunksFrom.RETURNED)


def collect(source: object, capture: Capture, *, hold: bool) -> Flow[Collected]:
    """Take every piece of `source`, handing each on at once unless they are to be held.

    A piece is text, a message, a mapping with an answer or chunks under their usual keys, or a pair `(text, chunks)`.
    A selector is applied to every piece; where it finds nothing, that piece adds nothing.
    """
    collected = Collected()
    texts: list[str] = []
    while (piece := (yield Pull(source))) is not END:
        collected.pieces.append(piece)
        reported = _chunks(piece, capture.chunks)
        texts.append(_text(piece, capture.answer, silent=reported is not None and not is_pair(piece)))
        if reported is not None:
            collected.chunks = (collected.chunks or ()) + reported
        if not hold:
            yield Emit(piece)
    collected.text = "".join(texts)
    return collected


def release(collected: Collected, response: Response[Any], *, held: bool) -> Flow[None]:
    """Hand on what was held, or what the policy put in its place, and then the response."""
    if held and response.answer == collected.text:
        for piece in collected.pieces:
            yield Emit(piece)
    elif held and response.answer:
        yield Emit(response.answer)
    yield Emit(response)


def _text(piece: object, selector: Selector | None, *, silent: bool) -> str:
    """The text of a piece; a `silent` one may have none."""
    said: object = piece[0] if is_pair(piece) else piece
    if selector is not None:
        found = select(said, selector, "answer", "piece") if isinstance(said, str) else _selected(said, selector)
        said = "" if found is None else found
    text: object = said if isinstance(said, str) else message_text(said)
    if text is None:
        text = next((get(said, key) for key in ANSWER_KEYS if has(said, key)), None)
    if isinstance(text, str):
        return text
    if text is None and silent and (selector is not None or not _holds_other_text(said)):
        return ""
    raise UsageError(
        f"a piece of a streamed answer is text, a message or a pair (text, chunks), not a {type(said).__name__};"
        " name its text with answer='KEY' or answer=FUNCTION"
    )


def _holds_other_text(said: object) -> bool:
    """Whether a mapping has text under a key that nobody would judge."""
    known = {*CHUNK_KEYS, *QUESTION_KEYS}
    return is_mapping(said) and any(isinstance(said[key], str) and key not in known for key in said)


def _chunks(piece: object, selector: Selector | None) -> tuple[Chunk, ...] | None:
    if is_pair(piece):
        return freeze(piece[1])
    if selector is not None:
        found = _selected(piece, selector)
        return None if found is None else freeze(found)
    return next((freeze(get(piece, key)) for key in CHUNK_KEYS if has(piece, key)), None)


def _selected(piece: object, selector: Selector) -> object:
    return get(piece, selector) if isinstance(selector, str) else selector(piece)
