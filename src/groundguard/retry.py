"""Retry of model calls: a flow around a flow. tenacity decides, the driver waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import tenacity

from groundguard.errors import UsageError
from groundguard.flow.steps import Call, Flow, OutOfTimeError, Sleep, Step, interpose
from groundguard.models.failures import failure_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a model call is tried: exponential back-off with full jitter.

    Only what may pass is tried again: connection errors, timeouts, 408, 409, 429 and 5xx. Never an exhausted quota,
    400, 401, 403, 404 or a content filter. `Retry-After` is honoured; a wait that would outlast the guard's timeout
    is not begun.

    Attributes:
        attempts: Requests for one call at most, the first included.
        initial: Upper bound of the first wait, in seconds; doubles each time.
        maximum: Upper bound of every wait that the server did not ask for, in seconds.
    """

    attempts: int = 3
    initial: float = 0.5
    maximum: float = 8.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.initial < 0 or self.maximum < self.initial:
            raise UsageError("Retry needs attempts >= 1 and 0 <= initial <= maximum")


ONCE = Retry(attempts=1)


def retrying(flow: Flow[T], asked: Retry | None) -> Flow[T]:
    """Give every model call of `flow` its attempts.

    Args:
        flow: The flow whose calls may be retried.
        asked: The user's choice; None leaves it to each call whether it is retried by default.
    """

    def perform(step: Step) -> Flow[Any]:
        if not isinstance(step, Call) or step.retry == "never":
            return (yield step)
        return (yield from _attempts(step, asked or (Retry() if step.retry == "default" else ONCE)))

    return interpose(flow, perform)


def _attempts(call: Call, retry: Retry) -> Flow[Any]:
    controller = _controller(retry)
    state = tenacity.RetryCallState(controller, None, (), {})
    while True:
        todo = controller.iter(state)
        if isinstance(todo, tenacity.DoAttempt):
            try:
                result = yield call
            except Exception as error:  # noqa: BLE001  # tenacity raises it again when it gives up
                state.set_exception((type(error), error, error.__traceback__))
            else:
                state.set_result(result)
        elif isinstance(todo, tenacity.DoSleep):
            state.prepare_for_next_attempt()
            yield from _wait(todo, state)
        else:
            return todo


def _wait(seconds: float, state: tenacity.RetryCallState) -> Flow[None]:
    failed = state.outcome.exception() if state.outcome else None
    try:
        yield Sleep(float(seconds))
    except OutOfTimeError:
        raise failed or RuntimeError from None


def _controller(retry: Retry) -> tenacity.Retrying:
    backoff = tenacity.wait_random_exponential(multiplier=retry.initial, max=retry.maximum)

    def wait(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = failure_of(error).wait if error else None
        return max(backoff(state), asked or 0.0)

    return tenacity.Retrying(
        stop=tenacity.stop_after_attempt(retry.attempts),
        wait=wait,
        retry=tenacity.retry_if_exception(lambda error: failure_of(error).passing),
        reraise=True,
    )
