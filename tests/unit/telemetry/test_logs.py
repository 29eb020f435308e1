"""One log event a response, through the stdlib logger `groundguard`."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from groundguard import Decision, Guard, Reason, Response, Status, UngroundedError, Verdict
from groundguard.policy import Raise
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedRetriever
from support.doors import Door, both_doors
from support.scripts import run_script
from support.telemetry import Spans

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "taskName"}


@pytest.fixture(autouse=True)
def _structlog_as_it_comes() -> Iterator[None]:
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG, "groundguard")
    return caplog


def guard_of(judge: object = None, chunks: object = "Paris is in France.", **options: Any) -> Guard:
    judge = ScriptedJudge(True) if judge is None else judge
    return Guard(judge, retriever=ScriptedRetriever(chunks), generator=ScriptedGenerator("Paris."), **options)


def values(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in STANDARD}


def facts(response: Response[Any], trace_id: str) -> dict[str, Any]:
    verdict = response.verdict
    known = {
        "status": response.status.value,
        "reason": response.reason.value,
        "chunks": len(response.chunks),
        "chunks_from": response.chunks_from.value,
        "evidence_digest": response.evidence_digest,
        "judge": verdict and verdict.judge,
        "score": verdict and verdict.score,
        "error_type": verdict and verdict.error_type,
        "seconds": response.timings.total,
        "judge_seconds": response.timings.judge,
        "trace_id": trace_id,
    }
    return {name: value for name, value in known.items() if value is not None}


@both_doors
@pytest.mark.parametrize(
    ("judge", "chunks", "level"),
    [
        (ScriptedJudge(Verdict(Decision.SUPPORTED, score=0.5)), "c", "INFO"),
        (ScriptedJudge(False), "c", "WARNING"),
        (ScriptedJudge(LookupError("down")), "c", "WARNING"),
        (ScriptedJudge(True), [], "WARNING"),
    ],
)
def test_one_event_a_response(
    door: Door, judge: object, chunks: Any, level: str, log: pytest.LogCaptureFixture
) -> None:
    spans = Spans()
    response = door.ask(guard_of(judge, chunks))

    (record,) = log.records
    assert (record.name, record.levelname, record.getMessage()) == ("groundguard", level, "groundguard.response")
    said = values(record)
    assert said.pop("level") == level.lower()
    assert said.pop("timestamp")
    assert said == facts(response, f"{spans.one('invoke_workflow groundguard').context.trace_id:032x}")
    assert record.exc_info is None
    assert record.stack_info is None


@both_doors
def test_one_event_for_every_way_in(door: Door, log: pytest.LogCaptureFixture) -> None:
    guard = guard_of()
    door.check(guard, answer="A", chunks="c")
    door.call(guard(door.function(lambda question: ("A", "c"))), "Q?")
    door.items(guard(door.generator(lambda question: [("A", "c")])), "Q?")
    with pytest.raises(UngroundedError):
        door.ask(guard_of(ScriptedJudge(False), policy=Raise()))

    assert [record.__dict__["status"] for record in log.records] == ["answered"] * 3 + ["ungrounded"]


@both_doors
def test_no_response_no_event(door: Door, log: pytest.LogCaptureFixture) -> None:
    with pytest.raises(LookupError):
        door.ask(
            Guard(
                ScriptedJudge(True), retriever=ScriptedRetriever(LookupError()), generator=lambda question, chunks: ""
            )
        )
    assert log.records == []


@both_doors
def test_the_applications_level_is_kept(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "groundguard")
    door.ask(guard_of())
    door.ask(guard_of(ScriptedJudge(False)))
    caplog.set_level(logging.CRITICAL, "groundguard")
    door.ask(guard_of(ScriptedJudge(False)))

    assert [record.levelname for record in caplog.records] == ["WARNING"]


@both_doors
def test_the_applications_processors_are_used_where_it_has_set_them(door: Door, log: pytest.LogCaptureFixture) -> None:
    def stamped(logger: Any, method: str, event: Any) -> Any:
        return {**event, "app": "mine", "method": method}

    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, stamped, structlog.processors.JSONRenderer()]
    )
    structlog.contextvars.bind_contextvars(request_id="R1")
    door.ask(guard_of())

    (record,) = log.records
    event = json.loads(record.getMessage())
    assert (record.name, record.levelname) == ("groundguard", "INFO")
    assert (event["event"], event["status"], event["app"]) == ("groundguard.response", "answered", "mine")
    assert (event["request_id"], event["method"]) == ("R1", "info")


@both_doors
def test_the_applications_bound_values_are_on_the_record_and_stay_as_they_are(
    door: Door, log: pytest.LogCaptureFixture
) -> None:
    structlog.contextvars.bind_contextvars(request_id="R1", status="the app's own")
    before = structlog.contextvars.get_contextvars()
    door.ask(guard_of())

    assert structlog.contextvars.get_contextvars() == before
    (record,) = log.records
    assert record.__dict__["request_id"] == "R1"
    assert record.__dict__["status"] == "answered"


@both_doors
def test_a_bound_value_with_a_reserved_name_does_not_cost_the_record(door: Door, log: pytest.LogCaptureFixture) -> None:
    structlog.contextvars.bind_contextvars(name="bob", module="billing", message="hi", exc_info=True, request_id="R1")
    door.ask(guard_of())

    (record,) = log.records
    said = values(record)
    assert (record.name, record.exc_info, record.getMessage()) == ("groundguard", None, "groundguard.response")
    assert (said["name_"], said["module_"], said["message_"], said["exc_info_"]) == ("bob", "billing", "hi", True)
    assert said["request_id"] == "R1"


def test_concurrent_requests_keep_their_own_values(log: pytest.LogCaptureFixture) -> None:
    app = structlog.wrap_logger(
        logging.getLogger("app"), [structlog.contextvars.merge_contextvars, lambda *a: str(a[2])]
    )

    async def request(number: int) -> None:
        structlog.contextvars.bind_contextvars(request_id=f"R{number}")
        judge = (lambda exchange: asyncio.sleep(0.002, True)) if number % 2 else (lambda exchange: True)
        response = await guard_of(judge).acheck("Q?", answer="A", chunks=[f"R{number}"])
        assert response.status is Status.ANSWERED
        assert structlog.contextvars.get_contextvars() == {"request_id": f"R{number}"}
        app.warning("after", digest=response.evidence_digest)

    async def main() -> None:
        await asyncio.gather(*map(request, range(20)))

    asyncio.run(main())
    ours = {
        record.__dict__["evidence_digest"]: record.__dict__["request_id"]
        for record in log.records
        if record.name == "groundguard"
    }
    apps = [record.getMessage() for record in log.records if record.name == "app"]
    assert sorted(ours.values()) == sorted(f"R{number}" for number in range(20))
    assert len(apps) == 20
    for message in apps:
        assert "status" not in message
        (digest,) = [digest for digest in ours if digest in message]
        assert f"'request_id': '{ours[digest]}'" in message
    assert structlog.contextvars.get_contextvars() == {}


@both_doors
def test_structured_tracebacks_find_no_locals_to_print(door: Door, log: pytest.LogCaptureFixture) -> None:
    def judge(exchange: object) -> bool:
        api_key = "sk-CANARY"
        raise RuntimeError(f"{len(api_key)} characters of sk-CANARY refused")

    structlog.configure(processors=[structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()])
    response = door.ask(guard_of(judge))

    assert response.reason is Reason.JUDGE_ERROR
    (record,) = log.records
    assert "CANARY" not in record.getMessage()
    assert json.loads(record.getMessage())["error_type"] == "RuntimeError"


def test_a_handler_of_the_application_sees_it_and_nothing_else_does() -> None:
    done = run_script(
        """
    import logging, sys
    logging.getLogger("groundguard").addHandler(logging.StreamHandler(sys.stdout))
    logging.getLogger("groundguard").setLevel("INFO")
    Guard(ScriptedJudge(True)).check("Q?", answer="A", chunks="c")
    """
    )
    assert done.stdout == "groundguard.response\n"
    assert done.stderr == ""
