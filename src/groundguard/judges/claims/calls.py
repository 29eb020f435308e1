"""One call of the model that `Claims` makes: what was read in its reply, or why nothing was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from groundguard.errors import UsageError
from groundguard.flow.steps import Flow
from groundguard.judges.base import failed
from groundguard.judges.claims.verdicts import MalformedError, Said
from groundguard.judges.verdicts import Reading, text_of_reply
from groundguard.models import Model, Prompt, Reply
from groundguard.records import Decision, Reason, Usage, Verdict

T = TypeVar("T")

Answers = dict[int, Said]
"""What is said about claims, by their numbers."""


@dataclass(frozen=True, slots=True)
class Heard(Generic[T]):
    """What one call brought.

    Attributes:
        value: What was read; None if the call failed.
        failure: An UNKNOWN verdict that says why it failed; None if it did not.
        raw: The reply's text, or its refusal.
        model: The model's name as the server reported it.
        usage: Tokens as the server reported them.
    """

    value: T | None = None
    failure: Verdict | None = None
    raw: str | None = field(default=None, repr=False)
    model: str | None = None
    usage: Usage | None = None


def hear(model: Model, prompt: Prompt, schema: Mapping[str, Any] | None, read: Callable[[str], T]) -> Flow[Heard[T]]:
    """Ask a model once. Whatever goes wrong is this call's failure, but for wiring mistakes.

    Args:
        model: Whom to ask.
        prompt: What to send.
        schema: What the reply must follow; None asks in words only.
        read: Reads the text of the reply, or raises `MalformedError`.
    """
    try:
        reply = yield from model.ask(prompt, schema)
        return _heard(reply, prompt, read)
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001  # a call that fails leaves its claims unknown, and the others theirs
        return Heard(failure=failed(error))


def _heard(reply: Reply, prompt: Prompt, read: Callable[[str], T]) -> Heard[T]:
    text = text_of_reply(reply, prompt)
    if isinstance(text, Reading):
        failure = Verdict(text.decision, text.reason, detail=text.detail)
        return Heard(None, failure, text.raw, reply.model, reply.usage)
    try:
        return Heard(read(text), None, text, reply.model, reply.usage)
    except MalformedError as error:
        failure = Verdict(Decision.UNKNOWN, Reason.VERDICT_MALFORMED, detail=str(error))
        return Heard(None, failure, text, reply.model, reply.usage)
