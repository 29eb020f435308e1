"""Watching one query: its spans, its times, its counters and its log event."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from groundguard.flow.steps import Flow, scoped
from groundguard.records import Response, Timings
from groundguard.telemetry import names
from groundguard.telemetry.logs import log
from groundguard.telemetry.otel import Span, count, library_version

T = TypeVar("T")


class Watch:
    """What is known about one query while it is on its way."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._seconds: dict[str, float] = {}
        self._span = Span(names.SPAN_QUERY, {**names.STAGE_ATTRIBUTES["query"], names.VERSION: library_version()})
        self._check: Span | None = None

    def stage(self, stage: str, flow: Flow[T]) -> Flow[T]:
        """Run one stage of the path in a span of its own, and time it.

        Args:
            stage: `retrieval`, `generation` or `judge`.
            flow: What happens in it.
        """
        span = Span(names.SPAN_STAGES[stage], names.STAGE_ATTRIBUTES[stage], self._span)
        began = self._clock()
        try:
            result = yield from scoped(flow, span.current)
        except BaseException as error:
            _end(span, error)
            raise
        self._seconds[stage] = self._seconds.get(stage, 0.0) + self._clock() - began
        if stage == "judge":
            self._check = span
        else:
            span.end()
        return result

    def timings(self) -> Timings:
        """Seconds so far."""
        return Timings(**self._seconds, total=self._clock() - self._began)

    def judged(self, response: Response[object]) -> None:
        """Report one judgement, be it the last or not: attributes and end of its span."""
        if self._check is None:
            return
        self._check.set(_facts(response))
        if response.verdict is not None and response.verdict.error_type is not None:
            self._check.set({names.ERROR_TYPE: response.verdict.error_type})
        self._check.end()
        self._check = None

    def finish(self, response: Response[object]) -> None:
        """Report the labelled response: attributes, counters, log event, end of the spans."""
        self.judged(response)
        self._span.set(_facts(response))
        self._span.end()
        count(response)
        log(response, self._span.trace_id)

    def fail(self, error: BaseException) -> None:
        """Report that the query ended without a response."""
        for span in (self._check, self._span):
            if span is not None:
                _end(span, error)


def watched(path: Callable[[Watch], Flow[T]], clock: Callable[[], float]) -> Flow[T]:
    """Run `path` under a watch that ends its span however the path ends."""
    watch = Watch(clock)
    try:
        return (yield from path(watch))
    except BaseException as error:
        watch.fail(error)
        raise


def _end(span: Span, error: BaseException) -> None:
    if isinstance(error, GeneratorExit):
        span.set({names.GIVEN_UP: True})
    else:
        span.fail(error)
    span.end()


def _facts(response: Response[object]) -> dict[str, str | int | float | None]:
    verdict = response.verdict
    return {
        names.STATUS: response.status.value,
        names.REASON: response.reason.value,
        names.EVIDENCE_COUNT: len(response.chunks),
        names.EVIDENCE_DIGEST: response.evidence_digest,
        names.EVIDENCE_FROM: response.chunks_from.value,
        names.VERDICT: verdict.decision.value if verdict else None,
        names.SCORE: verdict.score if verdict else None,
        names.JUDGE: verdict.judge if verdict else None,
        names.JUDGE_CALLS: verdict.calls if verdict else None,
    }
