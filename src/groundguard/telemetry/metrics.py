"""Counters and histograms through the application's meter provider, whichever it is at the moment; never raises.

No attribute has more values than can be told beforehand: statuses, reasons, and at most `MOST_MODELS` names of models.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from opentelemetry import metrics

from groundguard.records import Decision, Response, Usage
from groundguard.telemetry import names
from groundguard.telemetry.otel import library_version
from groundguard.telemetry.values import clean

MOST_MODELS = 64
"""How many names of models, and of providers, are told apart in one process; all others are `_OTHER`."""

_MOST_CHARACTERS = 128
_instruments: WeakKeyDictionary[metrics.MeterProvider, dict[str, Any]] = WeakKeyDictionary()


class Label:
    """Tells apart so many values, in the order in which they come; all others are `_OTHER`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[str, None] = {}

    def of(self, value: str) -> str:
        """The value, short and clean, or `_OTHER`."""
        value = clean(value, _MOST_CHARACTERS)
        if value not in self._known and len(self._known) >= self._most:
            return names.OTHER
        self._known[value] = None
        return value


_models, _providers = Label(MOST_MODELS), Label(MOST_MODELS)


def count(response: Response[object]) -> None:
    """Count one response and its times, and one judge failure if its verdict is UNKNOWN."""
    status = {names.STATUS_LABEL: response.status.value}
    _add(names.QUERIES, status)
    if response.verdict is not None and response.verdict.decision is Decision.UNKNOWN:
        _add(names.JUDGE_FAILURES, {names.REASON_LABEL: response.reason.value})
    times = response.timings
    _record(names.QUERY_DURATION, times.total, status)
    _record(names.RETRIEVAL_DURATION, times.retrieval, {})
    _record(names.GENERATION_DURATION, times.generation, {})
    _record(names.JUDGE_DURATION, times.judge, {})


def count_chat(model: str, provider: str, seconds: float, usage: Usage | None, failure: str | None) -> None:
    """Count one model call of a judge.

    Args:
        model: The name of the model.
        provider: Who serves it.
        seconds: How long it took, retries and their waits included.
        usage: Tokens as reported; what nobody reported is not counted.
        failure: One of the reasons of a verdict; None if a reply came.
    """
    about = {
        names.OPERATION: "chat",
        names.PROVIDER: _providers.of(provider),
        names.REQUEST_MODEL: _models.of(model),
        names.ROLE: names.JUDGING,
    }
    _record(names.CHAT_DURATION, seconds, about if failure is None else {**about, names.ERROR_TYPE: failure})
    if usage is not None:
        for kind, tokens in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            _record(names.CHAT_TOKENS, tokens, {**about, names.TOKEN_TYPE: kind})


def _add(name: str, attributes: Mapping[str, str]) -> None:
    with contextlib.suppress(Exception):
        _instrument(name).add(1, dict(attributes))


def _record(name: str, value: float | None, attributes: Mapping[str, str]) -> None:
    with contextlib.suppress(Exception):
        if value is not None:
            _instrument(name).record(value, dict(attributes))


def _instrument(name: str) -> Any:
    provider = metrics.get_meter_provider()
    made = _instruments.setdefault(provider, {})
    return made.get(name) or made.setdefault(name, _create(provider, name))


def _create(provider: metrics.MeterProvider, name: str) -> Any:
    meter = provider.get_meter(names.INSTRUMENTATION, library_version())
    if name in names.COUNTERS:
        return meter.create_counter(name, *names.COUNTERS[name])
    unit, description, buckets = names.HISTOGRAMS[name]
    return meter.create_histogram(name, unit, description, explicit_bucket_boundaries_advisory=buckets)
