"""What this process has counted and traced: one reader and one recorder a session, since a global provider can be set
only once."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider


@functools.cache
def metric_reader() -> InMemoryMetricReader:
    """The session's reader; the first call makes its provider the global one."""
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider([reader], shutdown_on_exit=False))
    return reader


def counted(name: str) -> Counter[str]:
    """How often the counter `name` went up so far, by the value of its only attribute."""
    data = metric_reader().get_metrics_data()
    totals: Counter[str] = Counter()
    for resource in data.resource_metrics if data else ():
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                if metric.name == name:
                    for point in metric.data.data_points:
                        totals[_only(point.attributes)] += point.value
    return totals


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
