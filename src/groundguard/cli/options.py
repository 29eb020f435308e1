"""The options that several commands share, and what they stand for."""

from __future__ import annotations

from typing import Annotated

import typer

from groundguard.cli.exits import CommandError, tell
from groundguard.judges import Claims, FactCheck, Judge, Lexical

JudgeName = Annotated[
    str,
    typer.Option(
        "--judge",
        metavar="JUDGE",
        help="Who decides: 'lexical' compares words, 'openai:NAME' asks a model for one word on the whole answer,"
        " 'claims:openai:NAME' for a verdict on every statement.",
    ),
]
Constrained = Annotated[
    bool | None,
    typer.Option(
        "--constrained/--no-constrained",
        help="Make the server allow nothing but a verdict (JSON schema). Without either, only 'claims:' does.",
        show_default=False,
    ),
]
Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", help="For one judgement; for the writing of one answer too.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the whole response as one JSON document.")]

CLAIMS = "claims:"
"""What `--judge` begins with where every statement gets a verdict of its own."""

LEXICAL_HINT = "lexical, which compares words and understands nothing; --judge openai:NAME has a model read them"


def judge_named(name: str, *, constrained: bool | None = None) -> Judge:
    """The judge that `--judge` names.

    Raises:
        CommandError: if it names none.
        UsageError: if the environment lacks what it needs.
    """
    if name == "lexical":
        if constrained:
            raise CommandError("--constrained is for a model: add --judge openai:NAME")
        return Lexical()
    if name.startswith("openai:"):
        return FactCheck(name, constrained=bool(constrained))
    if name.startswith(CLAIMS):
        return Claims(name.removeprefix(CLAIMS), constrained=constrained)
    raise CommandError(f"--judge is 'lexical', 'openai:NAME' or 'claims:openai:NAME', not {name!r}")


def judged_by(judge: Judge) -> str:
    """The judge's name, and what it is not."""
    return LEXICAL_HINT if judge.name == "lexical" else judge.name


def note_judge(judge: Judge) -> None:
    """Say on stderr that nobody reads, where stdout is for programs."""
    if judge.name == "lexical":
        tell(f"note: judged by {judged_by(judge)}")
