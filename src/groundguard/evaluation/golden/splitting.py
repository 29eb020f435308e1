"""A golden set in two parts: one to tune on, one held out. Deterministic, balanced, no question on both sides. Pure."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from groundguard.errors import UsageError
from groundguard.evaluation.golden.items import GoldenItem, GoldenSet, Split
from groundguard.evaluation.golden.similar import alike, same

Group = tuple[int, ...]


def split(golden: GoldenSet, *, heldout: float = 0.5, seed: int = 0, force: bool = False) -> GoldenSet:
    """Give every item that has no split one.

    Which items are held out is decided by a hash of seed and id, within each combination of wanted outcome and tags, so
    that both parts look alike. Questions that are the same or nearly the same stay together. The version stays as it
    is: give the set a new one, since its items changed.

    Args:
        golden: The set.
        heldout: The share to hold out, above 0 and below 1.
        seed: Another seed, another choice.
        force: Whether to decide anew on items that have a split.

    Raises:
        UsageError: if the share lies out of its range.
    """
    if not 0 < heldout < 1:
        raise UsageError(f"heldout is the share to hold out, above 0 and below 1, not {heldout}")
    items = tuple(replace(item, split=None) for item in golden.items) if force else golden.items
    sides = _sides(items, heldout, seed)
    return replace(golden, items=tuple(replace(item, split=sides[at]) for at, item in enumerate(items)))


def _sides(items: Sequence[GoldenItem], heldout: float, seed: int) -> dict[int, Split]:
    """A side for every position."""
    sides = {at: item.split for at, item in enumerate(items) if item.split is not None}
    owed = 0.0
    for _, groups in sorted(_strata(items, seed).items()):
        owed += heldout * sum(map(len, groups))
        owed -= sum(sides.get(at) is Split.HELDOUT for group in groups for at in group)
        for group in groups:
            open_ = [at for at in group if at not in sides]
            side = _decided(sides, group) or (Split.HELDOUT if 2 * owed >= len(open_) else Split.TUNE)
            sides |= dict.fromkeys(open_, side)
            owed -= len(open_) if side is Split.HELDOUT else 0
    return sides


def _decided(sides: dict[int, Split], group: Group) -> Split | None:
    """The side on which the whole group must go, since some of it is there."""
    return next((sides[at] for at in group if at in sides), None)


def _strata(items: Sequence[GoldenItem], seed: int) -> dict[tuple[str, ...], list[Group]]:
    """Groups of like questions by what they want and their tags, each stratum in the order of its hashes."""
    order = [hashlib.sha256(f"{seed}:{item.id}".encode("utf-8", "surrogatepass")).digest() for item in items]
    strata: defaultdict[tuple[str, ...], list[Group]] = defaultdict(list)
    for group in sorted(_groups(items), key=lambda group: min(order[at] for at in group)):
        first = items[min(group, key=lambda at: order[at])]
        strata[first.want.value, *sorted(first.tags)].append(group)
    return strata


def _groups(items: Sequence[GoldenItem]) -> list[Group]:
    """Positions whose questions are alike, through any chain of likeness; each position stands in exactly one group."""
    questions = [item.asked for item in items]
    pairs = [(one, other) for one, other, _ in alike(questions)]
    pairs += [(group[0], other) for group in same(questions) for other in group[1:]]
    return _joined(len(items), pairs)


def _joined(count: int, pairs: Iterable[tuple[int, int]]) -> list[Group]:
    leader = list(range(count))
    members = {at: [at] for at in range(count)}
    for one, other in pairs:
        kept, gone = sorted((leader[one], leader[other]))
        if kept != gone:
            for at in members[gone]:
                leader[at] = kept
            members[kept] += members.pop(gone)
    return [tuple(group) for group in members.values()]
