"""Values that any exporter takes, whatever they were made from."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common._internal import _encode_attributes

from groundguard import Chunk, Guard
from groundguard.judges import FactCheck
from groundguard.models import Reply
from groundguard.records import Usage
from groundguard.telemetry import names
from groundguard.telemetry.capture import Content
from groundguard.telemetry.documents import MOST_DOCUMENTS, found
from groundguard.telemetry.otel import cleaned
from groundguard.telemetry.values import LIMIT, as_json, clean, text
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever
from support.scripts import run_script
from support.telemetry import Spans

EVERYTHING = Content(on_spans=True, question=True, answer=True, chunks=True, prompt=True, reply=True)
texts = st.text(st.characters(), max_size=60)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
)


@given(texts, st.integers(0, 50))
def test_a_clean_text_is_short_and_utf8(value: str, limit: int) -> None:
    said = clean(value, limit)
    assert len(said) <= limit
    said.encode()
    assert not any(ord(character) < 32 and character not in "\t\n\r" for character in said)


@given(
    st.dictionaries(
        st.sampled_from("abc"), st.integers() | st.integers(2**62, 2**64) | st.booleans() | st.floats() | texts
    )
)
def test_any_attributes_can_be_encoded_for_a_collector(given_: dict[str, Any]) -> None:
    sent = cleaned(given_)
    assert len(_encode_attributes(sent) or ()) == len(sent)
    kept = {key for key, value in given_.items() if not isinstance(value, int) or -(2**63) <= value < 2**63}
    assert sent.keys() == kept


def test_a_server_that_reports_absurd_numbers_of_tokens_costs_nobody_a_batch() -> None:
    spans = Spans()
    absurd = Reply("yes", "stop", usage=Usage(10**30, 7))
    assert Guard(FactCheck(ScriptedModel(absurd))).check("Q?", answer="A", chunks="c").status == "answered"
    chat = spans.one("chat scripted").attributes
    assert (chat.get(names.INPUT_TOKENS), chat[names.OUTPUT_TOKENS]) == (None, 7)


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=50))
def test_a_text_of_visible_characters_stays_as_it_is(value: str) -> None:
    assert clean(value, 50) == value


def test_what_is_no_utf8_and_control_characters_are_escapes() -> None:
    assert clean("a\ud800b\x00c\x7f\n😀", 100) == "a\\ud800b\\u0000c\\u007f\n😀"


def test_a_string_of_a_class_of_its_own_is_a_plain_one() -> None:
    class Sly(str):
        __slots__ = ()

        def __str__(self) -> str:
            raise RuntimeError

        __getitem__ = isascii = __str__  # type: ignore[assignment]

    assert clean(Sly("a"), 9) == "a"


def test_a_cut_is_marked_with_the_length_there_was() -> None:
    whole, longer = "x" * LIMIT, "😀" * (LIMIT + 1)
    assert text("a", whole) == {"a": whole}
    assert text("a", longer) == {"a": "😀" * LIMIT, names.CUT: True, names.CUT_LENGTH: LIMIT + 1}


@given(st.lists(texts, max_size=5), st.integers(30, 200))
def test_json_is_bounded_and_stays_json(values: list[str], limit: int) -> None:
    said = as_json("a", lambda most: [value[:most] for value in values], max(map(len, values), default=0), limit)
    assert len(said["a"]) <= limit
    got = json.loads(said["a"])
    assert (got != values) <= (names.CUT in said)


def test_sequences_of_texts_are_bounded_too() -> None:
    assert cleaned({"a": ("x" * (LIMIT + 1), "\x00"), "b": None, "c": True}) == {
        "a": ("x" * LIMIT, "\\u0000"),
        "c": True,
    }


@given(
    st.lists(
        st.builds(
            Chunk,
            texts,
            id=st.none() | texts,
            source=st.none() | texts,
            score=st.none() | st.floats(-1, 1),
            metadata=st.dictionaries(texts, json_values, max_size=3),
        ),
        max_size=4,
    ),
    texts,
)
def test_any_chunks_make_documents(chunks: list[Chunk], question: str) -> None:
    shown = cleaned(found(question, chunks, EVERYTHING))
    pages = json.loads(shown["output.value"])  # type: ignore[arg-type]
    assert [page["page_content"] for page in pages] == [
        json.loads(json.dumps(chunk.text).encode("utf-8", "backslashreplace")) for chunk in chunks
    ]
    assert len(json.loads(shown["gen_ai.retrieval.documents"])) == len(chunks)  # type: ignore[arg-type]
    for value in shown.values():
        assert type(value) in {str, float, int, bool}


def test_documents_of_any_size_and_number_are_bounded() -> None:
    endless = Chunk(
        "😀" * 1_000_000, id="i" * 1_000_000, source="s" * 1_000_000, metadata={"m" * 99_999: ["x" * 99_999] * 9_999}
    )
    shown = found("q" * 1_000_000, [endless] * 100, EVERYTHING)
    assert max(len(value) for value in shown.values() if isinstance(value, str)) <= LIMIT * 64
    sent = cleaned(shown)
    assert max(len(value) for value in sent.values() if isinstance(value, str)) <= LIMIT
    assert len(sent) <= 128
    assert len(json.loads(sent["output.value"])) == MOST_DOCUMENTS  # type: ignore[arg-type]
    for index in range(MOST_DOCUMENTS):
        json.loads(sent[f"retrieval.documents.{index}.document.metadata"])  # type: ignore[arg-type]
    assert sent[names.CUT] is True
    assert sent[names.CUT_LENGTH] == 1_000_000


def test_without_content_a_document_is_its_score_and_a_digest() -> None:
    spans = Spans()
    chunks = [Chunk("c", id="secret", score=0.25), Chunk("d")]
    Guard(
        ScriptedJudge(True), retriever=ScriptedRetriever(chunks), generator=ScriptedGenerator("A")
    ).ask("Q?")  # fmt: skip
    told: dict[str, Any] = dict(spans.one("retrieval groundguard").attributes)
    assert told["retrieval.documents.0.document.score"] == 0.25
    assert told["retrieval.documents.0.document.id"].startswith("sha256:")
    assert told["retrieval.documents.0.document.id"] != told["retrieval.documents.1.document.id"]
    assert "retrieval.documents.1.document.score" not in told


@pytest.mark.parametrize(
    "limits", [{"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": "1000"}, {"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "16"}]
)
def test_the_label_survives_any_limit(limits: dict[str, str]) -> None:
    run_script(
        f"""
    import logging, os
    os.environ.update({limits!r}, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="SPAN_ONLY")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
    logging.getLogger("opentelemetry").propagate = False
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    text = "\\N{{GRINNING FACE}}" * 300_000
    guard = Guard(ScriptedJudge(True), retriever=ScriptedRetriever([text] * 30), generator=ScriptedGenerator(text))
    guard.ask(text)
    spans = {{span.name: span.attributes for span in exporter.get_finished_spans()}}
    for name in ("invoke_workflow groundguard", "groundguard check"):
        assert spans[name]["groundguard.status"] == "answered", spans[name]
        assert spans[name]["groundguard.reason"] == "supported"
        assert spans[name]["groundguard.evidence.count"] == 30
    assert spans["retrieval groundguard"]["groundguard.evidence.count"] == 30
    assert spans["retrieval groundguard"]["openinference.span.kind"] == "RETRIEVER"
    for attributes in spans.values():
        for value in attributes.values():
            assert not isinstance(value, str) or len(value.encode()) < 70_000
    """
    )
