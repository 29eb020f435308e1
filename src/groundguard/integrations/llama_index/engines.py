"""The guard around a query engine or a chat engine: the engine's own methods, each ending in one response."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable, Iterator
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from groundguard.capture import Capture
from groundguard.chunks import freeze
from groundguard.errors import UngroundedError
from groundguard.fields import is_mapping
from groundguard.flow.drive import aiterate, arun, iterate, run
from groundguard.flow.steps import Call, Callee, Flow, as_callee
from groundguard.foreign import find_answer, find_history, find_question, get, has, select
from groundguard.integrations.llama_index.responses import (
    acollected,
    answer_of,
    apieces_of,
    collected,
    collecting,
    pieces_of,
    source_chunks,
)
from groundguard.records import ChunksFrom, Response, Turn
from groundguard.wrapping import Paths

Pair = tuple[str, str]
"""The names of a plain method and of its async twin."""

QUERY: Pair = ("query", "aquery")
CHAT: Pair = ("chat", "achat")
STREAM_CHAT: Pair = ("stream_chat", "astream_chat")

UNGUARDED = frozenset({"query", "aquery", "chat", "achat", "synthesize", "asynthesize", "repl", "with", "from"})
"""Words in the names of what answers, or makes another engine: a guarded engine hands on none that it doesn't guard."""

HISTORY = "chat_history"


def is_engine(chain: object) -> bool:
    """Whether `chain` has the methods of a query engine or a chat engine, and can't be called itself."""
    return not callable(chain) and any(callable(getattr(chain, name, None)) for name in (*QUERY, *CHAT))


def guard_engine(engine: Any, paths: Paths, capture: Capture) -> GuardedEngine:
    """Put a guard around a query engine or a chat engine.

    Args:
        engine: What retrieves and generates.
        paths: The guard.
        capture: Where to find question, chunks and answer, if not where LlamaIndex puts them.
    """
    kind = GuardedQueryEngine if any(has(engine, name) for name in QUERY) else GuardedChatEngine
    return kind(engine, paths, capture)


@dataclass(frozen=True)
class GuardedEngine:
    """An engine whose every answer is judged and labelled; whatever doesn't answer is the engine's own.

    Attributes:
        engine: The engine itself, unguarded.
        paths: The guard.
        capture: Where to find question, chunks and answer.
    """

    engine: Any
    paths: Paths
    capture: Capture
    whole: ClassVar[Pair]
    pieces: ClassVar[Pair]

    def __getattr__(self, name: str) -> Any:
        if (UNGUARDED & set(name.split("_")) and name != HISTORY) or name.startswith("_"):
            raise AttributeError(f"a guarded engine has no {name!r}; the engine itself, unguarded, is its `engine`")
        return getattr(self.engine, name)

    def stream(self, question: Any, *args: Any, **kwargs: Any) -> Generator[str | Response[Any]]:
        """Ask, and yield the text as it comes and then the response, always.

        An engine that doesn't stream, or found nothing to stream an answer from, yields its text as one piece.

        Raises:
            UsageError: at the first piece, if question or answer can't be found, or the engine is async only.
            UngroundedError: if the policy is to raise.
        """
        call = _Run(as_callee(self.engine, "engine", (self.pieces,)), (question, *args), kwargs, self.capture)
        flow = self._guarded(call.told(), question, call)
        with call.raising(), closing(iterate(flow)) as items:
            yield from call.shown(items)

    async def astream(self, question: Any, *args: Any, **kwargs: Any) -> AsyncGenerator[str | Response[Any]]:
        """`stream` on the running event loop, by the engine's own async method."""
        call = _Run(as_callee(self.engine, "engine", (self.pieces,)), (question, *args), kwargs, self.capture)
        flow = self._guarded(call.atold(), question, call)
        with call.raising():
            async with aclosing(aiterate(flow)) as items:
                async for item in items:
                    for shown in call.shown((item,)):
                        yield shown

    def _flow(self, given: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Flow[Response[Any]]:
        callee = as_callee(self.engine, "engine", (self.whole,))
        own = self.capture
        capture = replace(own, chunks=own.chunks or source_chunks, answer=own.answer or answer_of)
        call = Call(collecting(callee), (given, *args), kwargs)
        question = self._question(given)
        history = yield from self._history(args, kwargs)
        return (yield from self.paths.guard_call(call, question, capture, history))

    def _guarded(self, source: object, given: Any, call: _Run) -> Flow[None]:
        question = self._question(given)
        history = yield from self._history(call.args[1:], call.kwargs)
        yield from self.paths.guard_stream(source, question, call.streaming, history)

    def _history(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Flow[tuple[Turn, ...]]:
        """What was said before: as it is handed over, else as the engine remembers it, which may ask a database."""
        given = args[0] if args else kwargs.get(HISTORY)
        if given is None and isinstance(self, GuardedChatEngine):
            given = yield Call(Callee(get, None, "the engine's history"), (self.engine, HISTORY))
        return find_history({HISTORY: given})

    def _question(self, given: Any) -> str:
        bundled = self.capture.question is None and has(given, "query_str")
        return find_question(given, "query_str" if bundled else self.capture.question)


class GuardedQueryEngine(GuardedEngine):
    """A query engine whose every answer is judged and labelled."""

    whole = QUERY
    pieces = QUERY

    def query(self, str_or_query_bundle: Any, *args: Any, **kwargs: Any) -> Response[Any]:
        """Query the engine and label its answer; an answer that streams is collected.

        Returns:
            The labelled response; `output` is the engine's own.

        Raises:
            UsageError: if question or answer can't be found, or the engine is async only.
            UngroundedError: if the policy is to raise.
        """
        return run(self._flow(str_or_query_bundle, args, kwargs))

    async def aquery(self, str_or_query_bundle: Any, *args: Any, **kwargs: Any) -> Response[Any]:
        """`query` on the running event loop, by the engine's own `aquery`."""
        return await arun(self._flow(str_or_query_bundle, args, kwargs))


class GuardedChatEngine(GuardedEngine):
    """A chat engine whose every answer is judged and labelled; its history stays the engine's own."""

    whole = CHAT
    pieces = STREAM_CHAT

    def chat(self, message: Any, *args: Any, **kwargs: Any) -> Response[Any]:
        """Chat with the engine and label its answer.

        Returns:
            The labelled response; `output` is the engine's own.

        Raises:
            UsageError: if question or answer can't be found, or the engine is async only.
            UngroundedError: if the policy is to raise.
        """
        return run(self._flow(message, args, kwargs))

    async def achat(self, message: Any, *args: Any, **kwargs: Any) -> Response[Any]:
        """`chat` on the running event loop, by the engine's own `achat`."""
        return await arun(self._flow(message, args, kwargs))

    def stream_chat(self, message: Any, *args: Any, **kwargs: Any) -> Generator[str | Response[Any]]:
        """`stream`, under the engine's own name."""
        return self.stream(message, *args, **kwargs)

    def astream_chat(self, message: Any, *args: Any, **kwargs: Any) -> AsyncGenerator[str | Response[Any]]:
        """`astream`, under the engine's own name; nothing is to be awaited before the first piece."""
        return self.astream(message, *args, **kwargs)


@dataclass
class _Run:
    """One streaming call of an engine, and the response that it gave."""

    callee: Callee
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    capture: Capture
    output: Any = None

    @property
    def streaming(self) -> Capture:
        """For the pieces, which are text: the selectors are for the engine's response."""
        return Capture(retriever_events=self.capture.retriever_events)

    def told(self) -> Iterator[Any]:
        """What was found, and then the pieces."""
        self.output = run(_made(Call(self.callee, self.args, self.kwargs)))
        yield self._sources()
        if self.capture.answer is None:
            yield from pieces_of(self.output)
        else:
            yield find_answer(collected(self.output), self.capture.answer)

    async def atold(self) -> AsyncGenerator[Any]:
        """`told` on the running event loop."""
        self.output = await arun(_made(Call(self.callee, self.args, self.kwargs)))
        yield self._sources()
        if self.capture.answer is None:
            async with aclosing(apieces_of(self.output)) as pieces:
                async for piece in pieces:
                    yield piece
        else:
            yield find_answer(await acollected(self.output), self.capture.answer)

    def _sources(self) -> dict[str, Any]:
        named = self.capture.chunks
        found = source_chunks(self.output) if named is None else select(self.output, named, "chunks", "output")
        return {"source_nodes": freeze(found)}

    def shown(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items that are for the consumer: not the sources, which were for the guard."""
        for item in items:
            if not is_mapping(item):
                yield self._finished(item) if isinstance(item, Response) else item  # pyright: ignore[reportUnknownArgumentType]

    @contextmanager
    def raising(self) -> Generator[None]:
        """Around the stream: the response of a policy's error is finished too."""
        try:
            yield
        except UngroundedError as error:
            error.response = self._finished(error.response)
            raise

    def _finished(self, response: Response[Any]) -> Response[Any]:
        """A response with the engine's own as its output."""
        return replace(response, output=self.output, chunks_from=ChunksFrom.OUTPUT)


def _made(call: Call) -> Flow[Any]:
    return (yield call)
