"""Which questions are alike: the same but for case and punctuation, or sharing most of their words and word pairs.

Near-duplicates are found by Jaccard similarity over shingles (Broder, "On the resemblance and containment of
documents", 1997), exactly and without comparing all pairs: two sets that are alike enough share one of their rarest
shingles (prefix filtering: Chaudhuri, Ganti, Kaushik, "A primitive operator for similarity joins in data cleaning",
2006).
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

Shingle = str | tuple[str, str]

ALIKE = 0.7
"""The least share of words and word pairs that near-duplicates have in common."""

_ROUNDING = 1e-9


def words(text: str) -> list[str]:
    """The words of a text without case and punctuation; of scripts that put no spaces between words, each character."""
    spaced = "".join(_spaced(character) for character in unicodedata.normalize("NFKC", text).casefold())
    return spaced.split()


def _spaced(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Lo":
        return f" {character} "
    return character if category[0] in "LMN" else " "


def same(texts: Sequence[str]) -> list[tuple[int, ...]]:
    """Groups of positions whose texts have the same words in the same order; a text without words is like no other."""
    groups: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        groups[tuple(words(text))].append(at)
    return [tuple(group) for key, group in groups.items() if key and len(group) > 1]


def alike(texts: Sequence[str], least: float = ALIKE) -> Iterator[tuple[int, int, float]]:
    """Pairs of positions whose texts are alike but not the same, and how alike they are, from `least` to 1.

    Two texts with different numbers in them are not alike: a question about 30 days is not one about 60.
    """
    read = [words(text) for text in texts]
    shingles: list[frozenset[Shingle]] = [frozenset((*one, *pairwise(one))) for one in read]
    rarity = Counter[Shingle](shingle for each in shingles for shingle in each)
    numbers = [tuple(_numbers(one)) for one in read]
    for one, other in _candidates(shingles, numbers, rarity, least):
        share = len(shingles[one] & shingles[other]) / len(shingles[one] | shingles[other])
        if share >= least and read[one] != read[other]:
            yield one, other, share


def _candidates(
    shingles: Sequence[frozenset[Shingle]],
    numbers: Sequence[tuple[str, ...]],
    rarity: Mapping[Shingle, int],
    least: float,
) -> Iterator[tuple[int, int]]:
    """Pairs that share one of their rarest shingles and all their numbers; no pair that is alike is left out."""
    holders: defaultdict[tuple[tuple[str, ...], Shingle], list[int]] = defaultdict(list)
    for at, each in enumerate(shingles):
        ordered = sorted(each, key=lambda shingle: (rarity[shingle], repr(shingle)))
        rarest = ordered[: len(ordered) - math.ceil(least * len(ordered) - _ROUNDING) + 1]
        found = {before for shingle in rarest for before in holders[numbers[at], shingle]}
        yield from ((before, at) for before in sorted(found))
        for shingle in rarest:
            holders[numbers[at], shingle].append(at)


def _numbers(read: Sequence[str]) -> list[str]:
    return sorted(word for word in read if any(character.isnumeric() for character in word))
