"""Refusal: did the answer decline where it should, and only there?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from groundguard.evaluation.golden.items import GoldenItem, Want
from groundguard.evaluation.panel.asking import Declined, asked_model
from groundguard.evaluation.panel.base import NEEDS_A_MODEL, REFUSAL, Metric, unscored
from groundguard.evaluation.results import Score
from groundguard.flow.steps import Flow
from groundguard.judges import fingerprint
from groundguard.judges.base import asked
from groundguard.judges.prompts import VERDICT_SCHEMA
from groundguard.records import Decision, Exchange, Response
from groundguard.text import is_blank


@dataclass(frozen=True, init=False)
class Refusal(Metric):
    """Whether the pipeline did what the item wants: answer or decline.

    1 where a wanted answer was given or a wanted refusal was; 0 where an answer was wanted and refused, or a refusal
    wanted and an answer given. Whether the answer is right is not asked here.

    Whether a text declines is a question for a model, which replies with one literal word; no list of phrases decides
    it. Two things need no model. A blank answer does neither: it scores 0 either way. An answer that a policy replaced
    was withheld, so the pipeline declined. What is scored is the answer that was delivered; the status plays no part.

    Args:
        model: Whom to ask; None leaves every other item unscored, `needs a model`.
        constrained: Whether to ask the server to constrain its output by a JSON schema; None asks for the bare word.

    Raises:
        UsageError: if the model is no model or can't be asked to constrain its output.
    """

    question: Declined | None = field()

    def __init__(self, model: object = None, *, constrained: bool | None = None) -> None:
        asks = None
        if model is not None:
            found, _ = asked_model(model, constrained, VERDICT_SCHEMA)
            asks = Declined(found, bool(constrained))
        object.__setattr__(self, "question", asks)

    @property
    def name(self) -> str:
        """`refusal`."""
        return REFUSAL

    @property
    def fingerprint(self) -> str:
        """Covers the prompt, the model's name and settings."""
        return fingerprint(self.name) if self.question is None else self.question.fingerprint

    def flow(self, item: GoldenItem, response: Response[Any]) -> Flow[Score]:
        """Ask whether the answer declines."""
        if is_blank(response.answer):
            return Score(self.name, 0.0)
        if response.answer != response.generated:
            return Score(self.name, _value(item, declined=True))
        if self.question is None:
            return unscored(self.name, NEEDS_A_MODEL)
        verdict = yield from asked(self.question, Exchange(item.question, (), response.answer, item.history))
        if verdict.decision is Decision.UNKNOWN:
            return unscored(self.name, verdict.reason, verdict)
        return Score(self.name, _value(item, declined=verdict.decision is Decision.SUPPORTED), verdict=verdict)


def refused(item: GoldenItem, response: Response[Any], scores: Iterable[Score]) -> bool | None:
    """Whether the answer declined, by its refusal score; None where it could not be told, or the answer is blank."""
    value = next((score.value for score in scores if score.metric == REFUSAL), None)
    if value is None or is_blank(response.answer):
        return None
    return (value == 1.0) == (item.want is Want.REFUSAL)


def _value(item: GoldenItem, *, declined: bool) -> float:
    return float(declined == (item.want is Want.REFUSAL))
