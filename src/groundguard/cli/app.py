"""The commands put together."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from groundguard.cli.ask import ask
from groundguard.cli.calibrate import calibrate_judge
from groundguard.cli.check import check
from groundguard.cli.compare import compare_runs
from groundguard.cli.demo import demo
from groundguard.cli.doctor import doctor
from groundguard.cli.evaluate import evaluate
from groundguard.cli.golden import app as golden
from groundguard.cli.ratchet import ratchet
from groundguard.cli.report import report

HELP = """\
Labels every answer of a RAG pipeline: answered, ungrounded or no_context.

Start here, with no key and no network:

    groundguard demo

    groundguard ask --docs ./docs "How long is the warranty?"

Judge an answer that your own pipeline gave:

    groundguard check --question "How long?" --answer "Two years." --context warranty.md

    groundguard check --input answers.jsonl --output labels.jsonl

Have a model judge (any OpenAI-compatible server, by OPENAI_BASE_URL and OPENAI_API_KEY):

    groundguard doctor --judge openai:NAME

    groundguard ask --docs ./docs --judge openai:NAME "How long is the warranty?"

Measure it on questions with known answers:

    groundguard golden sample insurer && cd insurer

    groundguard eval golden.jsonl --target chain:good --output run.json

Exit codes of ask and check: 0 answered, 1 not answered, 2 bad input or no answer, 3 the judge failed."""

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (ask, check, doctor, demo):
    app.command()(command)
app.command("eval")(evaluate)
app.add_typer(golden, name="golden")
app.command("compare")(compare_runs)
app.command("calibrate")(calibrate_judge)
app.command("ratchet")(ratchet)
app.command("report")(report)


def _show_version(value: bool) -> None:  # noqa: FBT001  # typer calls it so
    if not value:
        return
    try:
        typer.echo(f"groundguard {version('groundguard-rag')}")
    except PackageNotFoundError:
        typer.echo("groundguard (run from its source, not installed)")
    raise typer.Exit


@app.callback()
def root(
    *,
    show_version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version.",
            is_eager=True,
            callback=_show_version,
        ),
    ] = False,
) -> None:
    """What stands before a command."""
