"""The report as a short Markdown text: for the comment on a pull request.

Text from outside stands in code spans, where no Markdown, HTML, link or `@mention` means anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from groundguard.errors import UsageError
from groundguard.evaluation.gates.gates import GateResult
from groundguard.evaluation.report.content import Report
from groundguard.evaluation.report.items import ShownItem, shown_items
from groundguard.evaluation.report.shown import on_one_line
from groundguard.evaluation.report.words import (
    METRICS,
    Mood,
    completeness,
    cost,
    counted,
    headline,
    interval,
    metric_name,
    number,
    trust,
    unscored,
)
from groundguard.evaluation.results import Figure
from groundguard.records import Decision

MOST = 60_000
"""Characters of the whole text: GitHub takes 65,536 for a comment."""

LEAST = 2_000
"""Characters that the text needs for what it can't leave out."""

SHORT = 160
"""Characters of a name or a question that are shown."""

_HARMLESS = re.compile(r"(?:[A-Za-z0-9 ,:;()=%+'-]|(?<=[0-9a-z)])\.(?= |$|\d)|(?<=[a-z])_(?=[a-z])|(?<= )>(?==))*")
"""Letters, digits and marks that mean nothing where they stand: no `www.`, no `@`, no HTML."""

_SIGNS = {Mood.GOOD: "✅", Mood.BAD: "❌", Mood.DOUBT: "⚠️", Mood.PLAIN: "📏"}


def markdown_report(report: Report, *, most: int = MOST) -> str:
    """The report as Markdown: the verdict, the panel with its intervals, the gates, and the items to look at.

    Args:
        report: What to tell.
        most: Characters of the whole text, 2,000 or more: items are left out to keep to it, and it says how many.

    Raises:
        UsageError: if `most` is too small.
    """
    if most < LEAST:
        raise UsageError(f"a report needs {LEAST} characters or more, and most is {most}")
    top = _within("\n".join(_top(report)), most - 200)
    return _with_items(top, list(map(_item, filter(_is_bad, shown_items(report.run)))), most)


def code(text: str, most: int = SHORT) -> str:
    """A text from outside on one line, as a code span that means nothing but itself, in a table too."""
    line = on_one_line(text, most).replace("|", "\\x7c") or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def prose(text: str, most: int = 2 * SHORT) -> str:
    """One of our sentences as prose; as a code span where a name in it could mean something in Markdown."""
    line = on_one_line(text, most)
    return line if _HARMLESS.fullmatch(line) else code(line, most)


def _top(report: Report) -> Iterator[str]:
    verdict, pins = headline(report), report.run.pins
    yield f"### {_SIGNS[verdict.mood]} {verdict.title}: {code(f'{pins.dataset} {pins.version}')}"
    yield f"\n{_about(report)}\n"
    yield from _panel(report.figures)
    yield from _gates(report.gates)
    if report.findings:
        yield "\n**Diagnosis**\n"
        yield from (f"- {prose(finding.title)}: {counted(finding.count, 'answer')}" for finding in report.findings)
    smells = [gap for gap in report.gaps if gap.smells or gap.perfect]
    if smells:
        yield "\n**Overfitting**\n"
        yield from (f"- {code(gap.metric)}: {prose(gap.why)}" for gap in smells)
    yield f"\n{prose(completeness(report))} {prose(trust(report))} {cost(report)}."


def _about(report: Report) -> str:
    pins = report.run.pins
    named = [f"{what} {code(name)}" for what, name in (("pipeline", pins.pipeline), ("model", pins.model)) if name]
    return " · ".join([prose(headline(report).words), *named])


def _panel(figures: Iterable[Figure]) -> Iterator[str]:
    yield "| metric | value | interval | items | unscored |"
    yield "|---|---:|---:|---:|---|"
    for figure in figures:
        name = metric_name(figure.metric) if figure.metric in METRICS else code(figure.metric)
        apart = prose(unscored(figure)) if figure.unscored else "0"
        yield f"| {name} | **{number(figure.value)}** | {interval(figure)} | {figure.n} | {apart} |"


def _gates(gates: Iterable[GateResult]) -> Iterator[str]:
    rows = [f"| {code(str(held.gate))} | {held.outcome} | {prose(held.why)} |" for held in gates]
    if rows:
        yield from ("", "| gate | outcome | why |", "|---|---|---|", *rows)


def _is_bad(item: ShownItem) -> bool:
    """Whether a person should look at it: something failed, went unscored, or is not supported."""
    claims = [claim.claim.decision for shown in item.results for claim in shown.claims]
    return (
        item.is_unscored or "error" in item.statuses or "ungrounded" in item.statuses or Decision.UNSUPPORTED in claims
    )


def _item(item: ShownItem) -> str:
    scores = ", ".join(f"{code(metric, 40)} {number(value)}" for metric, value in item.values.items())
    label = f"{', '.join(item.statuses)}: {', '.join(item.reasons)}"
    return f"- {code(item.first.id, 80)} {code(item.first.question)} {code(label)} {scores}"


def _within(text: str, most: int) -> str:
    """`text`, without the lines at its end that go beyond."""
    if len(text) <= most:
        return text + "\n"
    return text[:most].rpartition("\n")[0] + "\n\n(Cut here: the rest is too long for a comment.)\n"


def _with_items(top: str, items: list[str], most: int) -> str:
    if not items:
        return top
    head, foot = f"\n<details><summary>{counted(len(items), 'item')} to look at</summary>\n\n", "\n</details>\n"
    left = most - len(top) - len(head) - len(foot) - 60
    kept: list[str] = []
    for line in items:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    more = len(items) - len(kept)
    lines = "\n".join([*kept, f"- and {more:,} more"] if more else kept)
    return f"{top}{head}{lines}\n{foot}"
