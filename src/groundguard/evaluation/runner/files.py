"""A run as a file, and back: one JSON document in ASCII, a result a line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NoReturn

from groundguard.errors import InputError
from groundguard.evaluation.results import Run


def write_run(run: Run, path: str | os.PathLike[str]) -> None:
    """Put a run in the place of a file, all of it or nothing; it is never whole in memory a second time.

    Raises:
        InputError: if it can't be written.
    """
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with beside.open("w", encoding="ascii", newline="\n") as file:
            file.writelines(f"{line}\n" for line in run.lines())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(f"can't write {path}: {error.strerror}") from error


def read_run(path: str | os.PathLike[str]) -> Run:
    """The run that a file holds.

    Raises:
        InputError: if it can't be read, or holds no run.
    """
    path = Path(path)
    try:
        data: Any = json.loads(path.read_bytes().decode("utf-8-sig"), parse_constant=_refuse)
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}") from error
    except (ValueError, RecursionError):
        raise InputError(f"{path} is no JSON: `groundguard eval --output` writes a run") from None
    try:
        return Run.from_dict(data)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)
