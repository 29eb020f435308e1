"""Spans and counters that never get in the way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from opentelemetry import trace

from groundguard.telemetry import names
from groundguard.telemetry.otel import Span, library_version
from support.scripts import run_script
from support.telemetry import Spans


class BrokenSpan(trace.NonRecordingSpan):
    """A tracer's own span that fails whatever is done to it."""

    def __init__(self) -> None:
        super().__init__(trace.INVALID_SPAN_CONTEXT)

    def _fail(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("broken")

    get_span_context = set_attributes = set_attribute = set_status = add_event = is_recording = end = _fail


class BrokenAttributes(Mapping[str, str]):
    def __getitem__(self, key: str) -> str:
        raise RuntimeError("broken")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("broken")

    def __len__(self) -> int:
        return 1


def test_a_span_is_current_only_where_it_is_entered() -> None:
    spans = Spans()
    before = trace.get_current_span()
    span = Span("outer", {"a": 1})
    assert trace.get_current_span() is before
    with span.current():
        assert trace.get_current_span().get_span_context().span_id == spans.started[0].context.span_id
    assert trace.get_current_span() is before
    with pytest.raises(LookupError), span.current():
        raise LookupError("content")
    child = Span("inner", {}, span)
    child.end()
    span.end()

    assert spans.parent_of(spans.one("inner")) == "outer"
    assert spans.one("outer").events == ()
    assert spans.one("outer").status.is_unset
    assert span.trace_id == f"{spans.one('outer').context.trace_id:032x}"


def test_what_is_none_is_not_set(caplog: pytest.LogCaptureFixture) -> None:
    spans = Spans()
    span = Span("values", {})
    span.set({"text": "a", "flag": True, "whole": 1, "share": 0.5, "none": None})
    span.end()

    assert dict(spans.one("values").attributes) == {"text": "a", "flag": True, "whole": 1, "share": 0.5}
    assert caplog.records == []


def test_a_failed_span_names_the_class_only() -> None:
    spans = Spans()
    span = Span("failed", {})
    span.fail(LookupError("content"))
    span.end()

    ended = spans.one("failed")
    assert dict(ended.attributes) == {names.ERROR_TYPE: "LookupError"}
    assert (ended.status.status_code, ended.status.description) == (trace.StatusCode.ERROR, None)


def test_a_broken_span_breaks_nothing() -> None:
    never_started = Span("x", BrokenAttributes())
    broken = Span("x", {})
    broken._span.end()
    broken._span = BrokenSpan()
    for span in (never_started, broken):
        span.set({"a": 1})
        span.describe(lambda: {"a": 1})
        span.event("happened", {"a": 1})
        span.fail(LookupError())
        span.end()
        with span.current():
            pass
        assert span.trace_id is None


ASK_ALL = """
    from groundguard.errors import UngroundedError
    def ask_all():
        for said, chunks in [(True, "c"), (False, "c"), (OSError("down"), "c"), (True, [])]:
            guard = Guard(ScriptedJudge(said), retriever=ScriptedRetriever(chunks), generator=ScriptedGenerator("A"))
            yield guard.ask("Q?").status.value
            yield asyncio.run(guard.aask("Q?")).status.value
            function = guard(lambda question: ("A", chunks))
            yield function("Q?").status.value
            @guard
            def pieces(question):
                yield "A", chunks
            yield list(pieces("Q?"))[-1].status.value
    EXPECTED = ["answered"] * 4 + ["ungrounded"] * 8 + ["no_context"] * 4
"""


def test_broken_telemetry_changes_no_status_and_reaches_no_caller() -> None:
    run_script(
        ASK_ALL
        + """
    import logging, structlog
    from opentelemetry import metrics, trace
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

    fails = 0
    def fail(*_, **__):
        global fails
        fails += 1
        raise RuntimeError("broken")

    class BrokenProcessor(SpanProcessor):
        on_end = fail
    class BrokenStart(SpanProcessor):
        on_start = fail
    class BrokenExporter(SpanExporter):
        export = fail
    class BrokenHandler(logging.Handler):
        emit = fail
    class BrokenMeters(metrics.MeterProvider):
        get_meter = fail

    logging.disable(logging.NOTSET)
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
    logging.getLogger("opentelemetry").propagate = False
    provider = TracerProvider()
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(BrokenMeters())
    logging.getLogger("groundguard").addHandler(BrokenHandler())
    assert list(ask_all()) == EXPECTED
    assert fails

    provider.add_span_processor(SimpleSpanProcessor(BrokenExporter()))
    assert list(ask_all()) == EXPECTED
    provider.add_span_processor(BrokenProcessor())
    assert list(ask_all()) == EXPECTED
    provider.add_span_processor(BrokenStart())
    assert list(ask_all()) == EXPECTED

    fails = 0
    structlog.configure(processors=[fail])
    assert list(ask_all()) == EXPECTED
    assert fails

    class Broken:
        get_tracer = fail
    trace._TRACER_PROVIDER = Broken()
    assert list(ask_all()) == EXPECTED
    """
    )


def test_nothing_global_is_set_and_nothing_printed() -> None:
    done = run_script(
        ASK_ALL
        + """
    import logging, structlog, sys, warnings
    from opentelemetry import metrics, trace
    import opentelemetry.metrics._internal as internal
    hooks = sys.excepthook, sys.unraisablehook, warnings.filters[:], warnings.showwarning
    assert list(ask_all()) == EXPECTED
    try:
        Guard(ScriptedJudge(True), retriever=ScriptedRetriever(LookupError("x")), generator=lambda question, chunks: "").ask("Q?")
    except LookupError:
        pass
    assert trace._TRACER_PROVIDER is None
    assert internal._METER_PROVIDER is None
    assert not structlog.is_configured()
    assert logging.getLogger().handlers == []
    assert logging.getLogger("groundguard").level == logging.NOTSET
    assert [type(handler) for handler in logging.getLogger("groundguard").handlers] == [logging.NullHandler]
    assert (sys.excepthook, sys.unraisablehook, warnings.filters[:], warnings.showwarning) == hooks
    """
    )
    assert done.stdout == done.stderr == ""


def test_prometheus_shows_the_counters_also_with_a_provider_set_late() -> None:
    done = run_script(
        ASK_ALL
        + """
    from opentelemetry import metrics
    from opentelemetry.exporter.prometheus import PrometheusMetricReader
    from opentelemetry.sdk.metrics import MeterProvider
    from prometheus_client import generate_latest

    metrics.set_meter_provider(MeterProvider([PrometheusMetricReader()]))
    assert list(ask_all()) == EXPECTED
    print(generate_latest().decode())
    """
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("rag_") and "duration" not in line]
    counts = {
        re.sub(r'otel_scope_\w+="[^"]*",?', "", line).replace(",}", "}") for line in lines if "_created" not in line
    }
    assert counts == {
        'rag_queries_total{status="answered"} 4.0',
        'rag_queries_total{status="ungrounded"} 8.0',
        'rag_queries_total{status="no_context"} 4.0',
        'rag_faithfulness_judge_failures_total{reason="judge_error"} 4.0',
    }


def test_a_provider_that_is_set_after_the_first_query_counts_the_next() -> None:
    run_script(
        """
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    guard = Guard(ScriptedJudge(True))
    guard.check("Q?", answer="A", chunks="c")
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider([reader]))
    guard.check("Q?", answer="A", chunks="c")
    (resource,) = reader.get_metrics_data().resource_metrics
    (metric,) = [each for scope in resource.scope_metrics for each in scope.metrics if each.name == "rag.queries"]
    (point,) = metric.data.data_points
    assert (metric.name, point.value, dict(point.attributes)) == ("rag.queries", 1, {"status": "answered"})
    """
    )


BROKEN_SPANS = """
import asyncio
from opentelemetry import trace
from groundguard import Guard

class BrokenSpan(trace.NonRecordingSpan):
    def is_recording(self):
        raise RuntimeError("telemetry broke")
    set_attribute = set_attributes = set_status = end = get_span_context = is_recording

class BrokenTracer(trace.NoOpTracer):
    def start_span(self, *_, **__):
        return BrokenSpan(trace.INVALID_SPAN_CONTEXT)

class BrokenProvider(trace.NoOpTracerProvider):
    def get_tracer(self, *_, **__):
        return BrokenTracer()

trace.set_tracer_provider(BrokenProvider())
lost = LookupError("the user's own")

def retrieve(question):
    raise lost

guard = Guard(lambda exchange: True, retriever=retrieve, generator=lambda question, chunks: "")
for ask in (guard.ask, lambda question: asyncio.run(guard.aask(question))):
    try:
        ask("Q?")
    except LookupError as error:
        assert error is lost
print(guard.check("Q?", answer="A", chunks=["A"]).status)
"""


def test_a_span_that_cannot_be_asked_anything_leaves_exceptions_alone() -> None:
    assert run_script(BROKEN_SPANS).stdout == "answered\n"


def test_a_context_that_cannot_be_made_is_done_without() -> None:
    class Nowhere(Span):
        def context(self) -> Any:
            raise RuntimeError("telemetry broke")

    before = trace.get_current_span()
    with Nowhere("x", {}).current():
        assert trace.get_current_span() is before


def test_without_metadata_the_version_is_unknown() -> None:
    assert library_version("no-such-distribution-of-groundguard") == "unknown"
