"""The fields of a record: checked at construction, read-only at every depth, and JSON on the way out and in."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from numbers import Real
from traceback import walk_tb
from types import MappingProxyType
from typing import Any, TypeGuard, TypeVar

from groundguard.errors import InputError, told

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

# Checks at construction: a record that exists can be written, read back and trusted.


def exact(text: str) -> str:
    """The characters of a string of whatever class, as a plain string."""
    return str.__str__(text)


def expect(record: object, kinds: Any, *names: str) -> None:
    """Raise `TypeError` unless the named fields hold one of `kinds`; a truth value is no number.

    A string of a class of one's own becomes a plain one: it might say one thing to the judge and another to a reader.
    """
    for name in names:
        value = getattr(record, name)
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise TypeError(_must(record, name, getattr(kinds, "__name__", kinds), value))
        if isinstance(value, str):
            object.__setattr__(record, name, exact(value))


def collect(record: object, kind: type, *names: str) -> None:
    """Make tuples of the named fields; raises `TypeError` unless every element is a `kind`."""
    for name in names:
        value = getattr(record, name)
        items = tuple(value) if _is_many(value) else None
        if items is not None and kind is str:
            items = tuple(exact(item) if isinstance(item, str) else item for item in items)
        if items is None or not all(type(item) is kind for item in items):
            raise TypeError(_must(record, name, f"a tuple of {kind.__name__}", value))
        object.__setattr__(record, name, items)


def _is_many(value: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(value, Iterable) and not isinstance(value, str)


def measure(record: object, *names: str, least: float = -math.inf, most: float = math.inf) -> None:
    """Make finite floats of the named fields that aren't None: numpy's numbers too, no truth values."""
    for name in names:
        value = getattr(record, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(_must(record, name, "a number or None", value))
        number = _as_float(value)
        if not (math.isfinite(number) and least <= number <= most):
            raise ValueError(f"{type(record).__name__}.{name} must be finite and within its range: {least} to {most}")
        object.__setattr__(record, name, number)


def _as_float(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def count(record: object, *names: str) -> None:
    """Raise `ValueError` where one of the named fields counts below 0; None counts nothing."""
    for name in names:
        value = getattr(record, name)
        if value is not None and value < 0:
            raise ValueError(f"{type(record).__name__}.{name} is a count, and never below 0")


def choose(record: object, kind: type[StrEnum], name: str) -> None:
    """Make a member of `kind` of the named field; raises `ValueError` unless it is one, or its value."""
    value = getattr(record, name)
    found = member(kind, value)
    if found is None:
        raise ValueError(_must(record, name, f"one of {', '.join(kind)}", value))
    object.__setattr__(record, name, found)


def member(kind: type[E], value: object) -> E | None:
    """The member of an enumeration that `value` is, or whose value it is; None if there is none."""
    text = exact(value) if isinstance(value, str) else None
    return next((each for each in kind if each.value == text), None)


def _must(record: object, name: str, be: object, value: object) -> str:
    return f"{type(record).__name__}.{name} must be {be}, not {told(value)}"


# JSON. What is wrong with data is told in our own words, never in its own: it may hold a person's text, or a key.


def joined(text: str) -> str:
    """`text` as it comes back from JSON, where the two halves of a surrogate pair are one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether `value` is a mapping, of whatever."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether `value` is a list, of whatever; a tuple is none."""
    return isinstance(value, list)


def is_sequence(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Whether `value` is a list or a tuple, of whatever."""
    return isinstance(value, (list, tuple))


def freeze(value: object) -> object:
    """`value` as a read-only JSON value."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if is_mapping(value):
        return MappingProxyType({str(key): freeze(item) for key, item in value.items()})
    if is_sequence(value):
        return tuple(map(freeze, value))
    return str(value)


def plain(value: object) -> Any:
    """`value` as a JSON value that `json.dumps` takes."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain_fields(value)
    if is_mapping(value):
        return {key: plain(item) for key, item in value.items()}
    if is_sequence(value):
        return [plain(item) for item in value]
    return value.value if isinstance(value, StrEnum) else value


def plain_fields(record: Any) -> dict[str, Any]:
    """Every field of a record as a JSON value, by name."""
    return {f.name: plain(getattr(record, f.name)) for f in fields(record)}


def built(kind: type[T], data: object) -> T:
    """A record from a mapping of its fields; raises `TypeError` unless it has all that it needs, and no other."""
    known = fields(kind)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # every record is a dataclass
    needed = [f.name for f in known if f.default is MISSING and f.default_factory is MISSING]
    return kind(**entries(kind.__name__, data, needed, [f.name for f in known]))


def entries(what: str, data: object, needed: Collection[str], known: Collection[str]) -> dict[str, Any]:
    """The entries of a mapping; raises `TypeError` unless every key that is needed is there, and none is unknown."""
    if not is_mapping(data):
        raise TypeError(f"{what} is read from a mapping, not {told(data)}")
    missing = [name for name in needed if name not in data]
    unknown = sum(key not in known for key in data)
    if missing:
        raise TypeError(f"{what} lacks {', '.join(missing)}")
    if unknown:
        raise TypeError(f"{what} has {unknown} more {'key' if unknown == 1 else 'keys'} than {', '.join(known)}")
    return dict(data)


def listed(entries: Mapping[str, Any], name: str) -> list[Any] | tuple[Any, ...]:
    """The list under a key; raises `TypeError` if it is none."""
    value = entries[name]
    if not is_sequence(value):
        raise TypeError(f"{name} must be a list, not {told(value)}")
    return value


class reading:  # noqa: N801  # a context manager reads as a verb
    """Around the reading of a record: whatever is wrong with the data becomes an `InputError`."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)):
            why = str(error) if _is_ours(error) else type(error).__name__
            raise InputError(f"not {self.what} as to_dict() writes it: {why}") from None


def _is_ours(error: BaseException) -> bool:
    """Whether we raised it ourselves, so that it quotes nothing."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith("groundguard.") and not isinstance(error, RecursionError)
