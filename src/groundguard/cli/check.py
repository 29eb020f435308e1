"""`groundguard check`: judge answers that exist already, one or many."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from groundguard.cli.ask import present
from groundguard.cli.exits import CommandError, code_of, friendly
from groundguard.cli.many import check_file
from groundguard.cli.options import AsJson, Constrained, JudgeName, Timeout, judge_named
from groundguard.errors import InputError
from groundguard.guard import Guard
from groundguard.records import Chunk

AT_ONCE = 8
"""How many lines of a file are judged at once unless told."""


def check(  # one parameter an option
    *,
    question: Annotated[str | None, typer.Option("--question", metavar="TEXT", help="The question.")] = None,
    answer: Annotated[
        str | None,
        typer.Option("--answer", metavar="TEXT|@FILE", help="The answer; @FILE reads it, @- from stdin."),
    ] = None,
    context: Annotated[
        list[str] | None,
        typer.Option("--context", metavar="FILE", help="A chunk that the answer was made from; repeat for more."),
    ] = None,
    input_: Annotated[
        str | None,
        typer.Option(
            "--input",
            metavar="FILE",
            help="Many: a JSON object a line: question, chunks, answer. - is stdin.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", metavar="FILE", help="With --input: a response a line. - is stdout, the default."),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            metavar="N",
            min=1,
            help=f"With --input: how many lines are judged at once; {AT_ONCE} by default.",
        ),
    ] = None,
    judge: JudgeName = "lexical",
    constrained: Constrained = None,
    timeout: Timeout = 30.0,
    as_json: AsJson = False,
) -> None:
    """Judge an answer against the chunks it was made from; with --input, a file of them.

    groundguard check --question "How long?" --answer "Two years." --context warranty.md

    groundguard check --input answers.jsonl --output labels.jsonl

    Exit codes: 0 answered, 1 ungrounded or no_context, 2 bad input, 3 the judge failed. With --input, 2 if any line is
    bad, else 3 if the judge failed on any, else 1 if any is not answered.
    """
    with friendly():
        guard = Guard(judge_named(judge, constrained=constrained), timeout=timeout)
        if input_ is not None:
            _refuse("goes without --input", question=question, answer=answer, context=context)
            code = check_file(guard, input_, output or "-", concurrency or AT_ONCE)
        else:
            _refuse("goes with --input", output=output, concurrency=concurrency)
            if question is None or answer is None or not context:
                raise CommandError("check needs --question, --answer and --context, or --input")
            _read_stdin_once(answer, context)
            chunks = [Chunk(_read(name), source="stdin" if name == "-" else name) for name in context]
            response = guard.check(question, answer=_answer(answer), chunks=chunks)
            present(response, guard, as_json=as_json)
            code = code_of(response)
    raise typer.Exit(code)


def _refuse(why: str, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise CommandError(f"--{name} {why}")


def _read_stdin_once(answer: str, context: list[str]) -> None:
    if [answer == "@-", *(name == "-" for name in context)].count(True) > 1:
        raise CommandError("stdin can be read only once: give --answer @- or one --context -")


def _answer(text: str) -> str:
    return _read(text[1:]).removesuffix("\n") if text.startswith("@") else text


def _read(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"can't read {name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 text (byte {error.start}): save it as UTF-8 and try again") from error
