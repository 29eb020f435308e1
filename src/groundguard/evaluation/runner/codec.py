"""What an outside call returned, as JSON and back: plain values, our own records, and replies of known libraries.

Nothing is pickled, and reading makes no object but of the classes named here, so that a store from elsewhere can run no
code. What can't be written is not kept: its call is made again after an interruption.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from groundguard.evaluation.results import timeless
from groundguard.fields import built, is_list, is_mapping, plain_fields
from groundguard.flow.steps import Call
from groundguard.models import Reply
from groundguard.records import Chunk, Response, Turn, Usage, Verdict

FOREIGN = ("openai.types.", "langchain_core.messages.", "langchain_core.documents.")
"""Modules whose pydantic records may be written and read back."""

_KIND, _VALUE = "$", "value"


class UnwritableError(Exception):
    """A value that has no JSON to come back from."""


def written(value: object) -> str:
    """`value` as one line of JSON.

    Raises:
        UnwritableError: if it can't be read back as it is.
    """
    try:
        return json.dumps(_encoded(value), ensure_ascii=True, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise UnwritableError(type(error).__name__) from error


def read(text: str) -> Any:
    """The value back from `written`."""
    return _decoded(json.loads(text))


def digest(call: Call) -> str | None:
    """What is asked of whom, as a short hash: two calls with one digest ask the same; None where nobody can tell."""
    try:
        named = {key: _stable(value) for key, value in call.kwargs.items()}
        asked = written([call.callee.name, *map(_stable, call.args), named])
    except UnwritableError:
        return None
    return hashlib.sha256(asked.encode("ascii")).hexdigest()[:32]


def _stable(value: object) -> object:
    """`value` without what clocks have shaped, which is another one every time."""
    return timeless(value) if type(value) is Response else value  # pyright: ignore[reportUnknownArgumentType]


def _encoded(value: Any) -> Any:
    kind = _kind_of(value)
    if value is None or kind in {str, bool, int, float}:
        return value  # a float that is not finite is refused when it is written
    if kind in {list, tuple}:
        inside = [_encoded(each) for each in value]
        return inside if kind is list else _tagged("tuple", inside)
    if is_mapping(value):
        return _mapping(value)
    if is_dataclass(value) and kind.__module__.startswith("groundguard."):
        return _record(value)
    if kind.__module__.startswith(FOREIGN):
        return _foreign(value)
    raise UnwritableError(kind.__name__)


def _kind_of(value: object) -> Any:
    return type(value)


def _tagged(kind: str, value: object) -> dict[str, Any]:
    return {_KIND: kind, _VALUE: value}


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    if not all(type(key) is str for key in value):
        raise UnwritableError("keys")
    return _tagged("dict", {key: _encoded(each) for key, each in value.items()})


def _record(value: Any) -> dict[str, Any]:
    kind = type(value).__name__
    if isinstance(value, Response):
        return _tagged(kind, value.to_dict())
    if isinstance(value, Reply):
        return _tagged(kind, {f.name: _encoded(getattr(value, f.name)) for f in fields(Reply)})
    return _tagged(kind, plain_fields(value))


def _foreign(value: Any) -> dict[str, Any]:
    kind = _kind_of(value)
    data = value.model_dump(mode="json")
    if kind.model_validate(data) != value:
        raise UnwritableError(kind.__name__)
    return _tagged(f"{kind.__module__}:{kind.__qualname__}", data)


def _decoded(value: Any) -> Any:
    if is_list(value):
        return [_decoded(each) for each in value]
    if not is_mapping(value):
        return value
    kind, inside = value[_KIND], value[_VALUE]
    return _READERS[kind](inside) if kind in _READERS else _known(kind, inside)


def _known(kind: Any, data: Any) -> Any:
    module, _, name = kind.partition(":")
    if not module.startswith(FOREIGN):
        raise UnwritableError("an unknown kind")
    return getattr(importlib.import_module(module), name).model_validate(data)


def _read_reply(data: Mapping[str, Any]) -> Reply:
    return Reply(**{key: _decoded(each) for key, each in data.items()})


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "tuple": lambda inside: tuple(map(_decoded, inside)),
    "dict": lambda inside: {key: _decoded(each) for key, each in inside.items()},
    "Chunk": lambda inside: built(Chunk, inside),
    "Turn": lambda inside: built(Turn, inside),
    "Usage": lambda inside: built(Usage, inside),
    "Verdict": Verdict.from_dict,
    "Response": Response.from_dict,
    "Reply": _read_reply,
}
