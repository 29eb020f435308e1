"""Faithfulness: is the answer supported by the chunks that its generator saw?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from groundguard.evaluation.golden.items import GoldenItem, Want
from groundguard.evaluation.panel.base import FAITHFULNESS, NO_CLAIMS, Metric, beside, unscored
from groundguard.evaluation.results import Score
from groundguard.flow.steps import Flow
from groundguard.judges import FunctionJudge, Judge, as_judge
from groundguard.judges.base import asked
from groundguard.records import ChunksFrom, Claim, Decision, Exchange, Response, Verdict
from groundguard.status import unasked


@dataclass(frozen=True, init=False)
class Faithfulness(Metric):
    """The share of the answer's claims that its chunks support.

    Supported claims divided by those that assert something: with `Claims`, the score of its verdict. A judge without
    claims counts by its score where it gives one, else as 1 or 0. An answer that asserts nothing is unscored, `no
    claims`, and so is one that no chunks stand behind, `no_chunks`: it is not unfaithful to what it never saw. Where a
    refusal is wanted, an answer without claims is left out: there is nothing to be faithful about.

    What is scored is the generator's text, whatever a policy delivered in its place. A response that the same judge
    has judged already, as the guard does, is not judged a second time: its verdict stands, also where it is UNKNOWN.
    Functions as judges are asked again, since their names are all that can be compared.

    The definition is that of ragas (`faithfulness`: claims supported by the context / claims, not a number where there
    are none, https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/faithfulness/) and of Es et al., RAGAS:
    Automated Evaluation of Retrieval Augmented Generation (EACL 2024), F = |V| / |S|.

    Args:
        judge: Any judge, or a function `(Exchange) -> Verdict | bool`.

    Raises:
        UsageError: if it is no judge.
    """

    judge: Judge = field()

    def __init__(self, judge: object) -> None:
        object.__setattr__(self, "judge", as_judge(judge))

    @property
    def name(self) -> str:
        """`faithfulness`."""
        return FAITHFULNESS

    @property
    def fingerprint(self) -> str:
        """The judge's own: what it says is all there is."""
        return self.judge.fingerprint

    def flow(self, item: GoldenItem, response: Response[Any]) -> Flow[Score]:
        """Take the verdict that there is, or ask for one."""
        observed = response.chunks_from is not ChunksFrom.NOT_OBSERVED
        label = unasked(response.chunks, response.generated, observed=observed)
        if label is not None:
            return unscored(self.name, label.reason)
        verdict = self._known(response.verdict)
        if verdict is None:
            verdict = yield from asked(
                self.judge, Exchange(item.question, response.chunks, response.generated, item.history)
            )
        if nothing_asserted(verdict.claims) and item.want is Want.REFUSAL:
            return beside(self.name, verdict)
        return by_claims(self.name, verdict)

    def _known(self, verdict: Verdict | None) -> Verdict | None:
        """The verdict of the response if this judge gave it; what it cost was paid, and is counted, there."""
        same = verdict is not None and verdict.fingerprint == self.judge.fingerprint
        if verdict is None or not same or isinstance(self.judge, FunctionJudge):
            return None
        return replace(verdict, calls=0, usage=None, seconds=None)


def by_claims(metric: str, verdict: Verdict) -> Score:
    """The score of a verdict on claims: supported / asked; else its own score, else 1 or 0. UNKNOWN is unscored."""
    if nothing_asserted(verdict.claims):
        return unscored(metric, NO_CLAIMS, verdict)
    if verdict.decision is Decision.UNKNOWN:
        return unscored(metric, verdict.reason, verdict)
    asserted = [claim.decision for claim in verdict.claims if claim.decision is not None]
    if asserted:
        return Score(metric, asserted.count(Decision.SUPPORTED) / len(asserted), verdict=verdict)
    whole = float(verdict.decision is Decision.SUPPORTED)
    return Score(metric, whole if verdict.score is None else verdict.score, verdict=verdict)


def nothing_asserted(claims: Sequence[Claim]) -> bool:
    """Whether there are claims, and none asserts anything."""
    return bool(claims) and all(claim.decision is None for claim in claims)
