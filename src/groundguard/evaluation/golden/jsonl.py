"""JSON on its way in: a record a line, or a list of records. Strict, and every record knows its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from groundguard.evaluation.golden.files import read_text
from groundguard.evaluation.golden.located import Record, is_deep, kind, wrong
from groundguard.fields import is_mapping

_BLANK = " \t\r\n"


class _RefusedError(ValueError):
    """JSON that Python takes and nobody else does."""


def records_of_lines(path: Path) -> Iterator[Record]:
    """The object on every line that is not blank.

    Raises:
        InputError: if a line is anything else.
    """
    for line, text in enumerate(read_text(path).split("\n"), 1):
        if text.strip():
            yield _record(path, line, _parsed(path, line, text))


def records_of_list(path: Path) -> Iterator[Record]:
    """The objects in the one list that the file holds.

    Raises:
        InputError: if it holds anything else.
    """
    text = read_text(path)
    at = _skip(text, 0)
    if text[at : at + 1] != "[":
        raise wrong(path, _line(text, at), "not a list of objects: it must begin with [")
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        line = _line(text, at)
        value, end = _element(path, text, at)
        yield _record(path, line, value)
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            raise wrong(path, _line(text, at), "not JSON: a comma or ] must stand here")
    if _skip(text, at + 1) != len(text):
        raise wrong(path, _line(text, at + 1), "not JSON: something stands after the list")


def _element(path: Path, text: str, at: int) -> tuple[Any, int]:
    try:
        return _decoder().raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        where = error.pos if isinstance(error, json.JSONDecodeError) else at
        raise wrong(path, _line(text, where), _what(error)) from None


def _parsed(path: Path, line: int, text: str) -> Any:
    try:
        return _decoder().decode(text.strip(_BLANK))
    except (ValueError, RecursionError) as error:
        raise wrong(path, line, _what(error)) from None


def _record(path: Path, line: int, value: object) -> Record:
    if not is_mapping(value):
        raise wrong(path, line, f"not a JSON object but {kind(value)}")
    if is_deep(value):
        raise wrong(path, line, "nested too deeply")
    return Record(str(path), line, value)


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_without_repeats)


def _refuse_constant(name: str) -> NoReturn:
    raise _RefusedError(f"not JSON: {name} is no JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        raise _RefusedError("a number is too large")
    return number


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise _RefusedError("a key stands twice in the same object")
    return values


def _what(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (column {error.colno})"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error) if isinstance(error, _RefusedError) else "a number has too many digits"


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
