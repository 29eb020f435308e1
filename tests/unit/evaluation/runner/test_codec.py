"""What a call returned goes into a line of JSON and comes back as it was, or is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from openai.types.chat import ChatCompletion

from groundguard import Chunk, Decision, Exchange, Guard, Verdict
from groundguard.evaluation.runner.codec import UnwritableError, digest, read, written
from groundguard.flow.steps import Call, Callee
from groundguard.models import Reply
from groundguard.records import Turn, Usage
from groundguard.testing import ScriptedJudge

COMPLETION = ChatCompletion.model_validate(
    {
        "id": "1",
        "created": 0,
        "model": "m",
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
    }
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inside: (
        st.lists(inside)
        | st.lists(inside).map(tuple)
        | st.dictionaries(st.text() | st.sampled_from(["$", "value"]), inside)
    ),
)


@given(VALUES)
def test_plain_values_come_back(value):
    assert read(written(value)) == value
    assert json.loads(written(value)) is not Ellipsis


@pytest.mark.parametrize(
    "value",
    [
        Chunk("text", "id", "source", 0.5, {"a": [1]}),
        Turn("user", "hello"),
        Usage(1, None),
        Verdict(Decision.UNKNOWN, detail="why", members=(Verdict(Decision.SUPPORTED),)),
        Reply("yes", "stop", usage=Usage(1, 2), model="m"),
        Reply([{"type": "text", "text": "yes"}], None),
        ("answer", ["chunk", Chunk("c")]),
        {"answer": "a", "context": [Document("text", metadata={"source": "s"})]},
        AIMessage("yes", usage_metadata={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}),
        [HumanMessage("q")],
        COMPLETION,
    ],
    ids=lambda value: type(value).__name__,
)
def test_records_come_back(value):
    assert read(written(value)) == value


def test_a_response_comes_back_without_its_output():
    response = Guard(ScriptedJudge(True)).wrap(lambda question: (question, [question]))("Two years.")
    assert read(written(response)) == response


class Odd(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value",
    [object(), Odd("text"), float("nan"), float("inf"), {1: 2}, iter([]), b"bytes", Document("t", metadata={"a": {1}})],
    ids=lambda value: type(value).__name__,
)
def test_the_rest_is_refused(value):
    with pytest.raises(UnwritableError):
        written([value])


def test_what_contains_itself_is_refused():
    value: list[object] = []
    value.append(value)
    with pytest.raises(UnwritableError):
        written(value)


@pytest.mark.parametrize("kind", ["os:system", "groundguard.guard:Guard", "subprocess:Popen"])
def test_reading_makes_nothing_that_is_not_named(kind):
    with pytest.raises(UnwritableError):
        read(json.dumps({"$": kind, "value": {}}))


def call(*args, **kwargs):
    return Call(Callee(print, None, "the model"), args, kwargs)


def test_the_digest_covers_who_is_asked_what_and_no_clock():
    assert digest(call("a")) == digest(call("a")) != digest(call("b"))
    assert digest(call("a")) != digest(call(given="a"))
    assert digest(call(object())) is None
    exchange = Exchange("q", (Chunk("c"),), "a")
    assert digest(call(exchange)) == digest(call(Exchange("q", (Chunk("c"),), "a")))
    responses = [Guard(ScriptedJudge(True)).check("q", answer="Two years.", chunks=["Two years."]) for _ in range(2)]
    assert responses[0].timings != responses[1].timings
    assert digest(call(responses[0])) == digest(call(responses[1]))
