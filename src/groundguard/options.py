"""What a guard was given, checked: a wiring mistake is told at once, with what to do."""

from __future__ import annotations

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
            f"`ask` needs a {role}: Guard(judge, retriever=..., generator=...); `check` and `wrap` need none"
        )
    return callee


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
