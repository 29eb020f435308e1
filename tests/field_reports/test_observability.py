"""Telemetry, as people met it: each test is named after the report it answers. Content: see `unit/telemetry`."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
import structlog
from opentelemetry import trace

from groundguard import Exchange, Guard, Reason, Retry, Status, Verdict, record_chunks
from groundguard.judges import FactCheck
from groundguard.models import Reply
from groundguard.records import Decision, Usage
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever
from support.doors import Door, both_doors
from support.scripts import run_script
from support.telemetry import Measured, Spans

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")


def test_otel_generator_detach_noise(caplog: pytest.LogCaptureFixture) -> None:
    tracer = trace.get_tracer("app")
    spans = Spans()

    @Guard(ScriptedJudge(True))
    async def answer(question: str) -> AsyncIterator[str]:
        record_chunks(question)
        for piece in ("one ", "two ", "three"):
            await asyncio.sleep(0)
            yield piece

    async def one(number: int) -> None:
        stream: Any = answer(f"{number}")
        with tracer.start_as_current_span("request"):
            for _ in range(number % 5):
                await asyncio.create_task(stream.__anext__(), context=contextvars.Context())
                tracer.start_span("app writes").end()
        await asyncio.create_task(stream.aclose(), context=contextvars.Context())

    async def main() -> None:
        await asyncio.gather(*map(one, range(100)))

    caplog.set_level(logging.INFO)
    asyncio.run(main())

    assert [record for record in caplog.records if record.name != "groundguard"] == []
    writes = [span for span in spans.ended if span.name == "app writes"]
    assert len(writes) == 200
    assert {spans.parent_of(span) for span in writes} == {"request"}
    assert len(spans.started) == len(spans.ended)


@both_doors
@pytest.mark.parametrize(
    "judge",
    [
        lambda exchange: True,
        ScriptedJudge(Verdict(Decision.SUPPORTED)),
        FactCheck(lambda prompt: "yes"),
        FactCheck(ScriptedModel("yes")),
        ScriptedJudge(OSError("down")),
    ],
)
def test_otel_none_attributes(door: Door, judge: object, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    spans = Spans()
    door.check(Guard(judge), "How long?", answer="Three minutes.", chunks="It boils in three minutes.")

    assert [record for record in caplog.records if record.name.startswith("opentelemetry")] == []
    for span in spans.ended:
        for value in (span.attributes or {}).values():
            assert type(value) in {str, bool, int, float} or {type(each) for each in value} == {str}


def test_otel_metric_cardinality() -> None:
    run_script(
        """
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider([reader]))
    for number in range(1000):
        said = [True, False, type(f"Error{number}", (Exception,), {})(f"message {number}")][number % 3]
        chunks = [f"chunk {number}"] * (number % 4)
        Guard(ScriptedJudge(said), timeout=None).check(f"question {number}", answer=f"answer {number}", chunks=chunks)
    (resource,) = reader.get_metrics_data().resource_metrics
    points = {
        metric.name: [dict(point.attributes) for point in metric.data.data_points]
        for scope in resource.scope_metrics for metric in scope.metrics
    }
    assert sorted(point["status"] for point in points["rag.queries"]) == ["answered", "no_context", "ungrounded"]
    assert points["rag.faithfulness.judge_failures"] == [{"reason": "judge_error"}]
    assert sum(map(len, points.values())) == 8, points
    assert {label for each in points.values() for point in each for label in point} == {"status", "reason"}
    """
    )


@both_doors
def test_otel_double_counted_llm_spans(door: Door) -> None:
    spans = Spans()
    tracer = trace.get_tracer("instrumented client")

    def model(prompt: str) -> str:
        with tracer.start_as_current_span("chat gpt", attributes={"gen_ai.usage.input_tokens": 42}):
            return "yes"

    door.check(Guard(FactCheck(model)), "How long?", answer="Three minutes.", chunks="It boils in three minutes.")

    counting = [span.name for span in spans.ended if "gen_ai.usage.input_tokens" in (span.attributes or {})]
    assert counting == ["chat gpt"]
    (asking,) = [span for span in spans.ended if span.name.startswith("groundguard ask ")]
    assert spans.parent_of(spans.one("chat gpt")) == asking.name
    assert spans.parent_of(asking) == "groundguard check"
    assert "LLM" not in {(span.attributes or {}).get("openinference.span.kind") for span in spans.ended}


@both_doors
def test_otel_judge_traffic_mixed_with_app(door: Door) -> None:
    """Judge calls hang below a span that says what they are for, and a guard below its own judge does not recurse."""
    spans = Spans()
    inner = Guard(ScriptedJudge(True), retriever=ScriptedRetriever("c"), generator=ScriptedGenerator("A"))

    def judge(exchange: Exchange) -> bool:
        return inner.ask(exchange.question).status is Status.ANSWERED

    response = door.ask(inner.with_options(judge=judge))

    assert response.status is Status.ANSWERED
    checks = [span.attributes for span in spans.ended if span.name == "groundguard check"]
    assert [told["openinference.span.kind"] for told in checks] == ["GUARDRAIL", "GUARDRAIL"]
    assert [told["groundguard.role"] for told in checks] == ["judge", "judge"]


def test_otel_exit_hang_or_loss() -> None:
    done = run_script(
        """
    import atexit, threading
    hooks = []
    atexit.register = lambda *arguments, **_: hooks.append(arguments)
    Guard(lambda exchange: threading.Event().wait(600), timeout=0.05).check("Q?", answer="A", chunks="c")
    asyncio.run(Guard(lambda exchange: threading.Event().wait(600), timeout=0.05).acheck("Q?", answer="A", chunks="c"))
    assert hooks == [], hooks
    print("done")
    """
    )
    assert done.stdout == "done\n"


def test_log_context_bleeds(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "groundguard")

    async def request(name: str, judge: Any) -> None:
        with structlog.contextvars.bound_contextvars(request_id=name):
            for _ in range(5):
                response = await Guard(judge).acheck(name, answer=name, chunks=name)
                assert response.status is Status.ANSWERED
                assert structlog.contextvars.get_contextvars() == {"request_id": name}

    async def main() -> None:
        await asyncio.gather(
            request("R1", lambda exchange: asyncio.sleep(0.001, True)), request("R2", lambda exchange: True)
        )

    asyncio.run(main())
    said = [(record.__dict__["request_id"], record.__dict__["evidence_digest"]) for record in caplog.records]
    assert len(said) == 10
    assert len(set(said)) == 2
    assert structlog.contextvars.get_contextvars() == {}


@both_doors
def test_log_locals_leak(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    def judge(exchange: Exchange) -> bool:
        api_key, passages = "sk-CANARY", exchange.chunks
        raise ValueError(api_key, passages)

    structlog.configure(processors=[structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()])
    try:
        response = door.check(Guard(judge), "How long?", answer="Three minutes.", chunks="CANARY")
    finally:
        structlog.reset_defaults()

    assert response.reason is Reason.JUDGE_ERROR
    (record,) = caplog.records
    assert "CANARY" not in record.getMessage()
    assert record.exc_info is None


@both_doors
def test_otel_huge_attributes(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_AND_EVENT")
    spans = Spans()
    passage = "x" * 1_000_000 + "\N{GRINNING FACE}" * 250_000
    guard = Guard(
        FactCheck(ScriptedModel("yes")),
        retriever=ScriptedRetriever([passage] * 3),
        generator=ScriptedGenerator("12 V."),
    )
    door.ask(guard, "Which voltage?")

    for span in spans.ended:
        assert len(span.name) < 100
        assert all(len(value) <= 16_384 for value in span.attributes.values() if isinstance(value, str))
    retrieval = spans.one("retrieval groundguard").attributes
    assert retrieval["groundguard.content.cut"] is True
    assert retrieval["groundguard.content.characters"] == 1_250_000
    assert retrieval["groundguard.evidence.count"] == 3
    assert spans.one("groundguard check").attributes["groundguard.status"] == "answered"


@both_doors
def test_otel_leak_through_retry_record(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    class Busy(Exception):
        status_code = 503

    caplog.set_level(logging.DEBUG)
    spans = Spans()
    judge = FactCheck(ScriptedModel(Busy("sk-CANARY"), Busy("sk-CANARY How long?"), "yes"))
    guard = Guard(judge, retry=Retry(attempts=3, initial=0, maximum=0))
    response = door.check(guard, "How long?", answer="Three minutes.", chunks="CANARY: three minutes.")

    assert response.status is Status.ANSWERED
    chat = spans.one("chat scripted")
    assert chat.attributes["groundguard.retries"] == 2
    assert [dict(event.attributes) for event in chat.events] == [
        {"groundguard.attempt": number, "error.type": f"{Busy.__qualname__}"} for number in (1, 2)
    ]
    told = repr([(span.name, dict(span.attributes), span.events) for span in spans.ended])
    assert "CANARY" not in told + repr([vars(record) for record in caplog.records])


@both_doors
@pytest.mark.parametrize("usage", [None, Usage(4200, 1)])
def test_otel_missing_usage_as_zero(door: Door, usage: Usage | None) -> None:
    spans, tokens = Spans(), Measured("gen_ai.client.token.usage")
    judge = FactCheck(ScriptedModel(Reply("yes", "stop", usage=usage)))
    door.check(
        Guard(judge),
        "What voltage does the Aldona lamp need?",
        answer="It runs on 12 volts.",
        chunks="The Aldona desk lamp runs on 12 volts and ships with a 2 metre cord.",
    )

    told = {name: value for name, value in spans.one("chat scripted").attributes.items() if "token" in name}
    assert sum(total for _, _, total in tokens.since) == (0 if usage is None else 4201)
    assert (told == {}) is (usage is None)
    assert 0 not in told.values()
