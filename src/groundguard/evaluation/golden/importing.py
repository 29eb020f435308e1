"""Golden sets from the files of other tools."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from groundguard.errors import InputError, UsageError
from groundguard.evaluation.golden import deepeval, ragas
from groundguard.evaluation.golden.foreign import Reader
from groundguard.evaluation.golden.items import GoldenItem, GoldenSet, Origin
from groundguard.evaluation.golden.located import Record
from groundguard.evaluation.golden.tables import rows

Format = Literal["ragas", "deepeval"]

_READERS: Mapping[str, Reader] = {"ragas": ragas.READER, "deepeval": deepeval.READER}


@dataclass(frozen=True, slots=True)
class Imported:
    """What was made of another tool's file.

    Attributes:
        golden: The set.
        format: Whose file it was.
        left_out: Columns that hold values and were not taken over: they are no ground truth, or nobody knows them.
    """

    golden: GoldenSet
    format: str
    left_out: tuple[str, ...]


def import_file(
    path: str | os.PathLike[str],
    *,
    name: str,
    version: str = "1",
    format: Format | None = None,  # noqa: A002  # the word that people look for
    delimiter: str = "|",
    origin: Origin | None = None,
) -> Imported:
    """A golden set from a file of ragas or deepeval: CSV, JSON Lines, or a JSON list.

    Every item is unverified. Its id is a hash of its question, so that a second export gives the same ids.

    Args:
        path: The file.
        name: Name of the set.
        version: Its version.
        format: Whose file it is; None decides by the names of its columns.
        delimiter: What stands between the contexts of a deepeval file that writes them as one string.
        origin: Who wrote the items; None goes by the file (a synthesizer's name, an evolution, a source file), and
            takes an item that says nothing for a person's.

    Raises:
        InputError: if a row can't be read, or is no single question.
        UsageError: if the format is unknown.
    """
    if format is not None and format not in _READERS:
        raise UsageError(f"format is {' or '.join(map(repr, _READERS))}, not {format!r}")
    records = list(rows(Path(path)))
    if not records:
        raise InputError(f"{path} has no rows: there is nothing to import")
    told = format or _recognised(records[0])
    reader = _READERS[told]
    items = _with_ids(reader.item(record, delimiter) for record in records)
    if origin is not None:
        items = (replace(item, origin=origin) for item in items)
    golden = GoldenSet(name=name, version=version, items=tuple(items))
    return Imported(golden, told, tuple(_left_out(records, reader)))


def _recognised(record: Record) -> str:
    for name, reader in _READERS.items():
        if any(column in record.values for column in reader.questions):
            return name
    asked = [column for reader in _READERS.values() for column in reader.questions]
    raise record.wrong(f"no question here: one of {', '.join(asked)} must be there")


def _with_ids(items: Iterable[GoldenItem]) -> Iterator[GoldenItem]:
    seen = Counter[str]()
    for item in items:
        id_ = "q-" + hashlib.sha256(item.asked.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        seen[id_] += 1
        yield replace(item, id=id_ if seen[id_] == 1 else f"{id_}-{seen[id_]}")


def _left_out(records: Iterable[Record], reader: Reader) -> Iterator[str]:
    full = dict.fromkeys(
        key for record in records for key, value in record.values.items() if value not in (None, "", [])
    )
    return (key for key in full if key not in reader.known)
