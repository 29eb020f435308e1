"""What LangChain's retrievers report: the fourth way to find a chain's chunks."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook

from groundguard.capture import Recorder, current_recorder, record_event
from groundguard.contextual import holding


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
    with holding(_listener, recorder.listener if recorder else None), holding(_retrieving, None):
        yield
