"""An answer in pieces: when they leave is a choice, and the labelled response is always the last item."""

from collections.abc import Iterator

from groundguard import Guard, Response
from groundguard.judges import Lexical
from groundguard.policy import Replace

CHUNK = "The Aldona lamp runs on 12 volts. It has a steel foot."


def retrieve(question: str) -> list[str]:
    return [CHUNK]


def generate(question: str, chunks: object) -> Iterator[str]:
    yield "It has a steel "
    yield "foot. It runs "
    yield "on 240 volts."


guard = Guard(Lexical(), retriever=retrieve, generator=generate)
held = guard.with_options(policy=Replace("Better ask an electrician."))
gated = guard.with_options(streaming="gate")

for name, guarded in (
    ("pieces first", guard),
    ("held until the status is known", held),
    ("statements that are supported (experimental)", gated),
):
    print(f"{name}:")
    for item in guarded.stream("What is the lamp like?"):
        print("  ", item.status if isinstance(item, Response) else repr(item))
