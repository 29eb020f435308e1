"""An answer in pieces: the pieces pass through, and the labelled response is the last item."""

from collections.abc import Iterator

from groundguard import Guard, Response, record_chunks
from groundguard.judges import Lexical
from groundguard.policy import Replace

CHUNK = "The Aldona lamp runs on 12 volts."


def answer(question: str) -> Iterator[str]:
    record_chunks([CHUNK])
    yield "It runs "
    yield "on 240 volts."


guard = Guard(Lexical())
held = guard.with_options(policy=Replace("Better ask an electrician."))

for name, stream in (("pieces first", guard(answer)), ("held until the status is known", held(answer))):
    print(f"{name}:")
    for item in stream("What voltage does the lamp need?"):
        print("  ", item.status if isinstance(item, Response) else repr(item))
