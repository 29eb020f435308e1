"""The guard around a function or a chain: the decorator's four kinds, and chains with `invoke` and `ainvoke`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

from groundguard.capture import Capture
from groundguard.errors import UsageError, told
from groundguard.fields import is_sequence
from groundguard.flow.drive import aiterate, arun, iterate, run
from groundguard.flow.steps import Call, Callee, Flow, as_callee, is_coroutine_function
from groundguard.foreign import HISTORY_KEYS, Selector, find_history, find_question
from groundguard.records import Response, Turn
from groundguard.typed import Decorator

CHAIN_METHODS = (("invoke", "ainvoke"),)


class Paths(Protocol):
    """What a guard offers to those who wrap."""

    def guard_call(
        self, call: Call, question: str, capture: Capture, history: tuple[Turn, ...] = ()
    ) -> Flow[Response[Any]]:
        """Make one call of a chain, and judge what it returns."""
        ...

    def guard_stream(
        self, source: object, question: str, capture: Capture, history: tuple[Turn, ...] = ()
    ) -> Flow[None]:
        """Take a stream's pieces, judge them, and emit them and the response."""
        ...


@dataclass(frozen=True)
class Wraps(Decorator):
    """The decorator with selectors of its own."""

    paths: Paths
    capture: Capture

    def _decorate(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        return decorate(fn, self.paths, self.capture)


def decorate(fn: Callable[..., Any], paths: Paths, capture: Capture) -> Callable[..., Any]:
    """Guard a function of any of the four kinds."""
    for outer in (classmethod, staticmethod):
        if isinstance(fn, outer):
            raise UsageError(f"put the guard below @{outer.__name__}, not above it")
    callee = as_callee(fn, "guarded function")
    wrapper = _wrapper(fn, callee, paths, capture, _finder(fn, capture.question))
    functools.update_wrapper(wrapper, fn, updated=("__dict__",) if inspect.isroutine(fn) else ())
    _annotate(wrapper, fn)
    return wrapper


def _annotate(wrapper: Any, fn: Callable[..., Any]) -> None:
    """Say what the wrapper returns, to those who read it at run time, such as FastAPI: not what the function does."""
    returns: Any = Response  # bare: pydantic doesn't ask a parametrised class how it is written
    if _is(inspect.isasyncgenfunction, fn):
        returns = AsyncIterator[Response | Any]  # type: ignore[type-arg]  # pyright: ignore[reportMissingTypeArgument]
    elif _is(inspect.isgeneratorfunction, fn):
        returns = Iterator[Response | Any]  # type: ignore[type-arg]  # pyright: ignore[reportMissingTypeArgument]
    wrapper.__signature__ = inspect.signature(fn).replace(return_annotation=returns)
    wrapper.__annotations__ = {**getattr(wrapper, "__annotations__", {}), "return": returns}


def _wrapper(
    fn: Callable[..., Any],
    callee: Callee,
    paths: Paths,
    capture: Capture,
    asked: Callable[[tuple[Any, ...], dict[str, Any]], tuple[str, tuple[Turn, ...]]],
) -> Callable[..., Any]:
    def guarded(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Flow[Response[Any]]:
        question, history = asked(args, kwargs)
        return paths.guard_call(Call(callee, args, kwargs), question, capture, history)

    def streamed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Flow[None]:
        question, history = asked(args, kwargs)
        return paths.guard_stream(fn(*args, **kwargs), question, capture, history)

    def plain(*args: Any, **kwargs: Any) -> Response[Any]:
        return run(guarded(args, kwargs))

    async def coroutine(*args: Any, **kwargs: Any) -> Response[Any]:
        return await arun(guarded(args, kwargs))

    def generator(*args: Any, **kwargs: Any) -> Iterator[Any]:
        yield from iterate(streamed(args, kwargs))

    async def async_generator(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        async with aclosing(aiterate(streamed(args, kwargs))) as pieces:
            async for piece in pieces:
                yield piece

    if _is(inspect.isasyncgenfunction, fn):
        return async_generator
    if _is(inspect.isgeneratorfunction, fn):
        return generator
    return coroutine if is_coroutine_function(fn) else plain


def _is(kind: Callable[[object], bool], fn: Any) -> bool:
    while isinstance(fn, functools.partial):
        fn = fn.func
    return kind(fn) or kind(getattr(fn, "__call__", None))  # noqa: B004  # the method is asked, not called


def _finder(
    fn: Callable[..., Any], selector: Selector | None
) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[str, tuple[Turn, ...]]]:
    """What finds the question in a function's arguments, and what was said before it."""
    try:
        signature = inspect.signature(fn)
    except ValueError as error:
        raise UsageError(f"{told(fn)} doesn't tell its parameters, so the question can't be found") from error
    parameters = [name for name in signature.parameters if name not in {"self", "cls"}]
    if not parameters:
        raise UsageError(f"{told(fn)} takes no arguments, so there is no question to be found")
    named = selector if isinstance(selector, str) and selector in parameters else None
    usual = [name for name in ("question", "query") if name in parameters]
    parameter = named or (usual or parameters)[0] if selector is None or named else parameters[0]

    def find(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, tuple[Turn, ...]]:
        given = _argument(signature, parameter, args, kwargs)
        question = find_question(given, None if named else selector)
        said = find_history(given)
        return question, said if said or is_sequence(given) else find_history(_named(signature, args, kwargs))

    return find


def _named(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    named = {**kwargs, **dict(zip(signature.parameters, args, strict=False))}
    return {key: named[key] for key in HISTORY_KEYS if key in named}


def _argument(signature: inspect.Signature, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:  # another decorator gives the function arguments that the caller doesn't
        if name in kwargs:
            return kwargs[name]
        place = list(signature.parameters).index(name)
        if place >= len(args):
            raise
        return args[place]
    bound.apply_defaults()
    if signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
        return bound.arguments[name][0] if bound.arguments[name] else kwargs
    return bound.arguments[name]


@dataclass(frozen=True)
class GuardedChain:
    """A chain with `invoke` and `ainvoke`, guarded; each door uses the chain's own."""

    chain: Any
    paths: Paths
    capture: Capture

    def invoke(self, given: Any, *args: Any, **kwargs: Any) -> Response[Any]:
        """Invoke the chain and label its answer."""
        return run(self._flow(given, args, kwargs))

    async def ainvoke(self, given: Any, *args: Any, **kwargs: Any) -> Response[Any]:
        """Invoke the chain on the running loop and label its answer."""
        return await arun(self._flow(given, args, kwargs))

    def _flow(self, given: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Flow[Response[Any]]:
        callee = as_callee(self.chain, "chain", CHAIN_METHODS)
        question, history = find_question(given, self.capture.question), find_history(given)
        return self.paths.guard_call(Call(callee, (given, *args), kwargs), question, self.capture, history)
