"""A span as a backend gives it back, and what must hold for the traces of `support.guarded_app` wherever they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

OWN = ["CHAIN", "RETRIEVER", "CHAIN", "GUARDRAIL", "LLM"]
KINDS = {
    ("answered", "supported", "retriever"): OWN,
    ("ungrounded", "unsupported", "retriever"): OWN,
    ("ungrounded", "verdict_malformed", "retriever"): OWN,
    ("no_context", "no_chunks", "retriever"): ["CHAIN", "RETRIEVER", "CHAIN"],
    ("answered", "supported", "output"): ["CHAIN", "CHAIN", "GUARDRAIL", "LLM"],
    (None, None, None): ["CHAIN", "RETRIEVER"],  # the retriever raised
}
ANSWERED, UNSUPPORTED, MALFORMED, NOTHING_FOUND, BY_CHAIN, RAISED = KINDS

CONTENT = ("volts", "steel foot", "king", "lamp-1", "example.com", "a message that holds", "sk-marked-key")
"""What the application's questions, chunks, answers, errors and key hold, each of it somewhere."""

Label = tuple[str | None, str | None, str | None]


@dataclass(frozen=True)
class Observed:
    """One span, in words that every backend has."""

    name: str
    kind: str
    attributes: Mapping[str, Any]
    trace_id: str
    span_id: str
    parent_id: str | None
    status: str


@dataclass(frozen=True)
class Trace:
    """One trace: its spans by when they started."""

    spans: tuple[Observed, ...]

    @property
    def root(self) -> Observed:
        """The span without a parent."""
        (root,) = [span for span in self.spans if span.parent_id is None]
        return root

    @property
    def label(self) -> Label:
        """Status, reason and the origin of the chunks, which tell the application's traces apart."""
        status, reason, origin = (
            self.root.attributes.get(f"groundguard.{name}") for name in ("status", "reason", "evidence.from")
        )
        return status, reason, origin

    def one(self, kind: str) -> Observed:
        """The only span of a kind."""
        (found,) = [span for span in self.spans if span.kind == kind]
        return found


def traces(spans: Iterable[Observed]) -> dict[Label, Trace]:
    """The traces by their labels; each label once."""
    grouped: dict[str, list[Observed]] = {}
    for span in spans:
        grouped.setdefault(span.trace_id, []).append(span)
    found = [Trace(tuple(each)) for each in grouped.values()]
    labelled = {trace.label: trace for trace in found}
    assert len(labelled) == len(found)
    return labelled


def check_trees(found: Mapping[Label, Trace]) -> None:
    """Every query is one trace, of the right kinds, each stage below the query and the judge's call below the check."""
    assert {label: [span.kind for span in trace.spans] for label, trace in found.items()} == KINDS
    for trace in found.values():
        assert trace.root.name == "invoke_workflow groundguard"
        stages = [span for span in trace.spans if span is not trace.root and span.kind != "LLM"]
        assert {span.parent_id for span in stages} == {trace.root.span_id}
        for call in (span for span in trace.spans if span.kind == "LLM"):
            assert call.parent_id == trace.one("GUARDRAIL").span_id


def check_calls(found: Mapping[Label, Trace]) -> None:
    """The judge's call says what it was, for whom, and what it cost."""
    for label, trace in found.items():
        if "LLM" not in KINDS[label]:
            continue
        call = trace.one("LLM")
        assert call.name == "chat judge-model"
        expected = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "judge-model",
            "gen_ai.usage.input_tokens": 500,
            "gen_ai.usage.output_tokens": 1,
            "groundguard.role": "judge",
        }
        assert {name: call.attributes.get(name) for name in expected} == expected


FAILED = {RAISED: {"CHAIN": "LookupError", "RETRIEVER": "LookupError"}, MALFORMED: {"GUARDRAIL": "verdict_malformed"}}


def check_status(found: Mapping[Label, Trace]) -> None:
    """An answer that is not supported is no error. What could not do its work is one, by a class and not a message."""
    for label, trace in found.items():
        failed = {span.kind: span.attributes["error.type"] for span in trace.spans if span.status == "ERROR"}
        assert failed == FAILED.get(label, {})
        assert {span.status for span in trace.spans} <= {"ERROR", "UNSET"}
