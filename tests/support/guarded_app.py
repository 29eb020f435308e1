"""A guarded application: asked five things by its own retriever and generator, and one through a LangChain chain.

It runs in a process of its own, after the lines of a recipe that set the exporters up. Its models are behind
`support.chat.ChatServer`. It prints what each query came to, one JSON object a line.
"""

import json
import warnings
from contextlib import suppress

import openai
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough

from groundguard import Chunk, Guard
from groundguard.errors import GroundguardWarning
from groundguard.judges import FactCheck
from groundguard.models import OpenAIModel

warnings.simplefilter("ignore", GroundguardWarning)

QUESTIONS = (
    "Which voltage does the lamp need?",
    "Which voltage does the lamp need on Mars?",
    "Perhaps the lamp needs 12 volts?",
    "Who was king then?",
)

client = openai.OpenAI()
judge = FactCheck(OpenAIModel(client, "judge-model"))
shelf = [
    Chunk("The lamp runs on 12 volts.", id="lamp-1", source="https://example.com/lamp", score=0.75),
    Chunk("The lamp has a steel foot.", id="lamp-2", source="https://example.com/foot", score=0.5),
]


def search(question):
    if "broken" in question:
        raise LookupError("a message that holds content")
    return shelf if "lamp" in question else []


def write(question, chunks):
    said = client.chat.completions.create(model="writer", messages=[{"role": "user", "content": question}])
    return said.choices[0].message.content


class Shelf(BaseRetriever):
    """The same, as LangChain has it."""

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(chunk.text, id=chunk.id, metadata={"source": chunk.source}) for chunk in search(query)]


def by_chain(question):
    chain = RunnableParallel(context=Shelf(), question=RunnablePassthrough()).assign(
        answer=RunnableLambda(lambda given: write(given["question"], given["context"]))
    )
    return Guard(judge).wrap(chain).invoke(question)


def report(response):
    print(json.dumps({"status": response.status, "reason": response.reason}), flush=True)  # noqa: T201  # what the tests read


def main():
    guard = Guard(judge, retriever=search, generator=write)
    for question in QUESTIONS:
        report(guard.ask(question))
    with suppress(LookupError):
        guard.ask("Which lamp is broken?")
    report(by_chain("Which voltage does the lamp on the shelf need?"))


if __name__ == "__main__":
    main()
