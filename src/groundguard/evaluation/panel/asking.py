"""The questions that the panel asks a model: one call each, read as strictly as any judge's."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from groundguard.errors import UsageError, told
from groundguard.evaluation.panel import prompts
from groundguard.flow.steps import Flow
from groundguard.judges import Judge, fingerprint, verdicts
from groundguard.judges.base import aside
from groundguard.judges.claims.calls import Heard, hear
from groundguard.judges.claims.extraction import unjudged
from groundguard.judges.claims.options import too_many
from groundguard.judges.claims.verdicts import Said, read_verdicts
from groundguard.judges.prompts import VERDICT_SCHEMA
from groundguard.judges.scoring import chunk_names
from groundguard.judges.statements import statements
from groundguard.models import Model, Prompt, as_model
from groundguard.records import Chunk, Claim, Decision, Exchange, Reason, Verdict

MOST = 400
"""The most statements or passages that one call is asked about."""


def asked_model(model: object, constrained: object, schema: Mapping[str, Any]) -> tuple[Model, bool]:
    """The model, and whether to ask its server to follow the schema; None does so where it can.

    Raises:
        UsageError: if it is no model, or can't be asked to.
    """
    found = as_model(model)
    if constrained is not None and not isinstance(constrained, bool):
        raise UsageError(f"constrained is True, False or None, which means where it can be; got {told(constrained)}")
    if constrained:
        found.check_schema(schema)
    return found, found.follows(schema) if constrained is None else constrained


@dataclass(frozen=True)
class Question(Judge):
    """A question about one exchange, in one call."""

    model: Model
    constrained: bool

    kind: ClassVar[str]
    version: ClassVar[str]

    @property
    def name(self) -> str:
        """The kind and the model's name."""
        return f"{self.kind}:{self.model.name}"

    @property
    def prompt_hash(self) -> str:
        """SHA-256 over everything in the prompt that does not depend on the exchange."""
        text = self.frame(Exchange("", (Chunk(""),), ""), ("",)).text
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def fingerprint(self) -> str:
        """Covers the prompt, the model's name and settings, and how the reply is read."""
        return fingerprint(
            self.kind,
            prompt=self.prompt_hash,
            model=self.model.name,
            settings=dict(self.model.settings),
            constrained=self.constrained,
            **self.options,
        )

    @property
    def options(self) -> Mapping[str, object]:
        """Whatever else shapes the verdict."""
        return {}

    @abstractmethod
    def frame(self, exchange: Exchange, texts: Sequence[str]) -> Prompt:
        """The prompt about an exchange, and about some texts of it by their numbers."""


@dataclass(frozen=True)
class Numbered(Question):
    """Asks for one verdict on each of several numbered texts.

    SUPPORTED means that every one that says something got a *yes*; UNSUPPORTED that one did not, or that none says
    anything. A number that is missing or repeated, or another word, makes that text and with it the whole verdict
    UNKNOWN: what is not known is not averaged.
    """

    schema: ClassVar[Mapping[str, Any]]

    @abstractmethod
    def found(self, exchange: Exchange) -> Flow[tuple[Claim, ...]]:
        """The texts, in the order of their numbers; each UNKNOWN before it is judged."""

    @abstractmethod
    def score(self, decisions: Sequence[Decision | None]) -> float:
        """What the verdicts amount to, 0 to 1, given that none is UNKNOWN."""

    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """Ask once, and weigh what is said."""
        claims = yield from self.found(exchange)
        if len(claims) > MOST:
            return too_many(len(claims), MOST)
        prompt = self.frame(exchange, [claim.text for claim in claims])
        numbers = range(1, len(claims) + 1)
        read = partial(read_verdicts, numbers=numbers, passages=(), constrained=self.constrained)
        heard = yield from hear(self.model, prompt, self.schema if self.constrained else None, read)
        return replace(
            self._weighed(claims, heard),
            raw=heard.raw,
            model=heard.model,
            usage=heard.usage,
            prompt_version=self.version,
            prompt_hash=self.prompt_hash,
        )

    def _weighed(self, claims: Sequence[Claim], heard: Heard[dict[int, Said]]) -> Verdict:
        if heard.value is None:
            return replace(heard.failure or Verdict(Decision.UNKNOWN), claims=tuple(claims))
        said = list(heard.value.values())
        judged = tuple(replace(claim, decision=each.decision) for claim, each in zip(claims, said, strict=True))
        wrong = next((f"number {at}: {each.wrong}" for at, each in enumerate(said, 1) if each.wrong), None)
        decisions = [self.weighs(claim.decision) for claim in judged]
        if Decision.UNKNOWN in decisions:
            return Verdict(Decision.UNKNOWN, Reason.VERDICT_MALFORMED, claims=judged, detail=wrong or "another word")
        score = self.score(decisions)
        affirmed = set(decisions) - {None} == {Decision.SUPPORTED}
        return Verdict(Decision.SUPPORTED if affirmed else Decision.UNSUPPORTED, score=score, claims=judged)

    def weighs(self, decision: Decision | None) -> Decision | None:
        """What a verdict counts as."""
        return decision


@dataclass(frozen=True)
class Relevance(Numbered):
    """Which statements of the answer address the question?"""

    kind = "answer_relevancy"
    version = prompts.RELEVANCY_VERSION
    schema = prompts.verdicts_schema("yes", "no", "none")

    def found(self, exchange: Exchange) -> Flow[tuple[Claim, ...]]:
        """The answer's statements, split locally with nothing lost."""
        return unjudged((yield from aside(statements, exchange.answer)))

    def frame(self, exchange: Exchange, texts: Sequence[str]) -> Prompt:
        """The question, the answer and its statements."""
        return prompts.relevancy(exchange, texts)

    def score(self, decisions: Sequence[Decision | None]) -> float:
        """The share of those that say something; 0 where none does."""
        said = [decision for decision in decisions if decision is not None]
        return said.count(Decision.SUPPORTED) / len(said) if said else 0.0


@dataclass(frozen=True)
class Usefulness(Numbered):
    """Which passages are useful for arriving at the reference answer, which stands in the place of the answer?"""

    ranked: bool = True

    kind = "context_precision"
    version = prompts.PRECISION_VERSION
    schema = prompts.verdicts_schema("yes", "no")

    @property
    def options(self) -> Mapping[str, object]:
        """Whether the order counts."""
        return {"ranked": self.ranked}

    def found(self, exchange: Exchange) -> Flow[tuple[Claim, ...]]:
        """One claim a chunk, `passage 1 is useful`, with what the chunk is called."""
        yield from ()
        names = chunk_names(exchange.chunks)
        return tuple(
            Claim(f"passage {number} is useful", Decision.UNKNOWN, chunk_ids=(name,))
            for number, name in enumerate(names, 1)
        )

    def frame(self, exchange: Exchange, texts: Sequence[str]) -> Prompt:  # noqa: ARG002  # the passages are the texts
        """The passages, the question and the reference answer."""
        return prompts.precision(exchange)

    def weighs(self, decision: Decision | None) -> Decision | None:
        """`none` was not among the words."""
        return Decision.UNKNOWN if decision is None else decision

    def score(self, decisions: Sequence[Decision | None]) -> float:
        """The mean of precision@k, or the plain share."""
        return precision([decision is Decision.SUPPORTED for decision in decisions], ranked=self.ranked)


@dataclass(frozen=True)
class Declined(Question):
    """Does the answer decline? SUPPORTED means that it does."""

    kind = "refusal"
    version = prompts.REFUSAL_VERSION

    def frame(self, exchange: Exchange, texts: Sequence[str] = ()) -> Prompt:  # noqa: ARG002  # it asks about the whole
        """The question and the answer."""
        return prompts.refusal(exchange, constrained=self.constrained)

    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """Ask for one literal word."""
        prompt = self.frame(exchange)
        reply = yield from self.model.ask(prompt, VERDICT_SCHEMA if self.constrained else None)
        reading = verdicts.read(reply, prompt, verdicts.constrained if self.constrained else verdicts.literal)
        return Verdict(
            reading.decision,
            reading.reason,
            raw=reading.raw,
            detail=reading.detail,
            prompt_version=self.version,
            prompt_hash=self.prompt_hash,
            model=reply.model,
            usage=reply.usage,
        )


def precision(relevant: Sequence[bool], *, ranked: bool) -> float:
    """Context precision from which retrieved chunks are relevant, in their order; 0 where none is.

    Ranked, it is the mean of precision@k over the ranks k of the relevant chunks, where precision@k is the share of
    relevant ones among the first k: what the field calls average precision over what was retrieved. Not ranked, it is
    the share of relevant chunks.
    """
    ranks = [rank for rank, each in enumerate(relevant, 1) if each]
    if not ranks:
        return 0.0
    if not ranked:
        return len(ranks) / len(relevant)
    return sum(count / rank for count, rank in enumerate(ranks, 1)) / len(ranks)
