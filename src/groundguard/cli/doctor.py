"""`groundguard doctor`: is this judge fit to judge?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from groundguard.cli.advice import LEXICAL, advice
from groundguard.cli.cases import CASES, Case, Finding
from groundguard.cli.exits import FINE, JUDGE_FAILED, CommandError, friendly
from groundguard.cli.options import CLAIMS, Constrained, Timeout, judge_named
from groundguard.cli.show import cut, explained, line, out, paragraph
from groundguard.flow.drive import run
from groundguard.judges import judged
from groundguard.text import escaped

MUCH = 200
"""Characters of a raw reply that are shown."""


def doctor(
    *,
    judge: Annotated[str, typer.Option("--judge", metavar="JUDGE", help="Whom to examine: as for ask and check.")],
    constrained: Constrained = None,
    timeout: Timeout = 30.0,
) -> None:
    """Ask a judge six questions with known answers, show what it says, and say what to change.

    groundguard doctor --judge openai:NAME

    Exit codes: 0 healthy, 2 bad input, 3 not healthy.
    """
    with friendly():
        if not 0 < timeout < math.inf:
            raise CommandError(f"--timeout is a number of seconds above 0, not {timeout}")
        patient, console = judge_named(judge, constrained=constrained), out()
        line(console, Text(f"{patient.name} gets {len(CASES)} questions with known answers."))
        findings: list[Finding] = []
        for case in CASES:
            findings.append(Finding(case, run(judged(patient, case.exchange, timeout=timeout))))
            _show(console, findings[-1])
        healthy = _conclude(console, findings, patient.name, constrained=constrained)
    raise typer.Exit(FINE if healthy else JUDGE_FAILED)


def _show(console: Console, finding: Finding) -> None:
    console.print()
    mark, colour = _mark(finding)
    line(console, Text(mark, style=colour).append(f"  {finding.case.what}", "default"))
    paragraph(console, _said(finding), "", 2)
    if finding.was_read and not finding.was_right:
        paragraph(console, f"chunk: {finding.case.exchange.chunks[0].text}", "dim", 2)
        paragraph(console, f"answer: {finding.case.exchange.answer}", "dim", 2)
    if not finding.was_read:
        why = explained(finding.verdict.error_type, finding.verdict.detail or "")
        paragraph(console, f"{finding.verdict.reason}: {escaped(why)}", "dim", 2)


def _mark(finding: Finding) -> tuple[str, str]:
    if finding.was_right:
        return "right  ", "bold green"
    return ("wrong  ", "bold red") if finding.was_read else ("unread ", "bold yellow")


def _said(finding: Finding) -> str:
    right = _word(finding.case)
    if finding.verdict.raw is None:
        return f"verdict {finding.verdict.decision}, right is {finding.case.right}"
    return f'said "{cut(escaped(finding.verdict.raw), MUCH)}", right is {right}'


def _word(case: Case) -> str:
    return "yes" if case.right == "supported" else "no"


def _conclude(console: Console, findings: Sequence[Finding], judge: str, *, constrained: bool | None) -> bool:
    """Print the counts and the advice; returns whether all is well."""
    read, right = sum(f.was_read for f in findings), sum(f.was_right for f in findings)
    console.print()
    line(console, Text(f"{read} of {len(findings)} replies were verdicts, {right} were right."))
    healthy = right == len(findings)
    claims = judge.startswith(CLAIMS)
    sends_schema = claims if constrained is None else constrained
    told = LEXICAL if judge == "lexical" else advice(findings, constrained=sends_schema, claims=claims)
    line(console, Text(told, style="bold green" if healthy else "bold red"))
    return healthy
