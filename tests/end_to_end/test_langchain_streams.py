"""A guarded chain's stream: the pieces of the chain's own, the response last, one traced run, never unjudged."""

import asyncio
import gc
from contextlib import aclosing
from types import MappingProxyType
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel, FakeMessagesListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import (
    Runnable,
    RunnableBranch,
    RunnableConfig,
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.runnables import chain as as_chain

from groundguard import Guard, Reason, Response, Status, UngroundedError, record_chunks
from groundguard.errors import UsageError, forget_warnings
from groundguard.judges import FactCheck
from groundguard.policy import Raise, Replace
from groundguard.testing import ScriptedJudge
from support.chains import ANSWER, LAMP, PROMPT, QUESTION, Retriever, Told, Writer, gathered, joined, texts
from support.doors import Door, both_doors

quiet = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

WORDS = ["It", " runs", " on", " 12", " volts.", ""]


@pytest.fixture(autouse=True)
def _warnings_are_told_again():
    forget_warnings()


def silent_chain(writer=None, found=None):
    context = (found or Retriever()) | joined
    return {"context": context, "question": RunnablePassthrough()} | PROMPT | (writer or Writer()) | StrOutputParser()


def naming_chain(writer=None, found=None):
    answer = RunnablePassthrough.assign(context=lambda given: joined(given["context"])) | PROMPT | (writer or Writer())
    return RunnableParallel(context=found or Retriever(), question=RunnablePassthrough()).assign(
        answer=answer | StrOutputParser()
    )


def recording(*pieces):
    """A chain that streams these pieces."""

    def generate(given):
        record_chunks([LAMP])
        yield from pieces

    async def agenerate(given):
        record_chunks([LAMP])
        for piece in pieces:
            yield piece

    return RunnableGenerator(generate, agenerate)


def silently(*pieces):
    """A chain that streams these pieces and records nothing."""

    def generate(given):
        yield from pieces

    async def agenerate(given):
        for piece in pieces:
            yield piece

    return RunnableGenerator(generate, agenerate)


def streamed(door: Door, guarded, given: Any = QUESTION, config: Any = None, into=None, **kwargs):
    stream = guarded.astream if door.is_async else guarded.stream
    return door.items(lambda: stream(given, config, **kwargs), into=into)


# Which pieces come.


@both_doors
@quiet
@pytest.mark.parametrize("supported", [True, False])
def test_the_pieces_of_the_chain_come_and_then_the_response(door: Door, supported):
    judge = ScriptedJudge(supported)
    *pieces, response = streamed(door, Guard(judge).wrap(silent_chain()))
    assert pieces == WORDS
    assert response.status is (Status.ANSWERED if supported else Status.UNGROUNDED)
    assert (response.answer, response.output, texts(response)) == (ANSWER, tuple(WORDS), [LAMP])
    assert [exchange.answer for exchange in judge.exchanges] == [ANSWER]


@both_doors
def test_pieces_of_a_mapping_are_put_together_key_by_key(door: Door):
    chain = naming_chain()
    judge = ScriptedJudge(True)
    *pieces, response = streamed(door, Guard(judge).wrap(chain))
    assert key_by_key(pieces) == key_by_key(streamed(door, chain))
    assert (response.status, response.answer, texts(response)) == (Status.ANSWERED, ANSWER, [LAMP])
    assert response.chunks_exact
    assert len(judge.exchanges) == 1


def key_by_key(pieces):
    """Pieces of different keys come in any order."""
    keys = {key for piece in pieces for key in piece}
    return {key: [piece[key] for piece in pieces if key in piece] for key in keys}


@both_doors
def test_what_the_caller_said_is_no_answer(door: Door):
    chain = RunnablePassthrough.assign(context=lambda _: [LAMP]) | RunnablePassthrough.assign(
        answer=lambda given: given["language"]
    )
    given = {"question": QUESTION, "language": "English", "history": "human: Hello."}
    judge = ScriptedJudge(True)
    guarded = Guard(judge).wrap(chain)
    *pieces, response = streamed(door, guarded, given)
    assert pieces == streamed(door, chain, given)
    assert response.output == tuple(pieces)
    assert door.invoke(guarded, given).answer == response.answer == "English"
    assert [exchange.answer for exchange in judge.exchanges] == ["English", "English"]


@both_doors
@pytest.mark.parametrize(
    ("pieces", "selectors"),
    [
        ([{"reply": ANSWER}, {"context": [LAMP]}], {"answer": "reply"}),
        ([{"reply": ANSWER, "context": [LAMP]}], {"answer": lambda piece: piece["reply"]}),
        ([{"passage": LAMP, "answer": ANSWER}], {"chunks": "passage"}),
        ([{"passage": LAMP, "answer": ANSWER}], {"chunks": lambda piece: piece["passage"]}),
        ([{"answer": ANSWER}, {"context": LAMP}], {}),
    ],
)
def test_what_the_caller_said_is_read_where_it_is_looked_for(door: Door, pieces, selectors):
    given = {"question": QUESTION, "reply": ANSWER, "answer": ANSWER, "passage": LAMP, "context": LAMP}
    *seen, response = streamed(door, Guard(ScriptedJudge(True)).wrap(silently(*pieces), **selectors), given)
    assert seen == pieces
    assert (response.status, response.answer, texts(response)) == (Status.ANSWERED, ANSWER, [LAMP])


@both_doors
@pytest.mark.parametrize("given", [{"question": QUESTION, "draft": "It runs."}, QUESTION], ids=["mapping", "text"])
def test_a_text_that_nobody_would_judge_is_not_let_out(door: Door, given):
    """Only what the caller said, and under the same key, passes as no part of the answer."""
    chain = recording({"draft": "It runs on 240 volts."}, {"answer": ANSWER})
    pieces: list[Any] = []
    with pytest.raises(UsageError, match="answer='KEY'"):
        streamed(door, Guard(ScriptedJudge(True)).wrap(chain), given, into=pieces)
    assert pieces == []


@both_doors
@pytest.mark.parametrize(
    "model",
    [
        Writer(),
        FakeListChatModel(responses=[ANSWER]),
        FakeMessagesListChatModel(responses=[AIMessage(ANSWER)]),
        FakeMessagesListChatModel(responses=[AIMessage([{"type": "text", "text": ANSWER}])]),
    ],
    ids=["word by word", "letter by letter", "one message", "one message of blocks"],
)
def test_pieces_that_are_messages(door: Door, model):
    chain = {"context": Retriever() | joined | record_chunks_of, "question": RunnablePassthrough()} | PROMPT | model
    *pieces, response = streamed(door, Guard(ScriptedJudge(True)).wrap(chain))
    assert all(isinstance(piece, AIMessage) for piece in pieces)
    assert (response.status, response.answer, texts(response)) == (Status.ANSWERED, ANSWER, [LAMP])


record_chunks_of = RunnableLambda(lambda text: record_chunks(text)[0].text)


@both_doors
@pytest.mark.parametrize("whole", [ANSWER, (ANSWER, [LAMP]), {"answer": ANSWER, "context": [LAMP]}, AIMessage(ANSWER)])
def test_a_chain_that_cannot_stream_comes_in_one_piece(door: Door, whole):
    def answer(_):
        record_chunks([LAMP])
        return whole

    *pieces, response = streamed(door, Guard(ScriptedJudge(True)).wrap(RunnableLambda(answer)))
    assert pieces == [whole]
    assert (response.status, response.answer, texts(response)) == (Status.ANSWERED, ANSWER, [LAMP])


@both_doors
@quiet
def test_nothing_retrieved_and_nothing_said(door: Door):
    *pieces, response = streamed(door, Guard(ScriptedJudge(True)).wrap(silent_chain(found=Retriever(texts=[]))))
    assert (pieces, response.status, response.reason) == (WORDS, Status.NO_CONTEXT, Reason.NO_CHUNKS)
    (response,) = streamed(door, Guard(ScriptedJudge(True)).wrap(recording()))
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.EMPTY_ANSWER)


@both_doors
def test_keyword_arguments_reach_the_stream(door: Door):
    class Says(Runnable):
        def invoke(self, given, config=None, *, say=""):
            return say, LAMP

    *_, response = streamed(door, Guard(ScriptedJudge(True)).wrap(Says()), say="hello")
    assert response.answer == "hello"


@both_doors
def test_nothing_runs_if_the_question_is_not_found(door: Door):
    ran: list[Any] = []

    class Eager(RunnablePassthrough):
        def stream(self, given, config=None, **kwargs):
            ran.append(given)
            return iter([(ANSWER, LAMP)])

        def astream(self, given, config=None, **kwargs):
            ran.append(given)
            return aletters(given)

    with pytest.raises(UsageError, match="no question found"):
        streamed(door, Guard(ScriptedJudge(True)).wrap(Eager()), {"ask": QUESTION})
    assert ran == []


# What a policy holds.


@both_doors
@pytest.mark.parametrize("make", [naming_chain, lambda: recording({"language": "English"}, *WORDS)])
def test_a_policy_that_acts_holds_the_pieces(door: Door, make):
    given = {"question": QUESTION, "language": "English"} if make is not naming_chain else QUESTION
    own = in_any_order(streamed(door, make(), given))
    *held, response = streamed(door, Guard(ScriptedJudge(True), policy=Raise()).wrap(make()), given)
    assert (in_any_order(held), response.status, response.output) == (own, Status.ANSWERED, tuple(held))
    replaced = streamed(door, Guard(ScriptedJudge(False), policy=Replace("Ask the shop.")).wrap(make()), given)
    assert (replaced[:-1], replaced[-1].generated) == (["Ask the shop."], ANSWER)
    nothing: list[Any] = []
    with pytest.raises(UngroundedError) as caught:
        streamed(door, Guard(ScriptedJudge(False), policy=Raise()).wrap(make()), given, into=nothing)
    assert (nothing, in_any_order(caught.value.response.output)) == ([], own)


@both_doors
@pytest.mark.parametrize("make", [naming_chain, lambda: recording({"language": "English"}, *WORDS)])
@pytest.mark.parametrize("supported", [True, False])
def test_a_gate_lets_out_statements_of_the_answer_alone(door: Door, make, supported):
    given = {"question": QUESTION, "language": "English"} if make is not naming_chain else QUESTION
    guarded = Guard(ScriptedJudge(supported), streaming="gate").wrap(make())
    *parts, response = streamed(door, guarded, given)
    assert parts == ([ANSWER] if supported else [])
    assert response.status is (Status.ANSWERED if supported else Status.UNGROUNDED)


def in_any_order(pieces):
    """Pieces of parallel branches come in any order."""
    return sorted(map(str, pieces))


@both_doors
def test_an_error_of_a_guarded_chain_inside_passes_untouched(door: Door):
    inner = Guard(ScriptedJudge(False), policy=Raise()).wrap(naming_chain())
    seen: list[Any] = []

    def ask(question):
        try:
            return inner.invoke(question)
        except UngroundedError as error:
            seen.append((error, error.response))
            raise

    with pytest.raises(UngroundedError) as caught:
        streamed(door, Guard(ScriptedJudge(True)).wrap(RunnableLambda(ask)))
    assert (caught.value, caught.value.response) == seen[0]


# As a step of another's stream it is whole.


@both_doors
@pytest.mark.parametrize("model", [Writer(), FakeMessagesListChatModel(responses=[AIMessage(ANSWER)])])
@pytest.mark.parametrize("fallback", [False, True], ids=["alone", "with a fallback"])
def test_what_follows_gets_the_same_response_streamed_as_invoked(door: Door, model, fallback):
    chain = {"context": Retriever() | joined | record_chunks_of, "question": RunnablePassthrough()} | PROMPT | model
    guarded: Any = Guard(ScriptedJudge(True)).wrap(chain)
    guarded = guarded.with_fallbacks([RunnableLambda(lambda _: "?")]) if fallback else guarded
    after = RunnableLambda(lambda given: given["answer"])
    for pipeline in (
        RunnableParallel(answer=guarded, other=RunnablePassthrough()) | after,
        {"question": RunnablePassthrough()} | RunnablePassthrough.assign(answer=guarded) | after,
        {"input": RunnablePassthrough()} | RunnableParallel(answer=guarded, also=lambda _: "") | after,
        guarded | {"answer": RunnablePassthrough()} | after,
    ):
        invoked = door.invoke(pipeline, QUESTION)
        (response,) = streamed(door, pipeline)
        assert isinstance(response, Response)
        assert (response.status, response.answer) == (Status.ANSWERED, ANSWER)
        assert response.evidence_digest == invoked.evidence_digest
        assert response.output.content == invoked.output.content


@both_doors
def test_a_branch_before_a_step_is_judged_too(door: Door):
    guarded = Guard(ScriptedJudge(True)).wrap(naming_chain())
    branch = RunnableBranch((lambda question: "lamp" in question, guarded), lambda _: "?")
    (status,) = streamed(door, branch | (lambda response: response.status))
    assert status is Status.ANSWERED
    *pieces, response = streamed(door, branch)
    assert (len(pieces), response.status) == (8, Status.ANSWERED)


@both_doors
def test_input_in_pieces_is_put_together_first(door: Door):
    judge = ScriptedJudge(True)
    guarded = Guard(judge).wrap(naming_chain())
    (response,) = streamed(door, RunnableGenerator(letters, aletters) | guarded)
    assert (response.status, response.question, len(judge.exchanges)) == (Status.ANSWERED, QUESTION, 1)


def letters(given):
    for text in given:
        yield from text


async def aletters(given):
    async for text in given:
        for letter in text:
            yield letter


# Fallbacks.


@both_doors
def test_a_fallback_takes_over_where_the_answer_is_not_grounded(door: Door):
    first = Guard(ScriptedJudge(False), policy=Raise()).wrap(naming_chain(Writer("It runs on 240 volts.")))
    spare = Guard(ScriptedJudge(True), policy=Raise()).wrap(naming_chain())
    both = first.with_fallbacks([spare])
    assert door.invoke(both, QUESTION).answer == ANSWER
    *pieces, response = streamed(door, both)
    assert key_by_key(pieces)["answer"] == WORDS
    assert (response.status, response.answer) == (Status.ANSWERED, ANSWER)


# One run, and the chain's below it.


@both_doors
@quiet
def test_a_stream_is_one_traced_run_with_the_chain_as_its_child(door: Door):
    told = Told()
    chain = silent_chain().with_config(run_name="inner")
    guarded = Guard(FactCheck(Writer("yes"))).wrap(chain)
    *_, response = streamed(door, guarded, config={"callbacks": [told], "run_name": "outer"})
    assert told.started.count("outer") == told.started.count("inner") == 1
    assert (told.parents["inner"][1], told.parents["outer"][1]) == (told.parents["outer"][0], None)
    assert told.ended[-1] is response
    assert told.errors == {}
    assert not any("groundguard" in str(name) for name in told.started)


@both_doors
def test_a_stream_that_fails_is_a_run_that_failed(door: Door):
    told, error = Told(), RuntimeError("index is down")
    with pytest.raises(RuntimeError) as caught:
        streamed(
            door,
            Guard(ScriptedJudge(True)).wrap(naming_chain(found=Retriever(error=error))),
            config={"callbacks": [told]},
        )
    assert caught.value is error
    assert told.error_of("GuardedRunnable") is error
    told = Told()
    guarded = Guard(ScriptedJudge(False), policy=Raise()).wrap(naming_chain())
    with pytest.raises(UngroundedError):
        streamed(door, guarded, config={"callbacks": [told]})
    assert [type(error) for error in told.errors.values()] == [UngroundedError]


@both_doors
def test_what_runs_below_without_a_config_gets_the_callers(door: Door):
    seen: list[RunnableConfig] = []
    leaf = as_chain(lambda given, config: (seen.append(config), given)[1])

    class Careless(Runnable):
        def stream(self, given, config=None, **kwargs):
            yield leaf.invoke(given), LAMP

        async def astream(self, given, config=None, **kwargs):
            yield await leaf.ainvoke(given), LAMP

        def invoke(self, given, config=None, **kwargs):
            raise NotImplementedError

    told = Told()
    config = {"callbacks": [told], "tags": ["mine"], "run_name": "outer"}
    streamed(door, Guard(ScriptedJudge(True)).wrap(Careless()), config=config)
    assert seen[0]["tags"] == ["mine"]
    assert len(told.started) == 2


@both_doors
def test_the_judge_of_a_stream_is_not_configured_by_the_application(door: Door):
    seen: list[RunnableConfig] = []
    judge = FactCheck(as_chain(lambda messages, config: (seen.append(config), "yes")[1]))
    config = {"tags": ["mine"], "metadata": {"user": 7}, "configurable": {"model": "other"}}
    streamed(door, Guard(judge).wrap(naming_chain()), config=config)
    assert (seen[0]["tags"], seen[0]["metadata"], seen[0]["configurable"]) == (["groundguard"], {}, {})


@quiet
@pytest.mark.parametrize("policy", [None, Raise()], ids=["passing", "held"])
def test_events_show_what_goes_on_inside_once(policy):
    guard = Guard(FactCheck(Writer("yes")))
    guarded = (guard if policy is None else guard.with_options(policy=policy)).wrap(silent_chain())
    events = asyncio.run(gathered(guarded.astream_events(QUESTION, version="v2", config={"run_name": "rag"})))
    names = [event["event"] for event in events]
    assert names.count("on_retriever_start") == names.count("on_retriever_end") == 1
    assert names.count("on_chat_model_start") == names.count("on_chat_model_end") == 1
    own = [event for event in events if event["name"] == "rag"]
    assert [event["event"] for event in own] == ["on_chain_start", *["on_chain_stream"] * 7, "on_chain_end"]
    *pieces, response = [event["data"]["chunk"] for event in own[1:-1]]
    assert pieces == WORDS
    assert isinstance(response, Response)
    assert own[-1]["data"]["output"] is response
    tokens = [event["data"]["chunk"].content for event in events if event["event"] == "on_chat_model_stream"]
    assert "".join(tokens) == ANSWER


@quiet
@pytest.mark.filterwarnings("ignore:.*astream_log.*")
def test_the_log_ends_with_the_response():
    async def last():
        *_, patch = [patch async for patch in Guard(ScriptedJudge(True)).wrap(silent_chain()).astream_log(QUESTION)]
        return patch

    values = [operation["value"] for operation in asyncio.run(last()).ops]
    assert any(isinstance(value, Response) for value in values)


# Leaving early.


@pytest.mark.parametrize("policy", [None, Raise()], ids=["passing", "held"])
@pytest.mark.parametrize("events", [False, True], ids=["stream", "events"])
def test_leaving_early_closes_the_chain_and_judges_nothing(policy, events):
    writer, judge, told = Writer(), ScriptedJudge(True), Told()
    guard = Guard(judge) if policy is None else Guard(judge, policy=policy)
    guarded = guard.wrap(recorded(writer))

    async def leave():
        if events:
            stream = guarded.astream_events(QUESTION, {"callbacks": [told]}, version="v2")
        else:
            stream = guarded.astream(QUESTION, {"callbacks": [told]})
        async with aclosing(stream):
            async for item in stream:
                if not events or item["event"] == "on_chat_model_stream":
                    return

    asyncio.run(leave())
    if policy is None:
        assert (writer.closed, judge.exchanges) == (["closed early"], [])
        assert type(told.error_of("GuardedRunnable")) in {GeneratorExit, asyncio.CancelledError}
    elif not events:
        assert len(judge.exchanges) == 1


def recorded(writer):
    return {"context": Retriever() | joined | record_chunks_of, "question": RunnablePassthrough()} | PROMPT | writer


@pytest.mark.parametrize("way", ["close", "garbage", "raise"])
def test_leaving_a_plain_stream_early_closes_the_chain_and_judges_nothing(way):
    writer, judge, told = Writer(), ScriptedJudge(True), Told()
    stream: Any = Guard(judge).wrap(recorded(writer)).stream(QUESTION, {"callbacks": [told]})
    assert isinstance(next(stream), AIMessageChunk)
    assert writer.closed == []
    if way == "close":
        stream.close()
    elif way == "raise":
        with pytest.raises(LookupError):
            stream.throw(LookupError())
    else:
        del stream
        gc.collect()
    assert (writer.closed, judge.exchanges) == (["closed early"], [])
    assert type(told.error_of("GuardedRunnable")) is (LookupError if way == "raise" else GeneratorExit)


def test_a_stream_that_is_never_read_does_nothing():
    writer = Writer()
    Guard(ScriptedJudge(True)).wrap(naming_chain(writer)).stream(QUESTION)
    assert writer.prompts == []


def test_a_stream_without_a_way_to_close_it_is_fine():
    class Bare:
        def __init__(self):
            self.left = [(ANSWER, LAMP)]

        def __iter__(self):
            return self

        def __aiter__(self):
            return self

        def __next__(self):
            if not self.left:
                raise StopIteration
            return self.left.pop()

        async def __anext__(self):
            if not self.left:
                raise StopAsyncIteration
            return self.left.pop()

    class Chain(RunnablePassthrough):
        def stream(self, given, config=None, **kwargs):
            return Bare()

        def astream(self, given, config=None, **kwargs):
            return Bare()

    guarded = Guard(ScriptedJudge(True)).wrap(Chain())
    for items in (list(guarded.stream(QUESTION)), asyncio.run(gathered(guarded.astream(QUESTION)))):
        assert (items[0], items[-1].status) == ((ANSWER, LAMP), Status.ANSWERED)


@both_doors
def test_what_the_chain_writes_into_its_input_is_no_echo(door: Door):
    def draft(given):
        given["draft"] = "It runs on air."
        return given

    chain = RunnableLambda(draft) | RunnablePassthrough.assign(context=lambda _: [LAMP]) | gathered_answer()
    guarded = Guard(ScriptedJudge(True), policy=Replace("No.")).wrap(chain)
    with pytest.raises(UsageError, match="this mapping is none"):
        door.items(guarded.astream if door.is_async else guarded.stream, {"question": QUESTION})


def gathered_answer():
    return RunnablePassthrough.assign(answer=lambda _: ANSWER)


@both_doors
@pytest.mark.parametrize("wrap", [dict, MappingProxyType])
def test_a_mapping_of_any_class_may_hand_on_the_question(door: Door, wrap):
    chain = silently(wrap({"question": QUESTION, "context": [LAMP]}), wrap({"answer": ANSWER}))
    guarded = Guard(ScriptedJudge(True), policy=Raise()).wrap(chain)
    *pieces, response = door.items(guarded.astream if door.is_async else guarded.stream, {"question": QUESTION})
    assert pieces == [{"question": QUESTION, "context": [LAMP]}, {"answer": ANSWER}]
    assert response.status is Status.ANSWERED


@both_doors
def test_of_a_string_only_the_part_that_was_judged_is_let_out(door: Door):
    chain = recording("<think>on air</think>", "<think>?</think>" + ANSWER)
    guarded = Guard(ScriptedJudge(True), policy=Raise()).wrap(chain, answer=lambda text: text.rpartition("</think>")[2])
    *pieces, response = door.items(guarded.astream if door.is_async else guarded.stream, QUESTION)
    assert pieces == [ANSWER] == [response.answer]


@both_doors
def test_a_piece_that_the_chain_changes_later_leaves_as_it_was_judged(door: Door):
    def generate(_given):
        record_chunks([LAMP])
        piece = {"question": QUESTION, "answer": ANSWER}
        yield piece
        piece["answer"] = "It runs on air."

    async def agenerate(_given):
        for piece in generate(_given):
            yield piece

    guarded = Guard(ScriptedJudge(True), policy=Raise()).wrap(RunnableGenerator(generate, agenerate))
    *pieces, response = door.items(guarded.astream if door.is_async else guarded.stream, {"question": QUESTION})
    assert pieces == [{"question": QUESTION, "answer": ANSWER}]
    assert response.answer == ANSWER


@both_doors
@pytest.mark.parametrize(
    "given",
    [
        {"input": QUESTION, "chat_history": [("human", "Is it blue?"), ("ai", "Yes.")]},
        {"messages": [("human", "Is it blue?"), ("ai", "Yes."), ("human", QUESTION)]},
        {"question": QUESTION, "history": [{"role": "user", "content": "Is it blue?"}, AIMessage("Yes.")]},
    ],
)
def test_the_judge_reads_what_was_said_before_in_every_call_style(door: Door, given):
    judge = ScriptedJudge(True)
    guarded = Guard(judge).wrap(recording(ANSWER))
    door.invoke(guarded, given)
    door.items(guarded.astream if door.is_async else guarded.stream, given)
    for exchange in judge.exchanges:
        assert (exchange.question, [turn.content for turn in exchange.history]) == (QUESTION, ["Is it blue?", "Yes."])
        assert [chunk.text for chunk in exchange.chunks] == [LAMP]
    assert len(judge.exchanges) == 2
