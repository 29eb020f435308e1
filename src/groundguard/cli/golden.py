"""`groundguard golden`: look after a golden set."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer
from rich.text import Text

from groundguard.cli.exits import FINE, CommandError, friendly, tell
from groundguard.cli.golden_show import show_difference, show_findings
from groundguard.cli.show import line, out, paragraph, print_json
from groundguard.errors import InputError
from groundguard.evaluation import golden as sets
from groundguard.evaluation.golden import Finding, GoldenSet, Origin, Severity
from groundguard.evaluation.golden.importing import Format
from groundguard.evaluation.golden.reading import read
from groundguard.fields import plain

HELP = """\
Look after a golden set: questions with answers that a person has checked.

Try everything on a sample, with no key and no network:

    groundguard golden sample insurer

    groundguard golden lint insurer/golden.jsonl

Make one of your own, from scratch or from a file of ragas or deepeval:

    groundguard golden import testset.csv --output support.jsonl

    groundguard golden split support.jsonl --output support.jsonl --overwrite

    groundguard golden lock support.jsonl

Exit codes: 0 fine, 1 something was found, 2 bad input."""

FOUND = 1
"""The exit code of `lint` with an error or a warning, and of `diff` with a difference."""

app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A golden set, .jsonl or .yaml.", show_default=False)]
Output = Annotated[Path, typer.Option("--output", metavar="FILE", help="Where to write it: .jsonl or .yaml.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Write over --output if it exists.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@app.command()
def lint(file: File, *, as_json: AsJson = False) -> None:
    """Say what is wrong with a golden set as an instrument, and what to do about it.

    groundguard golden lint insurer/golden.jsonl

    Exit codes: 0 nothing but notes, 1 an error or a warning, 2 bad input.
    """
    with friendly():
        found = read(file)
        today = dt.date.today()  # noqa: DTZ011  # the day on the wall where the set was checked
        findings = (*_about_lock(found.golden, file), *sets.lint(found.golden, today=today, lines=found.lines))
        if as_json:
            print_json(_told(found.golden) | {"findings": plain(findings)})
        else:
            show_findings(found.golden, findings)
    raise typer.Exit(FINE if all(finding.severity is Severity.NOTE for finding in findings) else FOUND)


@app.command()
def lock(file: File, *, as_json: AsJson = False) -> None:
    """Note which items belong to the set's version, so that nobody changes them unseen.

    groundguard golden lock insurer/golden.jsonl

    Writes insurer/golden.lock.json; keep it with the set. If the items changed and the version did not, that is an
    error: give the set a new version.

    Exit codes: 0 locked, 2 bad input or items that changed.
    """
    with friendly():
        golden = sets.load(file)
        is_new = sets.lock(golden, file)
        where = sets.lock_path(file)
        if as_json:
            print_json(_told(golden) | {"lock": str(where), "new": is_new})
        else:
            done = "locked" if is_new else "was locked already, unchanged:"
            paragraph(out(), f"{done} {golden.name} {golden.version} ({len(golden.items)} items) in {where}", "", 0)


@app.command()
def split(
    file: File,
    *,
    output: Output,
    heldout: Annotated[float, typer.Option("--heldout", metavar="SHARE", help="The share to hold out.")] = 0.5,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Another seed, another choice.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Decide anew on items that have a split.")] = False,
    version: Annotated[str | None, typer.Option("--version", metavar="VERSION", help="The new set's version.")] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Hold a part of the items out: the same one every time, with the same share of every tag and of refusals.

    groundguard golden split support.jsonl --version 2 --output support.jsonl --overwrite

    Questions that are nearly the same stay together. Items that have a split keep it, unless --force.

    Exit codes: 0 written, 2 bad input.
    """
    with friendly():
        _may_write(output, overwrite=overwrite)
        before = sets.load(file)
        after = sets.split(before, heldout=heldout, seed=seed, force=force)
        golden = after if version is None else GoldenSet(before.name, version, after.items, before.description)
        sets.dump(golden, output)
        _note_version(before, golden)
        _say_written(golden, output, as_json=as_json)


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The older set.", show_default=False)],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The newer set.", show_default=False)],
    *,
    as_json: AsJson = False,
) -> None:
    """Say what changed between two golden sets, item by item; their order is nothing.

    groundguard golden diff support-1.jsonl support-2.yaml

    Exit codes: 0 the same, 1 something changed, 2 bad input.
    """
    with friendly():
        before, after = sets.load(old), sets.load(new)
        found = sets.difference(before, after)
        if as_json:
            print_json(plain(found) | {"needs_version": found.needs_version})
        else:
            show_difference(found)
    raise typer.Exit(FOUND if found else FINE)


@app.command(name="import")
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Of ragas or deepeval: .csv, .jsonl or .json.", show_default=False)
    ],
    *,
    output: Output,
    name: Annotated[str | None, typer.Option("--name", help="The set's name; by default that of --output.")] = None,
    version: Annotated[str, typer.Option("--version", metavar="VERSION", help="The set's version.")] = "1",
    format_: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="ragas or deepeval, if the columns don't tell.")
    ] = None,
    delimiter: Annotated[
        str, typer.Option("--delimiter", metavar="TEXT", help="Between the contexts in one cell of deepeval's.")
    ] = "|",
    origin: Annotated[
        Origin | None, typer.Option("--origin", help="Who wrote the items, if the file doesn't tell.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Make a golden set of another tool's file. Nobody has verified its items yet: lint says so.

    groundguard golden import testset.csv --output support.jsonl

    groundguard golden import goldens.json --format deepeval --output support.yaml

    What a pipeline retrieved or answered is no ground truth and is left out.

    Exit codes: 0 written, 2 bad input.
    """
    with friendly():
        _may_write(output, overwrite=overwrite)
        found = sets.import_file(
            file,
            name=name or output.stem,
            version=version,
            format=_format(format_),
            delimiter=delimiter,
            origin=origin,
        )
        sets.dump(found.golden, output)
        if found.left_out:
            tell(f"note: read as {found.format}; left out: {', '.join(found.left_out)}")
        _say_written(found.golden, output, as_json=as_json, format=found.format, left_out=list(found.left_out))


@app.command()
def sample(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.", show_default=False)],
    *,
    as_json: AsJson = False,
) -> None:
    """Write a golden set to try everything on: 60 questions to a fictional insurer, its documents, and a chain.

    groundguard golden sample insurer

    The chain stands in insurer/chain.py: `good`, and a copy with each of five faults for a metric to find.

    Exit codes: 0 written, 2 bad input.
    """
    with friendly():
        file = sets.write_sample(folder)
        if as_json:
            print_json(_told(sets.load(file)) | {"file": str(file)})
            return
        console = out()
        paragraph(console, f"{folder} holds golden.jsonl with 60 items, documents/ and chain.py. Next:", "", 0)
        for command in (
            f"cd {folder}",
            "groundguard golden lint golden.jsonl",
            "groundguard eval golden.jsonl --target chain:good",
            "groundguard eval golden.jsonl --target chain:invents",
        ):
            line(console, Text(f"   {command}", style="bold"))


def _about_lock(golden: GoldenSet, file: Path) -> tuple[Finding, ...]:
    """What the lock says, if there is one."""
    where = sets.lock_path(file)
    if not where.exists():
        advice = f"run `groundguard golden lock {file}`"
        return (Finding(Severity.NOTE, "not-locked", "nothing holds the items to their version", advice),)
    try:
        sets.verify(golden, file)
    except InputError as error:
        return (Finding(Severity.ERROR, "lock", str(error), f"see {where}"),)
    return ()


def _say_written(golden: GoldenSet, output: Path, *, as_json: bool, **more: Any) -> None:
    sides = Counter(item.split.value if item.split else "unsplit" for item in golden.items)
    if as_json:
        print_json(_told(golden) | {"file": str(output), "splits": dict(sorted(sides.items()))} | more)
        return
    told = ", ".join(f"{count} {side}" for side, count in sorted(sides.items()))
    paragraph(out(), f"{output}: {golden.name} {golden.version}, {len(golden.items)} items ({told})", "", 0)


def _note_version(before: GoldenSet, after: GoldenSet) -> None:
    if before.content_hash != after.content_hash and before.version == after.version:
        tell(f"note: the items changed, and the version is still {after.version!r}: --version gives them a new one")


def _told(golden: GoldenSet) -> dict[str, Any]:
    return {
        "name": golden.name,
        "version": golden.version,
        "items": len(golden.items),
        "content_hash": golden.content_hash,
    }


def _may_write(output: Path, *, overwrite: bool) -> None:
    if output.exists() and not overwrite:
        raise CommandError(f"{output} exists: name another file, or add --overwrite")


def _format(name: str | None) -> Format | None:
    if name is not None and name not in get_args(Format):
        raise CommandError(f"--format is {' or '.join(map(repr, get_args(Format)))}, not {name!r}")
    return cast("Format | None", name)
