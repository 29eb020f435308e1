"""docs/observability/phoenix.md against a real Phoenix: what it shows of a guarded application, by its own API.

Its command `phoenix` must be on the PATH; it lives in an environment of its own, as the page says.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

from support.chat import ChatServer
from support.observed import (
    ANSWERED,
    BY_CHAIN,
    KINDS,
    MALFORMED,
    UNSUPPORTED,
    Label,
    Observed,
    Trace,
    check_calls,
    check_status,
    check_trees,
    traces,
)
from support.processes import answers, eventually, fetch, free_port, post, running
from support.recipes import APP, ROOT, blocks, environment, run_program

pytestmark = pytest.mark.skipif(shutil.which("phoenix") is None, reason="needs phoenix")

SETUP, DOCUMENTS = blocks("phoenix")
PAGE = (ROOT / "docs" / "observability" / "phoenix.md").read_text("utf-8")
FILTERS = re.findall(r"^\| [^`|]+ \| `(.+)` \|$", PAGE, re.MULTILINE)

CITE = """
import warnings
from groundguard import Chunk, Guard
from groundguard.judges import Lexical

warnings.simplefilter("ignore")
shelf = [Chunk("The lamp has a steel foot.", id="foot"), Chunk("The lamp runs on 12 volts.", id="volts")]
guard = Guard(Lexical(), retriever=lambda question: shelf, generator=lambda question, chunks: "The lamp runs on 12 volts.")
with trace.get_tracer("app").start_as_current_span("request") as span:
    response = guard.ask("Which voltage does the lamp need?")
trace_id = f"{span.get_span_context().trace_id:032x}"
provider.force_flush()
until = time.monotonic() + 60
while True:
    try:
        annotate_documents(response, trace_id)
    except ValueError:  # the spans have not arrived yet
        assert time.monotonic() < until
        time.sleep(0.2)
    else:
        break
print(json.dumps(trace_id))
"""


@dataclass(frozen=True)
class Phoenix:
    """A running Phoenix."""

    url: str

    def spans(self, project: str, **narrowed: str) -> list[Any]:
        """The spans of a project as the API gives them, by when they started."""
        found: list[Any] = []
        with suppress(HTTPError):  # a project is there with its first span
            found = fetch(f"{self.url}/v1/projects/{project}/spans", limit=100, **narrowed)["data"]
        return sorted(found, key=lambda span: span["start_time"])

    def ask(self, query: str, **variables: str) -> Any:
        """What GraphQL replies, through which Phoenix shows its pages."""
        replied = post(f"{self.url}/graphql", {"query": query, "variables": variables})
        assert "errors" not in replied, replied
        return replied["data"]


def observed(span: Any) -> Observed:
    return Observed(
        name=span["name"],
        kind=span["span_kind"],
        attributes=span["attributes"],
        trace_id=span["context"]["trace_id"],
        span_id=span["context"]["span_id"],
        parent_id=span["parent_id"],
        status=span["status_code"],
    )


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Phoenix]:
    folder, port = tmp_path_factory.mktemp("phoenix"), free_port()
    own = {
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    }
    url = f"http://127.0.0.1:{port}"
    with running(
        ["phoenix", "serve"], folder=folder, environment=environment(own), ready=answers(f"{url}/v1/projects")
    ):
        yield Phoenix(url)


@pytest.fixture(scope="module")
def found(phoenix: Phoenix, tmp_path_factory: pytest.TempPathFactory) -> dict[Label, Trace]:
    """The application's traces, read back."""
    capture = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY"}
    with ChatServer() as chat:
        given = {"PHOENIX_COLLECTOR_ENDPOINT": phoenix.url, **chat.environment, **capture}
        run_program(SETUP, APP, folder=tmp_path_factory.mktemp("application"), given=given)
    expected = sum(map(len, KINDS.values()))
    arrived = eventually(lambda: len(found := phoenix.spans("shop")) == expected and found)
    assert arrived, phoenix.spans("shop")
    return traces(map(observed, arrived))


def test_the_traces(found: dict[Label, Trace]) -> None:
    check_trees(found)
    check_calls(found)
    check_status(found)


def test_documents(found: dict[Label, Trace], phoenix: Phoenix) -> None:
    retrieval = found[ANSWERED].one("RETRIEVER")
    document = "retrieval.documents.0.document"
    assert retrieval.attributes[f"{document}.id"] == "lamp-1"
    assert retrieval.attributes[f"{document}.score"] == 0.75
    assert retrieval.attributes[f"{document}.content"] == "The lamp runs on 12 volts."
    shown = phoenix.ask("query ($id: String!) { getSpanByOtelId(spanId: $id) { numDocuments } }", id=retrieval.span_id)
    assert shown["getSpanByOtelId"]["numDocuments"] == 2


def test_question_answer_and_tokens_where_phoenix_looks_for_them(found: dict[Label, Trace], phoenix: Phoenix) -> None:
    query = """query ($id: String!) {
        getSpanByOtelId(spanId: $id) { input { value } output { value } tokenCountPrompt cumulativeTokenCountPrompt }
    }"""
    root = phoenix.ask(query, id=found[ANSWERED].root.span_id)["getSpanByOtelId"]
    assert root["input"]["value"] == "Which voltage does the lamp need?"
    assert root["output"]["value"] == "It runs on 12 volts."
    assert root["cumulativeTokenCountPrompt"] == 500
    call = phoenix.ask(query, id=found[ANSWERED].one("LLM").span_id)["getSpanByOtelId"]
    assert call["tokenCountPrompt"] == 500


def test_the_verdicts_are_annotations(found: dict[Label, Trace], phoenix: Phoenix) -> None:
    roots = {trace.root.span_id: label for label, trace in found.items()}
    where = f"{phoenix.url}/v1/projects/shop/span_annotations"

    def annotated() -> list[Any]:
        said: list[Any] = fetch(where, span_ids=[*roots], limit=100)["data"]
        return said if len(said) >= 4 else []

    said = {roots[each["span_id"]]: each for each in eventually(annotated)}
    assert {label: (each["result"]["label"], each["result"]["score"]) for label, each in said.items()} == {
        ANSWERED: ("supported", 1.0),
        UNSUPPORTED: ("unsupported", 0.0),
        MALFORMED: ("unknown", None),
        BY_CHAIN: ("supported", 1.0),
    }
    assert {(each["name"], each["annotator_kind"], each["identifier"]) for each in said.values()} == {
        ("groundedness", "LLM", "fact_check:judge-model")
    }
    assert said[MALFORMED]["result"]["explanation"] == "verdict_malformed"


@pytest.mark.parametrize("condition", FILTERS)
def test_every_filter_of_the_page_finds_something(condition: str, found: dict[Label, Trace], phoenix: Phoenix) -> None:
    projects = fetch(f"{phoenix.url}/v1/projects")["data"]
    (project,) = [each["id"] for each in projects if each["name"] == "shop"]
    query = """query ($id: ID!, $condition: String!) {
        node(id: $id) { ... on Project { spans(filterCondition: $condition, first: 9) { edges { node { spanId } } } } }
    }"""
    assert eventually(lambda: phoenix.ask(query, id=project, condition=condition)["node"]["spans"]["edges"])
    nothing = phoenix.ask(query, id=project, condition=re.sub(r"'(\w+)'$", "'nothing'", condition))
    assert nothing["node"]["spans"]["edges"] == []


def test_documents_that_carried_the_answer(phoenix: Phoenix, tmp_path: Path) -> None:
    given = {"PHOENIX_COLLECTOR_ENDPOINT": phoenix.url}
    (trace_id,) = run_program(SETUP, DOCUMENTS, "import time", CITE, folder=tmp_path, given=given)
    (retrieval,) = phoenix.spans("shop", trace_id=str(trace_id), span_kind="RETRIEVER")
    query = """query ($id: String!) {
        getSpanByOtelId(spanId: $id) { documentEvaluations { documentPosition name label score } }
    }"""

    def marked() -> Any:
        return phoenix.ask(query, id=retrieval["context"]["span_id"])["getSpanByOtelId"]["documentEvaluations"]

    said = eventually(marked)
    assert {each["documentPosition"]: (each["name"], each["label"], each["score"]) for each in said} == {
        0: ("support", "not cited", 0.0),
        1: ("support", "cited", 1.0),
    }


def test_the_example_shows_up(phoenix: Phoenix) -> None:
    example = ROOT / "examples" / "11_phoenix.py"
    done = subprocess.run(
        [sys.executable, example],
        env=environment({"PHOENIX_COLLECTOR_ENDPOINT": phoenix.url}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    spans = eventually(lambda: len(found := phoenix.spans("groundguard-example")) >= 8 and found)
    roots = [span for span in spans if span["parent_id"] is None]
    assert {span["attributes"]["groundguard.status"] for span in roots} == {"answered", "ungrounded"}
    assert f"{phoenix.url}/projects" in done.stdout
