"""Decision models that answer by script, in both vocabularies. Needs langchain-core 1.8."""

import threading
from types import SimpleNamespace
from typing import Any

from langchain_core.decisions import BaseDecisionModel
from langchain_core.runnables import RunnableSerializable
from pydantic import BaseModel, PrivateAttr


def nouls(*probabilities, first=1, **more):
    """The answers to the questions from `first` on; `more` replaces some, or adds others, by their id."""
    answers = {str(number): noul(each) for number, each in enumerate(probabilities, first)}
    return answers | more


def noul(probability):
    """A yes/no answer, without the checks that a provider may leave out as well."""
    return SimpleNamespace(type="noul", noul=probability)


class Scripted(BaseDecisionModel):
    """Gives its answers in order, the last for ever; an exception is raised instead, anything but a dict returned."""

    model: str = "decider-1"
    lines: list[Any]
    usage: Any = None
    _asked: list[Any] = PrivateAttr(default_factory=list)
    _threads: list[str] = PrivateAttr(default_factory=list)

    @property
    def _provider(self):
        return "scripted"

    def _say(self, state, questions):
        self._asked.append((state, questions))
        self._threads.append(threading.current_thread().name)
        line = self.lines[min(len(self._asked), len(self.lines)) - 1]
        if isinstance(line, BaseException):
            raise line
        return SimpleNamespace(answers=line, usage=self.usage, model="served-1") if isinstance(line, dict) else line

    def _classify(self, state, questions):
        return self._say(state, questions)


class AsyncScripted(Scripted):
    """The same, with an async door of its own."""

    async def _aclassify(self, state, questions):
        return self._say(state, questions)


class Predicate(BaseModel):
    """What stands beside a model that speaks OpenAI's vocabulary."""

    instructions: str


class Predicates(RunnableSerializable[Any, Any]):
    """Answers as OpenAI's Decisions API does."""

    model: str = "predicator-1"
    answers: dict[str, Any]
    usage: Any = None
    _asked: list[Any] = PrivateAttr(default_factory=list)

    def invoke(self, given, config=None, **kwargs):
        self._asked.append(given)
        return SimpleNamespace(answers=self.answers, usage=self.usage, model=self.model)


class AsyncPredicates(Predicates):
    """The same, with an async door of its own."""

    async def ainvoke(self, given, config=None, **kwargs):
        return self.invoke(given)
