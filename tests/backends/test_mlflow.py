"""docs/observability/mlflow.md against a real MLflow: what it shows of a guarded application, by its own API."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

from support.chat import ChatServer
from support.observed import (
    ANSWERED,
    BY_CHAIN,
    KINDS,
    MALFORMED,
    RAISED,
    UNSUPPORTED,
    Label,
    Observed,
    Trace,
    check_calls,
    check_status,
    check_trees,
    traces,
)
from support.processes import answers, free_port, running
from support.recipes import APP, blocks, environment, run_program

installed = subprocess.run(
    [sys.executable, "-c", "import mlflow.server"], capture_output=True, env=environment({}), check=False
)
pytestmark = pytest.mark.skipif(installed.returncode != 0, reason="needs mlflow")

SETUP, UNSUPPORTED_TRACES = blocks("mlflow")

READ = """
import time
from mlflow.genai.utils.trace_utils import extract_retrieval_context_from_trace

until, found = time.monotonic() + 60, []
while len(found) < 6 and time.monotonic() < until:
    found = mlflow.search_traces(locations=[EXPERIMENT], return_type="list")
unsupported_ids = [each.info.trace_id for each in unsupported()]
for each in found:
    info = each.info
    print(json.dumps({
        "trace_id": info.trace_id,
        "state": info.state,
        "request": info.request_preview,
        "response": info.response_preview,
        "tokens": info.token_usage,
        "unsupported": info.trace_id in unsupported_ids,
        "feedback": [
            [a.name, a.value, a.rationale, a.error and a.error.error_code, a.source.source_type, a.source.source_id]
            for a in info.assessments
        ],
        "contexts": [chunk for chunks in extract_retrieval_context_from_trace(each).values() for chunk in chunks],
        "spans": [
            {
                "name": span.name,
                "kind": span.span_type,
                "attributes": {key: span.attributes[key] for key in span.attributes},
                "trace_id": info.trace_id,
                "span_id": span.span_id,
                "parent_id": span.parent_id,
                "status": span.status.status_code,
                "start": span.start_time_ns,
            }
            for span in each.data.spans
        ],
    }, default=str))
"""


def observed(trace: Mapping[str, Any]) -> list[Observed]:
    spans = sorted(trace["spans"], key=lambda span: span["start"])
    return [Observed(**{name: value for name, value in span.items() if name != "start"}) for span in spans]


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running MLflow."""
    folder, port = tmp_path_factory.mktemp("mlflow"), free_port()
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", port, "--workers", "1"]
    url = f"http://127.0.0.1:{port}"
    with running(
        [*command, "--backend-store-uri", f"sqlite:///{folder}/mlflow.db"],
        folder=folder,
        environment=environment({}),
        ready=answers(f"{url}/health"),
    ):
        yield url


@pytest.fixture(scope="module")
def read(mlflow: str, tmp_path_factory: pytest.TempPathFactory) -> dict[Label, dict[str, Any]]:
    """The application's traces as MLflow gives them back."""
    capture = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY"}
    folder = tmp_path_factory.mktemp("application")
    with ChatServer() as chat:
        run_program(SETUP, APP, folder=folder, given={"MLFLOW_TRACKING_URI": mlflow, **chat.environment, **capture})
    reading = ["import json", SETUP, UNSUPPORTED_TRACES, READ]
    said = run_program(*reading, folder=folder, given={"MLFLOW_TRACKING_URI": mlflow})
    return {Trace(tuple(observed(each))).label: each for each in said}


@pytest.fixture(scope="module")
def found(read: dict[Label, dict[str, Any]]) -> dict[Label, Trace]:
    return traces(span for each in read.values() for span in observed(each))


def test_the_traces(found: dict[Label, Trace]) -> None:
    check_trees(found)
    check_calls(found)
    check_status(found)


def test_question_answer_tokens_and_state(read: dict[Label, dict[str, Any]]) -> None:
    answered = read[ANSWERED]
    assert "Which voltage does the lamp need?" in answered["request"]
    assert "It runs on 12 volts." in answered["response"]
    assert answered["tokens"] == {"input_tokens": 500, "output_tokens": 1, "total_tokens": 501}
    assert {label: each["state"] for label, each in read.items()} == {
        label: "ERROR" if label == RAISED else "OK" for label in KINDS
    }


def test_documents_as_the_scorers_of_mlflow_read_them(read: dict[Label, dict[str, Any]]) -> None:
    assert [each["content"] for each in read[ANSWERED]["contexts"]] == [
        "The lamp runs on 12 volts.",
        "The lamp has a steel foot.",
    ]
    assert read[ANSWERED]["contexts"][0]["doc_uri"] == "https://example.com/lamp"


def test_the_verdicts_are_feedback(read: dict[Label, dict[str, Any]]) -> None:
    source = ["LLM_JUDGE", "fact_check:judge-model"]
    assert {label: each["feedback"] for label, each in read.items() if each["feedback"]} == {
        ANSWERED: [["groundedness", True, "supported", None, *source]],
        UNSUPPORTED: [["groundedness", False, "unsupported", None, *source]],
        MALFORMED: [["groundedness", None, "verdict_malformed", "verdict_malformed", *source]],
        BY_CHAIN: [["groundedness", True, "supported", None, *source]],
    }


def test_the_search_of_the_page(read: dict[Label, dict[str, Any]]) -> None:
    assert [label for label, each in read.items() if each["unsupported"]] == [UNSUPPORTED]
