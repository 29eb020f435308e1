"""LangChain's chains and what became of their chunks, as people met it: each test is named after the report it answers."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel, RunnablePassthrough, run_in_executor

from groundguard import Guard, Reason, Status, record_chunks
from groundguard.errors import GroundguardWarning, forget_warnings
from groundguard.records import ChunksFrom, Exchange
from groundguard.testing import ScriptedJudge
from support.chains import PROMPT, SEPARATOR, STYLES, Retriever, Writer, joined, prompted, texts
from support.doors import Door, both_doors

QUESTION = "How long does the kettle take?"
SAYS = "It takes three minutes."
FIVE = ["p1", "p2", "p3", "p4", "p5"]

every_style = pytest.mark.parametrize("style", STYLES)
quiet = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")


@pytest.fixture(autouse=True)
def _warnings_are_told_again() -> None:
    forget_warnings()


def answering(found: Any, writer: Writer) -> Runnable[Any, Any]:
    """Names nothing but its answer."""
    return {"context": found | joined, "question": RunnablePassthrough()} | PROMPT | writer | StrOutputParser()


def naming(found: Any, writer: Writer) -> Runnable[Any, Any]:
    """Names its documents too."""
    answer = RunnablePassthrough.assign(context=lambda given: joined(given["context"])) | PROMPT | writer
    return RunnableParallel(context=found, question=RunnablePassthrough()).assign(answer=answer | StrOutputParser())


@quiet
@every_style
@pytest.mark.parametrize("make", [answering, naming])
def test_ctx_nested_retrievers(style: str, make: Any) -> None:
    retrievers = pytest.importorskip("langchain_classic.retrievers", reason="langchain-classic is in the dev extra")
    compressors = pytest.importorskip("langchain_core.documents.compressor")

    class SecondAndFourth(compressors.BaseDocumentCompressor):  # type: ignore[misc, name-defined]
        def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
            return documents[1::2]

    outer = retrievers.ContextualCompressionRetriever(
        base_compressor=SecondAndFourth(), base_retriever=Retriever(texts=FIVE)
    )
    writer = Writer(SAYS)
    response = STYLES[style](Guard(ScriptedJudge(True)).wrap(make(outer, writer)), QUESTION)

    assert texts(response) == prompted(writer.prompts[0]) == ["p2", "p4"]
    assert response.chunks_exact is (make is naming)


class Overlapping(BaseRetriever):
    """Asks a store three times and merges what it found."""

    results: list[list[str]]
    merged: list[str]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        config: Any = {"callbacks": run_manager.get_child()}
        for found in self.results:
            Retriever(texts=found).invoke(query, config)
        return [Document(text) for text in self.merged]


@quiet
@every_style
@pytest.mark.parametrize("make", [answering, naming])
def test_ctx_multi_query_overlap(style: str, make: Any) -> None:
    found = Overlapping(results=[["k", "l"], ["l", "m"], ["m", "n"]], merged=["l", "m", "k"])
    writer, judge = Writer(SAYS), ScriptedJudge(True)
    response = STYLES[style](Guard(judge).wrap(make(found, writer)), QUESTION)

    assert texts(response) == prompted(writer.prompts[0]) == ["l", "m", "k"]
    assert [chunk.text for chunk in judge.exchanges[0].chunks] == ["l", "m", "k"]


def only_what_was_cut_would_support_it(exchange: Exchange) -> bool:
    return any(chunk.text == "w" for chunk in exchange.chunks)


@quiet
@every_style
@pytest.mark.parametrize("way", ["named", "selected", "recorded", "heard"])
def test_ctx_rerank_or_postprocess_after_capture(style: str, way: str) -> None:
    def rerank(found: list[Document]) -> list[Document]:
        kept = [found[2], found[0]]
        if way == "recorded":
            record_chunks(kept)
        return kept

    writer = Writer(SAYS)
    kept = Retriever(texts=["w1", "w", "w3", "w4"]) | RunnableLambda(rerank)
    selectors = {}
    if way == "named":
        chain = naming(kept, writer)
    elif way == "selected":
        chain = naming(kept, writer) | (lambda output: {"kept": output["context"], "answer": output["answer"]})
        selectors = {"chunks": "kept"}
    else:
        chain = answering(kept, writer)
    guarded = Guard(only_what_was_cut_would_support_it).wrap(chain, **selectors)
    response = STYLES[style](guarded, QUESTION)

    assert prompted(writer.prompts[0]) == ["w3", "w1"]
    if way == "heard":
        assert (texts(response), response.chunks_exact) == (["w1", "w", "w3", "w4"], False)
    else:
        assert (texts(response), response.chunks_exact) == (["w3", "w1"], True)
        assert response.status is Status.UNGROUNDED


remembered: contextvars.ContextVar[str] = contextvars.ContextVar("remembered", default="nothing")


class Remembers(BaseCallbackHandler):
    """Plain, so that async chains call it in a thread with a copy of the context."""

    def on_retriever_end(self, documents: Any, **_: Any) -> None:
        remembered.set("something")


@quiet
@both_doors
@pytest.mark.parametrize("make", [answering, naming])
def test_wrap_context_set_in_callback_is_lost(door: Door, make: Any) -> None:
    writer = Writer(SAYS)

    def ask(config: Any) -> Any:
        return door.invoke(
            Guard(ScriptedJudge(True)).wrap(make(Retriever(texts=FIVE), writer)), QUESTION, config=config
        )

    response = contextvars.copy_context().run(ask, {"callbacks": [Remembers()]})
    assert (response.status, texts(response)) == (Status.ANSWERED, FIVE)


@quiet
def test_wrap_context_set_in_callback_is_lost_and_so_is_a_retrieval_in_an_executor() -> None:
    retriever = Retriever(texts=FIVE)

    async def answer(question: str, config: Any) -> str:
        await run_in_executor(None, retriever.invoke, question, config)
        return SAYS

    plain: Any = lambda question: SAYS  # noqa: E731  # for the door that is not taken
    chain = RunnableLambda(plain, answer)
    response = asyncio.run(Guard(ScriptedJudge(True)).wrap(chain).ainvoke(QUESTION))
    assert (response.status, texts(response)) == (Status.ANSWERED, FIVE)


@every_style
def test_ctx_capture_missing_is_not_empty(style: str) -> None:
    judge = ScriptedJudge(True)
    chain = {"context": lambda _: "p1", "question": RunnablePassthrough()} | PROMPT | Writer(SAYS) | StrOutputParser()
    with pytest.warns(GroundguardWarning, match="no retrieval was observed") as warned:
        response = STYLES[style](Guard(judge).wrap(chain), QUESTION)
    STYLES[style](Guard(judge).wrap(chain), QUESTION)  # a second warning would be an error

    assert len(warned) == 1
    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.RETRIEVAL_NOT_OBSERVED)
    assert judge.exchanges == []


@every_style
def test_ctx_capture_missing_is_not_empty_where_it_is_handed_over(style: str) -> None:
    def search(question: str) -> str:
        return SEPARATOR.join(chunk.text for chunk in record_chunks(["p1", "p2"]))

    chain = {"context": search, "question": RunnablePassthrough()} | PROMPT | Writer(SAYS) | StrOutputParser()
    response = STYLES[style](Guard(ScriptedJudge(True)).wrap(chain), QUESTION)
    assert (response.status, response.chunks_from) == (Status.ANSWERED, ChunksFrom.RECORDED)
    assert texts(response) == ["p1", "p2"]


class Twin(Runnable[Any, Any]):
    """Slow in every way; says which was taken."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def invoke(self, given: Any, config: Any = None, **_: Any) -> Any:
        self.taken.append("invoke")
        time.sleep(0.3)
        return SAYS, FIVE

    async def ainvoke(self, given: Any, config: Any = None, **_: Any) -> Any:
        self.taken.append("ainvoke")
        await asyncio.sleep(0.3)
        return SAYS, FIVE

    def stream(self, given: Any, config: Any = None, **_: Any) -> Any:
        self.taken.append("stream")
        time.sleep(0.3)
        yield SAYS, FIVE

    async def astream(self, given: Any, config: Any = None, **_: Any) -> Any:
        self.taken.append("astream")
        await asyncio.sleep(0.3)
        yield SAYS, FIVE


@pytest.mark.parametrize("style", ["ainvoke", "astream"])
def test_wrap_async_call_runs_sync_path(style: str) -> None:
    twin, ticks = Twin(), []

    async def heart() -> None:
        while True:
            ticks.append(threading.current_thread().name)
            await asyncio.sleep(0.02)

    async def main() -> Any:
        beating = asyncio.create_task(heart())
        guarded = Guard(ScriptedJudge(True)).wrap(twin)
        if style == "ainvoke":
            response = await guarded.ainvoke(QUESTION)
        else:
            *_, response = [item async for item in guarded.astream(QUESTION)]
        beating.cancel()
        return response

    assert asyncio.run(main()).status is Status.ANSWERED
    assert twin.taken == [style]
    assert len(ticks) > 5


@both_doors
def test_wrap_dict_stream_pieces(door: Door) -> None:
    judge = ScriptedJudge(True)
    guarded = Guard(judge).wrap(naming(Retriever(texts=FIVE), Writer(SAYS)))
    *pieces, response = door.items(guarded.astream if door.is_async else guarded.stream, QUESTION)

    assert all(isinstance(piece, dict) for piece in pieces)
    assert judge.exchanges[0].answer == response.answer == SAYS
    assert (response.status, texts(response)) == (Status.ANSWERED, FIVE)


@every_style
@pytest.mark.parametrize("said", [True, False, OSError("down")])
def test_wrap_streaming_bypasses_the_check(style: str, said: Any) -> None:
    judge = ScriptedJudge(said)
    response = STYLES[style](Guard(judge).wrap(naming(Retriever(texts=FIVE), Writer(SAYS))), QUESTION)

    assert len(judge.exchanges) == 1
    assert response.status is (Status.ANSWERED if said is True else Status.UNGROUNDED)
