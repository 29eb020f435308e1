"""A LangChain decision model: typed yes/no questions about structured state, each answered by a probability.

Two vocabularies are spoken: that of `langchain_core.decisions` (`Noul`) and that of OpenAI's Decisions API in
`langchain_openai.decisions` (`Predicate`), which is recognised by its attributes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.base import RunnableBindingBase

from groundguard.errors import UsageError, told
from groundguard.fields import is_mapping
from groundguard.flow.steps import Call, Callee, Flow, ModelCall
from groundguard.models.base import Request
from groundguard.records import Usage

_RUNNABLE: Any = Runnable
_BINDING: Any = RunnableBindingBase


@dataclass(frozen=True, slots=True)
class YesNo:
    """One question about the state.

    Attributes:
        instructions: The question.
        yes: What *yes* means.
        no: What *no* means.
    """

    instructions: str
    yes: str
    no: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What a decision model answered.

    Attributes:
        answers: By the id of its question: the probability of *yes*, from 0 to 1; None for an answer that is none.
        refused: The ids of the questions that it declined to answer.
        usage: Tokens as reported.
        model: The model's name as reported.
    """

    answers: Mapping[str, float | None]
    refused: frozenset[str] = frozenset()
    usage: Usage | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """How a kind of decision model wants to be asked, and how it answers."""

    state: str
    question: Callable[[YesNo], Any]
    kind: str
    probability: str
    default: Any


class DecisionModel:
    """A LangChain decision model, plain and async.

    The call is no part of the application's run, as for chat models.

    Args:
        model: A `langchain_core.decisions.BaseDecisionModel`, a `langchain_openai.decisions.OpenAIDecisions`, or either
            with configuration bound to it.

    Raises:
        UsageError: if it is no decision model.
    """

    def __init__(self, model: object) -> None:
        core = _unbound(model)
        vocabulary = _core_vocabulary(core) or _openai_vocabulary(core)
        if vocabulary is None:
            raise UsageError(
                "Decide asks a LangChain decision model: a langchain_core.decisions.BaseDecisionModel (langchain-core"
                f" 1.8.0 or newer) or langchain_openai.decisions.OpenAIDecisions; got {told(model)}"
            )
        self._core: Any = core
        self._vocabulary = vocabulary
        self._callee = _callee(model, is_async=_own_async(core, vocabulary))

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self._core.model)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The model's class: what else shapes its answers is the provider's."""
        return {"class": type(self._core).__qualname__}

    def decide(self, state: Mapping[str, Any], questions: Mapping[str, YesNo]) -> Flow[Decided]:
        """Ask all questions about one state in one request.

        Args:
            state: JSON values.
            questions: By their ids.

        Raises:
            ValueError: if what came back is no response of a decision model.
        """
        asked = {key: self._vocabulary.question(question) for key, question in questions.items()}
        given = {self._vocabulary.state: state, "questions": asked}
        decided: Decided = yield ModelCall(self._asked(given), Request(self.name, "langchain"))
        return decided

    def _asked(self, given: Mapping[str, Any]) -> Flow[Decided]:
        response = yield Call(self._callee, (given,), retry="asked")
        return _read(response, self._vocabulary)


def _unbound(model: Any) -> Any:
    while isinstance(model, _BINDING):
        model = model.bound
    return model


def _core_vocabulary(core: object) -> _Vocabulary | None:
    if not any(base.__module__.startswith("langchain_core.decisions") for base in type(core).__mro__):
        return None
    from langchain_core.decisions import BaseDecisionModel, Noul, NoulCriteria  # noqa: PLC0415  # not in every version

    if not isinstance(core, BaseDecisionModel):
        return None

    def question(asked: YesNo) -> Any:
        return Noul(instructions=asked.instructions, criteria=NoulCriteria(true=asked.yes, false=asked.no))

    return _Vocabulary("state", question, "noul", "noul", vars(BaseDecisionModel)["_aclassify"])


def _openai_vocabulary(core: object) -> _Vocabulary | None:
    predicate = _predicate(core) if isinstance(core, _RUNNABLE) else None
    if predicate is None:
        return None

    def question(asked: YesNo) -> Any:
        return predicate(instructions=f"{asked.instructions}\n\nTrue: {asked.yes}\nFalse: {asked.no}")

    return _Vocabulary("input", question, "predicate", "probability", vars(_RUNNABLE)["ainvoke"])


def _predicate(core: object) -> Any:
    """The question class that stands beside the model's own class, or in the package that holds it."""
    modules = [base.__module__ for base in type(core).__mro__]
    packages = [name.rpartition(".")[0] for name in modules]
    places = (sys.modules.get(name) for name in (*modules, *packages))
    return next((found for place in places if (found := getattr(place, "Predicate", None))), None)


def _own_async(core: object, vocabulary: _Vocabulary) -> bool:
    """Whether the async door is more than LangChain's default, which runs the plain code in the loop's own threads."""
    default = vocabulary.default
    return getattr(type(core), default.__name__) is not default


def _callee(model: Any, *, is_async: bool) -> Callee:
    def ask(request: Any) -> Any:
        return model.invoke(request, _config())

    async def aask(request: Any) -> Any:
        return await model.ainvoke(request, _config())

    return Callee(ask, aask if is_async else None, f"the decision model {type(model).__name__}")


def _config() -> RunnableConfig:
    """Everything that a call inside a chain would inherit, replaced."""
    return {"callbacks": [], "tags": ["groundguard"], "metadata": {}, "configurable": {}, "run_name": "groundguard"}


# Reading what came back.


def _read(response: Any, vocabulary: _Vocabulary) -> Decided:
    answers: object = getattr(response, "answers", None)
    if not is_mapping(answers):
        raise ValueError("what came back is no response of a decision model: it has no answers")
    told_model: object = getattr(response, "model", None)
    return Decided(
        answers={str(key): _probability(answer, vocabulary) for key, answer in answers.items()},
        refused=frozenset(str(key) for key, answer in answers.items() if getattr(answer, "type", None) == "refusal"),
        usage=_usage(getattr(response, "usage", None)),
        model=told_model if isinstance(told_model, str) else None,
    )


def _probability(answer: object, vocabulary: _Vocabulary) -> float | None:
    if getattr(answer, "type", None) != vocabulary.kind:
        return None
    value: object = getattr(answer, vocabulary.probability, None)
    sound = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1  # NaN is in no range
    return float(value) if sound else None  # type: ignore[arg-type]  # a number


def _usage(told_usage: Any) -> Usage | None:
    """Tokens, where they were counted: these responses say 0 where the server said nothing."""
    counts = [_count(told_usage, name) for name in ("input_tokens", "output_tokens")]
    return None if counts == [None, None] else Usage(*counts)


def _count(told_usage: Any, name: str) -> int | None:
    value: object = told_usage.get(name) if is_mapping(told_usage) else getattr(told_usage, name, None)
    return value if type(value) is int and value > 0 else None
