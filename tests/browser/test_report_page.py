"""The report's page in a real browser: what it shows, how it filters, and that a hostile text can do nothing.

Skipped without Chromium and Playwright (`pip install playwright`; the browser is the system's).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groundguard.evaluation.gates.gates import Gate
from groundguard.evaluation.report.content import report_on
from groundguard.evaluation.report.html import html_report
from support.payloads import PAYLOADS
from support.runs import PINS, big, hostile, insurer

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.enable_socket,  # playwright talks to the browser over sockets of its own
]

WATCH = """
window.__ran = [];
for (const name of ["alert", "confirm", "prompt", "print", "open"]) { window[name] = () => window.__ran.push(name); }
document.addEventListener("securitypolicyviolation", (event) => window.__ran.push(event.violatedDirective));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


class Opened:
    """A page from the disk, and what it asked the world for."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.page = browser.new_context(**options).new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.add_init_script(WATCH)
        self.page.goto(path.as_uri())

    def shown(self) -> list[str]:
        """The names of the items that are shown."""
        return self.page.eval_on_selector_all(".item:not([hidden]) .name", "all => all.map((each) => each.textContent)")

    def settle(self) -> None:
        """Wait until a filter has been applied."""
        self.page.wait_for_timeout(250)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report.html"
    before = replace(insurer(), pins=replace(PINS, pipeline="v6"))
    file.write_text(html_report(report_on([before, insurer()], gates=[Gate("faithfulness", 0.9)])), encoding="utf-8")
    return file


@pytest.fixture
def opened(browser: Any, path: Path) -> Iterator[Opened]:
    page = Opened(browser, path)
    yield page
    assert page.requests == [path.as_uri()]
    assert page.errors == []
    page.page.context.close()


def test_an_item_opens_and_its_claims_lead_to_the_chunk(opened: Opened) -> None:
    page = opened.page
    page.click("#item-2 summary")
    page.click("#item-2 .answer .ref >> nth=0")
    assert page.evaluate("document.activeElement.id") == "i2r1c1"
    page.click("#i2r1c1 a")

    assert page.evaluate("document.activeElement.id") == "i2r1k1"
    assert page.is_visible("#i2r1k1")
    assert page.inner_text("#item-2 mark.unsupported") == "Floods are covered without limit."


def test_a_finding_opens_its_item_even_where_a_filter_hides_it(opened: Opened) -> None:
    page = opened.page
    page.fill("#by-text", "parrot")
    opened.settle()
    page.click(".findings summary >> nth=0")
    page.click(".ids a >> nth=0")
    opened.settle()

    assert len(opened.shown()) == 8
    assert page.evaluate("document.querySelectorAll('.item > details[open]').length") == 1


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda page: page.fill("#by-text", "PARROT"), ["nothing"]),
        (lambda page: page.fill("#by-text", "without limit"), ["flood"]),
        (lambda page: page.select_option("#by-status", label="no_context"), ["nothing"]),
        (lambda page: page.select_option("#by-status", label="error"), ["down"]),
        (lambda page: page.select_option("#by-reason", label="judge_timeout"), ["silent"]),
        (lambda page: page.select_option("#by-tag", label="limits"), ["pipe-limit", "marks"]),
        (lambda page: page.select_option("#by-split", label="tune"), ["pipe-limit", "down", "whole", "marks"]),
        (lambda page: page.fill("#below", "0.9"), ["flood", "whole"]),
        (lambda page: (page.fill("#below", "0.9"), page.select_option("#by-metric", label="Faithfulness")), ["flood"]),
        (lambda page: page.check("#unscored"), ["silent", "down"]),
        (lambda page: (page.check("#unscored"), page.select_option("#by-tag", label="weather")), ["down"]),
        (lambda page: page.fill("#by-text", "no such words"), []),
    ],
)
def test_filters_leave_what_fits_and_can_be_cleared(opened: Opened, change: Any, left: list[str]) -> None:
    change(opened.page)
    opened.settle()
    assert opened.shown() == left
    assert opened.page.inner_text("#count") == f"{len(left)} of 8 items"

    opened.page.click("#filters button[type=reset]")
    opened.settle()
    assert opened.page.inner_text("#count") == "8 items"


def test_the_keyboard_is_enough(opened: Opened) -> None:
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.focus("#item-2 summary")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    assert page.evaluate("document.activeElement.id") == "i2r1c1"


def test_light_and_dark_follow_the_system_or_the_button(browser: Any, path: Path) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    seen = {}
    for scheme in ("light", "dark"):
        page = Opened(browser, path, color_scheme=scheme).page
        seen[scheme] = page.evaluate(colour)
    page.click("#theme")

    assert seen == {"light": "rgb(247, 247, 245)", "dark": "rgb(18, 20, 24)"}
    assert page.evaluate(colour) == seen["light"]
    assert page.inner_text("#theme") == "Theme: light"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
def test_nothing_sticks_out_and_there_is_a_picture_to_look_at(
    browser: Any, path: Path, tmp_path: Path, width: int, scheme: str
) -> None:
    opened = Opened(browser, path, viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened.page.click("#item-2 summary")
    folder = Path(os.environ.get("GROUNDGUARD_SCREENSHOTS", tmp_path))
    height = opened.page.evaluate("document.documentElement.scrollHeight")
    opened.page.set_viewport_size({"width": width, "height": min(height, 8_000)})
    opened.page.screenshot(path=folder / f"report-{width}-{scheme}.png")

    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_scripts_all_of_it_can_be_read(browser: Any, path: Path) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(path.as_uri())
    page.click("#item-2 summary")

    assert page.is_visible("#i2r1k1")
    assert not page.is_visible("#filters")
    assert not page.is_visible("#theme")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_hostile_text_runs_nothing_and_asks_for_nothing(browser: Any, tmp_path: Path, payload: str) -> None:
    run = hostile(payload)
    file = tmp_path / "report.html"
    told = report_on([replace(run, pins=replace(run.pins, seed=1)), run], gates=[Gate(payload, 0.5)])
    file.write_text(html_report(told), encoding="utf-8")
    opened = Opened(browser, file)
    page = opened.page

    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.fill("#by-text", payload.replace("\x00", "")[:40].encode("utf-8", "ignore").decode())
    page.mouse.move(300, 300)
    page.keyboard.press("Tab")
    opened.settle()

    assert page.evaluate("window.__ran") == []
    assert opened.requests == [file.as_uri()]
    assert opened.errors == []
    assert page.evaluate("document.scripts.length + document.images.length + document.forms.length") == 2
    page.context.close()


def test_what_is_not_on_the_page_is_forbidden_to_it(browser: Any, path: Path) -> None:
    opened = Opened(browser, path)
    opened.page.evaluate(
        """() => {
            const image = document.createElement("img");
            image.src = "http://127.0.0.1:9/x.png";
            document.body.append(image);
            const script = document.createElement("script");
            try { script.textContent = "alert(1)"; document.body.append(script); } catch (error) { window.__ran.push(error.name); }
        }"""
    )
    opened.settle()

    assert {"img-src", "TypeError"} <= set(opened.page.evaluate("window.__ran"))


def test_two_thousand_items_open_and_filter(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(html_report(report_on(big(2_000))), encoding="utf-8")
    opened = Opened(browser, file)
    opened.page.fill("#by-text", "question number 1999:")
    for _ in range(40):
        opened.settle()
        if opened.page.inner_text("#count") != "2,000 items":
            break

    assert opened.shown() == ["item-1999"]


def test_axe_finds_no_fault(browser: Any, path: Path) -> None:
    axe = Path(os.environ.get("AXE", "axe.min.js"))
    if not axe.exists():
        pytest.skip("AXE names no axe.min.js")
    for scheme in ("light", "dark"):
        page = browser.new_context(bypass_csp=True, color_scheme=scheme).new_page()
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.add_script_tag(path=axe)
        found = page.evaluate("axe.run(document)")
        assert [(each["id"], len(each["nodes"])) for each in found["violations"]] == []
        assert len(found["passes"]) > 30
