"""An answer that is not supported is generated again, and if that doesn't help, cut down to what is supported."""

from groundguard import Guard
from groundguard.judges import Lexical
from groundguard.policy import Feedback, Prune, Regenerate, Replace

LAMP = "The Aldona lamp runs on 12 volts. It has a steel foot."


def retrieve(question: str) -> list[str]:
    return [LAMP] if "lamp" in question else []


def generate(question: str, chunks: tuple[object, ...], *, feedback: Feedback | None = None) -> str:
    if feedback is not None:  # put str(feedback) into the prompt of your model
        print("told:", *str(feedback).splitlines()[2:4])
        if "voltage" in question:
            return "The Aldona lamp runs on 12 volts."
    return "The Aldona lamp runs on 240 volts. It has a steel foot."


guard = Guard(
    Lexical(),
    retriever=retrieve,
    generator=generate,
    policy=Regenerate(1, then=Prune(then=Replace("I don't know.", skip_generator=True))),
)

for question in ("Which voltage does the lamp need?", "What is the lamp made of?", "What is the capital of Peru?"):
    response = guard.ask(question)
    print(f"{response.status:10}  {response.answer}")
    for attempt in response.attempts:
        print("  before:", attempt.generated, "- cut:" if attempt.removed else "", *attempt.removed)
