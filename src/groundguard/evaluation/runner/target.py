"""What is under test: a guard, a chain, a function or recorded answers, each as a flow from item to response."""

from __future__ import annotations

import importlib
import sys
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from groundguard.capture import Capture
from groundguard.errors import InputError, UngroundedError, UsageError, told
from groundguard.evaluation.golden.items import GoldenItem
from groundguard.flow.steps import Call, Callee, Flow, as_callee
from groundguard.foreign import Selector
from groundguard.guard import Guard
from groundguard.integrations.llama_index import is_engine
from groundguard.options import takes
from groundguard.records import Response
from groundguard.wrapping import CHAIN_METHODS

Ask: TypeAlias = str | Callable[[GoldenItem], Any]
"""The key of the chain's input (or the parameter of the function) that takes the question, or what makes the input."""

METHODS = (*CHAIN_METHODS, ("query", "aquery"), ("chat", "achat"))


class Target(ABC):
    """Answers items.

    Attributes:
        name: What it is, for people and for the store.
        pipeline: The calls of the user's own that a flow of it makes.
        opaque: Whether a judge is asked inside those calls, where nobody sees it.
        is_async: Whether it works in the async door only.
    """

    name: str
    pipeline: tuple[Callee, ...] = ()
    opaque: bool = False

    @property
    def is_async(self) -> bool:
        """Whether it works in the async door only."""
        return any(callee.plain is None for callee in self.pipeline)

    @property
    @abstractmethod
    def identity(self) -> str:
        """What a store is kept for: results of two targets are not mixed."""

    @abstractmethod
    def flow(self, item: GoldenItem) -> Flow[Response[Any]]:
        """The labelled answer to an item. An exception of the pipeline passes through."""


@dataclass(frozen=True)
class GuardTarget(Target):
    """A guard with a retriever and a generator."""

    guard: Guard
    name: str

    def __post_init__(self) -> None:
        if self.guard.retriever is None or self.guard.generator is None:
            raise UsageError(
                "a guard is evaluated with its retriever and generator: Guard(judge, retriever=..., generator=...); a"
                " chain that it wraps is handed over wrapped: guard.wrap(chain)"
            )

    @property
    def pipeline(self) -> tuple[Callee, ...]:  # type: ignore[override]
        """Retriever and generator."""
        return tuple(each for each in (self.guard.retriever, self.guard.generator) if each is not None)

    @property
    def identity(self) -> str:
        """The guard, and its judge."""
        return f"{self.name} ({self.guard.judge.fingerprint})"

    def flow(self, item: GoldenItem) -> Flow[Response[Any]]:
        """Ask the guard."""
        return _delivered(self.guard.guard_ask(item.question, item.history))


@dataclass(frozen=True)
class ChainTarget(Target):
    """A chain or a function: guarded already, so that it returns a `Response`, or guarded here.

    Attributes:
        callee: What to call.
        guard: Guards it; None where it is guarded already.
        capture: Where the guard finds chunks and answer.
        question: How the question is handed over.
    """

    callee: Callee
    name: str
    guard: Guard | None = None
    capture: Capture = field(default_factory=Capture)
    question: Ask | None = None
    keyword: bool = False

    @property
    def pipeline(self) -> tuple[Callee, ...]:  # type: ignore[override]
        """The chain."""
        return (self.callee,)

    @property
    def opaque(self) -> bool:  # type: ignore[override]
        """Whether the chain has its own guard inside."""
        return self.guard is None

    @property
    def identity(self) -> str:
        """The chain, and the judge that guards it here."""
        return self.name if self.guard is None else f"{self.name} ({self.guard.judge.fingerprint})"

    def flow(self, item: GoldenItem) -> Flow[Response[Any]]:
        """Call the chain, and have its answer judged."""
        if self.guard is None:
            return _delivered(_labelled(self._call(item)))
        return _delivered(self.guard.guard_call(self._call(item), item.question, self.capture))

    def _call(self, item: GoldenItem) -> Call:
        history: dict[str, Any] = {"history": item.history} if item.history and takes(self.callee, "history") else {}
        if self.keyword:
            return Call(self.callee, kwargs={str(self.question): item.question, **history})
        if isinstance(self.question, str):
            return Call(self.callee, ({self.question: item.question},), history)
        return Call(self.callee, (item.question if self.question is None else self.question(item),), history)


def _labelled(call: Call) -> Flow[Response[Any]]:
    said: Any = yield call
    if not _is_response(said):
        raise UsageError(
            f"{call.callee.name} returned {told(said)}, not a Response: guard it (guard.wrap, or the decorator), or"
            " name a judge to guard it with (judge=..., --judge)"
        )
    return said


def _is_response(said: object) -> TypeGuard[Response[Any]]:
    return isinstance(said, Response)


def _delivered(flow: Flow[Response[Any]]) -> Flow[Response[Any]]:
    """The response, whatever the policy does with it."""
    try:
        return (yield from flow)
    except UngroundedError as error:
        return error.response


def as_target(
    thing: Any,
    guard: Guard | None = None,
    *,
    name: str | None = None,
    question: Ask | None = None,
    chunks: Selector | None = None,
    answer: Selector | None = None,
) -> Target:
    """Recognise what is to be evaluated.

    Args:
        thing: A `Target`, a `Guard` with retriever and generator, a chain or function, guarded or not.
        guard: Guards a chain that is not guarded; None where it is.
        name: What to call it.
        question: How the question is handed over.
        chunks: Where the chunks are in the chain's output.
        answer: Where the answer is.

    Raises:
        UsageError: if it is none of these.
    """
    if isinstance(thing, Target):
        return thing
    called = name or getattr(thing, "__qualname__", None) or type(thing).__qualname__
    if isinstance(thing, Guard):
        return GuardTarget(thing, called)
    if not is_guarded(thing) and guard is not None and is_engine(thing):
        engine: Any = thing
        thing = guard.wrap(engine, chunks=chunks, answer=answer)
    callee = as_callee(thing, "target", METHODS)
    keyword = isinstance(question, str) and not any(hasattr(thing, first) for first, _ in METHODS)
    capture = Capture(chunks=chunks, answer=answer)
    return ChainTarget(callee, called, None if is_guarded(thing) else guard, capture, question, keyword)


def is_guarded(thing: object) -> bool:
    """Whether it says that it returns a `Response`: what a guard has wrapped, and functions annotated so."""
    returns = getattr(thing, "__annotations__", {}).get("return")
    if returns is Response or str(returns).partition("[")[0].rpartition(".")[2] == "Response":
        return True
    return type(thing).__module__.startswith("groundguard.") and type(thing).__name__.startswith("Guarded")


def resolve(spec: str) -> Any:
    """The object that `module:object` names; modules of the working folder are found too.

    Raises:
        InputError: if there is no such module, it can't be imported, or holds nothing of that name.
    """
    module, colon, path = spec.partition(":")
    if not (module and colon and path):
        raise InputError(f"a target is named as module:object, such as app:chain; got {spec!r}")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    found = _imported(module, spec)
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(f"{module} has no {path!r}: {spec!r} names module:object")
        found = getattr(found, part)
    return found


def _imported(module: str, spec: str) -> Any:
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as error:  # whatever a module does when it is imported
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{module}.".startswith(f"{missing}."):
            told = f"there is no module {module!r} here: {spec!r} names module:object, of this folder or installed"
        else:
            told = f"{module!r} can't be imported: {type(error).__name__}: {error} ({_place(error)})"
        raise InputError(told) from error


def _place(error: BaseException) -> str:
    """Where an error was raised: file and line."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    frame = [each for each in frames if not each.filename.startswith("<frozen")][-1]
    return f"{frame.filename}, line {frame.lineno}"
