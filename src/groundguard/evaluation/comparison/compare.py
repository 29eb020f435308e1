"""Two runs compared, in words: better, worse or can't tell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundguard.errors import UsageError
from groundguard.evaluation.comparison.differing import Difference, Rule, Word, difference
from groundguard.evaluation.comparison.likeness import PinDifference, alike
from groundguard.evaluation.comparison.pairing import Pair, paired
from groundguard.evaluation.results import Pins, Run
from groundguard.evaluation.statistics.intervals import LEVEL
from groundguard.fields import plain_fields


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared.

    Attributes:
        before: Pins of the first run.
        after: Pins of the second.
        differs: The pins in which they differ.
        metrics: One difference a metric that both have.
        slices: One a tag and metric; their intervals are wider, for there are many.
        changes: The pairs whose value changed, those that fell most first.
        only_before: Ids of the items that only the first run has.
        only_after: Ids of those that only the second has.
        edited: Ids of the items that are not the same in both, and so not compared.
        context_changed: Ids of the items whose chunks are not the same in both.
        notes: What a reader should know.
        missing: Metrics that only the first run has: nothing shows that the second is no worse there.
    """

    before: Pins
    after: Pins
    differs: tuple[PinDifference, ...]
    metrics: tuple[Difference, ...]
    slices: tuple[Difference, ...] = ()
    changes: tuple[Pair, ...] = field(default=(), repr=False)
    only_before: tuple[str, ...] = field(default=(), repr=False)
    only_after: tuple[str, ...] = field(default=(), repr=False)
    edited: tuple[str, ...] = field(default=(), repr=False)
    context_changed: tuple[str, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def word(self) -> Word:
        """Worse if any metric is; else better if any is; else can't tell."""
        words = {each.word for each in self.metrics}
        return next((word for word in (Word.WORSE, Word.BETTER) if word in words), Word.CANT_TELL)

    @property
    def no_worse(self) -> bool | None:
        """Whether every metric is shown to be no worse than by the margin; None where no margin was given.

        A metric that neither run measured doesn't count.
        """
        shown_so = [each.no_worse for each in self.metrics if each.no_worse is not None]
        return all(shown_so) and not self.missing if shown_so else None

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON values."""
        told = {"metrics": self.metrics, "slices": self.slices}
        written = {name: [each.to_dict() for each in them] for name, them in told.items()}
        return {"word": self.word.value, "no_worse": self.no_worse, **plain_fields(self), **written}


def compare(
    before: Run, after: Run, *, allow: Collection[str] = (), margin: float | None = None, level: float = LEVEL
) -> Comparison:
    """Compare two runs item by item; an item's value is its mean over repeats.

    Where every value is 0 or 1, McNemar's exact test decides; else the paired bootstrap's interval does, and nothing
    does below 10 pairs, or where fewer of them changed than a sign test could go by (6).
    Slices by tag are held to a stricter level, so that all of them together are right as often as one (Bonferroni).

    Args:
        before: The first run.
        after: The second.
        allow: Pins that may differ beside `pipeline` and `model`, the things under test.
        margin: How much worse would not matter; says of each metric whether it is shown to be no worse than that.
        level: Of the intervals and the test.

    Raises:
        UsageError: if the runs differ in more; says in which pins. If they have no item in common, or a number is not
            what it should be.
    """
    if margin is not None and not 0 <= margin < 1:
        raise UsageError(f"a margin is a small number from 0, such as 0.02; got {margin}")
    differs = alike(before.pins, after.pins, allow)
    sides = paired(before, after)
    if not sides.pairs:
        raise UsageError("the runs have no item in common that is the same in both: there is nothing to compare")
    metrics = tuple(dict.fromkeys(pair.metric for pair in sides.pairs))
    tags = tuple(dict.fromkeys(tag for pair in sides.pairs for tag in pair.tags))
    rule = Rule(level, margin, before.pins.seed)
    scored = tuple(dict.fromkeys(pair.metric for pair in sides.pairs if pair.change is not None))
    slices = [(metric, tag) for tag in tags for metric in scored]
    strict = rule._replace(level=1 - (1 - level) / max(1, len(slices)))
    return Comparison(
        before.pins,
        after.pins,
        differs,
        tuple(difference(sides.pairs, rule, metric) for metric in metrics),
        tuple(difference(sides.pairs, strict, metric, tag) for metric, tag in slices),
        tuple(sorted((pair for pair in sides.pairs if pair.change), key=lambda pair: (pair.change or 0, pair.id))),
        sides.only_before,
        sides.only_after,
        sides.edited,
        sides.context_changed,
        tuple(_notes(before, after, (*sides.metrics_before, *sides.metrics_after), len(slices))),
        sides.metrics_before,
    )


def _notes(before: Run, after: Run, lonely: Sequence[str], slices: int) -> Iterable[str]:
    for name, run in (("first", before), ("second", after)):
        if run.stopped is not None or len(run.results) < run.expected:
            yield f"the {name} run is not complete: {len(run.results)} of {run.expected} results"
    if lonely:
        yield f"only one of the runs has {', '.join(lonely)}: not compared"
    if slices:
        yield (
            f"{slices} slices were looked at, so each is held to a stricter level; a slice without a word against it is"
            " not thereby shown to be fine"
        )
