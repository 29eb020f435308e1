"""The nouns of a golden set. All are frozen values."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from typing import Any

from groundguard.fields import choose, collect, expect, freeze, plain_fields
from groundguard.records import Chunk, Turn


class Origin(StrEnum):
    """Who wrote an item."""

    HUMAN = "human"
    SYNTHETIC = "synthetic"


class Split(StrEnum):
    """What an item is for."""

    TUNE = "tune"
    """To look at while the pipeline is being changed."""
    HELDOUT = "heldout"
    """To measure with, and never to tune on."""


class Want(StrEnum):
    """What a good pipeline does with the question."""

    ANSWER = "answer"
    REFUSAL = "refusal"
    """The documents don't say: a good pipeline says that it doesn't know."""


@dataclass(frozen=True, slots=True)
class GoldenItem:
    """One question and what is known to be true about it.

    Attributes:
        id: Its name, unique in the set.
        question: The question.
        answer: The reference answer; None where none was written.
        chunks: Reference chunks, where their text stands in the set.
        chunk_ids: Ids of the reference chunks, as the pipeline's retriever names them; those of `chunks` included.
        want: Whether a good pipeline answers or declines.
        verified_by: Who checked it against the documents; None where nobody did.
        verified_on: When, as an ISO date.
        origin: Who wrote it.
        split: `tune` or `heldout`; None where the set is not split.
        tags: To slice by.
        history: Earlier messages.
        metadata: JSON values.
    """

    id: str
    question: str = field(repr=False)
    answer: str | None = field(default=None, repr=False)
    chunks: tuple[Chunk, ...] = field(default=(), repr=False)
    chunk_ids: tuple[str, ...] = field(default=(), repr=False)
    want: Want = Want.ANSWER
    verified_by: str | None = field(default=None, repr=False)
    verified_on: str | None = None
    origin: Origin = Origin.HUMAN
    split: Split | None = None
    tags: tuple[str, ...] = ()
    history: tuple[Turn, ...] = field(default=(), repr=False)
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, hash=False)

    def __post_init__(self) -> None:
        expect(self, str, "id", "question")
        expect(self, str | None, "answer", "verified_by", "verified_on")
        expect(self, Mapping, "metadata")
        collect(self, Chunk, "chunks")
        collect(self, str, "chunk_ids", "tags")
        collect(self, Turn, "history")
        choose(self, Want, "want")
        choose(self, Origin, "origin")
        if self.split is not None:
            choose(self, Split, "split")
        object.__setattr__(self, "metadata", freeze(self.metadata))
        own = [chunk.id for chunk in self.chunks if chunk.id is not None]
        object.__setattr__(self, "chunk_ids", tuple(dict.fromkeys((*self.chunk_ids, *own))))

    @property
    def asked(self) -> str:
        """The question after what was said before it."""
        return "\n".join((*(turn.content for turn in self.history), self.question))

    def to_dict(self) -> dict[str, Any]:
        """The item as JSON values."""
        return plain_fields(self)

    def to_record(self) -> dict[str, Any]:
        """The item as a golden set's file holds it: JSON values, without what is left at its default."""
        chunks = [_without_defaults(chunk) for chunk in self.chunks]
        return _without_defaults(self) | ({"chunks": chunks} if chunks else {})

    @property
    def content_hash(self) -> str:
        """SHA-256 over the item as canonical JSON."""
        return _digest(self.to_record())


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """A named, versioned set of items.

    Attributes:
        name: Its name.
        version: Its version; changes whenever its items do.
        items: The items, in the order of the file.
        description: What it is for.
    """

    name: str
    version: str
    items: tuple[GoldenItem, ...] = field(repr=False)
    description: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        expect(self, str, "name", "version")
        expect(self, str | None, "description")
        collect(self, GoldenItem, "items")
        repeated = sum(count > 1 for count in Counter(item.id for item in self.items).values())
        if repeated:
            raise ValueError(f"every item of a golden set has an id of its own; {repeated} stand more than once")

    @property
    def content_hash(self) -> str:
        """SHA-256 over the items as canonical JSON, by id: neither their order nor the file's format changes it.

        What is left at its default is left out, so that a field that a later version adds changes no hash.
        """
        return _digest([item.to_record() for item in sorted(self.items, key=lambda item: item.id)])


def _without_defaults(record: Any) -> dict[str, Any]:
    values = plain_fields(record)
    return {f.name: values[f.name] for f in fields(record) if getattr(record, f.name) != _default(f)}


def _default(one: Any) -> object:
    return one.default if one.default_factory is MISSING else one.default_factory()


def _digest(value: object) -> str:
    written = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(written.encode("ascii")).hexdigest()
