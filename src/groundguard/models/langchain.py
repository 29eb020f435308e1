"""Any LangChain chat model as a model; also a plain language model, or a chain of prompt and model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel, BaseLanguageModel
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

_NO_MODELS = (BaseRetriever, BasePromptTemplate, BaseOutputParser, BaseTool)
_NAMES = ("model_name", "model", "model_id", "deployment_name", "repo_id")
_SETTINGS = ("temperature", "max_tokens", "top_p", "seed", "reasoning_effort")
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

    def __init__(self, model: object) -> None:
        if not isinstance(model, Runnable) or isinstance(model, _NO_MODELS):
            raise UsageError(f"a judge's model is a LangChain chat model, not a {type(model).__name__}")
        self._model: Runnable[Any, Any] = model
        self._core, bound = _core(model)
        self._settings = _settings(self._core, bound)

    @property
    def name(self) -> str:
        """The model's name, else its class."""
        names = (getattr(self._core, key, None) for key in _NAMES)
        return next((name for name in names if isinstance(name, str) and name), type(self._core).__name__)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Temperature and the like; never the whole model, which may hold keys."""
        return self._settings

    def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Flow[Reply]:
        """Ask once.

        Raises:
            UsageError: if a schema is given and the model can't follow one.
        """
        messages = [SystemMessage(prompt.system), HumanMessage(prompt.user)]
        callee = _callee(self._model, self._model if schema is None else _structured(self._model, schema))
        result = yield Call(callee, (messages,), retry="asked")
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
    if isinstance(model, RunnableLambda):
        return hasattr(model, "func"), hasattr(model, "afunc")
    kind: Any = type(model)
    if isinstance(model, BaseChatModel):
        own = (kind._agenerate, kind._astream) != (BaseChatModel._agenerate, BaseChatModel._astream)  # noqa: SLF001
        return True, own
    return True, kind.ainvoke is not Runnable.ainvoke


def _core(model: Runnable[Any, Any]) -> tuple[object, dict[str, Any]]:
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


def _structured(model: Runnable[Any, Any], schema: Mapping[str, Any]) -> Runnable[Any, Any]:
    if isinstance(model, RunnableBindingBase) or not hasattr(model, "with_structured_output"):
        raise UsageError(
            f"constrained=True needs the chat model itself, not a {type(model).__name__}: what is bound to it would be lost"
        )
    try:
        return model.with_structured_output({"title": "verdict", **schema}, method="json_schema", include_raw=True)
    except (NotImplementedError, ValueError, TypeError) as error:
        raise UsageError(
            f"{type(model).__name__} can't be asked to constrain its output: leave constrained=False"
        ) from error


# Reading what came back.


def _read(result: object) -> Reply:
    if isinstance(result, list):
        return Reply(tuple(result))  # a list that is no message's content holds no blocks to be joined
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


def _read_structured(result: object) -> Reply:
    raw = result.get("raw") if isinstance(result, Mapping) else None
    if not isinstance(raw, AIMessage):
        return Reply(None)
    reply = _read(raw)
    calls = [*raw.tool_calls, *raw.invalid_tool_calls]
    if not calls:
        return reply
    finish = "stop" if reply.finish_reason in _CALLED_A_TOOL else reply.finish_reason
    content = json.dumps(calls[0]["args"]) if len(calls) == 1 else calls
    return Reply(content, finish, reply.refusal, reply.usage, reply.model)


def _finish(told: Mapping[str, Any]) -> Any:
    """Why the model stopped; the Responses API says only how far it came, and why no further."""
    said = next((told[key] for key in _FINISH if told.get(key) is not None), None)
    if said is not None:
        return said
    details = told.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    status = told.get("status")
    return reason or (status if isinstance(status, str) else None)


def _usage(told: Any) -> Usage | None:
    if not told:
        return None
    counts = (told.get("input_tokens"), told.get("output_tokens"))
    return Usage(*(count if isinstance(count, int) else None for count in counts))
