"""What a generator is told about an answer of its own that was not good enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from groundguard.fields import choose, collect, expect
from groundguard.judges.prompts import encoded
from groundguard.records import JUDGE_FAILURES, Claim, Decision, Reason, Response


@dataclass(frozen=True, slots=True)
class Feedback:
    """Why an answer was rejected. `str(feedback)` is a text for the prompt of the next one.

    In that text every quotation is one JSON string on one line, without angle brackets or invisible characters.

    Attributes:
        answer: The rejected answer.
        reason: Why it was rejected.
        claims: The claims that are not supported, in order; none if the judge looks at the answer as a whole.
    """

    answer: str = field(repr=False)
    reason: Reason
    claims: tuple[Claim, ...] = ()

    def __post_init__(self) -> None:
        expect(self, str, "answer")
        collect(self, Claim, "claims")
        choose(self, Reason, "reason")

    def __str__(self) -> str:
        if self.reason is Reason.EMPTY_ANSWER:
            return "Your previous answer was empty. Answer the question, and state only what the passages say."
        said = "could not be checked against" if self.reason in JUDGE_FAILURES else "is not supported by"
        lines = [f"Your previous answer {said} the passages. It was:", encoded(self.answer)]
        if self.claims:
            lines += ["These statements of it are not supported:", *map(_line, self.claims)]
        return "\n".join([*lines, "Answer again, and state only what the passages say."])


def feedback_on(response: Response[Any]) -> Feedback:
    """What there is to say about a response that is not answered."""
    claims = () if response.verdict is None else response.verdict.claims
    return Feedback(response.generated, response.reason, tuple(filter(is_unsupported, claims)))


def is_unsupported(claim: Claim) -> bool:
    """Whether a claim asserts something, and nobody affirmed that it is supported."""
    return claim.decision is not None and claim.decision is not Decision.SUPPORTED


def _line(claim: Claim) -> str:
    missing = f" (missing from the passages: {', '.join(map(encoded, claim.missing))})" if claim.missing else ""
    return f"- {encoded(claim.text)}{missing}"
