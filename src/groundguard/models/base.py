"""What a judge may expect of a model: a prompt in, a reply out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from groundguard.errors import UsageError
from groundguard.flow.steps import Flow, ModelCall
from groundguard.records import Usage


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent to a model.

    Attributes:
        system: The instructions; the same for every exchange.
        user: The data, chunks first.
    """

    system: str
    user: str = field(repr=False)

    @property
    def text(self) -> str:
        """Both parts as one string: for models that take only one."""
        return f"{self.system}\n\n{self.user}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, untouched.

    Attributes:
        content: The message's content: text, content blocks, a parsed object, None.
        finish_reason: Why the model stopped, in the server's words; None if the server says nothing.
        refusal: The model's refusal, if the server sets it apart.
        usage: Tokens as reported.
        model: The model's name as reported.
    """

    content: Any = field(repr=False)
    finish_reason: Any = None
    refusal: str | None = field(default=None, repr=False)
    usage: Usage | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of which model, for whoever watches.

    Attributes:
        model: The model's name.
        provider: Who serves it.
        settings: Options that are sent along.
        prompt: What is sent, if it is text.
        function: Whether the model is a plain function, of which nothing more is known.
    """

    model: str
    provider: str
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    prompt: Prompt | None = field(default=None, repr=False)
    function: bool = False


class Model(ABC):
    """A model that a judge may ask."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The model's name, for fingerprints and telemetry."""

    @property
    def provider(self) -> str:
        """Who serves it, in the words of the GenAI conventions, for telemetry; by default `_OTHER`."""
        return "_OTHER"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Whatever else shapes its replies, for fingerprints."""
        return {}

    def check_schema(self, schema: Mapping[str, Any]) -> None:  # noqa: B027  # most servers can
        """Raise `UsageError` if this model can't be asked to constrain its output to a JSON schema."""

    def follows(self, schema: Mapping[str, Any]) -> bool:
        """Whether this model can be asked to constrain its output to a JSON schema."""
        try:
            self.check_schema(schema)
        except UsageError:
            return False
        return True

    def ask(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Flow[Reply]:
        """`reply`, as a call that telemetry sees: for judges.

        Args:
            prompt: What to send.
            schema: A JSON schema that the reply must follow; None asks for text.
        """
        reply: Reply = yield ModelCall(self.reply(prompt, schema), self._request(prompt))
        return reply

    def _request(self, prompt: Prompt) -> Request:
        return Request(self.name, self.provider, self.settings, prompt)

    @abstractmethod
    def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Flow[Reply]:
        """Ask once.

        Args:
            prompt: What to send.
            schema: A JSON schema that the reply must follow; None asks for text.
        """
