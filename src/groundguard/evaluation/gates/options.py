"""Gates as they are written: in flags and in TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from groundguard.errors import InputError, UsageError, told
from groundguard.evaluation.gates.gates import DEFAULTS, DIGITS, PANEL, Bound, Gate
from groundguard.fields import is_mapping


def parsed(flags: Iterable[str]) -> tuple[Gate, ...]:
    """The gates that flags ask for.

    `faithfulness` is 0.70; `panel` is 0.75 for faithfulness, 0.80 for answer relevancy, 0.70 for context precision and
    0.80 for context recall; `METRIC=0.8` says the value; `METRIC.lower=0.8` wants the lower bound there. A metric named
    by itself goes before the panel's value for it.

    Raises:
        UsageError: if a flag is none of these, or two speak of the same number.
    """
    panel: dict[tuple[str, Bound], Gate] = {}
    own: dict[tuple[str, Bound], Gate] = {}
    for flag in flags:
        name, bound, at = _split(flag)
        if name == "panel":
            panel |= {(metric, bound): Gate(metric, default, bound) for metric, default in PANEL.items()}
        elif (name, bound) in own:
            raise UsageError(f"two gates speak of {name}: keep one")
        else:
            own[name, bound] = Gate(name, at, bound)
    return tuple((panel | own).values())


def _split(flag: str) -> tuple[str, Bound, float]:
    name, sign, text = flag.replace(">=", "=").partition("=")
    metric, bound = _bound(name.strip())
    if not sign and set(name) & set("<>:"):
        raise UsageError(f"a gate is METRIC=VALUE or METRIC>=VALUE, like faithfulness=0.8; got {flag!r}")
    if metric == "panel" and sign:
        raise UsageError("the gate panel has values of its own; name a metric to give it another: faithfulness=0.8")
    return metric, bound, _at(flag, metric, text.strip() if sign else None)


def _bound(name: str) -> tuple[str, Bound]:
    metric = name.removesuffix(".lower")
    return metric, Bound.VALUE if metric == name else Bound.LOWER


def _at(flag: str, metric: str, text: str | None) -> float:
    if text is None:
        if metric == "panel":
            return 0.0
        if metric not in DEFAULTS:
            raise UsageError(f"the gate {flag!r} has no value of its own: write {metric or 'METRIC'}=0.8")
        return DEFAULTS[metric]
    try:
        at = round(float(text), DIGITS)
    except ValueError:
        at = 0.0
    if not metric or not 0 < at <= 1:
        raise UsageError(
            f"a gate is METRIC=VALUE with a value above 0 and up to 1, like faithfulness=0.8; got {flag!r}"
        )
    return at


def from_table(table: object, where: str) -> tuple[Gate, ...]:
    """The gates of a TOML table, as `--gate` has them.

    ```toml
    [gates]
    panel = true
    faithfulness = 0.8
    "context_recall.lower" = 0.75
    ```

    Args:
        table: The table, parsed.
        where: The file and the table's name, for errors.

    Raises:
        InputError: if it holds anything else; says which key.
    """
    if not is_mapping(table):
        raise InputError(f"{where} must be a table of gates, like faithfulness = 0.8, not {told(table)}")
    try:
        gates = parsed(flag for key, value in table.items() for flag in _flag(key, value))
    except UsageError as error:
        raise InputError(f"{where}: {error}") from error
    if not gates:
        raise InputError(f"{where} asks for nothing: name a gate, like faithfulness = 0.8, or leave the file out")
    return gates


def read(path: Path) -> tuple[Gate, ...]:
    """The gates of a TOML file: its table `gates`, or `tool.groundguard.gates`, as `pyproject.toml` has it.

    Raises:
        InputError: if the file can't be read, is no TOML or has no such table; says where.
    """
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path} is not TOML: {error}") from error
    except RecursionError as error:
        raise InputError(f"{path} is nested too deep to be read") from error
    for names in (("gates",), ("tool", "groundguard", "gates")):
        found: object = data
        for name in names:
            found = found.get(name) if is_mapping(found) else None
        if found is not None:
            return from_table(found, f"{path}: [{'.'.join(names)}]")
    raise InputError(f"{path} has no table [gates] and no [tool.groundguard.gates]")


def _flag(key: object, value: object) -> list[str]:
    if not isinstance(key, str):
        raise UsageError(f"a gate's name is a string, not {told(key)}")
    if isinstance(value, bool):
        return [key] if value else []
    if isinstance(value, (int, float)):
        return [f"{key}={value}"]
    raise UsageError(f"{key} must be a number, or true for its default")
