"""How well one window of the chunks supports one statement, and what speaks against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple

from groundguard.judges.lexical_evidence import Window
from groundguard.judges.lexical_tokens import Reading, Token
from groundguard.judges.lexical_words import ANAPHORA, APPROXIMATE, ORDERED, PREFIXES

_BORROWED = 0.8
_CONFLICT = 0.5
_LONGEST_SWAP = 8
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


def match(statement: Reading, window: Window, weight: Callable[[Token], float]) -> Match:
    """Hold a statement against a window."""
    total = covered = core = 0.0
    missing: list[str] = []
    conflict = False
    for at, token in enumerate(statement.tokens):
        if not token.counts:
            continue
        share = weight(token)
        found = _found(statement, at, window)
        total += share
        covered += share * found
        core += share * (found == 1)
        if not found:
            missing.append(token.text)
            conflict = conflict or token.exact or token.base in statement.names
    against = list(_against(statement, window))
    conflict = conflict or bool(against)
    score = covered / total if total else 0.0
    return Match(
        score * (_CONFLICT if conflict else 1),
        tuple(dict.fromkeys([*missing, *against])),
        conflict,
        window.chunk,
        core / total if total else 0.0,
    )


def _found(statement: Reading, at: int, window: Window) -> float:
    """How far the window says one token of the statement: 1 in its own sentence, less in a neighbour, else 0."""
    token = statement.tokens[at]
    if token.values:
        approximate = any(t.text.casefold() in APPROXIMATE for t in statement.tokens[max(0, at - 3) : at])
        if any(_equal(token, other, approximate) for other in window.core.numbers):
            return 1
        return _BORROWED * any(_equal(token, other, approximate) for other in window.numbers)
    if token.base in window.core.bases:
        return 1
    if token.base in window.nearby and not _replaced(statement, at, window.core):
        return _BORROWED
    return 0


def _equal(token: Token, other: Token, approximate: bool) -> bool:
    if token.unit and other.unit:
        if token.unit[0] != other.unit[0]:
            return False
        return any(
            a * token.unit[1] == b * other.unit[1] or (approximate and _rounds(a, b * other.unit[1] / token.unit[1]))
            for a in token.values
            for b in other.values
        )
    if token.unit and not other.unit:
        return False
    return any(a == b or (approximate and _rounds(a, b)) for a in token.values for b in other.values)


def _rounds(rounded: Decimal, exact: Decimal) -> bool:
    """Whether `exact`, written with as many digits as `rounded`, is `rounded`."""
    digits = rounded.normalize()
    exponent = digits.as_tuple().exponent
    return isinstance(exponent, int) and exact.is_finite() and abs(exact - rounded) * 2 <= Decimal(1).scaleb(exponent)


def _replaced(statement: Reading, at: int, core: Reading) -> bool:
    """Whether the sentence has another word in the place of this one: the same neighbour, something else beside it."""
    token = statement.tokens[at]
    for step in (1, -1):
        beside = _beside(statement.tokens, at, step)
        if beside is None or beside.counts < 2:
            continue
        for place, other in enumerate(core.tokens):
            if other.base == beside.base:
                instead = _beside(core.tokens, place, -step)
                if instead is not None and instead.counts == 2 and instead.base not in statement.bases:
                    return True
    return bool(token.capital and token.base in statement.names and _rival(statement, core))


def _rival(statement: Reading, core: Reading) -> bool:
    """Whether the sentence is about another name, and does not point back to a sentence before."""
    if any(token.text.casefold() in ANAPHORA for token in core.tokens):
        return False
    first = next((token for token in core.tokens if token.counts), None)
    subject = {first.base} if first is not None and first.capital else set[str]()
    return bool((core.names | subject) - statement.bases)


def _beside(tokens: tuple[Token, ...], at: int, step: int) -> Token | None:
    """The next counting token in that direction, unless something other than a function word is between."""
    place = at + step
    if 0 <= place < len(tokens) and tokens[place].counts:
        return tokens[place]
    return None


def _against(statement: Reading, window: Window) -> Iterator[str]:
    yield from _turned_round(statement, window.core)
    yield from _prefixed(statement, window)
    yield from _attached(statement, window.core)
    yield from _swapped(statement, window.core)


def _turned_round(statement: Reading, core: Reading) -> Iterator[str]:
    """Negations and opposites that only one of the two has."""
    for mine, theirs in ((statement, core), (core, statement)):
        for negation in mine.negations:
            if not negation.scope & theirs.negated and negation.head in theirs.affirmed - mine.affirmed:
                yield _surface(statement, negation.head)


def _prefixed(statement: Reading, window: Window) -> Iterator[str]:
    """Words such as `uncertain` where the sentence has `certain`."""
    known = window.core.bases
    for token in statement.content:
        if token.base in known or token.values:
            continue
        for opposite in _opposites(token.base):
            turned = (token.base in statement.negated) != (opposite in window.core.negated)
            if opposite in known and not turned:
                yield token.text


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
        others = [other for other, same in counted if same.base == noun.base]
        if others and not any(_equal(number, other, approximate=True) for other in others):
            yield f"{number.text} {noun.text}"


def _pairs(reading: Reading) -> Iterator[tuple[Token, Token]]:
    for number, noun in zip(reading.tokens, reading.tokens[1:], strict=False):
        if number.values and noun.counts and not noun.values:
            yield number, noun


def _swapped(statement: Reading, core: Reading) -> Iterator[str]:
    """Two words that changed places around words that did not: `A acquired B`, `B acquired A`."""
    mine, theirs = _order(statement), _order(core)
    shared = sorted(mine.keys() & theirs.keys(), key=mine.__getitem__)
    passive = _passive(statement) != _passive(core)
    for at, first in enumerate(shared):
        previous = -1
        for last in range(at + 1, min(len(shared), at + _LONGEST_SWAP)):
            place = theirs[shared[last]]
            if last > at + 1 and previous < theirs[first] and place < theirs[shared[at + 1]] and not passive:
                if not _listed(statement, mine[first], mine[shared[last]]):
                    yield f"{statement.tokens[mine[first]].text} … {statement.tokens[mine[shared[last]]].text}"
            if place < previous:
                break
            previous = place


def _order(reading: Reading) -> dict[str, int]:
    """Where each word stands that occurs once."""
    places: dict[str, int] = {}
    repeated: set[str] = set()
    for place, token in enumerate(reading.tokens):
        if token.counts or token.base in ORDERED:
            if token.base in places:
                repeated.add(token.base)
            places[token.base] = place
    return {base: place for base, place in places.items() if base not in repeated}


def _passive(reading: Reading) -> bool:
    return "by" in reading.bases


def _listed(reading: Reading, first: int, last: int) -> bool:
    """Whether the two stand in one list."""
    between = reading.tokens[first + 1 : last]
    return any(not token.base or token.base in ("and", "or") for token in between)


def _surface(reading: Reading, base: str) -> str:
    return next((token.text for token in reading.tokens if token.base == base), base)
