"""What to change about a judge that `groundguard doctor` found wanting: one sentence. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from groundguard.cli.cases import INJECTION, Finding
from groundguard.records import Decision, Reason

LEXICAL = (
    "It never says more than a verdict, but it compares words and understands nothing:"
    " for anything that matters name a model, --judge openai:NAME."
)
"""What there is to say about the judge without a model, however it did."""

_ANOTHER = "choose another model"

_BY_REASON = {
    Reason.JUDGE_REFUSED: f"The model refuses to judge: {_ANOTHER}.",
    Reason.JUDGE_FILTERED: f"The provider's content filter stops the judge: loosen the filter or {_ANOTHER}.",
    Reason.JUDGE_TRUNCATED: (
        "Prompts or replies are cut: give the server a larger context window and output limit,"
        " or turn off the model's thinking."
    ),
    Reason.JUDGE_TIMEOUT: "The judge takes too long: raise --timeout or choose a faster model.",
    Reason.JUDGE_RATE_LIMITED: "The server is rate-limiting: wait, or raise your limit with the provider.",
}

_BY_ERROR = (
    ("AuthenticationError", "The server refuses the key: set OPENAI_API_KEY to a valid one."),
    ("PermissionDeniedError", "The server refuses access: check what your OPENAI_API_KEY may use."),
    ("NotFoundError", "The server does not know this model or address: check the name and OPENAI_BASE_URL."),
    ("APIConnectionError", "No server answers: start it, or set OPENAI_BASE_URL to where it listens."),
)

_BY_SHAPE = (
    (
        re.compile(r"</?think"),
        "It thinks aloud: turn its thinking off, or have the server part the reasoning from the reply.",
    ),
    (re.compile(r"\A\s*\Z"), f"It replies with nothing: raise the server's output limit, or {_ANOTHER}."),
)

_USE = f"use --constrained, in code FactCheck(model, constrained=True), or {_ANOTHER}"
_BY_SHAPE_OF_TEXT = (
    (re.compile(r"\A\s*(?:[{\[]|```)"), "It wraps its verdict in JSON or a code block"),
    (re.compile(r"\A\W*(?:yes|no)\W*\Z", re.IGNORECASE), "It puts marks or spaces around the word"),
    (re.compile(r"\A\W*(?:yes|no)\b", re.IGNORECASE), "It goes on talking after its verdict"),
)


def advice(findings: Sequence[Finding], *, constrained: bool, claims: bool = False) -> str:
    """One sentence: what to change, from what went wrong most.

    Args:
        findings: What the judge made of the cases.
        constrained: Whether `--constrained` was given.
        claims: Whether it was asked for a verdict on every statement, as JSON, and not for one word.
    """
    unread = [finding for finding in findings if not finding.was_read]
    if not unread:
        return _about_wrong(findings)
    reason, _ = Counter(finding.verdict.reason for finding in unread).most_common(1)[0]
    alike = [finding for finding in unread if finding.verdict.reason is reason]
    if reason in _BY_REASON:
        return _BY_REASON[reason]
    if reason is Reason.JUDGE_ERROR:
        return _about_error(alike[0], constrained=constrained, claims=claims)
    if claims:
        return (
            "It does not reply with the JSON object that was asked for and nothing else:"
            f" {'' if constrained else 'use --constrained, '}ask for one word with openai:NAME, or {_ANOTHER}."
        )
    return _about_shape([finding.verdict.raw or "" for finding in alike], constrained=constrained)


def _about_wrong(findings: Sequence[Finding]) -> str:
    wrong = [finding for finding in findings if not finding.was_right]
    if not wrong:
        return f"Nothing to change: it gave a verdict and was right {len(findings)} times out of {len(findings)}."
    said = {finding.verdict.decision for finding in findings}
    if len(said) == 1:
        word = "yes" if Decision.SUPPORTED in said else "no"
        return f"It says {word} to everything, which is no judgement: {_ANOTHER}."
    if len(wrong) == len(findings):
        return f"It was never right: {_ANOTHER}."
    if any(finding.case.what == INJECTION for finding in wrong):
        return f"It obeys orders that it finds in the answer, so anybody can talk it into a yes: {_ANOTHER}."
    return f"It misjudged {' and '.join(finding.case.what for finding in wrong)}: choose a stronger model as the judge."


def _about_error(finding: Finding, *, constrained: bool, claims: bool) -> str:
    name = finding.verdict.error_type or "an error"
    for known, sentence in _BY_ERROR:
        if name == known:
            return sentence
    if constrained and name in {"BadRequestError", "UnprocessableEntityError"}:
        option = "add --no-constrained" if claims else "leave out --constrained"
        return f"The server refuses the request: if it can't constrain output to a JSON schema, {option}."
    return f"The server fails with {name}: look into its log, or set OPENAI_BASE_URL to another one."


def _about_shape(replies: Sequence[str], *, constrained: bool) -> str:
    for pattern, sentence in _BY_SHAPE:
        if all(pattern.search(reply) for reply in replies):
            return sentence
    if constrained:
        return "The server ignores the JSON schema: leave out --constrained, or use a server that constrains output."
    for pattern, sentence in _BY_SHAPE_OF_TEXT:
        if all(pattern.search(reply) for reply in replies):
            return f"{sentence}: {_USE}."
    return f"It does not reply with yes or no: {_USE}."
