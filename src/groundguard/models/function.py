"""A plain function as a model: prompt in, text out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from groundguard.errors import UsageError
from groundguard.flow.steps import Call, Flow, as_callee, name_of
from groundguard.models.base import Model, Prompt, Reply, Request


@dataclass(frozen=True)
class FunctionModel(Model):
    """A function `(prompt: str) -> str`, plain or async.

    It may return a `Reply` instead of a string to pass on a finish reason or token counts.
    """

    function: Callable[[str], Any]

    def __post_init__(self) -> None:
        as_callee(self.function, "model", arguments=1)

    @property
    def name(self) -> str:
        """The function's name."""
        return name_of(self.function)

    def check_schema(self, schema: Mapping[str, Any]) -> None:  # noqa: ARG002  # no function takes any
        """Raise `UsageError`."""
        raise UsageError(
            "a plain function can't be told a JSON schema: constrain its output inside, or leave constrained=False"
        )

    def _request(self, prompt: Prompt) -> Request:
        return replace(super()._request(prompt), function=True)

    def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Flow[Reply]:  # noqa: ARG002  # none comes
        """Call the function with the prompt as one string."""
        result = yield Call(as_callee(self.function, "model"), (prompt.text,), retry="asked")
        return result if isinstance(result, Reply) else Reply(result)
