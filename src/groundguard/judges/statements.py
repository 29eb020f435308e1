"""From an answer to its statements: locally, deterministically, and with nothing lost.

Every character of the answer that shows something belongs to exactly one statement, and the offsets are exact, so a
caller can mark, drop or number statements without a gap through which a claim could slip.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import accumulate

from groundguard.text import is_invisible

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_WHOLE = re.compile(r"\s*(?:#{1,6}\s|\|)|[^\w]+\Z")
_MARKER = re.compile(r"\s*(?:>\s*)*(?:[-*+•‣◦▪·\u2013]|\(?(?:\d{1,3}|[A-Za-z])[.)])\s+|\s*>\s*")
_CLOSING = re.compile(r"(?:[*_~`)\]}\"'”\u2019»\u203a]|\[\d+\])++(?=\s|\Z)")

_ODD_TO_SENTENCEX = re.compile(r"[^\S\t\n\r ]|[\ud800-\udfff]")
"""sentencex panics on some line breaks outside ASCII and takes no lone surrogates."""

_SHORT_LINE = 40
_PIECE = 2_000


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of an answer.

    Attributes:
        text: Its text, as it stands in the answer.
        start: Offset of its first character in the answer.
        end: Offset after its last character.
    """

    text: str = field(repr=False)
    start: int
    end: int


def statements(answer: str) -> tuple[Statement, ...]:
    """Split an answer into its statements.

    A statement is a sentence, a list item's sentence, a heading, a table row, a line of its own, or a fenced block of
    code, without the blanks around it. A line break ends a statement, unless it only wraps a long line: the next line
    goes on in lower case, or with a word that had no room before the break.

    Args:
        answer: Any text.

    Returns:
        The statements in order. They don't overlap, and every visible character of the answer is in one of them.
    """
    trimmed = (_trim(answer, start, end) for start, end in _spans(answer))
    return tuple(Statement(answer[start:end], start, end) for start, end in trimmed if start < end)


def _spans(answer: str) -> Iterator[tuple[int, int]]:
    for start, end, prose in _blocks(answer):
        if prose:
            yield from _sentences(answer, start, end)
        else:
            yield start, end


def _blocks(answer: str) -> Iterator[tuple[int, int, bool]]:
    """Runs of lines that belong together: start, end, and whether they are prose."""
    lines = answer.splitlines(keepends=True)
    fence, start, end, previous = "", 0, 0, ""
    for line in lines:
        begin, end = end, end + len(line)
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                yield start, end, False
                fence, start, previous = "", end, ""
            continue
        if begin > start and not _wraps(previous, line):
            yield start, begin, True
            start = begin
        if _WHOLE.match(line) and not mark:
            yield start, end, False
            start = end
        fence, previous = mark[1] if mark else "", line
    if start < end:
        yield start, end, not fence


def _wraps(previous: str, line: str) -> bool:
    """Whether the break between two lines only wraps a long line of prose."""
    if len(previous.strip()) < _SHORT_LINE or not line.strip():
        return False
    if _WHOLE.match(line) or _MARKER.match(line) or _FENCE.match(line):
        return False
    return not (_begins(line.strip()) and len(previous.strip()) + 1 + len(line.split(None, 1)[0]) <= len(line.strip()))


def _begins(line: str) -> bool:
    """Whether a line may begin a sentence. It doesn't go on with one if its first word had room on the line before."""
    return line[0].isupper() or not line[0].isalnum()


def _sentences(answer: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of one block; a list marker stays with the first, closing marks with the one before."""
    marker = _MARKER.match(answer, start, end)
    begin = start
    for cut in _cuts(answer, marker.end() if marker else start, end):
        closing = _CLOSING.match(answer, cut, end)
        stop = closing.end() if closing else cut
        if stop > begin:
            yield begin, stop
            begin = stop
    yield begin, end


def _cuts(answer: str, start: int, end: int) -> Iterator[int]:
    """Offsets after each sentence. Long blocks go piece by piece: sentencex is not linear."""
    while start < end:
        stop = min(start + _PIECE, end)
        if stop < end:
            stop = answer.rfind(" ", start + 1, stop) + 1 or stop
        cuts = list(accumulate(map(len, _segments(answer[start:stop])), initial=start))[1:]
        if stop < end and len(cuts) > 1:
            del cuts[-1]
        yield from cuts
        start = cuts[-1]


def _segments(text: str) -> list[str]:
    """Sentencex is imported late: it costs some milliseconds, and has no types."""
    segments: list[str] = import_module("sentencex").segment("en", _ODD_TO_SENTENCEX.sub(_stand_in, text))
    return segments


def _stand_in(odd: re.Match[str]) -> str:
    return " " if odd[0].isspace() else "\N{REPLACEMENT CHARACTER}"


def _trim(answer: str, start: int, end: int) -> tuple[int, int]:
    while start < end and is_invisible(answer[start]):
        start += 1
    while start < end and is_invisible(answer[end - 1]):
        end -= 1
    return start, end
