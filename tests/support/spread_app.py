"""What a worker builds for itself: a target and a panel without a model, and a pipeline that fails now and then."""

from __future__ import annotations

from groundguard import Guard
from groundguard.evaluation.golden.items import GoldenItem, GoldenSet
from groundguard.evaluation.panel import ContextRecall, Faithfulness
from groundguard.judges import FactCheck, Lexical
from groundguard.models import Reply
from groundguard.records import Usage


def golden(items: int = 40) -> GoldenSet:
    """Items of which some are answered wrongly, and some not at all."""
    made = (
        GoldenItem(f"item {n}", f"What is number {n}?", answer=f"Number {n} is red.", chunk_ids=(f"c{n}",))
        for n in range(items)
    )
    return GoldenSet("spread", "1", tuple(made))


def pipeline(question: str):
    """Answer, with the chunk that it stands in."""
    number = int(question.rstrip("?").split()[-1])
    if number % 9 == 4:
        raise LookupError(number)
    colour = "blue" if number % 5 == 2 else "red"
    return f"Number {number} is {colour}.", [{"id": f"c{number}", "text": f"Number {number} is red."}]


def setup(judge: str = "lexical"):
    """The target and the panel."""
    chosen = {"model": FactCheck(model), "lexical": Lexical(), "down": FactCheck(down)}[judge]
    return Guard(chosen)(pipeline), [Faithfulness(chosen), ContextRecall()]


def model(prompt: str) -> Reply:
    """A judge that says yes, and what it took."""
    return Reply("yes", "stop", usage=Usage(len(prompt), 1), model="fake")


def down(prompt: str) -> Reply:
    """A judge that can't be reached."""
    raise ConnectionError


def wrong():
    """No pair."""
    return "no pair"


def broken():
    """A target that is wired wrong: it returns no response."""
    return (lambda question: question), [Faithfulness(Lexical())]
