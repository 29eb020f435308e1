"""What changed between two golden sets, item by item. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from groundguard.evaluation.golden.items import GoldenItem, GoldenSet


@dataclass(frozen=True, slots=True)
class Change:
    """An item that stands in both sets and differs.

    Attributes:
        id: Its id.
        fields: What was and what is, as JSON values, by the name of each field that differs.
    """

    id: str
    fields: Mapping[str, tuple[Any, Any]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from one set to another. It is true where anything did; the order of items is nothing.

    Attributes:
        header: What was and what is, by the name of each field of the header that differs.
        added: Ids of items that only the newer set has.
        removed: Ids of items that only the older set has.
        changed: Items that differ.
        unchanged: How many items are the same in both.
    """

    header: Mapping[str, tuple[str | None, str | None]]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Change, ...]
    unchanged: int

    def __bool__(self) -> bool:
        return bool(self.header) or self.has_other_items

    @property
    def has_other_items(self) -> bool:
        """Whether the items differ, and not the header alone."""
        return bool(self.added or self.removed or self.changed)

    @property
    def needs_version(self) -> bool:
        """Whether the items differ under the same name and version."""
        return self.has_other_items and not {"name", "version"} & self.header.keys()


def difference(old: GoldenSet, new: GoldenSet) -> Difference:
    """What changed from `old` to `new`."""
    before, after = ({item.id: item for item in golden.items} for golden in (old, new))
    both = [id_ for id_ in after if id_ in before]
    pairs = ((id_, _fields(before[id_], after[id_])) for id_ in both)
    changed = tuple(Change(id_, differing) for id_, differing in pairs if differing)
    return Difference(
        header={
            name: (getattr(old, name), getattr(new, name))
            for name in ("name", "version", "description")
            if getattr(old, name) != getattr(new, name)
        },
        added=tuple(id_ for id_ in after if id_ not in before),
        removed=tuple(id_ for id_ in before if id_ not in after),
        changed=changed,
        unchanged=len(both) - len(changed),
    )


def _fields(old: GoldenItem, new: GoldenItem) -> dict[str, tuple[Any, Any]]:
    was, is_ = old.to_dict(), new.to_dict()
    return {name: (was[name], is_[name]) for name in was if _written(was[name]) != _written(is_[name])}


def _written(value: object) -> str:
    """A value as the content hash sees it: 1 is not true, and the order of keys is nothing."""
    return json.dumps(value, sort_keys=True)
