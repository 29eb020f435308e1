"""The items of a run as a page shows them: the answer in stretches by claim, and each claim beside its chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from groundguard.evaluation.figures import measured
from groundguard.evaluation.results import ItemResult, Run, Score
from groundguard.judges.scoring import chunk_names
from groundguard.records import Chunk, Claim, Decision, Verdict

WORST_FIRST = (Decision.UNSUPPORTED, Decision.UNKNOWN, Decision.SUPPORTED)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of an answer, the numbers of the claims that stand there, and the worst decision among them."""

    text: str
    claims: tuple[int, ...] = ()
    decision: Decision | None = None
    ends: tuple[int, ...] = ()
    """The claims of which this is the last stretch: their numbers are printed after it."""


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """A claim with its number from 1 and the positions from 1 of the chunks that support it."""

    number: int
    claim: Claim
    chunks: tuple[int, ...]
    elsewhere: tuple[str, ...]
    """What it names as support that is none of the chunks."""


@dataclass(frozen=True, slots=True)
class ShownChunk:
    """A chunk with its position from 1, the claims it supports, and whether the golden set names it as evidence."""

    number: int
    chunk: Chunk
    claims: tuple[int, ...]
    wanted: bool


@dataclass(frozen=True, slots=True)
class ShownResult:
    """One result: its answer in stretches, its claims and its chunks."""

    result: ItemResult
    verdict: Verdict | None
    answer: tuple[Stretch, ...] = ()
    claims: tuple[ShownClaim, ...] = ()
    chunks: tuple[ShownChunk, ...] = ()
    missed: tuple[str, ...] = ()
    """Ids of reference chunks that were not retrieved."""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """One item: its results, one a repeat, and the mean of each metric; None where it is unscored."""

    number: int
    results: tuple[ShownResult, ...]
    values: Mapping[str, float | None]

    @property
    def first(self) -> ItemResult:
        """The result of its first repeat."""
        return self.results[0].result

    @property
    def statuses(self) -> tuple[str, ...]:
        """The statuses over its repeats, each once; `error` where the pipeline failed."""
        return tuple(dict.fromkeys(status_of(shown.result) for shown in self.results))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons over its repeats, each once; the class of the error where the pipeline failed."""
        return tuple(dict.fromkeys(reason_of(shown.result) for shown in self.results))

    @property
    def is_unscored(self) -> bool:
        """Whether some metric that applies could not be scored."""
        return None in self.values.values()


def status_of(result: ItemResult) -> str:
    """The status of a result; `error` where there is no response."""
    return "error" if result.response is None else result.response.status.value


def reason_of(result: ItemResult) -> str:
    """The reason of a result; the class of the error where there is no response."""
    return result.error or "no response" if result.response is None else result.response.reason.value


def shown_items(run: Run) -> tuple[ShownItem, ...]:
    """The items of a run in their order, each with all its repeats."""
    by_id: dict[str, list[ItemResult]] = {}
    for result in run.results:
        by_id.setdefault(result.id, []).append(result)
    scores = measured(run.results)
    return tuple(
        ShownItem(
            number,
            tuple(map(shown_result, results)),
            {metric: items[id_].value for metric, items in scores.items() if items[id_].scores},
        )
        for number, (id_, results) in enumerate(by_id.items(), 1)
    )


def shown_result(result: ItemResult) -> ShownResult:
    """A result with its claims placed in the answer and tied to the chunks."""
    response = result.response
    if response is None:
        return ShownResult(result, None)
    verdict = _telling(result.scores) or response.verdict
    claims = () if verdict is None else _claims(verdict.claims, response.chunks)
    return ShownResult(
        result,
        verdict,
        stretches(response.generated, [shown.claim for shown in claims]),
        claims,
        _chunks(response.chunks, claims, result.chunk_ids),
        tuple(id_ for id_ in result.chunk_ids if id_ not in {chunk.id for chunk in response.chunks}),
    )


def _telling(scores: Iterable[Score]) -> Verdict | None:
    """The verdict on the answer, where it tells claims."""
    return next((s.verdict for s in scores if s.metric == "faithfulness" and s.verdict and s.verdict.claims), None)


def _claims(claims: Iterable[Claim], chunks: Sequence[Chunk]) -> tuple[ShownClaim, ...]:
    positions = {name: position for position, name in enumerate(chunk_names(chunks), 1)}
    return tuple(
        ShownClaim(
            number,
            claim,
            tuple(dict.fromkeys(positions[name] for name in claim.chunk_ids if name in positions)),
            tuple(name for name in claim.chunk_ids if name not in positions),
        )
        for number, claim in enumerate(claims, 1)
    )


def _chunks(chunks: Iterable[Chunk], claims: Sequence[ShownClaim], wanted: Sequence[str]) -> tuple[ShownChunk, ...]:
    return tuple(
        ShownChunk(number, chunk, tuple(c.number for c in claims if number in c.chunks), chunk.id in wanted)
        for number, chunk in enumerate(chunks, 1)
    )


def stretches(answer: str, claims: Sequence[Claim]) -> tuple[Stretch, ...]:
    """An answer cut where claims begin and end; put together again the stretches are the answer.

    Args:
        answer: The text that was judged.
        claims: Its claims; those that don't lie within it are left out here.
    """
    placed = [(number, c.start, c.end, c.decision) for number, c in enumerate(claims, 1)]
    inside = [
        (number, start, end, decision)
        for number, start, end, decision in placed
        if start is not None and end is not None and 0 <= start < end <= len(answer)
    ]
    edges = sorted({0, len(answer), *(edge for _, start, end, _ in inside for edge in (start, end))})
    return tuple(
        _stretch(answer[left:right], [claim for claim in inside if claim[1] <= left and right <= claim[2]], right)
        for left, right in pairwise(edges)
    )


def _stretch(text: str, covering: Sequence[tuple[int, int, int, Decision | None]], right: int) -> Stretch:
    decisions = {decision for *_, decision in covering}
    worst = next((decision for decision in WORST_FIRST if decision in decisions), None)
    numbers = tuple(number for number, *_ in covering)
    return Stretch(text, numbers, worst, tuple(number for number, _, end, _ in covering if end == right))
