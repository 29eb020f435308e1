"""docs/observability/prometheus.md, the dashboard and the alert rules, against a live Prometheus that scrapes a live process."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from support.chat import ChatServer
from support.processes import answers, eventually, fetch, free_port, running
from support.recipes import APP, ROOT, blocks, environment, run_program

pytest.importorskip("opentelemetry.exporter.prometheus")

needs_prometheus = pytest.mark.skipif(shutil.which("prometheus") is None, reason="needs prometheus")
needs_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool")

RULES = ROOT / "deploy" / "prometheus" / "groundguard.rules.yml"
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "groundguard.json").read_text("utf-8"))
PANELS = [(panel["title"], target["expr"]) for panel in DASHBOARD["panels"] for target in panel["targets"]]
PAGE = (ROOT / "docs" / "observability" / "prometheus.md").read_text("utf-8")
QUESTIONS = re.findall(r"^\|[^`]*\| `(.*)` \|$", PAGE, re.MULTILINE)

FOR_EVER = """
import time
while True:
    time.sleep(0.1)
    main()
"""

CONFIG = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: shop
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""

SHOW = """
from prometheus_client import generate_latest
print(json.dumps(generate_latest().decode()))
"""


def metrics_in(text: str) -> set[str]:
    """The names of our metrics in an expression."""
    return set(re.findall(r"\b(?:rag|gen_ai_client)_[a-z_]+", text))


def test_dashboard_and_rules_speak_of_metrics_that_exist(tmp_path: Path) -> None:
    with ChatServer() as chat:
        given = {"METRICS_PORT": str(free_port()), **chat.environment}
        shown = run_program(*blocks("prometheus"), APP, SHOW, folder=tmp_path, given=given)[-1]
    exist = metrics_in(str(shown))
    asked = metrics_in(" ".join([expression for _, expression in PANELS] + QUESTIONS))
    rules = [rule["expr"] for group in yaml.safe_load(RULES.read_text("utf-8"))["groups"] for rule in group["rules"]]
    ruled = metrics_in(re.sub(r"job:\w+:\w+", "", " ".join(rules)))

    assert len(asked) > 6
    assert len(ruled) > 3
    assert (asked | ruled) - exist == set()


@needs_promtool
@pytest.mark.parametrize("command", ["check rules groundguard.rules.yml", "test rules groundguard.test.yml"])
def test_promtool_agrees(command: str) -> None:
    done = subprocess.run(
        ["promtool", *command.split()], cwd=RULES.parent, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The API of a Prometheus that scrapes an application which answers, and fails to, all the time."""
    application, server = tmp_path_factory.mktemp("application"), tmp_path_factory.mktemp("prometheus")
    port, listening = free_port(), free_port()
    (application / "program.py").write_text("\n".join([*blocks("prometheus"), APP, FOR_EVER]), "utf-8")
    (server / "prometheus.yml").write_text(CONFIG.format(rules=RULES, port=port), "utf-8")
    command = ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data"]
    url = f"http://127.0.0.1:{listening}"
    with (
        ChatServer() as chat,
        running(
            [sys.executable, "program.py"],
            folder=application,
            environment=environment({"METRICS_PORT": str(port), **chat.environment}),
            ready=answers(f"http://127.0.0.1:{port}/metrics"),
        ),
        running(
            [*command, f"--web.listen-address=127.0.0.1:{listening}"],
            folder=server,
            environment=environment({}),
            ready=answers(f"{url}/-/ready"),
        ),
    ):
        yield f"{url}/api/v1"


def values(prometheus: str, expression: str) -> list[float]:
    """What an expression comes to, series by series; waits until there are samples enough to tell."""

    def ask() -> list[float]:
        reply = fetch(f"{prometheus}/query", query=expression)
        assert reply["status"] == "success"
        found = [float(each["value"][1]) for each in reply["data"]["result"]]
        return [] if any(map(math.isnan, found)) else found

    found: list[float] = eventually(ask, patience=30)
    return found


@needs_prometheus
def test_promql_tells_the_rate_of_ungrounded_answers(prometheus: str) -> None:
    (share,) = values(prometheus, QUESTIONS[0])
    assert share == pytest.approx(0.4, abs=0.1)  # two of five
    (counted,) = values(prometheus, 'rag_queries_total{status="ungrounded"}')
    assert counted >= 2
    (malformed,) = values(prometheus, 'rag_faithfulness_judge_failures_total{reason="verdict_malformed"}')
    assert malformed >= 1


@needs_prometheus
@pytest.mark.parametrize("expression", QUESTIONS)
def test_every_question_of_the_page_has_an_answer(expression: str, prometheus: str) -> None:
    assert values(prometheus, expression)


@needs_prometheus
@pytest.mark.parametrize(("title", "expression"), PANELS)
def test_every_panel_of_the_dashboard_shows_something(title: str, expression: str, prometheus: str) -> None:
    found = values(prometheus, expression.replace("$__rate_interval", "30s").replace("$job", ".*"))
    assert found
    assert all(value >= 0 for value in found)


@needs_prometheus
def test_the_alert_rules_are_at_work(prometheus: str) -> None:
    def pending() -> set[str]:
        alerts = {alert["labels"]["alertname"] for alert in fetch(f"{prometheus}/alerts")["data"]["alerts"]}
        return alerts if len(alerts) > 2 else set()

    assert eventually(pending) == {"GroundguardUngrounded", "GroundguardJudgeFailing", "GroundguardVerdictsMalformed"}
    rules = [rule for group in fetch(f"{prometheus}/rules")["data"]["groups"] for rule in group["rules"]]
    assert {rule["health"] for rule in rules} == {"ok"}
