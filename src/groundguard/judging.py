"""From a draft to a labelled response: judge and label, and as often as the policy asks for it, revise and begin again.

Every text is judged on the same chunks and labelled by the same rule, be it the first or a revision. The policy gets no
other way to a status.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from groundguard.capture import Found, tell
from groundguard.errors import UsageError, told
from groundguard.fields import exact
from groundguard.flow.steps import Flow
from groundguard.policy import Feedback, Policy, Revision
from groundguard.records import Attempt, Exchange, Response, Turn, Verdict
from groundguard.status import label, unasked
from groundguard.telemetry import Watch

Ask = Callable[[Exchange], Flow[Verdict]]
"""Asks the judge about one exchange."""


class Generated(NamedTuple):
    """What a generator made: the text of its answer, and the output that held it."""

    text: str
    output: Any


Again = Callable[[Feedback], Flow[Generated]]
"""Asks the generator for another answer."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer on its way to the judge."""

    question: str = field(repr=False)
    found: Found
    generated: str = field(repr=False)
    output: Any = field(repr=False)
    history: tuple[Turn, ...] = ()


class Decided(NamedTuple):
    """A labelled response that nothing more can be done about, and the policy that settles it."""

    response: Response[Any]
    policy: Policy

    def settled(self) -> Response[Any]:
        """What is delivered; raises if the policy is to raise, or delivers more than another text."""
        said: object = self.policy.settle(self.response)
        if not isinstance(said, Response):
            raise UsageError(f"the policy {type(self.policy).__name__} must settle on a response, not {told(said)}")
        if replace(said, answer=self.response.answer) != self.response:
            raise UsageError(
                f"the policy {type(self.policy).__name__} may change the answer of a response and nothing else"
            )
        return said


def decide(draft: Draft, policy: Policy, watch: Watch, ask: Ask, again: Again | None = None) -> Flow[Decided]:
    """Judge and label a draft, and every revision of it that the policy asks for.

    Args:
        draft: The first answer.
        policy: What to do with one that isn't `answered`.
        watch: Sees every stage, and the last response as the one response of this query.
        ask: Asks the judge.
        again: Asks the generator again; None where there is none that takes feedback.

    Raises:
        UsageError: if the policy wants to ask a generator that isn't there.
    """
    attempts: tuple[Attempt, ...] = ()
    while True:
        response = yield from _labelled(draft, attempts, watch, ask)
        revision = policy.revise(response)
        if revision is None:
            tell(draft.found, response.reason)
            watch.finish(response, type(policy).__name__)
            return Decided(response, policy)
        watch.judged(response, type(policy).__name__)
        attempts += (_attempt(response, revision),)
        draft = yield from _revised(draft, revision, watch, again)
        policy = revision.policy


def _labelled(draft: Draft, attempts: tuple[Attempt, ...], watch: Watch, ask: Ask) -> Flow[Response[Any]]:
    chunks, observed = draft.found.chunks, draft.found.observed
    verdict: Verdict | None = None
    if unasked(chunks, draft.generated, observed=observed) is None:
        exchange = Exchange(draft.question, chunks, draft.generated, draft.history)
        verdict = yield from watch.stage("judge", ask(exchange))
    status, reason = label(chunks, draft.generated, verdict, observed=observed)
    return Response(
        answer=draft.generated,
        generated=draft.generated,
        status=status,
        reason=reason,
        verdict=verdict,
        question=draft.question,
        chunks=chunks,
        chunks_from=draft.found.chunks_from,
        chunks_exact=draft.found.exact,
        attempts=attempts,
        timings=watch.timings(),
        output=draft.output,
    )


def _attempt(response: Response[Any], revision: Revision) -> Attempt:
    return Attempt(response.generated, response.status, response.reason, response.verdict, revision.removed)


def _revised(draft: Draft, revision: Revision, watch: Watch, again: Again | None) -> Flow[Draft]:
    if isinstance(revision.revised, str):
        return replace(draft, generated=exact(revision.revised))
    if again is None:
        raise UsageError("the policy wants to generate again, but there is no generator here that takes `feedback`")
    made = yield from watch.stage("generation", again(revision.revised))
    return replace(draft, generated=made.text, output=made.output)
