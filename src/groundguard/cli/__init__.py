"""The command line: `groundguard ask`, `check`, `doctor`, `demo`."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Any

_EXTRA = frozenset({"bm25s", "numpy", "rich", "typer"})


def main() -> None:
    """The command `groundguard`. Exits with its code."""
    _prepare_streams()
    try:
        _app()()
    except KeyboardInterrupt:
        sys.exit(130)


def _app() -> Any:  # typer loads only here
    try:
        from groundguard.cli.app import app  # noqa: PLC0415  # the extra may be missing
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRA:
            raise
        sys.stderr.write(f'groundguard: the command line needs {missing}: pip install "groundguard-rag[cli]"\n')
        sys.exit(2)
    return app


def _prepare_streams() -> None:
    """Let a terminal that can't show a character show a replacement; where a stream is closed, let it be empty."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  # stays open
        elif mode == "w" and isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
