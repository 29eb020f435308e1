"""The judge of single claims: each gets a verdict of its own, matched by its number."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal

from groundguard.flow.steps import Flow
from groundguard.judges import prompts as shared
from groundguard.judges.base import Judge, aside, asked, fingerprint
from groundguard.judges.claims import prompts
from groundguard.judges.claims.calls import Answers, Heard, hear
from groundguard.judges.claims.coverage import COVERAGE_VERSION
from groundguard.judges.claims.extraction import drawn, unjudged
from groundguard.judges.claims.options import check_count, check_options, too_many
from groundguard.judges.claims.parts import judged_by_part
from groundguard.judges.claims.verdicts import UNSAID, Said, read_claims, read_verdicts
from groundguard.judges.fact_check import FactCheck
from groundguard.judges.prompts import numbered
from groundguard.judges.scoring import checked_share, chunk_names, weigh
from groundguard.judges.statements import Statement, statements
from groundguard.judges.window import Part, Window, checked_window, divided, too_long
from groundguard.models import Model, Prompt, as_model
from groundguard.records import Claim, Decision, Exchange, Reason, Verdict, total_usage


@dataclass(frozen=True, init=False)
class Claims(Judge):
    """Checks every claim of an answer by itself against the chunks.

    The claims are the answer's statements, split locally with nothing lost, or the atomic claims that the model draws
    from them. They are numbered, and the model replies with one verdict for each number: `yes`, `no`, or `none` for
    what asserts nothing. A number that is missing or repeated, or any other word, makes that claim unknown; a reply
    that is not what was asked for makes all claims of its call unknown. Unknown is never supported.

    The score is the number of supported claims divided by the number that assert something. The verdict is SUPPORTED if
    it reaches the threshold, UNSUPPORTED if it would not even if every unknown claim were supported, else UNKNOWN with
    the reason of the first call that failed. If nothing is asserted, the literal question of `FactCheck` about the
    whole answer decides; then the score is None and the detail `no claims`.

    With `extract="model"` one call more, before the others, draws the claims; if it fails, the verdict is UNKNOWN. A
    statement of which something is lost in its claims, be it a word, a number, a sign, a negation or the order, is
    judged as well, and so is one whose claims divide a clause, or only quote it: whatever isn't plainly covered. What
    nobody can see is a claim about the wrong `it`.

    Args:
        model: `"openai:NAME"`, `OpenAIModel(client, "NAME")`, a LangChain chat model, or a function of the prompt.
        threshold: The least score that supports the answer, in (0, 1]. With 1.0 one bad claim fails it.
        extract: `"local"` judges the answer's statements, `"model"` atomic claims.
        constrained: Whether to ask the server to constrain its output by a JSON schema; None does so where the model
            can. Without it, one Markdown code fence around the reply is taken off.
        instructions: What to check. The form of the reply and the frame around the data stay.
        per_call: How many claims one call judges at most; the calls run side by side.
        most: The most claims of one answer. Of an answer that makes more, none is judged, and the verdict is UNKNOWN
            with the reason `judge_error`: neither an answer nor an extraction can cost calls without end.
        window: How much the model can read at once: `Window(tokens=8_000)`. Longer evidence is read in parts, side by
            side: a claim is supported by any part, unless another one contradicts it. None sends everything at once.

    Raises:
        UsageError: if the model is no model or can't be asked to constrain its output, or an option is out of range.
    """

    model: Model = field()
    threshold: float = field(default=1.0, kw_only=True)
    extract: Literal["local", "model"] = field(default="local", kw_only=True)
    constrained: bool | None = field(default=None, kw_only=True)
    instructions: str = field(default=prompts.CLAIMS, repr=False, kw_only=True)
    per_call: int = field(default=20, kw_only=True)
    most: int = field(default=400, kw_only=True)
    window: Window | None = field(default=None, kw_only=True)

    def __init__(
        self,
        model: object,
        *,
        threshold: float = 1.0,
        extract: Literal["local", "model"] = "local",
        constrained: bool | None = None,
        instructions: str = prompts.CLAIMS,
        per_call: int = 20,
        most: int = 400,
        window: Window | None = None,
    ) -> None:
        object.__setattr__(self, "model", as_model(model))
        object.__setattr__(self, "threshold", checked_share(threshold, "Claims' threshold"))
        object.__setattr__(self, "extract", extract)
        object.__setattr__(self, "constrained", constrained)
        object.__setattr__(self, "instructions", instructions)
        object.__setattr__(self, "per_call", per_call)
        object.__setattr__(self, "most", most)
        object.__setattr__(self, "window", checked_window(window))
        check_options(extract, constrained, instructions)
        check_count(per_call, "per_call, the most claims that one call judges,")
        check_count(most, "most, the most claims of one answer,")
        if constrained:
            for schema in _SCHEMAS:
                self.model.check_schema(schema)

    @property
    def name(self) -> str:
        """`claims:` and the model's name."""
        return f"claims:{self.model.name}"

    @property
    def prompt_version(self) -> str:
        """The version of the built-in prompts, or `custom`."""
        return prompts.CLAIMS_VERSION if self.instructions == prompts.CLAIMS else "custom"

    @property
    def prompt_hash(self) -> str:
        """SHA-256 over the constant parts of the prompts: for verdicts, for claims, for the literal question."""
        extracts = self.extract == "model"
        return prompts.prompt_hash(self.instructions, extracts=extracts, constrained=self._constrains)

    @property
    def fingerprint(self) -> str:
        """Covers the prompts, the model's name and settings, and how claims are found, asked about and weighed."""
        return fingerprint(
            "claims",
            prompt=self.prompt_hash,
            model=self.model.name,
            settings=dict(self.model.settings),
            threshold=self.threshold,
            extract=self.extract,
            constrained=self._constrains,
            per_call=self.per_call,
            most=self.most,
            **({"coverage": COVERAGE_VERSION} if self.extract == "model" else {}),
            **({} if self.window is None else {"window": [self.window.settings, prompts.CONTRADICTED]}),
        )

    def flow(self, exchange: Exchange, aid: Sequence[str] = ()) -> Flow[Verdict]:
        """Find the claims, ask about them, weigh what is said.

        Args:
            exchange: What to judge.
            aid: Facts that a machine drew from the passages, shown beside them as truths; never evidence.
        """
        calls: list[Heard[Any]] = []
        claims = yield from self._found(exchange, calls)
        if isinstance(claims, Verdict):
            return self._verdict(claims, calls)
        said, answers = yield from self._answers(exchange, claims, aid)
        calls += answers
        claims = _folded(claims, said, chunk_names(exchange.chunks))
        weighed = weigh(claims, self.threshold, _failure(answers).reason)
        if weighed is None:
            return (yield from self._literal(exchange, claims, calls))
        unknown = weighed.decision is Decision.UNKNOWN
        verdict = Verdict(
            weighed.decision,
            weighed.reason,
            weighed.score,
            claims,
            detail=_detail(said, answers),
            error_type=_failure(answers).error_type if unknown else None,
        )
        return self._verdict(verdict, calls)

    @cached_property
    def _constrains(self) -> bool:
        if self.constrained is None:
            return all(map(self.model.follows, _SCHEMAS))
        return self.constrained

    def _found(self, exchange: Exchange, calls: list[Heard[Any]]) -> Flow[tuple[Claim, ...] | Verdict]:
        """The claims of the answer, or why there are none to judge; a call that was made joins `calls`."""
        found = yield from aside(statements, exchange.answer)
        if len(found) > self.most:
            return too_many(len(found), self.most)
        if not found or self.extract == "local":
            return unjudged(found)
        extracted = yield from self._extracted(exchange, found)
        calls.append(extracted)
        if extracted.value is None:
            return _failure(calls)
        if len(extracted.value) > self.most:
            return too_many(len(extracted.value), self.most)
        context = [exchange.question, *(turn.content for turn in exchange.history)]
        claims = yield from aside(drawn, found, extracted.value, context)
        return claims if len(claims) <= self.most else too_many(len(claims), self.most)

    def _extracted(self, exchange: Exchange, found: Sequence[Statement]) -> Flow[Heard[tuple[tuple[int, str], ...]]]:
        constrained = self._constrains
        prompt = prompts.extracting(exchange, (statement.text for statement in found))
        if self.window is not None and not self.window.holds(prompt):
            return Heard(failure=too_long(self.window))
        schema = prompts.EXTRACTION_SCHEMA if constrained else None
        read = partial(read_claims, statements=len(found), constrained=constrained)
        return (yield from hear(self.model, prompt, schema, read))

    def _answers(
        self, exchange: Exchange, claims: Sequence[Claim], aid: Sequence[str]
    ) -> Flow[tuple[Answers, Sequence[Heard[Answers]]]]:
        """What is said about each claim, and by which calls: `per_call` claims a call, a call a part, side by side."""
        texts = dict(enumerate((claim.text for claim in claims), 1))
        numbers = list(texts)

        def supports(batch: Sequence[int], part: Part) -> Prompt:
            asked = [(number, texts[number]) for number in batch]
            return prompts.judging(exchange, asked, self.instructions, part=part, aid=aid)

        def contradicts(batch: Sequence[int], part: Part) -> Prompt:
            return prompts.contradicting(exchange, [(number, texts[number]) for number in batch], part=part)

        def ask(prompt: Callable[[Sequence[int], Part], Prompt], part: Part, asked: Sequence[int]) -> Calls:
            return [self._ask(prompt(batch, part), batch, part) for batch in self._batches(asked)]

        found = yield from self._parts(exchange, [partial(supports, batch) for batch in self._batches(numbers)])
        if found is None:
            return {}, [Heard(failure=too_long(self.window))]
        return (yield from judged_by_part(found, numbers, partial(ask, supports), partial(ask, contradicts)))

    def _parts(self, exchange: Exchange, frames: Sequence[Callable[[Part], Prompt]]) -> Flow[list[Part] | None]:
        """The parts of the evidence that fit beside the longest batch of claims."""
        if self.window is None or not frames:
            return [numbered(exchange.chunks)]
        count = self.window.count
        longest = yield from aside(_longest, frames, count)
        return (yield from divided(exchange, self.window, longest))

    def _batches(self, numbers: Sequence[int]) -> list[Sequence[int]]:
        return [numbers[at : at + self.per_call] for at in range(0, len(numbers), self.per_call)]

    def _ask(self, prompt: Prompt, numbers: Sequence[int], part: Part) -> Flow[Heard[Answers]]:
        constrained = self._constrains
        schema = prompts.VERDICTS_SCHEMA if constrained else None
        passages = {number for number, _ in part}
        read = partial(read_verdicts, numbers=numbers, passages=passages, constrained=constrained)
        if self.window is not None and not self.window.holds(prompt):
            return Heard(failure=too_long(self.window))
        heard = yield from hear(self.model, prompt, schema, read)
        if self.window is not None and self.window.overflowed(heard.usage):
            return replace(heard, value=None, failure=too_long(self.window))
        return heard

    def _literal(self, exchange: Exchange, claims: tuple[Claim, ...], calls: Sequence[Heard[Any]]) -> Flow[Verdict]:
        """Nothing is asserted: ask the literal question about the whole answer."""
        said = yield from asked(FactCheck(self.model, constrained=self._constrains, window=self.window), exchange)
        detail = f"no claims; {said.detail}" if said.decision is Decision.UNKNOWN else "no claims"
        verdict = Verdict(
            said.decision, said.reason, claims=claims, detail=detail, error_type=said.error_type, members=(said,)
        )
        return self._verdict(verdict, [*calls, Heard(raw=said.raw, model=said.model, usage=said.usage)])

    def _verdict(self, verdict: Verdict, calls: Sequence[Heard[Any]]) -> Verdict:
        """`verdict` with what the calls brought, and under which prompt."""
        return replace(
            verdict,
            raw="\n".join(call.raw for call in calls if call.raw is not None) or None,
            prompt_version=self.prompt_version,
            prompt_hash=self.prompt_hash,
            model=next((call.model for call in calls if call.model is not None), None),
            usage=total_usage(call.usage for call in calls),
        )


def _longest(frames: Sequence[Callable[[Part], Prompt]], count: Callable[[str], int]) -> Callable[[Part], Prompt]:
    return max(frames, key=lambda frame: count(frame(()).text))


Calls = Sequence[Flow[Heard[Answers]]]

_SCHEMAS = (prompts.VERDICTS_SCHEMA, prompts.EXTRACTION_SCHEMA, shared.VERDICT_SCHEMA)
_NO_FAILURE = Verdict(Decision.UNKNOWN, Reason.VERDICT_MALFORMED)


def _failure(calls: Sequence[Heard[Any]]) -> Verdict:
    """The first failure; what is unknown without one is so by a reply that says too little or too much."""
    return next((call.failure for call in calls if call.failure is not None), _NO_FAILURE)


def _folded(claims: Sequence[Claim], said: Answers, names: Sequence[str]) -> tuple[Claim, ...]:
    """The claims with what is said about them, given what the chunks are called."""
    return tuple(_told(claim, said.get(number, UNSAID), names) for number, claim in enumerate(claims, 1))


def _told(claim: Claim, said: Said, names: Sequence[str]) -> Claim:
    return replace(claim, decision=said.decision, chunk_ids=tuple(names[number - 1] for number in said.passages))


def _detail(said: Answers, calls: Sequence[Heard[Answers]]) -> str | None:
    """What is wrong with the replies: which call failed, and what kept which claims unknown."""
    failures = [heard.failure for heard in calls if heard.failure is not None]
    some = f"{len(failures)} of {len(calls)} calls failed, the first: " if len(calls) > 1 else ""
    told = [f"{some}{failures[0].detail}"] if failures else []
    wrong: defaultdict[str, list[int]] = defaultdict(list)
    for number, each in said.items():
        if each.wrong is not None:
            wrong[each.wrong].append(number)
    told += [
        f"claim {numbers[0]}: {what}" if len(numbers) == 1 else f"{len(numbers)} claims {what}"
        for what, numbers in wrong.items()
    ]
    return "; ".join(told) or None
