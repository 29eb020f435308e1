"""The span of one model call of a judge, retries included, and its metrics."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from opentelemetry._logs import SeverityNumber

from groundguard.flow.steps import Call, Flow, ModelCall, OutOfTimeError, Step, interpose, scoped
from groundguard.models.base import Request
from groundguard.models.failures import failure_of
from groundguard.records import Reason, Usage
from groundguard.telemetry import content, names
from groundguard.telemetry.capture import Content
from groundguard.telemetry.events import emit
from groundguard.telemetry.metrics import count_chat
from groundguard.telemetry.neighbours import alone, told_elsewhere
from groundguard.telemetry.otel import Attributes, Span, Value
from groundguard.telemetry.values import clean

T = TypeVar("T")

_NAME = 128
_A_WORD = re.compile(r"[A-Za-z_]{1,32}")


def chatting(
    flow: Flow[T], parent: Span, shown: Content, clock: Callable[[], float], heard: Callable[[], object]
) -> Flow[T]:
    """Run `flow` with a span around every one of its model calls.

    Args:
        flow: What happens.
        parent: The span that they hang below.
        shown: What content they may carry.
        clock: Reads seconds.
        heard: Called for each call.
    """

    def perform(step: Step) -> Flow[Any]:
        if not isinstance(step, ModelCall):
            return (yield step)
        heard()
        left_to_others = step.request.function or told_elsewhere(step.request.provider)
        return (yield from (_ask(step, parent) if left_to_others else _chat(step, parent, shown, clock)))

    return interpose(flow, perform)


def _ask(call: ModelCall, parent: Span) -> Flow[Any]:
    """A plain function, or a client that somebody else makes the span of: what is known here is what it is for."""
    span = Span(f"{names.SPAN_ASK} {clean(call.request.model, _NAME)}", names.STAGE_ATTRIBUTES["ask"], parent)
    return (yield from _within(span, scoped(_tried(call.flow, span), span.current)))


def _chat(call: ModelCall, parent: Span, shown: Content, clock: Callable[[], float]) -> Flow[Any]:
    """A model, of whose call nobody else makes a span."""
    request, began = call.request, clock()
    span = Span(f"{names.SPAN_CHAT} {clean(request.model, _NAME)}", _asked(request), parent, client=True)

    def told() -> Flow[Any]:
        try:
            reply = yield from scoped(_tried(call.flow, span), lambda: span.current(alone))
        except Exception as error:
            _count(request, clock() - began, None, error)
            _tell(span, request, None, shown)
            raise
        _count(request, clock() - began, reply, None)
        _tell(span, request, reply, shown)
        return reply

    return (yield from _within(span, told()))


def _within(span: Span, flow: Flow[T]) -> Flow[T]:
    """Run `flow`, and end its span however it ends."""
    try:
        result = yield from flow
    except BaseException as error:
        span.end(error)
        raise
    span.end()
    return result


def _tried(flow: Flow[T], span: Span) -> Flow[T]:
    """Count the attempts of a call. Of one that failed nothing is kept but its number and the class of its error."""
    attempts = 0

    def perform(step: Step) -> Flow[Any]:
        nonlocal attempts
        if not isinstance(step, Call):
            return (yield step)
        attempts += 1
        if attempts > 1:
            span.set({names.RETRIES: attempts - 1})
        try:
            return (yield step)
        except Exception as error:
            span.event(names.ATTEMPT_FAILED, {names.ATTEMPT: attempts, names.ERROR_TYPE: type(error).__qualname__})
            raise

    span.set({names.RETRIES: 0})
    return interpose(flow, perform)


def _count(request: Request, seconds: float, reply: Any, error: Exception | None) -> None:
    failure = None
    if error is not None:
        failure = Reason.JUDGE_TIMEOUT if isinstance(error, OutOfTimeError) else failure_of(error).reason
    count_chat(request.model, request.provider, seconds, _usage(reply), failure and failure.value)


def _tell(span: Span, request: Request, reply: Any, shown: Content) -> None:
    """What is known of a call: content first, so that a limit on attributes costs that and not the facts."""

    def messages(*, allowed: bool) -> Attributes:
        sent = {} if request.prompt is None else content.sent(request.prompt, shown, allowed=allowed)
        return {**sent, **({} if reply is None else content.replied(reply, shown, allowed=allowed))}

    def openinference() -> Attributes:
        sent = {} if request.prompt is None else content.sent_span(request.prompt, shown)
        return {**sent, **({} if reply is None else content.replied_span(reply, shown))}

    def facts() -> Attributes:
        return {**_asked(request), **_said(reply)}

    span.describe(lambda: {**openinference(), **messages(allowed=shown.on_spans)})
    span.describe(facts)
    if shown.in_events:
        emit(names.EVENT_CHAT, lambda: {**messages(allowed=True), **facts()}, span, SeverityNumber.DEBUG)


def _asked(request: Request) -> dict[str, Value | None]:
    settings = {names.SETTINGS[key]: value for key, value in request.settings.items() if key in names.SETTINGS}
    return {
        **{key: value for key, value in settings.items() if type(value) in {int, float}},
        **names.STAGE_ATTRIBUTES["chat"],
        names.PROVIDER: request.provider,
        names.REQUEST_MODEL: request.model,
        names.LLM_PROVIDER: request.provider,
        names.LLM_MODEL: request.model,
    }


def _said(reply: Any) -> dict[str, Value | None]:
    """What came back, but for its content; of what the server did not report there is nothing."""
    model, finish, usage = getattr(reply, "model", None), getattr(reply, "finish_reason", None), _usage(reply)
    tokens = (usage.input_tokens, usage.output_tokens) if usage is not None else (None, None)
    known = isinstance(finish, str) and _A_WORD.fullmatch(finish)
    return {
        names.RESPONSE_MODEL: model if isinstance(model, str) else None,
        names.FINISH_REASONS: (str(finish),) if known else None,
        names.INPUT_TOKENS: tokens[0],
        names.OUTPUT_TOKENS: tokens[1],
        names.LLM_INPUT_TOKENS: tokens[0],
        names.LLM_OUTPUT_TOKENS: tokens[1],
        names.LLM_TOTAL_TOKENS: None if None in tokens else sum(number for number in tokens if number is not None),
    }


def _usage(reply: Any) -> Usage | None:
    usage: object = getattr(reply, "usage", None)
    return usage if isinstance(usage, Usage) else None
