"""Two runs side by side, item by item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groundguard.evaluation.figures import measured
from groundguard.evaluation.golden.items import Want
from groundguard.evaluation.results import ItemResult, Run
from groundguard.fields import plain_fields
from groundguard.records import JUDGE_FAILURES, Status

ANSWERED = "answered"
"""The metric that is the guard's label: 1 where an item that wants an answer was `answered` in most of its repeats."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What one metric says about one item, in the first run and in the second.

    Attributes:
        id: The item's id.
        metric: Which metric.
        before: Its mean over the repeats of the first run; None where it is unscored.
        after: Likewise of the second.
        tags: The item's tags.
        context_changed: Whether the generator saw other chunks in the second run.
    """

    id: str
    metric: str
    before: float | None
    after: float | None
    tags: tuple[str, ...] = ()
    context_changed: bool = False

    @property
    def change(self) -> float | None:
        """`after` minus `before`; None where one of them is unscored."""
        return None if self.before is None or self.after is None else round(self.after - self.before, 9)

    def to_dict(self) -> dict[str, Any]:
        """The pair as JSON values."""
        return plain_fields(self)


@dataclass(frozen=True, slots=True)
class Pairing:
    """The items of two runs.

    Attributes:
        pairs: One a metric and item that both runs have and that is the same in both.
        only_before: Ids of the items that only the first run has.
        only_after: Ids of those that only the second has.
        edited: Ids of the items whose question or reference is not the same in both; they are not compared.
        context_changed: Ids of the compared items whose chunks are not the same in both.
        metrics_before: Metrics that only the first run has.
        metrics_after: Metrics that only the second has.
    """

    pairs: tuple[Pair, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    edited: tuple[str, ...]
    context_changed: tuple[str, ...]
    metrics_before: tuple[str, ...]
    metrics_after: tuple[str, ...]


def paired(before: Run, after: Run) -> Pairing:
    """Pair two runs by item id; the order of their items doesn't matter."""
    one, other = _by_id(before), _by_id(after)
    common = [name for name in one if name in other]
    edited = [name for name in common if _asked(one[name]) != _asked(other[name])]
    same = [name for name in common if name not in set(edited)]
    moved = [name for name in same if _evidence(one[name]) != _evidence(other[name])]
    values = _values(before), _values(after)
    metrics = [metric for metric in values[0] if metric in values[1]]
    return Pairing(
        tuple(_pairs(metrics, same, values, one, set(moved))),
        tuple(name for name in one if name not in other),
        tuple(name for name in other if name not in one),
        tuple(edited),
        tuple(moved),
        tuple(metric for metric in values[0] if metric not in values[1]),
        tuple(metric for metric in values[1] if metric not in values[0]),
    )


Values = Mapping[str, Mapping[str, float | None]]
"""By metric, by item: the mean over repeats; None where it is unscored, and no entry where the metric doesn't apply."""


def _pairs(
    metrics: Iterable[str],
    items: Sequence[str],
    values: tuple[Values, Values],
    rows: Mapping[str, Sequence[ItemResult]],
    moved: set[str],
) -> Iterable[Pair]:
    for metric in metrics:
        one, other = (each[metric] for each in values)
        for name in items:
            if name in one or name in other:
                yield Pair(name, metric, one.get(name), other.get(name), rows[name][0].tags, name in moved)


def _values(run: Run) -> dict[str, dict[str, float | None]]:
    panel = measured(run.results).items()
    scored = {metric: {name: item.value for name, item in items.items() if item.scores} for metric, items in panel}
    return {ANSWERED: _answered(run)} | scored


def _answered(run: Run) -> dict[str, float | None]:
    wanted = {name: rows for name, rows in _by_id(run).items() if rows[0].want is Want.ANSWER}
    return {name: _label(rows) for name, rows in wanted.items()}


def _label(rows: Sequence[ItemResult]) -> float | None:
    """1 where most repeats were `answered`; None where one has no label, since the pipeline or the judge failed."""
    responses = [row.response for row in rows if row.response is not None]
    if len(responses) < len(rows) or any(response.reason in JUDGE_FAILURES for response in responses):
        return None
    return float(2 * sum(response.status is Status.ANSWERED for response in responses) > len(rows))


def _by_id(run: Run) -> dict[str, list[ItemResult]]:
    rows: defaultdict[str, list[ItemResult]] = defaultdict(list)
    for row in run.results:
        rows[row.id].append(row)
    return rows


def _asked(rows: Sequence[ItemResult]) -> tuple[object, ...]:
    row = rows[0]
    return row.question, row.reference, sorted(row.chunk_ids), row.want


def _evidence(rows: Sequence[ItemResult]) -> list[str]:
    """The chunks that the generator saw in each repeat, in no order of repeats."""
    return sorted("" if row.response is None else row.response.evidence_digest for row in rows)
