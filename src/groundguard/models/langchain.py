"""Any LangChain chat model as a model; also a plain language model, or a chain of prompt and model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import BaseOutputParser
from langchain_core.prompts import BasePromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.tools import BaseTool

from groundguard.errors import UsageError
from groundguard.flow.steps import Call, Callee, Flow
from groundguard.models.base import Model, Prompt, Reply
from groundguard.records import Usage

_MODEL: Any = Runnable
_BINDING: Any = RunnableBindingBase
_NO_MODELS: Any = (BaseRetriever, BasePromptTemplate, BaseOutputParser, BaseTool)
_NAMES = ("model_name", "model", "model_id", "deployment_name", "repo_id")
_SETTINGS = ("temperature", "max_tokens", "top_p", "seed", "reasoning_effort")
_ASYNC = ("ainvoke", "_agenerate", "_astream", "_acall")
_FINISH = ("finish_reason", "stop_reason", "stopReason", "done_reason")
_CALLED_A_TOOL = frozenset({"tool_calls", "tool_use", "function_call"})


class LangChainModel(Model):
    """A LangChain chat model, plain and async.

    The call is no part of the application's run: its callbacks, tags and configuration don't reach it. A tracer that
    the environment switches on sees it as a run of its own, named and tagged `groundguard`.

    Args:
        model: A chat model, a language model, or a Runnable from messages to text or an AI message.

    Raises:
        UsageError: if it is something else of LangChain's.
    """

    def __init__(self, model: Any) -> None:
        if not isinstance(model, _MODEL) or isinstance(model, _NO_MODELS):
            raise UsageError(f"a judge's model is a LangChain chat model, not a {type(model).__name__}")
        self._model: Runnable[Any, Any] = model
        self._core, bound = _core(model)
        self._settings = _settings(self._core, bound)

    @property
    def name(self) -> str:
        """The model's name, else its class."""
        names = (getattr(self._core, key, None) for key in _NAMES)
        return next((name for name in names if isinstance(name, str) and name), self._core.get_name())

    @property
    def provider(self) -> str:
        """The integration that it comes from, as in `openai` for `langchain_openai`; else `langchain`."""
        package = type(self._core).__module__.partition(".")[0]
        return package.removeprefix("langchain_") if package.startswith("langchain_") else "langchain"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Temperature and the like; never the whole model, which may hold keys."""
        return self._settings

    def check_schema(self, schema: Mapping[str, Any]) -> None:
        """Raise `UsageError` if LangChain has no way to tell this model a schema."""
        _structured(self._model, schema)

    def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Flow[Reply]:
        """Ask once."""
        messages = [SystemMessage(prompt.system), HumanMessage(prompt.user)]
        callee = _callee(self._model, self._model if schema is None else _structured(self._model, schema))
        try:
            result = yield Call(callee, (messages,), retry="asked")
        except Exception as error:
            completion = getattr(error, "completion", None)
            if completion is None:
                raise
            return _cut(completion)
        return _read(result) if schema is None else _read_structured(result)


def _config() -> RunnableConfig:
    """Everything that a call inside a chain would inherit, replaced."""
    return {"callbacks": [], "tags": ["groundguard"], "metadata": {}, "configurable": {}, "run_name": "groundguard"}


def _callee(model: Runnable[Any, Any], asked: Runnable[Any, Any]) -> Callee:
    """Both doors, or one: LangChain runs what has no async code in the loop's own threads, where a hung call stays."""

    def ask(messages: list[BaseMessage]) -> Any:
        return asked.invoke(messages, _config())

    async def aask(messages: list[BaseMessage]) -> Any:
        return await asked.ainvoke(messages, _config())

    plain, coroutine = _doors(model)
    return Callee(ask if plain else None, aask if coroutine else None, f"the model {type(model).__name__}")


def _doors(model: Runnable[Any, Any]) -> tuple[bool, bool]:
    while isinstance(model, RunnableBindingBase):
        model = model.bound
    if isinstance(model, RunnableLambda):
        return hasattr(model, "func"), hasattr(model, "afunc")
    return True, any(map(_is_own, (getattr(type(model), name, None) for name in _ASYNC)))


def _is_own(method: Any) -> bool:
    """Whether it is more than LangChain's default, which runs the plain code in a thread."""
    return method not in {None, _MODEL.ainvoke} and not method.__module__.startswith("langchain_core.language_models")


def _core(model: Runnable[Any, Any]) -> tuple[Runnable[Any, Any], dict[str, Any]]:
    """The language model inside of bindings and sequences, and what is bound to it."""
    bound: dict[str, Any] = {}
    while True:
        if isinstance(model, RunnableBindingBase):
            bound = {**model.kwargs, **bound}
            model = model.bound
        elif isinstance(model, RunnableSequence):
            steps = [step for step in model.steps if isinstance(_core(step)[0], BaseLanguageModel)]
            if not steps:
                return model, bound
            model = steps[-1]
        else:
            return model, bound


def _settings(core: object, bound: Mapping[str, Any]) -> dict[str, Any]:
    values = {key: bound.get(key, getattr(core, key, None)) for key in _SETTINGS}
    return {key: value for key, value in values.items() if isinstance(value, (int, float, str))}


def _structured(model: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(model, _BINDING) or not hasattr(model, "with_structured_output"):
        raise UsageError(
            f"constrained=True needs the chat model itself, not a {type(model).__name__}: its bindings would be lost"
        )
    try:
        return model.with_structured_output({"title": "verdict", **schema}, method="json_schema", include_raw=True)
    except (NotImplementedError, ValueError, TypeError) as error:
        raise UsageError(
            f"{type(model).__name__} can't be asked to constrain its output: leave constrained=False"
        ) from error


# Reading what came back.


def _read(result: Any) -> Reply:
    if not isinstance(result, AIMessage):
        return Reply(result)
    told = result.response_metadata
    return Reply(
        content=result.content,
        finish_reason=_finish(told),
        refusal=result.additional_kwargs.get("refusal"),
        usage=_usage(result.usage_metadata),
        model=next((told[key] for key in _NAMES if isinstance(told.get(key), str)), None),
    )


def _read_structured(result: Any) -> Reply:
    raw = result.get("raw") if hasattr(result, "get") else result
    reply = _read(raw)
    if not isinstance(raw, AIMessage):
        return reply
    calls = [*raw.tool_calls, *raw.invalid_tool_calls]
    if not calls:
        return reply
    finish = "stop" if reply.finish_reason in _CALLED_A_TOOL else reply.finish_reason
    content = json.dumps(calls[0]["args"]) if len(calls) == 1 else calls
    return Reply(content, finish, reply.refusal, reply.usage, reply.model)


def _cut(completion: Any) -> Reply:
    """A reply that the openai client raises instead of returning it, since it ended before its JSON did."""
    return Reply(None, completion.choices[0].finish_reason, model=completion.model)


def _finish(told: Mapping[str, Any]) -> Any:
    """Why the model stopped; the Responses API says only how far it came, and why no further."""
    said = next((told[key] for key in _FINISH if told.get(key) is not None), None)
    if said is not None:
        return said
    details: Any = told.get("incomplete_details") or {}
    status = told.get("status")
    return details.get("reason") or (status if isinstance(status, str) else None)


def _usage(told: Any) -> Usage | None:
    if not told:
        return None
    counts = (told.get("input_tokens"), told.get("output_tokens"))
    return Usage(*(count if type(count) is int else None for count in counts))
