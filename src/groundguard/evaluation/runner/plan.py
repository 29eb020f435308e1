"""What there is to do: every item, every repeat, in an order that makes any beginning of it a fair sample."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from groundguard.errors import InputError, UsageError, told
from groundguard.evaluation.golden.items import GoldenItem, GoldenSet
from groundguard.evaluation.results import Pins, Score
from groundguard.evaluation.runner.pins import pins_of
from groundguard.evaluation.runner.store import Key
from groundguard.evaluation.runner.target import Target
from groundguard.fields import plain_fields
from groundguard.flow.steps import Flow
from groundguard.records import Response


class Metrics(Protocol):
    """What a run asks of its panel."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the metrics, in order."""
        ...

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each metric, by its name."""
        ...

    def flow(self, item: GoldenItem, response: Response[Any]) -> Flow[tuple[Score, ...]]:
        """One score a metric, in order."""
        ...


class Task(NamedTuple):
    """One result to make."""

    place: int
    repeat: int
    item: GoldenItem

    @property
    def key(self) -> Key:
        """What the store calls it."""
        return Key(self.item.content_hash, self.repeat)


@dataclass(frozen=True)
class Plan:
    """A run before it begins.

    Attributes:
        golden: The items.
        target: What is under test.
        panel: The metrics.
        repeats: How often each item is run.
        seed: Seed of the order.
        pipeline: Version of the pipeline, as the user names it.
        model: Name of its model, as the user names it.

    Raises:
        InputError: if there is no item: nothing measured is no good news.
        UsageError: if a number is out of range.
    """

    golden: GoldenSet
    target: Target
    panel: Metrics
    repeats: int = 1
    seed: int = 0
    pipeline: str | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        for name, least in (("repeats", 1), ("seed", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                got = value if type(value) is int else told(value)
                raise UsageError(f"{name} is a whole number from {least}; got {got}")
        if not self.golden.items:
            raise InputError(f"{self.golden.name} has no items to run: nothing would be measured")

    @property
    def expected(self) -> int:
        """How many results a complete run has."""
        return len(self.golden.items) * self.repeats

    @property
    def pins(self) -> Pins:
        """The pins, but for what only the replies tell."""
        return pins_of(
            self.golden,
            self.panel.fingerprints,
            pipeline=self.pipeline,
            model=self.model,
            seed=self.seed,
            repeats=self.repeats,
        )

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a store is kept for."""
        pins = plain_fields(self.pins)
        del pins["judge_models"]
        return pins | {"target": self.target.identity}

    def tasks(self) -> Iterator[Task]:
        """Every result to make: one repeat after the other, the items of each shuffled by the seed.

        So what a budget or an interruption leaves is a random sample of the set, and not the top of the file.
        """
        for repeat in range(self.repeats):
            places = list(range(len(self.golden.items)))
            random.Random(f"{self.seed}:{repeat}").shuffle(places)  # noqa: S311  # an order, no secret
            yield from (Task(place, repeat, self.golden.items[place]) for place in places)
