"""Reading a sentence for the lexical judge: words, numbers with their units, and what is negated."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from groundguard.judges.lexical.numbers import Token, date, joined, number
from groundguard.judges.lexical.words import ACRONYMS, ANAPHORA, BREAKS, DEGREES, MONTHS, NEGATORS, STOP, look_up

_REACH = 3
_LONGEST_ACRONYM = 5
_LONGEST_ENDING = 2
_UNSEEN = {ord(character): None for character in "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff*`"}
_LIST_MARK = re.compile(r"\s*(?:>\s*)*(?:\(?\d{1,3}[.)]\s+)?")
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUNS = re.compile(f"[{_SPACELESS}]+|[^{_SPACELESS}]+")
_RUN_OF_PAIRS = re.compile(f"[{_SPACELESS}]")


class Negation(NamedTuple):
    """One negating word, or one opposite: the place of what it turns round first, and the places that it may reach."""

    head: int
    reach: frozenset[int]


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
        """Equal for two sentences that differ in layout, and in punctuation other than a question mark, only."""
        return tuple(token.text.casefold() for token in self.tokens if token.base) + ("?",) * self.asks

    @cached_property
    def asks(self) -> bool:
        """Whether it is a question: no evidence for a statement."""
        return any(token.text == "?" for token in self.tokens[-1:])

    @cached_property
    def points_back(self) -> bool:
        """Whether a pronoun in it may speak of what a sentence before said."""
        return any(token.text.casefold() in ANAPHORA for token in self.tokens)

    def about(self, before: Reading) -> bool:
        """Whether it seems to go on about a sentence before it."""
        first = next(iter(self.content), None)
        return self.points_back or (first is not None and first.specific and first.base in before.bases)

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
    def reached(self) -> frozenset[str]:
        """Bases that stand where some negation reaches."""
        return frozenset(self.tokens[place].base for negation in self.negations for place in negation.reach)

    @cached_property
    def negated(self) -> frozenset[str]:
        """Bases that stand only where some negation reaches."""
        return self.reached - self._outside({place for negation in self.negations for place in negation.reach})

    @cached_property
    def affirmed(self) -> frozenset[str]:
        """Bases that stand somewhere where nothing turns them round first."""
        return self._outside({negation.head for negation in self.negations})

    def _outside(self, places: AbstractSet[int]) -> frozenset[str]:
        return frozenset(token.base for place, token in enumerate(self.tokens) if place not in places)


def read(text: str) -> Reading:
    """Read one sentence. Total."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    text = _LIST_MARK.sub("", text.translate(_UNSEEN), count=1)
    marks = "" if text.isascii() else "".join(sorted(c for c in set(text) if unicodedata.category(c)[0] == "M"))
    return Reading(tuple(joined(_tokens(_pattern(marks), text))))


@lru_cache(maxsize=256)
def _pattern(marks: str) -> re.Pattern[str]:
    letter = rf"(?:[^\W\d_]|[{re.escape(marks)}])" if marks else r"[^\W\d_]"
    return re.compile(
        rf"""
        (?P<cite> \[\^?\d+(?:\s?[,;\u2013-]\s?\d+)*\] | 【[^】]{{0,40}}】 )
        | (?P<date> \d{{4}}-\d{{2}}-\d{{2}} (?!\d) )
        | (?P<code> \d{{1,2}}:\d{{2}} (?!\d) | (?!\d{{1,3}}(?:\.\d{{3}})+(?![\d.])) \d+(?:\.\d+){{2,}} (?!,) )
        | (?P<number> (?:(?<![\w)])[-\u2212])? (?:\d{{1,3}}(?:[ ]\d{{3}})+(?!\d) | \d+(?:[.,]\d+)*) )
          (?P<tail> {letter}(?:{letter}|\d)* )?
        | (?P<dots> (?:[A-Z]\.){{2,}} )
        | (?P<word> {letter}(?:{letter}|\d)* (?:['\u2019]{letter}+)* )
        | (?P<unit> [%€$£¥] | °[CF]?  )
        | (?P<mark> [^\w\s'"\u2019“”-] )
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
            yield from number(match["number"], match["tail"] or "")
        elif kind == "date":
            yield from date(match[0])
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
    low = _bare(text.casefold())
    word = look_up(low)
    acronym = text.isupper() and 1 < len(text) <= _LONGEST_ACRONYM and (low not in STOP or text in ACRONYMS)
    return Token(text, word.base, word.sign, 2 if acronym else word.counts, capital)


def _bare(word: str) -> str:
    """A word without what an apostrophe hangs on it; `n't` stays."""
    stem, apostrophe, ending = word.replace("\u2019", "'").rpartition("'")
    if not apostrophe:
        return word
    if ending == "t" and stem.endswith("n"):
        return stem.replace("'", "") + "t"
    return stem.replace("'", "") + ("" if len(ending) <= _LONGEST_ENDING else ending)


def _negations(tokens: tuple[Token, ...]) -> Iterator[Negation]:
    turned: set[int] = set()
    for at, token in enumerate(tokens):
        if _negates(token) and not _only(tokens, at):
            reached = _reached(tokens, at)
            turned |= {place for place in reached if tokens[place].sign < 0}
            reach = frozenset(reached) - turned
            if reach and reached[0] in reach:
                yield Negation(reached[0], reach)
    for at, token in enumerate(tokens):
        if token.sign < 0 and at not in turned:
            yield Negation(at, frozenset({at}))


def _negates(token: Token) -> bool:
    return token.text.casefold().replace("'", "").replace("\u2019", "") in NEGATORS


def _only(tokens: tuple[Token, ...], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].text.casefold() == "only"


def _reached(tokens: tuple[Token, ...], at: int) -> list[int]:
    """Places of the words that the negation at `at` reaches: forward, else the one before it."""
    ahead: list[int] = []
    for place in range(at + 1, len(tokens)):
        token = tokens[place]
        low = token.text.casefold()
        if not token.base or low in BREAKS or len(ahead) == _REACH:
            break
        if (token.counts or token.sign < 0) and low not in DEGREES and not token.values:
            ahead.append(place)
    return ahead or _before(tokens, at)


def _before(tokens: tuple[Token, ...], at: int) -> list[int]:
    for place in range(at - 1, -1, -1):
        if tokens[place].counts or not tokens[place].base:
            return [place] if tokens[place].base else []
    return []


def beside(tokens: tuple[Token, ...], at: int, step: int) -> Token | None:
    """The next counting token in that direction, if only function words are between."""
    place = at + step
    while 0 <= place < len(tokens) and tokens[place].base:
        if tokens[place].counts:
            return tokens[place]
        place += step
    return None
