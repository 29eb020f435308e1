"""Spans through the OpenTelemetry API and the application's providers; never raises, sets no global."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from contextvars import ContextVar
from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach

from groundguard.telemetry import names
from groundguard.telemetry.values import attribute

Value: TypeAlias = str | bool | int | float | Sequence[str]
Attributes: TypeAlias = Mapping[str, Value | None]

_entered: ContextVar[object] = ContextVar("groundguard_span", default=None)


def _unchanged(context: Context) -> Context:
    return context


class Span:
    """A span that starts detached, is current only where it is entered, and swallows every fault of telemetry.

    Args:
        name: Its name.
        attributes: Those that it starts with; what is None is left out.
        parent: The span that it hangs below, or the context with it; None for the one that is current.
        client: Whether it stands for a call that leaves the process.
    """

    def __init__(
        self, name: str, attributes: Attributes, parent: Span | Context | None = None, *, client: bool = False
    ) -> None:
        self._span: trace.Span = trace.INVALID_SPAN
        with contextlib.suppress(Exception):
            context = parent.context() if isinstance(parent, Span) else parent
            tracer = trace.get_tracer(names.INSTRUMENTATION, library_version())
            kind = trace.SpanKind.CLIENT if client else trace.SpanKind.INTERNAL
            self._span = tracer.start_span(name, context, kind=kind, attributes=cleaned(attributes))

    def context(self) -> Context:
        """The OpenTelemetry context in which this span is current."""
        return trace.set_span_in_context(self._span)

    @contextlib.contextmanager
    def current(self, change: Callable[[Context], Context] = _unchanged) -> Generator[None]:
        """Make the span current around one outside call, in a context that `change` may add to."""
        token = mark = None
        with contextlib.suppress(Exception):
            token = attach(change(self.context()))
            mark = _entered.set(self)
        try:
            yield
        finally:
            with contextlib.suppress(Exception):  # in another context, as of a coroutine that is thrown away, we leave
                if token is not None and mark is not None:  # it alone: OpenTelemetry would log what it fails to detach
                    _entered.reset(mark)
                    detach(token)

    def set(self, attributes: Attributes) -> None:
        """Set attributes, leaving out those that are None."""
        with contextlib.suppress(Exception):
            self._span.set_attributes(cleaned(attributes))

    def describe(self, facts: Callable[[], Attributes]) -> None:
        """Set what `facts` gives, if anybody records it."""
        with contextlib.suppress(Exception):
            if self._span.is_recording():
                self.set(facts())

    def event(self, name: str, attributes: Attributes) -> None:
        """Note an event on the span."""
        with contextlib.suppress(Exception):
            self._span.add_event(name, cleaned(attributes))

    def fail(self, error: BaseException) -> None:
        """Mark the span as failed, by the class of the exception only: its message may hold content."""
        self.failed(type(error).__qualname__)

    def failed(self, error_type: str) -> None:
        """Mark the span as failed."""
        self.set({names.ERROR_TYPE: error_type})
        with contextlib.suppress(Exception):
            self._span.set_status(trace.Status(trace.StatusCode.ERROR))

    def end(self, error: BaseException | None = None) -> None:
        """End the span; `error` is what ended what it stands for, `GeneratorExit` that nobody wanted the rest."""
        if isinstance(error, GeneratorExit):
            self.set({names.GIVEN_UP: True})
        elif error is not None:
            self.fail(error)
        with contextlib.suppress(Exception):
            self._span.end()

    @property
    def trace_id(self) -> str | None:
        """The trace id in hexadecimal; None where nothing is traced."""
        with contextlib.suppress(Exception):
            context = self._span.get_span_context()
            return trace.format_trace_id(context.trace_id) if context.is_valid else None
        return None


def cleaned(attributes: Attributes) -> dict[str, Value]:
    """Attributes that any exporter takes: none is None, no text is longer than `values.LIMIT` or no UTF-8."""
    sent = {key: attribute(value) for key, value in attributes.items() if value is not None}
    return {key: value for key, value in sent.items() if value is not None}


@functools.cache
def library_version(distribution: str = "groundguard-rag") -> str:
    """The installed version of groundguard; `unknown` where it was copied in without its metadata."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"
