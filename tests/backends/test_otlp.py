"""docs/observability/otlp.md against a receiver on loopback: what any collector gets, signal by signal."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from pathlib import Path

import pytest
from opentelemetry import _logs

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

from support.chat import ChatServer
from support.observed import (
    ANSWERED,
    BY_CHAIN,
    CONTENT,
    MALFORMED,
    UNSUPPORTED,
    Label,
    Trace,
    check_calls,
    check_status,
    check_trees,
    traces,
)
from support.otlp import Event, Receiver
from support.recipes import APP, blocks, run_program

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
has_events = pytest.mark.skipif(
    "event_name" not in inspect.signature(_logs.Logger.emit).parameters, reason="needs an API with events"
)


def received(folder: Path, **given: str) -> Receiver:
    """What a collector got of one run of the application."""
    with Receiver() as receiver, ChatServer() as chat:
        own = {"OTEL_SERVICE_NAME": "shop", "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
        run_program(*blocks("otlp"), APP, folder=folder, given={**own, **chat.environment, **given})
    return receiver


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Receiver:
    return received(tmp_path_factory.mktemp("silent"))


@pytest.fixture(scope="module")
def open_spans(tmp_path_factory: pytest.TempPathFactory) -> Receiver:
    return received(tmp_path_factory.mktemp("open"), **{CAPTURE: "SPAN_ONLY"})


@pytest.mark.parametrize("which", ["silent", "open_spans"])
def test_the_traces(which: str, request: pytest.FixtureRequest) -> None:
    receiver: Receiver = request.getfixturevalue(which)
    found = traces(receiver.spans)
    check_trees(found)
    check_calls(found)
    check_status(found)
    assert receiver.services == {"shop"}


def test_no_content_leaves_unless_asked_for(silent: Receiver) -> None:
    assert [word for word in CONTENT if word.encode() in silent.everything] == []


def test_content_where_it_was_asked_for_and_the_key_nowhere(open_spans: Receiver) -> None:
    missing = [word for word in CONTENT if word.encode() not in open_spans.everything]
    assert missing == ["a message that holds", "sk-marked-key"]


def test_documents_without_content_are_counted_and_scored(silent: Receiver) -> None:
    retrieval = traces(silent.spans)[ANSWERED].one("RETRIEVER").attributes
    assert retrieval["groundguard.evidence.count"] == 2
    scores = [retrieval[f"retrieval.documents.{index}.document.score"] for index in range(2)]
    assert scores == [0.75, 0.5]


def test_documents_with_content_have_the_forms_that_backends_read(open_spans: Receiver) -> None:
    retrieval = traces(open_spans.spans)[ANSWERED].one("RETRIEVER").attributes
    first = {"id": "lamp-1", "score": 0.75, "content": "The lamp runs on 12 volts."}
    assert json.loads(retrieval["gen_ai.retrieval.documents"])[0] == first
    assert {name: retrieval[f"retrieval.documents.0.document.{name}"] for name in first} == first
    page = json.loads(retrieval["output.value"])[0]
    assert page["page_content"] == first["content"]
    assert page["metadata"]["doc_uri"] == "https://example.com/lamp"


def verdicts(receiver: Receiver) -> list[Event]:
    return [event for event in receiver.events if event.name == "gen_ai.evaluation.result"]


@has_events
def test_a_log_event_for_each_verdict_within_its_trace(silent: Receiver) -> None:
    found: dict[Label, Trace] = traces(silent.spans)
    said = {event.trace_id: event for event in verdicts(silent)}
    judged = {found[label].root.trace_id: label for label in (ANSWERED, UNSUPPORTED, MALFORMED, BY_CHAIN)}
    assert len(verdicts(silent)) == 4
    assert {
        judged[trace_id]: event.attributes["gen_ai.evaluation.score.label"] for trace_id, event in said.items()
    } == {
        ANSWERED: "supported",
        UNSUPPORTED: "unsupported",
        MALFORMED: "unknown",
        BY_CHAIN: "supported",
    }
    for label in (ANSWERED, MALFORMED):
        event = said[found[label].root.trace_id]
        assert event.attributes["gen_ai.evaluation.name"] == "groundedness"
        assert event.span_id in {span.span_id for span in found[label].spans}
        assert ("error.type" in event.attributes) == (label == MALFORMED)


def test_metrics_by_their_names_units_and_attributes(silent: Receiver) -> None:
    points = {(point.metric, *sorted(point.attributes.values())): point for point in silent.points}
    counted = {key: point.value for key, point in points.items() if key[0].startswith("rag.") and point.unit != "s"}
    assert counted == {
        ("rag.queries", "answered"): 2,
        ("rag.queries", "ungrounded"): 2,
        ("rag.queries", "no_context"): 1,
        ("rag.faithfulness.judge_failures", "verdict_malformed"): 1,
    }
    measured = Counter[str]()
    for point in silent.points:
        measured[f"{point.metric} in {point.unit}"] += int(point.value)
    assert {name: times for name, times in measured.items() if not name.endswith("in {query}")} == {
        "rag.query.duration in s": 5,
        "rag.retrieval.duration in s": 4,
        "rag.generation.duration in s": 5,
        "rag.faithfulness.judge.duration in s": 4,
        "gen_ai.client.operation.duration in s": 4,
        "gen_ai.client.token.usage in {token}": 8,
    }
