"""From a block of prose to its sentences. sentencex proposes where to cut, `endings` refuses what is no end."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from importlib import import_module
from itertools import accumulate

from groundguard.judges.statements.blocks import MARKER
from groundguard.judges.statements.endings import ends

_CLOSING = re.compile(r"(?:[*_~`)\]}\"'”\u2019»\u203a」』\uff09】》]|(?<=\S)[«\u2039]|\[\d+\])++(?=\s|\Z)")
_NUMBER_ALONE = re.compile(r"\W*+(?:\d{1,3}|[^\W\d_])[.)]\W*+\Z")
_WORD = re.compile(r"[^\W_]")

_UNCUT = re.compile(
    r"`[^`\n]++`"
    r"|(?:https?://|www\.)[^\s<>\"\u3002\uff01\uff1f]*+[^\s<>\"\u3002\uff01\uff1f.,;:!?)*_]"
    r"|\b(?:etc|usw|[ap]\.m|U\.S|mm|ms)(?=\.\s)"
    r"|(?<=[\u3002\uff01\uff1f])\d"
    r"|!="
)
"""What sentencex sees as a plain word: code, addresses and `!=`, and what it never lets end or begin a sentence."""

_ODD_TO_SENTENCEX = re.compile(r"[^\S\t\n\r ]|[\ud800-\udfff]|…(?=\s)")
"""sentencex panics on some line breaks outside ASCII, takes no lone surrogates, and never cuts behind an ellipsis."""

_STOP = re.compile(r"[.!?]")
_PIECE = 2_000
_SEEN = 64
_JOINERS = "\u200d\ufe0f"


def sentences(answer: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of one block of an answer, without a gap between them.

    Args:
        answer: The whole answer.
        start: Offset of the block's first character.
        end: Offset after its last.

    Yields:
        Start and end of each. A list marker stays with the first; closing marks, and marks without a word, with the
        sentence before them.
    """
    marker = MARKER.match(answer, start, end)
    begin = last = start
    for cut in (*_cuts(answer, marker.end() if marker else start, end), end):
        closing = _CLOSING.match(answer, cut, end)
        stop = closing.end() if closing else cut
        if stop <= last or (stop - last < _SEEN and _NUMBER_ALONE.match(answer[last:stop])):
            continue
        if last > begin and _WORD.search(answer, last, stop):
            yield begin, last
            begin = last
        last = stop
    yield begin, end


def _cuts(answer: str, start: int, end: int) -> Iterator[int]:
    """Offsets after each sentence. Long blocks go piece by piece: sentencex is not linear.

    The last sentence of a piece begins the next one, but not where that would get on by a few characters twice running.
    """
    block, stalled = (start, end), False
    while start < end:
        stop = min(start + _PIECE, end)
        if stop < end:
            stop = answer.rfind(" ", start + 1, stop) + 1 or _between_characters(answer, stop)
        cuts = [*_ends(answer, start, stop, block), stop]
        short = len(cuts) > 1 and cuts[-2] - start < _PIECE // 2
        if stop < end and len(cuts) > 1 and not (short and stalled):
            del cuts[-1]
        yield from cuts
        start, stalled = cuts[-1], short and not stalled


def _between_characters(answer: str, stop: int) -> int:
    """The last offset up to `stop` that parts no letter from its marks and no joined emoji."""
    for at in range(stop, stop - _SEEN, -1):
        if not (unicodedata.category(answer[at])[0] == "M" or answer[at] in _JOINERS or answer[at - 1] in _JOINERS):
            return at
    return stop


def _ends(answer: str, start: int, stop: int, block: tuple[int, int]) -> Iterator[int]:
    """The proposed cuts inside a piece of a block that end a sentence."""
    text = _ODD_TO_SENTENCEX.sub(_stand_in, _UNCUT.sub(_filler, answer[start:stop]))
    if text.isascii() and not _STOP.search(text):
        return
    english, french = _proposed("en", text, start), _proposed("fr", text, start)
    for cut in sorted((english | french) - {start, stop}):
        before, after = answer[max(block[0], cut - _SEEN) : cut], answer[cut : min(block[1], cut + _SEEN)]
        if ends(before, after, agreed=cut in english):
            yield cut


def _proposed(language: str, text: str, start: int) -> set[int]:
    """Where sentencex cuts. French knows the fewest abbreviations: it proposes most. English has the best list.

    sentencex is imported late: it costs some milliseconds, and has no types.
    """
    segments: list[str] = import_module("sentencex").segment(language, text)
    return set(accumulate(map(len, segments), initial=start))


def _filler(uncut: re.Match[str]) -> str:
    return "X" * len(uncut[0])


def _stand_in(odd: re.Match[str]) -> str:
    return " " if odd[0].isspace() else "." if odd[0] == "…" else "\N{REPLACEMENT CHARACTER}"
