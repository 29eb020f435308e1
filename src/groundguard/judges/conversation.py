"""The judge of one assistant turn: first the facts of its passages, then every claim against the passages."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from groundguard.errors import UsageError, told
from groundguard.flow.steps import Flow, Together
from groundguard.judges import truths
from groundguard.judges.base import Judge, fingerprint
from groundguard.judges.claims import Claims
from groundguard.judges.claims.calls import Heard
from groundguard.judges.claims.prompts import AID
from groundguard.judges.scoring import checked_share
from groundguard.judges.window import Window, checked_window, divided, too_long
from groundguard.models import Model, as_model
from groundguard.records import Chunk, Exchange, Verdict, total_usage

VERSION = "conversation/1"


@dataclass(frozen=True, init=False)
class Conversation(Judge):
    """Turn faithfulness as the field defines it: the truths of the retrieval context, then the claims of the turn.

    One call draws the truths, plain facts, from the passages. Then the claims of the answer are judged as by `Claims`,
    with the passages and, beside them, the truths: marked as a machine's reading aid that may be wrong. What supports a
    claim is the passages, so a truth that is nowhere in them supports nothing. If the truths can't be drawn, the
    verdict is UNKNOWN with the reason.

    Which passages count is the evidence rule's choice, and what was said before is the exchange's history: see
    `guard.session` and `turn_faithfulness`.

    Args:
        model: As for `Claims`.
        window: How much the model can read at once, as for `Claims`. The truths of all parts stand beside each part and
            take room; where they leave too little, the reason is `judge_truncated`.
        threshold: The least share of supported claims, in (0, 1].
        extract: `"local"` judges the answer's statements, `"model"` atomic claims that the model draws.
        constrained: Whether to ask the server to constrain its output by a JSON schema; None does so where the model
            can.

    Raises:
        UsageError: if the model is no model or can't be asked to constrain its output, or an option is out of range.
    """

    model: Model = field()
    window: Window | None = field(default=None, kw_only=True)
    threshold: float = field(default=1.0, kw_only=True)
    extract: Literal["local", "model"] = field(default="local", kw_only=True)
    constrained: bool | None = field(default=None, kw_only=True)

    def __init__(
        self,
        model: object,
        *,
        window: Window | None = None,
        threshold: float = 1.0,
        extract: Literal["local", "model"] = "local",
        constrained: bool | None = None,
    ) -> None:
        object.__setattr__(self, "model", as_model(model))
        object.__setattr__(self, "window", checked_window(window))
        object.__setattr__(self, "threshold", checked_share(threshold, "Conversation's threshold"))
        object.__setattr__(self, "extract", extract)
        object.__setattr__(self, "constrained", constrained)
        _check(extract, constrained)
        if self._claims.constrained:  # made here, so that a wrong option is told now
            self.model.check_schema(truths.SCHEMA)

    @property
    def name(self) -> str:
        """`conversation:` and the model's name."""
        return f"conversation:{self.model.name}"

    @property
    def prompt_hash(self) -> str:
        """SHA-256 over the constant parts of all prompts."""
        drawing = truths.extracting(Exchange("", (Chunk(""),), "")).text
        texts = (drawing, AID, self._claims.prompt_hash)
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()

    @property
    def fingerprint(self) -> str:
        """Covers the prompts, the model's name and settings, and how claims are found, asked about and weighed."""
        return fingerprint("conversation", prompt=self.prompt_hash, claims=self._claims.fingerprint)

    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """Draw the truths, then judge the claims."""
        found = yield from divided(exchange, self.window, partial(truths.extracting, exchange))
        if found is None:
            return too_long(self.window)
        prompts = [truths.extracting(exchange, part) for part in found]
        drawn: Sequence[Heard[tuple[str, ...]]] = yield Together(
            tuple(truths.extracted(self.model, prompt, constrained=self._constrains) for prompt in prompts)
        )
        failure = next((each.failure for each in drawn if each.failure is not None), None)
        if failure is not None:
            return self._verdict(replace(failure, detail=f"the truths: {failure.detail}"), drawn)
        facts = dict.fromkeys(truth for each in drawn for truth in each.value or ())
        verdict = yield from self._claims.flow(exchange, aid=tuple(facts))
        return self._verdict(verdict, drawn)

    @property
    def _claims(self) -> Claims:
        return Claims(
            self.model,
            window=self.window,
            threshold=self.threshold,
            extract=self.extract,
            constrained=self.constrained,
        )

    @property
    def _constrains(self) -> bool:
        return self.model.follows(truths.SCHEMA) if self.constrained is None else self.constrained

    def _verdict(self, verdict: Verdict, drawn: Sequence[Heard[Any]]) -> Verdict:
        """`verdict` with what drawing the truths brought and cost."""
        raws = [*(each.raw for each in drawn), verdict.raw]
        return replace(
            verdict,
            raw="\n".join(raw for raw in raws if raw is not None) or None,
            prompt_version=VERSION,
            prompt_hash=self.prompt_hash,
            model=verdict.model or next((each.model for each in drawn if each.model is not None), None),
            usage=total_usage([*(each.usage for each in drawn), verdict.usage]),
        )


def _check(extract: object, constrained: object) -> None:
    if extract not in ("local", "model"):
        raise UsageError(
            'extract is "local", the answer\'s statements, or "model", claims that the model draws;'
            f" got {told(extract)} that is neither"
        )
    if constrained is not None and not isinstance(constrained, bool):
        raise UsageError(f"constrained is True, False or None, which means where it can be; got {told(constrained)}")
