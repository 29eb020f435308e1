"""The page: what stands on it, and that nothing on it can be anything but text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundguard.evaluation.gates.gates import Gate
from groundguard.evaluation.report.content import Trust, report_on
from groundguard.evaluation.report.html import MUCH, html_report, policy
from groundguard.evaluation.results import Score
from groundguard.records import Chunk, Decision
from support.payloads import PAYLOADS
from support.runs import PINS, big, claim, hostile, insurer, result, verdict
from support.strategies import texts


class Page(HTMLParser):
    """The tags of a page, their attributes, its ids, and the text of each element that has one."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.parts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    @property
    def text(self) -> str:
        """All of its text on one line."""
        return " ".join("".join(self.parts).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every such element."""
        return [attributes for name, attributes in self.tags if name == tag]


RUN = insurer()
WHOLE = html_report(
    report_on([replace(RUN, pins=replace(PINS, pipeline="v6")), RUN], gates=[Gate("faithfulness", 0.9)])
)


def test_the_verdict_stands_on_top_with_what_it_is_worth() -> None:
    page = Page(WHOLE)

    assert page.text.index("The judge is unhealthy") < page.text.index("Panel Each figure")
    assert "Complete run: 8 results. Judge not calibrated. Nobody has held it" in page.text
    assert '<section class="verdict bad"' in WHOLE


@pytest.mark.parametrize(
    "words",
    [
        "0.867 95 % interval 0.432 to 0.982 items scored 5 unscored 2 judge timeout 1, pipeline failed 1",
        "faithfulness=0.90 failed faithfulness: 2 of 7 could not be scored",
        "The generator invents 1 answer, first fault in 1",
        "2 runs, oldest first",
        "Unlike the run before in",
        "tune minus heldout is 0.33",
        "split heldout 4 0.667 0.159 to 0.955 · 1 unscored",
        "The pipeline failed: ConnectionError. This item is unscored under every metric.",
        "Reference chunks that were not retrieved: water-9",
        "not supported Floods are covered without limit. lacks or contradicts: floods, limit",
        "no claim The insurer is Swiss",
        "The judge gave one verdict on the whole answer: supported.",
        "no context no chunks · declined to answer",
        "Faithfulness unscored: judge_timeout",
        "Faithfulness does not apply",
        "wants a refusal",
        "41 calls of models, 120,400 tokens in, 3,100 out, cost unknown",
    ],
)
def test_everything_is_told(words: str) -> None:
    assert words in Page(WHOLE).text


def test_claims_are_marked_in_the_answer_and_lead_to_the_chunk() -> None:
    assert (
        '<mark class="supported">Burst pipes are covered up to 5,000 euros.</mark>'
        '<a class="ref" href="#i2r1c1" aria-label="claim 1">1</a> '
        '<mark class="unsupported">Floods are covered without limit.</mark>'
    ) in WHOLE
    assert '<span class="support">by <a href="#i2r1k1">chunk 1</a></span>' in WHOLE
    assert 'supports <a href="#i2r1c1">claim 1</a>' in WHOLE


def test_every_link_leads_to_a_place_on_the_page_and_no_place_is_there_twice() -> None:
    page = Page(WHOLE)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]

    assert len(ids) == len(set(ids))
    assert {link["href"] for link in page.all("a")} <= {f"#{place}" for place in ids}


def test_the_page_loads_nothing_and_its_policy_names_its_own_two_parts() -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", WHOLE, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", WHOLE, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script)]

    assert all(f"'sha256-{each}'" in policy() for each in hashes)
    assert policy().startswith("default-src 'none';")
    assert Page(WHOLE).all("meta")[1]["content"] == policy()
    assert not re.findall(r"\b(?:src|style|on\w+)=|url\(|@import|http", WHOLE.replace("http-equiv", ""))


def test_what_cannot_be_seen_is_shown() -> None:
    assert 'Is it <span class="hidden-mark">\\u202e</span>covered<span class="hidden-mark">\\u202c</span>?' in WHOLE
    assert "\u202e" not in WHOLE


TAGS = {tag for tag, _ in Page(WHOLE).tags}


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_hostile_text_is_text_wherever_it_stands(payload: str) -> None:
    run = hostile(payload)
    told = report_on([replace(run, pins=replace(run.pins, seed=1)), run], gates=[Gate(payload, 0.5)])
    page = Page(html_report(replace(told, trust=Trust(words=payload))))

    assert {tag for tag, _ in page.tags} <= TAGS
    assert all(not name.startswith("on") and name not in {"src", "style", "srcdoc"} for _, a in page.tags for name in a)
    assert all((link["href"] or "").startswith("#") for link in page.all("a"))
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert len(page.all("meta")) == 5


@given(texts, st.lists(texts, max_size=2))
@settings(max_examples=25)
def test_any_text_makes_a_page(text: str, tags: list[str]) -> None:
    run = insurer(results=(result("x", text, text, (Chunk(text),), tags=tuple(tags)),), expected=1)

    page = html_report(report_on(run))

    page.encode("utf-8")
    assert {tag for tag, _ in Page(page).tags} <= TAGS


def test_filters_find_values_by_their_place_whatever_they_hold() -> None:
    rows = (result("a", tags=("x y", '"')), result("b", tags=('"',)), result("c"))
    page = Page(html_report(report_on(insurer(results=rows, expected=3))))
    items = [each for each in page.all("li") if each.get("class") == "item"]

    assert [each["data-tag"] for each in items] == ["0 1", "0", ""]
    assert json.loads(items[0]["data-values"] or "") == [
        ["faithfulness", 1.0],
        ["context_recall", 1.0],
        ["refusal", 1.0],
    ]


def test_repeats_stand_together_and_say_how_much_moved() -> None:
    rows = tuple(
        result("a", repeat=repeat, said=None if repeat else verdict(claim("x", "x", Decision.UNSUPPORTED)))
        for repeat in range(2)
    )
    text = Page(html_report(report_on(insurer(results=rows, expected=2, pins=replace(PINS, repeats=2))))).text

    assert "Repeat 1" in text
    assert "Repeat 2" in text
    assert "labels that flipped 100.0 %" in text


def test_a_policy_that_delivered_another_text_is_seen() -> None:
    row = result("a", said=verdict(claim("x", "x", Decision.UNSUPPORTED)))
    assert row.response is not None
    told = replace(row, response=replace(row.response, answer="I can't say."))

    assert "Delivered instead I can't say." in Page(html_report(report_on(insurer(results=(told,), expected=1)))).text


def test_a_long_chunk_is_cut_and_says_so() -> None:
    page = html_report(report_on(insurer(results=(result("a", chunks=(Chunk("x" * (MUCH + 1_234)),)),), expected=1)))

    assert "[... 1,234 more characters]" in page


def test_claims_of_another_metric_are_told_with_it() -> None:
    said = verdict(claim("", "The reference says so.", Decision.UNSUPPORTED))
    row = result("a", scores=(Score("faithfulness", 1.0), Score("context_recall", 0.0, verdict=said)))

    text = Page(html_report(report_on(insurer(results=(row,), expected=1)))).text

    assert "Context recall 0.000 not supported The reference says so." in text


def test_an_empty_run_and_a_bare_one_have_a_page() -> None:
    empty = insurer(results=(), expected=3, input_tokens=None, output_tokens=None, cost=2.5)
    bare = insurer(
        results=(result("a", answer="", chunks=()),), pins=replace(PINS, pipeline=None, model=None, judge_models=())
    )

    assert "No metric scored anything." in Page(html_report(report_on(empty))).text
    assert "(empty)" in Page(html_report(report_on(bare))).text


def test_the_same_run_makes_the_same_page() -> None:
    assert html_report(report_on(big(20))) == html_report(report_on(big(20)))


TOKEN = re.compile(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)")
ON = {
    "ink": ["page", "sheet", "sunk", "plain-bg", "good-bg", "bad-bg", "doubt-bg"],
    "soft": ["page", "sheet", "sunk"],
    "link": ["page", "sheet", "plain-bg"],
    "good": ["sheet", "good-bg"],
    "bad": ["sheet", "bad-bg"],
    "doubt": ["sheet", "doubt-bg"],
}


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [1, 2], ids=["light", "dark"])
def test_text_stands_out_enough_from_what_is_behind_it(scheme: int) -> None:
    tokens = {match[1]: match[scheme + 1] for match in TOKEN.finditer(WHOLE)}
    for ink, grounds in ON.items():
        for ground in grounds:
            light, dark = sorted((luminance(tokens[ink]), luminance(tokens[ground])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground)
