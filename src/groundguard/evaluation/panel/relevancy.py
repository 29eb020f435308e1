"""Answer relevancy: does the answer address the question?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from groundguard.evaluation.golden.items import GoldenItem, Want
from groundguard.evaluation.panel.asking import Relevance, asked_model
from groundguard.evaluation.panel.base import ANSWER_RELEVANCY, NEEDS_A_MODEL, Metric, beside, unscored
from groundguard.evaluation.results import Score
from groundguard.flow.steps import Flow
from groundguard.judges import fingerprint
from groundguard.judges.base import asked
from groundguard.records import Decision, Exchange, Response
from groundguard.text import is_blank


@dataclass(frozen=True, init=False)
class AnswerRelevancy(Metric):
    """The share of the answer's statements that address the question, true or not.

    The answer is split locally with nothing lost, and all statements are judged in one call, one verdict a number. A
    statement that evades or declines addresses nothing, so an answer that only declines scores 0, unless the item wants
    a refusal: then it is left out, and `Refusal` says how it did. Greetings and courtesies don't count; an answer of
    nothing else scores 0, and so does a blank one. One verdict that is missing or malformed leaves the item unscored.
    What is scored is the answer that was delivered.

    The field has two definitions. This one is deepeval's, relevant statements / statements
    (https://deepeval.com/docs/metrics-answer-relevancy), with the rule of ragas that an answer which commits to nothing
    scores 0 (https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/answer_relevance/). The other one, of
    ragas, has a model ask back from the answer and compares the questions by their embeddings: it needs a second model,
    its scores have no fixed meaning, and no reader can see what it found fault with.

    Args:
        model: Whom to ask; None leaves every item unscored, `needs a model`: no words decide what addresses a question.
        constrained: Whether to ask the server to constrain its output by a JSON schema; None does so where it can.

    Raises:
        UsageError: if the model is no model or can't be asked to constrain its output.
    """

    question: Relevance | None = field()

    def __init__(self, model: object = None, *, constrained: bool | None = None) -> None:
        asks = None if model is None else Relevance(*asked_model(model, constrained, Relevance.schema))
        object.__setattr__(self, "question", asks)

    @property
    def name(self) -> str:
        """`answer_relevancy`."""
        return ANSWER_RELEVANCY

    @property
    def fingerprint(self) -> str:
        """Covers the prompt, the model's name and settings."""
        return fingerprint(self.name) if self.question is None else self.question.fingerprint

    def flow(self, item: GoldenItem, response: Response[Any]) -> Flow[Score]:
        """Ask about each statement."""
        if item.want is Want.REFUSAL:
            return beside(self.name)
        if is_blank(response.answer):
            return Score(self.name, 0.0)
        if self.question is None:
            return unscored(self.name, NEEDS_A_MODEL)
        verdict = yield from asked(self.question, Exchange(item.question, (), response.answer, item.history))
        if verdict.decision is Decision.UNKNOWN:
            return unscored(self.name, verdict.reason, verdict)
        return Score(self.name, verdict.score, verdict=verdict)
