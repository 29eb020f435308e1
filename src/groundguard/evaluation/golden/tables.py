"""Rows of files that other tools wrote: CSV, JSON Lines, or one JSON list; each row knows its line."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import tokenize
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from groundguard.errors import InputError
from groundguard.evaluation.golden.files import read_text
from groundguard.evaluation.golden.jsonl import records_of_lines, records_of_list
from groundguard.evaluation.golden.located import Record, wrong
from groundguard.fields import is_list
from groundguard.text import is_blank

_LARGEST_CELL = 1 << 30
_MISSING = frozenset({"nan", "NaN"})
_LIKE_A_LIST = re.compile(r"\[\s*(?:['\"\[]|array\()|array\(")
_FORMS = {".csv": "csv", ".jsonl": "lines", ".ndjson": "lines", ".json": "list"}


def rows(path: Path) -> Iterator[Record]:
    """The rows of a file, by its ending. A value that pandas writes for a missing one, `nan`, is missing.

    Raises:
        InputError: if it ends in something else, or a row can't be read.
    """
    form = _FORMS.get(path.suffix.lower())
    if form is None:
        raise InputError(f"{path}: what is imported ends in {', '.join(_FORMS)}")
    read = {"csv": _rows_of_csv, "lines": records_of_lines, "list": records_of_list}[form]
    return map(_without_missing, read(path))


def texts(record: Record, value: object, key: str, delimiter: str | None = None) -> list[str]:
    r"""The strings of a list, however the file writes it; blank ones and missing ones are left out.

    Args:
        record: The row, for errors.
        value: None, a list of strings, or one string: a list in JSON, as Python or numpy prints it (`['a' 'b']`), or
            strings with a delimiter between them.
        key: The column, for errors.
        delimiter: What stands between the strings; None if the whole is one.

    Raises:
        InputError: if it holds something else, or is a printed list that can't be read.
    """
    if value is None:
        return []
    if is_list(value):
        found = [_string(record, item, key) for item in value if item is not None]
    else:
        found = _parts(record, _string(record, value, key), key, delimiter)
    return [text for text in found if not is_blank(text) and text not in _MISSING]


def literal(text: str) -> Any:
    """The value of a text that is JSON, or a Python literal; None if it is neither."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def _without_missing(record: Record) -> Record:
    values = {
        key: None if isinstance(value, str) and value.strip() in _MISSING else value
        for key, value in record.values.items()
    }
    return replace(record, values=values)


def _parts(record: Record, text: str, key: str, delimiter: str | None) -> list[str]:
    """The strings in a cell: of a printed list, between delimiters, or the whole."""
    listed, shown = _printed(text), text.strip()
    if listed is not None:
        return listed
    bracketed = delimiter is None and shown.startswith("[") and shown.endswith("]")
    if bracketed or _LIKE_A_LIST.match(shown):
        raise record.wrong(f"{key} holds a printed list that can't be read: write it as a JSON list of strings", key)
    return [text] if delimiter is None else text.split(delimiter)


def _string(record: Record, value: object, key: str) -> str:
    if isinstance(value, str):
        return value
    raise record.wrong(f"{key} must hold strings", key)


def _printed(text: str) -> list[str] | None:
    """The strings of a printed list; None if the text is none."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        value = [item for item in json.loads(text) if item is not None]
    except (ValueError, RecursionError):
        return _python_strings(text)
    return value if all(isinstance(item, str) for item in value) else None


def _python_strings(text: str) -> list[str] | None:
    """The string literals between brackets: one by one, since Python joins those that no comma parts."""
    found, brackets = list[str](), 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING and token.string.startswith(("'", '"')):
                found.append(str(ast.literal_eval(token.string)))
            elif token.string in {"[", "]"}:
                brackets += 1
            elif token.string != "," and token.string.strip():
                return None
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    return found if brackets == len("[]") else None


def _rows_of_csv(path: Path) -> Iterator[Record]:
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    header, line = list[str](), 1
    with _large_cells():
        try:
            for row in reader:
                if not header:
                    header = _columns(path, row)
                elif row:
                    yield _row(path, line, header, row)
                line = reader.line_num + 1
        except csv.Error as error:
            raise wrong(path, line, f"not CSV: {error}") from None


def _columns(path: Path, row: list[str]) -> list[str]:
    if not row or len(set(row)) < len(row):
        raise wrong(path, 1, "the first line of a CSV file names its columns, each once")
    return row


def _row(path: Path, line: int, header: list[str], row: list[str]) -> Record:
    if len(row) != len(header):
        raise wrong(path, line, f"{len(row)} cells, but the first line names {len(header)} columns")
    values: dict[str, Any] = {name: cell or None for name, cell in zip(header, row, strict=True)}
    return Record(str(path), line, values)


@contextmanager
def _large_cells() -> Generator[None, None, None]:
    """Cells hold whole documents; the limit is the process's own, so it is put back."""
    before = csv.field_size_limit(_LARGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
