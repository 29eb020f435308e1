"""How far a long command is: a bar where a person looks, a few plain lines in a log, nothing with --quiet."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from groundguard.cli.exits import tell
from groundguard.cli.show import err
from groundguard.evaluation.runner.work import Progress

LINES = 10
"""How many lines a run tells of itself where nobody looks."""


@contextmanager
def shown_progress(*, quiet: bool) -> Generator[Callable[[Progress], None] | None]:
    """What a run may tell its progress to; all of it goes to stderr."""
    console = err()
    if quiet:
        yield None
    elif not console.is_terminal:
        yield _Lines().tell
    else:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        with Bar(*columns, console=console, transient=True) as bar:
            task = bar.add_task("evaluating")
            yield lambda at: bar.update(task, description=_what(at), completed=at.done, total=at.expected)


def tell_at_once(message: str) -> None:
    """One line on stderr from a signal handler: past the buffers, which may be in use at this moment."""
    with suppress(OSError):
        os.write(2, f"groundguard: {message}\n".encode())


class _Lines:
    """One line at every tenth of the way."""

    def __init__(self) -> None:
        self._told = 0

    def tell(self, at: Progress) -> None:
        """Tell of a result, if it is time."""
        tenth = at.done * LINES // at.expected
        if tenth > self._told:
            self._told = tenth
            tell(f"{at.done} of {at.expected}{_troubles(at)}")


def _what(at: Progress) -> str:
    return f"{'stopping' if at.stopped else 'evaluating'}{_troubles(at)}"


def _troubles(at: Progress) -> str:
    failed = f", pipeline failed {at.failed}" if at.failed else ""
    return failed + (f", judge failed {at.unjudged}" if at.unjudged else "")
