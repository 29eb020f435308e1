"""What this process has counted, traced and told: one reader and two recorders a session, since a global provider can
be set only once."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider, LogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider


@functools.cache
def metric_reader() -> InMemoryMetricReader:
    """The session's reader; the first call makes its provider the global one."""
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider([reader], shutdown_on_exit=False))
    return reader


def _metrics() -> Iterator[Any]:
    data = metric_reader().get_metrics_data()
    for resource in data.resource_metrics if data else ():
        for scope in resource.scope_metrics:
            yield from scope.metrics


def counted(name: str) -> Counter[str]:
    """How often the counter `name` went up so far, by the value of its only attribute."""
    totals: Counter[str] = Counter()
    for metric in _metrics():
        if metric.name == name:
            for point in metric.data.data_points:
                totals[_only(point.attributes)] += point.value
    return totals


Attributes = tuple[tuple[str, Any], ...]


class Measured:
    """What a histogram has measured since this object was made: how often and how much, by its attributes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._before = self._so_far()

    def _so_far(self) -> dict[Attributes, tuple[int, float]]:
        return {
            tuple(sorted(point.attributes.items())): (point.count, point.sum)
            for metric in _metrics()
            if metric.name == self.name
            for point in metric.data.data_points
        }

    @property
    def since(self) -> list[tuple[dict[str, Any], int, float]]:
        """Attributes, count and sum."""
        now = self._so_far().items()
        grown = [(each, count, total, *self._before.get(each, (0, 0.0))) for each, (count, total) in now]
        return [(dict(each), count - was, total - had) for each, count, total, was, had in grown if count > was]

    @property
    def count(self) -> int:
        """How often, whatever the attributes."""
        return sum(count for _, count, _ in self.since)


class Counts:
    """What was counted since this object was made."""

    def __init__(self) -> None:
        self._before = {name: counted(name) for name in ("rag.queries", "rag.faithfulness.judge_failures")}

    @property
    def queries(self) -> Mapping[str, int]:
        """Queries by status."""
        return self._since("rag.queries")

    @property
    def judge_failures(self) -> Mapping[str, int]:
        """Judge failures by reason."""
        return self._since("rag.faithfulness.judge_failures")

    def _since(self, name: str) -> Mapping[str, int]:
        return dict(counted(name) - self._before[name])


def _only(attributes: Mapping[str, object]) -> str:
    ((_, value),) = attributes.items()
    return str(value)


class _Recording(SpanProcessor):
    """Keeps every span that starts and every one that ends."""

    def __init__(self) -> None:
        self.started: list[ReadableSpan] = []
        self.ended: list[ReadableSpan] = []

    def on_start(self, span: ReadableSpan, parent_context: object = None) -> None:
        self.started.append(span)

    def on_end(self, span: ReadableSpan) -> None:
        self.ended.append(span)


@functools.cache
def _recording() -> _Recording:
    recording = _Recording()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(recording)
    trace.set_tracer_provider(provider)
    return recording


class Spans:
    """What was traced since this object was made."""

    def __init__(self) -> None:
        self._recording = _recording()
        self._before = len(self._recording.started), len(self._recording.ended)

    @property
    def started(self) -> list[ReadableSpan]:
        """All spans, by when they started."""
        return self._recording.started[self._before[0] :]

    @property
    def ended(self) -> list[ReadableSpan]:
        """The spans that ended, by when they did."""
        return self._recording.ended[self._before[1] :]

    @property
    def names(self) -> list[str]:
        """The names of all spans, by when they started."""
        return [span.name for span in self.started]

    def one(self, name: str) -> ReadableSpan:
        """The only span of this name; it has ended, once."""
        (started,) = [span for span in self.started if span.name == name]
        (ended,) = [span for span in self.ended if span.name == name]
        assert started.context.span_id == ended.context.span_id
        return ended

    def parent_of(self, span: ReadableSpan) -> str | None:
        """The name of a span's parent, among these."""
        if span.parent is None:
            return None
        return next(other.name for other in self.started if other.context.span_id == span.parent.span_id)


has_events = pytest.mark.skipif(
    "event_name" not in inspect.signature(_logs.Logger.emit).parameters,
    reason="the logs API of this OpenTelemetry has no events",
)


class _Keeping(LogRecordProcessor):
    """Keeps every record of the logs API."""

    def __init__(self) -> None:
        self.records: list[Any] = []

    def on_emit(self, log_record: Any) -> None:
        self.records.append(log_record.log_record)

    emit = on_emit

    def shutdown(self) -> None: ...

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True


@functools.cache
def _keeping() -> _Keeping:
    keeping = _Keeping()
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(keeping)
    _logs.set_logger_provider(provider)
    return keeping


class Events:
    """The log events since this object was made."""

    def __init__(self) -> None:
        self._keeping = _keeping()
        self._before = len(self._keeping.records)

    @property
    def records(self) -> list[Any]:
        """All of them, by when they came."""
        return self._keeping.records[self._before :]

    def named(self, name: str) -> list[dict[str, Any]]:
        """The attributes of those of this name."""
        return [dict(record.attributes) for record in self.records if record.event_name == name]
