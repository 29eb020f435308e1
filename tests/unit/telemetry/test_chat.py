"""The span of a judge's model call: one a call, with tokens, retries and what went wrong."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import openai
import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode

from groundguard import Exchange, Guard, Reason, Retry, Status
from groundguard.flow.drive import arun, run
from groundguard.judges import Claims, Decide, FactCheck, Majority
from groundguard.models import Model, OpenAIModel, Prompt, Reply
from groundguard.records import Chunk, Usage
from groundguard.testing import ScriptedModel
from support.doors import Door, both_doors
from support.exchange import stuck
from support.server import Server, say
from support.telemetry import Counts, Measured, Spans

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

CHAT = "chat scripted"
FIXED: Mapping[str, object] = {
    "openinference.span.kind": "LLM",
    "gen_ai.operation.name": "chat",
    "groundguard.role": "judge",
    "gen_ai.provider.name": "_OTHER",
    "gen_ai.request.model": "scripted",
    "llm.provider": "_OTHER",
    "llm.model_name": "scripted",
    "groundguard.retries": 0,
}
TWICE = Retry(attempts=2, initial=0, maximum=0)
tracer = trace.get_tracer("app")


class Busy(Exception):
    status_code = 503


def check(door: Door, judge: object, **options: Any) -> Any:
    return door.check(Guard(judge, **options), "Q?", answer="A.", chunks="c")


def replying(**about: Any) -> FactCheck:
    return FactCheck(ScriptedModel(Reply("yes", **about)))


@both_doors
def test_a_call_has_one_span_with_what_was_reported(door: Door) -> None:
    spans = Spans()
    response = check(door, replying(finish_reason="stop", usage=Usage(4200, 1), model="served-1"))

    assert response.status is Status.ANSWERED
    span = spans.one(CHAT)
    assert dict(span.attributes) == {
        **FIXED,
        "gen_ai.response.model": "served-1",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 4200,
        "gen_ai.usage.output_tokens": 1,
        "llm.token_count.prompt": 4200,
        "llm.token_count.completion": 1,
        "llm.token_count.total": 4201,
    }
    assert span.kind is SpanKind.CLIENT
    assert span.status.status_code is StatusCode.UNSET
    assert span.events == ()
    assert spans.parent_of(span) == "groundguard check"
    assert spans.one("invoke_workflow groundguard").attributes["evaluations.0.evaluation.annotator_kind"] == "LLM"


@both_doors
@pytest.mark.parametrize("usage", [None, Usage(), Usage(4200), Usage(None, 1)])
def test_what_was_not_reported_is_nowhere_and_never_0(door: Door, usage: Usage | None) -> None:
    spans, tokens = Spans(), Measured("gen_ai.client.token.usage")
    check(door, replying(usage=usage))

    known = usage or Usage()
    expected = {
        "gen_ai.usage.input_tokens": known.input_tokens,
        "gen_ai.usage.output_tokens": known.output_tokens,
        "llm.token_count.prompt": known.input_tokens,
        "llm.token_count.completion": known.output_tokens,
    }
    assert dict(spans.one(CHAT).attributes) == {
        **FIXED, **{name: value for name, value in expected.items() if value is not None}
    }  # fmt: skip
    seen = {attributes["gen_ai.token.type"]: total for attributes, _, total in tokens.since}
    assert seen == {
        kind: value
        for kind, value in (("input", known.input_tokens), ("output", known.output_tokens))
        if value is not None
    }


@both_doors
@pytest.mark.parametrize("odd", ["the answer was stop, since", 3, None, ["stop"], "s" * 33])
def test_a_finish_reason_that_is_no_word_stays_inside(door: Door, odd: object) -> None:
    spans = Spans()
    check(door, replying(finish_reason=odd))
    assert "gen_ai.response.finish_reasons" not in spans.one(CHAT).attributes


@both_doors
def test_a_retried_call_is_one_span_that_counts_its_retries(door: Door) -> None:
    spans, counts, times = Spans(), Counts(), Measured("gen_ai.client.operation.duration")
    judge = FactCheck(ScriptedModel(Busy("CANARY"), Reply("yes")))
    assert check(door, judge, retry=TWICE).status is Status.ANSWERED

    span = spans.one(CHAT)
    assert dict(span.attributes) == {**FIXED, "groundguard.retries": 1}
    assert [(event.name, dict(event.attributes)) for event in span.events] == [
        ("groundguard.attempt_failed", {"groundguard.attempt": 1, "error.type": "Busy"})
    ]
    assert span.status.is_unset
    assert times.count == 1
    assert counts.judge_failures == {}


@both_doors
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Busy("CANARY"), Reason.JUDGE_ERROR),
        (TimeoutError("CANARY"), Reason.JUDGE_TIMEOUT),
        (type("Many", (Exception,), {"status_code": 429})("CANARY"), Reason.JUDGE_RATE_LIMITED),
    ],
)
def test_a_call_that_fails_says_how(door: Door, error: Exception, reason: Reason) -> None:
    spans, times = Spans(), Measured("gen_ai.client.operation.duration")
    response = check(door, FactCheck(ScriptedModel(error)), retry=TWICE)

    assert response.reason is reason
    name = type(error).__qualname__
    span = spans.one(CHAT)
    assert dict(span.attributes) == {**FIXED, "groundguard.retries": 1, "error.type": name}
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert len(span.events) == 2
    assert spans.one("groundguard check").attributes["error.type"] == name
    ((attributes, count, _),) = times.since
    assert (attributes["error.type"], count) == (reason.value, 1)


@both_doors
def test_a_call_that_outlasts_the_deadline_timed_out(door: Door) -> None:
    with stuck() as event:
        spans, times = Spans(), Measured("gen_ai.client.operation.duration")

        class Hanging(ScriptedModel):
            def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Any:
                from groundguard.flow.steps import Call, Callee

                yield Call(Callee(event.wait, None, "hanging"))

        response = check(door, FactCheck(Hanging("yes")), timeout=0.05)
        assert response.reason is Reason.JUDGE_TIMEOUT
        assert spans.one(CHAT).attributes["error.type"] == "OutOfTimeError"
        ((attributes, _, _),) = times.since
        assert attributes["error.type"] == "judge_timeout"


def test_a_cancelled_call_is_an_error() -> None:
    spans = Spans()

    async def main() -> None:
        started = asyncio.Event()

        async def model(prompt: str) -> str:
            started.set()
            await asyncio.sleep(60)
            return "yes"

        class Waiting(ScriptedModel):
            def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Any:
                from groundguard.flow.steps import Call, as_callee

                yield Call(as_callee(model, "model"), ("",))

        task = asyncio.create_task(Guard(FactCheck(Waiting("yes"))).acheck("Q?", answer="A.", chunks="c"))
        await started.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(main())
    for name in (CHAT, "groundguard check", "invoke_workflow groundguard"):
        assert spans.one(name).status.status_code is StatusCode.ERROR
        assert spans.one(name).attributes["error.type"] == "CancelledError"


@both_doors
def test_each_of_several_calls_has_its_span_below_the_check(door: Door) -> None:
    spans = Spans()
    check(door, Majority(FactCheck(ScriptedModel("yes")), of=3))

    chats = [span for span in spans.ended if span.name == CHAT]
    assert len(chats) >= 2
    assert {spans.parent_of(span) for span in chats} == {"groundguard check"}
    told = spans.one("groundguard check").attributes
    assert (told["groundguard.votes.yes"], told["groundguard.votes.no"]) == (len(chats), 0)


@both_doors
def test_claims_and_decisions_are_model_calls_too(door: Door) -> None:
    spans = Spans()
    check(door, Claims(ScriptedModel('{"verdicts": []}')))
    assert "openinference.span.kind" in spans.one(CHAT).attributes


def test_a_judge_that_is_asked_without_a_guard_is_not_traced() -> None:
    spans = Spans()
    judge = FactCheck(ScriptedModel("yes"))
    exchange = Exchange("Q?", (Chunk("c"),), "A.")

    assert judge(exchange).calls == 1
    assert asyncio.run(judge.acall(exchange)).calls == 1
    assert run(ScriptedModel("yes").ask(Prompt("s", "u"))).content == "yes"
    assert asyncio.run(arun(ScriptedModel("yes").ask(Prompt("s", "u")))).content == "yes"
    assert spans.started == []


@both_doors
def test_a_plain_function_tells_of_its_model_itself(door: Door) -> None:
    def model(prompt: str) -> str:
        with tracer.start_as_current_span("its own"):
            return "yes"

    spans, times = Spans(), Measured("gen_ai.client.operation.duration")
    check(door, FactCheck(door.function(model)))

    (asking,) = [span for span in spans.ended if span.name.startswith("groundguard ask")]
    assert dict(asking.attributes) == {
        "openinference.span.kind": "CHAIN",
        "groundguard.role": "judge",
        "groundguard.retries": 0,
    }
    assert asking.kind is SpanKind.INTERNAL
    assert spans.parent_of(spans.one("its own")) == asking.name
    assert times.count == 0


@both_doors
def test_what_is_started_inside_a_call_hangs_below_it(door: Door) -> None:
    class Spanning(ScriptedModel):
        def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Any:
            from groundguard.flow.steps import Call, as_callee

            def ask() -> Reply:
                with tracer.start_as_current_span("POST"):
                    return Reply("yes")

            return (yield Call(as_callee(ask, "model")))

    spans = Spans()
    check(door, FactCheck(Spanning("yes")))
    assert spans.parent_of(spans.one("POST")) == CHAT


def test_a_real_client_with_its_settings() -> None:
    spans = Spans()
    with (
        Server(say("yes", usage={"prompt_tokens": 4200, "completion_tokens": 1, "total_tokens": 4201})) as server,
        openai.OpenAI(api_key="test", base_url=server.url) as client,
    ):
        model = OpenAIModel(client, "judge-model", temperature=0.5, max_completion_tokens=64, seed=7, user="u")
        assert Guard(FactCheck(model)).check("Q?", answer="A.", chunks="c").status is Status.ANSWERED

    said = dict(spans.one("chat judge-model").attributes)
    assert said["gen_ai.provider.name"] == "openai"
    assert said["gen_ai.request.temperature"] == 0.5
    assert said["gen_ai.request.max_tokens"] == 64
    assert said["gen_ai.request.seed"] == 7
    assert said["gen_ai.response.model"] == "served-model"
    assert said["gen_ai.usage.input_tokens"] == 4200
    assert "u" not in said.values()


def test_a_decision_model_has_a_span() -> None:
    pytest.importorskip("langchain_core.decisions")
    from support.decisions import Scripted, nouls

    spans = Spans()
    Guard(Decide(Scripted(lines=[nouls(0.9)]))).check("Q?", answer="It has a foot.", chunks="It has a foot.")
    (chat,) = [span for span in spans.ended if span.name.startswith("chat ")]
    assert chat.attributes["gen_ai.provider.name"] == "langchain"


def test_a_models_name_of_any_length_makes_a_short_name() -> None:
    spans = Spans()
    Guard(FactCheck(ScriptedModel("yes", name="m\ud800" * 50_000))).check("Q?", answer="A.", chunks="c")
    (chat,) = [span for span in spans.ended if span.name.startswith("chat ")]
    assert len(chat.name) < 200
    chat.name.encode()
    assert len(chat.attributes["gen_ai.request.model"]) <= 16_384


def test_calls_of_many_threads_hang_below_their_own_check() -> None:
    spans = Spans()
    guard = Guard(FactCheck(ScriptedModel("yes")))
    threads = [
        threading.Thread(target=guard.check, args=("Q?",), kwargs={"answer": "A.", "chunks": f"c{number}"})
        for number in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    parents = [span.parent.span_id for span in spans.ended if span.name == CHAT]
    checks = [span.context.span_id for span in spans.ended if span.name == "groundguard check"]
    assert sorted(parents) == sorted(checks)
    assert len(set(parents)) == 16


class Bare(Model):
    """A model of somebody else's that says no more than it must."""

    @property
    def name(self) -> str:
        return "bare"

    def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Any:
        yield from ()
        return Reply("yes", usage="many", model=3)  # type: ignore[arg-type]


def test_a_reply_of_odd_values_costs_nothing_but_those() -> None:
    spans = Spans()
    with suppress(Exception):
        Guard(FactCheck(Bare())).check("Q?", answer="A.", chunks="c")
    said = dict(spans.one("chat bare").attributes)
    assert "gen_ai.response.model" not in said
    assert not [name for name in said if "token" in name]
