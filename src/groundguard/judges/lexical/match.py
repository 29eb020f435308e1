"""How well one window of the chunks supports one statement, and what speaks against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from groundguard.judges.lexical.evidence import Window
from groundguard.judges.lexical.numbers import Token
from groundguard.judges.lexical.order import misplaced, swapped
from groundguard.judges.lexical.tokens import Reading, beside
from groundguard.judges.lexical.words import APPROXIMATE, PREFIXES

_BORROWED = 0.8
_CONFLICT = 0.5
_PREFIXED = 5


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
    shares = [
        (weight(token), _found(statement, at, window), at) for at, token in enumerate(statement.tokens) if token.counts
    ]
    total = sum(share for share, *_ in shares)
    score = sum(share * found for share, found, _ in shares) / total
    core = sum(share for share, found, _ in shares if found == 1) / total
    missing: list[str] = []
    vital = False
    for _, found, at in shares:
        if found < 1:
            token = statement.tokens[at]
            other = None if found else _instead(statement, at, window.core)
            vital = vital or other is not None or (not found and (token.exact or token.base in statement.names))
            missing.append(f"{token.text} (in another sentence)" if found else _told(token, other))
    result = Match(score, tuple(dict.fromkeys(missing)), conflict=False, chunk=window.chunk, core=core)
    against = tuple(_against(statement, window.core))
    return result.against(against) if vital or against else result


def _told(token: Token, other: Token | None) -> str:
    return token.text if other is None else f"{token.text} (the passage says {other.text})"


def _found(statement: Reading, at: int, window: Window) -> float:
    """How far the window says one token of the statement: 1 in its own sentence, less in a linked one, else 0."""
    token = statement.tokens[at]
    if token.values:
        approximate = any(t.text.casefold() in APPROXIMATE for t in statement.tokens[max(0, at - 3) : at])
        if any(_equal(token, other, approximate=approximate) for other in window.core.numbers):
            return 1
        lent = any(_equal(token, other, approximate=approximate) for other in window.numbers)
    elif token.base in window.core.bases or any(_opposed(token, statement, window.core)):
        return 1
    else:
        lent = token.base in window.lent
    return _BORROWED * (lent and not _replaced(statement, at, window.core))


def _equal(token: Token, other: Token, *, approximate: bool) -> bool:
    """Whether two numbers are the same in value and kind; one without a unit never stands for one with a unit."""
    if token.unit and (not other.unit or token.unit[0] != other.unit[0]):
        return False
    own, their = (token.unit[1], other.unit[1]) if token.unit and other.unit else (Decimal(1), Decimal(1))
    return any(
        mine * own == theirs * their or (approximate and _rounds(mine, theirs * their / own))
        for mine in token.values
        for theirs in other.values
    )


def _rounds(rounded: Decimal, exact: Decimal) -> bool:
    """Whether `exact`, written with as many digits as `rounded`, is `rounded`."""
    exponent = rounded.normalize().as_tuple().exponent
    return isinstance(exponent, int) and abs(exact - rounded) * 2 <= Decimal(1).scaleb(exponent)


def _replaced(statement: Reading, at: int, core: Reading) -> bool:
    """Whether the sentence has another word, number or name where this one would stand."""
    token = statement.tokens[at]
    if token.values:
        return any(other.kind == token.kind and other.base not in statement.bases for other in core.numbers)
    name = token.capital and any(about_another(core, statement.bases))
    return name or any(_another_beside(statement, at, step, core) for step in (1, -1))


def _another_beside(statement: Reading, at: int, step: int, core: Reading) -> bool:
    """Whether the word next to this one stands in the sentence too, but beside another."""
    neighbour = beside(statement.tokens, at, step)
    if neighbour is None or not neighbour.specific:
        return False
    others = (
        beside(core.tokens, place, -step) for place, token in enumerate(core.tokens) if token.base == neighbour.base
    )
    return any(other is not None and other.specific and other.base not in statement.bases for other in others)


def _instead(statement: Reading, at: int, core: Reading) -> Token | None:
    """What the sentence has in this token's place: a number of the same kind, or a word between the same two.

    Any word will do for a general one that has no opposite: `refunds take 14 days`, `refunds are paid in 14 days`.
    """
    token = statement.tokens[at]
    if token.values:
        others = (other for other in core.numbers if other.base not in statement.bases)
        return next((other for other in others if other.kind == token.kind), None)
    sides = _sides(statement.tokens, at)
    if sides == ("", "") or not (token.specific or token.has_opposite):
        return None
    return next(
        (
            other
            for place, other in enumerate(core.tokens)
            if other.specific and other.base not in statement.bases and sides == _sides(core.tokens, place)
        ),
        None,
    )


def _sides(tokens: tuple[Token, ...], at: int) -> tuple[str, str]:
    return _base(beside(tokens, at, -1)), _base(beside(tokens, at, 1))


def _base(token: Token | None) -> str:
    return token.base if token is not None else ""


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
    yield from swapped(statement, core)
    yield from misplaced(statement, core)


def _turned_round(statement: Reading, core: Reading) -> Iterator[str]:
    """Negations and opposites that only one of the two has."""
    for mine, theirs in ((statement, core), (core, statement)):
        for negation in mine.negations:
            head = mine.tokens[negation.head]
            opposite = head.sign < 0
            negated = theirs.reached if opposite else theirs.negated
            shared = any(mine.tokens[place].base in negated for place in negation.reach)
            if not shared and head.base in theirs.affirmed - mine.affirmed:
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
    counted = [(n, noun) for n, noun in _pairs(core)]
    for number, noun in _pairs(statement):
        others = [other for other, same in counted if (same.base, same.sign) == (noun.base, noun.sign)]
        if number.base in core.bases and others and not any(_equal(number, o, approximate=True) for o in others):
            yield f"{number.text} {noun.text} (the passage says {others[0].text} {noun.text})"


def _pairs(reading: Reading) -> Iterator[tuple[Token, Token]]:
    for number, noun in pairwise(reading.tokens):
        if number.values and noun.counts and not noun.values:
            yield number, noun


def _surface(reading: Reading, base: str) -> str:
    return next((token.text for token in reading.tokens if token.base == base), base)
