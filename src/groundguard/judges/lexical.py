"""The embedded judge: words, numbers, names and negation, and no understanding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundguard.errors import UsageError, warn_once
from groundguard.flow.steps import Call, Callee, Flow
from groundguard.judges.base import Judge, fingerprint
from groundguard.judges.lexical_evidence import Evidence, Window
from groundguard.judges.lexical_match import Match, match
from groundguard.judges.lexical_tokens import Reading, read
from groundguard.judges.statements import Statement, statements
from groundguard.records import Chunk, Claim, Decision, Exchange, Verdict

_VERSION = "lexical/1"
_FRAGMENT = 3
_ON_TOPIC = 0.4

_HONEST = (
    "Lexical() compares words, numbers, names and negation with the chunks and understands nothing; a judge that reads"
    ' is FactCheck("openai:NAME") or any other model'
)


@dataclass(frozen=True)
class Lexical(Judge):
    """First cut."""

    threshold: float = 0.75

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise UsageError(f"threshold must lie in (0, 1], not {self.threshold!r}")

    @property
    def name(self) -> str:
        """`lexical`."""
        return "lexical"

    @property
    def fingerprint(self) -> str:
        """Covers the version of the rules and the threshold."""
        return fingerprint("lexical", version=_VERSION, threshold=self.threshold)

    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """Compare, in one plain call, so that a deadline can end it."""
        warn_once(_HONEST, "lexical")
        verdict: Verdict = yield Call(Callee(self._judge, None, "the judge lexical"), (exchange,))
        return verdict

    def _judge(self, exchange: Exchange) -> Verdict:
        evidence = Evidence(chunk.text for chunk in exchange.chunks)
        question = read(exchange.question)
        claims = tuple(
            self._claim(statement, evidence, question, exchange.chunks) for statement in statements(exchange.answer)
        )
        scores = [claim.score for claim in claims if claim.score is not None]
        supported = bool(scores) and all(claim.decision is not Decision.UNSUPPORTED for claim in claims)
        decision = Decision.SUPPORTED if supported else Decision.UNSUPPORTED
        return Verdict(decision, score=min(scores, default=0.0), claims=claims)

    def _claim(
        self, statement: Statement, evidence: Evidence, question: Reading, chunks: Sequence[Chunk]
    ) -> Claim:
        reading = read(statement.text)
        if not reading.content:
            return Claim(statement.text, None, statement.start, statement.end)
        matches = _matches(reading, evidence, question)
        good = [found for found in matches if not found.conflict and found.score >= self.threshold]
        if good:
            ids = tuple(dict.fromkeys(chunks[found.chunk].id or str(found.chunk + 1) for found in good))
            score = max(found.score for found in good)
            return Claim(statement.text, Decision.SUPPORTED, statement.start, statement.end, ids, (), score)
        missing = matches[0].missing if matches else tuple(token.text for token in reading.content)
        score = matches[0].score if matches else 0.0
        return Claim(statement.text, Decision.UNSUPPORTED, statement.start, statement.end, (), missing, score)


def _matches(reading: Reading, evidence: Evidence, question: Reading) -> list[Match]:
    """The windows that say most of the statement; only the nearest sentence and its equals may speak for it."""
    same = evidence.same(reading)
    if same:
        return [Match(1.0, (), False, window.chunk, 1.0) for window in same]
    found = [
        _on_topic(match(reading, window, evidence.weight), reading, window, question)
        for window in evidence.nearest(reading)
    ]
    found.sort(key=lambda each: (-round(each.core, 6), each.conflict, -each.score))
    best = found[0].core if found else 0.0
    return [each for each in found if each.core >= best - 1e-6]


def _on_topic(found: Match, reading: Reading, window: Window, question: Reading) -> Match:
    """A bare fragment answers the question only where the window is about the question."""
    if len(reading.content) >= _FRAGMENT or not question.content:
        return found
    asked = [token for token in question.content if token.base not in reading.bases]
    weights = [(3 - token.counts % 2 * 2 + (token.base in question.names), token) for token in asked]
    total = sum(weight for weight, _ in weights)
    about = window.core.bases | window.nearby
    covered = sum(weight for weight, token in weights if token.base in about)
    if not total or covered / total >= _ON_TOPIC:
        return found
    missing = tuple(token.text for _, token in weights if token.base not in about)
    return found._replace(score=found.score / 2, conflict=True, missing=found.missing + missing)
