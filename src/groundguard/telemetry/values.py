"""Values that any exporter and backend takes: bounded, and text that is UTF-8 without control characters."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from groundguard.telemetry import names

LIMIT = 16_384
"""Characters of an attribute at most. `groundguard.content.cut` tells of content that was longer, and
`groundguard.content.characters` how long it was."""

_CONTROLS = {point: f"\\u{point:04x}" for point in (*range(32), 127) if chr(point) not in "\t\n\r"}


INTEGERS = range(-(2**63), 2**63)
"""What fits OTLP's integers: one that doesn't would cost the whole batch that it is sent in."""


def attribute(value: Any) -> Any:
    """A value as it is sent: a text bounded and clean, anything else as it is; None for what can't be sent."""
    if isinstance(value, str):
        return clean(value, LIMIT)
    if isinstance(value, int) and value not in INTEGERS:
        return None
    return value if isinstance(value, (bool, int, float)) else tuple(clean(each, LIMIT) for each in value)


def clean(text: str, limit: int) -> str:
    """The first `limit` characters of `text` or fewer; what is no UTF-8, and control characters, as escapes."""
    text = str.__str__(text)[:limit]
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_CONTROLS).encode("utf-8", "backslashreplace").decode("utf-8")[:limit]


def text(name: str, value: str, limit: int = LIMIT) -> dict[str, Any]:
    """An attribute of at most `limit` characters, and the marks of a cut if it was cut."""
    return {name: value[:limit], **_marks(len(value), limit)}


def as_json(name: str, build: Callable[[int], object], longest: int, limit: int = LIMIT) -> dict[str, Any]:
    """An attribute that holds JSON of at most `limit` characters, and the marks of a cut if anything in it was cut.

    Args:
        name: Its name.
        build: From the characters that each text in it may have to the value.
        longest: Characters of the longest text in it.
        limit: Characters of the whole.
    """
    each = limit
    while len(said := json.dumps(build(each), ensure_ascii=False)) > limit and each:
        each //= 2
    return {name: said, **_marks(longest, each)}


def _marks(length: int, limit: int) -> dict[str, Any]:
    return {names.CUT: True, names.CUT_LENGTH: length} if length > limit else {}
