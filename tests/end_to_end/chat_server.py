"""A real server on the loopback that speaks as much Chat Completions as the tests need."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ChatServer(ThreadingHTTPServer):
    """Answers every request with what `reply` makes of it: a text, or a status with an error body."""

    daemon_threads = True

    def __init__(self, reply):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.requests = []

    def handle_error(self, request, client_address):
        """A client that went away is no news, and stderr belongs to the command under test."""

    @property
    def environment(self):
        """What a client needs to find it."""
        return {"OPENAI_BASE_URL": f"http://127.0.0.1:{self.server_port}/v1", "OPENAI_API_KEY": "a-test-key"}


@contextmanager
def chat_server(reply):
    """A server whose replies are made by `reply(request)`: a string, or a pair of HTTP status and message."""
    with ChatServer(reply) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        said = self.server.reply(request)
        if isinstance(said, tuple):
            self._send(said[0], {"error": {"message": said[1]}})
        else:
            message = {"role": "assistant", "content": said}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._send(
                200, {"id": "1", "object": "chat.completion", "created": 1, "model": "tiny", "choices": [choice]}
            )

    def _send(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        """Say nothing."""
