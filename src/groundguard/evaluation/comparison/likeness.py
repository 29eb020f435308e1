"""Whether two runs may be compared: alike in everything but the thing under test."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any

from groundguard.errors import UsageError
from groundguard.evaluation.results import Pins
from groundguard.fields import is_list, plain, plain_fields

UNDER_TEST = frozenset({"pipeline", "model"})
"""The pins that a comparison is about: they may differ."""

PINS = tuple(each.name for each in fields(Pins))


@dataclass(frozen=True, slots=True)
class PinDifference:
    """A pin in which two runs differ.

    Attributes:
        pin: Its name; `judges.METRIC` for one metric's judge.
        before: What the first run has, as JSON.
        after: What the second has.
    """

    pin: str
    before: Any
    after: Any

    def to_dict(self) -> dict[str, Any]:
        """The difference as JSON values."""
        return plain_fields(self)

    def __str__(self) -> str:
        return f"{self.pin}: {_short(self.before)} -> {_short(self.after)}"


def _short(value: object) -> str:
    text = ", ".join(map(str, value)) if is_list(value) else str(value)
    return (text if len(text) <= 40 else f"{text[:12]}...") or "(none)"  # noqa: PLR2004  # a line holds two of them


def pin_differences(before: Pins, after: Pins) -> tuple[PinDifference, ...]:
    """Every pin in which two runs differ; a judge only counts for a metric that both measured."""
    found: list[PinDifference] = []
    for name in PINS:
        one, other = getattr(before, name), getattr(after, name)
        if name == "judges":
            common = [metric for metric in one if metric in other and one[metric] != other[metric]]
            found += [PinDifference(f"judges.{metric}", one[metric], other[metric]) for metric in common]
        elif one != other:
            found.append(PinDifference(name, plain(one), plain(other)))
    return tuple(found)


def alike(before: Pins, after: Pins, allow: Collection[str] = ()) -> tuple[PinDifference, ...]:
    """Make sure that two runs differ in nothing but the thing under test and what is allowed; returns how they differ.

    Args:
        before: Pins of the first run.
        after: Pins of the second.
        allow: Names of further pins that may differ.

    Raises:
        UsageError: if they differ in more; it names each pin. Or if `allow` names no pin.
    """
    if unknown := sorted(set(allow) - set(PINS)):
        raise UsageError(f"a run has no pin {', '.join(unknown)}; it has {', '.join(PINS)}")
    found = pin_differences(before, after)
    unlike = [each for each in found if each.pin.partition(".")[0] not in {*UNDER_TEST, *allow}]
    if unlike:
        names = dict.fromkeys(each.pin.partition(".")[0] for each in unlike)
        told = "; ".join(map(str, unlike))
        flags = " ".join(f"--allow {name}" for name in names)
        raise UsageError(
            f"the runs differ in more than the thing under test: {told}. Run both alike, or allow it ({flags}) and read"
            " the result with that in mind"
        )
    return found
