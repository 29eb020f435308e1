"""LangChain: a guarded chain that is a Runnable itself, and what its retrievers report."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import (
    AsyncCallbackManagerForChainRun,
    BaseCallbackHandler,
    BaseCallbackManager,
    CallbackManagerForChainRun,
)
from langchain_core.output_parsers import BaseOutputParser
from langchain_core.prompts import BasePromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import patch_config
from langchain_core.runnables.graph import Graph
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langchain_core.tracers.context import register_configure_hook

from groundguard.capture import Capture, Recorder, current_recorder, record_event
from groundguard.errors import UsageError
from groundguard.flow.drive import arun, run
from groundguard.flow.steps import Call, Callee, Flow
from groundguard.foreign import find_question
from groundguard.records import Response
from groundguard.wrapping import Paths

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

    `stream` and `astream` yield one piece, the response, when it is judged.
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
        question = find_question(given, self.capture.question)
        callee = Callee(self.chain.invoke, self.chain.ainvoke, f"the chain {self.chain.get_name()}")
        call = Call(callee, (given, patch_config(config, callbacks=callbacks)), kwargs)
        return self.paths.guard_call(call, question, self.capture)


# What retrievers report.


class _Listener(BaseCallbackHandler):
    """Hands to one recorder what the outermost retrievers of one guarded run returned, in the order they began.

    A retriever inside another is no evidence of its own: the outer one merges, filters or reranks what it found. It is
    known by its parents, or, if the outer one calls it without handing on its callbacks, by the context it runs in.
    Only atomic operations, since LangChain calls from any thread; nothing to clean up: it lives as long as its run.
    """

    run_inline = True

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._places = itertools.count()
        self._outermost: dict[UUID, int] = {}
        self._inside: set[UUID] = set()

    def on_retriever_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002  # LangChain's signature
        query: str,  # noqa: ARG002  # LangChain's signature
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,  # noqa: ARG002  # LangChain's signature
    ) -> None:
        """Notice who is outermost."""
        if parent_run_id not in self._inside and _retrieving.get() not in self._outermost:
            self._outermost[run_id] = next(self._places)
            _retrieving.set(run_id)
        self._inside.add(run_id)

    def on_retriever_end(self, documents: Any, *, run_id: UUID, **kwargs: Any) -> None:  # noqa: ARG002  # LangChain's signature
        """Record what an outermost one returned."""
        place = self._outermost.pop(run_id, None)
        if place is not None and not hasattr(documents, "__next__"):  # an iterator is the chain's to consume
            with suppress(Exception):
                record_event(self._recorder, place, documents)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:  # noqa: ARG002  # LangChain's signature
        """Forget one that failed: it reported nothing."""
        self._outermost.pop(run_id, None)

    def on_chain_start(self, *_: Any, run_id: UUID, parent_run_id: UUID | None = None, **__: Any) -> None:
        """Follow the line of descent."""
        if parent_run_id in self._inside:
            self._inside.add(run_id)

    on_tool_start = on_chain_start
    on_llm_start = on_chain_start
    on_chat_model_start = on_chain_start


_retrieving: ContextVar[UUID | None] = ContextVar("groundguard_retrieving", default=None)
_listener: ContextVar[_Listener | None] = ContextVar("groundguard_listener", default=None)
register_configure_hook(_listener, inheritable=True)


@contextmanager
def observed_retrievers() -> Generator[None]:
    """Have LangChain's retrievers report to the recorder that is active now.

    One listener serves a whole guarded run, however often this is entered: a stream is pulled piece by piece, and its
    inner runs inherit the listener of the first pull, so a second one would hear every retrieval twice.
    """
    recorder = current_recorder()
    if recorder is not None and recorder.listener is None:
        recorder.listener = _Listener(recorder)
    listening = _listener.set(recorder.listener if recorder else None)
    retrieving = _retrieving.set(None)
    try:
        yield
    finally:
        _retrieving.reset(retrieving)
        _listener.reset(listening)
