"""`groundguard demo`: the three statuses, on the documents that come with the package."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from groundguard.cli.exits import friendly
from groundguard.cli.show import line, out, paragraph, show_answer, show_label
from groundguard.guard import Guard
from groundguard.judges import Lexical
from groundguard.policy import Return
from groundguard.quickstart import SAMPLES, BM25Retriever, ExtractiveGenerator, read_documents, split
from groundguard.records import Chunk

INVENTED = "Yes. You can return any lamp within 90 days of delivery, and we also refund the delivery fee."

NEXT = (
    'groundguard ask --docs FOLDER "A question"',
    'groundguard check --question "A question" --answer "An answer" --context FILE --judge openai:NAME',
)


def demo() -> None:
    """Show the three statuses on the help pages of a fictional shop: no key, no network."""
    with friendly(notes=False):
        console = out()
        quoting = Guard(
            Lexical(),
            retriever=BM25Retriever(split(read_documents(SAMPLES))),
            generator=ExtractiveGenerator(),
            policy=Return(skip_generator=True),
        )
        inventing = quoting.with_options(generator=_scripted)
        line(console, Text("Three questions to the help pages of Marlow & Finch, a fictional lamp shop."))
        _scene(
            console,
            1,
            quoting,
            "How many days do I have to return a lamp?",
            "The answer is quoted from the pages.",
        )
        _scene(
            console,
            2,
            inventing,
            "Can I return a lamp after two months, and is the delivery fee refunded?",
            "The answer is scripted: it is what a chatbot might have made up.",
        )
        _scene(
            console,
            3,
            quoting,
            "What is the capital of Portugal?",
            "The pages hold nothing on that, so nobody answers.",
        )
        _close(console)


def _scripted(question: str, chunks: Sequence[Chunk]) -> str:  # noqa: ARG001  # a generator's parameters
    return INVENTED


def _scene(console: Console, number: int, guard: Guard, question: str, how: str) -> None:
    response = guard.ask(question)
    console.print()
    line(console, Text(f"{number}  ").append(question, "bold cyan"))
    paragraph(console, how, "dim", 3)
    show_answer(console, response, 3)
    show_label(console, response, 3)
    if response.chunks:
        best = response.chunks[0]
        count = f"{len(response.chunks)} chunk{'' if len(response.chunks) == 1 else 's'}"
        paragraph(console, f"checked against {count}, first {best.source}", "dim", 3)


def _close(console: Console) -> None:
    console.print()
    paragraph(console, "The judge was lexical: it compares words, numbers and names, and asks no model.", "dim", 0)
    line(console, Text("Next, on texts of your own:"))
    for command in NEXT:
        line(console, Text(f"   {command}", style="bold"))
