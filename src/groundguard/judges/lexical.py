"""The embedded judge (first cut)."""

from __future__ import annotations

from dataclasses import dataclass

from groundguard.errors import UsageError, warn_once
from groundguard.flow.steps import Call, Callee, Flow
from groundguard.judges.base import Judge, fingerprint
from groundguard.judges.statements import statements
from groundguard.records import Claim, Decision, Exchange, Verdict


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
        """Covers the rules' version and the threshold."""
        return fingerprint("lexical", version="0", threshold=self.threshold)

    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """Judge."""
        warn_once(
            "Lexical() compares words, numbers, names and negation and understands nothing; FactCheck(...) is the real thing",
            "lexical",
        )
        verdict: Verdict = yield Call(Callee(self._judge, None, "the judge lexical"), (exchange,))
        return verdict

    def _judge(self, exchange: Exchange) -> Verdict:
        words = [set(chunk.text.lower().split()) for chunk in exchange.chunks]
        claims = []
        for s in statements(exchange.answer):
            own = set(s.text.lower().split())
            score = max((len(own & w) / len(own) for w in words), default=0.0)
            ok = score >= self.threshold
            claims.append(
                Claim(s.text, Decision.SUPPORTED if ok else Decision.UNSUPPORTED, s.start, s.end, (), (), score)
            )
        score = min((c.score or 0.0 for c in claims), default=0.0)
        return Verdict(
            Decision.SUPPORTED if claims and score >= self.threshold else Decision.UNSUPPORTED,
            score=score,
            claims=tuple(claims),
        )
