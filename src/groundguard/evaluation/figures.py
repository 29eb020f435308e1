"""From the results of a run to the numbers of its panel: each with n, an interval and its unscored items apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean

from groundguard.evaluation.golden.items import Want
from groundguard.evaluation.noise import flip_rate, spread
from groundguard.evaluation.panel.base import ANSWER_RELEVANCY, CONTEXT_PRECISION, CONTEXT_RECALL
from groundguard.evaluation.results import Figure, ItemResult, Run, Score
from groundguard.evaluation.statistics import intervals

PIPELINE_FAILED = "pipeline failed"
"""Why an item is unscored whose pipeline raised."""

NOT_SCORED = "not scored"
"""Why an item is unscored that has no score under a metric of the run."""

NOT_OF_REFUSALS = frozenset({ANSWER_RELEVANCY, CONTEXT_PRECISION, CONTEXT_RECALL})
"""Metrics that by their definition have nothing to say about an item that wants a refusal."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one metric said about one item, over its repeats.

    Attributes:
        scores: The scores that apply, by repeat.
        seen: In how many repeats the item was run, also those to which the metric does not apply.
    """

    scores: Mapping[int, Score] = field(default_factory=dict[int, Score])
    seen: int = 0

    @property
    def unscored(self) -> str | None:
        """Why the item is unscored: the first reason of any of its repeats; None where all were scored."""
        return next((score.unscored for score in self.scores.values() if score.value is None), None)

    @property
    def value(self) -> float | None:
        """The mean over its repeats; None where one of them is unscored, or none applies."""
        values = [score.value for score in self.scores.values() if score.value is not None]
        return fmean(values) if values and self.unscored is None else None


def figures(run: Run, *, level: float = intervals.LEVEL) -> tuple[Figure, ...]:
    """The numbers of the panel: one a metric, in the order in which the metrics first come up.

    An item counts once, by the mean over its repeats; where one of its repeats could not be scored it is unscored: half
    a measurement is none. Items that the metric doesn't apply to are left out. An item whose pipeline failed is
    unscored under every metric that applies to it.

    Args:
        run: The run; partial ones too.
        level: Level of the intervals.
    """
    return figures_of(run.results, seed=run.pins.seed, level=level)


def figures_of(results: Iterable[ItemResult], *, seed: int = 0, level: float = intervals.LEVEL) -> tuple[Figure, ...]:
    """`figures` of some of the results: of one split, of the items with a tag."""
    return tuple(
        figure(metric, items, seed=seed, level=level) for metric, items in measured(results).items() if _applies(items)
    )


def figure(metric: str, items: Mapping[str, Measured], *, seed: int = 0, level: float = intervals.LEVEL) -> Figure:
    """The number of one metric over items, as `measured` gives them."""
    values = [value for item in items.values() if (value := item.value) is not None]
    reasons = Counter(reason for item in items.values() if (reason := item.unscored) is not None)
    scores = [item.scores for item in items.values()]
    return Figure(
        metric,
        fmean(values) if values else None,
        len(values),
        intervals.of_mean(values, seed=seed, level=level) if values else None,
        reasons.total(),
        dict(sorted(reasons.items())),
        spread(scores),
        flip_rate(scores),
    )


def measured(results: Iterable[ItemResult]) -> dict[str, dict[str, Measured]]:
    """What each metric said about each item, by metric and item id; where a metric does not apply, there is no score.

    A metric that some item was scored under is a metric of every item: where it says nothing, the item is unscored.
    """
    rows = list(results)
    metrics = list(dict.fromkeys(score.metric for row in rows for score in row.scores))
    return {metric: _of_metric(metric, rows) for metric in metrics}


def _of_metric(metric: str, rows: Iterable[ItemResult]) -> dict[str, Measured]:
    scores: defaultdict[str, dict[int, Score]] = defaultdict(dict)
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row.id] += 1
        score = score_of(row, metric)
        if score.applies:
            scores[row.id][row.repeat] = score
    return {item: Measured(scores[item], count) for item, count in seen.items()}


def score_of(row: ItemResult, metric: str) -> Score:
    """What a metric says about a result; where it has no score, it is unscored, or the metric doesn't apply to it."""
    for score in row.scores:
        if score.metric == metric:
            return score
    if row.error is None:
        return Score(metric, None, NOT_SCORED)
    if row.want is Want.REFUSAL and metric in NOT_OF_REFUSALS:
        return Score(metric, None, applies=False)
    return Score(metric, None, PIPELINE_FAILED)


def _applies(items: Mapping[str, Measured]) -> bool:
    return any(item.scores for item in items.values())
