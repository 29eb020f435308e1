"""Spans and counters through the OpenTelemetry API and the application's providers; never raises, sets no global."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Generator, Mapping
from importlib.metadata import PackageNotFoundError, version

from opentelemetry import metrics, trace
from opentelemetry.context import Context, attach, detach

from groundguard.records import Decision, Response
from groundguard.telemetry import names

AttributeValue = str | bool | int | float


class Span:
    """A span that starts detached, is current only where it is entered, and swallows every fault of telemetry."""

    def __init__(self, name: str, attributes: Mapping[str, AttributeValue], parent: Span | None = None) -> None:
        self._span: trace.Span = trace.INVALID_SPAN
        with contextlib.suppress(Exception):
            context = parent.context() if parent else None
            tracer = trace.get_tracer(names.INSTRUMENTATION, library_version())
            self._span = tracer.start_span(name, context, attributes=dict(attributes))

    def context(self) -> Context:
        """The OpenTelemetry context in which this span is current."""
        return trace.set_span_in_context(self._span)

    @contextlib.contextmanager
    def current(self) -> Generator[None]:
        """Make the span current around one outside call."""
        token = None
        with contextlib.suppress(Exception):
            token = attach(self.context())
        try:
            yield
        finally:
            with contextlib.suppress(Exception):
                if token is not None:
                    detach(token)

    def set(self, attributes: Mapping[str, AttributeValue | None]) -> None:
        """Set attributes, leaving out those that are None."""
        with contextlib.suppress(Exception):
            self._span.set_attributes({key: value for key, value in attributes.items() if value is not None})

    def fail(self, error: BaseException) -> None:
        """Mark the span as failed, by the class of the exception only: its message may hold content."""
        with contextlib.suppress(Exception):
            self._span.set_attribute(names.ERROR_TYPE, type(error).__qualname__)
            self._span.set_status(trace.Status(trace.StatusCode.ERROR))

    def end(self) -> None:
        """End the span."""
        with contextlib.suppress(Exception):
            self._span.end()

    @property
    def trace_id(self) -> str | None:
        """The trace id in hexadecimal; None where nothing is traced."""
        with contextlib.suppress(Exception):
            context = self._span.get_span_context()
            return trace.format_trace_id(context.trace_id) if context.is_valid else None
        return None


def count(response: Response[object]) -> None:
    """Count one response, and one judge failure if its verdict is UNKNOWN."""
    with contextlib.suppress(Exception):
        _counter(names.QUERIES, "Guarded queries by status").add(1, {"status": response.status.value})
    if response.verdict is not None and response.verdict.decision is Decision.UNKNOWN:
        with contextlib.suppress(Exception):
            failures = _counter(names.JUDGE_FAILURES, "Responses whose judge could not say, by reason")
            failures.add(1, {"reason": response.reason.value})


@functools.cache
def _counter(name: str, description: str) -> metrics.Counter:
    return metrics.get_meter(names.INSTRUMENTATION, library_version()).create_counter(name, description=description)


@functools.cache
def library_version(distribution: str = "groundguard-rag") -> str:
    """The installed version of groundguard; `unknown` where it was copied in without its metadata."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"
