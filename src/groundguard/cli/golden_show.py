"""What people see of a golden set: what is wrong with it, and what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from groundguard.cli.exits import tell
from groundguard.cli.show import cut, out, paragraph
from groundguard.evaluation.golden import Difference, Finding, GoldenSet, Severity, Want
from groundguard.evaluation.golden.lock import shown

_COLOURS = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}


def show_findings(golden: GoldenSet, findings: Sequence[Finding]) -> None:
    """Print what is wrong, and what to do about it."""
    console = out()
    wanting = sum(item.want is Want.REFUSAL for item in golden.items)
    paragraph(
        console,
        f"{golden.name} {golden.version}: {_plural(len(golden.items), 'item')}, {wanting} to be refused",
        "bold",
        0,
    )
    for finding in findings:
        where = f"  line {finding.line}" if finding.line else ""
        ids = f"  ({shown(finding.ids)})" if finding.ids else ""
        console.print()
        paragraph(console, f"{finding.severity.value}  {finding.code}{where}{ids}", _COLOURS[finding.severity], 0)
        paragraph(console, finding.message, "", 2)
        paragraph(console, f"-> {finding.advice}", "dim", 2)
    console.print()
    counts = Counter(finding.severity for finding in findings)
    paragraph(console, ", ".join(_plural(counts[each], each.value) for each in Severity), "", 0)


def show_difference(found: Difference) -> None:
    """Print what changed."""
    console = out()
    for name, (was, is_) in found.header.items():
        paragraph(console, f"{name}: {was or '-'} -> {is_ or '-'}", "bold", 0)
    for id_ in found.added:
        paragraph(console, f"+ {id_}", "green", 0)
    for id_ in found.removed:
        paragraph(console, f"- {id_}", "red", 0)
    for change in found.changed:
        paragraph(console, f"~ {change.id}", "yellow", 0)
        for name, values in change.fields.items():
            was, is_ = (cut(str(value)) for value in values)
            paragraph(console, f"{name}: {was} -> {is_}", "", 4)
    counts = f"{len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed"
    paragraph(console, f"{counts}, {found.unchanged} unchanged", "", 0)
    if found.needs_version:
        tell("note: the items differ, and name and version do not: give the newer set a new version")


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
