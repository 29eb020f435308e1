"""What a run may cost, what it has cost, and how it stops before it costs more."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

from groundguard.errors import UsageError
from groundguard.records import Response, Usage, Verdict, total_usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run; None sets none.

    A limit on calls is exact wherever the calls can be seen: those of the panel's judges, and of the judge of a guard
    or of a chain that is guarded here. Tokens, money and the calls inside a target that is guarded already are known
    only when a result is there. So a result begins only while what was spent, and for each result under way as much as
    the dearest so far, leave room for one more; the first runs alone. The limit can be passed by what one result takes
    more than the dearest before it.

    Attributes:
        calls: Calls of judges' models, retries included.
        tokens: Tokens in and out that the judges' servers report.
        cost: Money, in the unit of the prices.
        price_in: Price of a million input tokens.
        price_out: Price of a million output tokens.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    price_in: float | None = None
    price_out: float | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "tokens", "cost", "price_in", "price_out"):
            value = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if value is not None and not (number and 0 <= value < math.inf):
                raise UsageError(f"{name} is a number from 0, or None for no limit")
        if self.cost is not None and None in {self.price_in, self.price_out}:
            raise UsageError("a limit on cost needs both prices: price_in and price_out, for a million tokens each")

    @property
    def needs_tokens(self) -> bool:
        """Whether a limit can be held only if the servers report tokens."""
        return self.tokens is not None or self.cost is not None

    def price(self, usage: Usage | None) -> float | None:
        """What tokens cost; None where a price or a count is unknown."""
        if self.price_in is None or self.price_out is None or usage is None:
            return None
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        return (usage.input_tokens * self.price_in + usage.output_tokens * self.price_out) / MILLION


UNLIMITED = Budget()
"""No limit, and no prices."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What results took; adds up.

    Attributes:
        calls: Calls of judges' models.
        usage: Tokens as the servers reported them; None where none did.
        silent: How many results asked a model whose server did not report all tokens.
    """

    calls: int = 0
    usage: Usage | None = None
    silent: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.calls + other.calls, total_usage((self.usage, other.usage)), self.silent + other.silent)

    @property
    def tokens(self) -> int:
        """The tokens that are known, in and out."""
        usage = self.usage or Usage()
        return (usage.input_tokens or 0) + (usage.output_tokens or 0)

    def cost(self, budget: Budget) -> float | None:
        """What it cost; None where that is not known for every result."""
        return None if self.silent else budget.price(self.usage)


def read_spent(data: Mapping[str, Any]) -> Spent:
    """What was spent, back from its fields as JSON values."""
    return Spent(data["calls"], None if data["usage"] is None else Usage(**data["usage"]), data["silent"])


def leaves(verdict: Verdict) -> Iterator[Verdict]:
    """The verdicts that a model was asked for, under those that were made of others."""
    if not verdict.members:
        yield verdict
    for member in verdict.members:
        yield from leaves(member)


def spent_on(response: Response[object] | None, verdicts: Iterable[Verdict | None]) -> Spent:
    """What the verdicts of one result took; a metric that takes over the response's verdict has taken its cost off."""
    own = () if response is None else (response.verdict, *(each.verdict for each in response.attempts))
    given = [verdict for verdict in (*own, *verdicts) if verdict is not None]
    silent = any(_is_silent(leaf) for verdict in given for leaf in leaves(verdict))
    return Spent(sum(each.calls for each in given), total_usage(each.usage for each in given), int(silent))


def _is_silent(verdict: Verdict) -> bool:
    usage = verdict.usage or Usage()
    return verdict.calls > 0 and None in {usage.input_tokens, usage.output_tokens}


class Purse:
    """A budget while it is being spent. All but `take` belongs to the one thread, or loop, that takes the results.

    Args:
        budget: The limits.
        spent: What was spent before.
        results: What each result before took: the dearest is the measure of those to come.
        hidden: Whether the target makes calls of a judge that nobody sees.

    Attributes:
        budget: The limits.
        spent: What was spent so far.
    """

    def __init__(self, budget: Budget, spent: Spent, results: Iterable[Spent] = (), *, hidden: bool = False) -> None:
        self.budget, self.spent = budget, spent
        self._reserves = budget.needs_tokens or (hidden and budget.calls is not None)
        self._counts = hidden
        self._delivered = 0
        self._calls, self._tokens, self._cost = 0, 0, 0.0
        self._known = False
        limit = budget.calls
        left = None if limit is None else max(0, int(limit) - spent.calls)
        self._tickets = None if left is None else deque(repeat(None, left))
        for each in results:
            self._learn(each)

    def take(self) -> bool:
        """Take the price of one call; False if there is nothing left. From any thread, and never one too many."""
        if self._tickets is None:
            return True
        try:
            self._tickets.pop()
        except IndexError:
            return False
        return True

    def deliver(self, spent: Spent, seen: int, known: int) -> None:
        """Account for a result that is there.

        Args:
            spent: What it took; none where it is not finished.
            seen: How many of its calls were taken one by one.
            known: How many of these were made and counted before this process began.
        """
        self._delivered += 1
        self.spent += replace(spent, calls=spent.calls - known)
        for _ in range(spent.calls - seen):
            self.take()
        self._learn(spent)

    def _learn(self, spent: Spent) -> None:
        self._known = self._known or bool(spent.calls)
        self._calls = max(self._calls, spent.calls)
        self._tokens = max(self._tokens, spent.tokens)
        self._cost = max(self._cost, self.budget.price(spent.usage) or 0.0)

    def is_first(self, number: int) -> bool:
        """Whether nothing is under way before this result."""
        return number <= self._delivered

    def admits(self, number: int) -> bool:
        """Whether the result that began as number `number`, from 0, may go on."""
        if not self._reserves:
            return True
        if not self._known:
            return self.is_first(number)
        results, budget, spent = max(0, number - self._delivered) + 1, self.budget, self.spent
        calls = not self._counts or budget.calls is None or spent.calls + results * self._calls <= budget.calls
        tokens = budget.tokens is None or spent.tokens + results * self._tokens <= budget.tokens
        cost = budget.price(spent.usage) or 0.0
        return calls and tokens and (budget.cost is None or cost + results * self._cost <= budget.cost)

    @property
    def is_blind(self) -> bool:
        """Whether there is a limit that can't be held, since a server reports no tokens."""
        return self.budget.needs_tokens and self.spent.silent > 0
