"""The report for programs: strict JSON, every figure, and nobody's text."""

from __future__ import annotations

import json

from groundguard.evaluation.gates.gates import Gate
from groundguard.evaluation.report.content import report_on
from groundguard.evaluation.report.summary import json_report
from support.runs import insurer


def test_it_holds_every_figure_and_no_text() -> None:
    text = json_report(report_on([insurer(), insurer()], gates=[Gate("faithfulness", 0.9)]))
    data = json.loads(text, parse_constant=lambda name: f"not JSON: {name}")

    assert text.isascii()
    assert "NaN" not in text
    assert data["verdict"] == {
        "mood": "bad",
        "title": "The judge is unhealthy",
        "words": "The judge failed in 1 of 7 results (1 judge_timeout): its figures say little.",
    }
    assert data["complete"] is True
    assert data["judge"]["is_calibrated"] is False
    assert [figure["metric"] for figure in data["figures"]] == ["faithfulness", "context_recall", "refusal"]
    assert data["gates"][0]["outcome"] == "failed"
    assert len(data["past"]) == 1
    assert data["run"]["cost"] is None
    assert "Burst pipes" not in text
