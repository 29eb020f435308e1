"""What came out of a stream: its pieces, the text that each added to the answer, and the chunks that they reported."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from groundguard.capture import Capture, Found, Recorder, found_below
from groundguard.chunks import freeze, holds_chunks
from groundguard.errors import UsageError
from groundguard.fields import is_mapping
from groundguard.foreign import ANSWER_KEYS, CHUNK_KEYS, QUESTION_KEYS, Selector, answer_text, get, has, is_pair, select
from groundguard.records import Chunk, ChunksFrom


@dataclass(slots=True)
class Collected:
    """What came out of a stream.

    Attributes:
        capture: Where text and chunks are found in a piece.
        pieces: The pieces as they came.
        texts: What each of them added to the answer.
        chunks: The chunks that pieces reported; None if none did.
        chunks_from: How the first of them was reported.
    """

    capture: Capture = field(default_factory=Capture)
    pieces: list[Any] = field(default_factory=list[Any], repr=False)
    texts: list[str] = field(default_factory=list[str], repr=False)
    chunks: tuple[Chunk, ...] | None = field(default=None, repr=False)
    chunks_from: ChunksFrom = ChunksFrom.NOT_OBSERVED

    def take(self, piece: object) -> None:
        """Take one more piece; raises `UsageError` if it holds no text where it should."""
        self.pieces.append(piece)
        reported = _chunks(piece, self.capture)
        self.texts.append(_text(piece, self.capture, silent=not is_pair(piece)))
        if reported is not None:
            self._report(reported, ChunksFrom.RETURNED if _returns_chunks(piece, self.capture) else ChunksFrom.OUTPUT)

    def _report(self, reported: tuple[Chunk, ...], chunks_from: ChunksFrom) -> None:
        if self.chunks is None:
            self.chunks_from = chunks_from
        self.chunks = (self.chunks or ()) + reported

    @property
    def text(self) -> str:
        """The answer."""
        return "".join(self.texts)

    def found(self, recorder: Recorder) -> Found:
        """The chunks that the stream reported, else those that were reported from below; nothing is heard any more."""
        below = found_below(recorder)
        return below if self.chunks is None else Found(self.chunks, self.chunks_from)

    def found_so_far(self, recorder: Recorder) -> Found:
        """The same while the stream goes on and more may be reported."""
        return self.found(replace(recorder))


def unchanged(piece: object, text: str, capture: Capture) -> bool:
    """Whether a piece still holds the text that was judged, and a string nothing else."""
    if isinstance(piece, str):
        return type(piece) is str and piece == text
    try:
        return _text(piece, capture, silent=True) == text
    except Exception:  # noqa: BLE001  # what can't be read any more has changed
        return False


def _text(piece: object, capture: Capture, *, silent: bool) -> str:
    """The text of a piece; a `silent` one may have none."""
    if capture.answer is not None:
        found = _selected(piece, capture.answer)
        text = "" if found is None else answer_text(found)
    else:
        said: object = piece[0] if is_pair(piece) else piece
        text = answer_text(said)
        if silent and text is None and _says_nothing(said, capture):
            text = ""
        if is_mapping(said) and len(_texts(said, said.keys() - set(ANSWER_KEYS))) > 1:
            text = None
    if text is None:
        raise UsageError(
            "a piece of a streamed answer is text, a message, a mapping with one text or a pair (text, chunks); this"
            f" {_kind(piece)} is none: name its text with answer='KEY' or answer=FUNCTION"
        )
    return text


def _kind(piece: object) -> str:
    return "mapping" if is_mapping(piece) else type(piece).__name__


def _says_nothing(said: object, capture: Capture) -> bool:
    """Whether a mapping holds neither an answer nor any text that nobody would judge: only the question, or chunks."""
    holds_answer = any(get(said, key) is not None for key in ANSWER_KEYS)
    return is_mapping(said) and not holds_answer and not _texts(said, {*CHUNK_KEYS, *QUESTION_KEYS, capture.chunks})


def _texts(said: object, but: AbstractSet[Any]) -> list[str]:
    """The texts of a mapping, but for some keys."""
    return [text for key, text in said.items() if isinstance(text, str) and key not in but] if is_mapping(said) else []


def _chunks(piece: object, capture: Capture) -> tuple[Chunk, ...] | None:
    if isinstance(piece, str) and isinstance(capture.chunks, str):
        return None
    if capture.chunks is not None:
        found = _selected(piece, capture.chunks)
        return None if found is None else freeze(found)
    if _returns_chunks(piece, capture):
        return freeze(piece[1])
    return next((freeze(get(piece, key)) for key in CHUNK_KEYS if has(piece, key)), None)


def _returns_chunks(piece: object, capture: Capture) -> TypeGuard[tuple[Any, Any]]:
    return capture.chunks is None and holds_chunks(piece) and not callable(capture.answer)


def _selected(piece: object, selector: Selector) -> object:
    """What a selector finds in one piece; a string is all text, so a key finds nothing that could be left out."""
    if not isinstance(selector, str):
        return selector(piece)
    said: object = piece[0] if is_pair(piece) else piece
    return select(said, selector, "answer", "piece") if isinstance(said, str) else get(said, selector)
