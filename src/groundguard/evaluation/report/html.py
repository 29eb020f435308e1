"""The report as one page: no network, no script but its own, every text from outside escaped.

The page is made from our own templates; data enter it as values, never as a template. A content security policy in its
head forbids whatever isn't there: it names the page's one style sheet and one script by their hash.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from groundguard.evaluation.report import charts, words
from groundguard.evaluation.report.content import Report
from groundguard.evaluation.report.items import ShownItem, shown_items
from groundguard.evaluation.report.shown import on_one_line, pieces, shown
from groundguard.records import Decision

MUCH = 20_000
"""Characters of a chunk that are shown."""

DECISIONS: Mapping[Decision | None, str] = {
    Decision.SUPPORTED: "supported",
    Decision.UNSUPPORTED: "not supported",
    Decision.UNKNOWN: "no verdict",
    None: "no claim",
}
"""What a judge said of a claim, in words."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What the items can be filtered by: the values that come up, in their order of the alphabet."""

    statuses: tuple[str, ...]
    reasons: tuple[str, ...]
    tags: tuple[str, ...]
    splits: tuple[str, ...]
    metrics: tuple[str, ...]


def html_report(report: Report) -> str:
    """The report as an HTML document that stands alone: open it from the disk, mail it, keep it.

    Args:
        report: What to tell.

    Returns:
        The document; save it as UTF-8.
    """
    items = shown_items(report.run)
    gates = {result.gate.metric: result.gate.at for result in report.gates}
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            run=report.run,
            pins=report.run.pins,
            headline=words.headline(report),
            items=items,
            choices=_choices(items),
            bars={figure.metric: charts.bar(figure, gates.get(figure.metric)) for figure in report.figures},
            trends=charts.trends(report),
            numbers={item.first.id: item.number for item in items},
            styles=_own("report.css"),
            script=_own("report.js"),
            policy=policy(),
        )
    )


def policy() -> str:
    """The content security policy of the page."""
    style, script = (_hash(_own(name)) for name in ("report.css", "report.js"))
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none';"
        " require-trusted-types-for 'script'; trusted-types 'none'"
    )


def marked(text: str) -> Markup:
    """Text from outside, escaped, with its invisible characters as marked escapes."""
    return Markup("").join(_marked(piece, hidden=hidden) for piece, hidden in pieces(text))


def _marked(piece: str, *, hidden: bool) -> Markup:
    return Markup('<span class="hidden-mark">{}</span>').format(piece) if hidden else escape(piece)


def cut(text: str) -> str:
    """The beginning of a text, and how much is left out."""
    return text if len(text) <= MUCH else f"{text[:MUCH]} [... {len(text) - MUCH:,} more characters]"


def _choices(items: tuple[ShownItem, ...]) -> Choices:
    return Choices(
        tuple(sorted({status for item in items for status in item.statuses})),
        tuple(sorted({reason for item in items for reason in item.reasons})),
        tuple(sorted({tag for item in items for tag in item.first.tags})),
        tuple(sorted({item.first.split.value for item in items if item.first.split})),
        tuple(dict.fromkeys(metric for item in items for metric in item.values)),
    )


def _places(values: Any, among: tuple[str, ...]) -> str:
    """Which of some values an item has, as their positions: no separator that a value could hold."""
    return " ".join(str(place) for place, value in enumerate(among) if value in values)


def _values(item: ShownItem) -> str:
    return _json(list(item.values.items()))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_own), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    filters: dict[str, Any] = environment.filters
    filters |= {"text": marked, "plain": shown, "line": on_one_line, "cut": cut}
    filters |= {"places": _places, "values": _values, "json": _json}
    for function in (words.number, words.interval, words.reasons, words.counted, words.metric_name):
        filters[function.__name__] = function
    known: dict[str, Any] = environment.globals
    known |= {"charts": charts, "meanings": words.MEANINGS, "decisions": DECISIONS, "unlike": words.unlike}
    known |= {"completeness": words.completeness, "trust": words.trust, "cost": words.cost}
    return environment


@cache
def _own(name: str) -> str:
    """One of our own files."""
    return files("groundguard.evaluation.report").joinpath("templates", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
