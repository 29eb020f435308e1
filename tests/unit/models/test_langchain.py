"""A LangChain chat model as a judge's model: what it is sent, how its replies are read, what it never sees."""

import asyncio
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, FakeListLLM
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from pydantic import PrivateAttr, SecretStr

from groundguard import Guard
from groundguard.errors import UsageError
from groundguard.judges import FactCheck
from groundguard.models import FunctionModel, as_model
from groundguard.models.langchain import LangChainModel
from groundguard.records import Decision, Exchange, Usage
from groundguard.retry import Retry

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

EXCHANGE = Exchange("Which voltage?", (), "12 volts.")
LAMP = {"answer": "It runs on 12 volts.", "chunks": "The lamp runs on 12 volts."}


class Chat(BaseChatModel):
    """Says its lines in order, the last for ever; an exception is raised instead."""

    lines: list[Any]
    model_name: str | None = "chat-1"
    temperature: float | None = None
    api_key: SecretStr = SecretStr("sk-never-shown")
    _asked: list[Any] = PrivateAttr(default_factory=list)
    _threads: list[str] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self):
        return "chat"

    def _say(self, messages, kwargs):
        self._asked.append((messages, kwargs))
        self._threads.append(threading.current_thread().name)
        line = self.lines[min(len(self._asked), len(self.lines)) - 1]
        if isinstance(line, BaseException):
            raise line
        message = line if isinstance(line, AIMessage) else AIMessage(line)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        return self._say(messages, kwargs)


class AsyncChat(Chat):
    """The same, with an async door of its own."""

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
        return self._say(messages, kwargs)


class ToolChat(Chat):
    """Constrains its output by calling a tool."""

    def bind_tools(self, tools, **kwargs):
        return self.bind(tools=tools)


class JsonChat(Chat):
    """Constrains its output by a response format."""

    def with_structured_output(self, schema, *, method, include_raw):
        answer = self.bind(schema=schema, method=method)
        return RunnableLambda(lambda messages: {"raw": answer.invoke(messages), "parsed": None, "parsing_error": None})


class ByStatus(Exception):
    def __init__(self, status, **headers):
        super().__init__(f"HTTP {status}")
        self.status_code = status
        self.headers = headers


def judge(*lines, kind=Chat, **options):
    return FactCheck(kind(lines=list(lines)), **options)


def verdict(*lines, **options):
    return judge(*lines, **options)(EXCHANGE)


def said(content="yes", **more):
    return AIMessage(content, **more)


@pytest.mark.parametrize(
    ("content", "decision"),
    [
        ("yes", Decision.SUPPORTED),
        ("YES", Decision.SUPPORTED),
        ("no", Decision.UNSUPPORTED),
        ("Yes.", Decision.UNKNOWN),
        (" yes", Decision.UNKNOWN),
        ("", Decision.UNKNOWN),
        ([], Decision.UNKNOWN),
        ([{"type": "text", "text": "yes"}], Decision.SUPPORTED),
        ([{"type": "thinking", "thinking": "no, no"}, {"type": "text", "text": "yes"}], Decision.SUPPORTED),
        (
            [{"type": "reasoning", "summary": []}, {"type": "text", "text": "ye"}, {"type": "text", "text": "s"}],
            Decision.SUPPORTED,
        ),
        (["yes"], Decision.UNKNOWN),
        ([{"type": "thinking", "thinking": "yes"}], Decision.UNKNOWN),
        ([{"type": "tool_use", "name": "yes", "id": "1", "input": {}}], Decision.UNKNOWN),
    ],
)
def test_the_content_is_read_untouched(content, decision):
    got = verdict(said(content))
    assert got.decision is decision
    assert decision is not Decision.UNKNOWN or got.reason == "verdict_malformed"


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"finish_reason": "stop"}, "supported"),
        ({"stop_reason": "end_turn"}, "supported"),
        ({"finish_reason": "stop", "stop_reason": None}, "supported"),
        ({"done_reason": "stop"}, "supported"),
        ({"status": "completed"}, "supported"),
        ({"status": 200}, "supported"),
        ({"finish_reason": "length"}, "judge_truncated"),
        ({"stop_reason": "max_tokens"}, "judge_truncated"),
        ({"stopReason": "max_tokens"}, "judge_truncated"),
        ({"done_reason": "length"}, "judge_truncated"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "judge_truncated"),
        ({"status": "incomplete"}, "judge_truncated"),
        ({"finish_reason": "content_filter"}, "judge_filtered"),
        ({"finish_reason": "SAFETY"}, "judge_filtered"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "judge_filtered"),
        ({"stop_reason": "refusal"}, "judge_refused"),
        ({"finish_reason": "tool_calls"}, "verdict_malformed"),
        ({"finish_reason": 3}, "verdict_malformed"),
    ],
)
def test_a_yes_counts_only_if_the_model_stopped_by_itself(told, reason):
    assert verdict(said(response_metadata=told)).reason == reason


def test_a_refusal_that_is_set_apart_is_a_refusal():
    assert verdict(said(additional_kwargs={"refusal": "I can't help."})).reason == "judge_refused"


def test_usage_and_model_are_passed_on_as_reported():
    usage = {"input_tokens": 11, "output_tokens": 1, "total_tokens": 12}
    got = verdict(said(usage_metadata=usage, response_metadata={"model_name": "chat-1-0925"}))
    assert (got.usage, got.model) == (Usage(11, 1), "chat-1-0925")


def test_usage_that_was_not_reported_is_never_invented():
    got = verdict("yes")
    assert (got.usage, got.model) == (None, None)


def test_a_cut_prompt_is_noticed_by_the_tokens_reported():
    usage = {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}
    assert verdict(said(usage_metadata=usage)).reason == "judge_truncated"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ByStatus(429), "judge_rate_limited"),
        (ByStatus(500), "judge_error"),
        (ByStatus(401), "judge_error"),
        (TimeoutError("slow"), "judge_timeout"),
        (ValueError("odd"), "judge_error"),
    ],
)
def test_an_exception_becomes_a_verdict(error, reason):
    got = verdict(error)
    assert (got.decision, got.reason, got.calls) == (Decision.UNKNOWN, reason, 1)


def test_one_attempt_unless_a_retry_is_given():
    model = Chat(lines=[ByStatus(429), "yes"])
    assert Guard(FactCheck(model)).check("q", **LAMP).reason == "judge_rate_limited"
    model = Chat(lines=[ByStatus(429), "yes"])
    assert Guard(FactCheck(model), retry=Retry(initial=0, maximum=0)).check("q", **LAMP).reason == "supported"


def test_what_is_sent_is_one_system_and_one_human_message():
    model = Chat(lines=["yes"])
    FactCheck(model)(Exchange("q {curly}", (), "a"))
    [(messages, kwargs)] = model._asked
    assert [type(message) for message in messages] == [SystemMessage, HumanMessage]
    assert "q {curly}" in messages[1].content
    assert kwargs == {}


# The two doors.


def test_awaiting_uses_the_models_own_coroutine():
    model = AsyncChat(lines=["yes"])
    got = asyncio.run(FactCheck(model).acall(EXCHANGE))
    assert got.decision is Decision.SUPPORTED
    assert model._threads == [threading.main_thread().name]


def test_a_model_without_async_code_runs_in_a_thread_of_the_drivers_own():
    model = Chat(lines=["yes"])
    got = asyncio.run(FactCheck(model).acall(EXCHANGE))
    assert got.decision is Decision.SUPPORTED
    assert model._threads == ["groundguard-call"]


@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: model.bind(x=1)], ids=["bare", "bound"])
def test_a_hung_model_does_not_hold_up_the_end_of_the_loop(wrap):
    class Hung(Chat):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            time.sleep(1.5)
            return self._say(messages, kwargs)

    guard = Guard(FactCheck(wrap(Hung(lines=["yes"]))), timeout=0.05)
    began = time.monotonic()
    assert asyncio.run(guard.acheck("q", **LAMP)).reason == "judge_timeout"
    assert time.monotonic() - began < 1


# Constrained output.


def test_a_schema_goes_to_the_server_by_name_and_its_text_is_read():
    model = JsonChat(lines=[said('{"verdict": "yes"}', response_metadata={"finish_reason": "stop"})])
    assert FactCheck(model, constrained=True)(EXCHANGE).decision is Decision.SUPPORTED
    [(_, kwargs)] = model._asked
    assert kwargs["method"] == "json_schema"
    assert kwargs["schema"]["title"] == "verdict"
    assert kwargs["schema"]["properties"]["verdict"]["enum"] == ["yes", "no"]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (said('{"verdict": "no"}'), "unsupported"),
        (said("yes"), "verdict_malformed"),
        (said('{"verdict": "yes"}', response_metadata={"finish_reason": "length"}), "judge_truncated"),
        (said("", additional_kwargs={"refusal": "no"}), "judge_refused"),
    ],
)
def test_a_constrained_reply_is_read_strictly(message, reason):
    assert verdict(message, kind=JsonChat, constrained=True).reason == reason


def test_a_reply_that_the_client_raises_since_it_was_cut_is_no_mere_error():
    error = ValueError("could not parse")
    error.completion = SimpleNamespace(choices=[SimpleNamespace(finish_reason="length")], model="chat-1")
    got = verdict(error, kind=JsonChat, constrained=True)
    assert (got.reason, got.model) == ("judge_truncated", "chat-1")


def called(*args, finish="tool_calls"):
    calls = [{"name": "verdict", "args": {"verdict": arg}, "id": str(at)} for at, arg in enumerate(args)]
    return said("", tool_calls=calls, response_metadata={"finish_reason": finish})


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (called("yes"), "supported"),
        (called("no", finish="tool_use"), "unsupported"),
        (called("yes", finish="length"), "judge_truncated"),
        (called("maybe"), "verdict_malformed"),
        (called("yes", "yes"), "verdict_malformed"),
        (called("yes", "no"), "verdict_malformed"),
        (said("yes"), "verdict_malformed"),
    ],
)
def test_a_constrained_reply_may_be_one_tool_call(message, reason):
    assert verdict(message, kind=ToolChat, constrained=True).reason == reason


def test_a_tool_call_that_is_no_json_is_malformed():
    broken = [{"name": "verdict", "args": '{"verdict": "yes"', "id": "1", "error": None}]
    message = said("", invalid_tool_calls=broken)
    assert verdict(message, kind=ToolChat, constrained=True).reason == "verdict_malformed"


def test_structured_output_that_holds_no_message_is_malformed():
    class Odd(Chat):
        def with_structured_output(self, schema, **kwargs):
            return RunnableLambda(lambda _: ["yes"])

    assert verdict("yes", kind=Odd, constrained=True).reason == "verdict_malformed"


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (Chat(lines=["yes"]), "Chat can't be asked to constrain"),
        (JsonChat(lines=["yes"]).bind(temperature=0), "needs the chat model itself"),
        (RunnableLambda(lambda _: "yes"), "needs the chat model itself"),
    ],
)
def test_a_model_that_takes_no_schema_is_a_wiring_mistake(model, says):
    with pytest.raises(UsageError, match=says):
        FactCheck(model, constrained=True)


# Other things of LangChain's.


@pytest.mark.parametrize(
    "model",
    [
        FakeListLLM(responses=["yes"]),
        RunnableLambda(lambda messages: {"messages": messages})
        | ChatPromptTemplate.from_messages([("placeholder", "{messages}")])
        | Chat(lines=["yes"]),
        Chat(lines=["yes"]) | StrOutputParser(),
        Chat(lines=["yes"]).with_retry(),
        Chat(lines=[ValueError()]).with_fallbacks([Chat(lines=["yes"])]),
        RunnableLambda(lambda _: "yes"),
    ],
    ids=["llm", "prompt", "parser", "retry", "fallbacks", "lambda"],
)
def test_a_runnable_from_messages_to_text_will_do(model):
    assert FactCheck(model)(EXCHANGE).decision is Decision.SUPPORTED
    assert asyncio.run(FactCheck(model).acall(EXCHANGE)).decision is Decision.SUPPORTED


@pytest.mark.parametrize("reply", [["yes"], True, {"text": "yes"}, HumanMessage("yes"), None, 1])
def test_a_runnable_that_gives_anything_but_text_or_a_message_of_an_ai_is_malformed(reply):
    got = FactCheck(RunnableLambda(lambda _: reply))(EXCHANGE)
    assert (got.decision, got.reason) == (Decision.UNKNOWN, "verdict_malformed")


def test_an_async_function_behind_the_plain_door_is_a_wiring_mistake():
    async def reply(_):
        return "yes"

    check = FactCheck(RunnableLambda(reply))
    assert asyncio.run(check.acall(EXCHANGE)).decision is Decision.SUPPORTED
    with pytest.raises(UsageError, match="async"):
        check(EXCHANGE)


class Retriever(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document("yes")]


@tool
def search(query: str) -> str:
    """Search."""
    return "yes"


@pytest.mark.parametrize(
    "thing",
    [
        Retriever(),
        ChatPromptTemplate.from_template("{x}"),
        StrOutputParser(),
        search,
        Document("yes"),
        AIMessage("yes"),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_is_no_model_is_a_wiring_mistake(thing):
    with pytest.raises(UsageError, match=type(thing).__name__):
        as_model(thing)


def test_it_is_recognised_by_its_class():
    assert isinstance(as_model(Chat(lines=["yes"])), LangChainModel)
    assert isinstance(as_model(lambda prompt: "yes"), FunctionModel)


# Name and fingerprint.


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (Chat(lines=["yes"]), "chat-1"),
        (Chat(lines=["yes"], model_name=None), "Chat"),
        (Chat(lines=["yes"]).bind(temperature=0), "chat-1"),
        (ChatPromptTemplate.from_template("{x}") | Chat(lines=["yes"]) | StrOutputParser(), "chat-1"),
        (RunnableLambda(search.func), "search"),
        (RunnableLambda(search.func) | StrOutputParser(), "RunnableSequence"),
    ],
)
def test_its_name_is_the_models(model, name):
    assert LangChainModel(model).name == name


def test_settings_hold_what_shapes_the_replies_and_no_secret():
    model = Chat(lines=["yes"], temperature=0.5)
    assert LangChainModel(model).settings == {"temperature": 0.5}
    assert LangChainModel(model.bind(temperature=0, seed=7, stop=["x"])).settings == {"temperature": 0, "seed": 7}
    assert "sk-never-shown" not in repr(FactCheck(model))


def test_the_fingerprint_follows_the_settings():
    prints = {FactCheck(Chat(lines=["yes"], temperature=value)).fingerprint for value in (None, 0, 1)}
    assert len(prints) == 3
