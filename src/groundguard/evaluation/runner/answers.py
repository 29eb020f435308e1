"""Recorded answers as a target: a JSON Lines file, one answer an item, judged as they stand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from groundguard.errors import InputError
from groundguard.evaluation.golden.items import GoldenItem
from groundguard.evaluation.runner.target import Target
from groundguard.fields import is_list, is_mapping
from groundguard.flow.steps import Flow
from groundguard.guard import Guard
from groundguard.records import Response


class NoAnswerError(Exception):
    """No answer was recorded for this item."""


class BadAnswerError(Exception):
    """What was recorded for this item is no answer: it lacks its text or its chunks."""


@dataclass(frozen=True)
class Recorded(Target):
    """Answers that were given before, by the id of their item.

    An item without one, or with one that can't be read, is recorded as a failure of the pipeline; the run goes on.

    Attributes:
        name: The file.
        guard: Judges them.
        answers: What was recorded, by id; None where it is no answer.
        digest: SHA-256 of the file.
        bad: Numbers of the lines that hold no JSON object with an id.
    """

    name: str
    guard: Guard
    answers: Mapping[str, Mapping[str, Any] | None] = field(repr=False)
    digest: str
    bad: tuple[int, ...] = ()

    @property
    def identity(self) -> str:
        """The file and its content."""
        return f"{self.name} ({self.digest[:16]})"

    def flow(self, item: GoldenItem) -> Flow[Response[Any]]:
        """Judge the recorded answer."""
        if item.id not in self.answers:
            raise NoAnswerError
        recorded = self.answers[item.id]
        if recorded is None:
            raise BadAnswerError
        return self.guard.guard_check(item.question, recorded["answer"], recorded["chunks"], item.history)


def recorded(path: str | Path, guard: Guard) -> Recorded:
    """Read a file of recorded answers: `{"id": ..., "answer": ..., "chunks": [...]}` a line; other keys are left alone.

    Args:
        path: The file, in UTF-8.
        guard: Judges the answers.

    Raises:
        InputError: if it can't be read, holds no answer, or two for one id.
    """
    answers: dict[str, Mapping[str, Any] | None] = {}
    digest = hashlib.sha256()
    bad: list[int] = []
    for number, line in _lines(Path(path)):
        digest.update(line)
        if not line.strip():
            continue
        row = _row(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
        if row is None:
            bad.append(number)
            continue
        if row["id"] in answers:
            raise InputError(f"{path}, line {number}: a second answer for one id; every item has one answer")
        answers[row["id"]] = row if _is_answer(row) else None
    if not answers:
        raise InputError(f'{path} holds no answers: a line is {{"id": ..., "answer": ..., "chunks": [...]}}')
    return Recorded(str(path), guard, answers, digest.hexdigest(), tuple(bad))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            yield from enumerate(file, 1)
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}") from error


def _row(line: bytes) -> Mapping[str, Any] | None:
    try:
        row = json.loads(line.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return row if is_mapping(row) and isinstance(row.get("id"), str) else None


def _is_answer(row: Mapping[str, Any]) -> bool:
    chunks = row.get("chunks")
    sound = is_list(chunks) and all(isinstance(chunk, str) or is_mapping(chunk) for chunk in chunks)
    return isinstance(row.get("answer"), str) and sound


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)
