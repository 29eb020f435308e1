"""Lines of JSON on their way in: read as they come, and taken apart with a word on what is wrong."""

from __future__ import annotations

import json
import select
from collections.abc import Callable, Iterator, Mapping
from io import BufferedReader
from typing import Any, BinaryIO, NoReturn, TypeGuard, cast

from groundguard.chunks import TEXT_KEYS, as_chunk
from groundguard.errors import InputError
from groundguard.records import Chunk, Exchange

_AT_ONCE = 1 << 16
_BOM = b"\xef\xbb\xbf"
_INFINITE = (float("inf"), float("-inf"))
_KINDS = {"dict": "an object", "list": "a list", "str": "a string", "bool": "true or false", "NoneType": "null"}


def numbered(source: BinaryIO, idle: Callable[[], bool]) -> Iterator[tuple[int, bytes] | None]:
    """Every line that is not blank, with its number from 1; None when reading on would mean to wait.

    Args:
        source: What to read from.
        idle: Whether there is nothing else to do, so that waiting is right.
    """
    number = 0
    for line in _lines(source, idle):
        if line is None:
            yield None
            continue
        number += 1
        content = line.removeprefix(_BOM) if number == 1 else line
        if content.strip():
            yield number, content


def _lines(source: BinaryIO, idle: Callable[[], bool]) -> Iterator[bytes | None]:
    read = cast(BufferedReader, source).read1  # or another buffered binary file
    begun: list[bytes] = []
    while True:
        while not (idle() or _is_ready(source)):
            yield None
        data = read(_AT_ONCE)
        if not data:
            break
        *whole, rest = data.split(b"\n")
        for end in whole:
            yield b"".join((*begun, end, b"\n"))
            begun.clear()
        begun.append(rest)
    if last := b"".join(begun):
        yield last


def _is_ready(source: BinaryIO) -> bool:
    """Whether something can be read at once; False where nobody can tell, as on Windows."""
    try:
        return bool(select.select([source], [], [], 0)[0])
    except (OSError, ValueError):
        return False


def read_object(line: bytes) -> Mapping[str, Any]:
    """The JSON object on a line.

    Raises:
        InputError: if it is other JSON.
        ValueError: if it is no JSON or no UTF-8.
        RecursionError: if it is nested too deeply.
    """
    item = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    if not _is_object(item):
        raise InputError(f"not a JSON object but {_kind(item)}")
    return item


def read_id(item: Mapping[str, Any]) -> dict[str, Any]:
    """The caller's own name for a line, if it is a string or a number; anything else is not echoed."""
    value = item.get("id")
    is_name = isinstance(value, (str, int, float)) and not isinstance(value, bool) and value not in _INFINITE
    return {"id": value} if is_name else {}


def read_exchange(item: Mapping[str, Any]) -> Exchange:
    """What there is to judge; raises `InputError` if it isn't all there."""
    question, answer = (_text(item, key) for key in ("question", "answer"))
    chunks: Any = item.get("chunks")
    if not _is_list(chunks):
        raise InputError(f'"chunks" must be a list of strings or objects, not {_kind(chunks)}')
    return Exchange(question, tuple(_chunk(chunk, number) for number, chunk in enumerate(chunks, 1)), answer)


def what(error: Exception) -> str:
    """What is wrong with a line, in a few words."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 (byte {error.start})"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (column {error.colno})"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    if not isinstance(value, str):
        raise InputError(f'"{key}" must be a string, not {_kind(value)}' if key in item else f'"{key}" is missing')
    return value


def _chunk(value: object, number: int) -> Chunk:
    if isinstance(value, str):
        return Chunk(value)
    if not _is_object(value) or not any(isinstance(value.get(key), str) for key in TEXT_KEYS):
        raise InputError(f'chunk {number} must be a string or an object with "text", not {_kind(value)}')
    return as_chunk(value)


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _kind(value: object) -> str:
    return _KINDS.get(type(value).__name__, "a number")


def _refuse_constant(name: str) -> NoReturn:
    raise InputError(f"not JSON: {name} is no JSON value")
