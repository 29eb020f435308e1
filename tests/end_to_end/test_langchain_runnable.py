"""A guarded chain is a Runnable like any other: batches, configs, retries, fields, schemas, and steps on both sides."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import (
    ConfigurableField,
    RunnableConfig,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.runnables.config import run_in_executor
from langchain_core.runnables.history import RunnableWithMessageHistory

from groundguard import Guard, Response, Status, UngroundedError
from groundguard.errors import forget_warnings
from groundguard.policy import Raise, Replace
from groundguard.testing import ScriptedJudge
from support.chains import ANSWER, LAMP, PROMPT, QUESTION, Retriever, Told, Writer, gathered, joined, texts
from support.doors import Door, both_doors


@pytest.fixture(autouse=True)
def _warnings_are_told_again():
    forget_warnings()


def naming_chain(writer=None, found=None):
    answer = RunnablePassthrough.assign(context=lambda given: joined(given["context"])) | PROMPT | (writer or Writer())
    return RunnableParallel(context=found or Retriever(), question=RunnablePassthrough()).assign(
        answer=answer | StrOutputParser()
    )


def guarding(chain=None, judge=None, **options):
    return Guard(judge or ScriptedJudge(True), **options).wrap(chain or naming_chain())


def pair(question):
    return (question, LAMP) if question != "bad" else 1 / 0


QUESTIONS = ["one", "bad", "two"]


# Batches.


@both_doors
def test_a_batch_keeps_its_order_and_may_return_exceptions(door: Door):
    judge = ScriptedJudge(True)
    guarded = guarding(RunnableLambda(pair), judge)
    batch = guarded.abatch if door.is_async else guarded.batch
    one, error, two = door.call(batch, QUESTIONS, return_exceptions=True)
    assert (one.answer, type(error), two.answer) == ("one", ZeroDivisionError, "two")
    assert len(judge.exchanges) == 2
    with pytest.raises(ZeroDivisionError):
        door.call(batch, QUESTIONS)
    held = guarding(RunnableLambda(pair), ScriptedJudge(False), policy=Raise())
    errors = door.call(held.abatch if door.is_async else held.batch, ["one"], return_exceptions=True)
    assert [type(error) for error in errors] == [UngroundedError]


@both_doors
def test_a_batch_comes_as_completed_with_its_places(door: Door):
    guarded = guarding(RunnableLambda(pair))
    many = guarded.abatch_as_completed if door.is_async else guarded.batch_as_completed
    items = dict(door.items(lambda: many(QUESTIONS, return_exceptions=True)))
    assert (items[0].answer, type(items[1]), items[2].answer) == ("one", ZeroDivisionError, "two")


@both_doors
def test_no_more_of_a_batch_run_at_once_than_allowed(door: Door):
    lock, running, most = threading.Lock(), [0], [0]

    def work(question):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        threading.Event().wait(0.01)
        with lock:
            running[0] -= 1
        return question, LAMP

    guarded = guarding(RunnableLambda(work))
    batch = guarded.abatch if door.is_async else guarded.batch
    responses = door.call(batch, list("abcdefgh"), {"max_concurrency": 2})
    assert [response.answer for response in responses] == list("abcdefgh")
    assert most[0] <= 2


@both_doors
def test_it_maps(door: Door):
    responses = door.invoke(guarding(RunnableLambda(pair)).map(), ["one", "two"])
    assert [response.answer for response in responses] == ["one", "two"]


# Variants.


def test_a_config_is_kept():
    told = Told()
    guarded = guarding().with_config(callbacks=[told], run_name="rag", tags=["mine"], metadata={"user": 7})
    assert guarded.invoke(QUESTION).status is Status.ANSWERED
    *_, response = guarded.stream(QUESTION)
    assert response.status is Status.ANSWERED
    assert told.started.count("rag") == 2


@both_doors
def test_a_retry_judges_every_attempt(door: Door):
    judge = ScriptedJudge(False, False, True)
    guarded = guarding(judge=judge, policy=Raise()).with_retry(stop_after_attempt=3, wait_exponential_jitter=False)
    assert door.invoke(guarded, QUESTION).status is Status.ANSWERED
    assert len(judge.exchanges) == 3


@both_doors
def test_bound_arguments_reach_the_chain(door: Door):
    chain = RunnableLambda(lambda question, **kwargs: (kwargs["say"], LAMP))
    assert door.invoke(guarding(chain).bind(say="hello"), QUESTION).answer == "hello"


def test_types_and_schemas():
    guarded = guarding()
    typed = guarded.with_types(input_type=str)
    assert typed.invoke(QUESTION).status is Status.ANSWERED
    assert typed.get_input_jsonschema()["type"] == "string"
    assert guarded.get_input_jsonschema() == guarded.chain.get_input_jsonschema()
    assert guarded.get_output_jsonschema()["title"] == "GuardedRunnableOutput"
    assert guarded.get_name() == "GuardedRunnable"
    assert guarded.get_prompts() == [PROMPT]
    assert {node.name for node in guarded.get_graph().nodes.values()} >= {"Retriever", "Writer"}


@both_doors
def test_the_chains_fields_and_alternatives_stay_configurable(door: Door):
    found = Retriever().configurable_fields(texts=ConfigurableField(id="texts"))
    found = found.configurable_alternatives(ConfigurableField(id="shelf"), spare=Retriever(texts=["spare"]))
    guarded = guarding(naming_chain(found=found))
    assert {spec.id for spec in guarded.config_specs} == {"texts", "shelf"}
    for configurable, expected in (({"texts": ["other"]}, "other"), ({"shelf": "spare"}, "spare")):
        configured = guarded.with_config(configurable=configurable)
        assert texts(door.invoke(configured, QUESTION)) == [expected]
        assert texts(door.items(configured.astream if door.is_async else configured.stream, QUESTION)[-1]) == [expected]


@both_doors
def test_listeners_hear_the_response(door: Door):
    ended: list[Any] = []
    guarded = guarding().with_listeners(on_end=lambda run: ended.append(run.outputs["output"]))
    response = door.invoke(guarded, QUESTION)
    *_, last = door.items(guarded.astream if door.is_async else guarded.stream, QUESTION)
    assert ended == [response, last]


def test_the_depth_of_recursion_is_the_callers():
    seen: list[RunnableConfig] = []

    def answer(question, config):
        seen.append(config)
        return question, LAMP

    guarded = guarding(RunnableLambda(answer))
    guarded.invoke(QUESTION, {"recursion_limit": 7})
    list(guarded.stream(QUESTION, {"recursion_limit": 7}))
    assert [config["recursion_limit"] for config in seen] == [7, 7]


@both_doors
def test_a_run_id_of_the_callers_is_taken_once(door: Door):
    from uuid import uuid4

    told, mine = Told(), uuid4()
    config: Any = {"callbacks": [told], "run_id": mine, "run_name": "rag"}
    guarded = guarding()
    door.items(lambda: (guarded.astream if door.is_async else guarded.stream)(QUESTION, config))
    assert told.parents["rag"] == (mine, None)


# Steps on both sides.


@both_doors
def test_steps_before_and_after(door: Door):
    pipeline = {"question": RunnablePassthrough()} | RunnableLambda(lambda given: given["question"]) | guarding()
    assert door.invoke(pipeline, QUESTION).answer == ANSWER
    assert door.invoke(pipeline | (lambda response: response.status), QUESTION) is Status.ANSWERED
    assert door.invoke((lambda given: given["ask"]) | pipeline, {"ask": QUESTION}).question == QUESTION
    assert door.invoke(guarding().pipe(lambda response: response.answer), QUESTION) == ANSWER


@both_doors
def test_a_field_of_a_mapping(door: Door):
    given = {"question": QUESTION}
    chain = RunnableLambda(lambda given: {"answer": ANSWER, "context": [LAMP]})
    for pipeline in (
        RunnablePassthrough.assign(answer=guarding(chain)),
        RunnableParallel(answer=guarding(chain), question=lambda given: given["question"]),
    ):
        result = door.invoke(pipeline, given)
        assert (result["answer"].status, result["question"]) == (Status.ANSWERED, QUESTION)
        last = [
            piece["answer"]
            for piece in door.items(pipeline.astream if door.is_async else pipeline.stream, given)
            if "answer" in piece
        ]
        assert [response.status for response in last] == [Status.ANSWERED]


@both_doors
def test_fields_are_assigned_to_what_the_chain_returned(door: Door):
    pipeline = guarding().assign(
        status=lambda given: given["response"].status, length=lambda given: len(given["answer"])
    )
    result = door.invoke(pipeline, QUESTION)
    assert list(result) == ["context", "question", "answer", "response", "status", "length"]
    assert (result["answer"], result["status"], result["length"]) == (ANSWER, "answered", len(ANSWER))
    assert isinstance(result["response"], Response)
    pieces = door.items(pipeline.astream if door.is_async else pipeline.stream, QUESTION)
    streamed = {key: value for piece in pieces for key, value in piece.items()}
    assert (streamed["answer"], streamed["status"], streamed["length"]) == (ANSWER, "answered", len(ANSWER))


@both_doors
def test_fields_are_assigned_to_an_answer_that_is_no_mapping(door: Door):
    pipeline = guarding(RunnableLambda(pair)).assign(status=lambda given: given["response"].status)
    result = door.invoke(pipeline, "one")
    assert (list(result), result["answer"], result["status"]) == (["answer", "response", "status"], "one", "answered")


@both_doors
@pytest.mark.parametrize(
    ("output", "selectors", "key"),
    [
        ({"answer": ANSWER, "context": [LAMP]}, {}, "answer"),
        ({"result": ANSWER, "context": [LAMP]}, {}, "result"),
        ({"said": ANSWER, "context": [LAMP]}, {"answer": "said"}, "said"),
        ({"said": {"so": ANSWER}, "context": [LAMP]}, {"answer": lambda output: output["said"]["so"]}, "answer"),
        ((ANSWER, [LAMP]), {}, "answer"),
        ({"answer": ANSWER, "result": ANSWER, "context": [LAMP]}, {}, "answer"),
        ({"messages": [AIMessage(ANSWER)], "context": [LAMP]}, {}, "answer"),
    ],
)
def test_an_assigned_mapping_holds_what_the_policy_delivers(door: Door, output, selectors, key):
    chain = RunnableLambda(lambda _: output)
    guarded = Guard(ScriptedJudge(False), policy=Replace("Ask the shop.")).wrap(chain, **selectors)
    result = door.invoke(guarded.assign(also=lambda given: given[key]), QUESTION)
    assert result[key] == result["also"] == result["response"].answer == "Ask the shop."
    assert ANSWER not in str([value for name, value in result.items() if name != "response"])
    assert door.invoke(guarded.pick(key), QUESTION) == "Ask the shop."


@both_doors
def test_fields_are_picked(door: Door):
    assert door.invoke(guarding().pick("answer"), QUESTION) == ANSWER
    assert door.items(
        guarding().pick("answer").astream if door.is_async else guarding().pick("answer").stream, QUESTION
    ) == [ANSWER]
    picked = door.invoke(guarding().pick(["answer", "response"]), QUESTION)
    assert (picked["answer"], picked["response"].status) == (ANSWER, Status.ANSWERED)


@both_doors
@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_a_chain_with_a_history_of_its_own(door: Door):
    history = InMemoryChatMessageHistory()
    writer = Writer()

    def answer(given):
        return {"answer": writer.invoke([*given["history"], given["question"]]), "context": [LAMP]}

    guarded = guarding(RunnableLambda(answer))
    remembered = RunnableWithMessageHistory(
        guarded | (lambda response: response.output),
        lambda session_id: history,
        input_messages_key="question",
        output_messages_key="answer",
        history_messages_key="history",
    )
    config: Any = {"configurable": {"session_id": "one"}}
    for _ in range(2):
        assert door.call(remembered.ainvoke if door.is_async else remembered.invoke, {"question": QUESTION}, config)
    assert [message.content for message in history.messages] == [QUESTION, ANSWER] * 2
    assert writer.prompts[1].splitlines() == [QUESTION, ANSWER, QUESTION]


def test_a_plain_stream_can_be_read_in_a_thread_while_the_loop_runs():
    async def main():
        return await run_in_executor(None, lambda: list(guarding().stream(QUESTION)))

    *_, response = asyncio.run(main())
    assert response.status is Status.ANSWERED


def test_streams_side_by_side_never_mix():
    chain = RunnableLambda(lambda question: (question, [question]))
    guarded = guarding(chain)

    async def main():
        return await asyncio.gather(*(gathered(guarded.astream(f"<{number}>")) for number in range(100)))

    for number, (piece, response) in enumerate(asyncio.run(main())):
        assert piece == (f"<{number}>", [f"<{number}>"])
        assert texts(response) == [response.answer] == [f"<{number}>"]
