"""Flows rehearsed by hand: what they ask for, and how one is put around another."""

from __future__ import annotations

import functools
from contextlib import nullcontext
from typing import Any

import pytest

from groundguard.errors import UsageError
from groundguard.flow.steps import (
    Call,
    Callee,
    Emit,
    Flow,
    OutOfTimeError,
    Pull,
    Sleep,
    as_callee,
    interpose,
    is_coroutine_function,
    scoped,
    within,
)
from support.ids import steady


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def make(result: object) -> Call:
    return Call(Callee(lambda: result, None, "made"))


def two_calls(retried: Callee | None = None) -> Flow[list[Any]]:
    first = yield make("a")
    second = yield make("b")
    return [first, second]


def result_of(flow: Flow[Any], reply: object) -> Any:
    with pytest.raises(StopIteration) as end:
        flow.send(reply)
    return end.value.value


# interpose


def test_interpose_performs_every_step_and_hands_the_result_back() -> None:
    seen = []

    def perform(step: Any) -> Flow[Any]:
        seen.append(step)
        return ((yield step), "performed")

    flow = interpose(two_calls(), perform)
    next(flow)
    flow.send(1)
    assert result_of(flow, 2) == [(1, "performed"), (2, "performed")]
    assert len(seen) == 2


def test_interpose_of_a_flow_that_asks_for_nothing() -> None:
    def nothing() -> Flow[str]:
        return "done"
        yield

    flow = interpose(nothing(), lambda step: (yield step))
    with pytest.raises(StopIteration) as end:
        next(flow)
    assert end.value.value == "done"


def test_an_exception_belongs_to_the_flow_inside_which_may_go_on() -> None:
    def forgiving() -> Flow[str]:
        try:
            yield make(1)
        except ValueError as error:
            caught = error
        return f"{caught}, {yield make(2)}"

    flow = interpose(forgiving(), lambda step: (yield step))
    next(flow)
    flow.throw(ValueError("odd"))
    assert result_of(flow, "on") == "odd, on"


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), GeneratorExit()])
def test_an_exception_that_the_flow_does_not_catch_comes_out_as_it_is(error: BaseException) -> None:
    flow = interpose(interpose(two_calls(), lambda step: (yield step)), lambda step: (yield step))
    next(flow)
    with pytest.raises(type(error)) as raised:
        flow.throw(error)
    assert raised.value is error
    assert error.__cause__ is None
    assert error.__context__ is None


def test_closing_closes_the_flow_inside() -> None:
    closed = []

    def flow() -> Flow[None]:
        try:
            yield make(1)
        finally:
            closed.append(True)

    outer = within(scoped(flow(), nullcontext), 5.0, Clock())
    next(outer)
    outer.close()
    assert closed == [True]


# within


def test_every_call_is_told_what_is_left() -> None:
    clock = Clock()
    flow = within(two_calls(), 10.0, clock)
    assert next(flow).timeout == 10.0
    clock.now += 4.0
    assert flow.send("a").timeout == 6.0


def test_a_call_with_a_shorter_timeout_keeps_it() -> None:
    def flow() -> Flow[None]:
        yield Call(Callee(print, None, "made"), timeout=3.0)
        yield Call(Callee(print, None, "made"), timeout=30.0)

    limited = within(flow(), 10.0, Clock())
    assert next(limited).timeout == 3.0
    assert limited.send(None).timeout == 10.0


def test_when_time_is_up_the_flow_is_told_at_its_next_step() -> None:
    clock = Clock()
    flow = within(two_calls(), 10.0, clock)
    next(flow)
    clock.now += 10.0
    with pytest.raises(OutOfTimeError, match="no result within 10 s"):
        flow.send("a")


def test_a_wait_that_fits_is_begun_and_one_that_does_not_is_not() -> None:
    def sleeper() -> Flow[str]:
        yield Sleep(9.9)
        try:
            yield Sleep(10.0)
        except OutOfTimeError:
            return "not begun"
        return "begun"

    flow = within(sleeper(), 10.0, Clock())
    assert next(flow) == Sleep(9.9)
    assert result_of(flow, None) == "not begun"


def test_without_a_deadline_steps_pass_as_they_are() -> None:
    flow = within(two_calls(), None, Clock())
    assert next(flow).timeout is None
    flow.send("a")
    assert result_of(flow, "b") == ["a", "b"]


# scoped


def test_scopes_are_put_around_calls_and_pulls_only_outermost_first() -> None:
    def outer() -> Any:
        return nullcontext()

    def inner() -> Any:
        return nullcontext()

    def everything() -> Flow[None]:
        yield make(1)
        yield Pull(iter(()))
        yield Emit("piece")
        yield Sleep(0)

    steps = list(scoped(scoped(everything(), inner), outer))
    assert [getattr(step, "scopes", None) for step in steps] == [(outer, inner), (outer, inner), None, None]


# as_callee


def plain(question: str) -> str:
    return question


async def coroutine(question: str) -> str:
    return question


class Plain:
    def __call__(self, question: str) -> str:
        return question

    def method(self, question: str) -> str:
        return question

    async def amethod(self, question: str) -> str:
        return question


class Async:
    async def __call__(self, question: str) -> str:
        return question


PLAIN = [
    plain,
    Plain(),
    Plain().method,
    functools.partial(plain),
    lambda question: coroutine(question),
    str.upper,
    print,
]
ASYNC = [
    coroutine,
    Async(),
    Plain().amethod,
    functools.partial(coroutine),
    functools.partial(functools.partial(coroutine)),
    functools.partial(Async()),
]


@pytest.mark.parametrize("thing", PLAIN, ids=steady)
def test_plain_callables(thing: Any) -> None:
    callee = as_callee(thing, "retriever")
    assert (callee.plain, callee.coroutine) == (thing, None)
    assert not is_coroutine_function(thing)


@pytest.mark.parametrize("thing", ASYNC, ids=steady)
def test_coroutine_callables(thing: Any) -> None:
    callee = as_callee(thing, "retriever")
    assert (callee.plain, callee.coroutine) == (None, thing)
    assert is_coroutine_function(thing)


class Invokes:
    def invoke(self) -> None: ...
    async def ainvoke(self) -> None: ...


class OnlyAsync:
    invoke = None

    async def ainvoke(self) -> None: ...


class Retrieves:
    def retrieve(self) -> None: ...

    def __call__(self) -> None:
        raise AssertionError("the method is meant")


METHODS = (("invoke", "ainvoke"), ("retrieve", "aretrieve"))


def test_objects_with_a_pair_of_methods() -> None:
    both, only, second = Invokes(), OnlyAsync(), Retrieves()
    assert as_callee(both, "retriever", METHODS) == Callee(both.invoke, both.ainvoke, "the retriever Invokes")
    assert as_callee(only, "retriever", METHODS) == Callee(None, only.ainvoke, "the retriever OnlyAsync")
    assert as_callee(second, "retriever", METHODS) == Callee(second.retrieve, None, "the retriever Retrieves")
    assert as_callee(plain, "retriever", METHODS).name == "the retriever plain"


@pytest.mark.parametrize("thing", [None, "name", 7, object(), Plain, int])
def test_whatever_else_is_a_wiring_mistake(thing: object) -> None:
    with pytest.raises(UsageError, match="the retriever must be a function, plain or async, or an object with invoke"):
        as_callee(thing, "retriever", METHODS)


def test_what_is_quoted_of_it_is_short() -> None:
    with pytest.raises(UsageError) as raised:
        as_callee("x" * 1000, "judge")
    assert len(str(raised.value)) < 200


def takes_one(question: str) -> None: ...
def takes_two(question: str, chunks: object) -> None: ...
def takes_history(question: str, chunks: object, *, history: object) -> None: ...
def takes_any(*args: object) -> None: ...


class TakesNone:
    def __call__(self) -> None: ...


@pytest.mark.parametrize(
    ("function", "arguments", "fits"),
    [
        (takes_one, 1, True),
        (takes_one, 2, False),
        (takes_two, 2, True),
        (takes_two, 1, False),
        (functools.partial(takes_two, "q"), 1, True),
        (functools.partial(takes_two, "q"), 2, False),
        (takes_history, 2, True),
        (takes_any, 2, True),
        ("".join, 1, True),
        (str.split, 2, True),
        (max, 2, True),
        (print, 0, True),
        (TakesNone(), 2, True),
    ],
)
def test_a_function_that_takes_other_arguments_is_a_mistake_at_once(
    function: Any, arguments: int, *, fits: bool
) -> None:
    if fits:
        as_callee(function, "generator", arguments=arguments, optional=("history",))
    else:
        with pytest.raises(UsageError, match=f"called with {arguments} positional arguments?; it takes others"):
            as_callee(function, "generator", arguments=arguments, optional=("history",))
