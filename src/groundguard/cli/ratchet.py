"""`groundguard ratchet`: whether recent runs bear a higher gate."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from groundguard.cli.exits import CommandError, friendly
from groundguard.cli.show import out, paragraph, print_json
from groundguard.evaluation.gates.gates import Gate
from groundguard.evaluation.gates.options import parsed, read
from groundguard.evaluation.gates.ratchet import RECENT, STEP, Proposal, propose
from groundguard.evaluation.results import Run
from groundguard.evaluation.runner.files import read_run


def ratchet(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Runs, as `groundguard eval` writes them.")],
    *,
    gate: Annotated[
        list[str] | None,
        typer.Option("--gate", metavar="GATE", help="A gate as it is now, such as faithfulness=0.7; repeat for more."),
    ] = None,
    gates: Annotated[
        Path | None,
        typer.Option(
            "--gates", metavar="FILE", help="A TOML file instead, with a table [gates] or [tool.groundguard.gates]."
        ),
    ] = None,
    step: Annotated[float, typer.Option("--step", metavar="S", help="How much higher.")] = STEP,
    recent: Annotated[
        int, typer.Option("--recent", metavar="N", min=1, help="How many of the last runs must bear it.")
    ] = RECENT,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as one JSON document.")] = False,
) -> None:
    """Propose higher gates where the lower bound of every recent run is above them; changes nothing itself.

    groundguard ratchet runs/*.json --gate faithfulness=0.7

    groundguard ratchet runs/*.json --gates pyproject.toml --step 0.05

    Exit codes: 0 fine, with a proposal or without, 2 bad input.
    """
    with friendly():
        asked = _gates(gate, gates)
        measured = sorted(map(read_run, runs), key=lambda run: run.started)
        if len(set(map(_identity, measured))) < len(measured):
            raise CommandError("one run is given more than once, be it as a copy: each counts once")
        proposals = [propose(each, measured, step=step, recent=recent) for each in asked]
        if as_json:
            print_json({"proposals": [proposal.to_dict() for proposal in proposals]})
        else:
            for proposal in proposals:
                _show(proposal)


def _identity(run: Run) -> bytes:
    """What a run holds, when it began included: a copy of its file holds the same, whatever it is called."""
    digest = hashlib.sha256()
    for line in run.lines():
        digest.update(line.encode("ascii"))
    return digest.digest()


def _gates(flags: list[str] | None, file: Path | None) -> tuple[Gate, ...]:
    if bool(flags) == (file is not None):
        raise CommandError("ratchet needs the gates as they are: --gate faithfulness=0.7, or --gates FILE")
    return read(file) if file is not None else parsed(flags or ())


def _show(proposal: Proposal) -> None:
    if proposal.proposed is None:
        paragraph(out(), f"{proposal.gate}: stays. {proposal.why}", "", 0)
    else:
        paragraph(out(), f"{proposal.gate}: propose {proposal.proposed}. {proposal.why}", "green", 0)
