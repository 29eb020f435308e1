"""Context precision and context recall: did the retriever find the evidence, and how much else?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from groundguard.errors import UsageError, told
from groundguard.evaluation.golden.items import GoldenItem, Want
from groundguard.evaluation.panel.asking import Usefulness, asked_model, precision
from groundguard.evaluation.panel.base import (
    CHUNKS_WITHOUT_IDS,
    CONTEXT_PRECISION,
    CONTEXT_RECALL,
    NO_REFERENCE,
    Metric,
    beside,
    unscored,
)
from groundguard.evaluation.panel.faithfulness import by_claims
from groundguard.evaluation.panel.references import references, relevant, retrieved
from groundguard.evaluation.results import Score
from groundguard.flow.steps import Flow
from groundguard.judges import Claims, Judge, fingerprint
from groundguard.judges.base import asked
from groundguard.records import ChunksFrom, Decision, Exchange, Reason, Response
from groundguard.text import is_blank

_BY_IDS = "ids/1"


@dataclass(frozen=True, init=False)
class ContextPrecision(Metric):
    """Whether the retriever's relevant chunks stand before the others.

    The mean of precision@k over the ranks k at which a relevant chunk stands; 0 where none is relevant. So it is that
    of ragas (https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/context_precision/, `ContextPrecision`
    with a reference) and of deepeval (https://deepeval.com/docs/metrics-contextual-precision): noise *behind* the last
    relevant chunk takes nothing away. `ranked=False` is the plain share of relevant chunks, as ragas counts it by ids
    (`IDBasedContextPrecision`): every irrelevant chunk counts, wherever it stands.

    With a model, a chunk is relevant if it is useful for arriving at the reference answer: all chunks are judged in one
    call, one verdict a number, and one verdict that is missing or malformed leaves the item unscored. Without one, a
    chunk is relevant if it is one of the item's reference chunks, by its id or by its text, white space evened out.

    Where nothing was retrieved, there is nothing to be precise about: unscored, `no_chunks`. An item that wants a
    refusal has no relevant chunks, and is left out.

    Args:
        model: Whom to ask; None goes by the reference chunks of the items.
        ranked: Whether the order counts.
        constrained: Whether to ask the server to constrain its output by a JSON schema; None does so where it can.

    Raises:
        UsageError: if the model is no model or can't be asked to constrain its output, or an option is none.
    """

    question: Usefulness | None = field()
    ranked: bool = field(default=True, kw_only=True)

    def __init__(self, model: object = None, *, ranked: bool = True, constrained: bool | None = None) -> None:
        if not isinstance(ranked, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"ranked is True or False; got {told(ranked)}")
        asks = None if model is None else Usefulness(*asked_model(model, constrained, Usefulness.schema), ranked=ranked)
        object.__setattr__(self, "question", asks)
        object.__setattr__(self, "ranked", ranked)

    @property
    def name(self) -> str:
        """`context_precision`."""
        return CONTEXT_PRECISION

    @property
    def fingerprint(self) -> str:
        """Covers how relevance is told, and whether the order counts."""
        told_by = _BY_IDS if self.question is None else self.question.fingerprint
        return fingerprint(self.name, relevance=told_by, ranked=self.ranked)

    def flow(self, item: GoldenItem, response: Response[Any]) -> Flow[Score]:
        """Ask about each chunk, or look it up."""
        if item.want is Want.REFUSAL:
            return beside(self.name)
        nothing = _nothing(response)
        if nothing is not None:
            return unscored(self.name, nothing)
        if self.question is None:
            return self._by_ids(item, response)
        if item.answer is None or is_blank(item.answer):
            return unscored(self.name, NO_REFERENCE)
        verdict = yield from asked(self.question, _about(item, response))
        if verdict.decision is Decision.UNKNOWN:
            return unscored(self.name, verdict.reason, verdict)
        return Score(self.name, verdict.score, verdict=verdict)

    def _by_ids(self, item: GoldenItem, response: Response[Any]) -> Score:
        wanted = references(item)
        if not wanted:
            return unscored(self.name, NO_REFERENCE)
        found = relevant(response.chunks, wanted)
        if None in found:
            return unscored(self.name, CHUNKS_WITHOUT_IDS)
        return Score(self.name, precision([bool(each) for each in found], ranked=self.ranked))


@dataclass(frozen=True, init=False)
class ContextRecall(Metric):
    """How much of the evidence the retriever found.

    With a model or a judge, the share of the reference answer's claims that the retrieved chunks support, as in ragas
    (https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/context_recall/: claims in the reference
    supported by the retrieved context / claims in the reference) and deepeval (attributable statements / statements,
    https://deepeval.com/docs/metrics-contextual-recall). The reference answer is judged like any answer, by `Claims`
    unless another judge is given. Without either, the share of the item's reference chunks that were retrieved, by
    their ids or texts, as ragas counts it by ids (`IDBasedContextRecall`).

    Where nothing was retrieved it is 0. An item that wants a refusal has no evidence to find, and is left out.

    Args:
        judge: A model for `Claims`, or any judge that looks at claims: `Lexical()` needs no model. None goes by the
            reference chunks of the items.

    Raises:
        UsageError: if it is neither.
    """

    judge: Judge | None = field()

    def __init__(self, judge: object = None) -> None:
        known = judge is None or isinstance(judge, Judge)
        object.__setattr__(self, "judge", judge if known else Claims(judge))

    @property
    def name(self) -> str:
        """`context_recall`."""
        return CONTEXT_RECALL

    @property
    def fingerprint(self) -> str:
        """Covers how the evidence is told."""
        return fingerprint(self.name, found=_BY_IDS if self.judge is None else self.judge.fingerprint)

    def flow(self, item: GoldenItem, response: Response[Any]) -> Flow[Score]:
        """Judge the reference answer on the retrieved chunks, or look the reference chunks up."""
        if item.want is Want.REFUSAL:
            return beside(self.name)
        nothing = _nothing(response)
        if nothing is Reason.RETRIEVAL_NOT_OBSERVED:
            return unscored(self.name, nothing)
        if self.judge is None:
            return self._by_ids(item, response)
        if item.answer is None or is_blank(item.answer):
            return unscored(self.name, NO_REFERENCE)
        if nothing is not None:
            return Score(self.name, 0.0)
        return by_claims(self.name, (yield from asked(self.judge, _about(item, response))))

    def _by_ids(self, item: GoldenItem, response: Response[Any]) -> Score:
        found = retrieved(response.chunks, references(item))
        if not found:
            return unscored(self.name, NO_REFERENCE)
        if None in found:
            return unscored(self.name, CHUNKS_WITHOUT_IDS)
        return Score(self.name, found.count(True) / len(found))


def _nothing(response: Response[Any]) -> Reason | None:
    """Why there are no chunks to look at; None where there are."""
    if response.chunks_from is ChunksFrom.NOT_OBSERVED:
        return Reason.RETRIEVAL_NOT_OBSERVED
    if not response.chunks:
        return Reason.NO_CHUNKS
    return Reason.BLANK_CHUNKS if all(is_blank(chunk.text) for chunk in response.chunks) else None


def _about(item: GoldenItem, response: Response[Any]) -> Exchange:
    """The reference answer in the place of the answer."""
    return Exchange(item.question, response.chunks, item.answer or "", item.history)
