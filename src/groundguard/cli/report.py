"""`groundguard report`: a run as a page, as JUnit XML, as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from groundguard.cli.eval_options import AllowNoisy, Gates, GatesFile
from groundguard.cli.exits import BAD_INPUT, JUDGE_FAILED, CommandError, friendly
from groundguard.cli.show import line, out, paragraph, print_json
from groundguard.errors import UsageError
from groundguard.evaluation.calibration.kept import FOLDER, load
from groundguard.evaluation.figures import figures
from groundguard.evaluation.gates import options as gate_options
from groundguard.evaluation.gates.gates import Gate, exit_code, held
from groundguard.evaluation.golden.files import write_text
from groundguard.evaluation.report.content import Report, report_on
from groundguard.evaluation.report.markdown import markdown_report
from groundguard.evaluation.report.summary import summary
from groundguard.evaluation.report.words import (
    Mood,
    completeness,
    headline,
    interval,
    metric_name,
    number,
    trust,
    unscored,
)
from groundguard.evaluation.results import Run
from groundguard.evaluation.runner.files import read_run

COLOURS = {Mood.GOOD: "bold green", Mood.BAD: "bold red", Mood.DOUBT: "bold yellow", Mood.PLAIN: "bold"}


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Runs, as `groundguard eval --output` writes them, oldest first."),
    ],
    *,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one page that stands alone.")
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML.")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write Markdown for a pull request.")
    ] = None,
    gate: Gates = None,
    gates: GatesFile = None,
    allow_noisy_gate: AllowNoisy = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every figure as one JSON document.")] = False,
) -> None:
    """Tell what a run found; of several runs, the last one, and the way there.

    groundguard report run.json --html report.html

    groundguard report runs/*.json --html report.html --gate faithfulness=0.8

    groundguard report run.json --junit report.xml --markdown comment.md --gates pyproject.toml

    The page holds questions, answers and passages in full; it loads nothing from anywhere.

    Exit codes: 0 fine, 1 a gate failed, 2 bad input, nothing measured, a gate inside the noise or on a partial run,
    3 the judge is unhealthy.
    """
    with friendly():
        forms = ((html, html_report), (junit, junit_report), (markdown, markdown_report))
        wanted = [(path, form) for path, form in forms if path is not None]
        outputs = [path for path, _ in wanted]
        _refuse_to_overwrite(runs, outputs)
        told = _reported([read_run(path) for path in runs], _gates(gate, gates), allow_noisy=allow_noisy_gate)
        for path, form in wanted:
            write_text(path, form(told))
        if as_json:
            print_json(summary(told))
        else:
            _show(told, outputs)
        code = code_of_report(told)
    raise typer.Exit(code)


def html_report(told: Report) -> str:
    """The page; raises `UsageError` where its extra is missing."""
    try:
        from groundguard.evaluation.report import html  # noqa: PLC0415  # the extra may be missing
    except ModuleNotFoundError as error:
        raise _missing("a page", error) from error
    return html.html_report(told)


def junit_report(told: Report) -> str:
    """The XML; raises `UsageError` where its extra is missing."""
    try:
        from groundguard.evaluation.report import junit  # noqa: PLC0415  # the extra may be missing
    except ModuleNotFoundError as error:
        raise _missing("JUnit XML", error) from error
    return junit.junit_report(told)


def code_of_report(told: Report) -> int:
    """The exit code: gates on a part of a run were not held against all of it, so that they prove nothing."""
    if not told.health.is_well():
        return JUDGE_FAILED
    code = exit_code(told.figures, told.gates)
    return BAD_INPUT if not code and told.gates and not told.is_complete else code


def _missing(what: str, error: ModuleNotFoundError) -> UsageError:
    return UsageError(f"{what} needs {error.name}: pip install 'groundguard-rag[eval]'")


def _gates(flags: list[str] | None, file: Path | None) -> tuple[Gate, ...]:
    named = gate_options.parsed(flags or ())
    own = {(each.metric, each.bound) for each in named}
    read = () if file is None else gate_options.read(file)
    return (*(each for each in read if (each.metric, each.bound) not in own), *named)


def _reported(runs: list[Run], gates: tuple[Gate, ...], *, allow_noisy: bool) -> Report:
    last = runs[-1]
    results = held(gates, figures(last), repeats=last.pins.repeats, allow_noisy=allow_noisy)
    return report_on(runs, gates=results, calibrations=load(FOLDER))


def _refuse_to_overwrite(runs: list[Path], outputs: list[Path]) -> None:
    for place, path in enumerate(outputs):
        if path.resolve() in {run.resolve() for run in runs}:
            raise CommandError(f"{path} is one of the runs: write the report to another file")
        if path.resolve() in {other.resolve() for other in outputs[:place]}:
            raise CommandError(f"{path} is named twice: each form needs a file of its own")


def _show(told: Report, written: list[Path]) -> None:
    console, verdict = out(), headline(told)
    line(console, Text(verdict.title, COLOURS[verdict.mood]))
    for text in (verdict.words, completeness(told), trust(told)):
        paragraph(console, text, "", 0)
    for figure in told.figures:
        apart = f", unscored {unscored(figure)}" if figure.unscored else ""
        told_of = f"{metric_name(figure.metric)} {number(figure.value)} ({interval(figure)}, n {figure.n}{apart})"
        paragraph(console, told_of, "", 0)
    for held_ in told.gates:
        paragraph(console, f"{held_.outcome.value}  {held_.gate}: {held_.why}", "", 0)
    for path in written:
        paragraph(console, f"written: {path}", "dim", 0)
