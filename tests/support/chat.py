"""The models of `support.guarded_app` behind Chat Completions: one that writes, one that judges."""

from __future__ import annotations

import json

from support.server import Behaviour, Request, Server, say

WRITTEN = {
    "on Mars": "It runs on 240 volts.",
    "Perhaps": "It runs on 12 volts, perhaps.",
    "king": "I don't know.",
}
USAGE = {"prompt_tokens": 500, "completion_tokens": 1, "total_tokens": 501}


class ChatServer(Server):
    """Replies by what it is asked; every reply reports 500 tokens in and 1 out."""

    def __init__(self) -> None:
        super().__init__(say("yes"))

    def take(self, request: Request) -> Behaviour:
        """Record a request and answer as the model that it names."""
        super().take(request)
        said = _judge(request) if request.body["model"] == "judge-model" else _write(request)
        return say(said, usage=USAGE)

    @property
    def environment(self) -> dict[str, str]:
        """What a client needs to find it."""
        return {"OPENAI_BASE_URL": self.url, "OPENAI_API_KEY": "sk-marked-key"}


def _write(request: Request) -> str:
    question = request.body["messages"][-1]["content"]
    return next((said for word, said in WRITTEN.items() if word in question), "It runs on 12 volts.")


def _judge(request: Request) -> str:
    asked = json.dumps(request.body["messages"])
    return "no" if "240" in asked else "Yes." if "perhaps" in asked else "yes"
