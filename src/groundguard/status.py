"""The label: which status a response has, and why. Total and pure; the first line that fits wins.

| chunks the generator saw | answer | verdict     | status     | reason                             |
|--------------------------|--------|-------------|------------|------------------------------------|
| nobody reported any      | any    | -           | no_context | retrieval_not_observed             |
| none                     | any    | -           | no_context | no_chunks                          |
| every one blank          | any    | -           | no_context | blank_chunks                       |
| some                     | blank  | -           | ungrounded | empty_answer                       |
| some                     | text   | SUPPORTED   | answered   | supported                          |
| some                     | text   | UNSUPPORTED | ungrounded | unsupported                        |
| some                     | text   | UNKNOWN     | ungrounded | the verdict's own                  |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from groundguard.records import Chunk, Decision, Reason, Status, Verdict
from groundguard.text import is_blank

if TYPE_CHECKING:
    from collections.abc import Sequence


class Label(NamedTuple):
    """A status and its reason."""

    status: Status
    reason: Reason


def unasked(chunks: Sequence[Chunk], answer: str, *, observed: bool = True) -> Label | None:
    """The label where no judge needs asking; None where one does."""
    if not observed:
        return Label(Status.NO_CONTEXT, Reason.RETRIEVAL_NOT_OBSERVED)
    if not chunks:
        return Label(Status.NO_CONTEXT, Reason.NO_CHUNKS)
    if all(is_blank(chunk.text) for chunk in chunks):
        return Label(Status.NO_CONTEXT, Reason.BLANK_CHUNKS)
    if is_blank(answer):
        return Label(Status.UNGROUNDED, Reason.EMPTY_ANSWER)
    return None


def label(chunks: Sequence[Chunk], answer: str, verdict: Verdict | None, *, observed: bool = True) -> Label:
    """The status of `answer`, and why.

    Args:
        chunks: What the generator saw.
        answer: The generator's text.
        verdict: What the judge said; None if it was not asked, which can never be `answered`.
        observed: Whether anybody reported chunks at all, be it an empty list.
    """
    early = unasked(chunks, answer, observed=observed)
    if early is not None:
        return early
    if verdict is None:
        return Label(Status.UNGROUNDED, Reason.JUDGE_ERROR)
    if verdict.decision is Decision.SUPPORTED:
        return Label(Status.ANSWERED, verdict.reason)
    return Label(Status.UNGROUNDED, verdict.reason)
