"""The spans and counters of a query: names, kinds, attributes, parents; once, on every path, in both doors."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from groundguard import Decision, Exchange, Guard, Reason, Response, Retry, UngroundedError, Verdict
from groundguard.errors import GroundguardWarning, UsageError
from groundguard.judges import FactCheck
from groundguard.policy import Raise, Replace, Return
from groundguard.records import JUDGE_FAILURES, evidence_digest
from groundguard.telemetry.watch import Watch
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever
from support.doors import Door, both_doors
from support.telemetry import Counts, Spans

QUERY, RETRIEVAL, GENERATION, JUDGE = (
    "invoke_workflow groundguard",
    "retrieval groundguard",
    "groundguard generate",
    "groundguard check",
)
FIXED: Mapping[str, Mapping[str, str]] = {
    QUERY: {
        "openinference.span.kind": "CHAIN",
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "groundguard",
        "groundguard.version": version("groundguard-rag"),
    },
    RETRIEVAL: {"openinference.span.kind": "RETRIEVER", "gen_ai.operation.name": "retrieval"},
    GENERATION: {"openinference.span.kind": "CHAIN"},
    JUDGE: {"openinference.span.kind": "GUARDRAIL", "groundguard.role": "judge"},
}

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

tracer = trace.get_tracer("app")


def guard_of(judge: object, chunks: object = "Paris is in France.", answer: Any = "Paris.", **options: Any) -> Guard:
    return Guard(judge, retriever=ScriptedRetriever(chunks), generator=ScriptedGenerator(answer), **options)


def facts(response: Response[Any], policy: str = "Return") -> dict[str, str | int | float]:
    verdict = response.verdict
    said: dict[str, Any] = {}
    if verdict is not None:
        said = {
            "groundguard.verdict": verdict.decision.value,
            "groundguard.judge": verdict.judge,
            "groundguard.judge.fingerprint": verdict.fingerprint,
            "groundguard.judge.calls": verdict.calls,
        }
        said |= {} if verdict.score is None else {"groundguard.score": verdict.score}
    return said | {
        "groundguard.policy": policy,
        "groundguard.status": response.status.value,
        "groundguard.reason": response.reason.value,
        "groundguard.evidence.count": len(response.chunks),
        "groundguard.evidence.digest": response.evidence_digest,
        "groundguard.evidence.from": response.chunks_from.value,
    }


def evaluation(response: Response[Any], kind: str = "CODE") -> dict[str, str | float]:
    verdict = response.verdict
    if verdict is None:
        return {}
    parts = {
        "name": "groundedness",
        "label": verdict.decision.value,
        "score": verdict.score,
        "annotator_kind": kind,
        "identifier": verdict.fingerprint,
    }
    return {f"evaluations.0.evaluation.{part}": value for part, value in parts.items() if value is not None}


def documents(response: Response[Any]) -> dict[str, str | int]:
    ids = [f"sha256:{evidence_digest([chunk])[:16]}" for chunk in response.chunks]
    return {
        "groundguard.evidence.count": len(ids),
        **{f"retrieval.documents.{index}.document.id": each for index, each in enumerate(ids)},
    }


def plain_values(span: ReadableSpan) -> bool:
    """Whether its attributes are plain values, and are by type what they are by name."""
    types = {
        "groundguard.evidence.count": int,
        "groundguard.judge.calls": int,
        "groundguard.score": float,
        "evaluations.0.evaluation.score": float,
        "groundguard.given_up": bool,
    }
    return all(type(value) is types.get(name, str) for name, value in span.attributes.items())


CASES: dict[str, tuple[Any, Any, Any, Reason]] = {
    "supported": (True, "c", "A", Reason.SUPPORTED),
    "scored": (Verdict(Decision.SUPPORTED, score=0.75), "c", "A", Reason.SUPPORTED),
    "unsupported": (False, "c", "A", Reason.UNSUPPORTED),
    "no chunks": (True, [], "A", Reason.NO_CHUNKS),
    "blank chunks": (True, " ", "A", Reason.BLANK_CHUNKS),
    "empty answer": (True, "c", " ", Reason.EMPTY_ANSWER),
    "judge raises": (LookupError("down"), "c", "A", Reason.JUDGE_ERROR),
    **{reason.value: (Verdict(Decision.UNKNOWN, reason), "c", "A", reason) for reason in sorted(JUDGE_FAILURES)},
}
cases = pytest.mark.parametrize(("said", "chunks", "answer", "reason"), CASES.values(), ids=CASES)


@both_doors
@cases
def test_every_status_and_reason_has_its_spans_and_counts(
    door: Door, said: Any, chunks: Any, answer: str, reason: Reason
) -> None:
    spans, counts = Spans(), Counts()
    response = door.ask(guard_of(ScriptedJudge(said), chunks, answer))

    assert response.reason is reason
    asked = response.verdict is not None
    assert spans.names == [QUERY, RETRIEVAL, GENERATION, *([JUDGE] if asked else [])]
    silent = reason in JUDGE_FAILURES
    error = {"error.type": "LookupError" if isinstance(said, LookupError) else reason.value} if silent else {}
    expected = {
        QUERY: {**FIXED[QUERY], **facts(response), **evaluation(response)},
        RETRIEVAL: {**FIXED[RETRIEVAL], **documents(response)},
        GENERATION: FIXED[GENERATION],
        JUDGE: {**FIXED[JUDGE], **facts(response), **error},
    }
    for name in spans.names:
        span = spans.one(name)
        assert dict(span.attributes) == expected[name]
        assert plain_values(span)
        assert span.kind is SpanKind.INTERNAL
        assert span.status.status_code is (StatusCode.ERROR if silent and name == JUDGE else StatusCode.UNSET)
        assert span.status.description is None
        assert span.events == ()
        assert spans.parent_of(span) == (None if name == QUERY else QUERY)
        assert span.instrumentation_scope.name == "groundguard"
        assert span.instrumentation_scope.version == version("groundguard-rag")
    failed = {reason.value: 1} if reason in JUDGE_FAILURES else {}
    assert counts.queries == {response.status.value: 1}
    assert counts.judge_failures == failed


@both_doors
def test_check_and_wrapped_functions_have_their_spans(door: Door) -> None:
    spans, counts = Spans(), Counts()
    guard = Guard(ScriptedJudge(True))
    door.check(guard, answer="A", chunks="c")
    assert spans.names == [QUERY, JUDGE]

    spans = Spans()
    response = door.call(guard(door.function(lambda question: ("A", "c"))), "Q?")
    assert spans.names == [QUERY, GENERATION, JUDGE]
    assert dict(spans.one(QUERY).attributes) == {**FIXED[QUERY], **facts(response), **evaluation(response)}
    assert counts.queries == {"answered": 2}


@both_doors
def test_a_stream_has_its_spans(door: Door) -> None:
    def pieces(question: str) -> Any:
        tracer.start_span("app generates").end()
        yield ("A", "c")
        tracer.start_span("app generates").end()

    spans, counts = Spans(), Counts()
    response = door.items(Guard(ScriptedJudge(True))(door.generator(pieces)), "Q?")[-1]

    assert [name for name in spans.names if name != "app generates"] == [QUERY, GENERATION, JUDGE]
    assert dict(spans.one(QUERY).attributes) == {**FIXED[QUERY], **facts(response), **evaluation(response)}
    own = [span for span in spans.ended if span.name == "app generates"]
    assert [spans.parent_of(span) for span in own] == [GENERATION] * 2
    assert counts.queries == {"answered": 1}


@both_doors
def test_a_generator_that_is_skipped_has_no_span(door: Door) -> None:
    spans = Spans()
    door.ask(guard_of(True_, [], policy=Return(skip_generator=True)))
    assert spans.names == [QUERY, RETRIEVAL]


def True_(exchange: Exchange) -> bool:
    return True


@both_doors
@pytest.mark.parametrize("policy", [Raise(), Replace("Sorry.")])
def test_a_policy_changes_nothing_that_is_observed(door: Door, policy: Any) -> None:
    spans, counts = Spans(), Counts()
    with suppress(UngroundedError):
        door.ask(guard_of(ScriptedJudge(False), policy=policy))
    assert spans.one(QUERY).status.is_unset
    assert spans.one(QUERY).attributes["groundguard.status"] == "ungrounded"
    assert counts.queries == {"ungrounded": 1}
    assert counts.judge_failures == {}


@both_doors
@pytest.mark.parametrize(
    ("stage", "parts"),
    [
        (RETRIEVAL, {"retriever": ScriptedRetriever(LookupError("gone"))}),
        (GENERATION, {"generator": ScriptedGenerator(LookupError("gone"))}),
        (JUDGE, {"judge": ScriptedJudge(UsageError("gone"))}),
        (JUDGE, {"judge": ScriptedJudge(KeyboardInterrupt())}),
    ],
)
def test_an_error_that_leaves_marks_its_stage_and_the_query(door: Door, stage: str, parts: dict[str, Any]) -> None:
    spans, counts = Spans(), Counts()
    with pytest.raises((LookupError, UsageError, KeyboardInterrupt)) as caught:
        door.ask(guard_of(True_).with_options(**parts))

    assert spans.names[-1] == stage
    for name in (stage, QUERY):
        span = spans.one(name)
        assert dict(span.attributes) == {**FIXED[name], "error.type": caught.type.__name__}
        assert span.status.status_code is StatusCode.ERROR
        assert span.status.description is None
        assert span.events == ()
    for name in set(spans.names) - {stage, QUERY}:
        assert spans.one(name).status.is_unset
    assert counts.queries == counts.judge_failures == {}


@both_doors
def test_an_output_without_an_answer_marks_the_query(door: Door) -> None:
    spans = Spans()
    with pytest.raises(UsageError):
        door.call(Guard(True_)(door.function(lambda question: 3)), "Q?")
    assert spans.one(GENERATION).status.is_unset
    assert spans.one(QUERY).attributes["error.type"] == "UsageError"


@both_doors
def test_a_warning_made_an_error_ends_the_query_once(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    spans, counts = Spans(), Counts()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(GroundguardWarning):
            door.call(Guard(True_)(door.function(lambda question: "A")), "Q?")

    assert spans.one(QUERY).attributes["error.type"] == "GroundguardWarning"
    assert counts.queries == {}
    assert caplog.records == []


def test_a_query_that_ends_after_its_judgement_leaves_no_span_open() -> None:
    spans = Spans()
    watch = Watch(lambda: 0.0)

    def flow() -> Any:
        return 1
        yield

    with pytest.raises(StopIteration):
        next(watch.stage("judge", flow()))
    watch.fail(MemoryError())
    assert spans.one(JUDGE).attributes["error.type"] == "MemoryError"
    assert spans.one(QUERY).attributes["error.type"] == "MemoryError"


# The application's own spans.


@both_doors
@pytest.mark.parametrize("timeout", [None, 5.0])
def test_spans_inside_a_stage_are_its_children(door: Door, timeout: float | None) -> None:
    def spanning(name: str, result: Any) -> Callable[..., Any]:
        def function(*_: object) -> Any:
            with tracer.start_as_current_span(name):
                return result

        return door.function(function)

    def lazy(question: str) -> Any:
        tracer.start_span("finding").end()
        yield "c"

    spans = Spans()
    judge = spanning("judging", True)
    guard = Guard(
        judge, retriever=spanning("retrieving", ["c"]), generator=spanning("generating", "A"), timeout=timeout
    )
    with tracer.start_as_current_span("request") as request:
        door.ask(guard)
        door.ask(guard.with_options(retriever=lazy))
        assert trace.get_current_span() is request

    by_name = {span.name: spans.parent_of(span) for span in spans.ended}
    assert by_name == {
        "request": None,
        QUERY: "request",
        **dict.fromkeys((RETRIEVAL, GENERATION, JUDGE), QUERY),
        "retrieving": RETRIEVAL,
        "finding": RETRIEVAL,
        "generating": GENERATION,
        "judging": JUDGE,
    }
    assert len({span.context.trace_id for span in spans.ended}) == 1


@both_doors
def test_a_guard_below_a_guard_hangs_below_its_stage(door: Door) -> None:
    spans = Spans()
    inner = guard_of(True_)
    door.ask(Guard(True_, retriever=lambda q: "c", generator=lambda q, chunks: inner.ask(q).answer))

    parents = [spans.parent_of(span) for span in spans.started if span.name == QUERY]
    assert parents == [None, GENERATION]


def test_in_many_calls_at_once_every_stage_hangs_below_its_own_query() -> None:
    spans = Spans()
    guard = Guard(
        lambda exchange: asyncio.sleep(0.001, True),
        retriever=lambda q: asyncio.sleep(0.001, [q]),
        generator=lambda q, chunks: asyncio.sleep(0.001, q),
    )
    plain = Guard(True_, retriever=lambda q: [q], generator=lambda q, chunks: q)
    running = threading.Barrier(16)

    def work(number: int) -> None:
        running.wait(5)
        for repeat in range(6):
            plain.ask(f"{number}.{repeat}")

    async def main() -> None:
        await asyncio.gather(*(guard.aask(f"<{number}>") for number in range(104)))

    with ThreadPoolExecutor(16) as pool:
        done = pool.map(work, range(16))
        asyncio.run(main())
        list(done)

    queries = [span for span in spans.ended if span.name == QUERY]
    assert len(queries) == 200
    assert len({span.context.trace_id for span in queries}) == 200
    below: dict[int, list[ReadableSpan]] = defaultdict(list)
    for span in spans.ended:
        if span.parent:
            below[span.parent.span_id].append(span)
    for query in queries:
        stages = below[query.context.span_id]
        assert sorted(span.name for span in stages) == sorted([RETRIEVAL, GENERATION, JUDGE])
        assert {span.context.trace_id for span in stages} == {query.context.trace_id}
        (judge,) = [span for span in stages if span.name == JUDGE]
        digest = "groundguard.evidence.digest"
        assert judge.attributes[digest] == query.attributes[digest]


# Values.


@both_doors
@pytest.mark.parametrize("score", [0.5, np.float32(0.5), np.float64(0.5), None, 0, 1])
def test_a_score_is_a_float_whatever_the_judge_gave(door: Door, score: Any, caplog: pytest.LogCaptureFixture) -> None:
    spans = Spans()
    door.ask(guard_of(lambda exchange: Verdict(Decision.SUPPORTED, score=score)))

    seen = spans.one(JUDGE).attributes.get("groundguard.score")
    assert (seen is None) is (score is None)
    assert seen is None or (type(seen) is float and seen == score)
    assert [record for record in caplog.records if record.name.startswith("opentelemetry")] == []


@both_doors
def test_retries_are_counted_once_for_the_response(door: Door) -> None:
    class Busy(Exception):
        status_code = 503

    spans, counts = Spans(), Counts()
    judge = FactCheck(ScriptedModel(Busy(), Busy(), "yes"))
    door.ask(guard_of(judge, retry=Retry(attempts=3, initial=0, maximum=0)))
    assert counts.queries == {"answered": 1}
    assert counts.judge_failures == {}
    assert spans.one(JUDGE).attributes["groundguard.judge.calls"] == 3

    counts = Counts()
    door.ask(guard_of(FactCheck(ScriptedModel(Busy())), retry=Retry(attempts=3, initial=0, maximum=0)))
    assert counts.queries == {"ungrounded": 1}
    assert counts.judge_failures == {"judge_error": 1}
