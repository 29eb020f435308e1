"""Observation of a query: OpenTelemetry spans and counters, one log event. Content stays out of all of them."""

from groundguard.telemetry.watch import Watch, watched

__all__ = ["Watch", "watched"]
