"""An OTLP/HTTP receiver on loopback, built on opentelemetry-proto: what a collector would have got.

```python
with Receiver() as receiver:                     # OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url
    ...
receiver.spans, receiver.events, receiver.points
```
"""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from support.observed import Observed

SIGNALS: Mapping[str, Any] = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/logs": ExportLogsServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
}


@dataclass(frozen=True)
class Event:
    """One log record."""

    name: str
    attributes: Mapping[str, Any]
    trace_id: str
    span_id: str


@dataclass(frozen=True)
class Point:
    """The last value of one series; a histogram's is its number of measurements."""

    metric: str
    unit: str
    attributes: Mapping[str, Any]
    value: float


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers["content-encoding"] == "gzip":
            body = gzip.decompress(body)
        self.server.received.append((self.path, body))
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name in the standard library
        """Say nothing."""


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        self.received: list[tuple[str, bytes]] = []
        super().__init__(("127.0.0.1", 0), _Handler)


class Receiver:
    """Takes what exporters send, and reads it back as values."""

    def __enter__(self) -> Self:
        self._listener = _Listener()
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown()
        self._thread.join()
        self._listener.server_close()

    @property
    def url(self) -> str:
        """The endpoint, without a signal's path."""
        return f"http://127.0.0.1:{self._listener.server_port}"

    @property
    def everything(self) -> bytes:
        """All bodies, for a search of what must not be there."""
        return b"\n".join(body for _, body in self._listener.received)

    @property
    def services(self) -> set[str]:
        """The `service.name` of everything received."""
        resources = [r.resource for path in SIGNALS for r in self._resources(path)]
        return {_attributes(resource.attributes)["service.name"] for resource in resources}

    @property
    def spans(self) -> list[Observed]:
        """All spans, by when they started."""
        found = [span for r in self._resources("/v1/traces") for scope in r.scope_spans for span in scope.spans]
        return [_observed(span) for span in sorted(found, key=lambda span: span.start_time_unix_nano)]

    @property
    def events(self) -> list[Event]:
        """All log records, in order."""
        return [
            Event(record.event_name, _attributes(record.attributes), record.trace_id.hex(), record.span_id.hex())
            for r in self._resources("/v1/logs")
            for scope in r.scope_logs
            for record in scope.log_records
        ]

    @property
    def points(self) -> list[Point]:
        """All series as they were sent last."""
        last: dict[str, Point] = {}
        for r in self._resources("/v1/metrics"):
            for scope in r.scope_metrics:
                for metric in scope.metrics:
                    for point in _points(metric):
                        last[f"{point.metric}{sorted(point.attributes.items())}"] = point
        return list(last.values())

    def _resources(self, path: str) -> Iterator[Any]:
        for received, body in self._listener.received:
            if received == path:
                (resources,) = [value for _, value in SIGNALS[path].FromString(body).ListFields()]
                yield from resources


def _observed(span: Any) -> Observed:
    return Observed(
        name=span.name,
        kind=str(_attributes(span.attributes).get("openinference.span.kind")),
        attributes=_attributes(span.attributes),
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex() or None,
        status=Status.StatusCode.Name(span.status.code).removeprefix("STATUS_CODE_"),
    )


def _points(metric: Any) -> Iterator[Point]:
    shape = metric.WhichOneof("data")
    for point in getattr(metric, shape).data_points:
        value = point.count if shape == "histogram" else point.as_int or point.as_double
        yield Point(metric.name, metric.unit, _attributes(point.attributes), value)


def _attributes(pairs: Iterable[Any]) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return None if kind is None else getattr(value, kind)
