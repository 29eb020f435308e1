"""FastAPI over real HTTP: the example as it stands, and what a decorated endpoint says of itself."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

fastapi = pytest.importorskip("fastapi")
httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")

from fastapi.responses import StreamingResponse

from groundguard import Guard, Response, record_chunks
from groundguard.policy import Replace
from groundguard.testing import ScriptedJudge

pytestmark = pytest.mark.filterwarnings("ignore:Lexical:groundguard.errors.GroundguardWarning")

EXAMPLE = Path(__file__).parents[2] / "examples" / "09_fastapi.py"
LAMP = "Which voltage does the lamp need?"
MARS = "Which voltage does the lamp need on Mars?"
NOTHING = "Who was king then?"

SAID = {
    LAMP: ("The lamp runs on a voltage of 12 volts.", "answered", "supported"),
    MARS: ("The lamp runs on a voltage of 240 volts.", "ungrounded", "unsupported"),
    NOTHING: ("I don't know.", "no_context", "no_chunks"),
}


@contextmanager
def serving(app: Any) -> Iterator[Any]:
    """A client of `app`, which a real server serves on loopback."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="warning", log_config=None, ws="none", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=30) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("example_09_fastapi", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def client(example: Any) -> Iterator[Any]:
    with serving(example.app) as client:
        yield client


def told(body: dict[str, Any]) -> tuple[str, str, str]:
    return body["answer"], body["status"], body["reason"]


def events(text: str) -> list[tuple[str, Any]]:
    """Server-sent events: the name and the data of each."""
    found = []
    for block in text.split("\n\n")[:-1]:
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


@pytest.mark.parametrize("path", ["/ask", "/aask"])
@pytest.mark.parametrize("question", SAID)
def test_an_endpoint_answers_with_the_status(path: str, question: str, client: Any) -> None:
    reply = client.get(path, params={"question": question})
    assert reply.status_code == 200
    assert told(reply.json()) == SAID[question]
    assert set(reply.json()) == {"answer", "status", "reason"}


@pytest.mark.parametrize("question", SAID)
def test_events_end_with_the_status(question: str, client: Any) -> None:
    reply = client.get("/events", params={"question": question})
    *pieces, (last, status) = events(reply.text)

    assert reply.headers["content-type"].startswith("text/event-stream")
    assert len(pieces) > 1
    assert {name for name, _ in pieces} == {"piece"}
    assert "".join(text for _, text in pieces) == SAID[question][0]
    assert (last, told(status)) == ("status", SAID[question])


def test_parameters_are_the_functions_own(client: Any) -> None:
    assert client.get("/ask").status_code == 422
    paths = client.get("/openapi.json").json()["paths"]
    for path in ("/ask", "/aask"):
        (parameter,) = paths[path]["get"]["parameters"]
        assert (parameter["name"], parameter["required"]) == ("question", True)


def test_one_guard_for_requests_side_by_side(client: Any) -> None:
    questions = [*SAID] * 12
    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(lambda question: client.get("/aask", params={"question": question}).json(), questions))
        streams = list(pool.map(lambda question: client.get("/events", params={"question": question}).text, questions))

    assert [told(reply) for reply in replies] == [SAID[question] for question in questions]
    assert [told(events(text)[-1][1]) for text in streams] == [SAID[question] for question in questions]


def test_a_client_that_leaves_mid_stream_disturbs_nobody(client: Any, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(5):
        with client.stream("GET", "/events", params={"question": LAMP}) as reply:
            assert next(reply.iter_lines()) == "event: piece"
    assert told(client.get("/ask", params={"question": LAMP}).json()) == SAID[LAMP]
    server = ("uvicorn", "asyncio", "fastapi", "groundguard")
    assert [
        record for record in caplog.records if record.levelno >= logging.WARNING and record.name.startswith(server)
    ] == []


def test_a_client_that_leaves_ends_the_source_and_asks_no_judge() -> None:
    judge, closed, app = ScriptedJudge(True), threading.Event(), fastapi.FastAPI()

    @Guard(judge)
    async def endless(question: str) -> AsyncIterator[str]:
        record_chunks("c")
        try:
            while True:
                yield "on and on "
                await asyncio.sleep(0.001)
        finally:
            closed.set()

    @app.get("/")
    async def stream(question: str) -> StreamingResponse:
        return StreamingResponse(item async for item in endless(question))

    with serving(app) as client:
        with client.stream("GET", "/", params={"question": "Q?"}) as reply:
            next(reply.iter_bytes())
        assert closed.wait(10)
    assert judge.exchanges == []


# A decorated endpoint without a model of its own.


def ask(question: str) -> tuple[str, list[str]]:
    return "A", ["c"]


async def aask(question: str) -> tuple[str, list[str]]:
    return "A", ["c"]


@pytest.mark.parametrize("function", [ask, aask, lambda question: ("A", ["c"])], ids=["def", "async def", "lambda"])
def test_a_decorated_endpoint_returns_the_response_as_json(function: Any) -> None:
    app = fastapi.FastAPI()
    app.get("/")(Guard(ScriptedJudge(False), policy=Replace("Sorry."))(function))

    with serving(app) as client:
        body = client.get("/", params={"question": "Q?"}).json()
        described = client.get("/openapi.json").json()

    response = Response.from_dict(body)
    assert (response.answer, response.generated, response.status) == ("Sorry.", "A", "ungrounded")
    assert response.to_dict() == body
    schema = described["paths"]["/"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema["type"] == "object"


def test_a_decorated_generator_streams_json_lines() -> None:
    pytest.importorskip("fastapi.sse", reason="this FastAPI takes no generators")
    app = fastapi.FastAPI()

    @app.get("/")
    @Guard(ScriptedJudge(True))
    async def stream(question: str) -> AsyncIterator[str]:
        record_chunks("c")
        yield "A "
        yield "B"

    with serving(app) as client:
        *pieces, last = map(json.loads, client.get("/", params={"question": "Q?"}).text.splitlines())
    assert pieces == ["A ", "B"]
    assert Response.from_dict(last).answer == "A B"
