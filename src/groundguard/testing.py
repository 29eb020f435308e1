"""For tests, ours and yours: scripted fakes, and an assertion.

Each fake works in both doors and remembers what it was given.

```python
guard = Guard(FactCheck(ScriptedModel("yes")), retriever=ScriptedRetriever("…"), generator=ScriptedGenerator("…"))
assert_grounded(guard.ask("How long is the warranty?"))
```
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, repeat
from typing import Any, Generic, TypeVar

from groundguard.chunks import freeze
from groundguard.errors import UsageError, forget_warnings, told
from groundguard.flow.steps import Call, Callee, Flow
from groundguard.judges import Judge
from groundguard.models import Model, Prompt, Reply
from groundguard.policy import Feedback
from groundguard.records import JUDGE_FAILURES, Chunk, Claim, Decision, Exchange, Response, Status, Verdict
from groundguard.text import escaped

__all__ = [
    "ScriptedGenerator",
    "ScriptedJudge",
    "ScriptedModel",
    "ScriptedRetriever",
    "assert_grounded",
    "forget_warnings",
]

T = TypeVar("T")


class Script(Generic[T]):
    """Lines to say in order; an exception is raised instead of said; the last line is said for ever."""

    def __init__(self, lines: Iterable[T | BaseException]) -> None:
        lines = list(lines)
        if not lines:
            raise ValueError("a script has at least one line")
        self._lines = chain(lines, repeat(lines[-1]))

    def say(self) -> T:
        """The next line."""
        line = next(self._lines)
        if isinstance(line, BaseException):
            raise line
        return line


class ScriptedModel(Model):
    """A model that replies by script.

    Args:
        *replies: Texts, `Reply`s or exceptions, in order; the last one for ever. Anything else is sent as content.
        name: The model's name.

    Attributes:
        prompts: What it was asked, in order.
        schemas: The schema that came with each prompt, or None.
    """

    def __init__(self, *replies: Any, name: str = "scripted") -> None:
        self._script: Script[Any] = Script(replies)
        self._name = name
        self.prompts: list[Prompt] = []
        self.schemas: list[Mapping[str, Any] | None] = []

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Flow[Reply]:
        """Say the next line."""

        def ask() -> Reply:
            self.prompts.append(prompt)
            self.schemas.append(schema)
            line = self._script.say()
            return line if isinstance(line, Reply) else Reply(line, "stop", model=self._name)

        reply: Reply = yield Call(Callee(ask, None, f"the model {self._name}"), retry="default")
        return reply


class ScriptedJudge(Judge):
    """A judge that decides by script.

    Args:
        *verdicts: `Verdict`s, `Decision`s, truth values or exceptions, in order; the last one for ever.

    Attributes:
        exchanges: What it was asked about, in order.
    """

    def __init__(self, *verdicts: Verdict | Decision | bool | BaseException) -> None:
        self._script: Script[Verdict | Decision | bool] = Script(verdicts)
        self.exchanges: list[Exchange] = []

    @property
    def name(self) -> str:
        """`scripted`."""
        return "scripted"

    @property
    def fingerprint(self) -> str:
        """`scripted`."""
        return "scripted"

    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """Say the next verdict."""

        def decide() -> Verdict:
            self.exchanges.append(exchange)
            line = self._script.say()
            if isinstance(line, bool):
                line = Decision.SUPPORTED if line else Decision.UNSUPPORTED
            return line if isinstance(line, Verdict) else Verdict(line)

        verdict: Verdict = yield Call(Callee(decide, None, "the scripted judge"), retry="asked")
        return verdict


class ScriptedRetriever:
    """A retriever that finds the same chunks for every question.

    Args:
        chunks: Whatever a guard takes for chunks; an exception is raised instead.

    Attributes:
        questions: What it was asked, in order.
    """

    def __init__(self, chunks: object = ()) -> None:
        self._script: Script[tuple[Chunk, ...]] = Script(
            [chunks if isinstance(chunks, BaseException) else freeze(chunks)]
        )
        self.questions: list[str] = []

    def __call__(self, question: str) -> tuple[Chunk, ...]:
        """Find the chunks."""
        self.questions.append(question)
        return self._script.say()


class ScriptedGenerator:
    """A generator that answers by script.

    Args:
        *answers: Texts or exceptions, in order; the last one for ever.

    Attributes:
        calls: The question and chunks of each call, in order.
        feedback: What each call was told about the answer before, in order; None where nothing.
    """

    def __init__(self, *answers: str | BaseException) -> None:
        self._script: Script[str] = Script(answers)
        self.calls: list[tuple[str, tuple[Chunk, ...]]] = []
        self.feedback: list[Feedback | None] = []

    def __call__(self, question: str, chunks: tuple[Chunk, ...], *, feedback: Feedback | None = None) -> str:
        """Say the next answer."""
        self.calls.append((question, chunks))
        self.feedback.append(feedback)
        return self._script.say()


def assert_grounded(response: Response[Any]) -> None:
    """Fail the test unless a response is `answered`.

    A judge that could not say fails it as well, and the message says so: what was not checked has not passed. It quotes
    the answer and its claims.

    Args:
        response: A labelled response, of `Guard.ask`, `Guard.check`, or of something that a guard wraps.

    Raises:
        AssertionError: if its status is `ungrounded` or `no_context`.
        UsageError: if it is no response.
    """
    __tracebackhide__ = True
    if not isinstance(response, Response):
        raise UsageError(f"assert_grounded takes a groundguard Response, not {told(response)}")
    if response.status is not Status.ANSWERED:
        raise AssertionError("\n".join(_against(response)))


def _against(response: Response[Any]) -> Iterable[str]:
    yield f"not grounded: {response.status.value} ({response.reason.value})"
    verdict = response.verdict
    if response.reason in JUDGE_FAILURES:
        yield "  the judge could not say, so nothing was checked; that is a failure, not a skip"
    if verdict is not None and verdict.detail:
        yield f"  detail: {escaped(verdict.detail)}"
    for claim in () if verdict is None else verdict.claims:
        if (words := _WORDS.get(claim.decision)) is not None:
            yield f"  {words}: {escaped(claim.text)}{_missing(claim)}"
    yield f"  question: {escaped(response.question)}"
    yield f"  answer: {escaped(response.generated)}"
    yield f"  chunks: {len(response.chunks)}"


def _missing(claim: Claim) -> str:
    return f" (lacks or contradicts: {escaped(', '.join(claim.missing))})" if claim.missing else ""


_WORDS: Mapping[Decision | None, str] = {Decision.UNSUPPORTED: "not supported", Decision.UNKNOWN: "no verdict on"}
