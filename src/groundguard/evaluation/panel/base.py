"""What a metric is: a flow from an item and its response to a score, total but for wiring mistakes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from groundguard.errors import GroundguardWarning, UsageError, told
from groundguard.evaluation.golden.items import GoldenItem
from groundguard.evaluation.results import Score
from groundguard.flow.drive import arun, run
from groundguard.flow.steps import Call, Flow, OutOfTimeError, as_callee, name_of
from groundguard.judges import Judge, fingerprint
from groundguard.records import Reason, Response, Verdict

FAITHFULNESS = "faithfulness"
ANSWER_RELEVANCY = "answer_relevancy"
CONTEXT_PRECISION = "context_precision"
CONTEXT_RECALL = "context_recall"
REFUSAL = "refusal"

NO_CLAIMS = "no claims"
"""The answer asserts nothing that could be held against the chunks."""
NO_REFERENCE = "no reference"
"""The item has no reference answer, or names no reference chunks, and the metric needs them."""
CHUNKS_WITHOUT_IDS = "chunks without ids"
"""The item names its reference chunks by ids, and the retrieved chunks have none."""
NEEDS_A_MODEL = "needs a model"
"""The metric was given no model, and nothing else can tell."""
REFUSAL_UNKNOWN = "refusal unknown"
"""A refusal is wanted, and nobody could tell whether the answer is one: its words may be right without any support."""
METRIC_ERROR = "metric error"
"""A metric of the user's raised, or returned no score; the kind of the mistake follows."""


class Metric(ABC):
    """Scores one answer: a flow inside, a plain callable outside."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What its scores are called: `faithfulness`, ..."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Covers its definition, and the judge or model that it asks: two metrics with one fingerprint score alike."""

    @abstractmethod
    def flow(self, item: GoldenItem, response: Response[Any]) -> Flow[Score]:
        """The score, as a flow. What a judge could not say leaves it unscored."""

    def __call__(self, item: GoldenItem, response: Response[Any]) -> Score:
        """Score one response, without a deadline."""
        return run(scored(self, item, response))

    async def acall(self, item: GoldenItem, response: Response[Any]) -> Score:
        """Score one response on the running event loop, without a deadline."""
        return await arun(scored(self, item, response))


@dataclass(frozen=True)
class FunctionMetric(Metric):
    """Any callable `(GoldenItem, Response) -> float | bool | Score`, plain or async, as a metric.

    Args:
        function: What to call. Whatever it returns but a number from 0 to 1, a truth value or a `Score`, is a metric
            error: the item is unscored, and the reason tells the type.
        label: What its scores are called; None takes the function's name.
    """

    function: Callable[[GoldenItem, Response[Any]], object]
    label: str | None = None

    def __post_init__(self) -> None:
        as_callee(self.function, "metric", arguments=2)

    @property
    def name(self) -> str:
        """The name given, or the function's."""
        return name_of(self.function) if self.label is None else self.label

    @property
    def fingerprint(self) -> str:
        """Covers the names only: nobody can see inside."""
        return fingerprint("metric", name=self.name, function=name_of(self.function))

    def flow(self, item: GoldenItem, response: Response[Any]) -> Flow[Score]:
        """Call the function."""
        said = yield Call(as_callee(self.function, "metric"), (item, response), retry="asked")
        return _as_score(self.name, said)


def as_metric(metric: object) -> Metric:
    """Recognise a metric; raises `UsageError` if it is none."""
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, Judge):
        raise UsageError("a judge is no metric: write Faithfulness(judge)")
    if isinstance(metric, type) or not callable(metric):
        raise UsageError(
            "a metric is Faithfulness(judge), AnswerRelevancy(model), ... or a function (GoldenItem, Response) ->"
            f" float | bool | Score; got {told(metric)}"
        )
    return FunctionMetric(metric)


def scored(metric: Metric, item: GoldenItem, response: Response[Any]) -> Flow[Score]:
    """Run a metric; always a score, but for wiring mistakes and what must reach the caller, like cancellation."""
    try:
        return _as_score(metric.name, (yield from metric.flow(item, response)))
    except (UsageError, GroundguardWarning):
        raise
    except OutOfTimeError:
        return unscored(metric.name, Reason.JUDGE_TIMEOUT)
    except Exception as error:  # noqa: BLE001  # a failing metric measures nothing, and ends no run
        return unscored(metric.name, f"{METRIC_ERROR}: {type(error).__name__}")


def unscored(metric: str, reason: str, verdict: Verdict | None = None) -> Score:
    """A score without a value, and why."""
    return Score(metric, None, str(reason), verdict=verdict)


def beside(metric: str, verdict: Verdict | None = None) -> Score:
    """The score of a metric that has nothing to say about an item."""
    return Score(metric, None, applies=False, verdict=verdict)


def _as_score(metric: str, said: object) -> Score:
    if isinstance(said, Score):
        return said if said.metric == metric else unscored(metric, f"{METRIC_ERROR}: a score of another metric")
    if not isinstance(said, Real):
        return unscored(metric, f"{METRIC_ERROR}: it returned {told(said)}")
    try:
        return Score(metric, float(said))
    except ValueError:
        return unscored(metric, f"{METRIC_ERROR}: a number outside of 0 to 1")
