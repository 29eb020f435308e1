"""Which retrieved chunks are reference chunks, by their ids or texts. Pure: no model."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from groundguard.evaluation.golden.items import GoldenItem
from groundguard.records import Chunk
from groundguard.text import is_blank


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference chunk as the item names it.

    Attributes:
        id: Its id; None where it has none.
        text: Its text, evened out; None where only its id stands in the set.
    """

    id: str | None
    text: str | None = field(default=None, repr=False)

    def matches(self, chunk: Chunk) -> bool | None:
        """Whether a retrieved chunk is this one: by id, or by text; None where neither can be compared."""
        if self.id is not None and chunk.id == self.id:
            return True
        if self.text is not None:
            return evened(chunk.text) == self.text
        return False if chunk.id is not None or is_blank(chunk.text) else None


def references(item: GoldenItem) -> tuple[Reference, ...]:
    """The reference chunks of an item, each once: those whose text stands in the set, then those with an id only."""
    written = [Reference(chunk.id, _text(chunk)) for chunk in item.chunks if chunk.id is not None or _text(chunk)]
    known = {reference.id for reference in written}
    named = [Reference(id_) for id_ in item.chunk_ids if id_ not in known]
    return tuple(dict.fromkeys([*written, *named]))


def relevant(chunks: Iterable[Chunk], references: Sequence[Reference]) -> list[bool | None]:
    """Whether each retrieved chunk is a reference chunk; None where nobody can tell."""
    return [_any(reference.matches(chunk) for reference in references) for chunk in chunks]


def retrieved(chunks: Sequence[Chunk], references: Iterable[Reference]) -> list[bool | None]:
    """Whether each reference chunk was retrieved; None where nobody can tell."""
    return [_any(reference.matches(chunk) for chunk in chunks) for reference in references]


def evened(text: str) -> str:
    """`text` in Unicode's compatibility form, with runs of white space as one space."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _text(chunk: Chunk) -> str | None:
    return None if is_blank(chunk.text) else evened(chunk.text)


def _any(answers: Iterable[bool | None]) -> bool | None:
    found = set(answers)
    return True if True in found else None if None in found else False
