"""JUnit XML: a case a gate, and a case an item and metric; never green in silence."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from groundguard.evaluation.gates.gates import Gate, GateResult, Outcome
from groundguard.evaluation.report.content import Report, report_on
from groundguard.evaluation.report.junit import junit_report
from groundguard.evaluation.results import ItemResult, Score
from support.payloads import PAYLOADS
from support.runs import PINS, insurer, result


def cases(report: Report) -> dict[tuple[str, str], ET.Element]:
    """Every case by class and name; the XML is parsed strictly."""
    root = ET.fromstring(junit_report(report))
    return {(case.get("classname", ""), case.get("name", "")): case for case in root.iter("testcase")}


def outcome(case: ET.Element) -> tuple[str, str] | None:
    return next(((each.tag, each.get("type") or "") for each in case if each.tag != "system-out"), None)


def test_each_item_and_metric_is_a_case() -> None:
    found = cases(report_on(insurer(), gates=[Gate("faithfulness", 0.5), Gate("refusal", 1)]))
    told = {name: outcome(case) for (where, name), case in found.items() if where == "groundguard.items.faithfulness"}

    assert told == {
        "pipe-limit": None,
        "flood": ("failure", "below"),
        "silent": ("error", "unscored"),
        "nothing": ("skipped", ""),
        "down": ("error", "pipeline"),
        "bike": None,
        "whole": None,
        "marks": None,
    }
    assert outcome(found["groundguard.items.refusal", "pipe-limit"]) is None
    assert found["groundguard.items.faithfulness", "flood"].get("time") == "1.25"


def test_without_a_gate_no_value_fails() -> None:
    found = cases(report_on(insurer()))

    assert outcome(found["groundguard.items.faithfulness", "flood"]) is None
    assert outcome(found["groundguard.items.faithfulness", "silent"]) == ("error", "unscored")


def test_each_gate_is_a_case() -> None:
    refused = GateResult(Gate("context_recall", 0.9), Outcome.REFUSED, 0.9, "inside the noise")
    passed = GateResult(Gate("refusal", 0.9), Outcome.PASSED, 1.0, "refusal 1.00 >= 0.90")
    failed = GateResult(Gate("faithfulness", 0.9), Outcome.FAILED, 0.5, "faithfulness 0.50 < 0.90")

    found = cases(report_on(insurer(), gates=[refused, passed, failed]))

    assert outcome(found["groundguard.gates", "context_recall=0.90"]) == ("error", "noise")
    assert outcome(found["groundguard.gates", "refusal=0.90"]) is None
    assert outcome(found["groundguard.gates", "faithfulness=0.90"]) == ("failure", "gate")
    assert outcome(found["groundguard.run", "run"]) is None


@pytest.mark.parametrize(
    ("results", "expected", "kind"),
    [((), 0, "unscored"), (insurer().results[4:5], 1, "unscored"), (insurer().results[:1], 2, "incomplete")],
)
def test_a_run_that_is_not_sound_is_an_error(results: tuple[ItemResult, ...], expected: int, kind: str) -> None:
    found = cases(report_on(insurer(results=results, expected=expected)))

    assert outcome(found["groundguard.run", "run"]) == ("error", kind)


def test_an_item_without_any_score_still_is_a_case() -> None:
    found = cases(report_on(insurer(results=(ItemResult("down", 0, "Q?", error="OSError"),), expected=1)))

    assert outcome(found["groundguard.items.run", "down"]) == ("error", "pipeline")


def test_repeats_have_names_of_their_own() -> None:
    rows = tuple(result("a", repeat=repeat) for repeat in range(2))

    found = cases(report_on(insurer(results=rows, pins=replace(PINS, repeats=2), expected=2)))

    assert ("groundguard.items.refusal", "a [repeat 2]") in found


@pytest.mark.parametrize("payload", [*PAYLOADS, "\x00\x0b\ufffe\ud800", " "])
def test_any_text_makes_valid_xml(payload: str) -> None:
    rows = (
        result(payload, payload, payload, scores=(Score(payload, None, payload), Score("low", 0.1))),
        ItemResult("e", 0, payload, error=payload),
    )
    run = insurer(results=rows, pins=replace(PINS, dataset=payload), started=payload, stopped=payload, expected=9)

    text = junit_report(report_on(run, gates=[Gate("low", 0.5), Gate(payload, 0.5)]))

    text.encode("utf-8")
    root = ET.fromstring(text)
    assert {each.tag for each in root.iter()} <= {
        "testsuites", "testsuite", "testcase", "system-out", "failure", "error", "skipped",
    }  # fmt: skip
