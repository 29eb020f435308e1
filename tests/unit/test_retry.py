"""Retry, rehearsed: the flow says how long to wait, and nobody waits."""

from __future__ import annotations

import http
import math
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard import Retry
from groundguard.errors import UsageError
from groundguard.flow.steps import Call, Callee, Flow, OutOfTimeError, Pull, Sleep, TooManyAbandonedError, within
from groundguard.retry import retrying


class StatusError(Exception):
    """An error as clients raise it: status, headers, code."""

    def __init__(self, status: object, headers: dict[str, str] | None = None, code: object = None) -> None:
        super().__init__(f"status {status}")
        self.status_code = status
        self.headers = headers or {}
        self.code = code


def asking(retry: Any = "default") -> Flow[Any]:
    return (yield Call(Callee(print, None, "the model"), retry=retry))


def rehearse(flow: Flow[Any], *replies: object, clock: Any = None) -> tuple[list[float], int, object]:
    """Reply to each call in turn; the waits that were asked for, the number of calls, and the end of it."""
    waits, script = [], iter(replies)
    calls, reply = 0, None
    try:
        step = next(flow)
        while True:
            if isinstance(step, Sleep):
                waits.append(step.seconds)
                if clock:
                    clock.now += step.seconds
                step = flow.send(None)
                continue
            calls += 1
            reply = next(script)
            step = flow.throw(reply) if isinstance(reply, BaseException) else flow.send(reply)
    except StopIteration as end:
        return waits, calls, end.value
    except BaseException as error:
        return waits, calls, error


@pytest.fixture(autouse=True)
def _seeded() -> Iterator[None]:
    state = random.getstate()
    random.seed(7)
    yield
    random.setstate(state)


# How often.


def test_a_call_that_works_is_made_once() -> None:
    assert rehearse(retrying(asking(), None), "reply") == ([], 1, "reply")


PASSING = [StatusError(code) for code in (408, 409, 429, 500, 502, 503, 504, 529)]
PASSING += [ConnectionError(), ConnectionResetError(), TimeoutError(), StatusError(http.HTTPStatus.BAD_GATEWAY)]

LASTING = [StatusError(code) for code in (400, 401, 402, 403, 404, 405, 413, 422)]
LASTING += [
    StatusError(429, code="insufficient_quota"),
    StatusError(429, code="billing_hard_limit_reached"),
    StatusError(400, code="content_filter"),
    StatusError(500, code="content_filter"),
    ValueError("not loaded"),
    OSError("disk"),
    UsageError("wiring"),
    OutOfTimeError("deadline"),
    TooManyAbandonedError("cap"),
]


@pytest.mark.parametrize("error", PASSING, ids=repr)
def test_what_may_pass_is_tried_three_times(error: Exception) -> None:
    waits, calls, end = rehearse(retrying(asking(), None), error, error, error, "too late")
    assert (len(waits), calls) == (2, 3)
    assert end is error


@pytest.mark.parametrize("error", PASSING, ids=repr)
def test_what_passes_gives_its_reply(error: Exception) -> None:
    waits, calls, end = rehearse(retrying(asking(), None), error, error, "reply")
    assert (len(waits), calls, end) == (2, 3, "reply")


@pytest.mark.parametrize("error", LASTING, ids=repr)
def test_what_will_not_pass_is_not_tried_again(error: Exception) -> None:
    assert rehearse(retrying(asking(), Retry(attempts=9)), error, "reply") == ([], 1, error)


@pytest.mark.parametrize("kind", [UsageError, OutOfTimeError])
def test_a_wiring_mistake_and_a_spent_deadline_are_final_whatever_caused_them(kind: type[Exception]) -> None:
    error = kind("final")
    error.__cause__ = ConnectionError()
    assert rehearse(retrying(asking(), Retry()), error, "reply") == ([], 1, error)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(), GeneratorExit()], ids=repr)
def test_an_interrupt_is_not_tried_again(error: BaseException) -> None:
    assert rehearse(retrying(asking(), Retry()), error, "reply") == ([], 1, error)


def test_what_goes_wrong_later_decides() -> None:
    last = StatusError(401)
    waits, calls, end = rehearse(retrying(asking(), None), StatusError(500), last, "reply")
    assert (len(waits), calls) == (1, 2)
    assert end is last


@pytest.mark.parametrize(
    ("asked_for", "retry", "calls"),
    [
        ("default", None, 3),
        ("default", Retry(attempts=1), 1),
        ("default", Retry(attempts=5), 5),
        ("asked", None, 1),
        ("asked", Retry(attempts=2), 2),
        ("never", None, 1),
        ("never", Retry(attempts=5), 1),
    ],
)
def test_who_is_retried(asked_for: str, retry: Retry | None, calls: int) -> None:
    errors = [StatusError(500) for _ in range(9)]
    assert rehearse(retrying(asking(asked_for), retry), *errors)[1] == calls


def test_every_call_has_attempts_of_its_own() -> None:
    def twice() -> Flow[list[Any]]:
        first = yield from asking()
        second = yield from asking()
        return [first, second]

    fault = StatusError(500)
    waits, calls, end = rehearse(retrying(twice(), None), fault, fault, "first", fault, fault, "second")
    assert (len(waits), calls, end) == (4, 6, ["first", "second"])


def test_other_steps_pass() -> None:
    def flow() -> Flow[None]:
        yield Sleep(5)
        yield Pull(iter(()))

    steps = list(retrying(flow(), Retry()))
    assert [type(step) for step in steps] == [Sleep, Pull]


# How long.


@given(st.integers(2, 8), st.floats(0, 10), st.floats(0, 100))
def test_waits_stay_below_a_bound_that_doubles_up_to_the_maximum(attempts: int, initial: float, more: float) -> None:
    retry = Retry(attempts=attempts, initial=initial, maximum=initial + more)
    waits, calls, _ = rehearse(retrying(asking(), retry), *[StatusError(500) for _ in range(attempts)])

    assert calls == attempts
    assert len(waits) == attempts - 1
    for number, wait in enumerate(waits):
        assert 0 <= wait <= min(initial * 2**number, retry.maximum)


def test_waits_are_jittered() -> None:
    waits = [rehearse(retrying(asking(), None), StatusError(500), "reply")[0][0] for _ in range(50)]
    assert len(set(waits)) == 50
    assert min(waits) < 0.1
    assert 0.4 < max(waits) <= 0.5


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "20"}, 20.0),
        ({"Retry-After": "20"}, 20.0),
        ({"retry-after": "20.5"}, 20.5),
        ({"retry-after-ms": "20000"}, 20.0),
        ({"retry-after-ms": "20000", "retry-after": "99"}, 20.0),
        ({"retry-after-ms": "soon", "retry-after": "20"}, 20.0),
    ],
    ids=str,
)
def test_the_wait_that_the_server_asks_for_is_kept(status: int, headers: dict[str, str], seconds: float) -> None:
    waits, _, end = rehearse(retrying(asking(), None), StatusError(status, headers), "reply")
    assert (waits, end) == ([seconds], "reply")


def test_a_date_is_kept_too() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    waits, _, _ = rehearse(retrying(asking(), None), StatusError(429, {"retry-after": date}), "reply")
    assert 80 < waits[0] <= 90


@pytest.mark.parametrize("value", ["0", "-1", "nan", "soon", "", "Mon, 01 Jan 1990 00:00:00 GMT"])
def test_without_a_wait_to_keep_the_usual_back_off_stands(value: str) -> None:
    waits, _, end = rehearse(retrying(asking(), None), StatusError(429, {"retry-after": value}), "reply")
    assert 0 < waits[0] <= 0.5
    assert end == "reply"


@pytest.mark.parametrize("value", ["1e300", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_no_wait_is_longer_than_a_year(value: str) -> None:
    waits, _, _ = rehearse(retrying(asking(), None), StatusError(429, {"retry-after": value}), "reply")
    assert waits == [31_536_000.0]


# With a deadline around it.


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def limited(seconds: float, retry: Retry | None = None) -> tuple[Flow[Any], Clock]:
    clock = Clock()
    return within(retrying(asking(), retry), seconds, clock), clock


def test_a_wait_that_fits_is_begun() -> None:
    flow, clock = limited(30.0)
    waits, calls, end = rehearse(flow, StatusError(429, {"retry-after": "29"}), "reply", clock=clock)
    assert (waits, calls, end) == ([29.0], 2, "reply")


def test_a_wait_that_would_outlast_the_deadline_is_not_begun_and_the_last_error_stands() -> None:
    flow, clock = limited(30.0)
    error = StatusError(429, {"retry-after": "120"})
    error.__cause__ = cause = TimeoutError()  # which tells what broke underneath

    assert rehearse(flow, error, "reply", clock=clock) == ([], 1, error)
    assert error.__cause__ is cause


def test_the_last_error_stands_also_after_earlier_waits() -> None:
    flow, clock = limited(30.0)
    last = StatusError(429, {"retry-after": "20"})
    waits, calls, end = rehearse(flow, StatusError(500, {"retry-after": "15"}), last, "reply", clock=clock)
    assert (waits, calls) == ([15.0], 2)
    assert end is last


def test_when_time_runs_out_during_a_call_the_deadline_itself_is_told() -> None:
    flow, _ = limited(30.0)
    error = OutOfTimeError("no result within 30 s")
    assert rehearse(flow, error, "reply") == ([], 1, error)


# What a Retry may be.


@pytest.mark.parametrize(
    "settings",
    [
        {"attempts": 0},
        {"attempts": -1},
        {"attempts": True},
        {"attempts": 2.0},
        {"attempts": "3"},
        {"attempts": None},
        {"attempts": math.inf},
        {"initial": -0.1},
        {"initial": math.nan},
        {"initial": "1"},
        {"initial": True},
        {"initial": None},
        {"maximum": math.nan},
        {"maximum": math.inf},
        {"maximum": 0.1},
        {"maximum": True},
        {"initial": 2.0, "maximum": 1.0},
        {"initial": math.inf, "maximum": math.inf},
    ],
    ids=str,
)
def test_an_impossible_retry_is_a_wiring_mistake(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="Retry needs a whole number of attempts from 1"):
        Retry(**settings)


@pytest.mark.parametrize(
    "settings", [{}, {"attempts": 1}, {"initial": 0, "maximum": 0}, {"initial": 8, "maximum": 8}], ids=str
)
def test_a_possible_one_is_none(settings: dict[str, Any]) -> None:
    assert Retry(**settings) == Retry(**settings)
