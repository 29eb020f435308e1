"""Models that a judge may ask: an `openai` client, `"openai:name"`, a LangChain chat model, a plain function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groundguard.errors import UsageError, told
from groundguard.models.base import Model, Prompt, Reply
from groundguard.models.function import FunctionModel

if TYPE_CHECKING:
    from groundguard.models.openai import OpenAIModel as OpenAIModel

__all__ = ["FunctionModel", "Model", "OpenAIModel", "Prompt", "Reply", "as_model"]


def as_model(model: object) -> Model:
    """Recognise what a judge was given as its model.

    Args:
        model: `"openai:name"`, an `OpenAIModel`, a LangChain chat model, or a function from prompt to text.

    Raises:
        UsageError: if it is none of these, such as a judge.
    """
    if isinstance(model, Model):
        return model
    if isinstance(model, str):
        return _named(model)
    if any(base.__module__.startswith("langchain_core.") for base in type(model).__mro__):
        from groundguard.models.langchain import LangChainModel  # noqa: PLC0415  # langchain_core loads where it is used

        return LangChainModel(model)
    if all(hasattr(type(model), name) for name in ("flow", "fingerprint")):
        raise UsageError(f"a judge asks a model and is none: give the model itself; got {told(model)}")
    if callable(model) and not isinstance(model, type):
        return FunctionModel(model)
    raise UsageError(
        "a model is 'openai:NAME', OpenAIModel(client, 'NAME'), a LangChain chat model or a function;"
        f" got {told(model)}"
    )


def _named(text: str) -> Model:
    provider, colon, name = text.partition(":")
    if provider != "openai" or not colon or not name.strip():
        raise UsageError(
            "a model's name reads 'openai:NAME'; any OpenAI-compatible server will do, by its OPENAI_BASE_URL"
        )
    from groundguard.models.openai import OpenAIModel  # noqa: PLC0415  # openai loads where it is used

    return OpenAIModel.from_environment(name)


def __getattr__(name: str) -> Any:
    if name == "OpenAIModel":
        from groundguard.models.openai import OpenAIModel  # noqa: PLC0415  # openai loads where it is used

        return OpenAIModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
