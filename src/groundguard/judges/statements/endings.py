"""Whether a sentence ends between two texts, or only an abbreviation, a number or quoted speech does."""

from __future__ import annotations

import re

from groundguard.judges.statements import lexicon

_QUOTES = "\"'”\u2019“\u2018»«\u203a\u2039」』\uff09)]】》"
_CLOSING = _QUOTES + "*_~`} \t\n\xa0\u202f"
_OPENING = "\"'“”„«»\u2039\u203a\u2018\u2019()[]{}*_`¿¡"
_GOES_ON = tuple(",;:\u060c\u061b\u3001\uff0c\uff1b\uff1a")
_GOES_ON_TIGHT = tuple("-\u2013'\u2019ºª") + _GOES_ON

_REPORTED = re.compile(r"と(?=[言云聞思考叫問述答尋い])")
_FIRST = re.compile(r"[^\W_]+")
_ABBREVIATED = re.compile(r"-?[^\W\d_]{1,3}\.")
_ROMAN = re.compile(r"(?:[IVXLC]{2,}|[VX])\b")
_INITIAL = re.compile(r"[\u0904-\u0939][\u093e-\u094c]?")
_NUMBERED = re.compile(r"(?:[A-Z]\. ?)?\d|" + _ROMAN.pattern)
_DAY = re.compile(r"(?:\d{1,2}\.)?\d{1,2}")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.-?)+[^\W\d_]{1,2}")


def ends(before: str, after: str, *, agreed: bool) -> bool:
    """Whether a sentence ends between `before` and `after`.

    Args:
        before: The text up to a proposed cut: some words are enough.
        after: The text from there on.
        agreed: Whether the cut holds by a list of English abbreviations too.

    Returns:
        False where the sentence goes on.
    """
    bare, following = before.rstrip(_CLOSING), after.lstrip()
    quoted = any(mark in _QUOTES for mark in before[len(bare) :])
    tight = not (before[-1:].isspace() or after[:1].isspace())
    if following.startswith(_GOES_ON_TIGHT if tight else _GOES_ON) or _REPORTED.match(following):
        return False
    if quoted and (following[:1].islower() or (tight and following[:1].isalpha())):
        return False
    found = _FIRST.search(following)
    first = found[0] if found else ""
    if bare.endswith(("…", "..")):
        return first[:1].isupper()
    if not bare.endswith(".") or following.startswith(("¿", "¡")):
        return True
    return _stop_ends(bare[:-1], following, first, agreed=agreed)


def _stop_ends(before: str, following: str, first: str, *, agreed: bool) -> bool:
    """Whether a full stop behind `before` ends a sentence."""
    *_, previous, word = ["", "", *before.replace("'", " ").replace("\u2019", " ").split()]
    previous, word = previous.lstrip(_OPENING), word.strip(_OPENING)
    if (len(word) == 1 and word.isalpha()) or (previous.endswith(".") and _INITIAL.fullmatch(word)):
        return _letter_ends(word, previous, following, first)
    if _DAY.fullmatch(word) or _ROMAN.fullmatch(word):
        return _ordinal_ends(word, previous, first)
    return _word_ends(word, word.lower(), following, first, agreed=agreed)


def _word_ends(word: str, key: str, following: str, first: str, *, agreed: bool) -> bool:
    if key in lexicon.LEADING or key.endswith("str"):
        return False
    if key in lexicon.BEFORE_NUMBERS and _NUMBERED.match(following):
        return False
    if key in lexicon.CLOSING:
        return _closes(first)
    if key in lexicon.OPEN or _DOTTED.fullmatch(word):
        return _starts(first) and not _ABBREVIATED.match(following)
    return agreed or key in lexicon.WORDS


def _letter_ends(letter: str, previous: str, following: str, first: str) -> bool:
    """One letter is an initial, a part of an abbreviation (`z. B.`, `a. m.`), a unit, or the name of a thing."""
    if previous.endswith("."):
        key = (previous + letter).lower()
        if key in lexicon.LEADING:
            return False
        if key in lexicon.CLOSING:
            return _closes(first)
    if _ABBREVIATED.match(following) or (letter == "M" and not previous[-1:].isdecimal()):
        return False
    return first[:1].isupper() if previous[-1:].isdecimal() else _starts(first)


def _ordinal_ends(number: str, previous: str, first: str) -> bool:
    """German writes ordinals with a full stop: `am 3. Mai`, `im 19. Jahrhundert`, `Karl II. war`."""
    if first.lower() in lexicon.AFTER_ORDINALS or previous.endswith(":"):
        return False
    if first[:1].islower() and not number.isdecimal():
        return False
    german = previous.lower() in lexicon.BEFORE_ORDINALS or _DAY.fullmatch(previous.rstrip("."))
    return not german or not number[:1].isdecimal() or _starts(first)


def _closes(first: str) -> bool:
    return first[:1].isupper() and first.lower() not in lexicon.AFTER_TIMES and not _is_zone(first)


def _is_zone(word: str) -> bool:
    return 1 < len(word) < len("CEST_") and word.isupper()


def _starts(first: str) -> bool:
    """Whether a word is one that often begins a sentence, written as a beginning."""
    return first[:1].isupper() and first.lower() in lexicon.STARTING
