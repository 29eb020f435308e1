"""The claims of an answer before anybody judged them: its statements, or what a model drew from them. Pure.

Every claim begins as UNKNOWN, so that one which nobody judges can't pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from groundguard.judges.lexical.numbers import Token
from groundguard.judges.lexical.tokens import Reading, read
from groundguard.judges.lexical.words import ANAPHORA, HAN_NEGATORS, NEGATORS, UNLESS
from groundguard.judges.statements import Statement
from groundguard.records import Claim, Decision

_LIMITING = frozenset(
    "all any both can could each either every if many may might must only should some unless until".split()  # noqa: SIM905  # reads better
)
"""Function words without which a statement says something else."""

_NEGATING = NEGATORS | UNLESS


def unjudged(statements: Iterable[Statement]) -> tuple[Claim, ...]:
    """Each statement as a claim."""
    return tuple(_whole(statement) for statement in statements)


def drawn(statements: Sequence[Statement], extracted: Iterable[tuple[int, str]]) -> tuple[Claim, ...]:
    """The claims that a model extracted, and each statement that they leave uncovered as a claim of its own.

    Args:
        statements: The statements of the answer.
        extracted: The number of a statement, from 1, and the text of a claim that it makes.

    Returns:
        The claims in the order of their statements. One that stands in its statement word for word has its own
        offsets, any other has those of the statement.
    """
    texts: dict[int, list[str]] = {number: [] for number in range(1, len(statements) + 1)}
    for number, text in extracted:
        texts[number].append(text)
    return tuple(claim for number in texts for claim in _claims(statements[number - 1], texts[number]))


def covers(claims: Sequence[str], statement: str) -> bool:
    """Whether nothing that a statement says is lost in its claims, as far as words tell.

    There must be a claim, and every content word, number, unit, name, opposite and limiting word of the statement must
    stand in one. The claims may not have fewer negations, nor any if the statement has none.
    """
    whole, parts = read(statement), [read(claim) for claim in claims]
    kept = {_meaning(token) for part in parts for token in part.tokens}
    here, there = _negations(whole), sum(map(_negations, parts))
    return (
        bool(claims)
        and all(_meaning(token) in kept for token in whole.tokens if _tells(token))
        and (there >= here if here else not there)
    )


def _claims(statement: Statement, texts: Sequence[str]) -> Iterator[Claim]:
    for text in texts:
        at = statement.text.find(text)
        if at < 0:
            yield Claim(text, Decision.UNKNOWN, statement.start, statement.end)
        else:
            yield Claim(text, Decision.UNKNOWN, statement.start + at, statement.start + at + len(text))
    if not covers(texts, statement.text):
        yield _whole(statement)


def _whole(statement: Statement) -> Claim:
    return Claim(statement.text, Decision.UNKNOWN, statement.start, statement.end)


def _tells(token: Token) -> bool:
    word = token.text.casefold()
    return bool(token.counts) or word in _LIMITING or (token.has_opposite and word not in ANAPHORA)


def _negations(reading: Reading) -> int:
    """How many words negate, whatever they reach: `It does not.` has one."""
    words = (re.sub("['\u2019]", "", token.text.casefold()) for token in reading.tokens)
    return sum(word in _NEGATING or not HAN_NEGATORS.isdisjoint(word) for word in words)


def _meaning(token: Token) -> tuple[object, ...]:
    """What is compared: `14 days` and `14 years` differ, and so do `before` and `after`."""
    return token.base, token.sign, token.unit
