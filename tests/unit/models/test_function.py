"""A plain function as a model."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from groundguard import Guard, Reason, Retry, Status
from groundguard.errors import UsageError
from groundguard.flow.drive import run
from groundguard.judges import FactCheck
from groundguard.models import FunctionModel, Prompt, Reply
from groundguard.records import Usage
from support.exchange import ANSWER, CHECKS, check, check_async

PROMPT = Prompt("Be strict.", "Is it so?")


def ask(function: Any) -> Reply:
    return run(FunctionModel(function).reply(PROMPT))


def test_it_receives_both_parts_of_the_prompt_as_one_string() -> None:
    prompts: list[str] = []
    assert ask(lambda prompt: prompts.append(prompt) or "yes") == Reply("yes")
    assert prompts == ["Be strict.\n\nIs it so?"]


def test_a_reply_is_passed_on_untouched() -> None:
    reply = Reply("ye", "length", usage=Usage(1, 2), model="m")
    assert ask(lambda prompt: reply) is reply


@pytest.mark.parametrize("content", [None, 1, True, ["yes"], {"verdict": "yes"}, b"yes"], ids=repr)
def test_whatever_else_is_content_for_the_parser_to_refuse(content: object) -> None:
    assert ask(lambda prompt: content) == Reply(content)


def test_a_reply_keeps_its_text_out_of_its_repr() -> None:
    assert "secret" not in repr(Reply("secret", refusal="secret"))


def named(prompt: str) -> str:
    return "yes"


class Callable_:
    def __call__(self, prompt: str) -> str:
        return "yes"


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (named, "named"),
        (Callable_(), "Callable_"),
        (functools.partial(named), "partial"),
        (Callable_().__call__, "Callable_.__call__"),
    ],
)
def test_its_name_is_the_functions(function: Any, name: str) -> None:
    model = FunctionModel(function)
    assert model.name == name
    assert model.settings == {}
    assert not model.follows({})


@pytest.mark.parametrize("door", CHECKS.values(), ids=CHECKS)
def test_it_judges_in_both_doors(door: Any) -> None:
    assert door(Guard(FactCheck(named))).status is Status.ANSWERED
    assert door(Guard(FactCheck(lambda prompt: "No"))).reason is Reason.UNSUPPORTED


def test_an_async_function_judges_in_the_async_door_only() -> None:
    async def model(prompt: str) -> str:
        return "yes"

    guard = Guard(FactCheck(model))
    assert check_async(guard).status is Status.ANSWERED
    with pytest.raises(UsageError, match=r"the model .*model is async: use the async door"):
        check(guard)


@pytest.mark.parametrize(("retry", "calls"), [(None, 1), (Retry(attempts=4, initial=0, maximum=0), 4)])
@pytest.mark.parametrize("door", CHECKS.values(), ids=CHECKS)
def test_it_gets_one_attempt_unless_a_retry_is_given(door: Any, retry: Retry | None, calls: int) -> None:
    prompts: list[str] = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        raise ConnectionError("scripted")

    response = door(Guard(FactCheck(model), retry=retry))
    assert (response.reason, response.answer) == (Reason.JUDGE_ERROR, ANSWER)
    assert (len(prompts), response.verdict.calls, response.verdict.error_type) == (calls, calls, "ConnectionError")


@pytest.mark.parametrize("thing", [None, 7, named("")])
def test_what_is_no_function_is_a_wiring_mistake(thing: Any) -> None:
    with pytest.raises(UsageError, match="the model must be a function"):
        FunctionModel(thing)


def test_it_cannot_be_told_a_schema() -> None:
    with pytest.raises(UsageError, match="a plain function can't be told a JSON schema"):
        FactCheck(named, constrained=True)
