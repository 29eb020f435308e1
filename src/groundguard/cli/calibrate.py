"""`groundguard calibrate`: how far a judge can be trusted."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from groundguard.cli.calibration import show, show_corrected
from groundguard.cli.eval_setup import named_or_own
from groundguard.cli.exits import FINE, JUDGE_FAILED, NOT_ANSWERED, CommandError, friendly, tell
from groundguard.cli.options import Constrained, Timeout, judged_by
from groundguard.cli.show import err, print_json
from groundguard.evaluation.calibration.calibrate import TARGET, calibrate
from groundguard.evaluation.calibration.kept import FOLDER, save
from groundguard.evaluation.calibration.labels import Label, Labeller, read_labels
from groundguard.evaluation.calibration.record import Calibration
from groundguard.evaluation.statistics.prevalence import Corrected
from groundguard.fields import plain

MOST_UNKNOWN = 0.1
"""The largest share of answers that a healthy judge can't judge."""

SHOWN = 10
"""How many false passes are shown, unless told."""

_OBSERVED = re.compile(r"([0-9]{1,15})/([0-9]{1,15})")


def calibrate_judge(
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS",
            help='A JSON object a line: question, chunks, answer, label ("grounded" or "ungrounded"), labeller_kind'
            ' ("human" or "model").',
        ),
    ],
    *,
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="JUDGE",
            help="Whom to calibrate, as eval names it: 'lexical', 'openai:NAME', 'claims:openai:NAME', or a judge of"
            " your own as module:object.",
        ),
    ] = "lexical",
    constrained: Constrained = None,
    timeout: Timeout = 30.0,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", min=1, help="How many answers are judged at once.")
    ] = 8,
    human_only: Annotated[
        bool, typer.Option("--human-only", help="Leave out labels that the file does not say a person made.")
    ] = False,
    observed: Annotated[
        str | None,
        typer.Option(
            "--observed",
            metavar="PASSED/N",
            help="What the judge passed of your answers; shows how many are truly grounded.",
        ),
    ] = None,
    target: Annotated[
        float,
        typer.Option("--target", metavar="RATE", help="The false-pass rate to be shown, for the labels it takes."),
    ] = TARGET,
    need_labels: Annotated[
        int | None, typer.Option("--need-labels", metavar="N", help="Exit with 1 below so many labels by people.")
    ] = None,
    need_kappa: Annotated[
        float | None, typer.Option("--need-kappa", metavar="K", help="Exit with 1 below this kappa.")
    ] = None,
    store: Annotated[
        Path, typer.Option("--store", metavar="FOLDER", help="Where calibrations are kept, for eval to find.")
    ] = FOLDER,
    keep: Annotated[bool, typer.Option("--keep/--no-keep", help="Whether to keep this one.")] = True,
    most: Annotated[int, typer.Option("--show", metavar="N", min=0, help="How many false passes to print.")] = SHOWN,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as one JSON document.")] = False,
) -> None:
    """Hold a judge against answers that people labelled, and keep what comes out.

    groundguard calibrate labels.jsonl --judge openai:NAME

    groundguard calibrate labels.jsonl --judge openai:NAME --observed 183/200

    groundguard calibrate labels.jsonl --judge openai:NAME --need-labels 50 --need-kappa 0.6

    Exit codes: 0 fine, 1 less than was needed, 2 bad input, 3 the judge could not judge more than a tenth.
    """
    with friendly():
        if need_kappa is not None and not -1 <= need_kappa <= 1:
            raise CommandError(f"--need-kappa is a number from -1 to 1, such as 0.6; got {need_kappa}")
        asked = named_or_own(judge, constrained=constrained)
        rate = _rate(observed)
        rows = _read(labels, human_only=human_only)
        with _progress(len(rows)) as counted:
            now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
            result = calibrate(
                rows, asked, timeout=timeout, concurrency=concurrency, target=target, made=now, counted=counted
            )
        unhealthy = result.unknown > MOST_UNKNOWN * result.n
        file = save(result, store) if keep and not unhealthy else None
        corrected = None if rate is None else result.corrected(*rate)
        if as_json:
            _print_json(result, corrected, file)
        else:
            show(result, judged_by(asked), {row.line: row for row in rows}, most)
            if rate is not None:
                show_corrected(*rate, corrected)
            if file is not None:
                tell(f"kept in {file}")
        lacks = _lacks(result, need_labels, need_kappa)
        for what in lacks:
            tell(f"not enough: {what}")
        if unhealthy:
            tell(f"the judge could not judge {result.unknown} of {result.n} answers, so this calibration is not kept")
        code = JUDGE_FAILED if unhealthy else NOT_ANSWERED if lacks else FINE
    raise typer.Exit(code)


def _rate(observed: str | None) -> tuple[int, int] | None:
    if observed is None:
        return None
    found = _OBSERVED.fullmatch(observed.strip())
    passed, n = map(int, found.groups()) if found else (0, 0)
    if n < 1 or passed > n:
        raise CommandError("--observed is how many answers passed, of how many: 183/200")
    return passed, n


def _read(path: Path, *, human_only: bool) -> tuple[Label, ...]:
    rows = read_labels(path)
    if not human_only:
        return rows
    by_people = tuple(row for row in rows if row.kind is Labeller.HUMAN)
    if not by_people:
        raise CommandError(f'{path} has no label that a person made: no line says "labeller_kind": "human"')
    if len(by_people) < len(rows):
        tell(f"note: {len(rows) - len(by_people)} labels left out, since the file does not say that a person made them")
    return by_people


@contextmanager
def _progress(total: int) -> Generator[Callable[[], object], None, None]:
    """A bar on stderr, where a person looks; nothing in a log."""
    console = err()
    columns = TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("judging", total=total)
        yield lambda: progress.advance(task)


def _lacks(result: Calibration, labels: int | None, kappa: float | None) -> tuple[str, ...]:
    if labels is None and kappa is None:
        return ()
    return result.lacks(least=labels or 0, kappa=kappa)


def _print_json(result: Calibration, corrected: Corrected | None, file: Path | None) -> None:
    print_json(result.to_dict() | {"corrected": plain(corrected), "file": None if file is None else str(file)})
