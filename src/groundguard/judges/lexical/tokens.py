"""Reading a sentence for the lexical judge: words, numbers with their units, and what is negated."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from groundguard.judges.lexical.numbers import Amounts, Token, date, joined, number
from groundguard.judges.lexical.signs import CROSSES, MINUSES, SIGN, amounts, is_sign, sign
from groundguard.judges.lexical.words import (
    ACRONYMS,
    ANAPHORA,
    BEFORE_THAT,
    BEFORE_TO,
    BREAKS,
    HAN_NEGATORS,
    HAN_PLAIN,
    MONTHS,
    NEGATORS,
    ORDERED,
    PASSED_OVER,
    ROUNDS,
    STOP,
    TRUTHS,
    UNLESS,
    look_up,
)

_REACH = 3
_FAR = 24
_LONGEST_ACRONYM = 5
_LONGEST_ENDING = 2
_UNSEEN = {ord(character): None for character in "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\ufeff*`"}
_QUOTE_MARKS = re.compile(r"^[ \t]*(?:>+(?![ \t]*=)[ \t]+)+", re.MULTILINE)
_LIST_MARK = re.compile(r"\s*(?:>(?![\d=])\s*)*(?:\(?\d{1,3}[.)]\s+)?")
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUNS = re.compile(f"[{_SPACELESS}]+|[^{_SPACELESS}]+")
_ROMAN = re.compile(r"[IVXLC]{2,}")
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
        """Equal for two sentences that differ in layout, and in marks other than signs and a question mark, only."""
        kept = (token for token in self.tokens if token.base or is_sign(token))
        return tuple(token.text.casefold() for token in kept) + ("?",) * self.asks

    def pieces(self, most: int) -> list[Reading]:
        """It, or parts of it of `most` tokens."""
        if len(self.tokens) <= most:
            return [self]
        return [Reading(self.tokens[at : at + most]) for at in range(0, len(self.tokens), most)]

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
    def amounts(self) -> Amounts:
        """Its numbers, to look one up in."""
        return Amounts(self.numbers)

    @cached_property
    def signed(self) -> Mapping[str, Amounts]:
        """Its numbers behind each sign, or behind words that say the same."""
        return amounts(self.tokens)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Where each base stands, in order."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, token in enumerate(self.tokens):
            if token.base:
                places[token.base].append(place)
        return dict(places)

    @cached_property
    def order(self) -> dict[str, int]:
        """Where each word stands that occurs once."""
        once = ((base, places[0]) for base, places in self.places.items() if len(places) == 1)
        return {base: place for base, place in once if self.tokens[place].counts or base in ORDERED}

    @cached_property
    def between(self) -> dict[tuple[str, str], list[Token]]:
        """What stands between each two words; general words are left out."""
        between: defaultdict[tuple[str, str], list[Token]] = defaultdict(list)
        for place, token in enumerate(self.tokens):
            if token.specific:
                between[self.sides(place)].append(token)
        return dict(between)

    def sides(self, at: int) -> tuple[str, str]:
        """The words before and after one, empty where a mark or nothing stands there."""
        before, after = beside(self.tokens, at, -1), beside(self.tokens, at, 1)
        return before.base if before else "", after.base if after else ""

    @cached_property
    def counted(self) -> dict[tuple[str, int], tuple[Token, Amounts]]:
        """For each noun with its sign: the first number before it, and all of them."""
        numbers: defaultdict[tuple[str, int], list[Token]] = defaultdict(list)
        for token, noun in self.pairs:
            numbers[noun.base, noun.sign].append(token)
        return {noun: (some[0], Amounts(some)) for noun, some in numbers.items()}

    @cached_property
    def pairs(self) -> tuple[tuple[Token, Token], ...]:
        """Each number with the noun that it counts."""
        nouns = ((at, self._counted_by(at)) for at, token in enumerate(self.tokens) if token.values)
        return tuple((self.tokens[at], noun) for at, noun in nouns if noun is not None)

    def _counted_by(self, at: int) -> Token | None:
        """The noun right after a number, or after `of`."""
        after = self.tokens[at + 1] if at + 1 < len(self.tokens) else Token("")
        noun = beside(self.tokens, at + 1, 1) if after.base == "of" else after
        return noun if noun is not None and noun.counts and not noun.values else None

    @cached_property
    def ranges(self) -> tuple[tuple[Token, Token], ...]:
        """Each two numbers of a kind with nothing or `to` between them: `3 to 5`, `3-5`."""
        lasts = (at + (self.tokens[at].base == "to") for at in range(1, len(self.tokens)))
        ends = zip(self.tokens, (self.tokens[at] for at in lasts if at < len(self.tokens)), strict=False)
        return tuple(
            (first, last)
            for first, last in ends
            if first.values and last.values and (first.kind == last.kind or not (first.kind or last.kind == "# year"))
        )

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
    text = _LIST_MARK.sub("", _QUOTE_MARKS.sub("", text.translate(_UNSEEN)), count=1)
    marks = "" if text.isascii() else "".join(sorted(c for c in set(text) if unicodedata.category(c)[0] == "M"))
    return Reading(tuple(joined(_placed(_tokens(_pattern(marks), text)))))


@lru_cache(maxsize=256)
def _pattern(marks: str) -> re.Pattern[str]:
    letter = rf"(?:[^\W\d_]|[{re.escape(marks)}])" if marks else r"[^\W\d_]"
    return re.compile(
        rf"""
        (?P<cite> \[\^?\d+(?:\s?[,;\u2013-]\s?\d+)*\] | 【[^】]{{0,40}}】 )
        | (?P<date> \d{{4}}-\d{{2}}-\d{{2}} (?!\d) )
        | (?P<code> \d{{1,4}}:\d{{1,4}} (?!\d) | (?!\d{{1,3}}(?:\.\d{{3}})+(?![\d.])) \d+(?:\.\d+){{2,}} (?!,) )
        | (?P<tag> </?(?:br|b|i|p|em|li|td|th|sub|sup|span|strong)\s?/?> )
        | (?P<arrow> -{{1,9}}> | ={{1,9}}>(?=\s) )
        | (?P<sign> (?:{SIGN}) (?=\s{{0,3}}[$€£¥]?\s?[{MINUSES}]?\d) )
        | (?P<number> (?:(?<![\w)])[{MINUSES}])? (?:\d{{1,3}}(?:[ ]\d{{3}})+(?!\d) | \d+(?:[.,]\d+)*) )
          (?P<tail> {letter}(?:{letter}|\d)* )?
        | (?P<dots> (?:[A-Z]\.){{2,}} )
        | (?P<word> {letter}(?:{letter}|\d)* (?:['\u2019]{letter}+)* )
        | (?P<unit> [%€$£¥] | °[CF]?  )
        | (?P<mark> [^\w\s'"\u2019“”\u2010-] )
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
        elif kind == "arrow":
            yield _mark("\u2192")
        elif kind == "sign":
            yield sign(match[0])
        elif kind in ("number", "tail"):
            yield from number(match["number"], match["tail"] or "")
        elif kind == "date":
            yield from date(match[0])
        elif kind == "dots":
            yield _word(match[0].replace(".", ""))
        elif kind in ("code", "unit"):
            yield Token(match[0], match[0].casefold(), counts=2 if kind == "code" else 0)


def _placed(tokens: Iterator[Token]) -> Iterator[Token]:
    """What a word's place tells: a capital letter after a noun is a name, `once a day` is a number."""
    before = [Token(""), Token("")]
    for token, after in pairwise(chain(tokens, [Token("")])):
        if token.text.casefold() == "once" and after.text.casefold() in ROUNDS:
            yield token._replace(base="1 times", counts=2)
        elif _is_letter(token, *before) or _is_symbol(token, before[1], after):
            yield token._replace(base=token.text, counts=2)
        else:
            yield token
        before = [before[1], token]


def _is_letter(token: Token, second: Token, first: Token) -> bool:
    """Whether a token, of which the two before are given, is the B of `Plan B`; not the I of `today I saw`."""
    text = token.text
    if len(text) > 1 or not text.isupper() or not first.counts or first.values:
        return False
    if text == "I":
        return first.capital and bool(second.base)
    return text != "A" or not first.text.isupper() or len(first.text) == 1


def _is_symbol(token: Token, before: Token, after: Token) -> bool:
    """Whether a token is the X of `X is greater than Y`, given those beside it; initials have full stops."""
    stands_alone = "." not in (before.text, after.text)
    return len(token.text) == 1 and token.text.isupper() and token.text not in "AI" and stands_alone


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
    if _ROMAN.fullmatch(text):
        return Token(text, text.casefold(), counts=2, capital=True)
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
        if _negates(token, tokens[at + 1] if at + 1 < len(tokens) else token):
            reached = _reached(tokens, at)
            turned |= {place for place in reached if tokens[place].sign < 0}
            reach = frozenset(reached) - turned
            if reach and reached[0] in reach:
                yield Negation(reached[0], reach)
    for at, token in enumerate(tokens):
        if token.sign < 0 and at not in turned:
            yield Negation(at, frozenset({at}))


def _negates(token: Token, after: Token) -> bool:
    """Whether a token negates what follows, given the next one; itself if there is none."""
    low, following = token.text.casefold().replace("'", "").replace("\u2019", ""), after.text.casefold()
    if low in NEGATORS or low in CROSSES:
        return following != "only"
    if low in BEFORE_TO or low in BEFORE_THAT:
        return following == ("to" if low in BEFORE_TO else "that")
    return low in UNLESS or (len(low) > 1 and low[0] in HAN_NEGATORS and low not in HAN_PLAIN)


def _reached(tokens: tuple[Token, ...], at: int) -> list[int]:
    """Places of the words that the negation at `at` reaches: forward, else the one before it."""
    ahead: list[int] = []
    for place in range(_beyond_marks(tokens, at, 1), min(len(tokens), at + _FAR)):
        token = tokens[place]
        low = token.text.casefold()
        if not token.base or low in BREAKS or len(ahead) == _REACH:
            break
        if (token.counts or token.sign < 0) and low not in PASSED_OVER and not token.values:
            if low in TRUTHS and place + 1 < len(tokens) and tokens[place + 1].text.casefold() == "that":
                continue
            ahead.append(place)
    return ahead or _before(tokens, at)


def _beyond_marks(tokens: tuple[Token, ...], at: int, step: int) -> int:
    """The place next to a negation; next to a cross, the next word."""
    if tokens[at].text not in CROSSES:
        return at + step
    near = range(at + step, at + step * _FAR, step)
    return next((place for place in near if 0 <= place < len(tokens) and tokens[place].base), at + step)


def _before(tokens: tuple[Token, ...], at: int) -> list[int]:
    for place in range(_beyond_marks(tokens, at, -1), max(-1, at - _FAR), -1):
        if tokens[place].counts or not tokens[place].base:
            return [place] if tokens[place].base else []
    return []


def beside(tokens: tuple[Token, ...], at: int, step: int) -> Token | None:
    """The next counting token in that direction, if only function words are between."""
    for place in range(at + step, at + step * _FAR, step):
        if not 0 <= place < len(tokens) or not tokens[place].base:
            break
        if tokens[place].counts:
            return tokens[place]
    return None
