"""Watching one query: its spans, its times, its counters, its events and its log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from opentelemetry import context
from opentelemetry._logs import SeverityNumber

from groundguard.flow.steps import Flow, scoped
from groundguard.records import Chunk, Decision, Response, Timings, Verdict
from groundguard.telemetry import content, names
from groundguard.telemetry.capture import captured
from groundguard.telemetry.chat import chatting
from groundguard.telemetry.documents import found
from groundguard.telemetry.events import emit
from groundguard.telemetry.facts import evaluation, facts, result
from groundguard.telemetry.logs import log
from groundguard.telemetry.metrics import count
from groundguard.telemetry.neighbours import above
from groundguard.telemetry.otel import Attributes, Span, library_version

T = TypeVar("T")


class Watch:
    """What is known about one query while it is on its way."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._seconds: dict[str, float] = {}
        self._content = captured()
        self._fixed = {**names.STAGE_ATTRIBUTES["query"], names.VERSION: library_version(), **_conversation()}
        self._span = Span(names.SPAN_QUERY, self._fixed, above())
        self._check: Span | None = None
        self._asked_a_model = False

    def stage(self, stage: str, flow: Flow[T]) -> Flow[T]:
        """Run one stage of the path in a span of its own, with one more for each model call of a judge, and time it.

        Args:
            stage: `generation` or `judge`.
            flow: What happens in it.
        """
        return self._timed(stage, flow, lambda span, _: span)

    def retrieval(self, question: str, flow: Flow[Sequence[Chunk]]) -> Flow[Sequence[Chunk]]:
        """Run the retrieval, and tell of what it found.

        Args:
            question: The question.
            flow: Finds the chunks.
        """

        def tell(span: Span, chunks: Sequence[Chunk]) -> None:
            span.describe(lambda: {**content.asked(question, self._content), **found(question, chunks, self._content)})
            span.set({**names.STAGE_ATTRIBUTES["retrieval"], names.EVIDENCE_COUNT: len(chunks)})

        return self._timed("retrieval", flow, tell)

    def _timed(self, stage: str, flow: Flow[T], tell: Callable[[Span, T], object]) -> Flow[T]:
        span = Span(names.SPAN_STAGES[stage], names.STAGE_ATTRIBUTES[stage], self._span)
        began = self._clock()
        try:
            seen = chatting(flow, span, self._content, self._clock, self._heard)
            result = yield from scoped(seen, span.current)
        except BaseException as error:
            span.end(error)
            raise
        self._seconds[stage] = self._seconds.get(stage, 0.0) + self._clock() - began
        tell(span, result)
        if stage == "judge":
            self._check = span
        else:
            span.end()
        return result

    def _heard(self) -> None:
        self._asked_a_model = True

    def timings(self) -> Timings:
        """Seconds so far."""
        return Timings(**self._seconds, total=self._clock() - self._began)

    def judged(self, response: Response[Any], policy: str) -> None:
        """Report one judgement, be it the last or not: attributes and end of its span, and its event.

        Args:
            response: The labelled response.
            policy: The name of the policy that was in force.
        """
        check, verdict = self._check, response.verdict
        if check is None or verdict is None:
            return
        self._check = None
        check.describe(lambda: content.judged(response, self._content))
        check.describe(lambda: {**names.STAGE_ATTRIBUTES["judge"], **facts(response, policy)})
        if verdict.decision is Decision.UNKNOWN:
            check.failed(verdict.error_type or response.reason.value)
        check.end()
        emit(names.EVENT_EVALUATION, lambda: self._result(response, verdict), self._span, SeverityNumber.INFO)

    def _result(self, response: Response[Any], verdict: Verdict) -> Attributes:
        why = content.explanation(response, self._content, allowed=self._content.in_events)
        return {names.EVALUATION_EXPLANATION: why, **result(response, verdict)}

    def finish(self, response: Response[Any], policy: str) -> None:
        """Report the labelled response: attributes, counters, events, log, end of the spans.

        Args:
            response: The labelled response.
            policy: The name of the policy that is in force.
        """
        self.judged(response, policy)
        self._span.describe(lambda: self._shown(response))
        self._span.describe(lambda: {**self._fixed, **evaluation(response, model=self._asked_a_model)})
        self._span.describe(lambda: facts(response, policy))
        self._span.end()
        count(response)
        log(response, self._span.trace_id)

    def _shown(self, response: Response[Any]) -> Attributes:
        why = content.explanation(response, self._content, allowed=self._content.on_spans)
        return {
            **content.asked(response.question, self._content),
            **content.answered(response.generated, self._content),
            names.EVALUATION.format(part="explanation"): why,
        }

    def fail(self, error: BaseException) -> None:
        """Report that the query ended without a response."""
        for span in (self._check, self._span):
            if span is not None:
                span.end(error)


def watched(path: Callable[[Watch], Flow[T]], clock: Callable[[], float]) -> Flow[T]:
    """Run `path` under a watch that ends its span however the path ends."""
    watch = Watch(clock)
    try:
        return (yield from path(watch))
    except BaseException as error:
        watch.fail(error)
        raise


def _conversation() -> dict[str, str]:
    """The conversation and the user that the application has named in its context, as OpenInference does."""
    named = {key: context.get_value(key) for key in (names.SESSION, names.USER)}
    known = {key: value for key, value in named.items() if isinstance(value, str)}
    return {**known, **({names.CONVERSATION: known[names.SESSION]} if names.SESSION in known else {})}
