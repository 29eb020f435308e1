"""How a command ends: exit codes, and errors as one line for a person instead of a traceback."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Literal

import typer

from groundguard.cli.show import visible
from groundguard.errors import GroundguardError, GroundguardWarning
from groundguard.judges import Lexical
from groundguard.records import JUDGE_FAILURES, Response, Status

FINE, NOT_ANSWERED, BAD_INPUT, JUDGE_FAILED = 0, 1, 2, 3
STOPPED, PIPE_CLOSED = 130, 141


class CommandError(GroundguardError):
    """A command can't go on, and a person should read why in one line."""


def code_of(response: Response[Any]) -> int:
    """The exit code that says what became of a response; a judge that failed comes first."""
    if response.reason in JUDGE_FAILURES:
        return JUDGE_FAILED
    return FINE if response.status is Status.ANSWERED else NOT_ANSWERED


@contextmanager
def friendly(*, notes: bool = True) -> Generator[None, None, None]:
    """Around the body of a command: errors and warnings become one line on stderr, and a closed pipe is no error.

    Args:
        notes: Whether to show warnings; a command that says the same in its own words leaves them out.
    """
    with _told_warnings("always" if notes else "ignore"):
        try:
            yield
            sys.stdout.flush()
        except GroundguardError as error:
            tell(str(error))
            raise typer.Exit(BAD_INPUT) from error
        except BrokenPipeError as error:
            _drop_output()
            raise typer.Exit(PIPE_CLOSED) from error
        except OSError as error:
            tell(f"{error.filename}: {error.strerror}" if error.filename else str(error))
            _drop_output_that_fails()
            raise typer.Exit(BAD_INPUT) from error
        except KeyboardInterrupt as error:
            tell("stopped")
            raise typer.Exit(STOPPED) from error


@contextmanager
def _told_warnings(action: Literal["always", "ignore"]) -> Generator[None, None, None]:
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, GroundguardWarning):
                tell(f"note: {message}")
            else:
                usual(message, category, *where, **more)

        warnings.simplefilter(action, GroundguardWarning)
        warnings.filterwarnings("ignore", re.escape(Lexical().notice), GroundguardWarning)  # told as `judged by`
        warnings.showwarning = show
        yield


def tell(message: str) -> None:
    """One line on stderr, whatever the message holds."""
    typer.echo(f"groundguard: {' '.join(visible(message).split())}", err=True)


def _drop_output_that_fails() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()


def _drop_output() -> None:
    """Nobody reads stdout any more: let nothing complain when Python flushes it at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
