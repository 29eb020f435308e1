"""Whole files of text, in UTF-8."""

from __future__ import annotations

import os
from pathlib import Path

from groundguard.errors import InputError
from groundguard.evaluation.golden.located import wrong

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_text(path: Path) -> str:
    r"""The text of a file in UTF-8, with or without a byte order mark; line ends as they are.

    Raises:
        InputError: if it can't be read, or is not UTF-8.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}") from error
    if data.startswith(_UTF16):
        raise InputError(f"{path} is UTF-16, not UTF-8: save it as UTF-8 and try again")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise wrong(path, line, "not UTF-8 text: save the file as UTF-8 and try again") from None


def write_text(path: Path, text: str) -> None:
    """Put a text in the place of a file, all of it or nothing.

    Raises:
        InputError: if it can't be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        beside.write_bytes(text.encode("utf-8"))
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(f"can't write {path}: {error.strerror}") from error
