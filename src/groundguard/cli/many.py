"""`groundguard check --input`: JSON Lines in, JSON Lines out, in order, one line in memory at a time."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO, TypeGuard

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from groundguard.chunks import TEXT_KEYS, as_chunk
from groundguard.cli.exits import BAD_INPUT, FINE, JUDGE_FAILED, NOT_ANSWERED, tell
from groundguard.cli.options import note_judge
from groundguard.cli.show import as_json, err
from groundguard.errors import InputError
from groundguard.guard import Guard
from groundguard.records import JUDGE_FAILURES, Chunk, Exchange, Reason, Response, Status

_BOM = b"\xef\xbb\xbf"
_INFINITE = (float("inf"), float("-inf"))
_KINDS = {"dict": "an object", "list": "a list", "str": "a string", "bool": "true or false", "NoneType": "null"}


@dataclass(slots=True)
class Tally:
    """What became of the lines so far."""

    statuses: Counter[Status] = field(default_factory=Counter[Status])
    failures: Counter[Reason] = field(default_factory=Counter[Reason])
    bad: int = 0

    def count(self, response: Response[Any]) -> None:
        """Count a response."""
        self.statuses[response.status] += 1
        self.failures.update({response.reason} & JUDGE_FAILURES)

    @property
    def code(self) -> int:
        """The exit code."""
        if self.bad:
            return BAD_INPUT
        if self.failures:
            return JUDGE_FAILED
        return FINE if self.statuses.keys() == {Status.ANSWERED} else NOT_ANSWERED

    def __bool__(self) -> bool:
        return bool(self.statuses or self.bad)

    def __str__(self) -> str:
        statuses = ", ".join(f"{self.statuses[status]} {status}" for status in Status)
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.failures.most_common())
        failures = f"{self.failures.total()}{f' ({reasons})' if reasons else ''}"
        return f"{self.statuses.total()} checked: {statuses}; judge failures {failures}; bad lines {self.bad}"


def check_file(guard: Guard, source: str, target: str) -> int:
    """Judge every line of `source` and write a line for each to `target`; returns the exit code.

    Raises:
        InputError: if a file can't be opened, both are the same, or there is nothing to check.
    """
    tally = Tally()
    with _source(source) as lines, _target(target, lines) as out:
        try:
            with _progress(lines, out) as advance:
                for number, line in _numbered(lines):
                    out.write(_checked(guard, number, line, tally) + "\n")
                    out.flush()
                    advance(len(line))
        finally:
            if tally:
                note_judge(guard.judge)
                tell(str(tally))
    if not tally:
        raise InputError(f"{'stdin' if source == '-' else source} has nothing to check: every line of it is blank")
    return tally.code


def _numbered(lines: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(lines, 1):
        content = line.removeprefix(_BOM) if number == 1 else line
        if content.strip():
            yield number, content


def _checked(guard: Guard, number: int, line: bytes, tally: Tally) -> str:
    """One line of output for one line of input."""
    which: dict[str, Any] = {"line": number}
    try:
        item = _object(line)
        which |= _id(item)
        exchange = _exchange(item)
    except (InputError, TypeError, ValueError, RecursionError) as error:
        tally.bad += 1
        return as_json(which | {"error": _what(error)})
    response = guard.check(exchange.question, answer=exchange.answer, chunks=exchange.chunks)
    try:
        written = as_json(which | response.to_dict())
    except RecursionError as error:
        tally.bad += 1
        return as_json(which | {"error": _what(error)})
    tally.count(response)
    return written


@contextmanager
def _progress(source: BinaryIO, out: TextIO) -> Generator[Callable[[int], None], None, None]:
    """A bar on stderr, where a person looks and nothing else is written; receives the bytes that were read."""
    columns = TextColumn("checking"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    console = err()
    hidden = not console.is_terminal or (out is sys.stdout and out.isatty())
    progress = Progress(*columns, console=console, transient=True, disable=hidden)
    with nullcontext() if hidden else progress:
        task = progress.add_task("checking", total=_size(source))
        yield lambda size: progress.advance(task, size)


def _size(source: BinaryIO) -> int | None:
    try:
        return os.fstat(source.fileno()).st_size or None
    except OSError:
        return None


def _what(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 (byte {error.start})"
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (column {error.colno})"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _object(line: bytes) -> Mapping[str, Any]:
    item = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    if not _is_object(item):
        raise InputError(f"not a JSON object but {_kind(item)}")
    return item


def _id(item: Mapping[str, Any]) -> dict[str, Any]:
    """The caller's own name for a line, if it is a string or a number; anything else is not echoed."""
    value = item.get("id")
    is_name = isinstance(value, (str, int, float)) and not isinstance(value, bool) and value not in _INFINITE
    return {"id": value} if is_name else {}


def _exchange(item: Mapping[str, Any]) -> Exchange:
    question, answer = (_text(item, key) for key in ("question", "answer"))
    chunks: Any = item.get("chunks")
    if not _is_list(chunks):
        raise InputError(f'"chunks" must be a list of strings or objects, not {_kind(chunks)}')
    return Exchange(question, tuple(_chunk(chunk, number) for number, chunk in enumerate(chunks, 1)), answer)


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


@contextmanager
def _source(name: str) -> Generator[BinaryIO, None, None]:
    with nullcontext(sys.stdin.buffer) if name == "-" else _opened(name, "rb") as lines:
        yield lines


@contextmanager
def _target(name: str, source: BinaryIO) -> Generator[TextIO, None, None]:
    if name == "-":
        yield sys.stdout
        return
    if Path(name).exists() and _same(source, name):
        raise InputError(f"--output {name} is the file that --input reads: choose another")
    with _opened(name, "w", encoding="ascii", newline="\n") as out:
        yield out


def _same(source: BinaryIO, name: str) -> bool:
    try:
        read = os.fstat(source.fileno())
    except OSError:
        return False
    return stat.S_ISREG(read.st_mode) and os.path.samestat(read, Path(name).stat())


def _opened(name: str, mode: str, **how: Any) -> Any:  # text or binary, by mode
    try:
        return Path(name).open(mode, **how)
    except OSError as error:
        raise InputError(f"can't open {name}: {error.strerror}") from error
