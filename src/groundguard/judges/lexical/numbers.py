"""Numbers for the lexical judge: digits, number words, scales, units and signs of money read as one quantity."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import chain, pairwise
from typing import NamedTuple

from groundguard.judges.lexical.words import MONEY, NUMBERS, SCALES, UNITS

_LONGEST_NUMBER = 28
_LARGEST = 10**15
_LONGEST_TEXT = 200
_THOUSANDS = 3
_ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
_YEAR = re.compile(r"#[12]\d{3}")
_CURRENCIES = frozenset("$€£¥")


class Token(NamedTuple):
    """One thing that a sentence says.

    Attributes:
        text: As it stands in the sentence.
        base: What is compared: a word's stem, a number's digits; empty for a punctuation mark.
        sign: -1 for a word that stands for the opposite of its base.
        counts: 0 if it asserts nothing by itself, 1 if it is a general word, 2 otherwise.
        capital: Whether it is written like a name.
        values: What a number may mean; more than one where `1.500` may be either.
        unit: A number's dimension and factor, if it has a unit.
    """

    text: str
    base: str = ""
    sign: int = 1
    counts: int = 0
    capital: bool = False
    values: tuple[Decimal, ...] = ()
    unit: tuple[str, Decimal] | None = None

    @property
    def kind(self) -> str:
        """What else may stand in its place: a number of the same dimension, a year, a month, a name; else empty."""
        if self.values:
            unit = self.unit[0].replace("months", "time") if self.unit else ""
            return f"# {unit}" if unit else "# year" * bool(_YEAR.fullmatch(self.base))
        return ("month" if self.base.startswith("month ") else "name") if self.capital else ""

    @property
    def has_opposite(self) -> bool:
        """Whether it is one of a pair of opposites."""
        return "/" in self.base

    @property
    def specific(self) -> bool:
        """Whether it is more than a general word."""
        return self.counts > 1

    @property
    def exact(self) -> bool:
        """Whether it is a number or a code, which nothing but itself can stand for."""
        return bool(self.values) or any(map(str.isdigit, self.base))


class Amounts:
    """The numbers of a sentence, sorted by dimension, to look one up in."""

    def __init__(self, tokens: Iterable[Token]) -> None:
        amounts: defaultdict[str, set[Decimal]] = defaultdict(set)
        for token in tokens:
            amounts[""].update(token.values)
            if token.unit:
                amounts[token.unit[0]].update(value * token.unit[1] for value in token.values)
        self._amounts = {dimension: sorted(some) for dimension, some in amounts.items()}

    def has(self, token: Token, *, approximate: bool) -> bool:
        """Whether one has the value and kind of `token`; one without a unit never stands for one with a unit."""
        dimension, factor = token.unit or ("", Decimal(1))
        amounts = self._amounts.get(dimension, ())
        for value in token.values:
            half = _half(value) * factor if approximate else Decimal(0)
            at = bisect_left(amounts, value * factor - half)
            if at < len(amounts) and amounts[at] <= value * factor + half:
                return True
        return False


def _half(rounded: Decimal) -> Decimal:
    """By how much a number may differ that is `rounded` when it is written with as many digits."""
    exponent = rounded.normalize().as_tuple().exponent
    return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0) / 2


def number(digits: str, tail: str) -> Iterator[Token]:
    """What digits, and the letters right after them, say."""
    low = tail.casefold()
    if low in _ORDINAL_ENDINGS:
        yield Token(digits + tail, digits + low, counts=2)
    elif len(digits) > _LONGEST_NUMBER or (low and not _measures(digits, low)):
        yield Token(digits + tail, (digits + tail).casefold(), counts=2)
    else:
        yield _quantity(digits, _values(digits))
        if tail:
            yield Token(tail, low)


def _measures(digits: str, tail: str) -> bool:
    """Whether letters right after digits are a unit or a scale; the s of `1990s` is not."""
    return tail in SCALES or (tail in UNITS and not (tail == "s" and digits.endswith("0")))


def _quantity(text: str, values: tuple[Decimal, ...]) -> Token:
    return Token(text, f"#{_plain(values[0])}", counts=2, values=values)


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _values(digits: str) -> tuple[Decimal, ...]:
    """What digits with points, commas and spaces may mean, the likeliest first."""
    digits = digits.replace(" ", "")
    digits = digits if digits[0].isdigit() else f"-{digits[1:]}"
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return (Decimal(digits),)
    mark, rest = digits[last], digits[last + 1 :]
    whole = Decimal(re.sub(r"[.,]", "", digits))
    fraction = Decimal(re.sub(r"[.,]", "", digits[:last]) + "." + rest)
    if len(rest) != _THOUSANDS or digits.startswith(("0", "-0")):
        return (fraction,)
    if digits.count(mark) > 1:
        return (whole,)
    if digits.count(".") and digits.count(","):
        return (fraction,)
    return (whole,) if mark == "," else (fraction, whole)


def date(text: str) -> Iterator[Token]:
    """The day, month and year of an ISO date."""
    year, month, day = text.split("-")
    yield _quantity(day, (Decimal(day),))
    yield Token(month, f"month {int(month)}", counts=2)
    yield _quantity(year, (Decimal(year),))


def joined(tokens: Iterable[Token]) -> Iterator[Token]:
    """Number words, scales, units and signs of money joined to one number each."""
    pending: Token | None = None
    sign: tuple[str, Decimal] | None = None
    for token, after in pairwise(chain(tokens, [Token("")])):
        low = token.text.casefold()
        if pending is not None:
            if low == "and" and pending.text.endswith("hundred") and after.text.casefold() in NUMBERS:
                continue
            grown = _join(pending, token, low)
            if grown is not None:
                pending = grown
                continue
            yield pending
        pending = _started(token, low, sign)
        if pending is None:
            yield token
        sign = UNITS[low] if low in _CURRENCIES else None
    if pending is not None:
        yield pending


def _started(token: Token, low: str, sign: tuple[str, Decimal] | None) -> Token | None:
    """The number that a token begins, if it begins one; `one` is seldom meant as a number."""
    if token.values:
        return token._replace(unit=sign)
    if low not in NUMBERS:
        return None
    return _quantity(token.text, (Decimal(NUMBERS[low]),))._replace(counts=0 if low == "one" else 2)


def _join(number: Token, token: Token, low: str) -> Token | None:
    """`number` with the next token made part of it, or None if it is not."""
    value = number.values[0]
    if len(number.text) > _LONGEST_TEXT:
        return None
    money = number.unit is not None and number.unit[0] in MONEY
    if number.text[-1].isalpha() and 0 < NUMBERS.get(low, 0) < _room(value):
        return _grown(number, token, value + NUMBERS[low])
    if (low in SCALES and (money or number.unit is None)) or (low == "m" and money):
        return _grown(number, token, value * SCALES.get(low, 10**6)) if value < _LARGEST else None
    if low in UNITS and number.unit is None:
        return number._replace(text=f"{number.text} {token.text}", unit=UNITS[low], counts=2)
    return None


def _room(value: Decimal) -> int:
    """Below what a number word may be added: `twenty` takes a one-digit word, `two hundred` a two-digit one."""
    if not 0 < value < _LARGEST or value % 10:
        return 0
    return 10 if value % 100 else 100


def _grown(number: Token, token: Token, value: Decimal) -> Token:
    return _quantity(f"{number.text} {token.text}", (value,))._replace(unit=number.unit)
