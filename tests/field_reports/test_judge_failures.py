"""Judges that fail, as users of grounding checks have met them. Each test names the reports it comes from."""

from __future__ import annotations

import logging
from typing import Any

import openai
import pytest

from groundguard import Decision, Guard, Reason, Response, Retry, Status
from groundguard.errors import GroundguardWarning, UngroundedError, UsageError
from groundguard.judges import FactCheck
from groundguard.models import OpenAIModel, Reply
from groundguard.policy import Raise
from groundguard.testing import ScriptedJudge, ScriptedModel, forget_warnings
from support.exchange import CHECKS, Check, check
from support.server import Server, say, send, status

AT_ONCE = Retry(attempts=3, initial=0, maximum=0)


@pytest.fixture(params=CHECKS.values(), ids=CHECKS)
def door(request: pytest.FixtureRequest) -> Check:
    forget_warnings()
    return request.param


@pytest.fixture(scope="module")
def client() -> Any:
    with openai.OpenAI(api_key="test", base_url="http://127.0.0.1:9/v1") as client:
        yield client


def _never_answered(response: Response[Any]) -> None:
    assert response.status is Status.UNGROUNDED
    assert response.verdict is not None
    assert response.verdict.decision is Decision.UNKNOWN
    assert response.answer == response.generated != ""


# judge-original-error-hidden: jd/tenacity#24, Future-House/paper-qa#1038, jd/tenacity#413


def test_the_original_error_is_told_after_retries(door: Check, caplog: pytest.LogCaptureFixture) -> None:
    judge = FactCheck(ScriptedModel(ConnectionError("model muse-9 is not loaded")))
    with caplog.at_level(logging.INFO, "groundguard"):
        response = door(Guard(judge, retry=AT_ONCE))

    _never_answered(response)
    assert response.verdict is not None
    assert (response.verdict.calls, response.verdict.error_type) == (3, "ConnectionError")
    assert response.verdict.detail == "model muse-9 is not loaded"
    (record,) = caplog.records
    assert record.error_type == "ConnectionError"
    assert "muse-9" not in str(record.__dict__), "a message may hold content"


def test_an_error_that_will_not_pass_is_told_too(door: Check) -> None:
    response = door(Guard(FactCheck(ScriptedModel(ValueError("model muse-9 is not loaded"))), retry=AT_ONCE))
    _never_answered(response)
    assert response.verdict is not None
    assert (response.verdict.error_type, response.verdict.detail) == ("ValueError", "model muse-9 is not loaded")


# judge-outage-fails-open: NVIDIA-NeMo/Guardrails#2045, langwatch/langwatch#6157, BerriAI/litellm#19779

OUTAGES = [ConnectionError("scripted"), KeyError("verdict"), OSError(), RuntimeError(), Exception(), MemoryError()]


@pytest.mark.parametrize("error", OUTAGES, ids=repr)
def test_a_judge_that_raises_never_passes(door: Check, error: Exception) -> None:
    for judge in (ScriptedJudge(error), FactCheck(ScriptedModel(error))):
        response = door(Guard(judge, retry=Retry(attempts=1)))
        _never_answered(response)
        assert response.reason is Reason.JUDGE_ERROR


@pytest.mark.parametrize(
    "behaviour", [status(500), send("<html>yes</html>", content_type="text/html")], ids=["500", "HTML with 200"]
)
def test_a_service_that_is_down_never_passes(door: Check, client: openai.OpenAI, behaviour: Any) -> None:
    with Server(behaviour) as server:
        model = OpenAIModel(client.with_options(base_url=server.url), "m")
        response = door(Guard(FactCheck(model), retry=AT_ONCE))
    _never_answered(response)
    assert response.reason is Reason.JUDGE_ERROR


def test_a_judge_that_returns_a_coroutine_is_a_wiring_mistake_and_no_pass() -> None:
    async def verdict() -> bool:
        return True

    with pytest.raises(UsageError, match=r"the judge .* is async"):
        check(Guard(lambda exchange: verdict()))


def test_failing_closed_is_what_raise_does_too(door: Check) -> None:
    with pytest.raises(UngroundedError) as raised:
        door(Guard(ScriptedJudge(ConnectionError()), policy=Raise()))
    _never_answered(raised.value.response)


# judge-quota-error-retried: langchain-ai/langchain#11914, comet-ml/opik#7148

HOPELESS = {
    "quota": status(429, error_code="insufficient_quota"),
    "key": status(401),
    "parameter": status(400, error_code="unknown_parameter"),
    "model": status(404, error_code="model_not_found"),
}


@pytest.mark.parametrize("behaviour", HOPELESS.values(), ids=HOPELESS)
def test_what_will_never_work_is_tried_once(door: Check, client: openai.OpenAI, behaviour: Any) -> None:
    with Server(behaviour) as server:
        response = door(Guard(FactCheck(OpenAIModel(client.with_options(base_url=server.url), "m")), retry=AT_ONCE))
    _never_answered(response)
    assert (response.reason, len(server.requests)) == (Reason.JUDGE_ERROR, 1)


def test_try_later_has_another_reason_than_will_never_work(door: Check, client: openai.OpenAI) -> None:
    with Server(status(429)) as server:
        response = door(Guard(FactCheck(OpenAIModel(client.with_options(base_url=server.url), "m")), retry=AT_ONCE))
    assert (response.reason, len(server.requests)) == (Reason.JUDGE_RATE_LIMITED, 3)


# judge-refuses: promptfoo/promptfoo#2468, mem0ai/mem0#6150


@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_an_apology_is_no_verdict(door: Check) -> None:
    response = door(Guard(FactCheck(ScriptedModel("I'm sorry, but I can't help with that."))))
    _never_answered(response)
    assert response.reason is Reason.VERDICT_MALFORMED


def test_a_refusal_is_kept(door: Check, client: openai.OpenAI) -> None:
    with Server(say(None, refusal="I can't judge this.")) as server:
        response = door(Guard(FactCheck(OpenAIModel(client.with_options(base_url=server.url), "m"))))
    _never_answered(response)
    assert response.reason is Reason.JUDGE_REFUSED
    assert response.verdict is not None
    assert response.verdict.raw == "I can't judge this."


# judge-reply-cut-at-limit: RailtownAI/railtracks#1430, vibrantlabsai/ragas#1549, #2423, infiniflow/ragflow#1207


@pytest.mark.parametrize("text", ["yes", "", "no", "yes, except"])
def test_a_cut_reply_is_no_verdict_even_if_what_is_left_is_the_word(door: Check, text: str) -> None:
    response = door(Guard(FactCheck(ScriptedModel(Reply(text, "length")))))
    _never_answered(response)
    assert response.reason is Reason.JUDGE_TRUNCATED


def test_a_whole_reply_is(door: Check) -> None:
    assert door(Guard(FactCheck(ScriptedModel(Reply("yes", "stop"))))).status is Status.ANSWERED


@pytest.mark.parametrize("option", ["max_tokens", "max_completion_tokens"])
def test_an_output_limit_that_cuts_every_reply_is_told_once_at_set_up(client: Any, option: str) -> None:
    forget_warnings()
    with pytest.warns(GroundguardWarning, match=f"{option}=1 leaves judge-x no room") as told:
        models = [OpenAIModel(client, "judge-x", **{option: limit}) for limit in (1, 1, 2)]
    assert len(told) == 1
    assert [model.settings for model in models] == [{option: 1}, {option: 1}, {option: 2}]
