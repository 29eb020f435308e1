"""Evidence that is longer than a model can read: judged in parts that leave nothing out, or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from groundguard.errors import UsageError, told
from groundguard.flow.steps import Flow, Together, as_callee, name_of
from groundguard.judges.base import aside, settled
from groundguard.judges.prompts import Passage, encoded, numbered
from groundguard.judges.statements import statements
from groundguard.models.base import Prompt
from groundguard.records import Decision, Exchange, Reason, Usage, Verdict, total_usage

Part = tuple[Passage, ...]
"""Some of the passages, each with its number among all of them; a long one may stand in several parts."""


_WORD = re.compile(" ?[A-Za-z][a-z]*")


def estimated_tokens(text: str) -> int:
    """A cautious guess without a tokenizer.

    One token for every three letters of a word, one for every other ASCII character but the space before a word, and
    one for every byte that any other character has in UTF-8, as byte-level tokenizers have at most; and an eighth more.
    """
    words = _WORD.findall(text)
    alone = len(text.encode("utf-8", "surrogatepass")) - sum(map(len, words))
    total = alone + sum(-(-len(word.lstrip()) // 3) for word in words)
    return total + total // 8


@dataclass(frozen=True, slots=True)
class Window:
    """How much a judge's model can read at once.

    Evidence that doesn't fit is judged in several calls, each over as many whole chunks as fit; a chunk that is longer
    than that is divided between sentences, and two neighbouring parts of it share one where there is room. What a
    sentence further away says about it, such as that all of it is a quotation, no part can know. Where nothing fits, or
    with `split=False`, the verdict is UNKNOWN with the reason `judge_truncated`: a prompt is never cut in silence. So
    it is if the server reports as many tokens as the window has, or more: then it may have cut the prompt.

    Args:
        tokens: How many tokens a prompt may have; leave room for the reply, and for what the server adds.
        split: Whether to judge in parts.
        count: From a text to its number of tokens, such as a tokenizer's `lambda text: len(encoding.encode(text))`. By
            default `estimated_tokens`, a guess that is cautious on prose and code.

    Raises:
        UsageError: if `tokens` is no whole number above 0, `split` no truth value, or `count` no plain function.
    """

    tokens: int
    split: bool = True
    count: Callable[[str], int] = field(default=estimated_tokens, repr=False)

    def __post_init__(self) -> None:
        given: object = self.tokens
        if isinstance(given, bool) or not isinstance(given, int) or given < 1:
            got = given if isinstance(given, int) and not isinstance(given, bool) else told(given)
            raise UsageError(f"Window needs the tokens of a prompt, a whole number above 0; got {got}")
        if not isinstance(self.split, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"Window's split is True or False; got {told(self.split)}")
        if as_callee(self.count, "count of a Window", arguments=1).plain is None:
            raise UsageError("Window's count is a plain function from a text to its tokens, not an async one")

    @property
    def settings(self) -> dict[str, Any]:
        """What shapes a verdict, for fingerprints; of `count`, only the name."""
        return {"tokens": self.tokens, "split": self.split, "count": name_of(self.count)}

    def overflowed(self, usage: Usage | None) -> bool:
        """Whether the server reports so many tokens that it may have cut the prompt."""
        return usage is not None and usage.input_tokens is not None and usage.input_tokens >= self.tokens

    def holds(self, prompt: Prompt) -> bool:
        """Whether a prompt fits."""
        return self.count(prompt.text) <= self.tokens


def checked_window(window: object) -> Window | None:
    """A `Window` or None; raises `UsageError` on anything else."""
    if window is None or isinstance(window, Window):
        return window
    raise UsageError(f"window is a Window(tokens=...) or None; got {told(window)}")


def parts(exchange: Exchange, window: Window | None, frame: Callable[[Part], Prompt]) -> list[Part] | None:
    """Divide the chunks into parts whose prompts fit.

    Args:
        exchange: Whose chunks.
        window: What the model can read; None holds everything.
        frame: The prompt about a part.

    Returns:
        The parts in order, every visible character of every chunk in at least one; a single one if everything fits.
        None if they can't be made to fit.
    """
    whole = numbered(exchange.chunks)
    if window is None or window.holds(frame(whole)):
        return [whole]
    if not window.split:
        return None
    room = window.tokens - window.count(frame(()).text) - window.count("<passages>\n\n</passages>\n")
    pieces = [piece for passage in whole for piece in _pieces(passage, room, window.count)]
    packed = list(_packed(pieces, room, window.count))
    return packed if packed and all(window.holds(frame(part)) for part in packed) else None


def divided(exchange: Exchange, window: Window | None, frame: Callable[[Part], Prompt]) -> Flow[list[Part] | None]:
    """`parts`, as a call where there is something to count."""
    if window is None:
        return [numbered(exchange.chunks)]
    return (yield from aside(parts, exchange, window, frame))


def folded(decisions: Iterable[Decision | None]) -> Decision | None:
    """What several parts say together, before any of them is asked for a contradiction.

    Support in any part is support. Without it, a part that could not say leaves it open, and a *no* counts before
    "asserts nothing".
    """
    said = set(decisions)
    order = (Decision.SUPPORTED, Decision.UNKNOWN, Decision.UNSUPPORTED)
    return next((decision for decision in order if decision in said), None)


def judged_in_parts(
    found: Sequence[Part], ask: Callable[[Part], Flow[Verdict]], contradicts: Callable[[Part], Flow[Verdict]]
) -> Flow[Verdict]:
    """Judge an answer part by part, side by side: supported by any part, unless another contradicts it.

    Args:
        found: The parts.
        ask: Asks one part whether it supports the answer.
        contradicts: Asks one part whether it contradicts the answer; SUPPORTED means that it does. Asked only where
            another part supports the answer, and a part that can't say leaves the verdict UNKNOWN.
    """
    said: tuple[Verdict, ...] = yield Together(tuple(settled(ask(part)) for part in found))
    decision = folded(verdict.decision for verdict in said)
    if decision is not Decision.SUPPORTED:
        return _fold(said, next(verdict for verdict in said if verdict.decision is decision))
    others = [part for part, verdict in zip(found, said, strict=True) if verdict.decision is not decision]
    checked: tuple[Verdict, ...] = yield Together(tuple(settled(contradicts(part)) for part in others))
    doubts = [_doubt(verdict) for verdict in checked]
    vetoes = [doubt for doubt, verdict in zip(doubts, checked, strict=True) if not _clears(verdict)]
    vetoes.sort(key=lambda doubt: doubt.decision is Decision.UNKNOWN)
    supporter = next(verdict for verdict in said if verdict.decision is decision)
    return _fold((*said, *doubts), vetoes[0] if vetoes else supporter)


def too_long(window: Window | None) -> Verdict:
    """The verdict of a judge whose prompt can't be made to fit."""
    tokens = "" if window is None else f" of {window.tokens} tokens"
    return Verdict(Decision.UNKNOWN, Reason.JUDGE_TRUNCATED, detail=f"the prompt does not fit into the window{tokens}")


def _clears(verdict: Verdict) -> bool:
    return verdict.decision is Decision.UNSUPPORTED


def _doubt(verdict: Verdict) -> Verdict:
    """What a part said of a contradiction, as a verdict on the answer; never support."""
    if verdict.decision is Decision.UNKNOWN:
        return verdict
    detail = "no contradiction in this part" if _clears(verdict) else "this part contradicts the answer"
    return replace(verdict, decision=Decision.UNSUPPORTED, reason=Reason.UNSUPPORTED, detail=detail)


def _fold(members: Sequence[Verdict], decisive: Verdict) -> Verdict:
    return replace(decisive, usage=total_usage(member.usage for member in members), members=tuple(members))


def _packed(pieces: Sequence[Passage], room: int, count: Callable[[str], int]) -> Iterator[Part]:
    part: list[Passage] = []
    used = 0
    for piece in pieces:
        cost = _cost(piece, count)
        if part and used + cost > room:
            yield tuple(part)
            part, used = [], 0
        part.append(piece)
        used += cost
    if part:
        yield tuple(part)


def _pieces(passage: Passage, room: int, count: Callable[[str], int]) -> Iterator[Passage]:
    """A passage, or runs of its sentences where it is too long for one part."""
    number, text = passage
    if _cost(passage, count) <= room:
        yield passage
        return
    ends = [0, *(statement.end for statement in statements(text))]
    costs = [_cost((number, text[start:end]), count) for start, end in pairwise(ends)]
    first = 0
    while first < len(costs):
        last = _last_that_fits(costs, first, room)
        yield number, text[ends[first] : ends[last + 1]]
        first = last if first < last < len(costs) - 1 and costs[last] + costs[last + 1] <= room else last + 1


def _last_that_fits(costs: Sequence[int], first: int, room: int) -> int:
    last, used = first, costs[first]
    while last + 1 < len(costs) and used + costs[last + 1] <= room:
        last += 1
        used += costs[last]
    return last


def _cost(passage: Passage, count: Callable[[str], int]) -> int:
    number, text = passage
    return count(f"[{number}] {encoded(text)}\n")
