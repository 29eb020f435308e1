"""Reading a sentence for the lexical judge: words, numbers with their units, and what is negated."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import NamedTuple

from groundguard.judges.lexical_words import (
    BREAKS,
    DEGREES,
    MONTHS,
    NEGATORS,
    NUMBERS,
    SCALES,
    UNITS,
    look_up,
)

_REACH = 3
_LONGEST_NUMBER = 28
_UNSEEN = {ord(character): None for character in "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff*`"}
_LIST_MARK = re.compile(r"\s*(?:>\s*)*(?:\(?\d{1,3}[.)]\s+)?")
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUNS = re.compile(f"[{_SPACELESS}]+|[^{_SPACELESS}]+")
_RUN_OF_PAIRS = re.compile(f"[{_SPACELESS}]")
_ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})
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
    def exact(self) -> bool:
        """Whether it is a number or a code, which nothing but itself can stand for."""
        return bool(self.values) or any(map(str.isdigit, self.base))


class Negation(NamedTuple):
    """One negating word: what it turns round first, and all that it may turn round."""

    head: str
    scope: frozenset[str]


@dataclass(frozen=True)
class Reading:
    """A sentence as the judge reads it."""

    tokens: tuple[Token, ...]

    @cached_property
    def content(self) -> tuple[Token, ...]:
        """What asserts something."""
        return tuple(token for token in self.tokens if token.counts)

    @cached_property
    def key(self) -> tuple[str, ...]:
        """Equal for two sentences that differ in punctuation and layout only."""
        return tuple(token.text.casefold() for token in self.tokens if token.base)

    @cached_property
    def bases(self) -> frozenset[str]:
        """Everything in it that can be compared."""
        return frozenset(token.base for token in self.tokens if token.base)

    @cached_property
    def numbers(self) -> tuple[Token, ...]:
        """Its numbers, `one` included."""
        return tuple(token for token in self.tokens if token.values)

    @cached_property
    def names(self) -> frozenset[str]:
        """Bases of what is written like a name; a sentence that capitalises everything has none."""
        words = [token for token in self.tokens if token.base and not token.values]
        if len(words) > _REACH and all(token.capital for token in words if token.counts):
            return frozenset()
        later = [token for token in words[1:] if token.capital and token.counts]
        first = [token for token in words[:1] if token.counts and len(token.text) > 1 and token.text.isupper()]
        return frozenset(token.base for token in later + first)

    @cached_property
    def negations(self) -> tuple[Negation, ...]:
        """Its negating words and opposites that nothing turns back."""
        return tuple(_negations(self.tokens))

    @cached_property
    def negated(self) -> frozenset[str]:
        """Bases that some negation reaches."""
        return frozenset[str]().union(*(negation.scope for negation in self.negations))

    @cached_property
    def affirmed(self) -> frozenset[str]:
        """Bases that stand somewhere as they are, or are turned round twice."""
        heads = {negation.head for negation in self.negations}
        return self.bases - heads | {
            token.base for token in self.tokens if token.sign > 0 and token.base not in self.negated
        }


def read(text: str) -> Reading:
    """Read one sentence. Total."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = _LIST_MARK.sub("", text.translate(_UNSEEN), count=1)
    marks = "" if text.isascii() else "".join(sorted(c for c in set(text) if unicodedata.category(c)[0] == "M"))
    return Reading(tuple(_joined(_tokens(_pattern(marks), text))))


@lru_cache(maxsize=256)
def _pattern(marks: str) -> re.Pattern[str]:
    letter = rf"(?:[^\W\d_]|[{re.escape(marks)}])" if marks else r"[^\W\d_]"
    return re.compile(
        rf"""
        (?P<cite> \[\^?\d+(?:\s?[,;–-]\s?\d+)*\] | 【[^】]{{0,40}}】 )
        | (?P<date> \d{{4}}-\d{{2}}-\d{{2}} (?!\d) )
        | (?P<code> \d{{1,2}}:\d{{2}} (?!\d) | \d+(?:\.\d+){{2,}} (?!,) )
        | (?P<number> \d{{1,3}}(?:[ ]\d{{3}})+(?!\d) | \d+(?:[.,]\d+)* ) (?P<tail> {letter}(?:{letter}|\d)* )?
        | (?P<dots> (?:[A-Z]\.){{2,}} )
        | (?P<word> {letter}(?:{letter}|\d)* (?:['’]{letter}+)* )
        | (?P<unit> [%€$£¥] | °[CF]?  )
        | (?P<mark> [^\w\s'"’“”-] )
        """,
        re.VERBOSE,
    )


def _tokens(pattern: re.Pattern[str], text: str) -> Iterator[Token]:
    for match in pattern.finditer(text):
        kind = match.lastgroup
        if kind == "word":
            yield from _words(match[0])
        elif kind == "mark":
            yield _mark(match[0])
        elif kind in ("number", "tail"):
            yield from _number(match["number"], match["tail"] or "")
        elif kind == "date":
            yield from _date(match[0])
        elif kind == "dots":
            yield _word(match[0].replace(".", ""))
        elif kind in ("code", "unit"):
            yield Token(match[0], match[0].casefold(), counts=2 if kind == "code" else 0)


@lru_cache(maxsize=1_024)
def _mark(text: str) -> Token:
    return Token(text)


@lru_cache(maxsize=65_536)
def _words(text: str) -> tuple[Token, ...]:
    """The words of a run of letters: one, or pairs of letters where a script writes no spaces."""
    if text.isascii():
        return (_word(text),)
    return tuple(token for run in _RUNS.findall(text) for token in _run(run))


def _run(run: str) -> tuple[Token, ...]:
    if not _RUN_OF_PAIRS.match(run):
        return (_word(run),)
    pairs = [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    return tuple(Token(pair, pair, counts=2) for pair in pairs)


def _word(text: str) -> Token:
    if any(map(str.isdigit, text)):
        return Token(text, text.casefold(), counts=2, capital=True)
    if text in MONTHS:
        return Token(text, MONTHS[text], counts=2, capital=True)
    capital = text[0].isupper()
    short = capital and text.isupper() and 1 < len(text) <= 5
    word = look_up(_bare(text.casefold()))
    return Token(text, word.base, word.sign, 2 if short else word.counts, capital)


def _bare(word: str) -> str:
    """A word without what an apostrophe hangs on it; `n't` stays."""
    stem, apostrophe, ending = word.replace("’", "'").rpartition("'")
    if not apostrophe:
        return word
    if ending == "t" and stem.endswith("n"):
        return stem.replace("'", "") + "t"
    return stem.replace("'", "") + ("" if len(ending) <= 2 else ending)


def _number(digits: str, tail: str) -> Iterator[Token]:
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
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return (Decimal(digits),)
    mark, rest = digits[last], digits[last + 1 :]
    whole = Decimal(re.sub(r"[.,]", "", digits))
    fraction = Decimal(re.sub(r"[.,]", "", digits[:last]) + "." + rest)
    if len(rest) != 3 or digits.startswith("0"):
        return (fraction,)
    if digits.count(mark) > 1:
        return (whole,)
    if digits.count(".") and digits.count(","):
        return (fraction,)
    return (whole,) if mark == "," else (fraction, whole)


def _date(text: str) -> Iterator[Token]:
    year, month, day = text.split("-")
    yield _quantity(year, (Decimal(year),))
    yield Token(month, f"month {int(month)}", counts=2)
    yield _quantity(day, (Decimal(day),))


def _joined(tokens: Iterator[Token]) -> Iterator[Token]:
    """Number words, scales and units joined to one number each."""
    pending: Token | None = None
    currency: tuple[str, Decimal] | None = None
    for token in tokens:
        low = token.text.casefold()
        spelled = NUMBERS.get(low)
        if pending is not None:
            joined = _join(pending, token, low, spelled)
            if joined is not None:
                pending = joined
                continue
            yield pending
            pending = None
        if token.values:
            pending = token._replace(unit=currency)
        elif spelled is not None:
            pending = Token(token.text, f"#{spelled}", counts=0 if low == "one" else 2, values=(Decimal(spelled),))
        else:
            yield token
        currency = UNITS[low] if low in _CURRENCIES else None
    if pending is not None:
        yield pending


def _join(number: Token, token: Token, low: str, spelled: int | None) -> Token | None:
    """`number` with the next token made part of it, or None if it is not."""
    value = number.values[0]
    if spelled is not None and number.text[-1].isalpha() and 0 < spelled < _room(value):
        return _grown(number, token, value + spelled)
    if low in SCALES and number.unit is None or (low in SCALES and number.unit and number.unit[0] in _MONEY):
        return _grown(number, token, value * SCALES[low])
    if low == "m" and number.unit and number.unit[0] in _MONEY:
        return _grown(number, token, value * 10**6)
    if low in UNITS and number.unit is None:
        return number._replace(text=f"{number.text} {token.text}", unit=UNITS[low], counts=2)
    return None


_MONEY = frozenset({"dollar", "euro", "sterling", "yen"})


def _room(value: Decimal) -> int:
    """Below what a number word may be added: `twenty` takes a one-digit word, `two hundred` a two-digit one."""
    if value % 100 == 0 and value:
        return 100
    return 10 if value % 10 == 0 and value else 0


def _grown(number: Token, token: Token, value: Decimal) -> Token:
    values = (value,)
    return number._replace(text=f"{number.text} {token.text}", base=f"#{_plain(value)}", counts=2, values=values)


def _negations(tokens: tuple[Token, ...]) -> Iterator[Negation]:
    turned: set[int] = set()
    for at, token in enumerate(tokens):
        low = token.text.casefold().replace("'", "").replace("’", "")
        if low in NEGATORS and not _only(tokens, at):
            reached = _reached(tokens, at)
            if not reached:
                continue
            turned |= {place for place in reached if tokens[place].sign < 0}
            head = tokens[reached[0]]
            scope = frozenset(tokens[place].base for place in reached if tokens[place].sign > 0)
            if head.sign > 0:
                yield Negation(head.base, scope)
    for at, token in enumerate(tokens):
        if token.sign < 0 and at not in turned:
            yield Negation(token.base, frozenset({token.base}))


def _only(tokens: tuple[Token, ...], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].text.casefold() == "only"


def _reached(tokens: tuple[Token, ...], at: int) -> list[int]:
    """Places of the words that the negation at `at` reaches: forward, else the one before it."""
    ahead: list[int] = []
    for place in range(at + 1, len(tokens)):
        token = tokens[place]
        if not token.base or token.text.casefold() in BREAKS or len(ahead) == _REACH:
            break
        if (token.counts or token.sign < 0) and token.text.casefold() not in DEGREES and not token.values:
            ahead.append(place)
    if ahead:
        return ahead
    for place in range(at - 1, -1, -1):
        if not tokens[place].base:
            break
        if tokens[place].counts:
            return [place]
    return []
