"""DSPy end to end: the recipes of `docs/chains.md` on real modules, over a scripted language model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

dspy = pytest.importorskip("dspy")

from dspy.utils import DummyLM

from groundguard import Guard, Reason, Response, Status, record_chunks
from groundguard.errors import UsageError
from groundguard.policy import Replace
from groundguard.records import ChunksFrom
from groundguard.testing import ScriptedJudge
from support.doors import Door, both_doors

QUESTION = "What voltage does the Aldona lamp need?"
ANSWER = "It runs on 12 volts."
LAMP, CORD = "The Aldona lamp runs on 12 volts.", "The cord of the lamp is 2 metres long."


class Lamps(dspy.Module):
    """Retrieves, and has a model answer: by default the prediction names its chunks."""

    def __init__(self, passages: list[str], *, records: bool = False) -> None:
        super().__init__()
        self.passages = passages
        self.records = records
        self.respond = dspy.Predict("context: list[str], question: str -> answer: str")

    def forward(self, question: str) -> Any:
        return self.told(self.respond(context=self.passages, question=question))

    async def aforward(self, question: str) -> Any:
        return self.told(await self.respond.acall(context=self.passages, question=question))

    def told(self, said: Any) -> Any:
        if self.records:
            record_chunks(self.passages)
            return said
        return dspy.Prediction(answer=said.answer, context=self.passages)


@pytest.fixture
def model() -> Any:
    return DummyLM([{"answer": ANSWER}] * 40)


@pytest.fixture(autouse=True)
def _configured(model: Any) -> Any:
    with dspy.context(lm=model):
        yield


def called(module: Any, door: Door) -> Any:
    return module.acall if door.is_async else module


def prompted(model: Any) -> str:
    """The last message that the model saw."""
    return str(model.history[-1]["messages"][-1]["content"])


SELECTORS: Any = [{}, {"question": "question", "chunks": "context", "answer": "answer"}]


@both_doors
@pytest.mark.parametrize("selectors", SELECTORS, ids=["as it is", "with selectors"])
def test_wrapped(door: Door, selectors: Any, model: Any) -> None:
    judge = ScriptedJudge(True)
    ask = Guard(judge).wrap(called(Lamps([LAMP, CORD]), door), **selectors)
    response = door.call(ask, question=QUESTION)

    assert (response.status, response.answer, response.question) == (Status.ANSWERED, ANSWER, QUESTION)
    assert (response.chunks_from, response.chunks_exact) == (ChunksFrom.OUTPUT, True)
    assert [chunk.text for chunk in response.chunks] == [LAMP, CORD]
    assert isinstance(response.output, dspy.Prediction)
    assert response.output.answer == ANSWER
    assert LAMP in prompted(model)
    assert CORD in prompted(model)
    assert judge.exchanges[0].chunks is response.chunks


@both_doors
def test_nothing_found(door: Door) -> None:
    judge = ScriptedJudge(True)
    response = door.call(Guard(judge).wrap(called(Lamps([]), door)), question=QUESTION)

    assert (response.status, response.reason, response.answer) == (Status.NO_CONTEXT, Reason.NO_CHUNKS, ANSWER)
    assert judge.exchanges == []


@both_doors
def test_recorded_inside_the_module(door: Door) -> None:
    ask = Guard(ScriptedJudge(True)).wrap(called(Lamps([LAMP], records=True), door))
    response = door.call(ask, question=QUESTION)

    assert (response.status, response.chunks_from) == (Status.ANSWERED, ChunksFrom.RECORDED)
    assert [chunk.text for chunk in response.chunks] == [LAMP]


@both_doors
def test_fields_of_other_names(door: Door) -> None:
    class Other(dspy.Module):  # type: ignore[misc]
        def forward(self, query_text: str) -> Any:
            return dspy.Prediction(reply=ANSWER, passages=[LAMP])

        async def aforward(self, query_text: str) -> Any:
            return self.forward(query_text)

    guard = Guard(ScriptedJudge(True))
    ask = guard.wrap(called(Other(), door), question="query_text", chunks="passages", answer="reply")
    response = door.call(ask, query_text=QUESTION)
    assert (response.status, response.answer, response.question) == (Status.ANSWERED, ANSWER, QUESTION)

    with pytest.raises(UsageError, match="no question found"):
        door.call(guard.wrap(called(Other(), door), chunks="passages", answer="reply"), query_text=QUESTION)
    with pytest.raises(UsageError, match="has no 'question' to take the question from"):
        door.call(guard.wrap(called(Other(), door), question="question"), query_text=QUESTION)


@both_doors
def test_decorated(door: Door) -> None:
    module = Lamps([LAMP])
    guard = Guard(ScriptedJudge(False), policy=Replace("Ask the shop."))

    @guard
    def ask(question: str) -> Any:
        said = module(question=question)
        return said.answer, said.context

    @guard
    async def aask(question: str) -> Any:
        said = await module.acall(question=question)
        return said.answer, said.context

    response = door.call(aask if door.is_async else ask, QUESTION)
    assert (response.status, response.answer, response.generated) == (Status.UNGROUNDED, "Ask the shop.", ANSWER)
    assert response.chunks_from is ChunksFrom.RETURNED


def test_a_forward_that_is_decorated_itself(model: Any) -> None:
    guard = Guard(ScriptedJudge(True))

    class Guarded(Lamps):
        @guard
        def forward(self, question: str) -> Any:
            return super().forward(question)

    response = Guarded([LAMP])(question=QUESTION)
    assert isinstance(response, Response)
    assert (response.status, response.output.answer) == (Status.ANSWERED, ANSWER)


def test_one_module_for_many_tasks() -> None:
    class Echo(dspy.Module):  # type: ignore[misc]
        async def aforward(self, question: str) -> Any:
            await asyncio.sleep(0.001)
            return dspy.Prediction(answer=question, context=[question])

    guard = Guard(lambda exchange: [chunk.text for chunk in exchange.chunks] == [exchange.question])
    ask = guard.wrap(Echo().acall, question="question", chunks="context", answer="answer")

    async def main() -> list[Response[Any]]:
        return await asyncio.gather(*(ask(question=f"<{number}>") for number in range(30)))

    assert {response.status for response in asyncio.run(main())} == {Status.ANSWERED}
