"""Log events through the OpenTelemetry logs API, where it is new enough to have events; never raises."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from opentelemetry import _logs

from groundguard.telemetry import names
from groundguard.telemetry.otel import Attributes, Span, cleaned, library_version


def emit(name: str, facts: Callable[[], Attributes], span: Span, severity: _logs.SeverityNumber) -> None:
    """Emit one event that belongs to `span`, with what `facts` gives.

    opentelemetry-api before 1.38 has no events: there it is left out.
    """
    with contextlib.suppress(Exception):
        logger = _logs.get_logger(names.INSTRUMENTATION, library_version())
        logger.emit(
            timestamp=time.time_ns(),
            context=span.context(),
            severity_number=severity,
            attributes=cleaned(facts()),
            event_name=name,
        )
