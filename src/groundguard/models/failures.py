"""What an exception of a model call means: by status code, error code and headers, never by provider class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, TypeVar

from groundguard.fields import is_mapping
from groundguard.flow.steps import YEAR
from groundguard.records import Reason

T = TypeVar("T")

_TRANSIENT = frozenset({408, 409, 429})
_TOO_MANY = 429
_SERVER_FAULT = 500
_NEVER_AGAIN = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "access_terminated"}
)
_FILTERED = frozenset({"content_filter", "content_policy_violation", "responsibleaipolicyviolation"})
_TIMEOUTS = frozenset({"TimeoutException", "TimeoutError", "Timeout"})
_CONNECTION = frozenset({"TransportError", "ConnectionError", "ClientConnectionError"})


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
    """Read an exception of a model call. Total: an exception may be built in any way, and none is as bad as raising."""
    codes = _quietly(_codes, error) or frozenset()
    if codes & _FILTERED:
        return Failure(Reason.JUDGE_FILTERED)
    if codes & _NEVER_AGAIN:
        return Failure(Reason.JUDGE_ERROR)
    status = _quietly(_status, error)
    if status is None:
        return _transport_failure(error)
    if status == _TOO_MANY:
        return Failure(Reason.JUDGE_RATE_LIMITED, passing=True, wait=_quietly(_wait, error))
    passing = status in _TRANSIENT or status >= _SERVER_FAULT
    return Failure(Reason.JUDGE_ERROR, passing=passing, wait=_quietly(_wait, error) if passing else None)


def _transport_failure(error: BaseException) -> Failure:
    names = _quietly(_class_names, error) or frozenset()
    if names & _TIMEOUTS:
        return Failure(Reason.JUDGE_TIMEOUT, passing=True)
    return Failure(Reason.JUDGE_ERROR, passing=bool(names & _CONNECTION))


def _quietly(read: Callable[[BaseException], T], error: BaseException) -> T | None:
    """What can't be read isn't there."""
    try:
        return read(error)
    except Exception:  # noqa: BLE001  # properties, headers and bodies of any make
        return None


def _class_names(error: BaseException) -> frozenset[str]:
    return frozenset(base.__name__ for cause in _causes(error) for base in type(cause).__mro__)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The exception and what it was raised from, on purpose."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    for place, name in ((error, "status_code"), (response, "status_code"), (error, "status"), (error, "code")):
        value = getattr(place, name, None)
        if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:  # noqa: PLR2004  # HTTP
            return value
    return None


def _codes(error: BaseException) -> frozenset[str]:
    """Error codes and types, in lower case: from attributes and from the body of the reply."""
    body = getattr(error, "body", None)
    places: list[Any] = [vars(error) if hasattr(error, "__dict__") else {}, body]
    if is_mapping(body):
        places += [body.get("error"), body.get("innererror")]
    values = [place.get(key) for place in places if is_mapping(place) for key in ("code", "type")]
    return frozenset(value.lower() for value in values if isinstance(value, str))


def _wait(error: BaseException) -> float | None:
    """Seconds from `Retry-After-Ms` or `Retry-After`, which is a number of seconds or a date (RFC 9110, 10.2.3)."""
    seconds = _asked(error)
    return None if seconds is None else min(seconds, YEAR)


def _asked(error: BaseException) -> float | None:
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None)
    if not hasattr(headers, "items"):
        return None
    headers = {str(name).lower(): value for name, value in headers.items()}
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
