"""Real LangChain chains under the guard: every call style, every way to find the chunks, nested retrievers, callbacks."""

import asyncio
import hashlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import count, pairwise
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.callbacks.manager import atrace_as_chain_group, trace_as_chain_group
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import (
    ConfigurableField,
    RunnableConfig,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.runnables import chain as as_chain

from groundguard import Guard, Response, Status, UngroundedError, record_chunks
from groundguard.errors import GroundguardWarning, UsageError, forget_warnings
from groundguard.integrations.langchain import GuardedRunnable, observed_retrievers
from groundguard.judges import FactCheck
from groundguard.policy import Raise
from groundguard.testing import ScriptedJudge

QUESTION = "Which voltage does the lamp need?"
LAMP = "The lamp runs on 12 volts."
ANSWER = "It runs on 12 volts."

quiet = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")


@pytest.fixture(autouse=True)
def _warnings_are_told_again():
    forget_warnings()


class Retriever(BaseRetriever):
    """Finds the same texts for every query, after a while."""

    texts: Any = (LAMP,)
    seconds: float = 0
    error: Any = None

    def _get_relevant_documents(self, query, *, run_manager):
        if self.error:
            raise self.error
        return [Document(text) for text in self.texts]

    async def _aget_relevant_documents(self, query, *, run_manager):
        await asyncio.sleep(self.seconds)
        return self._get_relevant_documents(query, run_manager=run_manager)


class Tally(BaseCallbackHandler):
    """Writes down what an application's handler is told."""

    run_inline = True

    def __init__(self):
        self.started = []
        self.parents = {}
        self.errors = []
        self.ended = []

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, name=None, tags=None, **kwargs):
        self.started.append(name)
        self.parents[name] = (run_id, parent_run_id, tags)

    def on_chat_model_start(self, serialized, messages, *, name=None, **kwargs):
        self.started.append("model")

    def on_retriever_start(self, serialized, query, *, name=None, **kwargs):
        self.started.append(f"retriever {name}")

    def on_chain_end(self, outputs, **kwargs):
        self.ended.append(outputs)

    def on_chain_error(self, error, **kwargs):
        self.errors.append(error)


def texts(response):
    return [chunk.text for chunk in response.chunks]


def joined(documents):
    return "\n".join(document.page_content for document in documents)


def model(*answers):
    return FakeListChatModel(responses=list(answers or [ANSWER]))


PROMPT = ChatPromptTemplate.from_template("{context}\n\n{question}")


def naming_chain(retriever=None):
    """Names its documents in its output, as the documentation's own chains do."""
    answer = RunnablePassthrough.assign(context=lambda given: joined(given["context"])) | PROMPT | model()
    return RunnableParallel(context=retriever or Retriever(), question=RunnablePassthrough()).assign(
        answer=answer | StrOutputParser()
    )


def silent_chain(retriever=None):
    """Returns nothing but the answer."""
    context = (retriever or Retriever()) | joined
    return {"context": context, "question": RunnablePassthrough()} | PROMPT | model() | StrOutputParser()


def guarding(chain, judge=None, **options):
    return Guard(judge or ScriptedJudge(True), **options).wrap(chain)


# Every call style is judged, once.


async def _collect(pieces):
    return [piece async for piece in pieces]


STYLES = {
    "invoke": lambda guarded: guarded.invoke(QUESTION),
    "ainvoke": lambda guarded: asyncio.run(guarded.ainvoke(QUESTION)),
    "batch": lambda guarded: guarded.batch([QUESTION])[0],
    "abatch": lambda guarded: asyncio.run(guarded.abatch([QUESTION]))[0],
    "batch_as_completed": lambda guarded: next(iter(guarded.batch_as_completed([QUESTION])))[1],
    "stream": lambda guarded: list(guarded.stream(QUESTION))[-1],
    "astream": lambda guarded: asyncio.run(_collect(guarded.astream(QUESTION)))[-1],
    "transform": lambda guarded: list(guarded.transform(iter([QUESTION])))[-1],
    "astream_events": lambda guarded: asyncio.run(_collect(guarded.astream_events(QUESTION, version="v2")))[-1]["data"][
        "output"
    ],
    "with_config": lambda guarded: guarded.with_config(tags=["x"]).invoke(QUESTION),
    "in a sequence": lambda guarded: (guarded | (lambda response: response)).invoke(QUESTION),
    "streamed in a sequence": lambda guarded: list((guarded | (lambda response: response)).stream(QUESTION))[-1],
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("supported", "status"), [(True, Status.ANSWERED), (False, Status.UNGROUNDED)])
def test_every_call_style_is_judged_once(style, supported, status):
    judge = ScriptedJudge(supported)
    response = STYLES[style](guarding(naming_chain(), judge))
    assert isinstance(response, Response)
    assert (response.status, response.answer, texts(response)) == (status, ANSWER, [LAMP])
    assert said(response) == ANSWER
    assert len(judge.exchanges) == 1


def said(response):
    """The answer in the chain's own output, which is a tuple of pieces if it was streamed."""
    pieces = response.output if isinstance(response.output, tuple) else (response.output,)
    return "".join(piece if isinstance(piece, str) else piece.get("answer", "") for piece in pieces)


@pytest.mark.parametrize("style", STYLES)
@quiet
def test_every_call_style_hears_the_retriever(style):
    response = STYLES[style](guarding(silent_chain()))
    assert (response.status, texts(response), said(response)) == (Status.ANSWERED, [LAMP], ANSWER)
    assert (response.chunks_from, response.chunks_exact) == ("events", False)


@pytest.mark.parametrize("style", STYLES)
@quiet
def test_no_call_style_passes_what_nobody_retrieved(style):
    judge = ScriptedJudge(True)
    response = STYLES[style](guarding(PROMPT_ONLY, judge))
    assert (response.status, response.reason) == (Status.NO_CONTEXT, "retrieval_not_observed")
    assert judge.exchanges == []


PROMPT_ONLY = {"context": lambda _: "", "question": RunnablePassthrough()} | PROMPT | model() | StrOutputParser()


@pytest.mark.parametrize("style", STYLES)
def test_the_chains_exception_arrives_as_it_is(style):
    error = RuntimeError("index is down")
    with pytest.raises(RuntimeError) as caught:
        STYLES[style](guarding(naming_chain(Retriever(error=error))))
    assert caught.value is error


@pytest.mark.parametrize("style", STYLES)
def test_a_policy_holds_in_every_call_style(style):
    with pytest.raises(UngroundedError):
        STYLES[style](guarding(naming_chain(), ScriptedJudge(False), policy=Raise()))


def test_a_batch_keeps_its_order_and_may_return_exceptions():
    chain = RunnableLambda(lambda question: (question, LAMP) if question != "bad" else 1 / 0)
    one, error, two = guarding(chain).batch(["one", "bad", "two"], return_exceptions=True)
    assert (one.answer, type(error), two.answer) == ("one", ZeroDivisionError, "two")


def test_an_old_pipeline_takes_the_output():
    pipeline = guarding(naming_chain()) | (lambda response: response.output) | (lambda output: output["answer"])
    assert pipeline.invoke(QUESTION) == ANSWER
    assert asyncio.run(pipeline.ainvoke(QUESTION)) == ANSWER


# It is a Runnable.


def test_the_chain_runs_as_a_child_with_the_callers_config():
    tally = Tally()
    chain = as_chain(lambda question, config: ((question, LAMP), seen.append(config))[0])
    seen: list[RunnableConfig] = []
    config: RunnableConfig = {
        "callbacks": [tally],
        "tags": ["mine"],
        "metadata": {"user": 7},
        "configurable": {"thread_id": "t"},
        "run_name": "outer",
    }
    assert guarding(chain.with_config(run_name="inner")).invoke(QUESTION, config).status == "answered"
    assert tally.started == ["outer", "inner"]
    assert tally.parents["inner"][1] == tally.parents["outer"][0]
    assert tally.parents["inner"][2] == ["mine"]
    assert (seen[0]["metadata"]["user"], seen[0]["configurable"]["thread_id"]) == (7, "t")
    assert isinstance(tally.ended[-1], Response)


def test_its_callbacks_hear_of_the_chains_failure():
    tally, error = Tally(), RuntimeError("down")
    with pytest.raises(RuntimeError):
        guarding(naming_chain(Retriever(error=error))).invoke(QUESTION, {"callbacks": [tally]})
    assert tally.errors[-1] is error


def test_the_chain_stays_configurable():
    retriever = Retriever().configurable_fields(texts=ConfigurableField(id="texts"))
    guarded = guarding(naming_chain(retriever))
    assert [spec.id for spec in guarded.config_specs] == ["texts"]
    response = guarded.with_config(configurable={"texts": ["It has 3 bulbs."]}).invoke(QUESTION)
    assert texts(response) == ["It has 3 bulbs."]


def test_keyword_arguments_reach_the_chain():
    chain = RunnableLambda(lambda question, **kwargs: (kwargs["say"], LAMP))
    assert guarding(chain).invoke(QUESTION, say="hello").answer == "hello"


def test_it_can_be_looked_into():
    chain = silent_chain()
    guarded = guarding(chain)
    assert isinstance(guarded, GuardedRunnable)
    assert guarded.chain is chain
    assert repr(guarded).startswith("GuardedRunnable(")
    assert "Retriever" in (guarded | (lambda response: response.output)).get_graph().draw_mermaid()
    assert guarded.get_prompts() == [PROMPT]
    assert guarded.get_input_jsonschema() == chain.get_input_jsonschema()
    assert guarded.get_output_jsonschema()["title"]
    assert guarded.InputType == chain.InputType


@pytest.mark.parametrize("thing", [Retriever(), PROMPT, StrOutputParser()], ids=lambda thing: type(thing).__name__)
def test_what_has_no_answer_is_a_wiring_mistake(thing):
    with pytest.raises(UsageError, match=type(thing).__name__):
        guarding(thing)


def test_an_async_judge_behind_the_plain_door_is_a_wiring_mistake():
    async def judge(exchange):
        return True

    guarded = guarding(naming_chain(), judge)
    assert asyncio.run(guarded.ainvoke(QUESTION)).status == "answered"
    with pytest.raises(UsageError, match="async"):
        guarded.invoke(QUESTION)


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"input": QUESTION}, {}),
        ({"messages": [("human", QUESTION), ("ai", "?")]}, {}),
        ({"query": QUESTION, "question": "?"}, {"question": "query"}),
        ({"ask": {"text": QUESTION}}, {"question": lambda given: given["ask"]["text"]}),
    ],
)
def test_the_question_is_found_in_the_chains_input(given, options):
    judge = ScriptedJudge(True)
    Guard(judge).wrap(RunnableLambda(lambda _: (ANSWER, LAMP)), **options).invoke(given)
    assert judge.exchanges[0].question == QUESTION


def test_a_chain_that_ends_in_a_message_is_read_too():
    chat = GenericFakeChatModel(messages=iter([AIMessage([{"type": "text", "text": ANSWER}])]))
    chain = RunnablePassthrough.assign(context=lambda _: record_chunks([LAMP])[0].text) | PROMPT | chat
    response = guarding(chain).invoke({"question": QUESTION})
    assert (response.answer, response.status, response.chunks_from) == (ANSWER, "answered", "recorded")
    assert isinstance(response.output, AIMessage)


# The judge's own calls.


@pytest.mark.parametrize("style", ["invoke", "ainvoke", "astream_events"])
def test_the_applications_handlers_see_nothing_of_the_judge(style):
    tally = Tally()
    guarded = guarding(naming_chain(), FactCheck(model("yes"))).with_config(callbacks=[tally], run_name="rag")
    response = STYLES[style](guarded)
    assert (response.status, texts(response)) == ("answered", [LAMP])
    assert [name for name in tally.started if name.startswith(("model", "retriever"))] == [
        "retriever Retriever",
        "model",
    ]
    assert "groundguard" not in tally.started


def test_the_judges_tokens_are_no_events_of_the_application():
    guarded = guarding(naming_chain(), FactCheck(model("yes")))
    events = asyncio.run(_collect(guarded.astream_events(QUESTION, version="v2")))
    streamed = [event["data"]["chunk"].content for event in events if event["event"] == "on_chat_model_stream"]
    assert "".join(streamed) == ANSWER


def test_the_judge_is_not_configured_by_the_application():
    """A chain's tags, metadata and configurable values would otherwise reach a judge that runs inside it."""
    seen: list[RunnableConfig] = []
    judge = FactCheck(as_chain(lambda messages, config: (seen.append(config), "yes")[1]))
    config: RunnableConfig = {"tags": ["mine"], "metadata": {"user": 7}, "configurable": {"model": "other"}}
    guarding(naming_chain(), judge).invoke(QUESTION, config)
    assert (seen[0]["tags"], seen[0]["metadata"], seen[0]["configurable"]) == (["groundguard"], {}, {})


# Ways 1 to 3 are exact.


@pytest.mark.parametrize("style", STYLES)
def test_the_documents_of_a_retrieval_chain_are_exactly_what_its_prompt_held(style):
    chains = pytest.importorskip("langchain_classic.chains", reason="langchain-classic is in the dev extra only")
    documents = pytest.importorskip("langchain_classic.chains.combine_documents")
    prompt = ChatPromptTemplate.from_template("{context}\n\n{input}")
    prompts: list[str] = []

    def write_down(value):
        prompts.append(value.to_string())
        return value

    stuff = documents.create_stuff_documents_chain(RunnableLambda(write_down) | model(), prompt)
    retriever = Retriever(texts=["First.", "Second,\nwith a line.", "First."])
    guarded = guarding(chains.create_retrieval_chain(retriever, stuff))
    response = STYLES[style]((lambda question: {"input": question}) | guarded)
    assert (response.status, response.answer) == ("answered", ANSWER)
    assert (response.chunks_from, response.chunks_exact) == ("output", True)
    assert "\n\n".join(texts(response)) in prompts[0]
    assert response.evidence_digest == digest(retriever.texts)
    assert [document.page_content for document in response.output["context"]] == retriever.texts


def digest(passages):
    sha = hashlib.sha256()
    for passage in passages:
        sha.update(len(passage.encode()).to_bytes(8, "big") + passage.encode())
    return sha.hexdigest()


def test_the_output_wins_over_events_even_if_it_is_empty():
    chain = RunnablePassthrough.assign(found=lambda given: Retriever().invoke(given["question"])).assign(
        context=lambda _: [], answer=lambda _: ANSWER
    )
    judge = ScriptedJudge(True)
    response = guarding(chain, judge).invoke({"question": QUESTION})
    assert (response.status, response.reason, response.chunks_from) == ("no_context", "no_chunks", "output")
    assert judge.exchanges == []


def test_what_a_reranker_kept_is_the_evidence_if_the_chain_names_it():
    retriever = Retriever(texts=["a", "b", "c", "d"])
    chain = RunnableParallel(
        context=retriever | (lambda found: [found[2], found[0]]), question=RunnablePassthrough()
    ).assign(answer=lambda _: ANSWER)
    response = guarding(chain).invoke(QUESTION)
    assert (texts(response), response.chunks_exact) == (["c", "a"], True)


def search(_):
    return [LAMP]


@pytest.mark.parametrize("style", STYLES)
def test_a_plain_search_is_told_apart_from_an_empty_one(style):
    chain = {"context": search, "question": RunnablePassthrough()} | PROMPT | model() | StrOutputParser()
    with pytest.warns(GroundguardWarning, match="four ways"):
        response = STYLES[style](guarding(chain))
    assert (response.status, response.reason) == ("no_context", "retrieval_not_observed")


@pytest.mark.parametrize("style", STYLES)
def test_a_plain_search_may_record_what_it_found(style):
    context = RunnableLambda(lambda question: [chunk.text for chunk in record_chunks(search(question))])
    chain = {"context": context, "question": RunnablePassthrough()} | PROMPT | model() | StrOutputParser()
    response = STYLES[style](guarding(chain))
    assert (response.status, response.chunks_from, response.chunks_exact) == ("answered", "recorded", True)


# Way 4: events, of the outermost retrievers.


def test_events_are_an_observation_and_say_so():
    with pytest.warns(GroundguardWarning, match="retriever events"):
        response = guarding(silent_chain()).invoke(QUESTION)
    assert response.chunks_exact is False


@quiet
def test_a_retriever_that_finds_nothing_was_observed():
    response = guarding(silent_chain(Retriever(texts=[]))).invoke(QUESTION)
    assert (response.status, response.reason, response.chunks_from) == ("no_context", "no_chunks", "events")


@quiet
def test_a_retriever_that_failed_reported_nothing():
    broken = Retriever(error=RuntimeError("down"))
    response = guarding(silent_chain(broken.with_fallbacks([Retriever(texts=["spare"])]))).invoke(QUESTION)
    assert texts(response) == ["spare"]

    def swallow(question):
        try:
            return broken.invoke(question)
        except RuntimeError:
            return []

    response = guarding(silent_chain(RunnableLambda(swallow))).invoke(QUESTION)
    assert response.reason == "retrieval_not_observed"
    found_later = RunnableLambda(lambda question: swallow(question) or Retriever(texts=["spare"]).invoke(question))
    assert texts(guarding(silent_chain(found_later)).invoke(QUESTION)) == ["spare"]


@quiet
def test_events_can_be_switched_off():
    guard = Guard(ScriptedJudge(True))
    guard = guard.with_options(capture=type(guard.capture)(retriever_events=False))
    assert guard.wrap(silent_chain()).invoke(QUESTION).reason == "retrieval_not_observed"


@quiet
def test_repeats_are_kept_in_order():
    def twice(question):
        found = [*Retriever(texts=["b", "a"]).invoke(question), *Retriever(texts=["a"]).invoke(question)]
        return joined(found)

    chain = {"context": twice, "question": RunnablePassthrough()} | PROMPT | model()
    assert texts(guarding(chain).invoke(QUESTION)) == ["b", "a", "a"]


@quiet
def test_parallel_retrievers_stand_in_the_order_they_began_not_ended():
    slow, fast = Retriever(texts=["slow"], seconds=0.05), Retriever(texts=["fast"])
    chain = RunnableParallel(slow=slow, fast=fast, question=RunnablePassthrough()) | (lambda _: ANSWER)
    assert texts(asyncio.run(guarding(chain).ainvoke(QUESTION))) == ["slow", "fast"]


class Outer(BaseRetriever):
    """Keeps the even ones of what an inner retriever finds."""

    inner: Any
    hand_on: bool = True

    def _config(self, run_manager) -> RunnableConfig | None:
        return {"callbacks": run_manager.get_child()} if self.hand_on else None

    def _get_relevant_documents(self, query, *, run_manager):
        return self.inner.invoke(query, self._config(run_manager))[1::2]


class AsyncOuter(Outer):
    async def _aget_relevant_documents(self, query, *, run_manager):
        return (await self.inner.ainvoke(query, self._config(run_manager)))[1::2]


FIVE = ["d1", "d2", "d3", "d4", "d5"]


@quiet
@pytest.mark.parametrize("hand_on", [True, False], ids=["callbacks handed on", "callbacks dropped"])
@pytest.mark.parametrize("kind", [Outer, AsyncOuter])
@pytest.mark.parametrize("style", ["invoke", "ainvoke", "stream", "astream"])
def test_a_retriever_inside_another_is_not_counted(style, kind, hand_on):
    inner = RunnablePassthrough() | kind(inner=Retriever(texts=FIVE), hand_on=hand_on)
    three = kind(inner=inner, hand_on=hand_on)
    assert texts(STYLES[style](guarding(silent_chain(kind(inner=Retriever(texts=FIVE), hand_on=hand_on))))) == [
        "d2",
        "d4",
    ]
    assert texts(STYLES[style](guarding(silent_chain(three)))) == ["d4"]


@quiet
def test_after_a_nested_retriever_the_next_one_counts_again():
    def both(question):
        outer = Outer(inner=Retriever(texts=FIVE), hand_on=False)
        return joined([*outer.invoke(question), *Retriever(texts=["e"]).invoke(question)])

    chain = {"context": both, "question": RunnablePassthrough()} | PROMPT | model()
    assert texts(guarding(chain).invoke(QUESTION)) == ["d2", "d4", "e"]


@quiet
@pytest.mark.parametrize("style", ["invoke", "ainvoke"])
def test_a_compression_retriever_counts_once(style):
    retrievers = pytest.importorskip("langchain_classic.retrievers", reason="langchain-classic is in the dev extra")
    compressors = pytest.importorskip("langchain_core.documents.compressor")

    class Even(compressors.BaseDocumentCompressor):
        def compress_documents(self, documents, query, callbacks=None):
            return documents[1::2]

    outer = retrievers.ContextualCompressionRetriever(base_compressor=Even(), base_retriever=Retriever(texts=FIVE))
    assert texts(STYLES[style](guarding(silent_chain(outer)))) == ["d2", "d4"]


class Numbered(BaseRetriever):
    """Finds other texts each time."""

    finds: list[list[str]]
    _turn: Any = None

    def model_post_init(self, context, /):
        self._turn = count()

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(text) for text in self.finds[next(self._turn) % len(self.finds)]]


@quiet
@pytest.mark.parametrize("style", ["invoke", "ainvoke"])
def test_a_multi_query_retriever_counts_as_the_union_it_returns(style):
    retrievers = pytest.importorskip("langchain_classic.retrievers", reason="langchain-classic is in the dev extra")
    inner = Numbered(finds=[["a", "b"], ["b", "c"], ["c", "d"]])
    outer = retrievers.MultiQueryRetriever.from_llm(inner, model("one\ntwo\nthree"))
    found = texts(STYLES[style](guarding(silent_chain(outer))))
    assert sorted(found) == ["a", "b", "c", "d"]


@quiet
@pytest.mark.parametrize("style", ["invoke", "ainvoke"])
def test_an_ensemble_counts_as_the_ranking_it_returns(style):
    retrievers = pytest.importorskip("langchain_classic.retrievers", reason="langchain-classic is in the dev extra")
    parts = [Retriever(texts=["a", "b"]), Retriever(texts=["b", "c"])]
    outer = retrievers.EnsembleRetriever(retrievers=parts, weights=[0.5, 0.5])
    assert texts(STYLES[style](guarding(silent_chain(outer)))) == ["b", "a", "c"]


@quiet
def test_a_function_that_retrieves_is_heard_without_a_config():
    @Guard(ScriptedJudge(True))
    def query(question):
        Retriever().invoke(question)
        return ANSWER

    @Guard(ScriptedJudge(True))
    async def aquery(question):
        await Retriever().ainvoke(question)
        return ANSWER

    assert texts(query(QUESTION)) == texts(asyncio.run(aquery(QUESTION))) == [LAMP]


@quiet
def test_a_stream_pulled_piece_by_piece_hears_each_retriever_once():
    """The group inherits the listener of the first pull; a retriever starts in the second."""

    @Guard(ScriptedJudge(True))
    def query(question):
        with trace_as_chain_group("group") as group:
            Retriever(texts=["a"]).invoke(question, {"callbacks": group})
            yield "It "
            Retriever(texts=["b"]).invoke(question, {"callbacks": group})
            yield "runs "

    @Guard(ScriptedJudge(True))
    async def aquery(question):
        async with atrace_as_chain_group("group") as group:
            await Retriever(texts=["a"]).ainvoke(question, {"callbacks": group})
            yield "It "
            await Retriever(texts=["b"]).ainvoke(question, {"callbacks": group})
            yield "runs "

    for response in (list(query(QUESTION))[-1], asyncio.run(_collect(aquery(QUESTION)))[-1]):
        assert (response.answer, texts(response), response.chunks_from) == ("It runs ", ["a", "b"], "events")


@quiet
def test_a_streamed_chain_inside_a_function_is_heard():
    @Guard(ScriptedJudge(True))
    def query(question):
        yield from silent_chain().stream(question)

    @Guard(ScriptedJudge(True))
    async def aquery(question):
        async for piece in silent_chain().astream(question):
            yield piece

    for response in (list(query(QUESTION))[-1], asyncio.run(_collect(aquery(QUESTION)))[-1]):
        assert (response.answer, texts(response), response.chunks_from) == (ANSWER, [LAMP], "events")


class ThreadedOuter(Outer):
    """Asks the inner retriever in a thread that knows nothing of the context: only the callbacks travel."""

    def _get_relevant_documents(self, query, *, run_manager):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(self.inner.invoke, query, self._config(run_manager)).result()[1::2]


@quiet
@pytest.mark.parametrize("between", [False, True], ids=["directly", "by a chain"])
def test_callbacks_that_are_handed_on_to_a_thread_are_enough(between):
    inner = Retriever(texts=FIVE)
    outer = ThreadedOuter(inner=RunnablePassthrough() | inner if between else inner)

    @as_chain
    def in_a_thread(question, config):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(outer.invoke, question, config).result()

    assert texts(guarding(silent_chain(outer)).invoke(QUESTION)) == ["d2", "d4"]
    assert texts(guarding(silent_chain(in_a_thread)).invoke(QUESTION)) == ["d2", "d4"]


@quiet
def test_a_guarded_chain_in_a_guarded_chain_keeps_its_own():
    inner = guarding(silent_chain())
    responses: list[Response[Any]] = []
    outer = {"context": Retriever(texts=["outer"]) | joined, "question": RunnablePassthrough()} | RunnableLambda(
        lambda given: (responses.append(inner.invoke(given["question"])), responses[0].answer)[1]
    )
    response = guarding(outer).invoke(QUESTION)
    assert texts(responses[0]) == [LAMP]
    assert texts(response) == ["outer", LAMP]


def test_outside_a_guarded_run_nothing_is_listened_to():
    with observed_retrievers():
        assert len(Retriever().invoke(QUESTION)) == 1


@quiet
def test_odd_documents_never_break_the_chain():
    class Odd(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return odd.pop()

    chain = RunnableParallel(found=Odd(), question=RunnablePassthrough()) | (lambda given: str(list(given["found"])))
    odd: list[Any] = [iter([LAMP]), [object(), None], {LAMP: 1}]
    one, two, three = (guarding(chain).invoke(QUESTION) for _ in range(3))
    assert (one.answer, one.status) == (f"[{LAMP!r}]", "no_context")
    assert (two.reason, len(two.chunks)) == ("blank_chunks", 2)
    assert (three.answer, three.reason) == (f"[{LAMP!r}]", "retrieval_not_observed")


# Threads and tasks.


@quiet
def test_a_thread_without_the_context_is_not_observed_and_one_with_it_is():
    with ThreadPoolExecutor(3) as pool:

        def query(question, *, hand_over):
            hand = (lambda: (copy_context().run,)) if hand_over else tuple
            futures = [pool.submit(*hand(), Retriever(texts=[text]).invoke, question) for text in "abc"]
            return joined(document for future in futures for document in future.result())

        lost = guarding(RunnableLambda(lambda question: query(question, hand_over=False))).invoke(QUESTION)
        kept = guarding(RunnableLambda(lambda question: query(question, hand_over=True))).invoke(QUESTION)
    assert lost.reason == "retrieval_not_observed"
    assert sorted(texts(kept)) == ["a", "b", "c"]


class Marked(BaseRetriever):
    """Finds the question itself."""

    def _get_relevant_documents(self, query, *, run_manager):
        time.sleep(0.001)
        return [Document(query), Document(query)]

    async def _aget_relevant_documents(self, query, *, run_manager):
        await asyncio.sleep(0.001)
        return [Document(query), Document(query)]


@quiet
def test_calls_through_one_guard_never_mix():
    guarded = guarding(silent_chain(Outer(inner=Marked(), hand_on=False)))
    async_guarded = guarding(silent_chain(AsyncOuter(inner=Marked(), hand_on=False)))

    def call(number):
        return number, guarded.invoke(f"question {number}")

    async def acall(number):
        return number, await async_guarded.ainvoke(f"question {number}")

    async def all_at_once():
        return await asyncio.gather(*map(acall, range(200)))

    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(call, range(200)))
    for number, response in [*results, *asyncio.run(all_at_once())]:
        assert texts(response) == [f"question {number}"]


def test_awaiting_uses_the_chains_own_coroutine():
    class Twin(RunnablePassthrough):
        def invoke(self, given, config=None, **kwargs):
            time.sleep(0.4)
            return "blocking", LAMP

        async def ainvoke(self, given, config=None, **kwargs):
            await asyncio.sleep(0.1)
            return "awaited", LAMP

    assert asyncio.run(_with_heartbeat(guarding(Twin()).ainvoke(QUESTION))).answer == "awaited"
    assert guarding(Twin()).invoke(QUESTION).answer == "blocking"


def test_a_plain_chain_and_a_plain_judge_do_not_block_the_loop():
    def judge(exchange):
        time.sleep(0.4)
        return True

    def answer(question):
        time.sleep(0.4)
        return threading.current_thread().name, LAMP

    response = asyncio.run(_with_heartbeat(guarding(RunnableLambda(answer), judge).ainvoke(QUESTION)))
    assert response.answer != threading.main_thread().name


async def _with_heartbeat(waiting):
    beats = []

    async def beat():
        while True:
            beats.append(time.monotonic())
            await asyncio.sleep(0.01)

    task = asyncio.create_task(beat())
    try:
        response = await waiting
    finally:
        task.cancel()
    assert max(later - earlier for earlier, later in pairwise(beats)) < 0.3
    return response


@quiet
def test_cancelling_reaches_the_chain():
    cancelled = []

    async def slow(question):
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            cancelled.append(question)
            raise

    async def main():
        task = asyncio.create_task(guarding(RunnableLambda(slow)).ainvoke(QUESTION))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert cancelled == [QUESTION]


# What a judge retrieves is no evidence of the guard around it.


@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_what_a_judge_retrieves_is_no_evidence():
    def judge(exchange):
        Retriever(texts=["the judge's own"]).invoke(exchange.question)
        record_chunks(["the judge's own"])
        return True

    inner = Guard(judge)

    @Guard(ScriptedJudge(True))
    def outer(question):
        found = Retriever(texts=["evidence"]).invoke(question)
        return inner.check(question, answer="evidence", chunks=found).answer

    response = outer(QUESTION)
    assert texts(response) == ["evidence"]
    assert response.chunks_from == "events"
