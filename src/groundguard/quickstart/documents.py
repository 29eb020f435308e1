"""Documents from a folder: Markdown and plain text, in UTF-8."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from groundguard.errors import InputError

SUFFIXES = (".markdown", ".md", ".txt")

SAMPLES = Path(__file__).parent / "documents"
"""The documents that come with the package: the help pages of a fictional lamp shop."""


@dataclass(frozen=True, slots=True)
class Document:
    r"""One document.

    Attributes:
        path: Where it lies below the folder that was read, with `/` on every system.
        text: Its text; every line ends in `\n` only.
    """

    path: str
    text: str = field(repr=False)


def read_documents(path: str | os.PathLike[str]) -> tuple[Document, ...]:
    """Read one file, or every Markdown and text file of a folder and the folders below it, in sorted order.

    Hidden files and folders are left out, and links to folders are not followed. A single file may have any name.

    Raises:
        InputError: if there is nothing there, nothing to read in it, or something that is not UTF-8.
    """
    root = Path(path)
    if root.is_dir():
        files = sorted(_files_below(root))
        if not files:
            raise InputError(f"no documents in {root}: it has no file that ends in {', '.join(SUFFIXES)}")
        return tuple(Document(file.relative_to(root).as_posix(), _read(file)) for file in files)
    if not root.exists():
        raise InputError(f"no such file or folder: {root}")
    return (Document(root.name, _read(root)),)


def _files_below(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root, onerror=_cannot_list):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            file = Path(folder, name)
            if not name.startswith(".") and file.suffix.lower() in SUFFIXES and file.is_file():
                yield file


def _read(file: Path) -> str:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"can't read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text (byte {error.start}): save it as UTF-8 and try again") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _cannot_list(error: OSError) -> NoReturn:
    raise InputError(f"can't list {error.filename}: {error.strerror}") from error
