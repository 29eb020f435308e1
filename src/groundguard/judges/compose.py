"""Judges made of judges: the cheap one first, or several that vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from groundguard.errors import UsageError, told
from groundguard.fields import is_sequence
from groundguard.flow.steps import Flow, Together
from groundguard.foreign import is_iterable
from groundguard.judges.base import Judge, as_judge, asked, fingerprint
from groundguard.judges.scoring import checked_share
from groundguard.records import Decision, Exchange, Verdict, total_usage

_SEATS = 3
_LEAST_SEATS = 2


@dataclass(frozen=True, init=False)
class Cascade(Judge):
    """Asks a cheap judge first, and a better one only where the first is not sure.

    ```python
    Cascade(Lexical(), then=FactCheck("openai:NAME"))
    ```

    By default a *no* of the first judge is sure, and its *yes* is not: whatever it affirms, the second decides. A judge
    with many false alarms, such as `Lexical`, turns down right answers that the second would pass: give it a low
    `no_at`, such as 0.3, and the second decides whatever lies above. However the options are set, the verdict is
    SUPPORTED only if one of the two said so, and the second alone unless `yes_at` is given.

    The verdict's decision, reason, score, claims and reply are those of the judge that decided. `members` holds what
    each judge said that was asked, `usage` their tokens together, and `calls_saved` is 1 if the second was not asked,
    plus what the members saved themselves. A first judge that fails has decided nothing.

    Args:
        first: The judge to ask first: any judge, or a function `(Exchange) -> Verdict | bool`.
        then: The judge that decides where the first is not sure: likewise.
        no_at: The highest score, 0 to 1, at which a *no* of the first judge is sure; one without a score is not. None
            takes every *no* for sure, which is safe, since nothing passes by it.
        yes_at: The least score, above 0 and up to 1, at which a *yes* of the first judge is sure; one without a score
            is not. None takes no *yes* for sure.

    Raises:
        UsageError: if one of the two is no judge, or an option is not a number in its range.
    """

    first: Judge = field()
    then: Judge = field()
    no_at: float | None = field(default=None, kw_only=True)
    yes_at: float | None = field(default=None, kw_only=True)

    def __init__(self, first: object, then: object, *, no_at: float | None = None, yes_at: float | None = None) -> None:
        object.__setattr__(self, "first", as_judge(first))
        object.__setattr__(self, "then", as_judge(then))
        object.__setattr__(self, "no_at", None if no_at is None else _level(no_at, "no_at"))
        object.__setattr__(self, "yes_at", None if yes_at is None else checked_share(yes_at, "yes_at"))

    @property
    def name(self) -> str:
        """`cascade` and the names of the two."""
        return f"cascade({self.first.name}, {self.then.name})"

    @property
    def fingerprint(self) -> str:
        """Covers both judges and the options."""
        members = [self.first.fingerprint, self.then.fingerprint]
        return fingerprint("cascade", members=members, no_at=self.no_at, yes_at=self.yes_at)

    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """Ask the first, and the second unless the first is sure."""
        said = yield from asked(self.first, exchange)
        if self._is_sure(said):
            return _decided_by(said, (said,), saved=1)
        decisive = yield from asked(self.then, exchange)
        return _decided_by(decisive, (said, decisive))

    def _is_sure(self, said: Verdict) -> bool:
        if said.decision is Decision.UNSUPPORTED:
            return self.no_at is None or (said.score is not None and said.score <= self.no_at)
        if said.decision is Decision.SUPPORTED:
            return self.yes_at is not None and said.score is not None and said.score >= self.yes_at
        return False


@dataclass(frozen=True, init=False)
class Majority(Judge):
    """Asks several judges, or one judge several times, side by side; more than half of them must say *yes*.

    ```python
    Majority(FactCheck("openai:NAME"), of=3)
    Majority(FactCheck("openai:ONE"), FactCheck("openai:OTHER"), Lexical())
    ```

    One judge asked several times catches what varies between its replies, and only that; different judges catch more.

    The verdict is SUPPORTED if more than half of the seats say *yes*. A silent seat, one that failed or said something
    else than a verdict, counts against, and a tie is no majority. If the *yes* of the silent seats would have made a
    majority, the verdict is UNKNOWN for the reason of the first silent one; else it is UNSUPPORTED.

    The score is the share of seats that say *yes*; the claims are those of the first seat that agrees with the verdict
    and has any. `members` holds what each seat said, in order, and `usage` their tokens together.

    Args:
        judge: One judge for every seat, the first of several, or a list or tuple of judges: any judge, or a function
            `(Exchange) -> Verdict | bool`.
        *others: The other judges. Several have one seat each.
        of: How many seats one judge takes, 2 or more; None means 3.

    Raises:
        UsageError: if there is something that is no judge, fewer than two seats, or both several judges and `of`.
    """

    judge: Judge | tuple[Judge, ...] = field()
    of: int | None = field(default=None, kw_only=True)

    def __init__(self, judge: object, *others: object, of: int | None = None) -> None:
        judges = (judge, *others) if others else judge
        if is_sequence(judges):
            object.__setattr__(self, "judge", _several(judges, of))
            object.__setattr__(self, "of", None)
        else:
            object.__setattr__(self, "judge", _one(judges))
            object.__setattr__(self, "of", _count(_SEATS if of is None else of))

    @property
    def seats(self) -> tuple[Judge, ...]:
        """Who is asked, in order."""
        return self.judge if isinstance(self.judge, tuple) else (self.judge,) * (self.of or _SEATS)

    @property
    def name(self) -> str:
        """`majority` and the names of the judges."""
        if isinstance(self.judge, tuple):
            return f"majority({', '.join(seat.name for seat in self.judge)})"
        return f"majority({self.judge.name}, of={self.of})"

    @property
    def fingerprint(self) -> str:
        """Covers the judge of every seat."""
        return fingerprint("majority", members=[seat.fingerprint for seat in self.seats])

    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """Ask every seat, and count."""
        members: tuple[Verdict, ...] = yield Together(tuple(asked(seat, exchange) for seat in self.seats))
        said = [member.decision for member in members]
        yes, silent = said.count(Decision.SUPPORTED), said.count(Decision.UNKNOWN)
        decision = _counted(yes, silent, len(said))
        first = next(member for member in members if member.decision is decision)
        verdict = Verdict(
            decision,
            first.reason,
            score=yes / len(said),
            claims=next((member.claims for member in members if member.decision is decision and member.claims), ()),
            detail=f"{yes} yes, {len(said) - yes - silent} no, {silent} silent" if silent else None,
            error_type=first.error_type,
        )
        return _with(verdict, members)


def _one(judge: object) -> Judge:
    if is_iterable(judge) and not isinstance(judge, str) and not callable(judge):
        raise UsageError(f"Majority takes one judge, several, or a list or tuple of judges; got {told(judge)}")
    return as_judge(judge)


def _several(judges: Sequence[object], of: int | None) -> tuple[Judge, ...]:
    if of is not None:
        raise UsageError("several judges have one seat each: leave `of` out, or give one judge")
    if len(judges) < _LEAST_SEATS:
        raise UsageError(f"a majority needs at least {_LEAST_SEATS} judges; got {len(judges)}")
    return tuple(map(as_judge, judges))


def _counted(yes: int, silent: int, seats: int) -> Decision:
    """A strict majority of the seats; unknown if the silent ones could have made one."""
    if 2 * yes > seats:
        return Decision.SUPPORTED
    return Decision.UNKNOWN if 2 * (yes + silent) > seats else Decision.UNSUPPORTED


def _decided_by(member: Verdict, members: tuple[Verdict, ...], saved: int = 0) -> Verdict:
    """The verdict of one member as the verdict of the whole: who judged, at what cost and in what time, is not its."""
    return _with(replace(member, judge=None, fingerprint=None, calls=0, seconds=None), members, saved)


def _with(verdict: Verdict, members: tuple[Verdict, ...], saved: int = 0) -> Verdict:
    return replace(
        verdict,
        usage=total_usage(member.usage for member in members),
        members=members,
        calls_saved=saved + sum(member.calls_saved for member in members),
    )


def _level(value: object, name: str) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    got = value if isinstance(value, (int, float)) else told(value)
    raise UsageError(f"{name} is a score from 0 to 1, or None; got {got}")


def _count(of: object) -> int:
    if isinstance(of, int) and not isinstance(of, bool) and of >= _LEAST_SEATS:
        return of
    got = of if isinstance(of, (int, float)) else told(of)
    raise UsageError(f"`of` is the number of seats, {_LEAST_SEATS} or more; got {got}")
