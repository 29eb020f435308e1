"""Servers as processes of their own on loopback, and a few lines of HTTP to talk to them."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

PATIENCE = 150.0  # a loaded machine takes long to start a server

_http = build_opener(ProxyHandler({}))


def free_port() -> int:
    """A port on loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def fetch(url: str, **parameters: object) -> Any:
    """The JSON value behind a URL; lists among the parameters are repeated."""
    query = f"?{urlencode(parameters, doseq=True)}" if parameters else ""
    with _http.open(url + query, timeout=30) as reply:
        return json.load(reply)


def post(url: str, value: object) -> Any:
    """What the server replies to a JSON value."""
    asked = Request(url, json.dumps(value).encode(), {"content-type": "application/json"})
    with _http.open(asked, timeout=30) as reply:
        return json.load(reply)


def answers(url: str) -> Callable[[], bool]:
    """Whether a URL can be read."""

    def ask() -> bool:
        with suppress(OSError, HTTPException), _http.open(url, timeout=5) as reply:
            return bool(reply.status == 200)
        return False

    return ask


def eventually(ask: Callable[[], Any], *, patience: float = 60.0) -> Any:
    """The first true value of `ask()`, or its last one when patience ends."""
    end = time.monotonic() + patience
    while not (value := ask()) and time.monotonic() < end:
        time.sleep(0.25)
    return value


@contextmanager
def running(
    command: Sequence[object], *, folder: Path, environment: Mapping[str, str], ready: Callable[[], bool]
) -> Iterator[None]:
    """A process, from when it is ready to the end of the block; it may take long to start but must not end."""
    log = folder / "log.txt"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(part) for part in command], cwd=folder, env=dict(environment), stdout=out, stderr=subprocess.STDOUT
        )
    try:
        came = eventually(lambda: process.poll() is not None or ready(), patience=PATIENCE)
        assert came, f"not ready: {log.read_text('utf-8', 'replace')[-3000:]}"
        assert process.poll() is None, log.read_text("utf-8", "replace")[-3000:]
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
