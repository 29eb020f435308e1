"""Signs for the lexical judge: what stands before a number and makes it another one, and emoji that negate."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from groundguard.judges.lexical.numbers import Amounts, Token

CROSSES = frozenset("❌❎✖✗✘⛔🚫🛑👎🙅")
"""Emoji that turn round what they stand beside."""

MINUSES = "-\u2010-\u2013\u2212\u2796"
"""What may be a minus right before a number, inside a class of a regular expression; NFKC makes U+2011 U+2010."""

_ALIKE = {
    "≠": "!= =/= <> ¬ ≠ ≢",
    "≤": "<= =< ≤ ⩽ ≦",
    "≥": ">= ≥ ⩾ ≧",
    "<": "< ≪",
    ">": "> ≫",
    "≮": "≮",
    "≯": "≯",
    "~": "~ ≈ \u223c ≃ ≅ ≊",
    "±": "± ∓",
    "√": "√",
    "∛": "∛",
    "∜": "∜",
}
_SIGNS = {sign: one for one, signs in _ALIKE.items() for sign in signs.split()} | dict.fromkeys(CROSSES, "≠")
_CANONICAL = frozenset(_ALIKE)

SIGN = "|".join(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True))
"""Matches any sign, the longest first."""

_WORDS: dict[tuple[str, ...], str] = {
    ("not",): "≠",
    ("at", "least"): "≥",
    ("less", "than"): "<",
    ("fewer", "than"): "<",
    ("under",): "<",
    ("below",): "<",
    ("more", "than"): ">",
    ("greater", "than"): ">",
    ("over",): ">",
    ("above",): ">",
    ("at", "most"): "≤",
    ("up", "to"): "≤",
    ("about",): "~",
    ("around",): "~",
    ("approximately",): "~",
    ("roughly",): "~",
}
_CURRENCIES = frozenset("$€£¥")
_NEGATED_WORDS = {"<": "≥", ">": "≤"}


@lru_cache(maxsize=64)
def sign(text: str) -> Token:
    """A sign as a mark: the one that stands for all that mean the same."""
    return Token(_SIGNS[text])


def is_sign(token: Token) -> bool:
    """Whether a token is a sign or a cross: a mark that two sentences must share to be the same."""
    return not token.base and (token.text in _CANONICAL or token.text in CROSSES)


def signed(tokens: Sequence[Token], *, words: bool) -> Iterator[tuple[str, Token]]:
    """The numbers that have a sign, each behind its sign.

    Args:
        tokens: A sentence.
        words: Whether `at least`, `more than`, `about` and their like count as signs; `not` always does.
    """
    for at, token in enumerate(tokens):
        if token.values:
            end = at - 1 if at and tokens[at - 1].text in _CURRENCIES else at
            one = _sign_in(tokens[max(0, end - 3) : end])
            if one == "≠" or (one and (words or tokens[end - 1].text == one)):
                yield one, token


def _sign_in(before: Sequence[Token]) -> str:
    """The sign that ends some tokens, or that their last words stand for."""
    if before and before[-1].text in _CANONICAL and not before[-1].base:
        return before[-1].text
    return _said([token.text.casefold() for token in before])


def _said(before: list[str]) -> str:
    for length in (2, 1):
        said = _WORDS.get(tuple(before[-length:]))
        if said:
            negated = before[:-length][-1:] in (["no"], ["not"])
            return _NEGATED_WORDS.get(said, "") if negated else said
    return ""


def amounts(tokens: Sequence[Token]) -> Mapping[str, Amounts]:
    """The numbers of a sentence behind each sign, to look one up in."""
    found: defaultdict[str, list[Token]] = defaultdict(list)
    for one, token in signed(tokens, words=True):
        found[one].append(token)
    return {one: Amounts(some) for one, some in found.items()}


def differing(mine: Sequence[Token], theirs: Mapping[str, Amounts]) -> Iterator[tuple[str, Token]]:
    """The numbers of a sentence behind a sign that another sentence does not have before the same number."""
    for one, token in signed(mine, words=False):
        if one not in theirs or not theirs[one].has(token, approximate=False):
            yield one, token
