"""What chains are made of, without a network: a model that keeps its prompts, retrievers, and what the prompts held."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever

from groundguard import Response

QUESTION = "Which voltage does the lamp need?"
LAMP = "The lamp runs on 12 volts."
ANSWER = "It runs on 12 volts."

SEPARATOR = "\n===\n"
PROMPT = ChatPromptTemplate.from_template("<<{context}>>\n\n{question}")


class Writer(BaseChatModel):
    """Says what it is told to, message by message and then the last one again.

    Attributes:
        says: What it says.
        prompts: The texts it was asked with.
        tools: What the tools' messages among them said.
        closed: How its streams came to an end.
    """

    says: list[Any]
    prompts: list[str]
    tools: list[list[str]]
    closed: list[str]

    def __init__(self, *says: Any, **fields: Any) -> None:
        super().__init__(says=list(says or (ANSWER,)), prompts=[], tools=[], closed=[], **fields)

    @property
    def _llm_type(self) -> str:
        return "writer"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _next(self, messages: list[Any]) -> AIMessage:
        said = self.says[min(len(self.prompts), len(self.says) - 1)]
        self.prompts.append("\n".join(str(message.content) for message in messages))
        self.tools.append([message.text for message in messages if message.type == "tool"])
        return said.model_copy() if isinstance(said, AIMessage) else AIMessage(said)

    def _generate(self, messages: list[Any], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _stream(
        self, messages: list[Any], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        message = self._next(messages)
        ended = "closed early"
        try:
            for word in message.text.split(" "):
                chunk = ChatGenerationChunk(
                    message=AIMessageChunk(word if word == message.text.split(" ")[0] else " " + word)
                )
                if run_manager:
                    run_manager.on_llm_new_token(str(chunk.message.content), chunk=chunk)
                yield chunk
            if message.tool_calls:
                calls = [
                    {
                        "type": "tool_call_chunk",
                        "name": call["name"],
                        "args": '{"query": "lamp"}',
                        "id": call["id"],
                        "index": 0,
                    }
                    for call in message.tool_calls
                ]
                yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=calls))
            ended = "ended"
        finally:
            self.closed.append(ended)


class Retriever(BaseRetriever):
    """Finds the same texts for every query, after a while."""

    texts: Any = (LAMP,)
    seconds: float = 0
    error: Any = None

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        if self.error:
            raise self.error
        return [Document(text) for text in self.texts]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        await asyncio.sleep(self.seconds)
        return self._get_relevant_documents(query, run_manager=run_manager)


class Told(BaseCallbackHandler):
    """Keeps what an application's handler is told.

    Attributes:
        started: The names of the chains that began.
        parents: By name, the ids of a run and of its parent.
        ended: The outputs of chains.
        errors: By the ids of runs, how they failed.
    """

    run_inline = True

    def __init__(self) -> None:
        self.started: list[str] = []
        self.parents: dict[str, Any] = {}
        self.ended: list[Any] = []
        self.errors: dict[Any, BaseException] = {}

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: Any, parent_run_id: Any = None, name: Any = None, **kwargs: Any
    ) -> None:
        self.started.append(name)
        self.parents[name] = (run_id, parent_run_id)

    def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
        self.ended.append(outputs)

    def on_chain_error(self, error: BaseException, *, run_id: Any, **kwargs: Any) -> None:
        self.errors[run_id] = error

    def error_of(self, name: str) -> BaseException | None:
        """How the run of this name failed."""
        return self.errors.get(self.parents[name][0])


def joined(documents: Any) -> str:
    return SEPARATOR.join(document.page_content for document in documents)


def texts(response: Response[Any]) -> list[str]:
    return [chunk.text for chunk in response.chunks]


def digest(passages: Any) -> str:
    sha = hashlib.sha256()
    for passage in passages:
        sha.update(len(passage.encode()).to_bytes(8, "big") + passage.encode())
    return sha.hexdigest()


def prompted(prompt: str) -> list[str]:
    """The passages that a prompt held."""
    held = prompt.split("<<", 1)[1].split(">>", 1)[0]
    return held.split(SEPARATOR) if held else []


async def gathered(pieces: Any) -> list[Any]:
    return [piece async for piece in pieces]


async def _first(pieces: Any) -> Any:
    return (await gathered(pieces))[0][1]


STYLES: dict[str, Callable[[Any, Any], Response[Any]]] = {
    "invoke": lambda guarded, given: guarded.invoke(given),
    "ainvoke": lambda guarded, given: asyncio.run(guarded.ainvoke(given)),
    "batch": lambda guarded, given: guarded.batch([given])[0],
    "abatch": lambda guarded, given: asyncio.run(guarded.abatch([given]))[0],
    "batch_as_completed": lambda guarded, given: next(iter(guarded.batch_as_completed([given])))[1],
    "abatch_as_completed": lambda guarded, given: asyncio.run(_first(guarded.abatch_as_completed([given]))),
    "stream": lambda guarded, given: list(guarded.stream(given))[-1],
    "astream": lambda guarded, given: asyncio.run(gathered(guarded.astream(given)))[-1],
    "transform": lambda guarded, given: list(guarded.transform(iter([given])))[-1],
    "astream_events": lambda guarded, given: asyncio.run(gathered(guarded.astream_events(given, version="v2")))[-1][
        "data"
    ]["output"],
    "piped, streamed": lambda guarded, given: list((guarded | (lambda response: response)).stream(given))[-1],
}
"""How a guarded chain is called: each gives the response."""

every_style = {"argnames": "style", "argvalues": list(STYLES)}
