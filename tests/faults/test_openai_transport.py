"""A server that fails, refuses or breaks off: the right reason, at most three requests, one layer of retry."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import openai
import pytest

from groundguard import Guard, Reason, Retry, Status
from groundguard.judges import FactCheck
from groundguard.models import OpenAIModel
from support.exchange import ANSWER, Ask, acheck, check, check_async
from support.server import Behaviour, Server, drip, hang, reset, say, status
from support.telemetry import Counts

SOON = Retry(initial=0.001, maximum=0.002)

FOR_EVER: dict[str, tuple[Behaviour, Reason, str]] = {
    "429": (status(429), Reason.JUDGE_RATE_LIMITED, "RateLimitError"),
    "429 with a code": (
        status(429, error_code="rate_limit_exceeded", kind="requests"),
        Reason.JUDGE_RATE_LIMITED,
        "RateLimitError",
    ),
    "408": (status(408), Reason.JUDGE_ERROR, "APIStatusError"),
    "409": (status(409), Reason.JUDGE_ERROR, "ConflictError"),
    "500": (status(500), Reason.JUDGE_ERROR, "InternalServerError"),
    "502": (status(502), Reason.JUDGE_ERROR, "InternalServerError"),
    "503": (status(503), Reason.JUDGE_ERROR, "InternalServerError"),
    "504": (status(504), Reason.JUDGE_ERROR, "InternalServerError"),
    "529": (status(529), Reason.JUDGE_ERROR, "InternalServerError"),
    "reset mid-body": (reset(), Reason.JUDGE_ERROR, "APIConnectionError"),
}

AT_ONCE: dict[str, tuple[Behaviour, Reason, str]] = {
    "quota by code": (status(429, error_code="insufficient_quota"), Reason.JUDGE_ERROR, "RateLimitError"),
    "quota by type": (status(429, kind="insufficient_quota"), Reason.JUDGE_ERROR, "RateLimitError"),
    "billing": (status(429, error_code="billing_hard_limit_reached"), Reason.JUDGE_ERROR, "RateLimitError"),
    "400": (status(400, error_code="unknown_parameter"), Reason.JUDGE_ERROR, "BadRequestError"),
    "401": (status(401, error_code="invalid_api_key"), Reason.JUDGE_ERROR, "AuthenticationError"),
    "402": (status(402), Reason.JUDGE_ERROR, "APIStatusError"),
    "403": (status(403), Reason.JUDGE_ERROR, "PermissionDeniedError"),
    "404": (status(404, error_code="model_not_found"), Reason.JUDGE_ERROR, "NotFoundError"),
    "413": (status(413), Reason.JUDGE_ERROR, "APIStatusError"),
    "422": (status(422), Reason.JUDGE_ERROR, "UnprocessableEntityError"),
    "content filter": (status(400, error_code="content_filter"), Reason.JUDGE_FILTERED, "BadRequestError"),
    "content policy": (status(400, error_code="content_policy_violation"), Reason.JUDGE_FILTERED, "BadRequestError"),
}


@pytest.mark.parametrize(("behaviour", "reason", "error"), FOR_EVER.values(), ids=FOR_EVER)
def test_what_may_pass_is_tried_three_times(
    ask: Ask, counts: Counts, behaviour: Behaviour, reason: Reason, error: str
) -> None:
    with Server(behaviour) as server:
        response = ask(server, retry=SOON)

    _fails(response, counts, reason, error, calls=3)
    _one_layer_of_retry(server, requests=3)


@pytest.mark.parametrize(("behaviour", "reason", "error"), AT_ONCE.values(), ids=AT_ONCE)
def test_what_will_never_work_is_asked_once(
    ask: Ask, counts: Counts, behaviour: Behaviour, reason: Reason, error: str
) -> None:
    with Server(behaviour) as server:
        response = ask(server)

    _fails(response, counts, reason, error, calls=1)
    _one_layer_of_retry(server, requests=1)


@pytest.mark.parametrize(
    "script",
    [
        (status(500), say("yes")),
        (status(429), status(503), say("yes")),
        (reset(), say("yes")),
        (status(429, retry_after_ms="5"), say("yes")),
        (status(429, retry_after="0"), say("yes")),
    ],
    ids=["500", "429 and 503", "reset", "Retry-After-Ms", "Retry-After"],
)
def test_what_passes_is_answered_after_all(ask: Ask, counts: Counts, script: tuple[Behaviour, ...]) -> None:
    with Server(*script) as server:
        response = ask(server, retry=SOON)

    assert (response.status, response.answer) == (Status.ANSWERED, ANSWER)
    assert response.verdict is not None
    assert response.verdict.calls == len(script)
    assert (counts.queries, counts.judge_failures) == ({"answered": 1}, {})
    _one_layer_of_retry(server, requests=len(script))


def test_openai_calls_are_retried_by_default(ask: Ask) -> None:
    with Server(status(500), say("yes")) as server:
        assert ask(server).status is Status.ANSWERED
    assert len(server.requests) == 2


def test_the_wait_the_server_asks_for_is_kept(ask: Ask) -> None:
    with Server(status(429, retry_after="1"), say("yes")) as server:
        began = time.monotonic()
        response = ask(server, retry=SOON)
        waited = time.monotonic() - began

    assert response.status is Status.ANSWERED
    assert 1.0 <= waited < 5.0


@pytest.mark.parametrize(
    "behaviour",
    [
        status(429, retry_after="120"),
        status(429, retry_after_ms="120000"),
        status(429, retry_after=format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)),
    ],
    ids=["seconds", "milliseconds", "date"],
)
def test_a_wait_that_outlasts_the_deadline_is_not_begun(ask: Ask, counts: Counts, behaviour: Behaviour) -> None:
    with Server(behaviour) as server:
        began = time.monotonic()
        response = ask(server, timeout=30.0)
        waited = time.monotonic() - began

    _fails(response, counts, Reason.JUDGE_RATE_LIMITED, "RateLimitError", calls=1)
    assert len(server.requests) == 1
    assert waited < 5.0


@pytest.mark.parametrize("behaviour", [hang(), drip("yes")], ids=["never answering", "byte by byte"])
def test_a_server_that_takes_too_long(ask: Ask, counts: Counts, behaviour: Behaviour) -> None:
    with Server(behaviour) as server:
        began = time.monotonic()
        response = ask(server, timeout=0.5)
        waited = time.monotonic() - began

        assert waited < 1.0
        assert len(server.requests) == 1

    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.JUDGE_TIMEOUT)
    assert response.answer == ANSWER
    assert counts.judge_failures == {"judge_timeout": 1}


def test_a_drip_that_ends_in_time_is_answered(ask: Ask) -> None:
    with Server(drip("yes", every=0.0005)) as server:
        assert ask(server, timeout=20.0).status is Status.ANSWERED


def test_no_server_at_all(ask: Ask, counts: Counts) -> None:
    with Server(say("yes")) as gone:
        url = gone.url

    class Gone:
        pass

    nowhere: Any = Gone()
    nowhere.url = url
    response = ask(nowhere, retry=SOON)

    _fails(response, counts, Reason.JUDGE_ERROR, "APIConnectionError", calls=3)


def _fails(response: Any, counts: Counts, reason: Reason, error: str, *, calls: int) -> None:
    """Ungrounded for `reason`, counted once, and the answer is still delivered."""
    assert (response.status, response.reason, response.answer) == (Status.UNGROUNDED, reason, ANSWER)
    assert (response.verdict.error_type, response.verdict.calls) == (error, calls)
    assert (counts.queries, counts.judge_failures) == ({"ungrounded": 1}, {reason.value: 1})


def _one_layer_of_retry(server: Server, *, requests: int) -> None:
    assert len(server.requests) == requests
    assert {request.headers["x-stainless-retry-count"] for request in server.requests} == {"0"}
    assert all(request.body == server.requests[0].body for request in server.requests)


# The user's client stays the user's.


def test_the_client_keeps_its_retries_and_its_timeout_and_its_connections() -> None:
    with Server(status(500), status(500), say("yes")) as server:
        client = openai.OpenAI(api_key="test", base_url=server.url, max_retries=7, timeout=11.0)
        guard = Guard(FactCheck(OpenAIModel(client, "m")), retry=SOON)
        assert [check(guard).status for _ in range(3)] == [Status.ANSWERED] * 3

        assert (client.max_retries, client.timeout) == (7, 11.0)
        _one_layer_of_retry(server, requests=5)

        client.chat.completions.create(model="m", messages=[])
        assert server.connections == 1
        client.close()


def test_an_async_client_keeps_its_connections_too() -> None:
    async def main(server: Server) -> None:
        async with openai.AsyncOpenAI(api_key="test", base_url=server.url, max_retries=7, timeout=11.0) as client:
            guard = Guard(FactCheck(OpenAIModel(client, "m")))
            for _ in range(3):
                assert (await acheck(guard)).status is Status.ANSWERED
            assert (client.max_retries, client.timeout) == (7, 11.0)

    with Server(say("yes")) as server:
        asyncio.run(main(server))
    assert server.connections == 1


def test_a_client_subclass_will_do() -> None:
    with Server(say("yes")) as server:
        azure = server.url.removesuffix("/v1")
        with openai.AzureOpenAI(api_key="test", azure_endpoint=azure, api_version="2024-10-21") as client:
            guard = Guard(FactCheck(OpenAIModel(client, "deployed")))
            assert check(guard).status is Status.ANSWERED
            assert check_async(guard).status is Status.ANSWERED
    assert server.requests[0].path == "/openai/deployments/deployed/chat/completions?api-version=2024-10-21"


@pytest.mark.parametrize("own", [0.1, openai.Timeout(0.1, connect=5.0)], ids=["number", "Timeout"])
def test_a_shorter_timeout_of_the_client_stands(client: openai.OpenAI, own: Any) -> None:
    with Server(hang()) as server:
        model = OpenAIModel(client.with_options(base_url=server.url, timeout=own), "m")
        response = check(Guard(FactCheck(model), retry=SOON, timeout=30.0))

    assert response.reason is Reason.JUDGE_TIMEOUT
    assert response.verdict is not None
    assert response.verdict.error_type == "APITimeoutError"
    assert len(server.requests) == 3


def test_without_a_deadline_the_timeout_of_the_client_stands(client: openai.OpenAI) -> None:
    with Server(hang()) as server:
        model = OpenAIModel(client.with_options(base_url=server.url, timeout=0.1), "m")
        response = check(Guard(FactCheck(model), retry=Retry(attempts=1), timeout=None))

    assert response.reason is Reason.JUDGE_TIMEOUT
    assert len(server.requests) == 1


@pytest.mark.parametrize("own", [None, 60.0, openai.DEFAULT_TIMEOUT], ids=["none", "longer", "default"])
def test_the_deadline_ends_the_request_itself(client: openai.OpenAI, own: Any) -> None:
    with Server(hang()) as server:
        model = OpenAIModel(client.with_options(base_url=server.url, timeout=own), "m")
        response = check(Guard(FactCheck(model), timeout=0.2))

        assert response.reason is Reason.JUDGE_TIMEOUT
        assert server.requests[0].headers["x-stainless-read-timeout"].startswith("0.")


# By name.


@pytest.fixture
def by_name(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Guard, Server]]:
    with Server(say("yes")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        yield Guard(FactCheck("openai:m")), server


def test_by_name_every_loop_has_a_client_that_is_closed_with_it(by_name: tuple[Guard, Server]) -> None:
    guard, server = by_name

    async def twice() -> None:
        assert (await acheck(guard)).status is Status.ANSWERED
        assert (await acheck(guard)).status is Status.ANSWERED

    for loops in (1, 2, 3):
        asyncio.run(twice())
        assert server.connections == loops


def test_by_name_one_guard_serves_many_tasks_and_loops_and_threads(by_name: tuple[Guard, Server]) -> None:
    guard, server = by_name

    async def gathered() -> list[Any]:
        return await asyncio.gather(*(acheck(guard) for _ in range(5)))

    async def main() -> list[Any]:
        in_threads = [asyncio.to_thread(asyncio.run, gathered()) for _ in range(2)]
        in_threads += [asyncio.to_thread(lambda: [check(guard)]) for _ in range(2)]
        return list(itertools.chain(*await asyncio.gather(gathered(), *in_threads)))

    responses = asyncio.run(main())
    assert [response.status for response in responses] == [Status.ANSWERED] * 17
    assert len(server.requests) == 17


def test_by_name_the_sync_door_works_inside_a_running_loop(by_name: tuple[Guard, Server]) -> None:
    guard, _ = by_name

    async def main() -> Any:
        return check(guard)

    assert asyncio.run(main()).status is Status.ANSWERED
