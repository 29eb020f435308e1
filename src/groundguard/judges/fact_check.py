"""The literal fact check: one call, one word; one call a part where the evidence is longer than the model can read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from groundguard.errors import UsageError, told
from groundguard.flow.steps import Flow
from groundguard.judges import prompts, verdicts
from groundguard.judges.base import Judge, fingerprint
from groundguard.judges.window import Part, Window, checked_window, divided, judged_in_parts, too_long
from groundguard.models import Model, Prompt, Reply, as_model
from groundguard.records import Exchange, Verdict


@dataclass(frozen=True, init=False)
class FactCheck(Judge):
    """Asks a model for one word and takes it literally: `yes` supports, `no` does not, anything else is unknown.

    Args:
        model: `"openai:NAME"`, `OpenAIModel(client, "NAME")`, a LangChain chat model, or a function of the prompt.
        instructions: What to check. The demand for one word and the frame around the data stay.
        constrained: Ask the server to constrain its output to `{"verdict": "yes" | "no"}` (JSON schema with an enum).
            The reply must then be exactly such an object.
        window: How much the model can read at once: `Window(tokens=8_000)`. Longer evidence is judged in parts, side by
            side: supported by any part, unless another one contradicts it. None sends everything in one prompt.

    Raises:
        UsageError: if the model is no model or can't be asked to constrain its output, or the instructions are no text.
    """

    model: Model = field()
    instructions: str = field(default=prompts.FACT_CHECK, repr=False, kw_only=True)
    constrained: bool = field(default=False, kw_only=True)
    window: Window | None = field(default=None, kw_only=True)

    def __init__(
        self,
        model: object,
        *,
        instructions: str = prompts.FACT_CHECK,
        constrained: bool = False,
        window: Window | None = None,
    ) -> None:
        object.__setattr__(self, "model", as_model(model))
        object.__setattr__(self, "instructions", instructions)
        object.__setattr__(self, "constrained", constrained)
        object.__setattr__(self, "window", checked_window(window))
        if not isinstance(instructions, str):
            raise UsageError(f"instructions are a text that says what to check, not {type(instructions).__name__}")
        if not isinstance(constrained, bool):
            raise UsageError(f"constrained is True or False; got {told(constrained)}")
        if constrained:
            self.model.check_schema(prompts.VERDICT_SCHEMA)

    @property
    def name(self) -> str:
        """`fact_check:` and the model's name."""
        return f"fact_check:{self.model.name}"

    @property
    def prompt_version(self) -> str:
        """The version of the built-in prompt, or `custom`."""
        return prompts.FACT_CHECK_VERSION if self.instructions == prompts.FACT_CHECK else "custom"

    @property
    def prompt_hash(self) -> str:
        """SHA-256 over the constant parts of the prompt."""
        return prompts.prompt_hash(self.instructions, constrained=self.constrained)

    @property
    def fingerprint(self) -> str:
        """Covers the prompt, the model's name and settings, and how the reply is read."""
        return fingerprint(
            "fact_check",
            prompt=self.prompt_hash,
            model=self.model.name,
            settings=dict(self.model.settings),
            constrained=self.constrained,
            **({} if self.window is None else {"window": [self.window.settings, prompts.CONTRADICTION]}),
        )

    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """Ask the model about all chunks at once, or part by part."""

        def supports(part: Part) -> Prompt:
            return prompts.fact_check(exchange, self.instructions, constrained=self.constrained, part=part)

        def contradicts(part: Part) -> Prompt:
            return prompts.contradiction(exchange, part, constrained=self.constrained)

        found = yield from divided(exchange, self.window, supports)
        if found is None:
            return too_long(self.window)
        if len(found) == 1:
            return (yield from self._ask(supports(found[0])))
        return (
            yield from judged_in_parts(
                found, lambda part: self._ask(supports(part)), lambda part: self._ask(contradicts(part))
            )
        )

    def _ask(self, prompt: Prompt) -> Flow[Verdict]:
        if self.window is not None and not self.window.holds(prompt):
            return too_long(self.window)
        reply = yield from self.model.ask(prompt, prompts.VERDICT_SCHEMA if self.constrained else None)
        if self.window is not None and self.window.overflowed(reply.usage):
            return self._told(too_long(self.window), reply)
        reading = verdicts.read(reply, prompt, verdicts.constrained if self.constrained else verdicts.literal)
        said = Verdict(reading.decision, reading.reason, raw=reading.raw, detail=reading.detail)
        return self._told(said, reply)

    def _told(self, verdict: Verdict, reply: Reply) -> Verdict:
        return replace(
            verdict,
            prompt_version=self.prompt_version,
            prompt_hash=self.prompt_hash,
            model=reply.model,
            usage=reply.usage,
        )
