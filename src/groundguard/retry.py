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
        numbers: list[Any] = [self.attempts, self.initial, self.maximum]
        sound = (
            all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers)
            and isinstance(numbers[0], int)
            and self.attempts >= 1
            and 0 <= self.initial <= self.maximum < float("inf")
        )
        if not sound:
            raise UsageError(f"Retry needs a whole number of attempts from 1 and 0 <= initial <= maximum; got {self}")


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
    controller.begin()
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
            try:
                yield Sleep(float(todo))
            except OutOfTimeError:
                break
            state.prepare_for_next_attempt()
        else:
            return todo
    return _failed(state).result()  # raises the last error: it tells more than that there is no time to wait


def _controller(retry: Retry) -> tenacity.Retrying:
    backoff = tenacity.wait_random_exponential(multiplier=retry.initial, max=retry.maximum)

    def wait(state: tenacity.RetryCallState) -> float:
        asked = failure_of(_failed(state).exception()).wait
        return max(backoff(state), asked or 0.0)

    return tenacity.Retrying(
        stop=tenacity.stop_after_attempt(retry.attempts),
        wait=wait,
        retry=tenacity.retry_if_exception(_may_pass),
        reraise=True,
    )


def _failed(state: tenacity.RetryCallState) -> Any:
    return state.outcome


def _may_pass(error: BaseException) -> bool:
    return not isinstance(error, (UsageError, OutOfTimeError)) and failure_of(error).passing
