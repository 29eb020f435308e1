"""What is wrong with a golden set as an instrument. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace

from groundguard.evaluation.golden.finding import Finding, Severity
from groundguard.evaluation.golden.items import GoldenSet
from groundguard.evaluation.golden.rules import RULES


def lint(golden: GoldenSet, *, today: dt.date, lines: Mapping[str, int] | None = None) -> tuple[Finding, ...]:
    """Everything that is wrong with a set, the worst first.

    Args:
        golden: The set.
        today: What counts as the future.
        lines: Where each item begins in its file, by id; as `read` gives it.
    """
    known = lines or {}
    found = [finding for rule in RULES for finding in rule(golden.items, today)]
    placed = [replace(finding, line=_first(finding.ids, known)) for finding in found]
    order = list(Severity)
    return tuple(sorted(placed, key=lambda finding: (order.index(finding.severity), finding.line or 0)))


def _first(ids: tuple[str, ...], lines: Mapping[str, int]) -> int | None:
    return min((lines[id_] for id_ in ids if id_ in lines), default=None)
