"""Whether a statement is lost in the claims that were drawn from it, as far as words and signs tell. Pure.

In every doubt it is: then it is judged as a whole too, which is always safe.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import pairwise

from groundguard.judges.claims.words import BINDING, BOUND, FREE, JOINING, NEVER_BROUGHT, PAST, POINTING, PRESENT
from groundguard.judges.lexical.evidence import LONGEST
from groundguard.judges.lexical.numbers import Token
from groundguard.judges.lexical.tokens import Negation, read
from groundguard.judges.lexical.words import HAN_NEGATORS, NEGATORS, UNLESS, look_up

COVERAGE_VERSION = "coverage/2"

Meaning = tuple[object, ...]
"""What is compared: `14 days` and `14 years` differ, and so do `before` and `after`."""

_MARKDOWN = re.compile(r"^[ \t]*(?:[>+#]+[ \t]+)+|\||~~", re.MULTILINE)
_TIMES = re.compile(r"(?<=\d)\*(?=\d)")
_CUTS = frozenset(",;()\u3001")
_QUOTES = frozenset('"\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a\u300c\u300d:\uff1a')
_MODAL = re.compile(r"(can|could|would|should|must|wo)(?:not|n?t)")
_NEGATING = NEGATORS | UNLESS
_FRAGMENT = 3
_LEAST = 2


def covers(claims: Sequence[str], statement: str, known: AbstractSet[str] = frozenset()) -> bool:
    """Whether nothing that a statement says is lost in its claims, as far as words and signs tell.

    It is divided between clauses and between the items of a list. Each part must stand whole in one claim: its words,
    numbers, units and signs. It is not divided at all where a word binds its parts together, such as `if`, `or`,
    `only` and `says`. A claim counts only if

    - its words stand in the statement, in the same order, articles, auxiliaries and their like excepted;
    - it has no other word, unless that stands for a pronoun, or completes a fragment, and is among `known`; nor one
      that makes it conditional, doubtful, an alternative or a quotation;
    - it negates what the statement negates, and nothing else, and is in the same tense.

    A statement that is longer than the lexical judge compares, or says nothing but `it is`, is covered by itself only.

    Args:
        claims: The claims.
        statement: The statement.
        known: What the question, the conversation and the rest of the answer say, as `said` returns it.
    """
    if statement in claims:
        return True
    whole = _Told(statement)
    if len(whole.reading.tokens) > LONGEST:
        return False
    faithful = [told for told in map(_Told, claims) if _is_faithful(told, whole, known)]
    open_parts = [_counted(part) for part in _parts(whole)]
    for told in faithful:
        kept = _counted(told.meanings)
        open_parts = [part for part in open_parts if not part <= kept]
    negations = sum(told.negations for told in faithful)
    return bool(faithful) and not open_parts and negations >= whole.negations and _tenses(faithful) >= whole.tenses


def said(texts: Iterable[str]) -> frozenset[str]:
    """What texts say, to be `known` to `covers`."""
    return frozenset(base.casefold() for text in texts for base in read(text).bases)


class _Told:
    """What a claim or a statement says.

    Attributes:
        reading: Its words as the lexical judge reads them.
        kept: The place and the meaning of each token that may not be lost, in order.
    """

    def __init__(self, text: str) -> None:
        self.quotes = Counter(character for character in text if character in _QUOTES)
        self.reading = read(_TIMES.sub("\u00d7", _MARKDOWN.sub(" ", unicodedata.normalize("NFKC", text))))
        self.kept = list(_kept(self.reading.tokens))

    @cached_property
    def meanings(self) -> list[Meaning]:
        return [meaning for _, meaning in self.kept]

    @cached_property
    def pointing(self) -> Counter[str]:
        return Counter(word for word in self._words if word in POINTING)

    @cached_property
    def tenses(self) -> frozenset[bool]:
        """Past, present, both or neither."""
        return frozenset(word in PAST for word in self._words if word in PAST or word in PRESENT)

    @cached_property
    def negating(self) -> list[int]:
        """The places of the words that negate, whatever they reach: `It does not.` has one."""
        return [place for place, token in enumerate(self.reading.tokens) if _negates(token)]

    @property
    def negations(self) -> int:
        return len(self.negating)

    @cached_property
    def heads(self) -> frozenset[str]:
        """What the words that negate turn round first."""
        return frozenset(self.reading.tokens[each.head].base for each in self._turned)

    @cached_property
    def reached(self) -> frozenset[str]:
        """What they may reach."""
        return frozenset(self.reading.tokens[place].base for each in self._turned for place in each.reach)

    @cached_property
    def plain(self) -> frozenset[str]:
        """What none of them reaches."""
        return self.reading.bases - self.reached

    @property
    def _turned(self) -> list[Negation]:
        """An opposite by itself is a word like any other."""
        return [each for each in self.reading.negations if self.reading.tokens[each.head].sign > 0]

    @cached_property
    def _words(self) -> list[str]:
        return [_word(token) for token in self.reading.tokens]


def _kept(tokens: Sequence[Token]) -> Iterator[tuple[int, Meaning]]:
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else Token("")
        modal = _MODAL.fullmatch(_plain(token))
        if not token.base:
            if _is_sign(token.text, after):
                yield place, (token.text,)
        elif modal:
            yield place, (look_up("will" if modal[1] == "wo" else modal[1]).base, 1, None)
        elif not _is_free(token):
            yield place, (token.base.casefold(), token.sign, token.unit)


def _is_sign(mark: str, after: Token) -> bool:
    """Whether a mark is more than punctuation."""
    before_a_number = mark in "\u2014\u2015" and bool(after.values)
    return unicodedata.category(mark)[0] == "S" or mark == "?" or (mark == "!" and after.text == "=") or before_a_number


def _is_free(token: Token) -> bool:
    word, acronym = _word(token), token.counts > 1 and token.text.isupper()
    return (word in FREE and not acronym) or (_negates(token) and not token.has_opposite)


def _negates(token: Token) -> bool:
    word = _plain(token)
    return word in _NEGATING or not HAN_NEGATORS.isdisjoint(word)


def _plain(token: Token) -> str:
    return re.sub("['\u2019]", "", token.text.casefold())


def _word(token: Token) -> str:
    """A word without what an apostrophe hangs on it."""
    return re.split("['\u2019]", token.text.casefold(), maxsplit=1)[0]


def _parts(whole: _Told) -> list[list[Meaning]]:
    """The parts of a statement; each with the phrase that opens it all: `In 2019 …`."""
    tokens, kept = whole.reading.tokens, whole.kept
    cuts = [] if any(_word(token) in BINDING for token in tokens) else _cuts(tokens)
    places = [place for place, _ in kept]
    borders = [bisect_left(places, place) for place in (0, *cuts, len(tokens))]
    parts = [whole.meanings[first:last] for first, last in pairwise(borders)]
    opening: list[Meaning] = []
    if _opens_bound(tokens):
        end = next((place for place, token in enumerate(tokens) if token.text in _CUTS), len(tokens))
        opening = [meaning for place, meaning in kept if place < end]
    return [part if at == 0 else [*opening, *part] for at, part in enumerate(parts) if part or at == 0]


def _cuts(tokens: Sequence[Token]) -> list[int]:
    """Where a clause or an item ends; a phrase such as `in 2019` goes with what stands beside it."""
    cuts: list[int] = []
    bound = _opens_bound(tokens)
    for place in range(1, len(tokens) - 1):
        before, token, after = tokens[place - 1 : place + 2]
        if (token.text not in _CUTS and _word(token) not in JOINING) or (before.values and after.values):
            continue
        if before.text in _CUTS or _word(before) in JOINING:
            continue
        if _word(after) in BOUND:
            bound = True
        elif bound:
            bound = False
        else:
            cuts.append(place)
    return cuts


def _opens_bound(tokens: Sequence[Token]) -> bool:
    return any(_word(token) in BOUND for token in tokens[:1])


def _is_faithful(told: _Told, whole: _Told, known: AbstractSet[str]) -> bool:
    """Whether a claim says nothing that the statement does not say."""
    theirs = set(whole.meanings)
    shared = [meaning for meaning in told.meanings if meaning in theirs]
    brought = [told.reading.tokens[place] for place, meaning in told.kept if meaning not in theirs]
    last = _last_place(shared, whole)
    return (
        bool(shared)
        and last is not None
        and len(told.kept) >= min(_LEAST, len(whole.kept))
        and _may_bring(brought, told, whole, known)
        and told.pointing <= whole.pointing
        and told.quotes <= whole.quotes
        and (told.tenses <= whole.tenses or not whole.tenses)
        and _negates_alike(told, whole, last)
    )


def _last_place(shared: Sequence[Meaning], whole: _Told) -> int | None:
    """The place in the statement of the last of these, which stand there in this order; None if they don't."""
    places, last = iter(whole.kept), -1
    for meaning in shared:
        place = next((place for place, each in places if each == meaning), None)
        if place is None:
            return None
        last = place
    return last


def _may_bring(brought: Sequence[Token], told: _Told, whole: _Told, known: AbstractSet[str]) -> bool:
    """Whether words that the statement lacks only say what its pronoun means, or complete a fragment."""
    resolves = told.pointing.total() < whole.pointing.total() or len(whole.kept) < _FRAGMENT
    return not brought or (
        resolves
        and all(
            token.base and token.base.casefold() in known and _word(token) not in NEVER_BROUGHT for token in brought
        )
    )


def _negates_alike(told: _Told, whole: _Told, last: int) -> bool:
    """Whether a claim negates what the statement negates. Behind a negation nothing is sure to be outside of it."""
    outside = not whole.negations or last < whole.negating[0]
    within = bool(whole.negations) and told.heads <= whole.reached
    return (within if told.negations else outside) and not whole.heads & told.plain


def _tenses(told: Iterable[_Told]) -> frozenset[bool]:
    return frozenset[bool]().union(*(each.tenses for each in told))


def _counted(meanings: Iterable[Meaning]) -> frozenset[tuple[Meaning, int]]:
    """Each with the number of times that it stood before."""
    seen: Counter[Meaning] = Counter()
    found: set[tuple[Meaning, int]] = set()
    for meaning in meanings:
        found.add((meaning, seen[meaning]))
        seen[meaning] += 1
    return frozenset(found)
