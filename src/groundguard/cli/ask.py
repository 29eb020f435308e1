"""`groundguard ask`: a question to a folder of documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from groundguard.cli.exits import CommandError, code_of, friendly
from groundguard.cli.options import AsJson, Constrained, JudgeName, Timeout, judge_named, judged_by, note_judge
from groundguard.cli.show import explained, print_json, show_response
from groundguard.flow.steps import OutOfTimeError
from groundguard.guard import Guard
from groundguard.models.failures import failure_of
from groundguard.policy import Return
from groundguard.quickstart import BM25Retriever, ExtractiveGenerator, ModelGenerator, read_documents, split
from groundguard.records import Chunk, Reason, Response
from groundguard.text import is_blank

Generator = Callable[[str, Sequence[Chunk]], str]


def ask(  # one parameter an option
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.")],
    *,
    docs: Annotated[str, typer.Option("--docs", metavar="PATH", help="A folder of .md and .txt files, or one file.")],
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="openai:NAME", help="Who writes the answer. Without it, sentences are quoted."),
    ] = None,
    judge: JudgeName = "lexical",
    constrained: Constrained = None,
    top_k: Annotated[int, typer.Option("--top-k", min=1, metavar="N", help="How many chunks to retrieve.")] = 4,
    timeout: Timeout = 30.0,
    as_json: AsJson = False,
) -> None:
    """Answer a question from documents, and say whether the answer is grounded in them.

    groundguard ask --docs ./docs "How long is the warranty?"

    Exit codes: 0 answered, 1 ungrounded or no_context, 2 bad input, or no answer could be written, 3 the judge
    failed.
    """
    with friendly():
        if is_blank(question):
            raise CommandError("the question is blank")
        guard = Guard(
            judge_named(judge, constrained=constrained),
            retriever=BM25Retriever(split(read_documents(docs)), k=top_k),
            generator=_generator(model, timeout),
            policy=Return(skip_generator=True),
            timeout=timeout,
        )
        response = guard.ask(question)
        present(response, guard, as_json=as_json, quoted=model is None)
    raise typer.Exit(code_of(response))


def present(response: Response[Any], guard: Guard, *, as_json: bool, quoted: bool = False) -> None:
    """Print a response, for a program or for a person."""
    if not as_json:
        show_response(response, judged_by(guard.judge), quoted=quoted)
        return
    if response.verdict is not None:
        note_judge(guard.judge)
    print_json(response.to_dict())


def _generator(model: str | None, timeout: float) -> Generator:
    if model is None:
        return ExtractiveGenerator()
    generator = ModelGenerator(model, timeout=timeout)

    def answer(question: str, chunks: Sequence[Chunk]) -> str:
        try:
            return generator(question, chunks)
        except Exception as error:
            raise CommandError(f"{model} could not answer: {_why(error, timeout)}") from error

    return answer


def _why(error: Exception, timeout: float) -> str:
    if isinstance(error, OutOfTimeError) or failure_of(error).reason is Reason.JUDGE_TIMEOUT:
        return f"no answer within {timeout:g} s; --timeout gives it more time"
    name = type(error).__name__
    return explained(name, f"{name}: {error}")
