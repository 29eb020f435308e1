"""Many checks: some at once, all in order, few in memory. The bodies of `Guard.check_many` and `acheck_many`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard

from groundguard import options
from groundguard.errors import InputError, UsageError, told
from groundguard.fields import is_mapping
from groundguard.flow.drive import amany, many
from groundguard.flow.steps import Flow
from groundguard.foreign import is_iterable
from groundguard.policy import Policy, Raise
from groundguard.records import Exchange, Response

Item: TypeAlias = Exchange | Mapping[str, Any]
"""An exchange, or a mapping with `question`, `answer`, `chunks` and perhaps `history`; other keys are ignored."""

Check: TypeAlias = Callable[[str, str, object, Iterable[object]], Flow[Response[None]]]
"""The path of one check: of question, answer, chunks and history."""


def check_many(
    check: Check, policy: Policy, exchanges: Iterable[Item], concurrency: int
) -> Generator[Response[None], None, None]:
    """Check the arguments at once, and the exchanges as they are asked for."""
    _can_be_many(policy, concurrency)
    if is_async(exchanges):
        raise UsageError("the exchanges are async: use `acheck_many`")
    return many(_flows(check, _as_items(exchanges)), concurrency)


def acheck_many(
    check: Check, policy: Policy, exchanges: Iterable[Item] | AsyncIterable[Item], concurrency: int
) -> AsyncGenerator[Response[None], None]:
    """`check_many` on the running event loop; the exchanges may be async too."""
    _can_be_many(policy, concurrency)
    flows = _aflows(check, exchanges) if is_async(exchanges) else _as_async(_flows(check, _as_items(exchanges)))
    return amany(flows, concurrency)


def _can_be_many(policy: Policy, concurrency: object) -> None:
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        got = concurrency if type(concurrency) is int else told(concurrency)
        raise UsageError(f"concurrency is how many checks run at once, a whole number from 1; got {got}")
    options.has_no_generator("`check_many`", regenerates=policy.regenerates)
    if _raises(policy):
        raise UsageError(
            "the policy Raise() would end `check_many` at the first answer that is not answered: use"
            " guard.with_options(policy=Return()) and look at each status"
        )


def _raises(policy: object) -> bool:
    while isinstance(policy, Policy) and not isinstance(policy, Raise):
        policy = getattr(policy, "then", None)
    return isinstance(policy, Raise)


def is_async(exchanges: object) -> TypeGuard[AsyncIterable[object]]:
    """Whether it is iterated over with `async for`."""
    return isinstance(exchanges, AsyncIterable)


def _as_items(exchanges: object) -> Iterable[object]:
    if isinstance(exchanges, (str, bytes, Exchange)) or is_mapping(exchanges) or not is_iterable(exchanges):
        raise UsageError(f"the exchanges are an iterable of Exchange(...) or mappings; got {told(exchanges)}")
    return exchanges


def _flows(check: Check, exchanges: Iterable[object]) -> Generator[Flow[Response[None]], None, None]:
    for number, item in enumerate(exchanges, 1):
        yield _flow(check, number, item)


async def _aflows(check: Check, exchanges: AsyncIterable[object]) -> AsyncGenerator[Flow[Response[None]], None]:
    number = 0
    async for item in exchanges:
        number += 1
        yield _flow(check, number, item)


async def _as_async(
    flows: Generator[Flow[Response[None]], None, None],
) -> AsyncGenerator[Flow[Response[None]], None]:
    for flow in flows:
        yield flow


def _flow(check: Check, number: int, item: object) -> Flow[Response[None]]:
    try:
        return check(*_parts(item))
    except UsageError as error:
        raise InputError(f"exchange {number}: {error}") from error


def _parts(item: object) -> tuple[Any, Any, object, Any]:
    """Question, answer, chunks and history; what they hold is for the check to look at."""
    if isinstance(item, Exchange):
        return item.question, item.answer, item.chunks, item.history
    if not is_mapping(item):
        raise UsageError(f"it must be an Exchange(...) or a mapping with question, answer and chunks; got {told(item)}")
    if missing := [key for key in ("question", "answer", "chunks") if key not in item]:
        raise UsageError(f"it has no {' and no '.join(missing)}")
    return item["question"], item["answer"], item["chunks"], item.get("history", ())
