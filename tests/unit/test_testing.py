"""The scripted fakes that users test with."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from groundguard import Chunk, Decision, Exchange, Guard, Reason, Status, Verdict
from groundguard.errors import GroundguardWarning, UsageError
from groundguard.flow.drive import arun, run
from groundguard.judges import FactCheck
from groundguard.models import Prompt, Reply
from groundguard.records import Claim
from groundguard.testing import (
    ScriptedGenerator,
    ScriptedJudge,
    ScriptedModel,
    ScriptedRetriever,
    assert_grounded,
    forget_warnings,
)
from support.doors import Door, both_doors

EXCHANGE = Exchange("Q?", (Chunk("Paris."),), "Paris.")
PROMPT = Prompt("system", "user")


def ask(door: Door, model: ScriptedModel, schema: Any = None) -> Reply:
    flow = model.reply(PROMPT, schema)
    if door.is_async:
        return door.call(lambda: arun(flow))
    return run(flow)


@both_doors
def test_a_model_says_its_lines_in_order_and_the_last_for_ever(door: Door) -> None:
    model = ScriptedModel("a", None, Reply("b", "length"), OSError("down"), "c", name="m")

    assert ask(door, model) == Reply("a", "stop", model="m")
    assert ask(door, model, {"type": "object"}).content is None
    assert ask(door, model) == Reply("b", "length")
    with pytest.raises(OSError, match="down"):
        ask(door, model)
    assert [ask(door, model).content for _ in range(3)] == ["c", "c", "c"]
    assert model.prompts == [PROMPT] * 7
    assert model.schemas == [None, {"type": "object"}, *[None] * 5]
    assert model.name == "m"


@both_doors
def test_a_judge_decides_by_script(door: Door) -> None:
    own = Verdict(Decision.UNKNOWN, Reason.JUDGE_REFUSED)
    judge = ScriptedJudge(True, False, Decision.UNKNOWN, own, RuntimeError("down"), True)
    decide = judge.acall if door.is_async else judge
    said = [door.call(decide, EXCHANGE) for _ in range(7)]

    assert [verdict.reason.value for verdict in said] == [
        "supported", "unsupported", "judge_error", "judge_refused", "judge_error", "supported", "supported",
    ]  # fmt: skip
    assert said[4].error_type == "RuntimeError"
    assert judge.exchanges == [EXCHANGE] * 7
    assert (judge.name, judge.fingerprint) == ("scripted", "scripted")


@both_doors
def test_retriever_and_generator_remember_what_they_were_given(door: Door) -> None:
    retriever, generator = ScriptedRetriever(["a", {"text": "b"}]), ScriptedGenerator("A", "B")
    guard = Guard(ScriptedJudge(True), retriever=retriever, generator=generator)
    responses = [door.ask(guard, question) for question in ("1?", "2?", "3?")]

    chunks = (Chunk("a"), Chunk("b"))
    assert retriever.questions == ["1?", "2?", "3?"]
    assert generator.calls == [("1?", chunks), ("2?", chunks), ("3?", chunks)]
    assert [response.answer for response in responses] == ["A", "B", "B"]


def test_an_exception_in_a_script_is_raised_and_remembered() -> None:
    error = LookupError("gone")
    retriever, generator = ScriptedRetriever(error), ScriptedGenerator(error, "A")
    with pytest.raises(LookupError) as caught:
        retriever("Q?")
    assert caught.value is error
    with pytest.raises(LookupError):
        generator("Q?", ())
    assert generator("Q?", ()) == "A"
    assert retriever.questions == ["Q?"]
    assert len(generator.calls) == 2


def test_a_retriever_finds_nothing_by_default() -> None:
    guard = Guard(ScriptedJudge(True), retriever=ScriptedRetriever(), generator=ScriptedGenerator("A"))
    assert guard.ask("Q?").reason is Reason.NO_CHUNKS


def test_a_script_without_lines_or_with_odd_chunks_is_a_mistake() -> None:
    for fake in (ScriptedModel, ScriptedJudge, ScriptedGenerator):
        with pytest.raises(ValueError, match="at least one line"):
            fake()
    with pytest.raises(UsageError):
        ScriptedRetriever(3)


@pytest.fixture
def _restless() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("_restless")
def test_a_scripted_line_is_said_once_also_to_many_threads() -> None:
    lines = [str(number) for number in range(400)]
    generator = ScriptedGenerator(*lines)
    said: list[str] = []

    def work() -> None:
        said.extend(generator("Q?", ()) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(said, key=int) == lines


def test_warnings_can_be_forgotten() -> None:
    guard = Guard(FactCheck(ScriptedModel("Yes.")), retriever=ScriptedRetriever("c"), generator=ScriptedGenerator("A"))
    forget_warnings()
    with pytest.warns(GroundguardWarning, match=r"equals yes after removing the final full stop"):
        guard.ask("Q?")
    assert guard.ask("Q?").status is Status.UNGROUNDED
    forget_warnings()
    with pytest.warns(GroundguardWarning):
        guard.ask("Q?")


SAID = (
    Claim("It runs on 24 volts.", Decision.UNSUPPORTED, missing=("24 volts",)),
    Claim("It is red.\u202e", Decision.UNKNOWN),
    Claim("It is small.", Decision.SUPPORTED, chunk_ids=("1",)),
    Claim("Hello!", None),
)


def test_a_grounded_response_passes() -> None:
    assert_grounded(Guard(ScriptedJudge(True)).check("Q?", answer="A", chunks="c"))


def test_what_is_not_grounded_fails_and_says_which_claims() -> None:
    judge = ScriptedJudge(Verdict(Decision.UNSUPPORTED, claims=SAID))

    with pytest.raises(AssertionError) as caught:
        assert_grounded(Guard(judge).check("Which?", answer="It runs on 24 volts.", chunks="c"))

    assert str(caught.value).splitlines() == [
        "not grounded: ungrounded (unsupported)",
        "  not supported: It runs on 24 volts. (lacks or contradicts: 24 volts)",
        "  no verdict on: It is red.\\u202e",
        "  question: Which?",
        "  answer: It runs on 24 volts.",
        "  chunks: 1",
    ]


@pytest.mark.parametrize("failure", [OSError("down"), Verdict(Decision.UNKNOWN, Reason.JUDGE_TIMEOUT, detail="slow")])
def test_a_judge_that_could_not_say_fails_the_test(failure: Any) -> None:
    with pytest.raises(AssertionError, match="could not say, so nothing was checked; that is a failure, not a skip"):
        assert_grounded(Guard(ScriptedJudge(failure)).check("Q?", answer="A", chunks="c"))


def test_nothing_retrieved_fails_the_test_though_no_judge_was_asked() -> None:
    with pytest.raises(AssertionError, match=r"not grounded: no_context \(no_chunks\)"):
        assert_grounded(Guard(ScriptedJudge(True)).check("Q?", answer="A", chunks=[]))


@pytest.mark.parametrize("thing", [True, "answered", None, Verdict(Decision.SUPPORTED)])
def test_anything_but_a_response_is_a_mistake_and_no_pass(thing: Any) -> None:
    with pytest.raises(UsageError, match="takes a groundguard Response, not a"):
        assert_grounded(thing)
