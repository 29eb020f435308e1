"""What a person is shown of a calibration."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console

from groundguard.cli.show import cut, out, paragraph
from groundguard.evaluation.calibration.labels import Label
from groundguard.evaluation.calibration.record import Calibration, Rate, Row
from groundguard.evaluation.gates.gates import shown
from groundguard.evaluation.statistics.prevalence import Corrected

_SHORT = 200


def show(result: Calibration, judged_by: str, labels: Mapping[int, Label], most: int) -> None:
    """Print a calibration.

    Args:
        result: The calibration.
        judged_by: The judge, in words.
        labels: The labels by their line, for the texts of false passes.
        most: How many false passes to print.
    """
    console = out()
    paragraph(console, f"{result.n} labels, {result.human} by people; judged by {judged_by}", "bold", 0)
    for note in result.notes:
        paragraph(console, f"note: {note}", "yellow", 0)
    console.print()
    _confusion(console, result)
    console.print()
    for name, value in _figures(result).items():
        paragraph(console, f"{name:<20}{value}", "", 0)
    _sweep(console, result)
    _false_passes(console, result, labels, most)


def _confusion(console: Console, result: Calibration) -> None:
    rows: dict[str, Row] = {"grounded": result.grounded, "ungrounded": result.ungrounded}
    paragraph(console, f"{'label':<20}{'passed':>8}{'stopped':>9}{'unknown':>9}", "dim", 0)
    for name, row in rows.items():
        paragraph(console, f"{name:<20}{row.passed:>8}{row.stopped:>9}{row.unknown:>9}", "", 0)


def _figures(result: Calibration) -> Mapping[str, str]:
    agreement = "none" if result.agreement is None else shown(result.agreement)
    return {
        "balanced accuracy": _rate(result.balanced_accuracy),
        "sensitivity": _rate(result.sensitivity),
        "specificity": _rate(result.specificity),
        "false-pass rate": f"{_rate(result.false_pass)}, at most {shown(result.false_pass_upper)} (one-sided)",
        "Cohen's kappa": _rate(result.kappa),
        "agreement": f"{agreement} (always saying the same: {shown(result.best_guess)})",
        "AUROC of its score": _rate(result.auroc) if result.auroc.value is not None else "no scores of both kinds",
        "labels it takes": _needed(result),
    }


def _needed(result: Calibration) -> str:
    if result.labels_needed is None:
        return f"no number of labels will show a false-pass rate below {shown(result.target)}: this is not below it"
    have = result.ungrounded.n
    enough = "you have them" if result.false_pass_upper <= result.target else f"you have {have}"
    return f"{result.labels_needed} ungrounded ones, to show a false-pass rate below {shown(result.target)}; {enough}"


def _rate(rate: Rate) -> str:
    if rate.value is None or rate.interval is None:
        return "can't be told"
    return f"{shown(rate.value)} ({shown(rate.interval.low)} to {shown(rate.interval.high)}; n {rate.n})"


def _sweep(console: Console, result: Calibration) -> None:
    if not result.sweep:
        return
    console.print()
    paragraph(console, "other thresholds on the score; hold one against other labels before trusting it", "bold", 0)
    paragraph(console, f"{'threshold':<12}{'sensitivity':>12}{'false passes':>14}{'balanced':>10}", "dim", 0)
    for each in result.sweep:
        row = f"{each.threshold:<12.3f}{each.sensitivity:>12.2f}{each.false_passes:>14.2f}"
        paragraph(console, f"{row}{each.balanced_accuracy:>10.2f}", "", 0)


def _false_passes(console: Console, result: Calibration, labels: Mapping[int, Label], most: int) -> None:
    console.print()
    cases = result.false_passes
    paragraph(console, f"false passes, to be read: {len(cases)}", "bold", 0)
    for case in cases[:most]:
        name = "" if case.id is None else f" ({case.id})"
        paragraph(console, f"line {case.line}{name}: {cut(labels[case.line].exchange.answer, _SHORT)}", "red")
    if len(cases) > most:
        paragraph(console, f"and {len(cases) - most} more; --show {len(cases)} prints them all", "dim")


def show_corrected(passed: int, n: int, corrected: Corrected | None) -> None:
    """Print what the judge passed of one's own answers, and how many of them are truly grounded."""
    console = out()
    console.print()
    if corrected is None:
        paragraph(console, f"{passed} of {n} passed: of how many are truly grounded, this judge says nothing", "", 0)
        return
    low, high = shown(corrected.interval.low), shown(corrected.interval.high)
    paragraph(
        console,
        f"{passed} of {n} passed ({shown(passed / n)}); truly grounded: {shown(corrected.value)} ({low} to {high})",
        "bold",
        0,
    )
    if corrected.clipped:
        why = "the judge passes fewer or more than its labels allow for: these answers are unlike the labelled ones"
        paragraph(console, f"note: {why}, or the labels are few", "yellow", 0)
