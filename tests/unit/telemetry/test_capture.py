"""With content on: what leaves, where, and what the environment holds back."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from groundguard import Chunk, Decision, Guard, Verdict
from groundguard.errors import GroundguardWarning
from groundguard.judges import FactCheck
from groundguard.records import Claim
from groundguard.telemetry.capture import Content, captured
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever
from support.doors import Door, both_doors
from support.telemetry import Events, Spans, has_events

QUERY, RETRIEVAL, CHECK, CHAT = (
    "invoke_workflow groundguard",
    "retrieval groundguard",
    "groundguard check",
    "chat scripted",
)
MODE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
CHUNK = Chunk("It is OURCHUNK.", id="OURID", source="OURSOURCE", score=0.5, metadata={"page": 3, "of": ["OURMETA"]})
Q, A = "OURQUESTION?", "OURANSWER."

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")


@pytest.fixture
def switch(monkeypatch: pytest.MonkeyPatch) -> Any:
    def switch(mode: str | None, **hidden: str) -> None:
        if mode is None:
            monkeypatch.delenv(MODE, raising=False)
        else:
            monkeypatch.setenv(MODE, mode)
        for name, value in hidden.items():
            monkeypatch.setenv(f"OPENINFERENCE_HIDE_{name}", value)

    return switch


def guard_of(reply: Any = "no\u200b", judge: Any = None, **options: Any) -> Guard:
    judge = judge or FactCheck(ScriptedModel(reply))
    return Guard(judge, retriever=ScriptedRetriever([CHUNK]), generator=ScriptedGenerator(A), **options)


def on_spans(spans: Spans) -> str:
    return repr([(span.name, dict(span.attributes), span.events) for span in spans.ended])


def in_events(events: Events) -> str:
    return repr([(record.event_name, dict(record.attributes), record.body) for record in events.records])


@has_events
@both_doors
@pytest.mark.parametrize(
    ("mode", "spans_carry", "events_carry"),
    [
        (None, False, False),
        ("", False, False),
        ("NO_CONTENT", False, False),
        ("span_only", True, False),
        ("EVENT_ONLY", False, True),
        (" SPAN_AND_EVENT ", True, True),
        ("true", False, False),
        ("1", False, False),
    ],
)
def test_the_modes(door: Door, mode: str | None, spans_carry: bool, events_carry: bool, switch: Any) -> None:
    switch(mode)
    spans, events = Spans(), Events()
    door.ask(guard_of(), Q)

    for mark in ("OURQUESTION", "OURANSWER", "OURCHUNK"):
        assert (mark in on_spans(spans)) is spans_carry
        assert (mark in in_events(events)) is events_carry
    assert ("OURMETA" in on_spans(spans)) is spans_carry
    assert len(events.named("gen_ai.client.inference.operation.details")) == int(events_carry)


def test_an_unknown_mode_is_told_once(switch: Any) -> None:
    switch("true")
    with pytest.warns(GroundguardWarning, match="it means NO_CONTENT"):
        assert captured() == Content()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert captured() == Content()


def test_a_warning_made_an_error_reaches_nobody(switch: Any) -> None:
    switch("true")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert captured() == Content()


@both_doors
def test_every_span_in_the_forms_that_backends_read(door: Door, switch: Any) -> None:
    switch("SPAN_ONLY")
    spans = Spans()
    response = door.ask(guard_of(), Q)

    query, retrieval, check, chat = (dict(spans.one(name).attributes) for name in (QUERY, RETRIEVAL, CHECK, CHAT))
    assert (query["input.value"], query["input.mime_type"]) == (Q, "text/plain")
    assert (query["output.value"], query["output.mime_type"]) == (A, "text/plain")
    assert query["evaluations.0.evaluation.explanation"]
    assert (retrieval["input.value"], retrieval["gen_ai.retrieval.query.text"]) == (Q, Q)
    assert retrieval["output.mime_type"] == "application/json"
    assert json.loads(retrieval["output.value"]) == [
        {"page_content": CHUNK.text, "metadata": {"doc_uri": "OURSOURCE", "chunk_id": "OURID"}}
    ]
    assert json.loads(retrieval["gen_ai.retrieval.documents"]) == [{"id": "OURID", "score": 0.5, "content": CHUNK.text}]
    document = "retrieval.documents.0.document."
    assert {name: value for name, value in retrieval.items() if name.startswith(document)} == {
        f"{document}id": "OURID",
        f"{document}score": 0.5,
        f"{document}content": CHUNK.text,
        f"{document}metadata": '{"source": "OURSOURCE", "page": 3, "of": ["OURMETA"]}',
    }
    assert json.loads(check["input.value"]) == {"question": Q, "answer": A}
    assert json.loads(check["output.value"]) == {"status": "ungrounded", "reason": "verdict_malformed"}
    assert check["groundguard.verdict.raw"] == r"no\u200b"
    assert response.verdict.raw == "no\u200b"
    assert chat["llm.input_messages.0.message.role"] == "system"
    assert chat["llm.input_messages.1.message.role"] == "user"
    assert "OURCHUNK" in chat["llm.input_messages.1.message.content"]
    assert chat["llm.output_messages.0.message.content"] == r"no\u200b"
    assert chat["output.value"] == r"no\u200b"
    (message,) = json.loads(chat["gen_ai.input.messages"])
    assert "OURQUESTION" in message["parts"][0]["content"]
    (said,) = json.loads(chat["gen_ai.output.messages"])
    assert said == {"role": "assistant", "parts": [{"type": "text", "content": r"no\u200b"}]}
    assert json.loads(chat["gen_ai.system_instructions"])[0]["type"] == "text"
    assert not [name for told in (query, retrieval, check, chat) for name in told if "content.cut" in name]


@has_events
@both_doors
@pytest.mark.parametrize(
    ("hidden", "gone"),
    [
        ("INPUTS", {"OURQUESTION"}),
        ("INPUT_TEXT", {"OURQUESTION"}),
        ("OUTPUTS", {"OURANSWER", "OURCHUNK", "OURID", "OURSOURCE", "OURMETA"}),
        ("OUTPUT_TEXT", {"OURANSWER"}),
        ("RETRIEVAL_DOCUMENTS", {"OURCHUNK", "OURID", "OURSOURCE", "OURMETA"}),
        ("INPUT_MESSAGES", set()),
        ("PROMPTS", set()),
        ("OUTPUT_MESSAGES", {r"no\u200b"}),
        ("CHOICES", {r"no\u200b"}),
    ],
)
def test_what_openinference_hides_is_hidden_everywhere(door: Door, hidden: str, gone: set[str], switch: Any) -> None:
    switch("SPAN_AND_EVENT", **{hidden: "true"})
    spans, events = Spans(), Events()
    door.ask(guard_of(), Q)

    observed = on_spans(spans).replace("\\\\", "\\") + in_events(events).replace("\\\\", "\\")
    marks = {"OURQUESTION", "OURANSWER", "OURCHUNK", "OURID", "OURSOURCE", "OURMETA", r"no\u200b"}
    expected_gone = gone | ({r"no\u200b"} if gone & {"OURQUESTION", "OURANSWER", "OURCHUNK"} else set())
    assert {mark for mark in marks if mark not in observed} == expected_gone
    prompted = "gen_ai.input.messages" in observed
    assert prompted is (hidden in {"OUTPUT_MESSAGES", "CHOICES"})


@pytest.mark.parametrize(("value", "hides"), [("false", False), ("0", False), ("", False), ("yes", True), ("?", True)])
def test_anything_but_a_clear_no_hides(value: str, hides: bool, switch: Any) -> None:
    switch("SPAN_ONLY", INPUTS=value)
    assert captured().question is not hides


@both_doors
def test_the_statements_that_are_not_supported_explain(door: Door, switch: Any) -> None:
    claims = (
        Claim("One.", Decision.SUPPORTED),
        Claim("Two.", Decision.UNSUPPORTED),
        Claim("Three.", None),
        Claim("Four.", Decision.UNKNOWN),
    )
    switch("SPAN_ONLY")
    spans = Spans()
    door.ask(guard_of(judge=ScriptedJudge(Verdict(Decision.UNSUPPORTED, claims=claims))), Q)
    told = dict(spans.one(QUERY).attributes)
    assert told["evaluations.0.evaluation.explanation"] == "Two. Four."
    assert told["groundguard.claims.total"] == 3
    assert told["groundguard.claims.unsupported"] == 1
    assert told["groundguard.claims.unknown"] == 1
    assert "groundguard.verdict.raw" not in spans.one(CHECK).attributes


@both_doors
def test_nobody_asked_nothing_explained(door: Door, switch: Any) -> None:
    switch("SPAN_ONLY")
    spans = Spans()
    guard = Guard(ScriptedJudge(True), retriever=ScriptedRetriever([]), generator=ScriptedGenerator(A))
    door.ask(guard, Q)
    told = dict(spans.one(QUERY).attributes)
    assert told["output.value"] == A
    assert not [name for name in told if name.startswith("evaluations")]
    assert json.loads(spans.one(RETRIEVAL).attributes["output.value"]) == []


@both_doors
@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ([{"type": "text", "text": "yes"}], '[{"type": "text", "text": "yes"}]'),
        (None, "null"),
        (object(), '"a object"'),
        ("y\x00e\ns", r"y\x00e\ns"),
    ],
)
def test_a_reply_of_any_form_is_shown(door: Door, content: object, shown: str, switch: Any) -> None:
    switch("SPAN_ONLY")
    spans = Spans()
    door.ask(guard_of(content), Q)
    assert spans.one(CHAT).attributes["output.value"] == shown


def test_the_answers_of_a_decision_model_are_shown(switch: Any) -> None:
    pytest.importorskip("langchain_core.decisions")
    from groundguard.judges import Decide
    from support.decisions import Scripted, nouls

    switch("SPAN_ONLY")
    spans = Spans()
    Guard(Decide(Scripted(lines=[nouls(0.9)]))).check(Q, answer="It has a foot.", chunks="It has a foot.")
    (chat,) = [span for span in spans.ended if span.name.startswith("chat ")]
    assert json.loads(chat.attributes["output.value"]) == {"1": 0.9}
    assert "input.value" not in chat.attributes


@both_doors
def test_a_call_that_failed_shows_what_was_sent(door: Door, switch: Any) -> None:
    switch("SPAN_ONLY")
    spans = Spans()
    door.ask(guard_of(OSError("OURERROR")), Q)
    told = dict(spans.one(CHAT).attributes)
    assert "OURQUESTION" in told["input.value"]
    assert "output.value" not in told
    assert "OURERROR" not in on_spans(spans)
