"""The real `openai` clients, built once: building one reads the certificates of the machine, which takes a while."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from groundguard import Guard, Response
from groundguard.judges import FactCheck
from groundguard.models import OpenAIModel
from groundguard.testing import forget_warnings
from support.exchange import CHECKS, Ask, acheck, check
from support.server import Server
from support.telemetry import Counts

NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _warnings_told_anew() -> None:
    forget_warnings()


@pytest.fixture
def counts() -> Counts:
    """What is counted from here on."""
    return Counts()


@pytest.fixture(scope="module")
def client() -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="test", base_url=NOWHERE) as client:
        yield client


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def async_client(runner: asyncio.Runner) -> Iterator[openai.AsyncOpenAI]:
    client = openai.AsyncOpenAI(api_key="test", base_url=NOWHERE)
    yield client
    runner.run(client.close())


@pytest.fixture(params=["sync client, check", "async client, acheck"])
def ask(
    request: pytest.FixtureRequest, client: openai.OpenAI, async_client: openai.AsyncOpenAI, runner: asyncio.Runner
) -> Ask:
    """Ask a judge behind a real client: `ask(server, constrained=…, options={…}, **options_of_the_guard)`."""

    def ask(
        server: Server, *, constrained: bool = False, options: dict[str, Any] | None = None, **guard: Any
    ) -> Response[Any]:
        own: Any = client if request.param.startswith("sync") else async_client
        model = OpenAIModel(own.with_options(base_url=server.url), "judge-model", **(options or {}))
        guarded = Guard(FactCheck(model, constrained=constrained), **guard)
        return check(guarded) if request.param.startswith("sync") else runner.run(acheck(guarded))

    return ask


@pytest.fixture(params=["check", "acheck"])
def by_name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Ask the judge `"openai:judge-model"`, which reads the environment."""

    def ask(server: Server, **guard: Any) -> Response[Any]:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        return CHECKS[request.param](Guard(FactCheck("openai:judge-model"), **guard))

    return ask
