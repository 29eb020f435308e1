"""Content stays out of spans, metrics and logs, on every path."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from groundguard import Chunk, Guard, Reason, Retry, Verdict
from groundguard.errors import GroundguardError
from groundguard.judges import FactCheck
from groundguard.policy import Raise, Replace
from groundguard.records import Decision
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever
from support.doors import Door, both_doors
from support.telemetry import Spans, metric_reader

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

CHUNK = Chunk("CANARY-C", id="CANARY-I", source="CANARY-S", metadata={"CANARY-K": "CANARY-M"})
HISTORY = [("user", "CANARY-H")]


class CanaryError(Exception):
    status_code = 503

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.body = {"error": {"message": "CANARY-B"}}


def guard_of(judge: object, chunks: object = (CHUNK,), answer: Any = "CANARY-A", **options: Any) -> Guard:
    retry = Retry(attempts=2, initial=0, maximum=0)
    return Guard(
        judge, retriever=ScriptedRetriever(chunks), generator=ScriptedGenerator(answer), retry=retry, **options
    )


def says(*replies: Any) -> FactCheck:
    return FactCheck(ScriptedModel(*replies))


def ask(door: Door, guard: Guard) -> None:
    door.ask(guard, "CANARY-Q", history=HISTORY)


def stream(door: Door, guard: Guard, error: BaseException | None = None) -> None:
    def pieces(question: str) -> Iterator[Any]:
        yield "CANARY-A", [CHUNK]
        if error:
            raise error

    door.items(guard(door.generator(pieces)), "CANARY-Q")


def break_off(door: Door, guard: Guard) -> None:
    def pieces(question: str) -> Iterator[Any]:
        yield "CANARY-A", [CHUNK]
        yield "CANARY-A"

    async def aleave() -> None:
        items: Any = guard(door.generator(pieces))("CANARY-Q")
        await anext(items)
        await items.aclose()

    if door.is_async:
        door.call(aleave)
    else:
        items: Any = guard(pieces)("CANARY-Q")
        next(items)
        items.close()


PATHS: dict[str, Callable[[Door], object]] = {
    "ok": lambda door: ask(door, guard_of(says("yes"))),
    "judge no": lambda door: ask(door, guard_of(says("no"))),
    "judge says something else": lambda door: ask(door, guard_of(says("CANARY-J"))),
    "judge raises": lambda door: ask(door, guard_of(ScriptedJudge(ValueError("CANARY-E")))),
    "model raises": lambda door: ask(door, guard_of(says(CanaryError("CANARY-E")))),
    "retry, then ok": lambda door: ask(door, guard_of(says(CanaryError("CANARY-E"), "yes"))),
    "own verdict": lambda door: ask(
        door,
        guard_of(ScriptedJudge(Verdict(Decision.UNKNOWN, Reason.JUDGE_REFUSED, raw="CANARY-J", detail="CANARY-D"))),
    ),
    "no chunks": lambda door: ask(door, guard_of(says("yes"), [])),
    "blank answer": lambda door: ask(door, guard_of(says("yes"), answer=" ")),
    "retriever raises": lambda door: ask(door, guard_of(says("yes"), CanaryError("CANARY-E"))),
    "generator raises": lambda door: ask(door, guard_of(says("yes"), answer=CanaryError("CANARY-E"))),
    "policy raises": lambda door: ask(door, guard_of(says("no"), policy=Raise())),
    "policy replaces": lambda door: ask(door, guard_of(says("no"), policy=Replace("CANARY-P"))),
    "check": lambda door: door.check(
        Guard(says("yes")), "CANARY-Q", answer="CANARY-A", chunks=[CHUNK], history=HISTORY
    ),
    "decorated": lambda door: door.call(
        guard_of(says("yes"))(door.function(lambda question: {"answer": "CANARY-A", "context": [CHUNK]})), "CANARY-Q"
    ),
    "stream": lambda door: stream(door, guard_of(says("yes"))),
    "stream held": lambda door: stream(door, guard_of(says("no"), policy=Replace("CANARY-P"))),
    "stream fails": lambda door: stream(door, guard_of(says("yes")), CanaryError("CANARY-E")),
    "stream broken off": lambda door: break_off(door, guard_of(says("yes"))),
    "no answer": lambda door: door.call(
        guard_of(says("yes"))(door.function(lambda question: {"CANARY-A": 1})), "CANARY-Q"
    ),
    "no question": lambda door: door.call(
        guard_of(says("yes"))(door.function(lambda given: 1)), {"CANARY-Q": "CANARY-Q"}
    ),
}


def everything_observed(spans: Spans, caplog: pytest.LogCaptureFixture) -> str:
    """All that telemetry says, as one text."""
    said: list[object] = []
    for span in spans.started:
        events = [(event.name, dict(event.attributes or {})) for event in span.events]
        said += [span.name, dict(span.attributes or {}), events, span.status.description, span.links]
    data = metric_reader().get_metrics_data()
    said.append(data.to_json() if data else "")
    for record in caplog.records:
        said += [record.getMessage(), vars(record)]
        said += traceback.format_exception(*record.exc_info) if record.exc_info else []
    return repr(said)


@both_doors
@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_no_content_anywhere(door: Door, path: Callable[[Door], object], caplog: pytest.LogCaptureFixture) -> None:
    metric_reader()
    caplog.set_level(logging.DEBUG)
    spans = Spans()
    with suppress(CanaryError, GroundguardError):
        path(door)

    observed = everything_observed(spans, caplog)
    assert "invoke_workflow groundguard" in observed or not spans.started
    assert "CANARY" not in observed


@both_doors
def test_the_response_in_memory_has_it_all_and_shows_nothing(door: Door) -> None:
    response = door.ask(guard_of(says("CANARY-J")), "CANARY-Q")

    assert (response.answer, response.question, response.verdict.raw) == ("CANARY-A", "CANARY-Q", "CANARY-J")
    assert "CANARY" not in repr(response)
