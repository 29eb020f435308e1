"""How well one window of the chunks supports one statement, and what speaks against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from groundguard.judges.lexical.evidence import Window
from groundguard.judges.lexical.numbers import Token
from groundguard.judges.lexical.order import misplaced, swapped
from groundguard.judges.lexical.signs import differing, signed
from groundguard.judges.lexical.tokens import Reading, beside
from groundguard.judges.lexical.words import APPROXIMATE, BOUNDS, NUMBERED, PREFIXES

_BORROWED = 0.8
_CONFLICT = 0.5
_PREFIXED = 5
_LOOKED_AT = 50


class Match(NamedTuple):
    """What a window gives for a statement.

    Attributes:
        score: The weighted share of the statement that the window says, halved by a conflict.
        missing: What the window lacks, or says otherwise.
        conflict: Whether something speaks against the statement.
        chunk: The chunk's position, from 0.
        core: The share that the window's own sentence says.
    """

    score: float
    missing: tuple[str, ...]
    conflict: bool
    chunk: int
    core: float

    def against(self, reasons: tuple[str, ...]) -> Match:
        """The same match with something that speaks against the statement."""
        score = self.score if self.conflict else self.score * _CONFLICT
        missing = tuple(dict.fromkeys((*self.missing, *reasons)))
        return self._replace(score=score, missing=missing, conflict=True)


def match(statement: Reading, window: Window, weight: Callable[[Token], float]) -> Match:
    """Hold a statement that asserts something against a window."""
    others = _Others(statement, window.core)
    shares = [
        (weight(token), _found(others, at, window), at) for at, token in enumerate(statement.tokens) if token.counts
    ]
    total = sum(share for share, *_ in shares)
    score = sum(share * found for share, found, _ in shares) / total
    core = sum(share for share, found, _ in shares if found == 1) / total
    missing: list[str] = []
    vital = False
    for _, found, at in shares:
        if found < 1:
            token = statement.tokens[at]
            other = None if found else _instead(others, at)
            vital = vital or other is not None or (not found and (token.exact or token.base in statement.names))
            missing.append(f"{token.text} (in another sentence)" if found else _told(token, other))
    result = Match(score, tuple(dict.fromkeys(missing)), conflict=False, chunk=window.chunk, core=core)
    against = tuple(_against(statement, window.core))
    return result.against(against) if vital or against else result


def _told(token: Token, other: Token | None) -> str:
    return token.text if other is None else f"{token.text} (the passage says {other.text})"


class _Others:
    """What a sentence has that the statement lacks, found once.

    Attributes:
        numbers: The first number of each kind.
        name: Whether it is about something else.
    """

    def __init__(self, statement: Reading, core: Reading) -> None:
        self.statement, self.core = statement, core
        others = [token for token in core.numbers if token.base not in statement.bases]
        self.numbers = {token.kind: token for token in reversed(others)}
        self.name = any(about_another(core, statement.bases))


def _found(others: _Others, at: int, window: Window) -> float:
    """How far the window says one token of the statement: 1 in its own sentence, less in a linked one, else 0."""
    statement = others.statement
    token = statement.tokens[at]
    if token.values:
        approximate = any(t.text.casefold() in APPROXIMATE for t in statement.tokens[max(0, at - 3) : at])
        if window.core.amounts.has(token, approximate=approximate):
            return 1
        lent = window.amounts.has(token, approximate=approximate)
    elif token.base in window.core.bases or any(_opposed(token, statement, window.core)):
        return 1
    else:
        lent = token.base in window.lent
    return _BORROWED * (lent and not _replaced(others, at))


def _replaced(others: _Others, at: int) -> bool:
    """Whether the sentence has another word, number or name where this one would stand."""
    token = others.statement.tokens[at]
    if token.values:
        return token.kind in others.numbers
    name = token.capital and others.name
    return name or any(_another_beside(others.statement, at, step, others.core) for step in (1, -1))


def _another_beside(statement: Reading, at: int, step: int, core: Reading) -> bool:
    """Whether the word next to this one stands in the sentence too, but beside another."""
    neighbour = beside(statement.tokens, at, step)
    if neighbour is None or not neighbour.specific:
        return False
    others = (beside(core.tokens, place, -step) for place in core.places.get(neighbour.base, ())[:_LOOKED_AT])
    return any(other is not None and other.specific and other.base not in statement.bases for other in others)


def _instead(others: _Others, at: int) -> Token | None:
    """What the sentence has in this token's place: a number of the same kind, or a word between the same two.

    Any word will do for a general one before a number: `refunds take 14 days`, `refunds are paid in 14 days`.
    """
    statement = others.statement
    token = statement.tokens[at]
    if token.values:
        return others.numbers.get(token.kind)
    sides = statement.sides(at)
    following = beside(statement.tokens, at, 1)
    counts = token.specific or token.has_opposite or not (following and following.values)
    if sides == ("", "") or not counts:
        return None
    candidates = others.core.between.get(sides, ())[:_LOOKED_AT]
    return next((other for other in candidates if other.base not in statement.bases), None)


def about_another(core: Reading, known: frozenset[str]) -> Iterator[str]:
    """Names outside `known` that a sentence is about, unless it points back to a sentence before."""
    if core.points_back:
        return
    first = next((token for token in core.tokens if token.counts), None)
    for token in core.tokens:
        name = token.base in core.names or (token is first and token.capital)
        if name and token.base not in known:
            yield token.text


def _against(statement: Reading, core: Reading) -> Iterator[str]:
    yield from _turned_round(statement, core)
    yield from _prefixed(statement, core)
    yield from _attached(statement, core)
    yield from _ranged(statement, core)
    yield from _otherwise_signed(statement, core)
    yield from _otherwise_numbered(statement, core)
    yield from swapped(statement, core)
    yield from misplaced(statement, core)


def _turned_round(statement: Reading, core: Reading) -> Iterator[str]:
    """Negations and opposites that only one of the two has."""
    for mine, theirs in ((statement, core), (core, statement)):
        affirmed = theirs.affirmed - mine.affirmed
        for negation in mine.negations:
            head = mine.tokens[negation.head]
            opposite = head.sign < 0
            negated = theirs.reached if opposite else theirs.negated
            shared = any(mine.tokens[place].base in negated for place in negation.reach)
            if not shared and head.base in affirmed:
                yield _surface(statement, head.base) + (" (the opposite)" if opposite else " (a negation differs)")


def _prefixed(statement: Reading, core: Reading) -> Iterator[str]:
    """Words such as `uncertain` where the sentence has `certain`."""
    for token in statement.content:
        if token.base not in core.bases and any(not turned for turned in _opposed(token, statement, core)):
            yield f"{token.text} (the opposite)"


def _opposed(token: Token, statement: Reading, core: Reading) -> list[bool]:
    """For each opposite that the sentence has of this word: whether a negation on one side turns it back."""
    return [
        (token.base in statement.negated) != (opposite in core.negated)
        for opposite in _opposites(token.base)
        if opposite in core.bases
    ]


def _opposites(base: str) -> Iterator[str]:
    for prefix in PREFIXES:
        if len(base) >= _PREFIXED:
            yield prefix + base
        if base.startswith(prefix) and len(base) - len(prefix) >= _PREFIXED:
            yield base[len(prefix) :]


def _attached(statement: Reading, core: Reading) -> Iterator[str]:
    """Numbers that the sentence has before another noun, where this noun has another number."""
    for number, noun in statement.pairs:
        other, amounts = core.counted.get((noun.base, noun.sign), (None, core.amounts))
        if other and (number.base in core.bases or not number.counts) and not amounts.has(number, approximate=True):
            yield f"{number.text} {noun.text} (the passage says {other.text} {noun.text})"


def _ranged(statement: Reading, core: Reading) -> Iterator[str]:
    """Both ends of a range turned round, or one end without the other: `3 to 5 days`, `5 days`."""
    theirs = {(first.base, last.base) for first, last in core.ranges}
    for first, last in statement.ranges:
        if (last.base, first.base) in theirs and (first.base, last.base) not in theirs:
            yield f"{first.text} … {last.text} (swapped)"
    for first, last in core.ranges:
        for end, other in ((first, last), (last, first)):
            places = statement.places.get(end.base, [])
            alone = places and len(core.places[end.base]) == 1 and other.base not in statement.bases
            if alone and end.kind != "# year" and not _bounds(statement, places[0]):
                yield f"{end.text} (the passage says {first.text} to {last.text})"


def _otherwise_signed(statement: Reading, core: Reading) -> Iterator[str]:
    """Numbers behind a sign that the sentence has without it, or without a sign that negates: `≠12`, `12`."""
    for sign, number in differing(statement.tokens, core.signed):
        yield f"{sign} {number.text} (another sign)"
    mine = statement.signed.get("≠")
    for sign, number in signed(core.tokens, words=False):
        if sign == "≠" and number.base in statement.bases and not (mine and mine.has(number, approximate=False)):
            yield f"{number.text} (a negation differs)"


def _otherwise_numbered(statement: Reading, core: Reading) -> Iterator[str]:
    """Versions and sections that are the same number and another name: `version 2.10`, `version 2.1`."""
    for base, places in statement.places.items():
        mine, theirs = _numbered(statement, places), _numbered(core, core.places.get(base, []))
        if mine and theirs and mine.isdisjoint(theirs):
            yield f"{min(mine)} (the passage says {min(theirs)})"


def _numbered(reading: Reading, places: Iterable[int]) -> set[str]:
    tokens = ((reading.tokens[at - 1], reading.tokens[at]) for at in places if at)
    return {number.text for word, number in tokens if number.values and word.text.casefold() in NUMBERED}


def _bounds(statement: Reading, at: int) -> bool:
    return any(token.text.casefold() in BOUNDS for token in statement.tokens[max(0, at - 2) : at])


def _surface(reading: Reading, base: str) -> str:
    places = reading.places.get(base)
    return reading.tokens[places[0]].text if places else base
