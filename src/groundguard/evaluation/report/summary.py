"""The report as one JSON document, for programs: every figure, and no question, answer or passage."""

from __future__ import annotations

import json
from typing import Any

from groundguard.evaluation.report.content import Report
from groundguard.evaluation.report.words import headline
from groundguard.fields import plain, plain_fields

FORMAT = "groundguard-report/1"
"""What the entry `format` says."""


def summary(report: Report) -> dict[str, Any]:
    """The report as JSON values.

    Args:
        report: What to tell.

    Returns:
        The verdict, the head of the run, its panel, gates, slices, findings and gaps, and the panels of earlier runs.
    """
    verdict = headline(report)
    return {
        "format": FORMAT,
        "verdict": {"mood": verdict.mood.value, "title": verdict.title, "words": verdict.words},
        "complete": report.is_complete,
        "judge": plain_fields(report.trust),
        "run": report.run.head(),
        "figures": plain(report.figures),
        "gates": plain(report.gates),
        "slices": plain(report.slices),
        "findings": plain(report.findings),
        "gaps": plain(report.gaps),
        "past": [{"run": past.run.head(), "figures": plain(past.figures)} for past in report.past],
    }


def json_report(report: Report) -> str:
    """`summary` as strict JSON in ASCII, on one line."""
    return json.dumps(summary(report), ensure_ascii=True, allow_nan=False) + "\n"
