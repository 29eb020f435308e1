"""What the lexical judge holds a statement against: the sentences of the chunks, each with its neighbours."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from groundguard.judges.lexical.numbers import Amounts, Token
from groundguard.judges.lexical.tokens import Reading, read
from groundguard.judges.statements import statements

_CANDIDATES = 8
_MOST_LOOKED_AT = 20_000
_GENERAL = 0.3
_EXACT = 1.5

LONGEST = 2_000
"""The most tokens of a statement, or of a sentence that it is held against."""


@dataclass(frozen=True)
class Window:
    """One sentence of a chunk, its neighbours, and the chunk's first sentence.

    Attributes:
        core: The sentence itself.
        around: The other sentences.
        linked: Those of them of which the later one points back or begins with a word of the other. Only they lend.
        chunk: The chunk's position, from 0.
    """

    core: Reading
    around: tuple[Reading, ...]
    linked: tuple[Reading, ...]
    chunk: int

    @cached_property
    def nearby(self) -> frozenset[str]:
        """What all its sentences say."""
        return self.core.bases.union(*(reading.bases for reading in self.around))

    @cached_property
    def lent(self) -> frozenset[str]:
        """What may be borrowed for the sentence."""
        return frozenset[str]().union(*(reading.bases for reading in self.linked))

    @cached_property
    def amounts(self) -> Amounts:
        """The numbers that may be borrowed."""
        return Amounts(token for reading in self.linked for token in reading.numbers)


class Evidence:
    """The chunks, read once and indexed by what their sentences say."""

    def __init__(self, chunks: Iterable[str]) -> None:
        self._readings: list[Reading] = []
        self._homes: list[tuple[int, int, int]] = []
        self._same: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for position, chunk in enumerate(chunks):
            first = len(self._readings)
            for whole in (read(statement.text) for statement in statements(chunk)):
                self._same[whole.key].append(len(self._readings))
                self._readings += whole.pieces(LONGEST)
            last = len(self._readings)
            self._homes += [(position, first, last)] * (last - first)
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, reading in enumerate(self._readings):
            for base in reading.bases:
                self._places[base].append(place)

    def weight(self, token: Token) -> float:
        """How much a token counts: rare words and numbers more, general words less."""
        kind = _GENERAL if token.counts == 1 else _EXACT if token.exact or token.capital else 1.0
        seen = len(self._places.get(token.base, ())) or 0.5
        return kind * math.log(1 + (len(self._readings) + 1) / seen)

    def same(self, statement: Reading) -> list[Window]:
        """The windows whose sentence is the statement, word for word."""
        return [self._window(place) for place in self._same.get(statement.key, ())[:_CANDIDATES]]

    def nearest(self, statement: Reading) -> list[Window]:
        """The windows whose sentence shares most with the statement."""
        tokens = {base: self.weight(token) for token in statement.content for base in _bases(token)}
        shared: dict[int, float] = defaultdict(float)
        looked_at = 0
        for base in sorted(tokens, key=lambda base: (len(self._places.get(base, ())), base)):
            places: Sequence[int] = self._places.get(base, ())
            looked_at += len(places)
            if looked_at > _MOST_LOOKED_AT and shared:
                break
            for place in places[:_MOST_LOOKED_AT]:
                if statement.asks or not self._readings[place].asks:
                    shared[place] += tokens[base]
        best = sorted(shared, key=lambda place: (-shared[place], place))[:_CANDIDATES]
        return [self._window(place) for place in best]

    def _window(self, place: int) -> Window:
        chunk, first, last = self._homes[place]
        near = {first, *range(max(first, place - 1), min(last, place + 2))} - {place}
        linked = {other for other in near if self._linked(*sorted((place, other)))}
        around, links = ([self._readings[other] for other in sorted(some)] for some in (near, linked))
        return Window(self._readings[place], tuple(around), tuple(links), chunk)

    def _linked(self, first: int, second: int) -> bool:
        """Whether two sentences are about the same thing; a name of its own makes the later one about another."""
        earlier, later = self._readings[first], self._readings[second]
        return later.about(earlier) and (later.points_back or later.names <= earlier.bases)


def _bases(token: Token) -> tuple[str, ...]:
    return (token.base, *(f"#{value.normalize():f}" for value in token.values[1:]))
