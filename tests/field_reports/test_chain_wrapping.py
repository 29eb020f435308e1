"""Wrapping other people's chains, as people met it: each test is named after the report it answers."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from groundguard import Guard, Reason, Response, Status, record_chunks
from groundguard.errors import GroundguardWarning
from groundguard.policy import Raise, Replace
from groundguard.records import ChunksFrom
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedRetriever
from support.doors import ASYNC, Door, both_doors
from support.telemetry import Spans

QUESTION = "How long does the kettle take?"
EVIDENCE = "The Brunel kettle boils one litre in three minutes."
PIECES = ["It takes ", "three ", "minutes."]
WRONG = ["It takes ", "nine ", "minutes."]


def recording(question: str, pieces: list[str]) -> Iterator[str]:
    record_chunks(EVIDENCE)
    yield from pieces


class Kettle:
    """Slow in both ways; says which way was taken."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def invoke(self, question: str) -> tuple[str, str]:
        self.taken.append("invoke")
        time.sleep(0.3)
        return "It takes three minutes.", EVIDENCE

    async def ainvoke(self, question: str) -> tuple[str, str]:
        self.taken.append("ainvoke")
        await asyncio.sleep(0.3)
        return "It takes three minutes.", EVIDENCE


class PlainKettle:
    def invoke(self, question: str) -> tuple[str, str]:
        return Kettle().invoke(question)


async def patient(exchange: object) -> bool:
    await asyncio.sleep(0.1)
    return True


def blocking(exchange: object) -> bool:
    time.sleep(0.1)
    return True


@pytest.mark.parametrize("judge", [patient, blocking])
@pytest.mark.parametrize("chain", [Kettle(), PlainKettle()])
def test_wrap_async_call_runs_sync_path(judge: Any, chain: Any) -> None:
    late: list[float] = []

    async def heart() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.02)
            late.append(time.monotonic() - before - 0.02)

    async def main() -> Response[Any]:
        beating = asyncio.create_task(heart())
        response = await Guard(judge).wrap(chain).ainvoke(QUESTION)
        beating.cancel()
        return response

    assert asyncio.run(main()).status is Status.ANSWERED
    assert len(late) > 8
    assert max(late) < 0.2
    assert getattr(chain, "taken", ["ainvoke"])[-1] == "ainvoke"


@both_doors
def test_wrap_chitchat_turn_blocked(door: Door) -> None:
    generator = ScriptedGenerator("My pleasure!")
    response = door.ask(
        Guard(ScriptedJudge(True), retriever=ScriptedRetriever([]), generator=generator), "Great, thanks!"
    )

    assert (response.status, response.answer) == (Status.NO_CONTEXT, "My pleasure!")


WAYS_TO_LEAVE = ["break", "return", "raise", "cancel", "aclose in another task", "garbage"]


@pytest.mark.parametrize("way", WAYS_TO_LEAVE)
def test_wrap_consumer_stops_early(way: str, caplog: pytest.LogCaptureFixture) -> None:
    closed: list[str] = []
    judge = ScriptedJudge(True)

    @Guard(judge)
    async def answer(question: str) -> AsyncIterator[str]:
        try:
            for piece in recording(question, PIECES):
                yield piece
                await asyncio.sleep(0.001)
        finally:
            closed.append(question)

    async def read(stream: Any) -> None:
        async for _ in stream:
            if way == "break":
                break
            if way == "return":
                return
            if way == "raise":
                raise LookupError
            if way == "cancel":
                await asyncio.sleep(60)

    async def main() -> None:
        stream: Any = answer(QUESTION)
        if way in {"aclose in another task", "garbage"}:
            await asyncio.create_task(stream.__anext__())
            if way == "garbage":
                del stream
                gc.collect()
            else:
                await asyncio.create_task(stream.aclose())
            return
        task = asyncio.create_task(read(stream))
        await asyncio.sleep(0.01)
        if way == "cancel":
            task.cancel()
        fails = {"raise": LookupError, "cancel": asyncio.CancelledError}
        with pytest.raises(fails[way]) if way in fails else nullcontext():
            await task

    caplog.set_level(logging.INFO)
    spans = Spans()
    asyncio.run(main())
    gc.collect()

    assert closed == [QUESTION]
    assert judge.exchanges == []
    assert caplog.records == []
    assert sorted(spans.names) == ["groundguard generate", "invoke_workflow groundguard"]
    for name in spans.names:
        attributes = spans.one(name).attributes or {}
        assert attributes["groundguard.given_up"] is True
        assert "groundguard.status" not in attributes


@both_doors
@pytest.mark.parametrize("field", ["context", "source_documents"])
def test_wrap_dict_stream_pieces(door: Door, field: str) -> None:
    pieces = [{field: [EVIDENCE]}, *({"answer": piece} for piece in PIECES)]
    judge = ScriptedJudge(True)
    *seen, response = door.items(Guard(judge)(door.generator(lambda question: pieces)), QUESTION)

    assert all(piece is given for piece, given in zip(seen, pieces, strict=True))
    assert judge.exchanges[0].answer == response.answer == "It takes three minutes."
    assert [chunk.text for chunk in response.chunks] == [EVIDENCE]
    assert response.status is Status.ANSWERED


@both_doors
def test_wrap_dict_stream_pieces_that_grow_are_not_guessed_at(door: Door) -> None:
    growing = ["It takes ", "It takes three ", "It takes three minutes."]
    judge = ScriptedJudge(False)
    door.items(Guard(judge)(door.generator(recording)), QUESTION, growing)

    assert judge.exchanges[0].answer == "".join(growing)


@both_doors
@pytest.mark.parametrize("handed_over", [True, False])
@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_wrap_retrieval_in_worker_thread(door: Door, handed_over: bool) -> None:
    judge = ScriptedJudge(True)

    def search(query: str) -> str:
        (chunk,) = record_chunks(query)
        return chunk.text

    with ThreadPoolExecutor(3) as shared:

        def answer(question: str) -> str:
            found = [
                shared.submit(contextvars.copy_context().run, search, f"{question} {part}")
                if handed_over
                else shared.submit(search, f"{question} {part}")
                for part in "abc"
            ]
            return " ".join(future.result() for future in found)

        guarded = Guard(judge)(door.function(answer))
        responses = [door.call(guarded, question) for question in ("one", "two")]

    for question, response in zip(("one", "two"), responses, strict=True):
        if handed_over:
            assert sorted(chunk.text for chunk in response.chunks) == [f"{question} {part}" for part in "abc"]
            assert (response.status, response.chunks_from) == (Status.ANSWERED, ChunksFrom.RECORDED)
        else:
            assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.RETRIEVAL_NOT_OBSERVED)
            assert response.chunks == ()
    assert len(judge.exchanges) == (2 if handed_over else 0)


def test_wrap_shared_instance_concurrency() -> None:
    guard = Guard(lambda exchange: {exchange.question} == {chunk.text for chunk in exchange.chunks})
    running = threading.Barrier(16)

    def invoke(question: str) -> str:
        record_chunks(question)
        return "A"

    async def ainvoke(question: str) -> str:
        await asyncio.sleep(0.001)
        return invoke(question)

    chain = guard.wrap(type("Chain", (), {"invoke": staticmethod(invoke), "ainvoke": staticmethod(ainvoke)})())

    def work(number: int) -> list[Response[Any]]:
        running.wait(5)
        return [chain.invoke(f"<{number}.{repeat}>") for repeat in range(6)]

    async def main() -> list[Response[Any]]:
        return await asyncio.gather(*(chain.ainvoke(f"<{number}>") for number in range(104)))

    spans = Spans()
    with ThreadPoolExecutor(16) as pool:
        threads = [pool.submit(work, number) for number in range(16)]
        responses = asyncio.run(main()) + [response for thread in threads for response in thread.result()]

    assert len({response.question for response in responses}) == 200
    for response in responses:
        assert response.status is Status.ANSWERED
        assert [chunk.text for chunk in response.chunks] == [response.question]
    queries = {span.context.span_id: span for span in spans.ended if span.name == "invoke_workflow groundguard"}
    checks = [span for span in spans.ended if span.name == "groundguard check"]
    assert len(queries) == len(checks) == 200
    assert {check.parent.span_id for check in checks} == set(queries)
    for check in checks:
        digest = "groundguard.evidence.digest"
        assert check.attributes[digest] == queries[check.parent.span_id].attributes[digest]


@both_doors
@pytest.mark.parametrize(("pieces", "said"), [(PIECES, True), (WRONG, False), (PIECES, OSError("down"))])
def test_wrap_streaming_bypasses_the_check(door: Door, pieces: list[str], said: Any) -> None:
    def whole(question: str) -> tuple[str, str]:
        return "".join(pieces), EVIDENCE

    class Chain:
        def invoke(self, question: str) -> tuple[str, str]:
            return whole(question)

    generate = lambda question, chunks: "".join(pieces)  # noqa: E731  # one of five styles
    styles = {
        "ask": lambda guard: door.ask(guard.with_options(retriever=lambda q: EVIDENCE, generator=generate), QUESTION),
        "check": lambda guard: door.check(guard, QUESTION, answer="".join(pieces), chunks=EVIDENCE),
        "function": lambda guard: door.call(guard(door.function(whole)), QUESTION),
        "stream": lambda guard: door.items(guard(door.generator(recording)), QUESTION, pieces)[-1],
        "chain": lambda guard: door.invoke(guard.wrap(Chain()), QUESTION),
    }
    outcomes = set()
    for style in styles.values():
        judge = ScriptedJudge(said)
        response = style(Guard(judge))
        assert len(judge.exchanges) == 1
        outcomes.add((response.status, response.reason, response.answer))
    assert len(outcomes) == 1


@both_doors
@pytest.mark.parametrize("said", [False, OSError("down")])
def test_wrap_text_shown_before_verdict(door: Door, said: Any) -> None:
    judge = ScriptedJudge(said)
    *passed, last = door.items(Guard(judge)(door.generator(recording)), QUESTION, WRONG)
    assert passed == WRONG
    assert (type(last), last.status, last.answer) == (Response, Status.UNGROUNDED, "".join(WRONG))

    *held, last = door.items(Guard(judge, policy=Replace("Ask the shop."))(door.generator(recording)), QUESTION, WRONG)
    assert held == ["Ask the shop."]
    assert (last.status, last.generated) == (Status.UNGROUNDED, "".join(WRONG))

    nothing: list[Any] = []
    with pytest.raises(Exception, match="ungrounded"):
        door.items(Guard(judge, policy=Raise())(door.generator(recording)), QUESTION, WRONG, into=nothing)
    assert nothing == []


@both_doors
def test_ctx_capture_missing_is_not_empty(door: Door) -> None:
    """Without a framework; with one, see the end-to-end tests."""
    judge = ScriptedJudge(True)

    def search_and_answer(question: str) -> str:
        return "It takes three minutes."

    with pytest.warns(GroundguardWarning) as warned:
        response = door.call(Guard(judge)(door.function(search_and_answer)), QUESTION)
    door.call(Guard(judge)(door.function(search_and_answer)), QUESTION)  # a second warning would be an error

    assert len(warned) == 1
    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.RETRIEVAL_NOT_OBSERVED)
    assert judge.exchanges == []


@both_doors
@pytest.mark.parametrize("way", ["recorded", "returned"])
def test_wrap_shared_instance_concurrency_of_streams(door: Door, way: str) -> None:
    """200 streams side by side, of 16 threads or as many tasks, through one guard; each has its own marker."""
    guard = Guard(lambda exchange: [chunk.text for chunk in exchange.chunks] == [exchange.question] * 2)
    running = threading.Barrier(16)

    def pieces(question: str) -> Iterator[Any]:
        for _ in range(2):
            time.sleep(0.0005)
            if way == "recorded":
                record_chunks(question)
                yield question
            else:
                yield question, [question]

    stream = guard(door.generator(pieces))

    def work(number: int) -> list[Response[Any]]:
        running.wait(5)
        return [list(stream(f"<{number}.{repeat}>"))[-1] for repeat in range(13)]

    async def last(question: str) -> Response[Any]:
        return [item async for item in stream(question)][-1]

    async def main() -> list[Response[Any]]:
        return await asyncio.gather(*(last(f"<{number}>") for number in range(208)))

    if door.is_async:
        responses = asyncio.run(main())
    else:
        with ThreadPoolExecutor(16) as pool:
            responses = [response for found in pool.map(work, range(16)) for response in found]

    assert len({response.question for response in responses}) == 208
    for response in responses:
        assert response.status is Status.ANSWERED
        assert response.answer == response.question * 2
        assert [chunk.text for chunk in response.chunks] == [response.question] * 2


class Engine:
    """Streams, unless it finds nothing: then its response is a plain one, without a generator."""

    def __init__(self, found: list[str]) -> None:
        self.found = found

    def query(self, question: str) -> Any:
        if not self.found:
            return SimpleNamespace(response="Nada encontrado.", source_nodes=[])
        return SimpleNamespace(response_gen=iter(PIECES), response_txt=None, source_nodes=self.nodes)

    @property
    def nodes(self) -> list[Any]:
        return [SimpleNamespace(text=text, node_id=text[:3], score=0.5) for text in self.found]


ENGINE_STYLES: dict[str, Any] = {
    "query": lambda engine: [engine.query(QUESTION)],
    "aquery": lambda engine: [asyncio.run(engine.aquery(QUESTION))],
    "stream": lambda engine: list(engine.stream(QUESTION)),
    "astream": lambda engine: ASYNC.items(engine.astream, QUESTION),
}


@pytest.mark.parametrize("style", ENGINE_STYLES.values(), ids=ENGINE_STYLES)
def test_wrap_empty_retrieval_changes_return_type(style: Any) -> None:
    """Without the framework; with it, see the end-to-end tests."""
    judge = ScriptedJudge(True)

    *pieces, response = style(Guard(judge).wrap(Engine([])))
    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.NO_CHUNKS)
    assert response.answer == "Nada encontrado."
    assert pieces in ([], ["Nada encontrado."])
    assert judge.exchanges == []

    *pieces, response = style(Guard(judge).wrap(Engine([EVIDENCE])))
    assert (response.status, response.answer) == (Status.ANSWERED, "".join(PIECES))
    assert pieces in ([], PIECES)
    assert len(judge.exchanges) == 1


def llama_index_engine(found: dict[str, str], kept: str, prompts: list[str], *, streaming: bool) -> Any:
    """A real query engine that finds passages by name, of which a postprocessor keeps some, in an order of its own."""
    pytest.importorskip("llama_index.core")
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Finder(BaseRetriever):
        def _retrieve(self, query_bundle: Any) -> list[Any]:
            return [NodeWithScore(node=TextNode(text=text, id_=name), score=0.5) for name, text in found.items()]

    class Keeper(BaseNodePostprocessor):
        def _postprocess_nodes(self, nodes: list[Any], query_bundle: Any = None) -> list[Any]:
            return [node for name in kept for node in nodes if node.node_id == name]

    class Writer(CustomLLM):
        @property
        def metadata(self) -> Any:
            return LLMMetadata()

        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            prompts.append(prompt)
            return CompletionResponse(text="".join(PIECES))

        def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            prompts.append(prompt)
            return (CompletionResponse(text=piece, delta=piece) for piece in PIECES)

    return RetrieverQueryEngine.from_args(Finder(), llm=Writer(), node_postprocessors=[Keeper()], streaming=streaming)


@pytest.mark.parametrize("style", ENGINE_STYLES.values(), ids=ENGINE_STYLES)
@pytest.mark.parametrize("streaming", [False, True])
def test_ctx_framework_short_circuit(style: Any, streaming: bool) -> None:
    judge, prompts = ScriptedJudge(True), list[str]()
    engine = llama_index_engine({}, "", prompts, streaming=streaming)
    response = style(Guard(judge).wrap(engine))[-1]

    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.NO_CHUNKS)
    assert response.answer == str(engine.query(QUESTION))
    assert prompts == []
    assert judge.exchanges == []


@pytest.mark.parametrize("style", ENGINE_STYLES.values(), ids=ENGINE_STYLES)
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize(("kept", "status"), [("ca", Status.UNGROUNDED), ("cd", Status.ANSWERED)])
def test_ctx_rerank_or_postprocess_after_capture(style: Any, streaming: bool, kept: str, status: Status) -> None:
    found = {"a": "The kettle is blue.", "b": "It weighs a kilogram.", "c": "Its cord is short.", "d": EVIDENCE}
    prompts: list[str] = []
    guard = Guard(lambda exchange: any("three minutes" in chunk.text for chunk in exchange.chunks))
    response = style(guard.wrap(llama_index_engine(found, kept, prompts, streaming=streaming)))[-1]

    assert [chunk.id for chunk in response.chunks] == list(kept)
    assert "\n\n".join(chunk.text for chunk in response.chunks) in prompts[0]
    assert response.status is status
