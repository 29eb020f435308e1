"""One structlog event a response, through the stdlib logger `groundguard`: silent until the application sets it up."""

from __future__ import annotations

import contextlib
import logging
from typing import Any

import structlog

from groundguard.records import Response, Status
from groundguard.telemetry import names

_logger = logging.getLogger(names.LOGGER)
_logger.addHandler(logging.NullHandler())

_RESERVED = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def _rename_reserved(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Let a value that the application bound as `name` or `module` not cost the record: those are taken."""
    return {f"{key}_" if key in _RESERVED else key: value for key, value in event.items()}


_PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso"),
    _rename_reserved,
    structlog.stdlib.render_to_log_kwargs,
]


def log(response: Response[object], trace_id: str | None) -> None:
    """Log one response: ids, numbers, status and reason; no text of the user's.

    An answered response is logged at INFO, any other at WARNING. Where the application has configured structlog, its
    processors render the event; else the values are attributes of the log record.
    """
    level = logging.INFO if response.status is Status.ANSWERED else logging.WARNING
    with contextlib.suppress(Exception):
        if _logger.isEnabledFor(level):
            _bound().log(level, names.EVENT, **_fields(response, trace_id))


def _bound() -> Any:
    processors = None if structlog.is_configured() else _PROCESSORS
    return structlog.wrap_logger(_logger, processors, wrapper_class=structlog.stdlib.BoundLogger)


def _fields(response: Response[object], trace_id: str | None) -> dict[str, Any]:
    verdict, timings = response.verdict, response.timings
    fields = {
        "status": response.status.value,
        "reason": response.reason.value,
        "chunks": len(response.chunks),
        "chunks_from": response.chunks_from.value,
        "evidence_digest": response.evidence_digest,
        "judge": verdict.judge if verdict else None,
        "score": verdict.score if verdict else None,
        "error_type": verdict.error_type if verdict else None,
        "seconds": timings.total,
        "judge_seconds": timings.judge,
        "trace_id": trace_id,
    }
    return {key: value for key, value in fields.items() if value is not None}
