"""A plain function as a model: prompt in, text out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from groundguard.flow.steps import Call, Flow, as_callee
from groundguard.models.base import Model, Prompt, Reply


class FunctionModel(Model):
    """A function `(prompt: str) -> str`, plain or async.

    It may return a `Reply` instead of a string to pass on a finish reason or token counts.
    """

    takes_schema: ClassVar[bool] = False

    def __init__(self, function: Callable[[str], Any]) -> None:
        self._callee = as_callee(function, "model")
        self._name = getattr(function, "__qualname__", type(function).__qualname__)

    @property
    def name(self) -> str:
        """The function's name."""
        return self._name

    def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Flow[Reply]:  # noqa: ARG002  # takes_schema is False
        """Call the function with the prompt as one string."""
        result = yield Call(self._callee, (prompt.text,), retry="asked")
        return result if isinstance(result, Reply) else Reply(result)
