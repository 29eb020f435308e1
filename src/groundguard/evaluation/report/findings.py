"""The diagnosis as a report tells it: each fault with the items that show it."""

from __future__ import annotations

from dataclasses import dataclass

from groundguard.evaluation.panel.diagnosis import Stage, diagnose
from groundguard.evaluation.results import Run

ADVICE = {
    Stage.MISSES_EVIDENCE: "What was needed was not retrieved: look at the index, the chunking and the number of chunks"
    " before the prompt.",
    Stage.LOUD: "What was needed is there, behind other chunks: rerank, or retrieve fewer.",
    Stage.DECLINES_TOO_MUCH: "It says that it doesn't know, though no evidence is missing: look at the prompt.",
    Stage.DECLINES_TOO_LITTLE: "It doesn't decline where the documents don't say: tell it to decline, and show it how.",
    Stage.INVENTS: "It states what its chunks don't: look at the prompt and the model, and hold answers back.",
    Stage.INVENTS_OR_DECLINES: "Its chunks say nothing of it: give the panel a model that tells whether it declines.",
    Stage.ANOTHER_QUESTION: "It answers something else than what was asked: look at how the question reaches it.",
}
"""What to do about each fault."""

FAILED = "pipeline failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault, what to do about it, and where it shows.

    Attributes:
        title: What it is.
        words: What it means, and what to do.
        count: In how many answers it was found.
        first: In how many of them it is the first on the path, and so perhaps the cause of the others.
        item_ids: The items that show it, in the order of the run.
    """

    title: str
    words: str
    count: int
    first: int
    item_ids: tuple[str, ...] = ()


def findings(run: Run) -> tuple[Finding, ...]:
    """The faults of a run: the one that is most often the first on the path on top."""
    found: dict[Stage, list[str]] = {}
    first: dict[Stage, int] = {}
    for result in run.results:
        if result.response is None:
            continue
        diagnosis = diagnose(result.scores, result.want)
        for stage in diagnosis.stages:
            found.setdefault(stage, []).append(result.id)
            first[stage] = first.get(stage, 0) + (stage is diagnosis.stage)
    order = sorted((stage for stage in Stage if stage in found), key=lambda stage: (-first[stage], -len(found[stage])))
    faults = (
        Finding(_title(stage), ADVICE[stage], len(found[stage]), first[stage], _each(found[stage])) for stage in order
    )
    return (*faults, *_failures(run))


def _failures(run: Run) -> tuple[Finding, ...]:
    failed = [result for result in run.results if result.response is None]
    if not failed:
        return ()
    kinds = ", ".join(sorted({result.error or "no response" for result in failed}))
    words = f"It raised {kinds}. These items are unscored under every metric."
    return (Finding(_title(FAILED), words, len(failed), len(failed), _each([result.id for result in failed])),)


def _title(fault: str) -> str:
    return f"The {fault}"


def _each(ids: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))
