"""LangGraph's graphs and LangChain's agents under the guard: judged by the output they end with, in every call style."""

import asyncio
from inspect import signature
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import create_retriever_tool

from groundguard import Guard, Status, UngroundedError, record_chunks
from groundguard.errors import UsageError, forget_warnings
from groundguard.judges import FactCheck
from groundguard.policy import Raise, Replace
from groundguard.records import ChunksFrom, Reason, Response
from groundguard.testing import ScriptedJudge
from support.chains import (
    ANSWER,
    LAMP,
    PROMPT,
    QUESTION,
    SEPARATOR,
    STYLES,
    Retriever,
    Told,
    Writer,
    digest,
    gathered,
    joined,
    prompted,
    texts,
)
from support.doors import Door, both_doors

graphs = pytest.importorskip("langgraph.graph", reason="langgraph is in the dev extra only")
pregel = pytest.importorskip("langgraph.pregel")

quiet = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
every_style = pytest.mark.parametrize("style", STYLES)


@pytest.fixture(autouse=True)
def _warnings_are_told_again():
    forget_warnings()


class Known(TypedDict, total=False):
    question: str
    context: list[Document]
    answer: str


class Silent(TypedDict, total=False):
    question: str
    found: str
    answer: str


class Asked(TypedDict):
    question: str


class Answered(TypedDict):
    answer: str


def graph(writer, found=None, state: Any = Known, **schemas):
    """A node that retrieves and a node that generates, with or without the documents in the state."""
    retriever = found or Retriever(texts=["a", "b"])
    key = "context" if state is Known else "found"

    def retrieve(state):
        documents = retriever.invoke(state["question"])
        return {key: documents if key == "context" else joined(documents)}

    def generate(state):
        held = joined(state[key]) if key == "context" else state[key]
        prompt = PROMPT.invoke({"context": held, "question": state["question"]})
        return {"answer": writer.invoke(prompt).text}

    def log(state):
        return {}

    built = graphs.StateGraph(state, **schemas)
    for node in (retrieve, generate, log):
        built.add_node(node)
    for step in ((graphs.START, "retrieve"), ("retrieve", "generate"), ("generate", "log"), ("log", graphs.END)):
        built.add_edge(*step)
    return built.compile()


@every_style
@pytest.mark.parametrize("supported", [True, False])
def test_a_graph_with_its_documents_in_the_state(style, supported):
    writer, judge = Writer(), ScriptedJudge(supported)
    response = STYLES[style](Guard(judge).wrap(graph(writer)), {"question": QUESTION})
    assert response.status is (Status.ANSWERED if supported else Status.UNGROUNDED)
    assert (response.answer, response.chunks_exact, len(judge.exchanges)) == (ANSWER, True, 1)
    assert texts(response) == prompted(writer.prompts[0]) == ["a", "b"]
    assert response.evidence_digest == digest(prompted(writer.prompts[0]))
    assert {**response.output} == {
        "question": QUESTION,
        "context": [Document("a"), Document("b")],
        "answer": ANSWER,
    }


@quiet
@every_style
@pytest.mark.parametrize("state", [Silent, Known])
def test_a_graph_whose_output_names_no_documents_is_heard(style, state):
    writer, judge = Writer(), ScriptedJudge(True)
    chain = graph(writer, state=state, input_schema=Asked, output_schema=Answered)
    response = STYLES[style](Guard(judge).wrap(chain), {"question": QUESTION})
    assert (response.status, response.answer, response.output) == (Status.ANSWERED, ANSWER, {"answer": ANSWER})
    assert (response.chunks_from, response.chunks_exact) == (ChunksFrom.EVENTS, False)
    assert texts(response) == prompted(writer.prompts[0])


@every_style
def test_a_node_may_record_what_it_found(style):
    def search(state):
        return {"found": SEPARATOR.join(chunk.text for chunk in record_chunks(["c", "a"]))}

    def generate(state):
        return {"answer": writer.invoke(PROMPT.invoke({"context": state["found"], "question": "?"})).text}

    writer = Writer()
    built = graphs.StateGraph(Silent)
    built.add_node(search)
    built.add_node(generate)
    for step in ((graphs.START, "search"), ("search", "generate"), ("generate", graphs.END)):
        built.add_edge(*step)
    response = STYLES[style](Guard(ScriptedJudge(True)).wrap(built.compile()), {"question": QUESTION})
    assert (response.status, response.chunks_exact) == (Status.ANSWERED, True)
    assert texts(response) == prompted(writer.prompts[0]) == ["c", "a"]


@every_style
@quiet
def test_a_graph_that_retrieves_nothing(style):
    response = STYLES[style](
        Guard(ScriptedJudge(True)).wrap(graph(Writer(), Retriever(texts=[]))), {"question": QUESTION}
    )
    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.NO_CHUNKS)
    chain = graph(Writer(), Plain(), state=Silent)
    response = STYLES[style](Guard(ScriptedJudge(True)).wrap(chain), {"question": QUESTION})
    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.RETRIEVAL_NOT_OBSERVED)


class Plain:
    """A search that no handler hears."""

    def invoke(self, query):
        return [Document(LAMP)]


# What a graph's stream yields.

MODES: dict[str, dict[str, Any]] = {
    "by default": {},
    "updates": {"stream_mode": "updates"},
    "values": {"stream_mode": "values"},
    "messages": {"stream_mode": "messages"},
    "several": {"stream_mode": ["updates", "messages"]},
    "several, values too": {"stream_mode": ["values", "updates"]},
    "with subgraphs": {"stream_mode": "updates", "subgraphs": True},
    "several with subgraphs": {"stream_mode": ["values", "updates"], "subgraphs": True},
    "only an output key": {"output_keys": ["answer"]},
}


def plainly(part):
    """A part without what differs from run to run."""
    if isinstance(part, (tuple, list)):
        return [plainly(each) for each in part]
    if isinstance(part, AIMessageChunk):
        return part.content, part.chunk_position
    return {} if isinstance(part, dict) and "langgraph_step" in part else part


if "version" in signature(pregel.Pregel.stream).parameters:
    MODES["labelled parts"] = {"stream_mode": ["updates", "custom"], "version": "v2"}
    MODES["labelled states"] = {"stream_mode": "values", "version": "v2", "subgraphs": True}


@both_doors
@quiet
@pytest.mark.parametrize("asked", MODES)
def test_the_parts_are_those_of_the_graph_and_the_response_comes_last(door: Door, asked):
    def parts(chain):
        stream = chain.astream if door.is_async else chain.stream
        return door.items(lambda: stream({"question": QUESTION}, **MODES[asked]))

    judge = ScriptedJudge(False)
    *seen, response = parts(Guard(judge).wrap(graph(Writer())))
    assert plainly(seen) == plainly(parts(graph(Writer())))
    assert (response.status, response.answer, texts(response)) == (Status.UNGROUNDED, ANSWER, ["a", "b"])
    assert len(judge.exchanges) == 1


@both_doors
def test_nothing_leaves_a_graph_before_the_status_where_the_policy_says_so(door: Door):
    def parts(guard, into=None):
        guarded = guard.wrap(graph(Writer()))
        return door.items(guarded.astream if door.is_async else guarded.stream, {"question": QUESTION}, into=into)

    *held, response = parts(Guard(ScriptedJudge(True), policy=Replace("No.")))
    assert [list(part) for part in held] == [["retrieve"], ["generate"], ["log"]]
    assert response.output["answer"] == ANSWER
    *held, response = parts(Guard(ScriptedJudge(False), policy=Replace("No.")))
    assert (held, response.answer, response.output["answer"]) == (["No."], "No.", ANSWER)
    nothing: list[Any] = []
    with pytest.raises(UngroundedError) as caught:
        parts(Guard(ScriptedJudge(False), policy=Raise()), nothing)
    assert nothing == []
    assert caught.value.response.output["answer"] == ANSWER


@both_doors
@pytest.mark.parametrize("mode", ["hold", "gate"])
@pytest.mark.parametrize("supported", [True, False])
def test_nothing_leaves_a_graph_unsupported_where_the_mode_says_so(door: Door, mode, supported):
    guarded = Guard(ScriptedJudge(supported), policy=Replace("No."), streaming=mode).wrap(graph(Writer()))
    *parts, response = door.items(guarded.astream if door.is_async else guarded.stream, {"question": QUESTION})
    if not supported:
        assert parts == ["No."]
    elif mode == "gate":
        assert "".join(parts) == ANSWER
    else:
        assert [list(part) for part in parts] == [["retrieve"], ["generate"], ["log"]]
    assert response.status is (Status.ANSWERED if supported else Status.UNGROUNDED)


@both_doors
def test_a_graph_without_an_answer_is_a_wiring_mistake_in_its_stream_too(door: Door):
    def only(state):
        return {"found": "a"}

    built = graphs.StateGraph(Silent)
    built.add_node(only)
    built.add_edge(graphs.START, "only")
    guarded = Guard(ScriptedJudge(True)).wrap(built.compile())
    with pytest.raises(UsageError, match="no answer found"):
        door.invoke(guarded, {"question": QUESTION})
    with pytest.raises(UsageError, match="no answer found"):
        door.items(guarded.astream if door.is_async else guarded.stream, {"question": QUESTION})


@both_doors
def test_a_sequence_that_ends_in_a_graph_is_guarded_at_the_graph(door: Door):
    prepare = RunnableLambda(lambda question: {"question": question})
    guarded = Guard(ScriptedJudge(True)).wrap(prepare | graph(Writer()))
    assert door.invoke(guarded, QUESTION).status is Status.ANSWERED
    with pytest.raises(UsageError, match="guard around the graph"):
        door.items(guarded.astream if door.is_async else guarded.stream, QUESTION)
    piped = prepare | Guard(ScriptedJudge(True)).wrap(graph(Writer()))
    (response,) = door.items(piped.astream if door.is_async else piped.stream, QUESTION)
    assert response.status is Status.ANSWERED


@both_doors
@pytest.mark.parametrize("selectors", [{}, {"answer": "answer"}, {"chunks": lambda output: output["context"]}])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_graph_that_stops_to_ask_has_no_answer_and_not_that_of_an_earlier_question(door: Door, selectors, version):
    types = pytest.importorskip("langgraph.types")
    memory = pytest.importorskip("langgraph.checkpoint.memory")
    if version == "v2" and not hasattr(types, "GraphOutput"):
        pytest.skip("this langgraph has one way of returning its state")

    built = graphs.StateGraph(Known)
    built.add_node("confirm", lambda _: {"question": types.interrupt("Really?")})
    built.add_node("write", lambda _: {"answer": ANSWER, "context": [Document(LAMP)]})
    built.add_edge(graphs.START, "confirm")
    built.add_edge("confirm", "write")
    chain = built.compile(checkpointer=memory.InMemorySaver())
    judge = ScriptedJudge(True)
    guarded = Guard(judge).wrap(chain, question=lambda _: QUESTION, **selectors)
    versions: Any = {} if version == "v1" else {"version": version}

    def invoke(given, config):
        return door.invoke(guarded, given, config=config, **versions)

    def stream(given, config):
        items = guarded.astream if door.is_async else guarded.stream
        return door.items(lambda: items(given, config, **versions))[-1]

    for number, ask in enumerate((invoke, stream)):
        config = {"configurable": {"thread_id": str(number)}}
        for _ in range(2):
            paused = ask({"question": QUESTION}, config)
            assert (paused.status, paused.reason, paused.answer) == (Status.NO_CONTEXT, Reason.NO_CHUNKS, "")
            resumed = ask(types.Command(resume="?"), config)
            assert (resumed.status, resumed.answer, texts(resumed)) == (Status.ANSWERED, ANSWER, [LAMP])
    assert len(judge.exchanges) == 4


@both_doors
@pytest.mark.parametrize("answer", [None, "answer"])
def test_a_graph_that_waits_for_a_person_has_no_answer_yet(door: Door, answer):
    types = pytest.importorskip("langgraph.types")
    memory = pytest.importorskip("langgraph.checkpoint.memory")

    def confirm(state):
        return {"answer": ANSWER if types.interrupt("Really?") else "?", "context": [Document(LAMP)]}

    built = graphs.StateGraph(Known)
    built.add_node(confirm)
    built.add_edge(graphs.START, "confirm")
    chain = built.compile(checkpointer=memory.InMemorySaver())
    guarded = Guard(ScriptedJudge(True)).wrap(chain, question=lambda _: QUESTION, answer=answer)
    for way in ("invoke", "stream"):
        config: Any = {"configurable": {"thread_id": way}}

        def ask(given, way=way, config=config):
            if way == "invoke":
                return door.call(guarded.ainvoke if door.is_async else guarded.invoke, given, config)
            return door.items(lambda: (guarded.astream if door.is_async else guarded.stream)(given, config))[-1]

        paused = ask({"question": QUESTION})
        assert (paused.status, paused.answer) == (Status.NO_CONTEXT, "")
        response = ask(types.Command(resume=True))
        assert (response.status, response.answer, texts(response)) == (Status.ANSWERED, ANSWER, [LAMP])


@both_doors
def test_selectors_look_into_the_state(door: Door):
    class State(TypedDict, total=False):
        ask: str
        passages: list[str]
        reply: str

    def both(state):
        return {"passages": ["p"], "reply": ANSWER}

    built = graphs.StateGraph(State)
    built.add_node(both)
    built.add_edge(graphs.START, "both")
    guarded = Guard(ScriptedJudge(True)).wrap(
        built.compile().with_config(tags=["mine"]).with_retry(), question="ask", chunks="passages", answer="reply"
    )
    stream = guarded.astream if door.is_async else guarded.stream
    for response in (door.invoke(guarded, {"ask": QUESTION}), door.items(stream, {"ask": QUESTION})[-1]):
        assert (response.status, response.answer, texts(response)) == (Status.ANSWERED, ANSWER, ["p"])


def test_a_graph_that_remembers_keeps_its_thread():
    memory = pytest.importorskip("langgraph.checkpoint.memory")

    class Turns(TypedDict, total=False):
        question: str
        context: list[str]
        answer: str
        asked: Annotated[list[str], add]

    def reply(state):
        return {"context": [LAMP], "answer": ANSWER, "asked": [state["question"]]}

    built = graphs.StateGraph(Turns)
    built.add_node(reply)
    built.add_edge(graphs.START, "reply")
    guarded = Guard(ScriptedJudge(True)).wrap(built.compile(checkpointer=memory.InMemorySaver()))
    config: RunnableConfig = {"configurable": {"thread_id": "one"}}
    guarded.invoke({"question": "first"}, config)
    *_, response = guarded.stream({"question": "second"}, config)
    assert response.output["asked"] == ["first", "second"]
    assert guarded.invoke({"question": "third"}, config).output["asked"] == ["first", "second", "third"]


def test_the_graph_is_traced_below_the_guard_and_the_judge_is_not():
    told = Told()
    guarded = Guard(FactCheck(Writer("yes"))).wrap(graph(Writer()))
    *_, response = guarded.stream({"question": QUESTION}, {"callbacks": [told], "run_name": "rag"})
    assert response.status is Status.ANSWERED
    assert [name for name in told.started if name != "ChannelWrite"][:2] == ["rag", "LangGraph"]
    assert told.parents["LangGraph"][1] == told.parents["rag"][0]
    assert told.ended[-1] is response
    assert {"retrieve", "generate", "log"} <= {*told.started}
    assert "groundguard" not in told.started


def test_a_guarded_chain_may_be_a_node():
    inner = Guard(ScriptedJudge(True)).wrap(graph(Writer()))

    def ask(state):
        response = inner.invoke({"question": state["question"]})
        return {"context": list(response.chunks), "answer": f"{response.status}: {response.answer}"}

    built = graphs.StateGraph(Known)
    built.add_node(ask)
    built.add_edge(graphs.START, "ask")
    assert built.compile().invoke({"question": QUESTION})["answer"] == f"answered: {ANSWER}"


@both_doors
def test_leaving_a_graph_early_judges_nothing(door: Door):
    judge, writer = ScriptedJudge(True), Writer()
    guarded = Guard(judge).wrap(graph(writer))

    async def leave():
        stream: Any = guarded.astream({"question": QUESTION}, stream_mode="updates")
        assert list(await anext(stream)) == ["retrieve"]
        await stream.aclose()

    if door.is_async:
        asyncio.run(leave())
    else:
        stream: Any = guarded.stream({"question": QUESTION}, stream_mode="updates")
        assert list(next(stream)) == ["retrieve"]
        stream.close()
    assert judge.exchanges == []
    assert writer.prompts == []


# Agents, which retrieve through tools in rounds.


class Rounds(BaseRetriever):
    """Finds something else in each round."""

    rounds: list[list[str]]

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(text) for text in self.rounds.pop(0)]


def agent(*, rounds, artifact=True):
    agents = pytest.importorskip("langchain.agents", reason="langchain is in the dev extra only")
    calls = [
        AIMessage("", tool_calls=[{"name": "look", "args": {"query": f"lamp {number}"}, "id": str(number)}])
        for number in range(len(rounds))
    ]
    tool = create_retriever_tool(
        Rounds(rounds=[list(found) for found in rounds]),
        "look",
        "Look it up.",
        document_separator=SEPARATOR,
        response_format="content_and_artifact" if artifact else "content",
    )
    writer = Writer(*calls, ANSWER)
    return agents.create_agent(writer, [tool]), writer


def artifacts(state):
    """What the tools found, in every round."""
    return [document for message in state["messages"] for document in getattr(message, "artifact", None) or ()]


GIVEN = {"messages": [("human", QUESTION)]}


@quiet
@every_style
@pytest.mark.parametrize("rounds", [[["a", "b"]], [["a", "b"], ["c"], ["a"]]], ids=["one round", "three rounds"])
def test_an_agent_is_heard_in_every_round(style, rounds):
    judge = ScriptedJudge(True)
    chain, _ = agent(rounds=rounds)
    response = STYLES[style](Guard(judge).wrap(chain), GIVEN)
    assert (response.status, response.answer, response.question) == (Status.ANSWERED, ANSWER, QUESTION)
    assert texts(response) == [text for found in rounds for text in found]
    assert (response.chunks_from, response.chunks_exact) == (ChunksFrom.EVENTS, False)
    assert len(judge.exchanges) == 1


@every_style
def test_an_agent_is_exact_where_its_artifacts_are_named(style):
    chain, writer = agent(rounds=[["a", "b"], ["c"]])
    response = STYLES[style](Guard(ScriptedJudge(True)).wrap(chain, chunks=artifacts), GIVEN)
    seen = [text for said in writer.tools[-1] for text in said.split(SEPARATOR)]
    assert (response.status, response.chunks_exact) == (Status.ANSWERED, True)
    assert response.evidence_digest == digest(seen)
    assert seen == ["a", "b", "c"]


@quiet
@every_style
def test_an_agent_that_answers_at_once_retrieved_nothing(style):
    chain, _ = agent(rounds=[])
    response = STYLES[style](Guard(ScriptedJudge(True)).wrap(chain), GIVEN)
    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.RETRIEVAL_NOT_OBSERVED)


@quiet
@pytest.mark.filterwarnings("ignore:.*create_react_agent", "ignore:.*deprecated")
@every_style
def test_the_older_agent(style):
    prebuilt = pytest.importorskip("langgraph.prebuilt")
    call = AIMessage("", tool_calls=[{"name": "look", "args": {"query": "lamp"}, "id": "1"}])
    tool = create_retriever_tool(Retriever(texts=["a", "b"]), "look", "Look it up.")
    chain = prebuilt.create_react_agent(Writer(call, ANSWER), [tool])
    response = STYLES[style](Guard(ScriptedJudge(True)).wrap(chain), GIVEN)
    assert (response.status, response.answer, texts(response)) == (Status.ANSWERED, ANSWER, ["a", "b"])


@quiet
def test_the_tokens_of_an_agent_pass_as_they_come():
    chain, _ = agent(rounds=[["a", "b"]])
    guarded = Guard(ScriptedJudge(True)).wrap(chain)
    *parts, response = asyncio.run(gathered(guarded.astream(GIVEN, stream_mode="messages")))
    said = [message.content for message, _ in parts if isinstance(message, AIMessageChunk)]
    assert "".join(said) == ANSWER
    assert len([text for text in said if text]) > 3
    assert isinstance(response, Response)
    assert response.output["messages"][-1].content == ANSWER
