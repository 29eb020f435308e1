"""A collector that is dead, or accepts and never answers: the application answers, and ends."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from contextvars import copy_context
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from groundguard import Guard, Status
from groundguard.judges import FactCheck
from groundguard.telemetry.otel import Span
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever
from support.doors import Door, both_doors
from support.telemetry import Spans

PROGRAM = """
import asyncio
from opentelemetry import _logs, metrics, trace
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from groundguard import Guard
from groundguard.judges import FactCheck
from groundguard.telemetry.otel import Span
from groundguard.testing import ScriptedModel

traces, logs = TracerProvider(), LoggerProvider()
traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=10))
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(), schedule_delay_millis=10))
trace.set_tracer_provider(traces)
_logs.set_logger_provider(logs)
metrics.set_meter_provider(MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter(), 10)]))
for reply in ("yes", "no", "perhaps") * 20:
    guard = Guard(FactCheck(ScriptedModel(reply)))
    guard.check("Q?", answer="A", chunks="c")
    asyncio.run(guard.acheck("Q?", answer="A", chunks="c"))
print("answered", flush=True)
"""


@contextmanager
def black_hole() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=128)) as listening:
        yield listening.getsockname()[1]


@contextmanager
def closed_port() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]
    yield port


@pytest.mark.parametrize("collector", [black_hole, closed_port])
def test_a_process_answers_and_ends(collector: Any) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "COV"))}
    with collector() as port:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PROGRAM],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={
                **kept,
                "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
                "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
                "OTEL_METRIC_EXPORT_TIMEOUT": "1000",
            },
        )
    assert (done.returncode, done.stdout) == (0, "answered\n"), done.stderr[-2000:]


class Hanging(SpanExporter):
    """Exports nothing until it is told to."""

    def __init__(self) -> None:
        self.asked, self.go_on = threading.Event(), threading.Event()
        self.exported: list[str] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.asked.set()
        self.go_on.wait()
        self.exported += [span.name for span in spans]
        return SpanExportResult.SUCCESS


@both_doors
def test_a_response_does_not_wait_for_an_exporter_that_hangs(door: Door) -> None:
    exporter = Hanging()
    processor = BatchSpanProcessor(exporter, max_queue_size=8, max_export_batch_size=2, schedule_delay_millis=1)
    Spans()
    provider: Any = trace.get_tracer_provider()
    assert isinstance(provider, TracerProvider)
    active = provider._active_span_processor
    before = active._span_processors
    provider.add_span_processor(processor)
    try:
        guard = Guard(
            ScriptedJudge(True), retriever=ScriptedRetriever("c"), generator=ScriptedGenerator("A"), timeout=None
        )
        door.ask(guard)
        assert exporter.asked.wait(30)
        for _ in range(50):  # far more spans than the queue holds
            assert door.ask(guard).status is Status.ANSWERED
        assert exporter.exported == []
    finally:
        exporter.go_on.set()
        processor.shutdown()
        active._span_processors = before
    assert exporter.exported


def test_a_span_that_is_left_in_another_context_than_it_was_entered_in_detaches_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    spans = Spans()
    span = Span("thrown away", {})
    scope = span.current()
    entered = copy_context()
    entered.run(scope.__enter__)
    assert entered.run(trace.get_current_span).get_span_context().span_id == spans.started[0].context.span_id
    before = trace.get_current_span()
    scope.__exit__(None, None, None)

    assert trace.get_current_span() is before
    assert [record for record in caplog.records if record.name.startswith("opentelemetry")] == []
    span.end()


def test_no_thread_no_provider_and_no_hook_at_import() -> None:
    program = """
import atexit, threading
hooks = []
atexit.register = lambda *arguments, **keywords: hooks.append(arguments)
import groundguard, groundguard.telemetry
import opentelemetry.metrics._internal as meters, opentelemetry.trace as traces
import opentelemetry._logs._internal as logs
assert threading.active_count() == 1
assert [hook for hook in hooks if "groundguard" in repr(hook)] == []
assert (meters._METER_PROVIDER, traces._TRACER_PROVIDER, logs._LOGGER_PROVIDER) == (None, None, None)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@both_doors
def test_spans_of_a_judges_model_are_ended_when_a_stream_is_left_during_the_judgement(door: Door) -> None:
    spans = Spans()
    guard = Guard(
        FactCheck(ScriptedModel("yes")),
        retriever=ScriptedRetriever("c"),
        generator=lambda question, chunks: iter(["A ", "B"]),
    )

    async def aleave() -> None:
        async with guard.astream("Q?") as stream:
            await anext(stream)

    if door.is_async:
        door.call(aleave)
    else:
        with guard.stream("Q?") as stream:
            next(stream)
    assert len(spans.started) == len(spans.ended)
    assert spans.one("invoke_workflow groundguard").attributes["groundguard.given_up"] is True
