"""Reading the exceptions of model calls: the right reason for those we know, and never another exception."""

from __future__ import annotations

import http
import urllib.error
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundguard.models.failures import Failure, failure_of
from groundguard.records import JUDGE_FAILURES, Reason
from support.ids import steady

LIMITED, BROKEN, FILTERED, TIMEOUT = (
    Reason.JUDGE_RATE_LIMITED,
    Reason.JUDGE_ERROR,
    Reason.JUDGE_FILTERED,
    Reason.JUDGE_TIMEOUT,
)


def error_with(**attributes: Any) -> Exception:
    error = Exception("scripted")
    for name, value in attributes.items():
        setattr(error, name, value)
    return error


class Reply:
    """A response as clients hang it on their errors."""

    def __init__(self, status_code: object = None, headers: object = None) -> None:
        self.status_code, self.headers = status_code, headers


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


# By status.


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (429, Failure(LIMITED, passing=True)),
        (408, Failure(BROKEN, passing=True)),
        (409, Failure(BROKEN, passing=True)),
        (500, Failure(BROKEN, passing=True)),
        (599, Failure(BROKEN, passing=True)),
        (400, Failure(BROKEN)),
        (401, Failure(BROKEN)),
        (403, Failure(BROKEN)),
        (404, Failure(BROKEN)),
        (200, Failure(BROKEN)),
    ],
)
@pytest.mark.parametrize(
    "make",
    [
        lambda status: error_with(status_code=status),
        lambda status: error_with(status_code=http.HTTPStatus(status) if status != 599 else status),
        lambda status: error_with(response=Reply(status)),
        lambda status: error_with(status=status),
        lambda status: error_with(code=status),
        lambda status: urllib.error.HTTPError("http://x", status, "scripted", Message(), None),
        lambda status: httpx.HTTPStatusError(
            "scripted", request=httpx.Request("POST", "http://x"), response=httpx.Response(status)
        ),
    ],
    ids=["status_code", "enum", "response", "status", "code", "urllib", "httpx"],
)
def test_the_status_is_found_wherever_clients_put_it(make: Any, status: int, failure: Failure) -> None:
    assert failure_of(make(status)) == failure


@pytest.mark.parametrize("status", [True, "429", 0, 99, 600, 10**30, 4.29, None, [429], object()], ids=steady)
def test_what_is_no_status_is_not_taken_for_one(status: object) -> None:
    assert failure_of(error_with(status_code=status)) == Failure(BROKEN)


def test_a_status_that_is_none_does_not_hide_a_later_one() -> None:
    assert failure_of(error_with(status_code=None, response=Reply(429))).reason is LIMITED
    assert failure_of(error_with(status_code="?", code=503)).passing


# By code.


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"])
@pytest.mark.parametrize(
    "make",
    [
        lambda code: error_with(status_code=400, code=code),
        lambda code: error_with(status_code=400, type=code),
        lambda code: error_with(status_code=400, body={"code": code}),
        lambda code: error_with(status_code=400, body={"error": {"code": code}}),
        lambda code: error_with(status_code=400, body={"code": None, "innererror": {"code": code}}),
        lambda code: error_with(code=code),
    ],
    ids=["code", "type", "body", "error in body", "inner error", "no status"],
)
def test_a_content_filter_is_told_apart(make: Any, code: str) -> None:
    assert failure_of(make(code)) == Failure(FILTERED)


@pytest.mark.parametrize(
    "code", ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "access_terminated"]
)
def test_an_exhausted_account_is_no_rate_limit(code: str) -> None:
    assert failure_of(error_with(status_code=429, code=code)) == Failure(BROKEN)
    assert failure_of(error_with(status_code=429, body={"error": {"type": code}})) == Failure(BROKEN)


# By what broke underneath.


class ServerTimeoutError(TimeoutError):
    pass


class Timeout(OSError):
    """As in `requests`."""


class ClientConnectionError(Exception):
    """As in `aiohttp`."""


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (TimeoutError(), Failure(TIMEOUT, passing=True)),
        (ServerTimeoutError(), Failure(TIMEOUT, passing=True)),
        (Timeout(), Failure(TIMEOUT, passing=True)),
        (httpx.ReadTimeout("scripted"), Failure(TIMEOUT, passing=True)),
        (httpx.ConnectTimeout("scripted"), Failure(TIMEOUT, passing=True)),
        (caused(RuntimeError(), TimeoutError()), Failure(TIMEOUT, passing=True)),
        (ConnectionError(), Failure(BROKEN, passing=True)),
        (ConnectionResetError(), Failure(BROKEN, passing=True)),
        (ClientConnectionError(), Failure(BROKEN, passing=True)),
        (httpx.ConnectError("scripted"), Failure(BROKEN, passing=True)),
        (httpx.RemoteProtocolError("scripted"), Failure(BROKEN, passing=True)),
        (caused(RuntimeError(), caused(ValueError(), BrokenPipeError())), Failure(BROKEN, passing=True)),
        (OSError("disk"), Failure(BROKEN)),
        (ValueError("model muse-9 is not loaded"), Failure(BROKEN)),
        (KeyError("verdict"), Failure(BROKEN)),
        (Exception(), Failure(BROKEN)),
    ],
    ids=steady,
)
def test_without_a_status_the_classes_tell(error: Exception, failure: Failure) -> None:
    assert failure_of(error) == failure


def test_what_merely_happened_before_is_no_cause() -> None:
    error = ValueError()
    error.__context__ = TimeoutError()
    assert failure_of(error) == Failure(BROKEN)


def test_causes_may_run_in_a_circle() -> None:
    first, second = ValueError(), KeyError()
    first.__cause__, second.__cause__ = second, first
    assert failure_of(first) == Failure(BROKEN)


# Retry-After.


def wait_of(headers: object) -> float | None:
    return failure_of(error_with(status_code=429, response=Reply(429, headers))).wait


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"Retry-After": 2}, 2.0),
        ({"retry-after": " 2 "}, 2.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Mon, 01 Jan 1990 00:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 01 Jan 1990 00:00:00"}, 0.0),
        ({"retry-after": "1e12"}, 31_536_000.0),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, 31_536_000.0),
        ({"retry-after": "-2"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": None}, None),
        ({"retry-after": b"2"}, None),
        ({"retry-after": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}, None),
        ({"retry-after": "Mon, 01 Jan 2030 00:00:00 +99999999999999999999"}, None),
        ({"retry-after": "9" * 5000}, None),
        ({}, None),
        (None, None),
        ("retry-after: 2", None),
        (["retry-after"], None),
        (7, None),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_the_wait_that_a_server_asks_for(headers: object, wait: float | None) -> None:
    assert wait_of(headers) == wait


def test_headers_on_the_error_itself_count() -> None:
    headers = Message()
    headers["Retry-After"] = "3"
    assert failure_of(urllib.error.HTTPError("http://x", 503, "scripted", headers, None)).wait == 3.0


def test_a_date_to_come() -> None:
    for zone in (UTC, None):
        moment = (datetime.now(UTC) + timedelta(seconds=60)).replace(tzinfo=zone)
        assert 50 < (wait_of({"retry-after": format_datetime(moment)}) or 0) <= 60


@pytest.mark.parametrize("status", [400, 401, 404])
def test_what_will_not_pass_has_no_wait(status: int) -> None:
    assert failure_of(error_with(status_code=status, headers={"retry-after": "2"})).wait is None


# Whatever an exception may be.


class Thorny(Exception):
    """Every attribute that anybody could ask for raises."""

    @property
    def response(self) -> object:
        raise RuntimeError("no response")

    status_code = code = body = headers = status = __cause__ = response

    @property
    def __dict__(self) -> Any:
        raise RuntimeError("no attributes")


class Unreadable:
    """Can be looked at in no way at all."""

    def __getattribute__(self, name: str) -> object:
        if name.startswith("_"):
            return super().__getattribute__(name)
        raise ZeroDivisionError(name)

    def __bool__(self) -> bool:
        raise ZeroDivisionError

    def __str__(self) -> str:
        raise ZeroDivisionError


class ThornyHeaders:
    def items(self) -> object:
        raise ZeroDivisionError


def test_an_exception_that_cannot_be_read_is_a_judge_error() -> None:
    assert failure_of(Thorny()) == Failure(BROKEN)


@pytest.mark.parametrize(
    "headers",
    [ThornyHeaders(), Unreadable(), {Unreadable(): "1"}, {"retry-after": Unreadable()}],
    ids=lambda _: "headers",
)
def test_headers_that_cannot_be_read_do_not_hide_the_status(headers: object) -> None:
    assert failure_of(error_with(status_code=429, headers=headers)) == Failure(LIMITED, passing=True)
    assert failure_of(error_with(status_code=503, headers=headers)) == Failure(BROKEN, passing=True)


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=40),
    st.binary(max_size=20),
    st.sampled_from([429, 500, "429", http.HTTPStatus.TOO_MANY_REQUESTS, Unreadable(), Reply(503), Reply, [], {}]),
    st.sampled_from(["insufficient_quota", "content_filter", ["content_filter"], {"code": "content_filter"}]),
    st.datetimes().map(format_datetime),
)
HEADERS = st.one_of(ODD, st.dictionaries(st.sampled_from(["retry-after", "Retry-After-Ms", "x"]), ODD))
BODIES = st.recursive(
    ODD, lambda inner: st.dictionaries(st.sampled_from(["error", "innererror", "code", "type"]), inner)
)
ATTRIBUTES = st.fixed_dictionaries(
    {},
    optional={
        "status_code": ODD,
        "status": ODD,
        "code": ODD,
        "type": ODD,
        "body": BODIES,
        "headers": HEADERS,
        "response": st.builds(Reply, ODD, HEADERS) | ODD,
    },
)


@given(ATTRIBUTES, st.sampled_from([None, TimeoutError(), ConnectionError(), Thorny()]))
@example({"status_code": 429, "headers": {"retry-after": "Mon, 99 Jan 2030 99:99:99 GMT"}}, None)
def test_reading_is_total(attributes: dict[str, Any], cause: BaseException | None) -> None:
    error = error_with(**attributes)
    error.__cause__ = cause
    failure = failure_of(error)

    assert failure.reason in JUDGE_FAILURES
    assert isinstance(failure.passing, bool)
    assert failure.wait is None or 0 <= failure.wait <= 31_536_000.0
