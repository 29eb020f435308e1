"""The claims of an answer before anybody judged them: its statements, or what a model drew from them. Pure.

Every claim begins as UNKNOWN, so that one which nobody judges can't pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from groundguard.judges.claims.coverage import covers, said
from groundguard.judges.statements import Statement
from groundguard.records import Claim, Decision


def unjudged(statements: Iterable[Statement]) -> tuple[Claim, ...]:
    """Each statement as a claim."""
    return tuple(_whole(statement) for statement in statements)


def drawn(
    statements: Sequence[Statement], extracted: Iterable[tuple[int, str]], context: Iterable[str] = ()
) -> tuple[Claim, ...]:
    """The claims that a model extracted, and each statement that they leave uncovered as a claim of its own.

    Args:
        statements: The statements of the answer.
        extracted: The number of a statement, from 1, and the text of a claim that it makes.
        context: The question and the conversation: what else a claim may put in the place of a pronoun.

    Returns:
        The claims in the order of their statements. One that stands in its statement word for word has its own
        offsets, any other has those of the statement.
    """
    texts: dict[int, list[str]] = {number: [] for number in range(1, len(statements) + 1)}
    for number, text in extracted:
        texts[number].append(text)
    known = said([*context, *(statement.text for statement in statements)])
    return tuple(claim for number in texts for claim in _claims(statements[number - 1], texts[number], known))


def _claims(statement: Statement, texts: Sequence[str], known: AbstractSet[str]) -> Iterator[Claim]:
    for text in texts:
        at = statement.text.find(text)
        if at < 0:
            yield Claim(text, Decision.UNKNOWN, statement.start, statement.end)
        else:
            yield Claim(text, Decision.UNKNOWN, statement.start + at, statement.start + at + len(text))
    if not covers(texts, statement.text, known):
        yield _whole(statement)


def _whole(statement: Statement) -> Claim:
    return Claim(statement.text, Decision.UNKNOWN, statement.start, statement.end)
