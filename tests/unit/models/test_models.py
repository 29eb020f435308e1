"""Recognising what a judge was given as its model."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import openai
import pytest
from langchain_core.language_models import FakeListChatModel

from groundguard import models
from groundguard.errors import UsageError
from groundguard.judges import Claims, Conversation, FactCheck, Lexical, Majority
from groundguard.models import FunctionModel, OpenAIModel, as_model
from groundguard.testing import ScriptedJudge, ScriptedModel
from support.ids import steady


def test_a_model_is_itself() -> None:
    model = ScriptedModel("yes")
    assert as_model(model) is model


def test_a_function_is_a_model() -> None:
    assert isinstance(as_model(str.upper), FunctionModel)


def test_a_langchain_chat_model_is_a_model() -> None:
    assert type(as_model(FakeListChatModel(responses=["yes"]))).__name__ == "LangChainModel"


def test_a_name_is_a_model_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    model = as_model("openai:some:model")
    assert isinstance(model, OpenAIModel)
    assert (model.name, model.follows({})) == ("some:model", True)


def test_a_name_without_the_environment_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(
        UsageError, match=r"'openai:m' needs OPENAI_API_KEY in the environment .*OPENAI_BASE_URL"
    ) as raised:
        as_model("openai:m")
    assert isinstance(raised.value.__cause__, openai.OpenAIError)


@pytest.mark.parametrize("name", ["m", "openai", "openai:", "openai: ", "OpenAI:m", "azure:m", "", ":m", "yes"])
def test_a_name_of_another_form_is_a_wiring_mistake(name: str) -> None:
    with pytest.raises(UsageError, match="a model's name reads 'openai:NAME'"):
        as_model(name)


@pytest.mark.parametrize(
    "make",
    [
        lambda: as_model(Lexical()),
        lambda: FactCheck(FactCheck(ScriptedModel("yes"))),
        lambda: Claims(Lexical()),
        lambda: Conversation(Majority(Lexical())),
        lambda: Claims(ScriptedJudge(True)),
    ],
)
def test_a_judge_is_no_model(make: Callable[[], object]) -> None:
    with pytest.raises(UsageError, match=r"a judge asks a model and is none: give the model itself; got a \w+$"):
        make()


def test_a_function_with_settings_of_its_own_is_still_a_model() -> None:
    class Asking:
        fingerprint = "mine"

        def __call__(self, prompt: str) -> str:
            return prompt

    assert isinstance(as_model(Asking()), FunctionModel)


@pytest.mark.parametrize("thing", [None, 7, object(), ScriptedModel, FunctionModel, [], b"x"], ids=steady)
def test_whatever_else_is_a_wiring_mistake(thing: Any) -> None:
    with pytest.raises(UsageError, match="a model is 'openai:NAME'"):
        as_model(thing)


def test_the_module_offers_the_openai_model_and_nothing_that_is_not_there() -> None:
    assert models.OpenAIModel is OpenAIModel
    with pytest.raises(AttributeError, match="has no attribute 'CohereModel'"):
        _ = models.CohereModel


def test_clients_load_only_where_they_are_used() -> None:
    script = """
import sys
import groundguard, groundguard.judges, groundguard.models
groundguard.judges.FactCheck(lambda prompt: "yes")
loaded = {"openai", "langchain_core"} & sys.modules.keys()
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
