"""What an exception of a model call means: by status code, error code and headers, never by provider class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from groundguard.records import Reason

_TRANSIENT = frozenset({408, 409, 429})
_TOO_MANY = 429
_SERVER_FAULT = 500
_NEVER_AGAIN = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "access_terminated"}
)
_FILTERED = frozenset({"content_filter", "content_policy_violation", "responsibleaipolicyviolation"})
_TIMEOUTS = frozenset({"TimeoutException", "TimeoutError"})
_CONNECTION = frozenset({"TransportError", "ConnectionError"})


class Failure(NamedTuple):
    """What an exception means.

    Attributes:
        reason: The reason of the verdict.
        passing: Whether the same call may work a little later.
        wait: Seconds the server asked to wait, if it did.
    """

    reason: Reason
    passing: bool = False
    wait: float | None = None


def failure_of(error: BaseException) -> Failure:
    """Read an exception of a model call."""
    codes = _codes(error)
    if codes & _FILTERED:
        return Failure(Reason.JUDGE_FILTERED)
    if codes & _NEVER_AGAIN:
        return Failure(Reason.JUDGE_ERROR)
    status = _status(error)
    if status is None:
        return _transport_failure(error)
    if status == _TOO_MANY:
        return Failure(Reason.JUDGE_RATE_LIMITED, passing=True, wait=_wait(error))
    passing = status in _TRANSIENT or status >= _SERVER_FAULT
    return Failure(Reason.JUDGE_ERROR, passing=passing, wait=_wait(error) if passing else None)


def _transport_failure(error: BaseException) -> Failure:
    names = {base.__name__ for cause in _causes(error) for base in type(cause).__mro__}
    if names & _TIMEOUTS:
        return Failure(Reason.JUDGE_TIMEOUT, passing=True)
    return Failure(Reason.JUDGE_ERROR, passing=bool(names & _CONNECTION))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The exception and what it was raised from, on purpose."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    for value in (
        getattr(error, "status_code", None),
        getattr(response, "status_code", None),
        getattr(error, "code", None),
    ):
        if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:  # noqa: PLR2004  # HTTP
            return value
    return None


def _codes(error: BaseException) -> set[str]:
    """Error codes and types, in lower case: from attributes and from the body of the reply."""
    body = getattr(error, "body", None)
    places: list[Any] = [vars(error) if hasattr(error, "__dict__") else {}, body]
    if isinstance(body, Mapping):
        places += [body.get("error"), body.get("innererror")]
    values = [place.get(key) for place in places if isinstance(place, Mapping) for key in ("code", "type")]
    return {value.lower() for value in values if isinstance(value, str)}


def _wait(error: BaseException) -> float | None:
    """Seconds from `Retry-After-Ms` or `Retry-After`, which is a number of seconds or a date (RFC 9110, 10.2.3)."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None)
    if not hasattr(headers, "get"):
        return None
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    return _until(text) if seconds is None else seconds


def _number(text: object) -> float | None:
    try:
        value = float(str(text))
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _until(text: object) -> float | None:
    try:
        moment = parsedate_to_datetime(str(text))
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
