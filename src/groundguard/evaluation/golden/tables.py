"""Rows of files that other tools wrote: CSV, JSON Lines, or one JSON list; each row knows its line."""

from __future__ import annotations

import ast
import csv
import io
import json
import tokenize
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from groundguard.errors import InputError
from groundguard.evaluation.golden.files import read_text
from groundguard.evaluation.golden.jsonl import records_of_lines, records_of_list
from groundguard.evaluation.golden.located import Record, wrong
from groundguard.fields import is_list

_LARGEST_CELL = 1 << 30
_FORMS = {".csv": "csv", ".jsonl": "lines", ".ndjson": "lines", ".json": "list"}


def rows(path: Path) -> Iterator[Record]:
    """The rows of a file, by its ending.

    Raises:
        InputError: if it ends in something else, or a row can't be read.
    """
    form = _FORMS.get(path.suffix.lower())
    if form is None:
        raise InputError(f"{path}: what is imported ends in {', '.join(_FORMS)}")
    if form == "csv":
        return _rows_of_csv(path)
    return records_of_lines(path) if form == "lines" else records_of_list(path)


def texts(record: Record, value: object, key: str, delimiter: str | None = None) -> list[str]:
    r"""The strings of a list, however the file writes it.

    Args:
        record: The row, for errors.
        value: None, a list of strings, or one string: a list in JSON, as Python or numpy prints it (`['a' 'b']`), or
            strings with a delimiter between them.
        key: The column, for errors.
        delimiter: What stands between the strings; None if the whole is one.
    """
    if value is None or value == "":
        return []
    if is_list(value):
        return [_string(record, item, key) for item in value if item is not None]
    text = _string(record, value, key)
    listed = _printed(text)
    if listed is not None:
        return listed
    return [text] if delimiter is None else [part for part in text.split(delimiter) if part]


def _string(record: Record, value: object, key: str) -> str:
    if isinstance(value, str):
        return value
    raise record.wrong(f"{key} must hold strings", key)


def _printed(text: str) -> list[str] | None:
    """The strings of a printed list; None if the text is none."""
    if not (text.startswith("[") and text.rstrip().endswith("]")):
        return None
    try:
        value = json.loads(text)
        return value if is_list(value) and all(isinstance(item, str) for item in value) else None
    except (ValueError, RecursionError):
        return _python_strings(text)


def _python_strings(text: str) -> list[str] | None:
    """The string literals between brackets: one by one, since Python joins those that no comma parts."""
    found = list[str]()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING and token.string.startswith(("'", '"')):
                found.append(str(ast.literal_eval(token.string)))
            elif token.string not in {"[", "]", ","} and token.string.strip():
                return None
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    return found


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
