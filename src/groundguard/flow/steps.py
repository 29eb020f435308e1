"""What a flow may ask for, and how one flow is put around another.

A flow is a generator that yields what it needs done, receives the result, and returns its answer. It never blocks,
awaits, starts a thread or reads a clock that it was not handed, so that one description serves both doors. The
precedents are httpx's auth flows and psycopg's generators.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar

from groundguard.errors import UsageError, told

T = TypeVar("T")

YEAR = 31_536_000.0
"""Seconds. No wait is longer: threads and sockets can't be told much more."""

Scope: TypeAlias = Callable[[], AbstractContextManager[Any]]
"""Entered around each outside call of a flow, never across an `Emit`."""


class OutOfTimeError(Exception):
    """The deadline of a flow is over, or a wait would outlast it."""


class TooManyAbandonedError(Exception):
    """So many calls hang in abandoned threads that no further one is started."""


@dataclass(frozen=True, slots=True)
class Callee:
    """Something of the user's that can be called, in one door or in both.

    Attributes:
        plain: A plain function; None if there is only an async one.
        coroutine: A coroutine function; None if there is only a plain one.
        name: For error messages.
    """

    plain: Callable[..., Any] | None
    coroutine: Callable[..., Any] | None
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """Call the user's code and receive what it returns.

    Attributes:
        callee: What to call.
        args: Positional arguments.
        kwargs: Keyword arguments.
        retry: Whether a `Retry` applies: `never`, only when `asked` for, or by `default`.
        timeout: Seconds after which to give up on it; None waits for ever.
        timeout_keyword: Name of the keyword under which the callee wants to be told `timeout`.
        scopes: Context managers to enter around the call, outermost first.
    """

    callee: Callee
    args: tuple[Any, ...] = field(default=(), repr=False)
    kwargs: Mapping[str, Any] = field(repr=False, default_factory=dict[str, Any])
    retry: Literal["never", "asked", "default"] = "never"
    timeout: float | None = None
    timeout_keyword: str | None = None
    scopes: tuple[Scope, ...] = ()


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Pull:
    """Take the next piece of an iterator or async iterator; receives `END` when there is none.

    The driver closes every source that was pulled from, however the flow ends. Under the async one a plain iterator is
    pulled in threads, all with one copy of the context, so that it doesn't block the loop.
    """

    source: Any
    scopes: tuple[Scope, ...] = ()


@dataclass(frozen=True, slots=True)
class Emit:
    """Hand one piece to the consumer."""

    piece: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class Together:
    """Run several flows side by side and receive their results, in order.

    The first exception among them ends the others. They emit nothing.

    Attributes:
        flows: What to run.
        limit: How many at once, at most; at least 1.
    """

    flows: tuple[Flow[Any], ...] = field(repr=False)
    limit: int = 16

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise UsageError(f"at least one flow runs at once, not {self.limit}")


@dataclass(frozen=True, slots=True)
class Start:
    """Begin a flow beside this one and receive a handle of it at once; `Finished` asks for its result.

    One that is still under way when this flow ends is given up. It emits nothing.
    """

    flow: Flow[Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Finished:
    """Receive the result of a started flow, or the exception that ended it.

    Attributes:
        handle: What its `Start` received.
        wait: Whether to wait for its end; otherwise `PENDING` is received for one that is still under way.
    """

    handle: Any = field(repr=False)
    wait: bool


@dataclass(frozen=True, slots=True)
class ModelCall:
    """Run a flow that asks a model once, with whatever retries and waits that takes, and receive its result.

    A step of its own, so that whoever watches can see the call as one.

    Attributes:
        flow: Asks the model.
        request: What is asked of which model, a `models.base.Request`.
    """

    flow: Flow[Any] = field(repr=False)
    request: Any = field(repr=False)


END: Any = object()
"""What a `Pull` receives from an exhausted source."""

PENDING: Any = object()
"""What a `Finished` that doesn't wait receives for a flow that is still under way."""

Step: TypeAlias = Call | Sleep | Pull | Emit | Together | Start | Finished | ModelCall
Flow: TypeAlias = Generator[Step, Any, T]


def interpose(flow: Flow[T], perform: Callable[[Step], Flow[Any]]) -> Flow[T]:
    """Run `flow`, but let `perform` carry out each of its steps, and of the flows inside of them.

    A `ModelCall` is carried out by `perform` as a whole too; flows to run together or to start are not.
    """
    try:
        step = next(flow)
        while True:
            try:
                if isinstance(step, Together):
                    inside = tuple(interpose(each, perform) for each in step.flows)
                    result = yield replace(step, flows=inside)
                elif isinstance(step, Start):
                    result = yield Start(interpose(step.flow, perform))
                elif isinstance(step, ModelCall):
                    result = yield from perform(replace(step, flow=interpose(step.flow, perform)))
                else:
                    result = yield from perform(step)
            except BaseException as error:  # noqa: BLE001  # whatever it is, it belongs to the flow inside
                step = flow.throw(error)
            else:
                step = flow.send(result)
    except StopIteration as end:
        value: T = end.value
        return value


def within(flow: Flow[T], seconds: float | None, clock: Callable[[], float]) -> Flow[T]:
    """Give all calls and waits of `flow` together so many seconds, then raise `OutOfTimeError` inside it.

    A wait that would outlast the deadline is not begun.
    """
    if seconds is None:
        return (yield from flow)
    ends = clock() + min(seconds, YEAR)

    def perform(step: Step) -> Flow[Any]:
        left = ends - clock()
        if left <= 0 or (isinstance(step, Sleep) and step.seconds >= left):
            raise OutOfTimeError(f"no result within {seconds:g} s")
        if isinstance(step, Call):
            step = replace(step, timeout=left if step.timeout is None else min(left, step.timeout))
        return (yield step)

    return (yield from interpose(flow, perform))


def scoped(flow: Flow[T], *scopes: Scope) -> Flow[T]:
    """Enter `scopes` around every outside call of `flow`."""

    def perform(step: Step) -> Flow[Any]:
        if isinstance(step, (Call, Pull)):
            step = replace(step, scopes=(*scopes, *step.scopes))
        return (yield step)

    return (yield from interpose(flow, perform))


def as_callee(
    thing: object,
    role: str,
    methods: tuple[tuple[str, str], ...] = (),
    *,
    arguments: int | None = None,
    optional: tuple[str, ...] = (),
) -> Callee:
    """Recognise something of the user's that can be called.

    Args:
        thing: A function, a coroutine function, a callable object, or an object with a pair of `methods`.
        role: What it is for, for the error message.
        arguments: With how many positional arguments a function will be called, if that is known.
        optional: Names of arguments that it gets as well if it has them.
        methods: Names of its plain and its async method, as in `("invoke", "ainvoke")`; the first pair that is there.

    Raises:
        UsageError: if it is none of these.
    """
    name = f"the {role} {name_of(thing)}"
    for plain_name, coroutine_name in () if isinstance(thing, type) else methods:
        plain, coroutine = getattr(thing, plain_name, None), getattr(thing, coroutine_name, None)
        if callable(plain) or callable(coroutine):
            return Callee(plain, coroutine, name)
    if isinstance(thing, type) or not callable(thing):
        names = "".join(f", or an object with {first} and {second}" for first, second in methods)
        raise UsageError(f"the {role} must be a function, plain or async{names}; got {told(thing)}")
    if arguments is not None and not _takes(thing, arguments, optional):
        raise UsageError(
            f"{name} is called with {arguments} positional argument{'s' * (arguments > 1)}; it takes others"
        )
    return Callee(None, thing, name) if is_coroutine_function(thing) else Callee(thing, None, name)


def _takes(function: Callable[..., Any], arguments: int, optional: tuple[str, ...]) -> bool:
    if not (inspect.isroutine(function) or type(function) is functools.partial):
        return True  # the signature of a callable object is not always told right
    try:
        signature = inspect.signature(function, follow_wrapped=False)
        signature.bind(*range(arguments), **{name: None for name in optional if name in signature.parameters})
    except TypeError:
        return False
    except ValueError:  # a built-in function that doesn't tell
        return True
    return True


def name_of(thing: object) -> str:
    """The name of a function, or of the class of a callable object."""
    name = getattr(thing, "__qualname__", None)
    return name if isinstance(name, str) else type(thing).__qualname__


def is_coroutine_function(thing: object) -> bool:
    """Whether calling `thing` gives an awaitable: also through partials, methods and callable objects."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    return inspect.iscoroutinefunction(thing) or inspect.iscoroutinefunction(getattr(thing, "__call__", None))  # noqa: B004
