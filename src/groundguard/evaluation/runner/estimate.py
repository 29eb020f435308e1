"""What a run would ask of its judges, without asking: every call is counted and measured, and none is made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from groundguard.evaluation.golden.items import GoldenItem
from groundguard.evaluation.runner.answers import Recorded
from groundguard.evaluation.runner.plan import Plan
from groundguard.evaluation.runner.target import ChainTarget, GuardTarget, Target
from groundguard.fields import is_mapping, is_sequence, plain_fields
from groundguard.flow.drive import run
from groundguard.flow.steps import Call, Flow, Step, interpose
from groundguard.guard import Guard
from groundguard.models import Prompt
from groundguard.records import Exchange, Response

PER_TOKEN = 4
"""Characters of a token, roughly, in English."""


class _NotMadeError(Exception):
    """A call that is only counted."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will ask of its judges.

    Attributes:
        results: How many results it makes: items times repeats.
        calls: How many calls at least: the first of each judgement; one that splits its work makes more.
        prompt_tokens: Tokens of their prompts, roughly: four characters each.
        by_reference: Whether the pipeline's own answers are not known yet, so that the reference answers and chunks
            stood in for them.
    """

    results: int
    calls: int
    prompt_tokens: int
    by_reference: bool

    def to_dict(self) -> dict[str, Any]:
        """The estimate as JSON values."""
        return plain_fields(self)


def estimate(plan: Plan) -> Estimate:
    """Count the calls of judges that a run would make. Makes none, and does not touch the pipeline."""
    sizes: list[int] = []
    for item in plan.golden.items:
        run(interpose(_judged(plan, item), _counting(sizes)))
    characters = sum(sizes) * plan.repeats
    by_reference = not isinstance(plan.target, Recorded)
    return Estimate(plan.expected, len(sizes) * plan.repeats, characters // PER_TOKEN, by_reference)


def _counting(sizes: list[int]) -> Any:
    def perform(step: Step) -> Flow[Any]:
        if isinstance(step, Call) and step.retry != "never":
            sizes.append(_size(step.args) + _size(step.kwargs))
            raise _NotMadeError
        return (yield step)

    return perform


def _judged(plan: Plan, item: GoldenItem) -> Flow[None]:
    target = plan.target
    if isinstance(target, Recorded):
        try:
            response: Response[Any] = yield from target.flow(item)
        except Exception:  # noqa: BLE001  # an item without an answer asks nothing
            return
    else:
        response = yield from _stand_in(target, item)
    yield from plan.panel.flow(item, response)


def _stand_in(target: Target, item: GoldenItem) -> Flow[Response[Any]]:
    """The reference in the place of an answer that is not there yet."""
    guard = target.guard if isinstance(target, (GuardTarget, ChainTarget)) else None
    chunks = item.chunks or [item.answer or item.question]
    answer = item.answer or item.question
    if guard is None:
        return run(Guard(_unsure).guard_check(item.question, answer, chunks))
    plain = Guard(guard.judge, timeout=guard.timeout)
    return (yield from plain.guard_check(item.question, answer, chunks, item.history))


def _unsure(_: Exchange) -> bool:
    return False


def _size(value: object) -> int:
    """Characters of the text in what is sent."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Prompt):
        return len(value.text)
    if isinstance(value, Exchange):
        return len(value.question) + len(value.answer) + sum(len(chunk.text) for chunk in value.chunks)
    parts: Iterable[object] = value.values() if is_mapping(value) else value if is_sequence(value) else ()
    content = getattr(value, "content", None)
    return sum(map(_size, parts)) + (len(content) if isinstance(content, str) else 0)
