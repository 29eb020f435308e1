"""The `openai` client as a model, plain or async: Chat Completions of any OpenAI-compatible server."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import openai

from groundguard.errors import UsageError, warn_once
from groundguard.flow.drive import PerLoop
from groundguard.flow.steps import Call, Callee, Flow
from groundguard.models.base import Model, Prompt, Reply
from groundguard.records import Usage

_ROOM_FOR_A_WORD = 2
_OURS = frozenset({"model", "messages", "stream", "n", "response_format", "timeout", "tools", "functions"})


class OpenAIModel(Model):
    """A model behind an `openai` client.

    Only `model` and `messages` are sent, and what you pass as `options`: no default temperature, no output limit,
    which reasoning models refuse. The client's own retries are switched off for these calls, on a copy: the guard
    has the one layer of retry. Your client object stays as it is.

    Args:
        client: `openai.OpenAI` works in both doors, `openai.AsyncOpenAI` in the async door only. Any subclass will do.
        name: The model's name.
        **options: More arguments of `client.chat.completions.create`, such as `temperature=0`.
    """

    def __init__(self, client: openai.OpenAI | openai.AsyncOpenAI, name: str, **options: Any) -> None:
        if not isinstance(client, (openai.OpenAI, openai.AsyncOpenAI)):
            raise UsageError(
                f"OpenAIModel needs an openai.OpenAI or openai.AsyncOpenAI client, not {type(client).__name__}"
            )
        if taken := sorted(_OURS & options.keys()):
            raise UsageError(f"OpenAIModel sets {', '.join(taken)} itself")
        known = inspect.signature(client.chat.completions.create).parameters
        if unknown := sorted(options.keys() - known.keys()):
            raise UsageError(f"chat.completions.create has no option {', '.join(unknown)}; extra_body takes any other")
        _tell_tiny_limit(name, options)

        def create(**sent: Any) -> Any:
            return _create(client, sent)

        plain, coroutine = (create, None) if isinstance(client, openai.OpenAI) else (None, create)
        self._callee = Callee(plain, coroutine, f"the openai model {name}")
        self._name = name
        self._options = options

    @classmethod
    def from_environment(cls, name: str, **options: Any) -> OpenAIModel:
        """A model for both doors, from OPENAI_API_KEY, OPENAI_BASE_URL and the client's other variables.

        Raises:
            UsageError: if the environment lacks what the client needs.
        """
        try:
            client = openai.OpenAI()
        except openai.OpenAIError as error:
            raise UsageError(
                f"'openai:{name}' needs OPENAI_API_KEY in the environment (for a local server any value, together with"
                " OPENAI_BASE_URL), or pass a client of your own: OpenAIModel(client, 'NAME')"
            ) from error
        model = cls(client, name, **options)
        weakref.finalize(model, client.close).atexit = False
        clients = PerLoop(openai.AsyncOpenAI)

        async def create(**sent: Any) -> Any:
            return await _create(await clients.get(), sent)

        model._callee = replace(model._callee, coroutine=create)
        return model

    @property
    def name(self) -> str:
        """The model's name, as it is sent."""
        return self._name

    @property
    def provider(self) -> str:
        """`openai`: what the server speaks."""
        return "openai"

    @property
    def settings(self) -> Mapping[str, Any]:
        """The options that are sent along."""
        return self._options

    def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Flow[Reply]:
        """Ask once."""
        sent = {
            "model": self._name,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            **({} if schema is None else {"response_format": _response_format(schema)}),
            **self._options,
        }
        completion = yield Call(self._callee, kwargs=sent, retry="default", timeout_keyword="timeout")
        return _read(completion)


def _tell_tiny_limit(name: str, options: Mapping[str, Any]) -> None:
    for option in ("max_tokens", "max_completion_tokens"):
        limit = options.get(option)
        if isinstance(limit, int) and limit < _ROOM_FOR_A_WORD:
            warn_once(
                f"{option}={limit} leaves {name} no room to end its reply after one word: such a reply is cut, and a"
                " cut reply is never a verdict. Leave the option out, or give it more.",
                "tiny limit",
                name,
            )


def _create(client: openai.OpenAI | openai.AsyncOpenAI, sent: dict[str, Any]) -> Any:
    """The completion; of an async client, the awaitable of it."""
    limit = sent.pop("timeout")
    create: Any = client.with_options(max_retries=0).chat.completions.create
    return create(**sent, **_timeout(client, limit))


def _timeout(client: openai.OpenAI | openai.AsyncOpenAI, limit: float | None) -> dict[str, float]:
    """The deadline as the request's timeout, unless the client's own is shorter or finer."""
    own = client.timeout
    if limit is None:
        return {}
    longer = own > limit if isinstance(own, (int, float)) else own is None or own == openai.DEFAULT_TIMEOUT
    return {"timeout": limit} if longer else {}


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


def _read(completion: Any) -> Reply:
    choices: Any = getattr(completion, "choices", None)
    match choices:
        case [choice] if hasattr(getattr(choice, "message", None), "content"):
            message = choice.message
        case _:
            raise ValueError("the server's reply is not a chat completion with one choice")
    return Reply(
        content=message.content,
        finish_reason=getattr(choice, "finish_reason", None),
        refusal=getattr(message, "refusal", None),
        usage=_usage(getattr(completion, "usage", None)),
        model=getattr(completion, "model", None),
    )


def _usage(usage: Any) -> Usage | None:
    if usage is None:
        return None
    counts = (getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None))
    return Usage(*(count if type(count) is int else None for count in counts))
