"""The options of `Claims`: which are refused, and what becomes of an answer with too many claims."""

from __future__ import annotations

from groundguard.errors import UsageError, told
from groundguard.records import Decision, Reason, Verdict


def check_options(extract: object, constrained: object, instructions: object) -> None:
    """Raise `UsageError` if one of these is no such option."""
    if extract not in ("local", "model"):
        raise UsageError(
            'Claims\' extract is "local", the answer\'s statements, or "model", claims that the model draws'
        )
    if constrained is not None and not isinstance(constrained, bool):
        raise UsageError(
            f"Claims' constrained is True, False or None, which means where it can be; got {told(constrained)}"
        )
    if not isinstance(instructions, str):
        raise UsageError(f"instructions are a text that says what to check, not {type(instructions).__name__}")


def check_count(value: object, what: str) -> None:
    """Raise `UsageError` if a value is no whole number above 0; `what` names the option and says what it is."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        got = value if type(value) in (int, float) else told(value)
        raise UsageError(f"Claims' {what} is a whole number above 0; got {got}")


def too_many(count: int, most: int) -> Verdict:
    """The verdict on an answer that makes more claims than are judged."""
    detail = (
        f"{count} claims, and {most} are judged at most: raise `most`, which costs more calls, or check less at once"
    )
    return Verdict(Decision.UNKNOWN, Reason.JUDGE_ERROR, detail=detail)
