"""Golden sets from files and into files: JSONL and YAML."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundguard.errors import InputError
from groundguard.evaluation.golden.files import write_text
from groundguard.evaluation.golden.items import GoldenItem, GoldenSet
from groundguard.evaluation.golden.jsonl import records_of_lines
from groundguard.evaluation.golden.located import Record
from groundguard.evaluation.golden.lock import lock_path, verify
from groundguard.evaluation.golden.record import read_header, read_item
from groundguard.evaluation.golden.yaml_file import records_of_yaml, yaml

LINES = (".jsonl", ".ndjson")
YAML = (".yaml", ".yml")

_BREAKS = frozenset("\x85\u2028\u2029\ufeff")


@dataclass(frozen=True, slots=True)
class Reading:
    """A golden set as it stands in a file.

    Attributes:
        golden: The set.
        lines: The line where each item begins, by its id.
    """

    golden: GoldenSet
    lines: Mapping[str, int]


def load(path: str | os.PathLike[str], *, locked: bool | None = False) -> GoldenSet:
    """A golden set from a file.

    In JSONL the first line is the header, `{"name": ..., "version": ..., "description": ...}`, and every further line
    an item. In YAML the same keys stand on top, and the items under `items`. Both are UTF-8.

    Args:
        path: A file that ends in `.jsonl`, `.ndjson`, `.yaml` or `.yml`.
        locked: Whether its items must be those that its lock file holds for this version, see `lock`; None asks for
            that where there is a lock file.

    Raises:
        InputError: if anything in it is not as it should be; says which file, which line, and what.
        UsageError: if it is YAML, and PyYAML isn't installed.
    """
    golden = read(path).golden
    if lock_path(path).exists() if locked is None else locked:
        verify(golden, path)
    return golden


def read(path: str | os.PathLike[str]) -> Reading:
    """A golden set and the lines of its items; raises as `load` does."""
    path = Path(path)
    records = _records(path)
    first = next(records, None)
    if first is None:
        raise InputError(f"{path} is empty: a golden set begins with a header that has a name and a version")
    header = read_header(first)
    items, lines = list[GoldenItem](), dict[str, int]()
    for record in records:
        item = read_item(record)
        if item.id in lines:
            raise record.wrong(f"the id stands on line {lines[item.id]} already: every item needs its own", "id")
        lines[item.id] = record.line
        items.append(item)
    if not items:
        raise InputError(f"{path} has a header and no items: there is nothing to measure with")
    return Reading(GoldenSet(items=tuple(items), **header), lines)


def dump(golden: GoldenSet, path: str | os.PathLike[str]) -> None:
    """Write a golden set, by the file's ending, so that `load` gives back the same; the folder must exist.

    Raises:
        InputError: if it ends in something else, or can't be written.
        UsageError: if it is YAML, and PyYAML isn't installed.
    """
    path = Path(path)
    text = _as_yaml(golden) if _is_yaml(path) else _as_lines(golden)
    write_text(path, text)


def _records(path: Path) -> Iterator[Record]:
    return records_of_yaml(path) if _is_yaml(path) else records_of_lines(path)


def _is_yaml(path: Path) -> bool:
    ending = path.suffix.lower()
    if ending not in {*LINES, *YAML}:
        raise InputError(f"{path}: a golden set ends in {', '.join((*LINES, *YAML))}")
    return ending in YAML


def _header(golden: GoldenSet) -> dict[str, Any]:
    described = {} if golden.description is None else {"description": golden.description}
    return {"name": golden.name, "version": golden.version, **described}


def _as_lines(golden: GoldenSet) -> str:
    return "".join(f"{_line(value)}\n" for value in (_header(golden), *(item.to_record() for item in golden.items)))


def _line(value: object) -> str:
    """JSON that a person can read, but for halves of surrogate pairs, which UTF-8 doesn't have."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text if text.isascii() or _is_unicode(text) else json.dumps(value, allow_nan=False)


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _as_yaml(golden: GoldenSet) -> str:
    value = _header(golden) | {"items": [item.to_record() for item in golden.items]}
    written: str = yaml().safe_dump(value, allow_unicode=True, sort_keys=False, width=110)
    if _BREAKS & set(written):  # which YAML takes for the end of a line, where they aren't escaped
        written = yaml().safe_dump(value, allow_unicode=False, sort_keys=False, width=110)
    return written
