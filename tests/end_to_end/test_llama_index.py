"""LlamaIndex end to end: real query engines and chat engines, over a scripted language model."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.base.response.schema import PydanticResponse, StreamingResponse
from llama_index.core.base.response.schema import Response as EngineResponse
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.llms import ChatMessage, CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine, RouterQueryEngine
from llama_index.core.schema import Document, NodeWithScore, QueryBundle, TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool
from pydantic import BaseModel

from groundguard import Guard, Reason, Response, Status, UngroundedError, record_chunks
from groundguard.errors import UsageError
from groundguard.integrations.llama_index import GuardedChatEngine, GuardedQueryEngine
from groundguard.policy import Raise, Replace
from groundguard.records import ChunksFrom, evidence_digest
from groundguard.testing import ScriptedJudge

QUESTION = "What voltage does the Aldona lamp need?"
PIECES = ["It runs ", "on ", "12 volts."]
ANSWER = "".join(PIECES)
TEXTS = {
    "a": "The Aldona lamp runs on 12 volts.",
    "b": "The foot is made of steel.",
    "c": "The cord is 2 metres long.",
    "d": "The shade is green.",
}
RULER = "---------------------"


class Writer(CustomLLM):
    """Says the same to every prompt, whole or in pieces, and remembers the prompts."""

    prompts: list[str]
    closed: list[str]
    pieces: list[str] = list(PIECES)  # noqa: RUF012  # a pydantic field

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=4096, num_output=64)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.prompts.append(prompt)
        return CompletionResponse(text="".join(self.pieces))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Iterator[CompletionResponse]:
        self.prompts.append(prompt)

        def pieces() -> Iterator[CompletionResponse]:
            try:
                for number, piece in enumerate(self.pieces):
                    yield CompletionResponse(text="".join(self.pieces[: number + 1]), delta=piece)
            finally:
                self.closed.append(prompt)

        return pieces()

    @property
    def context(self) -> str:
        """What stood between the rulers of the last prompt."""
        return self.prompts[-1].split(RULER)[1].strip()


class CThenA(BaseNodePostprocessor):
    """A reranker: keeps c and a, in this order, with scores of its own."""

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: Any = None) -> list[NodeWithScore]:
        by_id = {node.node_id: node.node for node in nodes}
        return [NodeWithScore(node=by_id["c"], score=0.9), NodeWithScore(node=by_id["a"], score=0.4)]


@pytest.fixture
def writer() -> Writer:
    return Writer(prompts=[], closed=[])


@pytest.fixture(scope="module")
def index() -> VectorStoreIndex:
    nodes = [TextNode(text=text, id_=name) for name, text in TEXTS.items()]
    return VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=4))


@pytest.fixture
def judge() -> ScriptedJudge:
    return ScriptedJudge(True)


@pytest.fixture
def guard(judge: ScriptedJudge) -> Guard:
    return Guard(judge)


def chat_engine(index: VectorStoreIndex, mode: str, writer: Writer, **options: Any) -> Any:
    """A chat engine that keeps its history in a list: the default keeps it in a database, and leaves that open."""
    memory = ChatMemoryBuffer.from_defaults(token_limit=2000)
    return index.as_chat_engine(chat_mode=mode, llm=writer, memory=memory, **options)


async def drained(stream: Any) -> list[Any]:
    return [item async for item in stream]


Style = Callable[..., list[Any]]
"""Asks a guarded engine; the pieces that came, and the response at the end."""

QUERIES: dict[str, Style] = {
    "query": lambda engine, *args: [engine.query(*args)],
    "aquery": lambda engine, *args: [asyncio.run(engine.aquery(*args))],
    "stream": lambda engine, *args: list(engine.stream(*args)),
    "astream": lambda engine, *args: asyncio.run(drained(engine.astream(*args))),
}
CHATS: dict[str, Style] = {
    "chat": lambda engine, *args: [engine.chat(*args)],
    "achat": lambda engine, *args: [asyncio.run(engine.achat(*args))],
    "stream_chat": lambda engine, *args: list(engine.stream_chat(*args)),
    "astream_chat": lambda engine, *args: asyncio.run(drained(engine.astream_chat(*args))),
}
every_query_style = pytest.mark.parametrize("ask", QUERIES.values(), ids=QUERIES)
every_chat_style = pytest.mark.parametrize("ask", CHATS.values(), ids=CHATS)
streaming_or_not = pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])


def texts(response: Response[Any]) -> list[str]:
    return [chunk.text for chunk in response.chunks]


# Query engines.


@every_query_style
@streaming_or_not
def test_every_call_of_a_query_engine_ends_in_one_response(
    ask: Style, streaming: bool, index: VectorStoreIndex, writer: Writer, guard: Guard, judge: ScriptedJudge
) -> None:
    engine = guard.wrap(index.as_query_engine(llm=writer, streaming=streaming, similarity_top_k=2))
    *pieces, response = ask(engine, QUESTION)

    assert isinstance(engine, GuardedQueryEngine)
    assert (response.status, response.answer, response.question) == (Status.ANSWERED, ANSWER, QUESTION)
    assert (response.chunks_from, response.chunks_exact) == (ChunksFrom.OUTPUT, True)
    assert pieces in ([], [ANSWER], PIECES)
    assert str(response.output) == ANSWER
    assert [node.node_id for node in response.output.source_nodes] == [chunk.id for chunk in response.chunks]
    (exchange,) = judge.exchanges
    assert exchange.chunks is response.chunks
    assert len(writer.prompts) == 1


@pytest.mark.parametrize("ask", [QUERIES["stream"], QUERIES["astream"]], ids=["stream", "astream"])
def test_pieces_come_as_the_model_says_them(ask: Style, index: VectorStoreIndex, writer: Writer, guard: Guard) -> None:
    assert ask(guard.wrap(index.as_query_engine(llm=writer, streaming=True)), QUESTION)[:-1] == PIECES
    assert ask(guard.wrap(index.as_query_engine(llm=writer, streaming=False)), QUESTION)[:-1] == [ANSWER]


@every_query_style
@streaming_or_not
def test_the_evidence_is_what_stood_in_the_prompt_after_the_reranker(
    ask: Style, streaming: bool, index: VectorStoreIndex, writer: Writer, guard: Guard, judge: ScriptedJudge
) -> None:
    engine = index.as_query_engine(llm=writer, streaming=streaming, similarity_top_k=4, node_postprocessors=[CThenA()])
    response = ask(guard.wrap(engine), QUESTION)[-1]

    assert texts(response) == [TEXTS["c"], TEXTS["a"]] == writer.context.split("\n\n")
    assert [(chunk.id, chunk.score) for chunk in response.chunks] == [("c", 0.9), ("a", 0.4)]
    assert judge.exchanges[0].chunks is response.chunks


@every_query_style
def test_the_digest_is_that_of_the_prompt(ask: Style, index: VectorStoreIndex, writer: Writer, guard: Guard) -> None:
    response = ask(guard.wrap(index.as_query_engine(llm=writer, similarity_top_k=3)), QUESTION)[-1]

    seen = Guard(lambda exchange: True).check("Q?", answer="A", chunks=writer.context.split("\n\n"))
    assert response.evidence_digest == seen.evidence_digest == evidence_digest(seen.chunks)


@every_query_style
def test_metadata_that_the_model_reads_are_evidence_too(ask: Style, writer: Writer, guard: Guard) -> None:
    node = TextNode(
        text="It is 12 volts.",
        id_="a",
        metadata={"lamp": "Aldona", "secret": "x", "file_path": "lamps.md"},
        excluded_llm_metadata_keys=["secret", "file_path"],
    )
    index = VectorStoreIndex([node], embed_model=MockEmbedding(embed_dim=4))
    response = ask(guard.wrap(index.as_query_engine(llm=writer)), QUESTION)[-1]

    (chunk,) = response.chunks
    assert chunk.text == writer.context == "lamp: Aldona\n\nIt is 12 volts."
    assert (chunk.source, chunk.metadata["secret"]) == ("lamps.md", "x")


@every_query_style
@streaming_or_not
def test_nothing_found_is_no_context_and_the_engines_own_text_passes_unchanged(
    ask: Style, streaming: bool, index: VectorStoreIndex, writer: Writer, guard: Guard, judge: ScriptedJudge
) -> None:
    nothing = SimilarityPostprocessor(similarity_cutoff=2.0)
    engine = index.as_query_engine(llm=writer, streaming=streaming, node_postprocessors=[nothing])
    *pieces, response = ask(guard.wrap(engine), QUESTION)

    assert (response.status, response.reason, response.chunks) == (Status.NO_CONTEXT, Reason.NO_CHUNKS, ())
    assert response.answer == str(engine.query(QUESTION))
    assert "".join(pieces) in ("", response.answer)
    assert judge.exchanges == []
    assert writer.prompts == []


@every_query_style
@pytest.mark.parametrize("given", [QUESTION, QueryBundle(QUESTION, custom_embedding_strs=["lamp"])], ids=type)
def test_the_question_is_a_string_or_a_bundle(
    ask: Style, given: Any, index: VectorStoreIndex, writer: Writer, guard: Guard
) -> None:
    assert ask(guard.wrap(index.as_query_engine(llm=writer)), given)[-1].question == QUESTION


def test_the_question_may_be_given_by_its_name(index: VectorStoreIndex, writer: Writer, guard: Guard) -> None:
    engine = guard.wrap(index.as_query_engine(llm=writer))
    assert engine.query(str_or_query_bundle=QUESTION).question == QUESTION


@every_query_style
def test_a_retriever_query_engine(ask: Style, index: VectorStoreIndex, writer: Writer, guard: Guard) -> None:
    engine = RetrieverQueryEngine.from_args(index.as_retriever(similarity_top_k=1), llm=writer)
    response = ask(guard.wrap(engine), QUESTION)[-1]
    assert texts(response) == [writer.context]


@every_query_style
def test_a_router_reports_the_nodes_of_the_engine_it_chose(
    ask: Style, index: VectorStoreIndex, writer: Writer, guard: Guard
) -> None:
    chooser = Writer(prompts=[], closed=[], pieces=['[{"choice": 2, "reason": "lamps"}]'])
    one = index.as_query_engine(llm=writer, similarity_top_k=1)
    two = index.as_query_engine(llm=writer, similarity_top_k=4, node_postprocessors=[CThenA()])
    tools = [QueryEngineTool.from_defaults(each, description="…") for each in (one, two)]
    router = RouterQueryEngine(LLMSingleSelector.from_defaults(llm=chooser), tools, llm=writer)
    response = ask(guard.wrap(router), QUESTION)[-1]

    assert texts(response) == [TEXTS["c"], TEXTS["a"]]
    assert response.status is Status.ANSWERED


@every_query_style
def test_an_engine_of_ones_own(ask: Style, guard: Guard) -> None:
    class Own(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            return EngineResponse(ANSWER, source_nodes=[NodeWithScore(node=TextNode(text=TEXTS["a"]))])

    response = ask(guard.wrap(Own()), QUESTION)[-1]
    assert (response.status, response.answer, texts(response)) == (Status.ANSWERED, ANSWER, [TEXTS["a"]])


@every_query_style
def test_a_structured_answer_is_judged_as_it_is_written(ask: Style, guard: Guard, judge: ScriptedJudge) -> None:
    class Voltage(BaseModel):
        volts: int

    said = PydanticResponse(Voltage(volts=12), source_nodes=[NodeWithScore(node=TextNode(text=TEXTS["a"]))])
    engine = SimpleNamespace(query=lambda question: said)
    response = ask(guard.wrap(engine), QUESTION)[-1]
    assert judge.exchanges[0].answer == response.answer == '{"volts":12}'
    assert response.output.response == Voltage(volts=12)


@every_query_style
def test_a_blank_answer_is_blank(ask: Style, guard: Guard, judge: ScriptedJudge) -> None:
    class Silent:
        def query(self, question: str) -> Any:
            return EngineResponse(None, source_nodes=[NodeWithScore(node=TextNode(text=TEXTS["a"]))])

    response = ask(guard.wrap(Silent()), QUESTION)[-1]
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.EMPTY_ANSWER)
    assert judge.exchanges == []


@every_query_style
def test_nodes_that_are_documents_have_their_text(ask: Style, guard: Guard) -> None:
    class Own(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            return EngineResponse(ANSWER, source_nodes=[NodeWithScore(node=Document(text=TEXTS["a"]))])

    assert texts(ask(guard.wrap(Own()), QUESTION)[-1]) == [TEXTS["a"]]


# Engines that are only alike.


class Streams:
    """Streams by a plain iterator, whichever door it is asked through."""

    def __init__(self, pieces: Any) -> None:
        self.pieces = pieces
        self.threads: list[Any] = []

    def answer(self) -> Any:
        def pieces() -> Iterator[Any]:
            for piece in self.pieces:
                self.threads.append(threading.current_thread())
                yield piece

        return StreamingResponse(pieces(), source_nodes=[NodeWithScore(node=TextNode(text=TEXTS["a"]))])


class PlainStreams(Streams):
    def query(self, question: str) -> Any:
        return self.answer()


class AsyncStreams(Streams):
    async def aquery(self, question: str) -> Any:
        return self.answer()


@pytest.mark.parametrize("kind", [PlainStreams, AsyncStreams])
@pytest.mark.parametrize("style", ["aquery", "astream"])
def test_a_plain_stream_does_not_block_the_loop(kind: Any, style: str, guard: Guard) -> None:
    engine = kind(PIECES)
    response = QUERIES[style](guard.wrap(engine), QUESTION)[-1]

    assert (response.answer, response.output.response_txt) == (ANSWER, ANSWER)
    assert threading.main_thread() not in engine.threads


@pytest.mark.parametrize("style", ["query", "stream"])
def test_an_async_engine_behind_a_plain_door_is_a_mistake(style: str, guard: Guard, index: Any, writer: Any) -> None:
    with pytest.raises(UsageError, match="is async: use the async door"):
        QUERIES[style](guard.wrap(AsyncStreams(PIECES)), QUESTION)

    class Mixed:
        def query(self, question: str) -> Any:
            return asyncio.run(index.as_query_engine(llm=writer, streaming=True).aquery(question))

    with pytest.raises(UsageError, match="is an async stream: use the async door"):
        QUERIES[style](guard.wrap(Mixed()), QUESTION)

    class Awaits:
        def query(self, question: str) -> Any:
            return AsyncStreams(PIECES).aquery(question)

    with pytest.raises(UsageError, match="is async: use the async door"):
        QUERIES[style](guard.wrap(Awaits()), QUESTION)


@every_query_style
def test_a_stream_may_be_any_iterator(ask: Style, guard: Guard) -> None:
    found = [SimpleNamespace(text=TEXTS["a"], score=0.5)]
    engine = SimpleNamespace(
        query=lambda q: SimpleNamespace(response_gen=iter(PIECES), response=ANSWER, source_nodes=found)
    )
    response = ask(guard.wrap(engine), QUESTION)[-1]

    assert (response.answer, texts(response), response.chunks[0].score) == (ANSWER, [TEXTS["a"]], 0.5)


@every_query_style
def test_a_response_may_be_a_string_if_its_chunks_are_named(ask: Style, guard: Guard) -> None:
    engine = SimpleNamespace(query=lambda question: ANSWER)
    with pytest.raises(UsageError, match="a str, has no source_nodes: name its chunks with chunks='KEY'"):
        ask(guard.wrap(engine), QUESTION)

    response = ask(guard.wrap(engine, chunks=lambda output: [TEXTS["a"]]), QUESTION)[-1]
    assert (response.answer, texts(response)) == (ANSWER, [TEXTS["a"]])


@every_query_style
@streaming_or_not
def test_selectors_override_what_is_usual(
    ask: Style, streaming: bool, index: VectorStoreIndex, writer: Writer, guard: Guard
) -> None:
    engine = guard.wrap(
        index.as_query_engine(llm=writer, streaming=streaming),
        question=lambda given: given.upper(),
        chunks=lambda output: [node.node_id for node in output.source_nodes],
        answer=lambda output: (getattr(output, "response_txt", None) or output.response).upper(),
    )
    *pieces, response = ask(engine, QUESTION)

    assert (response.question, response.answer) == (QUESTION.upper(), ANSWER.upper())
    assert set(texts(response)) <= set(TEXTS)
    assert pieces in ([], [ANSWER.upper()])


# Chat engines.

MODES = ["condense_plus_context", "context", "condense_question"]


@every_chat_style
@pytest.mark.parametrize("mode", MODES)
def test_every_call_of_a_chat_engine_ends_in_one_response(
    ask: Style, mode: str, index: VectorStoreIndex, writer: Writer, guard: Guard, judge: ScriptedJudge
) -> None:
    engine = guard.wrap(chat_engine(index, mode, writer, similarity_top_k=4, node_postprocessors=[CThenA()]))
    *pieces, response = ask(engine, QUESTION)

    assert isinstance(engine, GuardedChatEngine)
    assert (response.status, response.answer, response.question) == (Status.ANSWERED, ANSWER, QUESTION)
    assert (response.chunks_from, response.chunks_exact) == (ChunksFrom.OUTPUT, True)
    assert pieces in ([], PIECES)
    assert texts(response) == [TEXTS["c"], TEXTS["a"]]
    assert "\n\n".join(texts(response)) in writer.prompts[-1]
    assert judge.exchanges[0].chunks is response.chunks
    assert isinstance(response.output, (AgentChatResponse, StreamingAgentChatResponse))


@every_chat_style
@pytest.mark.parametrize("mode", MODES)
def test_a_chat_that_finds_nothing_is_no_context_in_every_style(
    ask: Style, mode: str, index: VectorStoreIndex, writer: Writer, guard: Guard, judge: ScriptedJudge
) -> None:
    nothing = SimilarityPostprocessor(similarity_cutoff=2.0)
    engine = chat_engine(index, mode, writer, node_postprocessors=[nothing])
    *pieces, response = ask(guard.wrap(engine), QUESTION)

    assert (response.status, response.reason, response.chunks) == (Status.NO_CONTEXT, Reason.NO_CHUNKS, ())
    assert response.answer == str(index.as_query_engine(llm=writer, node_postprocessors=[nothing]).query(QUESTION))
    assert "".join(pieces) in ("", response.answer)
    assert judge.exchanges == []


@every_chat_style
def test_a_chat_without_retrieval_is_no_context(ask: Style, index: Any, writer: Writer, guard: Guard) -> None:
    response = ask(guard.wrap(chat_engine(index, "simple", writer)), "Thanks!")[-1]
    assert (response.status, response.reason, response.answer) == (Status.NO_CONTEXT, Reason.NO_CHUNKS, ANSWER)


@every_chat_style
def test_the_history_is_the_engines_own(ask: Style, index: VectorStoreIndex, writer: Writer, guard: Guard) -> None:
    engine = chat_engine(index, "context", writer)
    guarded = guard.wrap(engine)
    ask(guarded, QUESTION)
    ask(guarded, "And its cord?")

    assert [message.content for message in guarded.chat_history] == [QUESTION, ANSWER, "And its cord?", ANSWER]
    assert guarded.engine is engine
    guarded.reset()
    assert guarded.chat_history == engine.chat_history == []


@every_chat_style
def test_a_history_that_is_handed_in_reaches_the_engine(ask: Style, index: Any, writer: Writer, guard: Guard) -> None:

    engine = guard.wrap(chat_engine(index, "context", writer))
    ask(
        engine,
        QUESTION,
        [ChatMessage(role="user", content="Hello there."), ChatMessage(role="assistant", content="Hi.")],
    )
    assert "Hello there." in writer.prompts[-1]
    assert len(engine.chat_history) == 4


@pytest.mark.parametrize("door", ["plain", "async"])
def test_a_dummy_stream_is_one_piece(door: str, guard: Guard) -> None:
    nodes = [NodeWithScore(node=TextNode(text=TEXTS["a"]))]
    said = AgentChatResponse(ANSWER, source_nodes=nodes, is_dummy_stream=True)
    engine = SimpleNamespace(chat=lambda message: said, stream_chat=lambda message: said)

    assert CHATS["stream_chat" if door == "plain" else "astream_chat"](guard.wrap(engine), QUESTION)[:-1] == [ANSWER]


def test_a_chat_engine_that_streams_when_it_chats_is_collected(index: Any, writer: Writer, guard: Guard) -> None:
    engine = chat_engine(index, "context", writer)
    both = SimpleNamespace(chat=engine.stream_chat, achat=engine.astream_chat)

    for style in ("chat", "achat"):
        (response,) = CHATS[style](guard.wrap(both), QUESTION)
        assert (response.status, response.answer) == (Status.ANSWERED, ANSWER)


def test_a_chat_engine_that_cannot_stream_says_so(guard: Guard) -> None:
    for style in ("stream_chat", "astream_chat"):
        with pytest.raises(UsageError, match="an object with stream_chat and astream_chat"):
            CHATS[style](guard.wrap(SimpleNamespace(chat=lambda message: ANSWER)), QUESTION)


# Policies.


@pytest.mark.parametrize("style", ["stream", "astream"])
@streaming_or_not
def test_a_policy_holds_the_pieces(style: str, streaming: bool, index: VectorStoreIndex, writer: Writer) -> None:
    engine = index.as_query_engine(llm=writer, streaming=streaming)
    ask = QUERIES[style]
    held = PIECES if streaming else [ANSWER]
    replace = Replace("Better ask an electrician.")

    assert ask(Guard(ScriptedJudge(True), policy=replace).wrap(engine), QUESTION)[:-1] == held
    *pieces, response = ask(Guard(ScriptedJudge(False), policy=replace).wrap(engine), QUESTION)
    assert pieces == [response.answer] == ["Better ask an electrician."]
    assert (response.status, response.generated, str(response.output)) == (Status.UNGROUNDED, ANSWER, ANSWER)


@pytest.mark.parametrize("style", ["stream", "astream"])
@pytest.mark.parametrize(("said", "left"), [(True, [ANSWER]), (False, [])])
def test_a_gate_knows_the_nodes_before_the_first_statement(
    style: str, said: bool, left: list[str], index: VectorStoreIndex, writer: Writer
) -> None:
    judge = ScriptedJudge(said)
    engine = Guard(judge, streaming="gate").wrap(index.as_query_engine(llm=writer, streaming=True, similarity_top_k=1))
    *pieces, response = QUERIES[style](engine, QUESTION)

    assert pieces == left
    assert response.status is (Status.ANSWERED if said else Status.UNGROUNDED)
    assert {exchange.chunks for exchange in judge.exchanges} == {response.chunks}


@every_query_style
def test_an_error_carries_the_engines_own_response(ask: Style, index: VectorStoreIndex, writer: Writer) -> None:
    guarded = Guard(ScriptedJudge(False), policy=Raise()).wrap(index.as_query_engine(llm=writer, streaming=True))
    with pytest.raises(UngroundedError) as caught:
        ask(guarded, QUESTION)

    response = caught.value.response
    assert (response.generated, str(response.output), response.chunks_from) == (ANSWER, ANSWER, ChunksFrom.OUTPUT)


@every_query_style
@pytest.mark.parametrize("said", [False, OSError("down")])
def test_a_judge_that_says_anything_but_yes_never_passes(
    ask: Style, said: Any, index: VectorStoreIndex, writer: Writer
) -> None:
    response = ask(Guard(ScriptedJudge(said)).wrap(index.as_query_engine(llm=writer, streaming=True)), QUESTION)[-1]
    assert (response.status, response.answer) == (Status.UNGROUNDED, ANSWER)


@every_query_style
@streaming_or_not
def test_an_error_of_the_engines_model_comes_out_as_it_is(
    ask: Style, streaming: bool, index: VectorStoreIndex, judge: ScriptedJudge
) -> None:
    error = LookupError("mine")

    class Fails(Writer):
        def complete(self, *args: Any, **kwargs: Any) -> Any:
            raise error

        stream_complete = complete

    guarded = Guard(judge).wrap(index.as_query_engine(llm=Fails(prompts=[], closed=[]), streaming=streaming))
    with pytest.raises(LookupError) as caught:
        ask(guarded, QUESTION)
    assert caught.value is error
    assert judge.exchanges == []


# What a guarded engine is.


def test_no_way_round_the_guard(index: VectorStoreIndex, writer: Writer, guard: Guard) -> None:
    query = guard.wrap(index.as_query_engine(llm=writer))
    chat = guard.wrap(chat_engine(index, "context", writer))

    for engine, names in [
        (
            query,
            [
                "synthesize",
                "asynthesize",
                "_query",
                "_aquery",
                "chat",
                "stream_chat",
                "custom_query",
                "with_retriever",
                "from_args",
            ],
        ),
        (chat, ["chat_repl", "streaming_chat_repl", "query", "_run_c3"]),
    ]:
        for name in names:
            assert not hasattr(engine, name)
    assert query.retriever is query.engine.retriever
    with pytest.raises(AttributeError, match="no 'synthesize'; the engine itself, unguarded, is its `engine`"):
        query.synthesize(QUESTION, [])
    with pytest.raises(AttributeError):
        query.engine = None
    assert copy.copy(query) == query


def test_what_can_be_called_is_guarded_as_a_function(guard: Guard) -> None:
    class Service:
        def query(self, question: str) -> str:
            return "unguarded"

        def __call__(self, question: str) -> Any:
            return ANSWER, [TEXTS["a"]]

    assert guard.wrap(Service())(QUESTION).status is Status.ANSWERED


def test_what_is_recorded_below_an_engine_gives_way_to_its_report(guard: Guard) -> None:
    class Own(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Any:
            record_chunks("recorded")
            return EngineResponse(ANSWER)

    response = guard.wrap(Own()).query(QUESTION)
    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.NO_CHUNKS)


def test_a_response_travels_without_the_engines(index: VectorStoreIndex, writer: Writer, guard: Guard) -> None:
    response = guard.wrap(index.as_query_engine(llm=writer, streaming=True)).query(QUESTION)
    assert pickle.loads(pickle.dumps(response)) == response


@pytest.mark.parametrize("door", ["plain", "async"])
def test_closing_early_closes_the_models_stream_and_asks_no_judge(
    door: str, index: VectorStoreIndex, writer: Writer, guard: Guard, judge: ScriptedJudge
) -> None:
    engine = guard.wrap(index.as_query_engine(llm=writer, streaming=True))

    async def leave() -> None:
        stream = engine.astream(QUESTION)
        assert await anext(stream) == PIECES[0]
        await stream.aclose()

    if door == "async":
        asyncio.run(leave())
    else:
        stream = engine.stream(QUESTION)
        assert next(stream) == PIECES[0]
        stream.close()
    gc.collect()

    assert len(writer.closed) == 1
    assert judge.exchanges == []


def test_one_engine_for_many_tasks_and_threads(index: VectorStoreIndex, writer: Writer) -> None:
    from concurrent.futures import ThreadPoolExecutor

    guard = Guard(lambda exchange: exchange.question.startswith("<"))
    engine = guard.wrap(index.as_query_engine(llm=writer, streaming=True))

    async def main() -> list[Any]:
        tasks = [drained(engine.astream(f"<{number}>")) for number in range(20)]
        return [items[-1] for items in await asyncio.gather(*tasks)]

    with ThreadPoolExecutor(8) as pool:
        threads = [pool.submit(lambda name: list(engine.stream(name))[-1], f"<t{number}>") for number in range(20)]
        responses = asyncio.run(main()) + [thread.result() for thread in threads]

    assert {response.question for response in responses} == {
        *(f"<{n}>" for n in range(20)),
        *(f"<t{n}>" for n in range(20)),
    }
    assert {response.status for response in responses} == {Status.ANSWERED}


@every_chat_style
def test_the_judge_reads_what_was_said_before(ask: Style, index: Any, writer: Writer) -> None:
    judge = ScriptedJudge(True)
    engine = Guard(judge).wrap(chat_engine(index, "context", writer))
    ask(engine, QUESTION)
    ask(engine, "And its cord?")
    assert [[turn.content for turn in exchange.history] for exchange in judge.exchanges] == [[], [QUESTION, ANSWER]]


@pytest.mark.parametrize("named", [True, False])
def test_a_history_that_is_handed_over_is_the_one_that_counts(named: bool, index: Any, writer: Writer) -> None:
    judge = ScriptedJudge(True)
    engine = Guard(judge).wrap(chat_engine(index, "context", writer))
    engine.chat(QUESTION)
    for earlier in (["Is it blue?"], []):
        said = [ChatMessage(text, role="user") for text in earlier]
        engine.chat("And its cord?", chat_history=said) if named else engine.chat("And its cord?", said)
        assert [turn.content for turn in judge.exchanges[-1].history] == earlier
