"""The report as JUnit XML, for what shows test results: a test case for each gate, and one for each item and metric.

The gates decide whether the run is good: they are the suite `gates`. The cases of the items are there to be read. One
fails where its metric has a gate and it lies below, and is an error where it could not be scored: never green in
silence.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from groundguard.evaluation.gates.gates import GateResult, Outcome, reaches, written
from groundguard.evaluation.report.content import Report
from groundguard.evaluation.report.items import reason_of, status_of
from groundguard.evaluation.report.shown import on_one_line, shown
from groundguard.evaluation.report.words import completeness, headline, number
from groundguard.evaluation.results import ItemResult, Score


def junit_report(report: Report) -> str:
    r"""The report as a JUnit XML document; save it as UTF-8.

    Every character that XML can't hold stands as an escape, such as `\x00`.

    Args:
        report: What to tell.
    """
    document: Any = JUnitXml(shown(f"groundguard {report.run.pins.dataset} {report.run.pins.version}"))
    gates = TestSuite("gates")
    gates.add_testcases([*map(_gate, report.gates), _run(report)])
    items = TestSuite("items")
    items.timestamp = shown(report.run.started)
    items.add_testcases(list(_items(report)))
    document.add_testsuite(gates)
    document.add_testsuite(items)
    document.update_statistics()
    file = io.BytesIO()
    document.write(file)
    return file.getvalue().decode("utf-8")


def _gate(held: GateResult) -> TestCase:
    case = TestCase(shown(str(held.gate)), "groundguard.gates")
    why = shown(held.why)
    case.system_out = why
    if held.outcome is Outcome.FAILED:
        case.result = [Failure(why, "gate")]
    elif held.outcome is Outcome.REFUSED:
        case.result = [Error(why, "noise")]
    return case


def _run(report: Report) -> TestCase:
    """Whether the run itself is sound: it has every result, and something was scored."""
    case = TestCase("run", "groundguard.run")
    if not report.is_scored:
        case.result = [Error(headline(report).title, "unscored")]
    elif not report.is_complete:
        case.result = [Error(shown(completeness(report)), "incomplete")]
    return case


def _items(report: Report) -> Iterator[TestCase]:
    at = {held.gate.metric: held.gate.at for held in report.gates}
    metrics = [figure.metric for figure in report.figures]
    for result in report.run.results:
        scores = result.scores or tuple(Score(metric, None, reason_of(result)) for metric in metrics or ["run"])
        for score in scores:
            yield _score(report, result, score, at.get(score.metric))


def _score(report: Report, result: ItemResult, score: Score, at: float | None) -> TestCase:
    name = result.id if report.run.pins.repeats == 1 else f"{result.id} [repeat {result.repeat + 1}]"
    case = TestCase(on_one_line(name) or "(no id)", shown(f"groundguard.items.{score.metric}"))
    if result.response is not None and result.response.timings.total is not None:
        case.time = round(result.response.timings.total, 3)
    case.system_out = shown(f"{result.question}\n{status_of(result)} ({reason_of(result)}), {number(score.value)}")
    told = _result(result, score, at)
    case.result = [] if told is None else [told]
    return case


def _result(result: ItemResult, score: Score, at: float | None) -> Error | Failure | Skipped | None:
    if result.response is None:
        return Error(shown(f"the pipeline failed: {result.error}"), "pipeline")
    if not score.applies:
        return Skipped(shown(f"{score.metric} does not apply"))
    if score.value is None:
        return Error(shown(f"{score.metric} could not be scored: {score.unscored}"), "unscored")
    if at is not None and not reaches(score.value, at):
        return Failure(shown(f"{score.metric} {number(score.value)} is below {written(at)}"), "below")
    return None
