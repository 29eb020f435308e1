"""The nouns of an evaluation. All are frozen values and lose nothing as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from groundguard.evaluation.golden.items import Split, Want
from groundguard.fields import (
    built,
    choose,
    collect,
    count,
    entries,
    expect,
    freeze,
    is_mapping,
    listed,
    measure,
    plain,
    plain_fields,
    reading,
)
from groundguard.records import Response, Timings, Verdict

FORMAT = "groundguard run 1"
"""What stands in a written run, so that a reader knows what it holds."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval for a figure.

    Attributes:
        low: Lower bound.
        high: Upper bound.
        level: How often such an interval holds the true value.
        method: `wilson`, `bootstrap`, ...
    """

    low: float
    high: float
    level: float = 0.95
    method: str = "wilson"

    def __post_init__(self) -> None:
        measure(self, "low", "high")
        measure(self, "level", least=0, most=1)
        expect(self, str, "method")


@dataclass(frozen=True, slots=True)
class Score:
    """What one metric says about one answer.

    Attributes:
        metric: `faithfulness`, `answer_relevancy`, `context_precision`, `context_recall`, `refusal`, ...
        value: From 0 to 1; None where it could not be scored.
        unscored: Why not: a reason of the judge's, or `no reference`, `no claims`, ...; None where it was.
        applies: False where the metric has nothing to say about this item by its own definition (relevancy of a refusal
            that was wanted): such a score is left out, not counted as unscored.
        verdict: What the judge said, claims included, where a judge was asked.
    """

    metric: str
    value: float | None
    unscored: str | None = None
    applies: bool = True
    verdict: Verdict | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        expect(self, str, "metric")
        expect(self, str | None, "unscored")
        expect(self, bool, "applies")
        expect(self, Verdict | None, "verdict")
        measure(self, "value", least=0, most=1)
        if self.applies and (self.value is None) != (self.unscored is not None):
            raise ValueError("a score has a value, or a reason why it has none")


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What became of one item in one repeat.

    Attributes:
        id: The item's id.
        repeat: Which repeat, from 0.
        question: The question.
        response: The labelled response; None where the pipeline failed.
        error: Class name of the pipeline's exception, where it failed; such an item is unscored under every metric
            that applies to it.
        scores: One a metric.
        refused: Whether the answer declined to answer; None where nobody asked.
        want: What the item wants.
        split: The item's split.
        tags: The item's tags.
        reference: The item's reference answer.
        chunk_ids: Ids of its reference chunks.
    """

    id: str
    repeat: int
    question: str = field(repr=False)
    response: Response[Any] | None = field(default=None, repr=False)
    error: str | None = None
    scores: tuple[Score, ...] = ()
    refused: bool | None = None
    want: Want = Want.ANSWER
    split: Split | None = None
    tags: tuple[str, ...] = ()
    reference: str | None = field(default=None, repr=False)
    chunk_ids: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        expect(self, str, "id", "question")
        expect(self, int, "repeat")
        count(self, "repeat")
        expect(self, str | None, "error", "reference")
        collect(self, Score, "scores")
        collect(self, str, "tags", "chunk_ids")
        choose(self, Want, "want")
        if self.split is not None:
            choose(self, Split, "split")

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values, without the response's `output`."""
        written = {f.name: plain(getattr(self, f.name)) for f in fields(self) if f.name != "response"}
        return written | {"response": None if self.response is None else self.response.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ItemResult:
        """The result back from `to_dict()`; raises `InputError` on anything else."""
        with reading("a result"):
            names = [f.name for f in fields(cls)]
            values = entries("ItemResult", data, names, names)
            values["scores"] = tuple(_score(score) for score in listed(values, "scores"))
            if values["response"] is not None:
                values["response"] = Response.from_dict(values["response"])
            return cls(**values)

    def timeless(self) -> ItemResult:
        """The result without the seconds that anything took: what two runs of the same thing have in common."""
        scores = tuple(replace(score, verdict=_timeless(score.verdict)) for score in self.scores)
        return replace(self, response=None if self.response is None else timeless(self.response), scores=scores)


def timeless(response: Response[Any]) -> Response[Any]:
    """A response without the seconds that anything took, and without its `output`."""
    attempts = tuple(replace(each, verdict=_timeless(each.verdict)) for each in response.attempts)
    verdict = _timeless(response.verdict)
    return replace(response, timings=Timings(), verdict=verdict, attempts=attempts, output=None)


def _score(data: Any) -> Score:
    if is_mapping(data) and data.get("verdict") is not None:
        return built(Score, {**data, "verdict": Verdict.from_dict(data["verdict"])})
    return built(Score, data)


def _timeless(verdict: Verdict | None) -> Verdict | None:
    if verdict is None:
        return None
    return replace(verdict, seconds=None, members=tuple(filter(None, map(_timeless, verdict.members))))


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of the panel over many items.

    Attributes:
        metric: Which metric.
        value: The mean over the scored items; None where nothing was scored.
        n: How many items were scored (with repeats, an item counts once, by its mean).
        interval: Its interval over items; None where nothing was scored.
        unscored: How many items the metric applies to and could not be scored.
        reasons: Why not, and how often each.
        spread: Standard deviation of the figure over repeats; None without repeats.
        flip_rate: Share of items whose label changed between repeats; None without repeats.
    """

    metric: str
    value: float | None
    n: int
    interval: Interval | None = None
    unscored: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    spread: float | None = None
    flip_rate: float | None = None

    def __post_init__(self) -> None:
        expect(self, str, "metric")
        expect(self, int, "n", "unscored")
        count(self, "n", "unscored")
        expect(self, Interval | None, "interval")
        measure(self, "value", "flip_rate", least=0, most=1)
        measure(self, "spread", least=0)
        object.__setattr__(self, "reasons", freeze(self.reasons))


@dataclass(frozen=True, slots=True)
class Pins:
    """What a run was made with: two runs are alike when their pins are.

    Attributes:
        dataset: Name of the golden set.
        version: Its version.
        content_hash: Its content hash.
        pipeline: Version of the pipeline under test, as the user names it.
        model: Name of the pipeline's model, as the user names it.
        judges: Fingerprint of the judge of each metric, by metric.
        judge_models: The model names that the judges' servers reported, sorted: a floating name is seen here.
        seed: Seed of everything random.
        repeats: How often each item was run.
        library: Version of groundguard.
    """

    dataset: str
    version: str
    content_hash: str
    pipeline: str | None = None
    model: str | None = None
    judges: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    judge_models: tuple[str, ...] = ()
    seed: int = 0
    repeats: int = 1
    library: str = ""

    def __post_init__(self) -> None:
        expect(self, str, "dataset", "version", "content_hash", "library")
        expect(self, str | None, "pipeline", "model")
        expect(self, int, "seed", "repeats")
        count(self, "repeats")
        collect(self, str, "judge_models")
        object.__setattr__(self, "judges", freeze(self.judges))


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a golden set.

    Attributes:
        pins: What it was made with.
        results: One an item and repeat, by item in the order of the set, then by repeat.
        expected: How many results a complete run has.
        started: When it began, ISO 8601 in UTC.
        calls: Calls of models that it took.
        input_tokens: Tokens that the judges' servers reported; None where they reported none.
        output_tokens: Likewise.
        cost: Money, in the unit of the prices given; None where no price was given or tokens were not reported.
        stopped: Why it is not complete: `interrupted`, `budget`, ...; None where it is.
        silent: How many results asked a model whose server reported no tokens, or not all: where there are any, the
            tokens above are a lower bound.
    """

    pins: Pins
    results: tuple[ItemResult, ...] = field(repr=False)
    expected: int
    started: str
    calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    stopped: str | None = None
    silent: int = 0

    def __post_init__(self) -> None:
        expect(self, Pins, "pins")
        collect(self, ItemResult, "results")
        expect(self, int, "expected", "calls", "silent")
        expect(self, int | None, "input_tokens", "output_tokens")
        count(self, "expected", "calls", "silent", "input_tokens", "output_tokens")
        expect(self, str, "started")
        expect(self, str | None, "stopped")
        measure(self, "cost", least=0)

    @property
    def is_complete(self) -> bool:
        """Whether every item has its result, in every repeat."""
        return len(self.results) == self.expected

    def head(self) -> dict[str, Any]:
        """Everything but the results, as JSON values."""
        written = {f.name: plain(getattr(self, f.name)) for f in fields(self) if f.name not in {"results", "pins"}}
        return {"format": FORMAT, "pins": plain_fields(self.pins), **written}

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON values; nothing is lost but the responses' `output`."""
        return {**self.head(), "results": [result.to_dict() for result in self.results]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Run:
        """The run back from `to_dict()`; raises `InputError` on anything else."""
        with reading("a run"):
            names = [f.name for f in fields(cls)]
            values = entries("Run", data, ("format", *names), ("format", *names))
            if values.pop("format") != FORMAT:
                raise ValueError(f"the format is not {FORMAT!r}")
            values["pins"] = built(Pins, values["pins"])
            values["results"] = tuple(ItemResult.from_dict(result) for result in listed(values, "results"))
            return cls(**values)

    def lines(self) -> Iterator[str]:
        """The run as JSON in ASCII, line by line: the head, then one result a line. Together they are one document."""
        head = _json(self.head())
        yield head[:-1] + ', "results": ['
        last = len(self.results) - 1
        for place, result in enumerate(self.results):
            yield _json(result.to_dict()) + ("," if place < last else "")
        yield "]}"

    def canonical(self) -> bytes:
        """The run as bytes without anything that clocks have shaped: when it began, and what took how long.

        A run that was interrupted and resumed has the same ones as a run that was not.
        """
        timeless = replace(self, started="", results=tuple(result.timeless() for result in self.results))
        return "\n".join(timeless.lines()).encode("ascii")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, sort_keys=True)
