"""The sample: 60 questions to a fictional insurer, its documents, and an answering chain with faults to find."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from groundguard.errors import InputError

SAMPLE = Path(__file__).parent / "golden.jsonl"
"""The sample golden set; its documents lie in `documents` beside it, and its chain is `chain.py`."""

_PARTS = ("golden.jsonl", "golden.lock.json", "chain.py")


def write_sample(folder: str | os.PathLike[str]) -> Path:
    """Copy the set, its lock, the documents and the chain into a new folder; returns the set's file there.

    Raises:
        InputError: if the folder exists and isn't empty, or can't be written.
    """
    folder = Path(folder)
    try:
        if folder.exists() and any(folder.iterdir()):
            raise InputError(f"{folder} is not empty: name a new folder")
        shutil.copytree(SAMPLE.parent / "documents", folder / "documents")
        for part in _PARTS:
            shutil.copyfile(SAMPLE.parent / part, folder / part)
    except OSError as error:
        raise InputError(f"can't write to {folder}: {error.strerror}") from error
    return folder / SAMPLE.name
