"""What is told of a response without any of its content: words from closed lists, numbers, digests."""

from __future__ import annotations

from typing import Any

from groundguard.records import Decision, Response, Verdict
from groundguard.telemetry import names
from groundguard.telemetry.otel import Attributes


def facts(response: Response[Any], policy: str) -> Attributes:
    """The attributes of a query and of a check."""
    return {
        **({} if response.verdict is None else _of(response.verdict)),
        names.POLICY: policy,
        names.EVIDENCE_COUNT: len(response.chunks),
        names.EVIDENCE_DIGEST: response.evidence_digest,
        names.EVIDENCE_FROM: response.chunks_from.value,
        names.STATUS: response.status.value,
        names.REASON: response.reason.value,
    }


def result(response: Response[Any], verdict: Verdict) -> Attributes:
    """The attributes of `gen_ai.evaluation.result`."""
    failed = verdict.decision is Decision.UNKNOWN
    return {
        names.EVALUATION_NAME: names.GROUNDEDNESS,
        names.EVALUATION_LABEL: verdict.decision.value,
        names.EVALUATION_SCORE: verdict.score,
        names.ERROR_TYPE: verdict.error_type or response.reason.value if failed else None,
        names.JUDGE: verdict.judge,
        names.FINGERPRINT: verdict.fingerprint,
        names.STATUS: response.status.value,
        names.REASON: response.reason.value,
    }


def evaluation(response: Response[Any], *, model: bool) -> Attributes:
    """The verdict as OpenInference's inline evaluation; nothing if no judge was asked.

    Args:
        response: The response.
        model: Whether a model was asked, or only code.
    """
    verdict = response.verdict
    if verdict is None:
        return {}
    parts = {
        "name": names.GROUNDEDNESS,
        "label": verdict.decision.value,
        "score": verdict.score,
        "annotator_kind": "LLM" if model else "CODE",
        "identifier": verdict.fingerprint,
    }
    return {names.EVALUATION.format(part=part): value for part, value in parts.items()}


def _of(verdict: Verdict) -> Attributes:
    asked = [claim.decision for claim in verdict.claims if claim.decision is not None]
    votes = [member.decision for member in verdict.members]
    return {
        names.VERDICT: verdict.decision.value,
        names.SCORE: verdict.score,
        names.JUDGE: verdict.judge,
        names.FINGERPRINT: verdict.fingerprint,
        names.JUDGE_CALLS: verdict.calls,
        names.PROMPT_VERSION: verdict.prompt_version,
        names.PROMPT_DIGEST: verdict.prompt_hash,
        names.CLAIMS: len(asked) if asked else None,
        names.CLAIMS_UNSUPPORTED: asked.count(Decision.UNSUPPORTED) if asked else None,
        names.CLAIMS_UNKNOWN: asked.count(Decision.UNKNOWN) if asked else None,
        names.VOTES_YES: votes.count(Decision.SUPPORTED) if votes else None,
        names.VOTES_NO: votes.count(Decision.UNSUPPORTED) if votes else None,
    }
