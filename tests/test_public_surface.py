"""The public names and their signatures, written out by hand: a change here is a change for users."""

from __future__ import annotations

import dataclasses
import enum
import inspect
from types import ModuleType
from typing import Any

import pytest

import groundguard
from groundguard import conversation, errors, judges, models, policy, records, streaming, testing
from groundguard.records import Claim, Timings, Turn, Usage

NAMES: dict[ModuleType, list[str]] = {
    groundguard: [
        "Capture", "Chunk", "Decision", "Exchange", "GroundguardError", "Guard", "Reason", "Response", "Retry", "Status",
        "UngroundedError", "Verdict", "record_chunks",
    ],
    policy: [
        "Feedback", "NOT_ANSWERED", "Policy", "Prune", "Raise", "Regenerate", "Replace", "Return", "Revision", "as_policy",
    ],
    conversation: [
        "EvidenceRule", "LastTurns", "Session", "ThisTurn", "TurnFaithfulness", "TurnResult", "aturn_faithfulness",
        "turn_faithfulness",
    ],
    streaming: ["AsyncStream", "Mode", "Stream"],
    testing: ["ScriptedGenerator", "ScriptedJudge", "ScriptedModel", "ScriptedRetriever", "forget_warnings"],
}  # fmt: skip

SIGNATURES: dict[Any, str] = {
    groundguard.Guard: (
        "(judge, *, retriever=None, generator=None, policy=Return(skip_generator=False), retry=None, timeout=30.0,"
        " capture=Capture(question=None, chunks=None, answer=None, retriever_events=True), streaming=None)"
    ),
    groundguard.Guard.ask: "(self, question, *, history=())",
    groundguard.Guard.aask: "(self, question, *, history=())",
    groundguard.Guard.stream: "(self, question, *, history=())",
    groundguard.Guard.astream: "(self, question, *, history=())",
    groundguard.Guard.check: "(self, question, *, answer, chunks, history=())",
    groundguard.Guard.acheck: "(self, question, *, answer, chunks, history=())",
    groundguard.Guard.check_many: "(self, exchanges, *, concurrency=16)",
    groundguard.Guard.acheck_many: "(self, exchanges, *, concurrency=16)",
    groundguard.Guard.wrap: "(self, chain, *, question=None, chunks=None, answer=None)",
    groundguard.Guard.wraps: "(self, *, question=None, chunks=None, answer=None)",
    groundguard.Guard.session: "(self, *, evidence, window=10)",
    groundguard.Guard.with_options: "(self, **changes)",
    groundguard.Guard.__call__: "(self, fn, /)",
    groundguard.Capture: "(question=None, chunks=None, answer=None, retriever_events=True)",
    groundguard.Retry: "(attempts=3, initial=0.5, maximum=8.0)",
    groundguard.record_chunks: "(chunks, *, replace=False)",
    groundguard.UngroundedError: "(response)",
    policy.Return: "(skip_generator=False)",
    policy.Raise: "(on=*)",
    policy.Replace: "(text, on=*, skip_generator=False)",
    policy.Regenerate: "(times, then, *, on_failure=False, on=*)",
    policy.Prune: "(then, *, on=*)",
    policy.Feedback: "(answer, reason, claims=())",
    policy.Revision: "(policy, revised, removed=())",
    judges.Claims: (
        "(model, *, threshold=1.0, extract='local', constrained=None, instructions=*, per_call=20, most=400, window=None)"
    ),
    judges.FactCheck: "(model, *, instructions=*, constrained=False, window=None)",
    judges.Window: "(tokens, split=True, count=*)",
    judges.Lexical: "(threshold=*)",
    judges.Cascade: "(first, then, *, no_at=None, yes_at=None)",
    judges.Majority: "(judge, *others, of=None)",
    judges.Entailment: (
        "(scorer, *, support=0.5, contradiction=0.5, threshold=1.0, window=1200, batch=32, hypothesis=None)"
    ),
    judges.Conversation: "(model, *, window=None, threshold=1.0, extract='local', constrained=None)",
    judges.Decide: "(model, *, threshold=1.0, over=0.5, per_call=20)",
    testing.ScriptedModel: "(*replies, name='scripted')",
    testing.ScriptedJudge: "(*verdicts)",
    testing.ScriptedRetriever: "(chunks=())",
    testing.ScriptedGenerator: "(*answers)",
    models.as_model: "(model)",
    conversation.ThisTurn: "()",
    conversation.LastTurns: "(turns)",
    conversation.Session.ask: "(self, question)",
    conversation.Session.aask: "(self, question)",
    conversation.Session.check: "(self, question, *, answer, chunks)",
    conversation.Session.acheck: "(self, question, *, answer, chunks)",
    conversation.Session.summary: "(self)",
    conversation.turn_faithfulness: ("(turns, judge, *, evidence, window=10, timeout=30.0, retry=None, concurrency=8)"),
    conversation.aturn_faithfulness: (
        "(turns, judge, *, evidence, window=10, timeout=30.0, retry=None, concurrency=8)"
    ),
}

FIELDS: dict[type, str] = {
    groundguard.Chunk: "text id source score metadata",
    groundguard.Exchange: "question chunks answer history",
    groundguard.Verdict: (
        "decision reason score claims raw detail error_type judge fingerprint prompt_version prompt_hash model usage"
        " calls seconds members calls_saved"
    ),
    groundguard.Response: (
        "answer generated status reason verdict question chunks chunks_from chunks_exact attempts timings output"
    ),
    records.Attempt: "generated status reason verdict removed",
    Claim: "text decision start end chunk_ids missing score",
    Turn: "role content",
    conversation.TurnResult: "index status reason verdict",
    conversation.TurnFaithfulness: "turns",
    Usage: "input_tokens output_tokens",
    Timings: "retrieval generation judge total",
}

VALUES: dict[type[enum.Enum], str] = {
    groundguard.Status: "answered ungrounded no_context",
    groundguard.Decision: "supported unsupported unknown",
    groundguard.Reason: (
        "supported unsupported verdict_malformed judge_refused judge_filtered judge_truncated judge_timeout"
        " judge_rate_limited judge_error no_chunks blank_chunks retrieval_not_observed empty_answer"
    ),
    records.ChunksFrom: "retriever given returned output recorded events not_observed",
}


@pytest.mark.parametrize("module", NAMES, ids=lambda module: module.__name__)
def test_names(module: ModuleType) -> None:
    assert sorted(module.__all__) == sorted(NAMES[module])
    assert all(hasattr(module, name) for name in module.__all__)


def shown(parameter: inspect.Parameter, written: str) -> str:
    """A parameter without its annotation; a default is `*` where it is written so."""
    parameter = parameter.replace(annotation=parameter.empty)
    return f"{parameter.name}=*" if f"{parameter.name}=*" in written else str(parameter)


@pytest.mark.parametrize(("thing", "written"), SIGNATURES.items(), ids=lambda value: getattr(value, "__qualname__", ""))
def test_signatures(thing: Any, written: str) -> None:
    parameters = inspect.signature(thing).parameters.values()
    texts = [shown(parameter, written) for parameter in parameters]
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        texts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    if inspect.Parameter.POSITIONAL_ONLY in kinds:
        texts.append("/")
        texts[-2:] = [texts[-2], "/"]
    assert f"({', '.join(texts)})" == written


@pytest.mark.parametrize(("kind", "written"), FIELDS.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_fields(kind: Any, written: str) -> None:
    assert [field.name for field in dataclasses.fields(kind)] == written.split()
    assert kind.__dataclass_params__.frozen


@pytest.mark.parametrize(("kind", "written"), VALUES.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_values(kind: Any, written: str) -> None:
    assert [str(member) for member in kind] == written.split()
    assert issubclass(kind, enum.StrEnum)


def test_the_tree_of_errors() -> None:
    parents = {
        errors.GroundguardError: Exception,
        errors.UsageError: errors.GroundguardError,
        errors.InputError: errors.GroundguardError,
        errors.UngroundedError: errors.GroundguardError,
        errors.NoContextError: errors.UngroundedError,
        errors.GroundguardWarning: UserWarning,
    }
    assert {kind: kind.__base__ for kind in parents} == parents


def test_everything_public_has_a_docstring() -> None:
    for module in (groundguard, judges, models, policy, testing):
        assert module.__doc__
    for thing in SIGNATURES:
        assert inspect.getdoc(thing)
