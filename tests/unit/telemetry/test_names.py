"""What is emitted and what `docs/telemetry.md` tells of are the same names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from groundguard.telemetry import names

PAGE = Path(__file__).parents[3] / "docs" / "telemetry.md"
VOCABULARIES = ("gen_ai", "groundguard", "rag", "llm", "input", "output", "retrieval", "evaluations", "session", "user")
DOTTED = re.compile(rf"(?:{'|'.join((*VOCABULARIES, 'error', 'openinference'))})(?:\.[a-z0-9_{{}}*]+)+")


def emitted() -> set[str]:
    """Every name in the one file that has them; of a family what its members begin with."""
    found: set[str] = set()
    for name, value in vars(names).items():
        if name.isupper():
            found |= {text.split(".{")[0] for text in strings(value) if DOTTED.fullmatch(text)}
    return found


def strings(value: object) -> Iterator[str]:
    """The strings in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from strings(key)
            yield from strings(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from strings(inner)


def documented() -> set[str]:
    """Every name on the page; `.b` after `a.c` is `a.b`."""
    found: set[str] = set()
    stem = ""
    for text in re.findall(r"`([^`\n]+)`", PAGE.read_text("utf-8")):
        if DOTTED.fullmatch(text):
            stem = text.rpartition(".")[0]
            found.add(text)
        elif re.fullmatch(r"(\.\w+)+", text) and stem:
            found.add(stem + text)
    return found


def test_every_name_that_leaves_the_process_is_documented() -> None:
    told = documented()
    assert [name for name in sorted(emitted()) if not any(f"{each}.".startswith(f"{name}.") for each in told)] == []


def test_every_documented_name_can_leave_the_process() -> None:
    sent = emitted()
    untrue = [name for name in sorted(documented()) if not any(f"{name}.".startswith(f"{each}.") for each in sent)]
    assert untrue == []
