"""What a judge is, and how it is asked: whatever goes wrong while judging becomes a verdict."""

from __future__ import annotations

import hashlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from groundguard.errors import GroundguardWarning, UsageError, told, warn_once
from groundguard.flow.drive import arun, run
from groundguard.flow.steps import Call, Callee, Emit, Flow, OutOfTimeError, Step, as_callee, interpose, name_of, within
from groundguard.models.failures import failure_of
from groundguard.records import Decision, Exchange, Reason, Verdict
from groundguard.retry import Retry, retrying

T = TypeVar("T")

Clock = Callable[[], float]

_RETURNED = "it returned"


class Judge(ABC):
    """Decides whether an answer is supported by its chunks: a flow inside, a plain callable outside."""

    @property
    @abstractmethod
    def name(self) -> str:
        """A short name, for verdicts and telemetry."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Covers kind, prompt, model name and settings: two judges with one fingerprint judge alike."""

    @property
    def notice(self) -> str | None:
        """What a person should be told once, when this judge is first asked; None if nothing."""
        return None

    @abstractmethod
    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """The judgement, as a flow. It may raise; whoever asks makes a verdict of that."""

    def __call__(self, exchange: Exchange) -> Verdict:
        """Judge one exchange, without a deadline."""
        return run(judged(self, exchange))

    async def acall(self, exchange: Exchange) -> Verdict:
        """Judge one exchange on the running event loop, without a deadline."""
        return await arun(judged(self, exchange))


@dataclass(frozen=True)
class FunctionJudge(Judge):
    """Any callable `(Exchange) -> Verdict | bool`, plain or async, as a judge."""

    function: Callable[[Exchange], object]

    def __post_init__(self) -> None:
        as_callee(self.function, "judge", arguments=1)

    @property
    def name(self) -> str:
        """The function's name."""
        return name_of(self.function)

    @property
    def fingerprint(self) -> str:
        """Covers the function's name only: nobody can see inside."""
        return fingerprint("function", name=self.name)

    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """Call the function."""
        said = yield Call(as_callee(self.function, "judge"), (exchange,), retry="asked")
        return _as_verdict(said)


def as_judge(judge: object) -> Judge:
    """Recognise what a guard was given as its judge; raises `UsageError` if it is no judge."""
    if isinstance(judge, Judge):
        return judge
    if isinstance(getattr(judge, "judge", None), Judge):
        raise UsageError("a guard is no judge: hand over the one that it asks, guard.judge")
    if isinstance(judge, str):
        raise UsageError("a judge is a value, not a string: write FactCheck('openai:NAME') or Lexical()")
    if isinstance(judge, type) and issubclass(judge, Judge):
        raise UsageError(f"a judge is a value, not a class: write {judge.__name__}(...)")
    if isinstance(judge, type) or not callable(judge):
        raise UsageError(
            f"a judge is FactCheck(model), Lexical() or a function (Exchange) -> Verdict | bool; got {told(judge)}"
        )
    return FunctionJudge(judge)


def judged(
    judge: Judge,
    exchange: Exchange,
    *,
    timeout: float | None = None,
    retry: Retry | None = None,
    clock: Clock = time.monotonic,
) -> Flow[Verdict]:
    """Ask `judge` once; always a verdict, but for wiring mistakes and what must reach the caller, like cancellation.

    Args:
        judge: Whom to ask.
        exchange: About what.
        timeout: Seconds for all calls and waits together; None sets no limit.
        retry: How often each model call is tried; None leaves it to the model.
        clock: Reads seconds.
    """

    def limited() -> Flow[Verdict]:
        return within(retrying(judge.flow(exchange), retry), timeout, clock)

    return _asked(judge, limited, clock, timeout)


def asked(judge: Judge, exchange: Exchange, clock: Clock = time.monotonic) -> Flow[Verdict]:
    """Ask a judge on behalf of another, whose deadline and retries hold for it too; always a verdict, like `judged`."""
    return _asked(judge, lambda: judge.flow(exchange), clock)


def _asked(
    judge: Judge, begin: Callable[[], Flow[Verdict]], clock: Clock, timeout: float | None = None
) -> Flow[Verdict]:
    began, notice, said = clock(), None, None
    calls: list[Step] = []  # appended to, not counted up: flows that run together share it

    def counted(step: Step) -> Flow[Any]:
        if isinstance(step, Emit):
            raise RuntimeError("a judge hands out a verdict, and no pieces")  # noqa: TRY004  # no type of a value is wrong
        if isinstance(step, Call) and step.retry != "never":
            calls.append(step)
        return (yield step)

    try:
        notice = judge.notice
        said = yield from interpose(begin(), counted)
        verdict = _signed(_as_verdict(said), judge)
    except (UsageError, GroundguardWarning):
        raise
    except Exception as error:  # noqa: BLE001  # a failing judge is never a passing judge, and never the caller's exception
        verdict = failed(error, timeout)
        with suppress(Exception):  # a judge that can't even tell its name
            verdict = _signed(verdict, judge)
    if notice is not None:
        warn_once(notice, "notice", str(verdict.judge))
    _tell_malformed(verdict, ours=_is_ours(judge, said))
    return replace(verdict, calls=verdict.calls or len(calls), seconds=clock() - began)


def aside(function: Callable[..., T], *args: object) -> Flow[T]:
    """Compute what may take long as a call: it blocks no event loop, and a deadline ends it."""
    result: T = yield Call(Callee(function, None, f"the judge's {name_of(function)}"), args)
    return result


def settled(flow: Flow[Verdict]) -> Flow[Verdict]:
    """Run a part of a judgement: an exception of it becomes its verdict, and the other parts go on."""
    try:
        return (yield from flow)
    except (UsageError, GroundguardWarning):
        raise
    except Exception as error:  # noqa: BLE001  # a failing part is never a passing part
        return failed(error)


def fingerprint(kind: str, **settings: object) -> str:
    """A short hash over the kind of a judge and whatever shapes its verdicts."""
    text = json.dumps({"kind": kind, **settings}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _as_verdict(said: object) -> Verdict:
    if isinstance(said, Verdict):
        return Verdict(*(getattr(said, each.name) for each in fields(Verdict)))
    if isinstance(said, bool):
        return Verdict(Decision.SUPPORTED if said else Decision.UNSUPPORTED)
    kind = type(said)
    named = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    detail = f"{_RETURNED} {named}; a judge returns a Verdict or a bool"
    return Verdict(Decision.UNKNOWN, Reason.VERDICT_MALFORMED, detail=detail)


def _signed(verdict: Verdict, judge: Judge) -> Verdict:
    return replace(verdict, judge=verdict.judge or judge.name, fingerprint=verdict.fingerprint or judge.fingerprint)


def failed(error: Exception, timeout: float | None = None) -> Verdict:
    """The verdict of a judge that raised."""
    reason, detail = Reason.JUDGE_ERROR, None
    if isinstance(error, OutOfTimeError):
        reason, detail = (
            Reason.JUDGE_TIMEOUT,
            "no verdict in time" if timeout is None else f"no verdict within {timeout} s",
        )
    else:
        with suppress(Exception):  # an exception that can't even be described
            detail = str(error)
            reason = failure_of(error).reason
    return Verdict(Decision.UNKNOWN, reason, detail=detail, error_type=type(error).__name__)


def _is_ours(judge: Judge, said: object) -> bool:
    """Whether the detail of a verdict is in our own words: that of somebody else's judge may quote anything."""
    foreign = isinstance(judge, FunctionJudge) and isinstance(said, Verdict)
    return type(judge).__module__.startswith("groundguard.judges.") and not foreign


def _tell_malformed(verdict: Verdict, *, ours: bool) -> None:
    """Warn once a judge. Where a judge asked others, they have told it."""
    if verdict.reason is not Reason.VERDICT_MALFORMED or any(member.judge is not None for member in verdict.members):
        return
    text = f"the judge {verdict.judge} replied, but not with a verdict"
    if ours and verdict.detail:
        text += f": {verdict.detail}"
    if verdict.prompt_version is not None:
        text += ". Nothing passes without a literal verdict; `groundguard doctor` shows what the judge says and how to"
        text += " change it"
    warn_once(f"{text}.", "malformed", str(verdict.fingerprint))
