"""The panel: several metrics of one response, side by side."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from groundguard.errors import UsageError, told
from groundguard.evaluation.golden.items import GoldenItem, Want
from groundguard.evaluation.panel.base import (
    FAITHFULNESS,
    REFUSAL,
    REFUSAL_UNKNOWN,
    Metric,
    as_metric,
    beside,
    scored,
    unscored,
)
from groundguard.evaluation.panel.context import ContextPrecision, ContextRecall
from groundguard.evaluation.panel.faithfulness import Faithfulness
from groundguard.evaluation.panel.refusal import Refusal
from groundguard.evaluation.panel.relevancy import AnswerRelevancy
from groundguard.evaluation.results import Score
from groundguard.flow.drive import arun, run
from groundguard.flow.steps import Flow, Together, within
from groundguard.foreign import is_iterable
from groundguard.judges import Claims, FactCheck, Judge
from groundguard.judges.base import Clock
from groundguard.options import seconds
from groundguard.records import Response
from groundguard.retry import Retry, retrying


@dataclass(frozen=True, init=False)
class Panel:
    """Metrics that are asked about one response side by side. A value.

    Each has its own deadline. Whatever a judge could not say, in time or at all, leaves its score unscored; it ends
    nothing else. A refusal that is wanted and given is right whatever a judge of claims makes of its words: there,
    faithfulness is left out; and where `Refusal` could not tell, it is unscored, `refusal unknown`.

    Args:
        metrics: `Metric`s or functions `(GoldenItem, Response) -> float | bool | Score`; no two of one name.
        timeout: Seconds for all calls and waits of one metric; None sets no limit.
        retry: How often each model call is tried; None leaves it to the model.

    Raises:
        UsageError: if there is no metric, something that is none, or a name twice; or an option is out of range.
    """

    metrics: tuple[Metric, ...] = field()
    timeout: float | None = field(default=30.0, kw_only=True)
    retry: Retry | None = field(default=None, kw_only=True)

    def __init__(self, metrics: Iterable[object], *, timeout: float | None = 30.0, retry: Retry | None = None) -> None:
        object.__setattr__(self, "metrics", _checked(metrics))
        object.__setattr__(self, "timeout", seconds(timeout))
        if retry is not None and not isinstance(retry, Retry):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"retry is a Retry(...) or None; got {told(retry)}")
        object.__setattr__(self, "retry", retry)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the metrics, in order."""
        return tuple(metric.name for metric in self.metrics)

    @property
    def fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each metric, by its name."""
        return {metric.name: metric.fingerprint for metric in self.metrics}

    def flow(self, item: GoldenItem, response: Response[Any], clock: Clock = time.monotonic) -> Flow[tuple[Score, ...]]:
        """One score a metric, in order; always, but for wiring mistakes and what must reach the caller."""
        flows = tuple(
            within(retrying(scored(metric, item, response), self.retry), self.timeout, clock) for metric in self.metrics
        )
        scores: tuple[Score, ...] = yield Together(flows)
        return _settled(item, scores)

    def __call__(self, item: GoldenItem, response: Response[Any]) -> tuple[Score, ...]:
        """Score one response."""
        return run(self.flow(item, response))

    async def acall(self, item: GoldenItem, response: Response[Any]) -> tuple[Score, ...]:
        """Score one response on the running event loop."""
        return await arun(self.flow(item, response))


def panel(
    model: object = None,
    judge: object = None,
    *,
    context: Literal["model", "ids"] | None = None,
    constrained: bool | None = None,
    timeout: float | None = 30.0,
    retry: Retry | None = None,
) -> Panel:
    """The five metrics: faithfulness, answer relevancy, context precision, context recall, refusal.

    ```python
    panel("openai:NAME")
    panel(judge=Lexical())
    ```

    The second asks no model and is deterministic: faithfulness is what `Lexical` says, the context metrics go by the
    reference chunks of the items, and answer relevancy and refusal are unscored, `needs a model`.

    Args:
        model: Whom to ask about relevance, context and refusals; None asks nobody.
        judge: The judge of faithfulness; None is `Claims(model)`. `Claims` judges context recall as well.
        context: Whether the context metrics ask the model, or go by the reference chunks of the items and cost nothing;
            None asks the model where there is one.
        constrained: Whether to ask the server to constrain its output by a JSON schema; None does so where it can.
        timeout: Seconds for all calls and waits of one metric; None sets no limit.
        retry: How often each model call is tried; None leaves it to the model.

    Raises:
        UsageError: if there is neither a model nor a judge, or one of them is none, or an option is out of range.
    """
    claims = judge if isinstance(judge, Claims) or model is None else Claims(model, constrained=constrained)
    judge = claims if judge is None else judge
    if judge is None:
        raise UsageError(
            'a panel needs a model, panel("openai:NAME"), or a judge: panel(judge=Lexical()) asks no model'
        )
    by_model = _by_model(context, model)
    metrics = (
        Faithfulness(judge),
        AnswerRelevancy(model, constrained=constrained),
        ContextPrecision(model, constrained=constrained) if by_model else ContextPrecision(),
        ContextRecall(claims if by_model else None),
        Refusal(model, constrained=constrained),
    )
    return Panel(metrics, timeout=timeout, retry=retry)


def panel_of(judge: Judge, *, timeout: float | None = 30.0, retry: Retry | None = None) -> Panel:
    """The five metrics for a judge: where it asks a model, the others ask that too."""
    model = judge.model if isinstance(judge, (FactCheck, Claims)) else None
    return panel(model, judge, timeout=timeout, retry=retry)


def _by_model(context: object, model: object) -> bool:
    if context not in (None, "model", "ids"):
        raise UsageError('context is "model", "ids", or None, which asks the model where there is one')
    if context == "model" and model is None:
        raise UsageError('context="model" needs a model: panel("openai:NAME", context="model")')
    return context != "ids" and model is not None


def _checked(metrics: object) -> tuple[Metric, ...]:
    if not is_iterable(metrics) or isinstance(metrics, str):
        raise UsageError(f"a panel takes its metrics as a list; got {told(metrics)}")
    found = tuple(map(as_metric, metrics))
    names = [metric.name for metric in found]
    if not found:
        raise UsageError("a panel has at least one metric")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two metrics are called {twice}: FunctionMetric(function, label) gives one another name")
    return found


def _settled(item: GoldenItem, scores: tuple[Score, ...]) -> tuple[Score, ...]:
    """The scores in the light of each other: where a refusal is wanted, faithfulness hangs on whether it was given."""
    refusal = next((score for score in scores if score.metric == REFUSAL), None)
    if item.want is not Want.REFUSAL or refusal is None or refusal.value == 0.0:
        return scores
    return tuple(_without(each, refusal) if each.metric == FAITHFULNESS else each for each in scores)


def _without(faithful: Score, refusal: Score) -> Score:
    """The score of faithfulness where a wanted refusal was given, or might have been."""
    if not faithful.applies or refusal.value is not None:
        return beside(faithful.metric, faithful.verdict)
    return unscored(faithful.metric, faithful.unscored or REFUSAL_UNKNOWN, faithful.verdict)
