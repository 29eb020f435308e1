"""Order for the lexical judge: the right words in the wrong places."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from groundguard.judges.lexical.numbers import Token
from groundguard.judges.lexical.tokens import Reading, beside
from groundguard.judges.lexical.words import CLAUSES

_LONGEST_SWAP = 8
_LONGEST_ORDER = 60


def swapped(statement: Reading, core: Reading) -> Iterator[str]:
    """Words that changed places around words that did not: `A acquired B`, `B acquired A`."""
    mine, theirs = statement.order, core.order
    shared = sorted(mine.keys() & theirs.keys(), key=mine.__getitem__)[:_LONGEST_ORDER]
    if _passive(statement) == _passive(core):
        yield from _two_swapped(statement, shared, mine, theirs)
        yield from _names_swapped(statement, shared, mine, theirs)
    else:
        yield from _voice_changed(statement, core, mine, theirs)


def misplaced(statement: Reading, core: Reading) -> Iterator[str]:
    """Numbers and names that another clause says of another thing: `A costs 40 euros and B 90`, `B costs 40 euros`."""
    mine, theirs = statement.order, core.order
    for base in sorted(mine.keys() & theirs.keys(), key=mine.__getitem__)[:_LONGEST_ORDER]:
        kind = core.tokens[theirs[base]].kind
        if kind:
            before = {word for word, place in mine.items() if place < mine[base] and word in theirs}
            other = _of_the_next(statement, core, theirs[base], kind, before) or (
                _of_the_one_before(statement, core, theirs[base], kind, before) if kind[0] == "#" else None
            )
            if other is not None:
                yield f"{statement.tokens[mine[base]].text} (the passage says {other.text})"


def _of_the_next(statement: Reading, core: Reading, place: int, kind: str, before: set[str]) -> Token | None:
    """The next token of this kind, if its clause opens with something that the statement says of this one."""
    opening = owned = False
    for token in core.tokens[place + 1 : place + _LONGEST_ORDER]:
        if token.kind == kind and token.base not in statement.bases:
            return token if owned else None
        owned = owned or (opening and token.base in before and (token.capital or kind[0] == "#"))
        opening = _parts(token) or (opening and not token.counts)
    return None


def _of_the_one_before(statement: Reading, core: Reading, place: int, kind: str, before: set[str]) -> Token | None:
    """The last token of this kind, if this one's clause has its own subject, and the statement has that one's."""
    other: Token | None = None
    left = own = False
    for token in reversed(core.tokens[max(0, place - _LONGEST_ORDER) : place]):
        if other is not None and token.counts and token.base in before:
            return other
        if token.kind == kind and other is None:
            if not (left and own) or token.base in statement.bases:
                return None
            other = token
        left = left or _parts(token)
        own = own or (not left and token.specific and token.base not in statement.bases)
    return None


def _parts(token: Token) -> bool:
    return not token.base or token.text.casefold() in CLAUSES


def _two_swapped(statement: Reading, shared: list[str], mine: dict[str, int], theirs: dict[str, int]) -> Iterator[str]:
    """Two words that changed places while all shared words between them kept theirs."""
    for at, first in enumerate(shared):
        previous = -1
        for last in range(at + 1, min(len(shared), at + _LONGEST_SWAP)):
            place = theirs[shared[last]]
            if place < previous:
                if place < theirs[shared[at + 1]] and previous < theirs[first]:
                    segment = shared[at : last + 1]
                    if not _listed(statement, [mine[base] for base in segment]):
                        ends = (statement.tokens[mine[base]].text for base in (first, shared[last]))
                        yield " … ".join(ends) + " (swapped)"
                break
            previous = place


def _names_swapped(
    statement: Reading, shared: list[str], mine: dict[str, int], theirs: dict[str, int]
) -> Iterator[str]:
    """Two names that changed sides of a word that is no name."""
    names = [base for base in shared if statement.tokens[mine[base]].capital]
    for middle in shared:
        if statement.tokens[mine[middle]].capital or statement.tokens[mine[middle]].values:
            continue
        moved = [base for base in names if (mine[base] < mine[middle]) != (theirs[base] < theirs[middle])]
        if len({mine[base] < mine[middle] for base in moved}) > 1:
            yield " … ".join(statement.tokens[mine[base]].text for base in moved) + " (swapped)"
            return


def _voice_changed(statement: Reading, core: Reading, mine: dict[str, int], theirs: dict[str, int]) -> Iterator[str]:
    """`A was acquired by B` where the sentence has `A acquired B`, or the other way round."""
    passive, places, others = (statement, mine, theirs) if _passive(statement) else (core, theirs, mine)
    by = places.get("by", 0)
    agent, verb = beside(passive.tokens, by, 1), beside(passive.tokens, by, -1)
    if agent is None or verb is None or agent.values or not {agent.base, verb.base} <= others.keys():
        return
    patient = any(
        others[base] < others[verb.base]
        for base in others.keys() & places.keys()
        if places[base] < places.get(verb.base, 0)
    )
    if patient and others[agent.base] > others[verb.base]:
        yield f"{verb.text} by {agent.text} (swapped)"


def _passive(reading: Reading) -> bool:
    return "by" in reading.bases


def _listed(reading: Reading, places: list[int]) -> bool:
    """Whether a comma, `and` or `or` stands between each two of these."""
    return all(
        any(not token.base or token.base in ("and", "or") for token in reading.tokens[first + 1 : last])
        for first, last in pairwise(places)
    )
