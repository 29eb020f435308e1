"""`groundguard check --input`: JSON Lines in, JSON Lines out, in order, few lines in memory."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from groundguard.cli.exits import BAD_INPUT, FINE, JUDGE_FAILED, NOT_ANSWERED, tell
from groundguard.cli.lines import numbered, read_exchange, read_id, read_object, what
from groundguard.cli.options import note_judge
from groundguard.cli.show import as_json, err
from groundguard.errors import InputError
from groundguard.flow.drive import NOT_YET, many
from groundguard.flow.steps import Flow
from groundguard.guard import Guard
from groundguard.records import JUDGE_FAILURES, Exchange, Reason, Response, Status


@dataclass(slots=True)
class Tally:
    """What became of the lines so far."""

    statuses: Counter[Status] = field(default_factory=Counter[Status])
    failures: Counter[Reason] = field(default_factory=Counter[Reason])
    bad: int = 0
    read: int = 0

    def count(self, response: Response[Any]) -> None:
        """Count a response."""
        self.statuses[response.status] += 1
        self.failures.update({response.reason} & JUDGE_FAILURES)

    @property
    def lines(self) -> int:
        """How many lines were written."""
        return self.statuses.total() + self.bad

    def is_idle(self) -> bool:
        """Whether every line that was read has been written."""
        return self.read == self.lines

    @property
    def code(self) -> int:
        """The exit code."""
        if self.bad:
            return BAD_INPUT
        if self.failures:
            return JUDGE_FAILED
        return FINE if self.statuses.keys() == {Status.ANSWERED} else NOT_ANSWERED

    def __bool__(self) -> bool:
        return self.lines > 0

    def __str__(self) -> str:
        statuses = ", ".join(f"{self.statuses[status]} {status}" for status in Status)
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.failures.most_common())
        failures = f"{self.failures.total()}{f' ({reasons})' if reasons else ''}"
        return f"{self.statuses.total()} checked: {statuses}; judge failures {failures}; bad lines {self.bad}"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the input, read.

    Attributes:
        which: Its number, and its id if it has one.
        size: Its bytes.
        exchange: What is to be judged, or what is wrong with the line.
        response: What became of it.
    """

    which: dict[str, Any]
    size: int
    exchange: Exchange | str = field(repr=False)
    response: Response[Any] | None = None


def check_file(guard: Guard, source: str, target: str, concurrency: int) -> int:
    """Judge every line of `source` and write a line for each to `target`; returns the exit code.

    Raises:
        InputError: if a file can't be opened, both are the same, or there is nothing to check.
    """
    tally = Tally()
    with _source(source) as lines, _target(target, lines) as out:
        try:
            with _progress(lines, out) as advance, closing(many(_checks(guard, lines, tally), concurrency)) as checked:
                for line in checked:
                    with unbroken():
                        out.write(_written(line, tally) + "\n")
                        out.flush()
                    advance(line.size)
        finally:
            if tally:
                note_judge(guard.judge)
                tell(str(tally))
    if not tally:
        raise InputError(f"{'stdin' if source == '-' else source} has nothing to check: every line of it is blank")
    return tally.code


@contextmanager
def unbroken() -> Generator[None]:
    """Let an interrupt wait, so that what is counted is written; not a second one, since a pipe may be stuck."""
    came: list[int] = []

    def handle(number: int, _: object) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)

    usual = None
    with suppress(ValueError):  # not the main thread: nobody can interrupt it there
        usual = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        if usual is not None:
            signal.signal(signal.SIGINT, usual)
    if came:
        raise KeyboardInterrupt


def _checks(guard: Guard, source: BinaryIO, tally: Tally) -> Generator[Flow[Line], None, None]:
    """A check for every line, as soon as the line is there; nobody who sends one line and waits is kept waiting."""
    for read in numbered(source, tally.is_idle):
        if read is None:
            yield NOT_YET
        else:
            tally.read += 1
            yield _check(guard, _read(*read))


def _read(number: int, content: bytes) -> Line:
    which: dict[str, Any] = {"line": number}
    try:
        item = read_object(content)
        which |= read_id(item)
        return Line(which, len(content), read_exchange(item))
    except (InputError, TypeError, ValueError, RecursionError) as error:
        return Line(which, len(content), what(error))


def _check(guard: Guard, line: Line) -> Flow[Line]:
    exchange = line.exchange
    if isinstance(exchange, str):
        return line
    response = yield from guard.guard_check(exchange.question, exchange.answer, exchange.chunks)
    return replace(line, response=response)


def _written(line: Line, tally: Tally) -> str:
    """One line of output for one line of input."""
    if line.response is None:
        tally.bad += 1
        return as_json(line.which | {"error": line.exchange})
    try:
        written = as_json(line.which | line.response.to_dict())
    except RecursionError as error:
        tally.bad += 1
        return as_json(line.which | {"error": what(error)})
    tally.count(line.response)
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
