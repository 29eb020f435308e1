"""What counts as visible text, and how text that nobody can see is shown."""

from __future__ import annotations

import unicodedata

# Drawn as nothing although Unicode files them under letters, marks or symbols: fillers, joiners, the blank braille
# cell (Default_Ignorable_Code_Point of the Unicode Character Database, and U+2800).
_DRAWN_AS_NOTHING = frozenset(
    chr(point)
    for first, last in [
        (0x034F, 0x034F),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x2800, 0x2800),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFFA0, 0xFFA0),
        (0xE0100, 0xE01EF),
    ]
    for point in range(first, last + 1)
)


def is_invisible(character: str) -> bool:
    """Whether one character shows nothing: Unicode categories Z and C, and what is drawn as nothing."""
    return unicodedata.category(character)[0] in "ZC" or character in _DRAWN_AS_NOTHING


def is_blank(text: str) -> bool:
    """Whether nothing visible is left in `text`."""
    return all(map(is_invisible, text))


def escaped(text: str) -> str:
    r"""`text` with every invisible character but the plain space written as an escape, such as `\n` or `\u200b`."""
    return "".join(map(_escape, text))


def _escape(character: str) -> str:
    if character == " " or not (is_invisible(character) or character == "\\"):
        return character
    return character.encode("unicode_escape").decode("ascii")
