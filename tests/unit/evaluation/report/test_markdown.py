"""Markdown for a pull request: short, and inert whatever the texts hold."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given

from groundguard.errors import UsageError
from groundguard.evaluation.gates.gates import Gate
from groundguard.evaluation.report.content import report_on
from groundguard.evaluation.report.markdown import code, markdown_report, prose
from groundguard.evaluation.report.shown import on_one_line
from groundguard.evaluation.results import ItemResult, Score
from support.payloads import PAYLOADS
from support.runs import PINS, big, insurer, result, verdict
from support.strategies import texts

MarkdownIt = pytest.importorskip("markdown_it").MarkdownIt  # comes with rich
GFM = MarkdownIt("commonmark").enable("table")
ALLOWED = {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "strong", "ul", "li", "details", "summary"}


class Seen(HTMLParser):
    """The tags of a document, and its texts outside code."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.outside: list[str] = []
        self.codes: list[str] = []
        self._depth = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self._depth += tag == "code"
        if tag == "code":
            self.codes.append("")

    def handle_endtag(self, tag: str) -> None:
        self._depth -= tag == "code"

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.codes[-1] += data
        else:
            self.outside.append(data)


def test_it_tells_the_verdict_the_panel_and_the_items_to_look_at() -> None:
    text = markdown_report(report_on(insurer(), gates=[Gate("faithfulness", 0.9)]))

    assert text.startswith("### ❌ The judge is unhealthy: `insurer 1.2.0`\n")
    assert "| Faithfulness | **0.867** | 0.432 to 0.982 | 5 | 2 (judge timeout 1, pipeline failed 1) |" in text
    assert "| `faithfulness=0.90` | failed | faithfulness: 2 of 7 could not be scored" in text
    assert "- The generator invents: 1 answer\n" in text
    assert "**Overfitting**" in text
    assert "- `flood` `Are burst pipes and floods covered?` `ungrounded: unsupported` `faithfulness` 0.333" in text
    assert "3 items to look at" in text
    assert text.count("\n|") == 2 + 3 + 2 + 1


def test_a_good_run_has_nothing_to_look_at() -> None:
    text = markdown_report(
        report_on(insurer(results=insurer().results[6:7], expected=1, pins=replace(PINS, model=None)))
    )

    assert "to look at" not in text
    assert "Diagnosis" in text
    assert "model `" not in text


@given(texts)
def test_a_code_span_says_the_text_and_nothing_else(text: str) -> None:
    seen = Seen(GFM.render(f"| a | b |\n|---|---|\n| {code(text)} | end |\n"))

    assert seen.codes == [on_one_line(text, 160).replace("|", "\\x7c") or " "]
    assert seen.tags == {"table", "thead", "tbody", "tr", "th", "td", "code"}


@pytest.mark.parametrize(
    "text",
    [
        *(each for each in PAYLOADS if "<" in each),
        "www.evil.example",
        "@everyone",
        "#1",
        "a_b_c@d",
        "**b**",
        "|",
        "`x`",
        "<b>",
    ],
)
def test_prose_that_could_mean_something_becomes_code(text: str) -> None:
    assert prose(f"The gate {text} failed.") == code(f"The gate {text} failed.", 320)


def test_plain_prose_stays_prose() -> None:
    said = "context_recall 0.50 >= 0.40 (n 3; 1 of 4 could not be scored), by +5% or so: it's fine."

    assert prose(said) == said


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_from_outside_means_anything(payload: str) -> None:
    evil = result(payload, payload, payload, said=verdict(), tags=(payload,), scores=(Score(payload, None, payload),))
    run = insurer(
        results=(evil, ItemResult("e", 0, payload, error=payload)),
        pins=replace(PINS, dataset=payload, pipeline=payload),
    )

    seen = Seen(GFM.render(markdown_report(report_on(run, gates=[Gate(payload, 0.5)]))))

    assert seen.tags <= ALLOWED
    assert "@" not in "".join(seen.outside)
    assert "://" not in "".join(seen.outside)


@pytest.mark.parametrize("most", [2_000, 5_000, 60_000])
def test_it_is_never_longer_than_told_and_says_what_it_leaves_out(most: int) -> None:
    text = markdown_report(report_on(big(700)), most=most)

    assert len(text) <= most
    assert "100 items to look at" in text
    assert ("more\n" in text) == (most < 60_000)
    assert text.endswith("</details>\n")


def test_even_the_top_is_cut_where_it_is_too_long() -> None:
    metrics = tuple(Score(f"metric-{number:04}", 1.0) for number in range(200))

    text = markdown_report(report_on(insurer(results=(result("x", scores=metrics),), expected=1)), most=3_000)

    assert len(text) <= 3_000
    assert "(Cut here: the rest is too long for a comment.)" in text


def test_too_little_room_is_refused() -> None:
    with pytest.raises(UsageError, match="2000 characters or more"):
        markdown_report(report_on(insurer()), most=100)
