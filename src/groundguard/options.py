"""What a guard was given, checked: a wiring mistake is told at once, with what to do."""

from __future__ import annotations

import inspect

from groundguard.errors import UsageError, told
from groundguard.fields import exact
from groundguard.flow.steps import Callee, as_callee


def callee(
    thing: object,
    role: str,
    methods: tuple[tuple[str, str], ...] = (),
    *,
    arguments: int,
    optional: tuple[str, ...] = (),
) -> Callee | None:
    """Something to call with so many arguments, or None."""
    if thing is None or isinstance(thing, Callee):
        return thing
    return as_callee(thing, role, methods, arguments=arguments, optional=optional)


def needed(callee: Callee | None, role: str) -> Callee:
    """The retriever or generator that `ask` can't do without."""
    if callee is None:
        raise UsageError(
            f"`ask` or `stream` needs a {role}: Guard(judge, retriever=..., generator=...); `check` and `wrap` don't"
        )
    return callee


def takes(callee: Callee, keyword: str, *, unnamed: bool = False) -> bool:
    """Whether something to call takes a keyword: by its name or, if `unnamed` will do, among `**kwargs`."""
    function = callee.plain or callee.coroutine
    try:
        said = inspect.signature(function)  # type: ignore[arg-type]  # a Callee has one of the two
        real = inspect.signature(function, follow_wrapped=False)  # type: ignore[arg-type]  # a Callee has one of the two
    except (TypeError, ValueError):
        return False
    return _takes(said, keyword, unnamed=unnamed) and _takes(real, keyword, unnamed=True)


def _takes(signature: inspect.Signature, keyword: str, *, unnamed: bool) -> bool:
    named = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    return any(
        (each.name == keyword and each.kind in named) or (unnamed and each.kind is inspect.Parameter.VAR_KEYWORD)
        for each in signature.parameters.values()
    )


def can_regenerate(generator: Callee | None) -> None:
    """Raise `UsageError` unless there is a generator that can be told what was wrong with its last answer."""
    if generator is None:
        raise UsageError(
            "Regenerate needs the guard's own generator: Guard(judge, retriever=..., generator=...); hand over policy"
            " and generator together"
        )
    if not takes(generator, "feedback", unnamed=True):
        raise UsageError(
            f"Regenerate needs a generator with a keyword `feedback`, and {generator.name} has none: write"
            " def generate(question, chunks, *, feedback=None)"
        )


def has_no_generator(door: str, *, regenerates: bool) -> None:
    """Raise `UsageError` if the policy would generate again at a door where the guard's own generator has no part."""
    if regenerates:
        raise UsageError(
            f"Regenerate works with `ask`, `stream` and their async doors only: {door} has no generator to call again;"
            " take another policy there, with_options(policy=...)"
        )


def text(value: object, what: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise UsageError(f"the {what} must be a string, not {type(value).__name__}")
    return exact(value)


def seconds(timeout: object) -> float | None:
    """A timeout: a finite number above 0, or None."""
    number = isinstance(timeout, (int, float)) and not isinstance(timeout, bool)
    if timeout is None or (number and 0 < timeout < float("inf")):  # type: ignore[operator]  # a number
        return timeout  # type: ignore[return-value]  # a number or None
    raise UsageError(
        f"timeout is a number of seconds above 0, or None for no limit; got {timeout if number else told(timeout)}"
    )


def instance(value: object, kinds: tuple[type, ...], rule: str) -> object:
    """An instance of one of `kinds`; `rule` says so in words."""
    if not isinstance(value, kinds):
        raise UsageError(f"{rule}; got {told(value)}")
    return value
