"""A retriever and a generator that are plain functions, and a judge that needs no model."""

from groundguard import Guard
from groundguard.judges import Lexical

DOCUMENTS = {
    "refund": "Refunds are paid within 14 days of the return.",
    "warranty": "The warranty covers every lamp for two years.",
}


def retrieve(question: str) -> list[str]:
    return [text for word, text in DOCUMENTS.items() if word in question.lower()]


def generate(question: str, chunks: tuple[object, ...]) -> str:
    if "invent" in question:
        return "Refunds are paid within 90 days, in gold."
    return " ".join(map(str, chunks)) or "No idea, sorry."


guard = Guard(Lexical(), retriever=retrieve, generator=generate)

for question in ("How long does a refund take?", "Please invent a refund policy.", "What is the capital of Peru?"):
    response = guard.ask(question)
    print(f"{response.status:10}  {response.reason:11}  {response.answer}")
