"""A guarded chain that is a LangChain Runnable itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Sequence
from contextlib import aclosing, closing
from functools import partial
from typing import Any, TypeAlias

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    BaseCallbackManager,
    CallbackManagerForChainRun,
)
from langchain_core.output_parsers import BaseOutputParser
from langchain_core.prompts import BasePromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, RunnableSerializable
from langchain_core.runnables.config import patch_config
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import ConfigurableFieldSpec

from groundguard.capture import Capture
from groundguard.errors import UsageError
from groundguard.fields import is_mapping
from groundguard.flow.drive import aiterate, arun, iterate, run
from groundguard.flow.steps import Call, Callee, Flow, scoped
from groundguard.foreign import ANSWER_KEYS, CHUNK_KEYS, QUESTION_KEYS, find_history, find_question, has
from groundguard.integrations.langchain.graphs import find_graph, graph_reading
from groundguard.integrations.langchain.pieces import ChainReading, Reading, aread, read, shown, unread_errors
from groundguard.integrations.langchain.tracing import atraced, configured, traced
from groundguard.integrations.langchain.whole import Fallbacks, Whole
from groundguard.records import Response, Turn
from groundguard.wrapping import Paths

_Asked: TypeAlias = tuple[str, tuple[Turn, ...]]
_CHAIN: Any = Runnable
_NO_CHAINS: Any = (BaseRetriever, BasePromptTemplate, BaseOutputParser)


def guard_runnable(chain: Any, paths: Paths, capture: Capture) -> GuardedRunnable:
    """Put a guard around a Runnable.

    Args:
        chain: What retrieves and generates.
        paths: The guard.
        capture: Where to find question, chunks and answer.

    Raises:
        UsageError: if it can't have an answer: a retriever, a prompt, an output parser.
    """
    if not isinstance(chain, _CHAIN) or isinstance(chain, _NO_CHAINS):
        raise UsageError(f"wrap the chain that answers, not a {type(chain).__name__} alone")
    return GuardedRunnable(chain, paths, capture)


class GuardedRunnable(Runnable[Any, Response[Any]]):
    """A chain whose every answer is judged and labelled, in every call style.

    The chain runs as a child of this Runnable's own run, with the caller's config, callbacks and tags; what it raises
    passes through. `guarded | (lambda response: response.output)` feeds an old pipeline.

    `stream` and `astream` yield the pieces of the chain's own stream, at once or, if the policy holds them, when they
    are judged; and last the response, whose `output` is the pieces. A LangGraph graph yields what its `stream_mode`
    says and is judged by the output that it ends with, which is the response's. Inside another Runnable's stream (a
    sequence, a parallel) a guarded chain yields the response alone: the next step adds up what it gets, and pieces and
    a response have no sum.
    """

    def __init__(self, chain: Runnable[Any, Any], paths: Paths, capture: Capture) -> None:
        self.chain = chain
        self.paths = paths
        self.capture = capture

    def __repr__(self) -> str:
        return f"GuardedRunnable({self.chain!r})"

    @property
    def InputType(self) -> Any:  # noqa: N802  # LangChain's name
        """What the chain takes."""
        return self.chain.InputType

    @property
    def OutputType(self) -> Any:  # noqa: N802  # LangChain's name
        """A `Response`, for which LangChain needs no schema."""
        return Any

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """What can be configured in the chain."""
        return self.chain.config_specs

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        """The chain's."""
        return self.chain.get_input_schema(config)

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        """The chain's."""
        return self.chain.get_graph(config)

    # Whole answers.

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Response[Any]:  # noqa: A002  # LangChain's name
        """Invoke the chain and label its answer.

        Raises:
            UsageError: if question or answer can't be found.
            UngroundedError: if the policy is to raise.
        """
        return self._call_with_config(self._invoke, input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Response[Any]:  # noqa: A002  # LangChain's name
        """`invoke` on the running event loop, by the chain's own `ainvoke`."""
        return await self._acall_with_config(self._ainvoke, input, config, **kwargs)

    def _invoke(
        self, given: Any, run_manager: CallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any
    ) -> Response[Any]:
        return run(self._flow(given, run_manager.get_child(), config, kwargs))

    async def _ainvoke(
        self, given: Any, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig, **kwargs: Any
    ) -> Response[Any]:
        return await arun(self._flow(given, run_manager.get_child(), config, kwargs))

    def _flow(
        self, given: Any, callbacks: BaseCallbackManager, config: RunnableConfig, kwargs: dict[str, Any]
    ) -> Flow[Response[Any]]:
        question, history = self._asked(given)
        callee = Callee(self.chain.invoke, self.chain.ainvoke, f"the chain {self.chain.get_name()}")
        call = Call(callee, (given, patch_config(config, callbacks=callbacks)), kwargs)
        return self.paths.guard_call(call, question, self.capture, history)

    def _asked(self, given: Any) -> _Asked:
        return find_question(given, self.capture.question), find_history(given)

    # Answers in pieces.

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002  # LangChain's name
        """Yield the pieces of the chain's stream, and last the response.

        Closing early closes the chain's stream; what came of it is judged by nobody.

        Raises:
            UsageError: if the question, the text of a piece, or a graph's answer can't be found.
            UngroundedError: if the policy is to raise; no piece has come then.
        """
        return traced(self.get_name(), input, config, lambda own: self._pieces(input, own, kwargs))

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:  # noqa: A002  # LangChain's name
        """`stream` on the running event loop, by the chain's own `astream`."""
        items = atraced(self.get_name(), input, config, lambda own: self._apieces(input, own, kwargs))
        async with aclosing(items):
            async for item in items:
                yield item

    def _pieces(self, given: Any, config: RunnableConfig, kwargs: dict[str, Any]) -> Generator[Any]:
        asked, reading = self._asked(given), self._reading(given, kwargs)
        source = read(self.chain.stream(given, config, **reading.kwargs), reading)
        with unread_errors(), closing(iterate(self._guarded(source, asked, reading, config))) as items:
            for item in items:
                yield from shown(item)

    async def _apieces(self, given: Any, config: RunnableConfig, kwargs: dict[str, Any]) -> AsyncGenerator[Any]:
        asked, reading = self._asked(given), self._reading(given, kwargs)
        source = aread(self.chain.astream(given, config, **reading.kwargs), reading)
        async with aclosing(aiterate(self._guarded(source, asked, reading, config))) as items:
            with unread_errors():
                async for item in items:
                    for piece in shown(item):
                        yield piece

    def _reading(self, given: Any, kwargs: dict[str, Any]) -> Reading:
        graph = find_graph(self.chain)
        return (
            ChainReading(given, kwargs, self.capture) if graph is None else graph_reading(graph, kwargs, self.capture)
        )

    def _guarded(self, source: object, asked: _Asked, reading: Reading, config: RunnableConfig) -> Flow[None]:
        question, history = asked
        return scoped(self.paths.guard_stream(source, question, reading.capture, history), partial(configured, config))

    def transform(
        self,
        input: Iterator[Any],  # noqa: A002  # LangChain's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Response[Any]]:
        """Yield the response to an input that comes in pieces."""
        return Whole(self).transform(input, config, **kwargs)

    def atransform(
        self,
        input: AsyncIterator[Any],  # noqa: A002  # LangChain's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Response[Any]]:
        """`transform` on the running event loop."""
        return Whole(self).atransform(input, config, **kwargs)

    # What a response is to LangChain's steps for mappings.

    def assign(self, **kwargs: Any) -> RunnableSerializable[Any, Any]:
        """Add fields to a mapping of what the chain returned and `response`.

        The answer stands there as the policy delivers it, under the chain's own key for it, or `answer` if its output
        is no mapping. Of an output whose answer the policy has replaced only question and chunks stand beside it: the
        answer may stand in it twice.
        """
        return self._as_mapping().assign(**kwargs)

    def pick(self, keys: str | list[str]) -> RunnableSerializable[Any, Any]:
        """Take fields of the mapping that `assign` adds to."""
        return self._as_mapping().pick(keys)

    def _as_mapping(self) -> Runnable[Any, Any]:
        return self | RunnableLambda(self._mapping, name="response_as_mapping")

    def _mapping(self, response: Response[Any]) -> dict[str, Any]:
        output: Any = response.output
        own: dict[str, Any] = {**output} if is_mapping(output) else {}
        key = next((key for key in self._answer_keys() if has(own, key)), "answer")
        if response.answer != response.generated:
            kept = {*QUESTION_KEYS, *CHUNK_KEYS, self.capture.chunks} - {key}
            own = {name: value for name, value in own.items() if name in kept}
        own.setdefault(key, response.answer)
        return {**own, "response": response}

    def _answer_keys(self) -> Sequence[str]:
        selector = self.capture.answer
        return ANSWER_KEYS if selector is None else (selector,) if isinstance(selector, str) else ()

    def with_fallbacks(
        self,
        fallbacks: Sequence[Runnable[Any, Any]],
        *,
        exceptions_to_handle: tuple[type[BaseException], ...] = (Exception,),
        exception_key: str | None = None,
    ) -> Fallbacks:
        """Try other Runnables if this one raises: with the policy `Raise()`, also if its answer isn't grounded."""
        return Fallbacks(
            runnable=self,
            fallbacks=fallbacks,
            exceptions_to_handle=exceptions_to_handle,
            exception_key=exception_key,
        )
