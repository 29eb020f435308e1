"""Claims held against evidence that is longer than the model can read: part by part, nothing left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from groundguard.flow.steps import Flow, Together
from groundguard.judges.claims.calls import Answers, Heard
from groundguard.judges.claims.verdicts import UNSAID, Said
from groundguard.judges.window import Part, folded
from groundguard.records import Decision

Ask = Callable[[Part, Sequence[int]], Sequence[Flow[Heard[Answers]]]]
"""The calls that ask one part about claims, by their numbers."""

CONTRADICTED = "contradicted by another part of the evidence"


def judged_by_part(
    found: Sequence[Part], numbers: Sequence[int], ask: Ask, contradicts: Ask
) -> Flow[tuple[Answers, list[Heard[Answers]]]]:
    """Hold claims against every part, side by side: supported by any part, unless another contradicts it.

    Args:
        found: The parts.
        numbers: The numbers of the claims.
        ask: Asks a part whether it supports claims.
        contradicts: Asks a part whether it contradicts claims; SUPPORTED means that it does. Asked only about a claim
            that another part supports; a part that can't say leaves the claim unknown.

    Returns:
        What is said about each claim in the end, and every call that was made.
    """
    by_part = yield from _side_by_side([(ask, part, numbers) for part in found])
    said = [_said(calls) for calls in by_part]
    together = {number: _folded([each.get(number, UNSAID) for each in said]) for number in numbers}
    supported = [number for number in numbers if together[number].decision is Decision.SUPPORTED]
    open_questions = [_not_supported(each, supported) for each in said]
    doubts = yield from _side_by_side(
        [(contradicts, part, asked) for part, asked in zip(found, open_questions, strict=True) if asked]
    )
    for asked, calls in zip(filter(None, open_questions), doubts, strict=True):
        answers = _said(calls)
        for number in asked:
            together[number] = _doubted(together[number], answers.get(number, UNSAID))
    return together, [call for calls in (*by_part, *doubts) for call in calls]


def _side_by_side(asking: Sequence[tuple[Ask, Part, Sequence[int]]]) -> Flow[list[tuple[Heard[Answers], ...]]]:
    flows = [tuple(ask(part, numbers)) for ask, part, numbers in asking]
    heard = iter((yield Together(tuple(flow for each in flows for flow in each))))
    return [tuple(next(heard) for _ in each) for each in flows]


def _said(calls: Sequence[Heard[Answers]]) -> Answers:
    return {number: said for call in calls for number, said in (call.value or {}).items()}


def _folded(said: Sequence[Said]) -> Said:
    decision = folded(each.decision for each in said)
    deciding = [each for each in said if each.decision is decision]
    passages = dict.fromkeys(passage for each in deciding for passage in each.passages)
    return Said(decision, tuple(passages), deciding[0].wrong)


def _not_supported(said: Mapping[int, Said], supported: Sequence[int]) -> list[int]:
    return [number for number in supported if said.get(number, UNSAID).decision is not Decision.SUPPORTED]


def _doubted(said: Said, doubt: Said) -> Said:
    """A supported claim after another part was asked whether it contradicts it; a contradiction stands for good."""
    if said.wrong == CONTRADICTED or doubt.decision is Decision.UNSUPPORTED:
        return said
    if doubt.decision is Decision.SUPPORTED:
        return Said(Decision.UNSUPPORTED, wrong=CONTRADICTED)
    return Said(Decision.UNKNOWN, wrong=doubt.wrong)
