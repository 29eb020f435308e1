"""The decorator and `wrap` as type checkers see them: for each kind of function, what the guarded one returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, overload

from groundguard.foreign import Selector
from groundguard.records import Response

if TYPE_CHECKING:
    from groundguard.integrations.llama_index import GuardedChatEngine, GuardedQueryEngine

P = ParamSpec("P")
T = TypeVar("T")


class Decorator(ABC):
    """Turns a query function into one that returns a labelled `Response`, or yields one after its pieces."""

    @overload
    def __call__(  # type: ignore[overload-overlap]  # the first that fits wins
        self, fn: Callable[P, AsyncGenerator[T, Any]], /
    ) -> Callable[P, AsyncIterator[T | Response[tuple[T, ...]]]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]  # the first that fits wins
        self, fn: Callable[P, AsyncIterator[T]], /
    ) -> Callable[P, AsyncIterator[T | Response[tuple[T, ...]]]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]  # the first that fits wins
        self, fn: Callable[P, Generator[T, Any, Any]], /
    ) -> Callable[P, Iterator[T | Response[tuple[T, ...]]]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]  # the first that fits wins
        self, fn: Callable[P, Iterator[T]], /
    ) -> Callable[P, Iterator[T | Response[tuple[T, ...]]]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]  # the first that fits wins
        self, fn: Callable[P, Coroutine[Any, Any, T]], /
    ) -> Callable[P, Coroutine[Any, Any, Response[T]]]: ...
    @overload
    def __call__(self, fn: Callable[P, T], /) -> Callable[P, Response[T]]: ...
    def __call__(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Guard a query function: `def`, `async def`, generator or async generator.

        Args:
            fn: Takes a question (its parameter `question` or `query`, else its first), and returns `(answer, chunks)`,
                or an output that names its chunks, or an answer after calling `record_chunks`.

        Returns:
            A function with the same name, docs and parameters.

        Raises:
            UsageError: if it is no function, or none of its parameters can be the question.
        """
        return self._decorate(fn)

    @abstractmethod
    def _decorate(self, fn: Callable[..., Any]) -> Callable[..., Any]: ...


class Selectors(TypedDict, total=False):
    """Where a chain keeps its question, chunks and answer: a key, or a function of its input or output."""

    question: Selector | None
    chunks: Selector | None
    answer: Selector | None


class Invokable(Protocol):
    """Has a method `invoke`: whatever else it can do, it is guarded as a chain."""

    @property
    def invoke(self) -> Any:
        """Its plain door."""
        ...


class AsyncInvokable(Protocol):
    """Has a method `ainvoke`."""

    @property
    def ainvoke(self) -> Any:
        """Its async door."""
        ...


class Queryable(Protocol):
    """Has a method `query`, as LlamaIndex query engines do."""

    @property
    def query(self) -> Any:
        """Its plain door."""
        ...


class Chattable(Protocol):
    """Has a method `chat`, as LlamaIndex chat engines do."""

    @property
    def chat(self) -> Any:
        """Its plain door."""
        ...


class Wrapper(Decorator):
    """A decorator that also guards a chain that exists already, typed by what it is given."""

    @overload
    def wrap(self, chain: Invokable | AsyncInvokable, **selectors: Unpack[Selectors]) -> Any: ...
    @overload
    def wrap(  # type: ignore[overload-overlap]  # the first that fits wins
        self, chain: Callable[P, AsyncGenerator[T, Any]], **selectors: Unpack[Selectors]
    ) -> Callable[P, AsyncIterator[T | Response[tuple[T, ...]]]]: ...
    @overload
    def wrap(  # type: ignore[overload-overlap]  # the first that fits wins
        self, chain: Callable[P, AsyncIterator[T]], **selectors: Unpack[Selectors]
    ) -> Callable[P, AsyncIterator[T | Response[tuple[T, ...]]]]: ...
    @overload
    def wrap(  # type: ignore[overload-overlap]  # the first that fits wins
        self, chain: Callable[P, Generator[T, Any, Any]], **selectors: Unpack[Selectors]
    ) -> Callable[P, Iterator[T | Response[tuple[T, ...]]]]: ...
    @overload
    def wrap(  # type: ignore[overload-overlap]  # the first that fits wins
        self, chain: Callable[P, Iterator[T]], **selectors: Unpack[Selectors]
    ) -> Callable[P, Iterator[T | Response[tuple[T, ...]]]]: ...
    @overload
    def wrap(  # type: ignore[overload-overlap]  # the first that fits wins
        self, chain: Callable[P, Coroutine[Any, Any, T]], **selectors: Unpack[Selectors]
    ) -> Callable[P, Coroutine[Any, Any, Response[T]]]: ...
    @overload
    def wrap(self, chain: Callable[P, T], **selectors: Unpack[Selectors]) -> Callable[P, Response[T]]: ...
    @overload
    def wrap(self, chain: Queryable, **selectors: Unpack[Selectors]) -> GuardedQueryEngine: ...
    @overload
    def wrap(self, chain: Chattable, **selectors: Unpack[Selectors]) -> GuardedChatEngine: ...
    def wrap(
        self,
        chain: Any,
        *,
        question: Selector | None = None,
        chunks: Selector | None = None,
        answer: Selector | None = None,
    ) -> Any:
        """Guard a chain that already exists: Runnable in, Runnable out; callable in, callable out.

        Args:
            chain: A LangChain Runnable, an object with `invoke` and `ainvoke`, a LlamaIndex query engine or chat
                engine, or a function or callable object of any kind.
            question: As for `wraps`; for a chain, a key of its input or a function of it.
            chunks: As for `wraps`.
            answer: As for `wraps`.

        Raises:
            UsageError: if it is no chain, or the policy is to generate again.
        """
        return self._wrap(chain, question, chunks, answer)

    @abstractmethod
    def _wrap(self, chain: Any, question: Selector | None, chunks: Selector | None, answer: Selector | None) -> Any: ...
