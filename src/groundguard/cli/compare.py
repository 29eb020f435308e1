"""`groundguard compare`: two runs, and whether the second is better."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from groundguard.cli.exits import BAD_INPUT, FINE, NOT_ANSWERED, friendly
from groundguard.cli.show import line, out, paragraph, print_json, visible
from groundguard.evaluation.comparison.compare import Comparison, compare
from groundguard.evaluation.comparison.differing import Difference, Word
from groundguard.evaluation.comparison.pairing import Pair
from groundguard.evaluation.gates.gates import shown
from groundguard.evaluation.runner.files import read_run

GATE_FAILED = NOT_ANSWERED
"""The exit code of a comparison that does not show what was asked for."""

COLOURS = {Word.BETTER: "bold green", Word.WORSE: "bold red", Word.CANT_TELL: "bold yellow"}

MOST = 20
"""How many changes are shown, unless told."""


def compare_runs(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="The first run, as `groundguard eval` writes it.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The second.")],
    *,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            metavar="PIN",
            help="A pin that may differ beside pipeline and model, such as judges or library; repeat for more.",
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option("--margin", metavar="M", help="Exit with 1 unless every metric is shown no worse than by M."),
    ] = None,
    fail_on_worse: Annotated[
        bool, typer.Option("--fail-on-worse", help="Exit with 1 if any metric is worse by more than chance.")
    ] = False,
    most: Annotated[int, typer.Option("--changes", metavar="N", min=0, help="How many changed items to list.")] = MOST,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as one JSON document.")] = False,
) -> None:
    """Compare two runs item by item, and say in words: better, worse or can't tell.

    groundguard compare main.json branch.json

    groundguard compare main.json branch.json --fail-on-worse

    groundguard compare main.json branch.json --margin 0.02

    groundguard compare monday.json friday.json --allow judges --allow judge_models

    Runs that differ in more than the thing under test (pipeline, model) are refused, and the pin is named.

    Exit codes: 0 fine, 1 worse or not shown to be no worse, where that was asked for, 2 bad input.
    """
    with friendly():
        result = compare(read_run(before), read_run(after), allow=allow or (), margin=margin)
        if as_json:
            print_json(result.to_dict())
        else:
            _show(out(), result, most)
        worse = result.word is Word.WORSE or bool(result.missing)
        failed = (fail_on_worse and worse) or result.no_worse is False
        code = GATE_FAILED if failed else FINE
        if not any(each.n for each in result.metrics):
            code = BAD_INPUT
    raise typer.Exit(code)


def _show(console: Console, result: Comparison, most: int) -> None:
    line(console, Text(result.word.value, COLOURS[result.word]))
    for pin in result.differs:
        paragraph(console, str(pin), "dim")
    for note in result.notes:
        paragraph(console, f"note: {note}", "yellow", 0)
    _differences(console, "", result.metrics)
    told = [each for each in result.slices if each.word is not Word.CANT_TELL]
    _differences(console, "slices that differ by more than chance, all of them together considered", told)
    _changes(console, result.changes, most)
    for what, ids in (
        ("only in the first run", result.only_before),
        ("only in the second run", result.only_after),
        ("not the same item in both, so not compared", result.edited),
        ("the generator saw other chunks", result.context_changed),
    ):
        _ids(console, what, ids)


def _differences(console: Console, title: str, differences: Iterable[Difference]) -> None:
    differences = list(differences)
    if title and differences:
        console.print()
        paragraph(console, title, "bold", 0)
    for each in differences:
        no_worse = {None: "", True: "; no worse than the margin", False: "; not shown to be no worse"}[each.no_worse]
        paragraph(console, f"{each}{no_worse}", COLOURS[each.word].removeprefix("bold "))


def _changes(console: Console, changes: tuple[Pair, ...], most: int) -> None:
    if not changes or not most:
        return
    console.print()
    paragraph(console, "what changed, those that fell most first", "bold", 0)
    for pair in changes[:most]:
        moved = "  (other chunks)" if pair.context_changed else ""
        paragraph(console, f"{pair.id}  {pair.metric}  {_value(pair.before)} -> {_value(pair.after)}{moved}")
    if len(changes) > most:
        paragraph(console, f"and {len(changes) - most} more; --changes {len(changes)} lists them all", "dim")


def _value(value: float | None) -> str:
    return "unscored" if value is None else shown(value)


def _ids(console: Console, what: str, ids: tuple[str, ...]) -> None:
    if ids:
        more = f" and {len(ids) - MOST} more" if len(ids) > MOST else ""
        console.print()
        paragraph(console, f"{what} ({len(ids)}): {', '.join(map(visible, ids[:MOST]))}{more}", "", 0)
