"""Haystack end to end: the recipes of `docs/chains.md` on real pipelines, over a scripted generator."""

# ruff: noqa: UP006, UP035  # Haystack 2 tells List from list, and doesn't read annotations that are strings

import asyncio
from functools import partial
from typing import Any, List

import pytest

pytest.importorskip("haystack")

from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from groundguard import Guard, Reason, Response, Status, UngroundedError, record_chunks
from groundguard.errors import UsageError
from groundguard.policy import Raise
from groundguard.records import ChunksFrom
from groundguard.testing import ScriptedJudge
from support.doors import Door, both_doors

if not hasattr(Pipeline, "run_async"):  # Haystack 2 has a class of its own for it
    from haystack import AsyncPipeline as Pipeline  # type: ignore[assignment, attr-defined, no-redef]

QUESTION = "What voltage does the Aldona lamp need?"
ANSWER = "It runs on 12 volts."
LAMP, CORD = "The Aldona lamp runs on 12 volts.", "The cord of the lamp is 2 metres long."
TEMPLATE = "{% for document in documents %}{{ document.content }}\n{% endfor %}Question: {{ question }}"


@component
class Writer:
    """The generator: says the same to every prompt, and remembers the prompts."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    @component.output_types(replies=List[str])
    def run(self, prompt: str) -> dict[str, Any]:
        self.prompts.append(prompt)
        return {"replies": [ANSWER]}


@component
class Shortest:
    """A ranker: keeps the shortest document."""

    @component.output_types(documents=List[Document])
    def run(self, documents: List[Document]) -> dict[str, Any]:
        return {"documents": sorted(documents, key=lambda document: len(document.content or ""))[:1]}


@component
class Recording:
    """A ranker that reports what it passes on."""

    @component.output_types(documents=List[Document])
    def run(self, documents: List[Document]) -> dict[str, Any]:
        record_chunks(documents)
        return {"documents": documents}


def pipeline(ranker: Any, texts: tuple[str, ...] = (LAMP, CORD)) -> Any:
    store = InMemoryDocumentStore()
    store.write_documents([Document(content=text, id=str(place)) for place, text in enumerate(texts)])
    built = Pipeline()
    built.add_component("retriever", InMemoryBM25Retriever(store, top_k=2))
    built.add_component("ranker", ranker)
    built.add_component("prompt", PromptBuilder(TEMPLATE, required_variables="*"))
    built.add_component("writer", Writer())
    built.connect("retriever.documents", "ranker.documents")
    built.connect("ranker.documents", "prompt.documents")
    built.connect("prompt.prompt", "writer.prompt")
    return built


def prompt(built: Any) -> str:
    """The one prompt that the generator saw."""
    (seen,) = built.get_component("writer").prompts
    return seen


def data(question: str = QUESTION) -> dict[str, Any]:
    return {"retriever": {"query": question}, "prompt": {"question": question}}


def running(built: Any, door: Door) -> Any:
    return partial(built.run_async if door.is_async else built.run, include_outputs_from={"ranker"})


def wrapped(guard: Guard, built: Any, door: Door) -> Any:
    """The recipe: the one call that was there, guarded, and where it keeps what."""
    return guard.wrap(
        running(built, door),
        question=lambda data: data["retriever"]["query"],
        chunks=lambda output: output["ranker"]["documents"],
        answer=lambda output: output["writer"]["replies"][0],
    )


@both_doors
def test_wrapped_with_selectors(door: Door) -> None:
    built, judge = pipeline(Shortest()), ScriptedJudge(True)
    response = door.call(wrapped(Guard(judge), built, door), data())

    assert (response.status, response.answer, response.question) == (Status.ANSWERED, ANSWER, QUESTION)
    assert (response.chunks_from, response.chunks_exact) == (ChunksFrom.OUTPUT, True)
    assert response.output["writer"]["replies"] == [ANSWER]
    (chunk,) = response.chunks
    assert prompt(built) == f"{chunk.text}\nQuestion: {QUESTION}"
    assert chunk.id in {"0", "1"}
    assert judge.exchanges[0].chunks is response.chunks


@both_doors
def test_nothing_found(door: Door) -> None:
    judge = ScriptedJudge(True)
    response = door.call(wrapped(Guard(judge), pipeline(Shortest(), ()), door), data())

    assert (response.status, response.reason, response.answer) == (Status.NO_CONTEXT, Reason.NO_CHUNKS, ANSWER)
    assert judge.exchanges == []


@both_doors
def test_a_component_that_is_not_among_the_outputs_is_told(door: Door) -> None:
    guarded = Guard(ScriptedJudge(True)).wrap(
        pipeline(Shortest()).run_async if door.is_async else pipeline(Shortest()).run,
        question=lambda data: data["retriever"]["query"],
        chunks="documents",
        answer=lambda output: output["writer"]["replies"][0],
    )
    with pytest.raises(UsageError, match="has no 'documents' to take the chunks from"):
        door.call(guarded, data())


@both_doors
def test_decorated(door: Door) -> None:
    built = pipeline(Shortest())
    guard = Guard(ScriptedJudge(False), policy=Raise())

    def found(output: dict[str, Any]) -> tuple[str, list[Document]]:
        return output["writer"]["replies"][0], output["ranker"]["documents"]

    @guard
    def ask(question: str) -> tuple[str, list[Document]]:
        return found(built.run(data(question), include_outputs_from={"ranker"}))

    @guard
    async def aask(question: str) -> tuple[str, list[Document]]:
        return found(await built.run_async(data(question), include_outputs_from={"ranker"}))

    with pytest.raises(UngroundedError) as caught:
        door.call(aask if door.is_async else ask, QUESTION)
    response = caught.value.response
    assert (response.status, response.chunks_from) == (Status.UNGROUNDED, ChunksFrom.RETURNED)
    assert prompt(built).startswith(response.chunks[0].text)


@both_doors
def test_recorded_inside_a_component(door: Door) -> None:
    built = pipeline(Recording())
    guarded = Guard(ScriptedJudge(True)).wrap(
        running(built, door),
        question=lambda data: data["retriever"]["query"],
        answer=lambda output: output["writer"]["replies"][0],
    )
    response = door.call(guarded, data())

    assert (response.status, response.chunks_from) == (Status.ANSWERED, ChunksFrom.RECORDED)
    assert prompt(built).startswith("\n".join(chunk.text for chunk in response.chunks))


def test_one_pipeline_for_many_tasks() -> None:
    guard = Guard(lambda exchange: exchange.chunks[0].text.startswith(exchange.question))
    texts = [f"zebra{number} lives in house number {number}" for number in range(12)]
    guarded = wrapped(guard, pipeline(Recording(), tuple(texts)), Door(is_async=True))

    async def main() -> list[Response[Any]]:
        return await asyncio.gather(*(guarded(data(f"zebra{number}")) for number in range(12)))

    assert {response.status for response in asyncio.run(main())} == {Status.ANSWERED}
