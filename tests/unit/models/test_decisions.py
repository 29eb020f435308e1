"""LangChain decision models: how they are asked, how their answers are read."""

import math
from types import SimpleNamespace

import pytest
from langchain_core.language_models import FakeListLLM
from langchain_core.runnables import RunnableLambda

from groundguard.errors import UsageError
from groundguard.flow.drive import arun, run
from groundguard.models.decisions import DecisionModel, YesNo
from groundguard.records import Usage
from support.doors import ASYNC, both_doors

decisions = pytest.importorskip("langchain_core.decisions", reason="langchain-core 1.8 has decision models")

from support.decisions import (  # noqa: E402  # after the skip
    AsyncPredicates,
    AsyncScripted,
    Predicate,
    Predicates,
    Scripted,
    noul,
    nouls,
)

STATE = {"passages": {"1": '"The lamp is blue."'}}
QUESTIONS = {"1": YesNo("Is it blue?", "Blue.", "Another colour.")}


def decide(door, model, questions=QUESTIONS):
    flow = DecisionModel(model).decide(STATE, questions)
    return door.call(arun if door.is_async else run, flow)


@both_doors
def test_one_request_in_the_vocabulary_of_langchain_core(door):
    model = AsyncScripted(lines=[nouls(0.75)], usage={"input_tokens": 120, "output_tokens": 3})
    decided = decide(door, model)
    assert decided.answers == {"1": 0.75}
    assert (decided.refused, decided.usage, decided.model) == (frozenset(), Usage(120, 3), "served-1")
    ((state, questions),) = model._asked
    assert state == STATE
    assert questions == {
        "1": decisions.Noul(
            instructions="Is it blue?", criteria=decisions.NoulCriteria(true="Blue.", false="Another colour.")
        )
    }


@both_doors
@pytest.mark.parametrize("kind", [Predicates, AsyncPredicates])
def test_one_request_in_the_vocabulary_of_openai(door, kind):
    answer = SimpleNamespace(type="predicate", probability=0.25)
    model = kind(answers={"1": answer}, usage=SimpleNamespace(input_tokens=120, output_tokens=None))
    decided = decide(door, model)
    assert (decided.answers, decided.usage, decided.model) == ({"1": 0.25}, Usage(120, None), "predicator-1")
    assert model._asked == [
        {
            "input": STATE,
            "questions": {"1": Predicate(instructions="Is it blue?\n\nTrue: Blue.\nFalse: Another colour.")},
        }
    ]


@pytest.mark.parametrize(
    "answer",
    [
        noul(math.nan),
        noul(-0.1),
        noul(1.1),
        noul(math.inf),
        noul(True),
        noul("0.9"),
        noul(None),
        SimpleNamespace(type="noul"),
        SimpleNamespace(type="predicate", probability=0.9),
        SimpleNamespace(type="choice", choice="yes", noul=0.9),
        0.9,
        None,
    ],
    ids=str,
)
def test_what_is_no_probability_is_none(answer):
    decided = run(DecisionModel(Scripted(lines=[{"1": answer}])).decide(STATE, QUESTIONS))
    assert (decided.answers, decided.refused) == ({"1": None}, frozenset())


@pytest.mark.parametrize(("given", "read"), [(0, 0.0), (1, 1.0), (0.5, 0.5)])
def test_the_ends_of_the_range_belong_to_it(given, read):
    assert run(DecisionModel(Scripted(lines=[nouls(given)])).decide(STATE, QUESTIONS)).answers == {"1": read}


def test_a_refusal_is_told_apart():
    decided = run(DecisionModel(Predicates(answers={"1": SimpleNamespace(type="refusal")})).decide(STATE, QUESTIONS))
    assert (decided.answers, decided.refused) == ({"1": None}, frozenset({"1"}))


@pytest.mark.parametrize("response", [SimpleNamespace(usage=None), SimpleNamespace(usage=None, answers=[0.9])], ids=str)
def test_what_is_no_response_of_a_decision_model_raises(response):
    with pytest.raises(ValueError, match="no response of a decision model"):
        run(DecisionModel(Scripted(lines=[response])).decide(STATE, QUESTIONS))


@pytest.mark.parametrize("usage", [None, {"input_tokens": 0, "output_tokens": 0}, {"input_tokens": "many"}], ids=str)
def test_tokens_that_nobody_counted_are_none(usage):
    assert run(DecisionModel(Scripted(lines=[nouls(1)], usage=usage)).decide(STATE, QUESTIONS)).usage is None


def test_a_model_whose_name_did_not_come_back():
    response = SimpleNamespace(answers=nouls(1), usage=None, model=None)
    assert run(DecisionModel(Scripted(lines=[response])).decide(STATE, QUESTIONS)).model is None


def test_the_response_of_langchain_core_is_read():
    response = decisions.ClassifierResponse.model_validate(
        {
            "model": "served-2",
            "answers": {"1": {"type": "noul", "noul": 0.875}},
            "usage": {"input_tokens": 90, "output_tokens": 1},
        }
    )
    decided = run(DecisionModel(Scripted(lines=[response])).decide(STATE, QUESTIONS))
    assert (decided.answers, decided.usage, decided.model) == ({"1": 0.875}, Usage(90, 1), "served-2")


def test_without_async_code_of_its_own_it_gets_a_thread_of_ours():
    """LangChain would run it in the loop's own threads, for which `asyncio.run` waits."""
    plain, native = Scripted(lines=[nouls(1)]), AsyncScripted(lines=[nouls(1)])
    for model in (plain, native):
        decide(ASYNC, model)
    assert plain._threads == ["groundguard-call"]
    assert native._threads == ["MainThread"]


def test_what_is_bound_to_a_model_stays():
    model = Scripted(lines=[nouls(1)])
    bound = DecisionModel(model.with_config(tags=["mine"]).with_retry(stop_after_attempt=2))
    assert bound.name == "decider-1"
    assert bound.settings == {"class": "Scripted"}
    assert run(bound.decide(STATE, QUESTIONS)).answers == {"1": 1.0}


@pytest.mark.parametrize(
    "thing",
    [
        "openai:gpt",
        FakeListLLM(responses=["yes"]),
        RunnableLambda(lambda given: given),
        YesNo("?", "yes", "no"),
        decisions.NoulCriteria(true="sk-secret"),
        Scripted,
        None,
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_anything_else_is_a_usage_error_that_names_the_version(thing):
    with pytest.raises(UsageError, match=r"langchain-core 1\.8\.0 or newer") as caught:
        DecisionModel(thing)
    assert "secret" not in str(caught.value)
