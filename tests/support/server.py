"""A scripted server that speaks Chat Completions on loopback, with real sockets.

```python
with Server(say("yes"), status(500)) as server:   # the last line of the script for ever
    client = openai.OpenAI(base_url=server.url, api_key="test")
```
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

JSON = "application/json"


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    path: str
    headers: Message
    body: dict[str, Any]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def setup(self) -> None:
        super().setup()
        self.server.sockets.append(self.connection)

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["content-length"]))
        behave = self.server.script.take(Request(self.path, self.headers, json.loads(content)))
        behave(self)

    def head(self, code: int, length: int, headers: Mapping[str, str]) -> bytes:
        """The bytes of a reply up to its body."""
        lines = [f"HTTP/1.1 {code} Scripted", f"content-length: {length}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name in the standard library
        """Say nothing."""


class _Listener(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 128

    def __init__(self, script: Server) -> None:
        self.script = script
        self.sockets: list[socket.socket] = []
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no error here."""


Behaviour = Callable[[Handler], None]


@dataclass
class Server:
    """Answers each request by the next line of its script."""

    script: tuple[Behaviour, ...]
    requests: list[Request] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def __init__(self, *script: Behaviour) -> None:
        self.script = script
        self.requests = []
        self.closing = threading.Event()
        self._taking = threading.Lock()

    def __enter__(self) -> Self:
        self._listener = _Listener(self)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._listener.shutdown()
        self._thread.join()
        for connection in self._listener.sockets:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._listener.server_close()

    def take(self, request: Request) -> Behaviour:
        """Record a request and hand out its line of the script."""
        with self._taking:
            self.requests.append(request)
            return self.script[min(len(self.requests), len(self.script)) - 1]

    @property
    def url(self) -> str:
        """The base URL for a client."""
        host, port = self._listener.server_address[:2]
        return f"http://{host!s}:{port}/v1"

    @property
    def connections(self) -> int:
        """How many connections were opened."""
        return len(self._listener.sockets)


# What a line of the script may be.


def send(body: bytes | str, *, code: int = 200, content_type: str | None = JSON, **headers: str) -> Behaviour:
    """Any bytes at all; headers with `_` for `-`."""
    content = body.encode() if isinstance(body, str) else body
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    given |= {} if content_type is None else {"content-type": content_type}

    def behave(handler: Handler) -> None:
        handler.wfile.write(handler.head(code, len(content), given) + content)

    return behave


def send_json(value: object, *, code: int = 200, **headers: str) -> Behaviour:
    """A JSON value."""
    return send(json.dumps(value), code=code, **headers)


def completion(content: object, *, finish_reason: object = "stop", usage: object = None, **message: object) -> Any:
    """A chat completion as a server sends it; `message` holds more of the message, such as `refusal`."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "served-model",
        "choices": [choice(content, finish_reason=finish_reason, **message)],
        **({} if usage is None else {"usage": usage}),
    }


def choice(content: object, *, finish_reason: object = "stop", **message: object) -> Any:
    """One choice of a completion."""
    return {
        "index": 0,
        "finish_reason": finish_reason,
        "message": {"role": "assistant", "content": content, **message},
    }


def say(content: object, **more: Any) -> Behaviour:
    """A completion with this content."""
    return send_json(completion(content, **more))


def status(code: int, *, error_code: str | None = None, kind: str | None = None, **headers: str) -> Behaviour:
    """An error in the shape that OpenAI uses."""
    error = {"message": f"scripted {code}", "type": kind, "param": None, "code": error_code}
    return send_json({"error": error}, code=code, **headers)


def reset() -> Behaviour:
    """Half a reply, then a connection reset."""

    def behave(handler: Handler) -> None:
        content = json.dumps(completion("yes")).encode()
        handler.wfile.write(handler.head(200, len(content), {"content-type": JSON}) + content[: len(content) // 2])
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
        handler.close_connection = True

    return behave


def hang() -> Behaviour:
    """No reply for as long as the server lives."""

    def behave(handler: Handler) -> None:
        handler.server.script.closing.wait()
        handler.close_connection = True

    return behave


def drip(content: object, *, every: float = 0.05) -> Behaviour:
    """A whole reply, byte by byte."""

    def behave(handler: Handler) -> None:
        body = json.dumps(completion(content)).encode()
        handler.wfile.write(handler.head(200, len(body), {"content-type": JSON}))
        for byte in body:
            if handler.server.script.closing.wait(every):
                handler.close_connection = True
                return
            handler.wfile.write(bytes([byte]))

    return behave
