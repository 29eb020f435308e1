"""The command line: `groundguard ask`, `check`, `doctor`, `demo`."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Any

_EXTRA = frozenset({"bm25s", "numpy", "rich", "typer"})


def main() -> None:
    """The command `groundguard`. Exits with its code."""
    _never_fail_to_print()
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


def _never_fail_to_print() -> None:
    """Let a terminal that can't show a character show a replacement for it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
