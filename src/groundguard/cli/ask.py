"""`groundguard ask`: a question to a folder of documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from groundguard.cli.exits import CommandError, code_of, friendly
from groundguard.cli.options import AsJson, Constrained, JudgeName, Timeout, judge_named
from groundguard.cli.show import cut, print_json, show_response
from groundguard.guard import Guard
from groundguard.policy import Return
from groundguard.quickstart import BM25Retriever, ExtractiveGenerator, ModelGenerator, read_documents, split
from groundguard.records import Chunk, Response

Generator = Callable[[str, Sequence[Chunk]], str]

LEXICAL_HINT = "lexical, which compares words, numbers and names; --judge openai:NAME asks a model"


def ask(  # one parameter an option
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.")],
    *,
    docs: Annotated[str, typer.Option("--docs", metavar="PATH", help="A folder of .md and .txt files, or one file.")],
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="openai:NAME", help="Who writes the answer. Without it, sentences are quoted."),
    ] = None,
    judge: JudgeName = "lexical",
    constrained: Constrained = False,
    top_k: Annotated[int, typer.Option("--top-k", min=1, metavar="N", help="How many chunks to retrieve.")] = 4,
    timeout: Timeout = 30.0,
    as_json: AsJson = False,
) -> None:
    """Answer a question from documents, and say whether the answer is grounded in them.

    groundguard ask --docs ./docs "How long is the warranty?"

    Exit codes: 0 answered, 1 ungrounded or no_context, 2 bad input, 3 the judge failed.
    """
    with friendly():
        guard = Guard(
            judge_named(judge, constrained=constrained),
            retriever=BM25Retriever(split(read_documents(docs)), k=top_k),
            generator=_generator(model),
            policy=Return(skip_generator=True),
            timeout=timeout,
        )
        response = guard.ask(question)
        present(response, guard, as_json=as_json)
    raise typer.Exit(code_of(response))


def present(response: Response[Any], guard: Guard, *, as_json: bool) -> None:
    """Print a response, for a program or for a person."""
    if as_json:
        print_json(response.to_dict())
    else:
        show_response(response, LEXICAL_HINT if guard.judge.name == "lexical" else guard.judge.name)


def _generator(model: str | None) -> Generator:
    if model is None:
        return ExtractiveGenerator()
    generator = ModelGenerator(model)

    def answer(question: str, chunks: Sequence[Chunk]) -> str:
        try:
            return generator(question, chunks)
        except Exception as error:
            raise CommandError(f"{model} could not answer: {type(error).__name__}: {cut(str(error))}") from error

    return answer
