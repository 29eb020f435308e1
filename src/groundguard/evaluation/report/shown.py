r"""Text from outside as a reader may see it: what is invisible is written out.

A right-to-left override can make `no` read as something else, and a run of tag characters can hide a message. Both are
shown as the escapes that Python would write: `\u202e`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from groundguard.text import is_invisible

_LAYOUT = frozenset("\n\t")
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""They shape the letter or sign before them, in Persian and in emoji."""


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """`text` in pieces, each with whether it is an escape that stands for an invisible character.

    Line breaks, tabs and spaces of every width stay; so does one joiner after a character that is not ASCII.
    """
    text = text.replace("\r\n", "\n")
    marks = {character for character in set(text) if _is_hidden(character)}
    if not marks:
        yield text, False
        return
    begun = 0
    for match in re.finditer(f"[{re.escape(''.join(sorted(marks)))}]", text):
        at = match.start()
        if _shapes(text, at):
            continue
        if at > begun:
            yield text[begun:at], False
        yield text[at].encode("unicode_escape").decode("ascii"), True
        begun = at + 1
    if begun < len(text):
        yield text[begun:], False


def shown(text: str) -> str:
    """`text` with its invisible characters as escapes; every character left is valid in XML and in UTF-8."""
    return "".join(piece for piece, _ in pieces(text))


def on_one_line(text: str, most: int | None = None) -> str:
    """`shown`, with every run of white space as one space, and cut after `most` characters where that is told."""
    line = " ".join(shown(text).split())
    return line if most is None or len(line) <= most else line[: most - 1] + "…"


@lru_cache(maxsize=4096)
def _is_hidden(character: str) -> bool:
    if character in _LAYOUT or unicodedata.category(character) == "Zs":
        return False
    return is_invisible(character)


def _shapes(text: str, at: int) -> bool:
    before = text[at - 1 : at]
    return text[at] in _JOINERS and not before.isascii() and not _is_hidden(before)
