"""The `openai` client as a model: what needs no reply of a server. Replies and faults are in `tests/faults`."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import openai
import pytest

from groundguard import Guard
from groundguard.errors import UsageError
from groundguard.flow.steps import Call
from groundguard.judges import FactCheck
from groundguard.models import OpenAIModel, Prompt
from groundguard.records import Usage
from support.exchange import check, check_async

PROMPT = Prompt("Be strict.", "Is it so?")


@pytest.fixture(scope="module")
def client() -> Any:
    with openai.OpenAI(api_key="test", base_url="http://127.0.0.1:9/v1") as client:
        yield client


def asked(model: OpenAIModel, schema: Any = None) -> Call:
    step = next(model.reply(PROMPT, schema))
    assert isinstance(step, Call)
    return step


def test_one_call_is_asked_for_which_is_retried_by_default_and_told_the_deadline(client: openai.OpenAI) -> None:
    call = asked(OpenAIModel(client, "m"))
    assert (call.args, call.retry, call.timeout_keyword) == ((), "default", "timeout")
    assert call.callee.name == "the openai model m"
    assert call.kwargs == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be strict."}, {"role": "user", "content": "Is it so?"}],
    }


def test_options_and_schema_are_added(client: openai.OpenAI) -> None:
    model = OpenAIModel(client, "m", temperature=0, seed=7)
    call = asked(model, {"type": "object"})
    assert call.kwargs.keys() == {"model", "messages", "temperature", "seed", "response_format"}
    assert call.kwargs["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert model.settings == {"temperature": 0, "seed": 7}


def test_options_are_part_of_the_fingerprint(client: openai.OpenAI) -> None:
    prints = {
        FactCheck(OpenAIModel(client, name, **options)).fingerprint
        for name, options in [("m", {}), ("n", {}), ("m", {"temperature": 0}), ("m", {"temperature": 1})]
    }
    assert len(prints) == 4


@pytest.mark.parametrize("name", ["messages", "stream", "n", "response_format", "timeout", "tools", "functions"])
def test_what_the_judge_sets_itself_is_no_option(client: openai.OpenAI, name: str) -> None:
    with pytest.raises(UsageError, match=f"OpenAIModel sets {name} itself"):
        OpenAIModel(client, "m", **{name: 1})


@pytest.mark.parametrize("thing", [None, "http://127.0.0.1", openai, openai.OpenAI, object()], ids=lambda _: "thing")
def test_what_is_no_client_is_a_wiring_mistake(thing: Any) -> None:
    with pytest.raises(UsageError, match=r"OpenAIModel needs an openai.OpenAI or openai.AsyncOpenAI client"):
        OpenAIModel(thing, "m")


def test_an_async_client_behind_the_sync_door_is_a_wiring_mistake() -> None:
    async def main() -> None:
        async with openai.AsyncOpenAI(api_key="test", base_url="http://127.0.0.1:9/v1") as client:
            with pytest.raises(UsageError, match="the openai model m is async: use the async door"):
                check(Guard(FactCheck(OpenAIModel(client, "m"))))

    asyncio.run(main())


class Completion:
    """An object of any make, as another library's drop-in client may return it."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


def read(completion: object) -> Any:
    with openai.OpenAI(api_key="test") as client:
        flow = OpenAIModel(client, "m").reply(PROMPT)
        next(flow)
        with pytest.raises(StopIteration) as end:
            flow.send(completion)
    return end.value.value


def test_a_completion_with_the_least_there_can_be() -> None:
    reply = read(Completion(choices=[Completion(message=Completion(content="yes"))]))
    assert (reply.content, reply.finish_reason, reply.refusal, reply.usage, reply.model) == (
        "yes",
        None,
        None,
        None,
        None,
    )


def test_token_counts_that_are_no_numbers_are_not_taken() -> None:
    usage = Completion(prompt_tokens="12", completion_tokens=3)
    reply = read(Completion(choices=[Completion(message=Completion(content="yes"))], usage=usage))
    assert reply.usage == Usage(None, 3)


@pytest.mark.parametrize(
    "completion",
    [
        None,
        "yes",
        Completion(),
        Completion(choices=None),
        Completion(choices=()),
        Completion(choices=[]),
        Completion(choices=[None]),
        Completion(choices=[Completion()]),
        Completion(choices=[Completion(message="yes")]),
        Completion(choices=[Completion(message=Completion(content="yes"))] * 2),
    ],
    ids=lambda _: "completion",
)
def test_whatever_is_no_completion_with_one_choice_is_an_error(completion: object) -> None:
    with pytest.raises(ValueError, match="not a chat completion with one choice"):
        read(completion)


def test_a_prompt_is_a_value() -> None:
    assert pickle.loads(pickle.dumps(PROMPT)) == PROMPT
    assert PROMPT.text == "Be strict.\n\nIs it so?"
    assert check_async(Guard(lambda exchange: True)).status == "answered"


def test_an_option_that_does_not_exist_is_a_mistake_at_once(client: openai.OpenAI) -> None:
    with pytest.raises(UsageError, match="has no option temprature; extra_body takes any other"):
        OpenAIModel(client, "m", temprature=0)
    assert OpenAIModel(client, "m", extra_body={"top_k": 1}).settings == {"extra_body": {"top_k": 1}}
