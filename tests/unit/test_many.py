"""`check_many` and `acheck_many`: what they take, what they refuse, and in which order everything comes."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import itertools
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from groundguard import Chunk, Exchange, Guard, Reason, Response, Status, UngroundedError
from groundguard.errors import InputError, UsageError
from groundguard.judges import FactCheck
from groundguard.policy import Policy, Prune, Raise, Regenerate, Replace, Return
from groundguard.records import Turn
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel
from support.doors import ASYNC, PLAIN, Door, both_doors
from support.exchange import ANSWER, CHUNKS, QUESTION, running_calls, wait_until
from support.telemetry import Counts, Spans

ITEM = {"question": QUESTION, "answer": ANSWER, "chunks": CHUNKS}
SECRET = "hostile text"


def item(number: int, **more: Any) -> dict[str, Any]:
    return {**ITEM, "question": f"{number}?", **more}


def check_many(door: Door, guard: Guard, exchanges: Any, into: list[Any] | None = None, **more: Any) -> list[Any]:
    return door.items(lambda: (guard.acheck_many if door.is_async else guard.check_many)(exchanges, **more), into=into)


def questions(responses: list[Response[Any]]) -> list[str]:
    return [response.question for response in responses]


# What they take.


@both_doors
def test_exchanges_and_mappings_come_out_in_order(door: Door) -> None:
    judge = ScriptedJudge(True)
    turn = Turn("user", "Hello.")
    given = [
        Exchange("1?", (Chunk("Tall."),), "Tall.", (turn,)),
        item(2, id="ignored"),
        item(3, history=[("user", "Hello.")], chunks="one string"),
        item(4, chunks=iter(["lazy"])),
    ]
    responses = check_many(door, Guard(judge), given, concurrency=1)
    assert questions(responses) == ["1?", "2?", "3?", "4?"]
    assert [response.status for response in responses] == [Status.ANSWERED] * 4
    assert [exchange.history for exchange in judge.exchanges] == [(turn,), (), (turn,), ()]
    assert [exchange.chunks[0].text for exchange in judge.exchanges] == ["Tall.", CHUNKS[0], "one string", "lazy"]


@both_doors
def test_every_kind_of_iterable_will_do(door: Door) -> None:
    class Indexed:
        def __len__(self) -> int:
            return 2

        def __iter__(self) -> Iterator[Any]:
            return iter([item(0), item(1)])

    guard = Guard(ScriptedJudge(True))
    for given in ([item(0), item(1)], (item(0), item(1)), map(item, range(2)), Indexed()):
        assert questions(check_many(door, guard, given)) == ["0?", "1?"]
    assert check_many(door, guard, []) == []


def test_async_iterables_too_behind_the_async_door() -> None:
    async def given() -> AsyncIterator[Any]:
        for number in range(20):
            await asyncio.sleep(0)
            yield item(number)

    guard = Guard(ScriptedJudge(True))
    assert questions(check_many(ASYNC, guard, given())) == [f"{number}?" for number in range(20)]
    with pytest.raises(UsageError, match="the exchanges are async: use `acheck_many`"):
        guard.check_many(given())  # type: ignore[arg-type]


@both_doors
def test_nothing_is_read_before_the_first_response_and_little_after(door: Door) -> None:
    read: list[int] = []

    def given() -> Iterator[Any]:
        for number in itertools.count():
            read.append(number)
            yield item(number)

    guard, responses = Guard(lambda exchange: True), []

    async def ten() -> None:
        async for response in guard.acheck_many(given(), concurrency=2):
            responses.append(response)
            if len(responses) == 10:
                break

    unread = (guard.acheck_many if door.is_async else guard.check_many)(given(), concurrency=2)
    assert read == []
    del unread
    if door.is_async:
        asyncio.run(ten())
    else:
        responses.extend(itertools.islice(guard.check_many(given(), concurrency=2), 10))
    assert questions(responses) == [f"{number}?" for number in range(10)]
    assert len(read) <= 10 + 4 * 2
    gc.collect()
    wait_until(lambda: not running_calls())


@both_doors
def test_so_many_are_judged_at_once(door: Door) -> None:
    barrier = threading.Barrier(4)

    def judge(exchange: Exchange) -> bool:
        return barrier.wait(10.0) >= 0

    responses = check_many(door, Guard(judge), map(item, range(12)), concurrency=4)
    assert [response.status for response in responses] == [Status.ANSWERED] * 12


@both_doors
def test_each_check_is_reported_like_any_other(door: Door) -> None:
    counts, spans = Counts(), Spans()
    check_many(door, Guard(ScriptedJudge(True, False, RuntimeError())), map(item, range(3)), concurrency=1)
    assert counts.queries == {"answered": 1, "ungrounded": 2}
    assert counts.judge_failures == {"judge_error": 1}
    assert len(spans.names) == 2 * 3


@both_doors
def test_each_judge_sees_the_context_of_the_caller(door: Door) -> None:
    variable = contextvars.ContextVar("variable", default=False)
    variable.set(True)
    responses = check_many(door, Guard(lambda exchange: variable.get()), map(item, range(5)), concurrency=2)
    assert [response.status for response in responses] == [Status.ANSWERED] * 5


def test_the_plain_door_works_inside_a_running_loop() -> None:
    async def main() -> list[Any]:
        return check_many(PLAIN, Guard(lambda exchange: True), map(item, range(5)))

    assert questions(asyncio.run(main())) == ["0?", "1?", "2?", "3?", "4?"]


def test_a_plain_judge_does_not_block_the_loop() -> None:
    async def main() -> list[Any]:
        asked, go_on = threading.Event(), threading.Event()

        def judge(exchange: Exchange) -> bool:
            asked.set()
            return go_on.wait(10.0)

        async def release() -> None:
            while not asked.is_set():
                await asyncio.sleep(0.001)
            go_on.set()

        releasing = asyncio.create_task(release())
        responses = [response async for response in Guard(judge).acheck_many(map(item, range(3)))]
        await releasing
        return [response.status for response in responses]

    assert asyncio.run(main()) == [Status.ANSWERED] * 3


# What goes wrong.


@both_doors
def test_a_failing_judge_is_one_response(door: Door) -> None:
    def judge(exchange: Exchange) -> bool:
        if exchange.question in {"1?", "3?"}:
            raise RuntimeError("down")
        return True

    reasons = [response.reason for response in check_many(door, Guard(judge), map(item, range(5)))]
    good, bad = Reason.SUPPORTED, Reason.JUDGE_ERROR
    assert reasons == [good, bad, good, bad, good]


BAD = [
    (7, r"it must be an Exchange\(...\) or a mapping with question, answer and chunks; got a int"),
    (None, "got a NoneType"),
    (SECRET, "got a str"),
    ((QUESTION, ANSWER, CHUNKS), "got a tuple"),
    (Exchange, "got the class Exchange"),
    ({}, "it has no question and no answer and no chunks"),
    ({"question": SECRET, "chunks": [SECRET]}, "it has no answer"),
    ({**ITEM, "question": 7}, "the question must be a string, not int"),
    ({**ITEM, "answer": None}, "the answer must be a string, not NoneType"),
    ({**ITEM, "chunks": 7}, "chunks are a string or an iterable of chunks, not a int"),
    ({**ITEM, "history": SECRET}, "the history is a list of earlier messages, not a str"),
    ({**ITEM, "history": [SECRET]}, "a turn of the history has a role and a content; got a str"),
]


@both_doors
@pytest.mark.parametrize(("bad", "why"), BAD, ids=[why for _, why in BAD])
def test_a_bad_exchange_is_named_after_the_responses_before_it(door: Door, bad: Any, why: str) -> None:
    responses: list[Any] = []
    with pytest.raises(InputError, match=f"^exchange 3: .*{why}") as raised:
        check_many(door, Guard(ScriptedJudge(True)), [item(1), item(2), bad, item(4)], responses)
    assert questions(responses) == ["1?", "2?"]
    assert SECRET not in str(raised.value)


class OwnError(Exception):
    pass


@both_doors
def test_an_error_of_the_input_comes_in_its_place_and_as_it_is(door: Door) -> None:
    error, responses = OwnError(), []

    def given() -> Iterator[Any]:
        yield item(1)
        yield item(2)
        raise error

    with pytest.raises(OwnError) as raised:
        check_many(door, Guard(ScriptedJudge(True)), given(), responses)
    assert raised.value is error
    assert questions(responses) == ["1?", "2?"]


@both_doors
def test_an_error_of_lazy_chunks_comes_in_its_place_and_as_it_is(door: Door) -> None:
    error, responses = OwnError(), []

    def chunks() -> Iterator[str]:
        yield "one"
        raise error

    with pytest.raises(OwnError) as raised:
        check_many(door, Guard(ScriptedJudge(True)), [item(1), item(2, chunks=chunks())], responses)
    assert raised.value is error
    assert questions(responses) == ["1?"]


def test_an_error_of_an_async_input_comes_in_its_place_and_as_it_is() -> None:
    error, responses = OwnError(), []

    async def given() -> AsyncIterator[Any]:
        yield item(1)
        raise error

    with pytest.raises(OwnError) as raised:
        check_many(ASYNC, Guard(ScriptedJudge(True)), given(), responses)
    assert raised.value is error
    assert questions(responses) == ["1?"]


def test_the_input_is_the_callers_to_close() -> None:
    def given() -> Iterator[Any]:
        yield from map(item, itertools.count())

    mine = given()
    responses = Guard(ScriptedJudge(True)).check_many(mine, concurrency=1)
    next(responses)
    responses.close()
    assert next(mine)["question"]


def test_an_async_judge_behind_the_plain_door_is_a_usage_error() -> None:
    async def judge(exchange: Exchange) -> bool:
        return True

    guard = Guard(judge)
    assert len(check_many(ASYNC, guard, [item(1), item(2)])) == 2
    with pytest.raises(UsageError, match="use the async door"):
        check_many(PLAIN, guard, [item(1), item(2)])


@both_doors
@pytest.mark.parametrize("exchanges", [None, 7, SECRET, b"bytes", ITEM, Exchange("q", (), "a"), Exchange])
def test_what_can_not_be_many_is_refused_at_once(door: Door, exchanges: Any) -> None:
    guard = Guard(ScriptedJudge(True))
    with pytest.raises(
        UsageError, match=r"the exchanges are an iterable of Exchange\(...\) or mappings; got "
    ) as raised:
        (guard.acheck_many if door.is_async else guard.check_many)(exchanges)
    assert SECRET not in str(raised.value)


@both_doors
@pytest.mark.parametrize(
    ("concurrency", "got"),
    [(0, "0"), (-1, "-1"), (True, "a bool"), (2.0, "a float"), ("4", "a str"), (None, "a NoneType")],
)
def test_a_bad_concurrency_is_refused_at_once(door: Door, concurrency: Any, got: str) -> None:
    guard = Guard(ScriptedJudge(True))
    with pytest.raises(UsageError, match=f"concurrency is .* a whole number from 1; got {got}$"):
        (guard.acheck_many if door.is_async else guard.check_many)([], concurrency=concurrency)


# Policies.


@both_doors
@pytest.mark.parametrize(
    "policy",
    [Raise(), Raise(on={Status.NO_CONTEXT}), Prune(Raise()), Prune(Prune(Raise()))],
    ids=["Raise", "narrowed", "Prune", "nested"],
)
def test_a_policy_that_raises_is_refused_at_once(door: Door, policy: Policy) -> None:
    guard = Guard(ScriptedJudge(True), policy=policy)
    with pytest.raises(UsageError, match=r"use guard.with_options\(policy=Return\(\)\)"):
        (guard.acheck_many if door.is_async else guard.check_many)([item(1)])


@both_doors
def test_a_policy_that_needs_a_generator_is_refused_at_once(door: Door) -> None:
    def generate(question: str, chunks: Any, *, feedback: Any = None) -> str:
        return ANSWER

    guard = Guard(ScriptedJudge(True), generator=generate, policy=Regenerate(1, Return()))
    with pytest.raises(
        UsageError,
        match="Regenerate works with `ask`, `stream` and their async doors only: `check_many` has no generator",
    ):
        (guard.acheck_many if door.is_async else guard.check_many)([item(1)])


@both_doors
def test_other_policies_act_on_each_response(door: Door) -> None:
    model = FactCheck(ScriptedModel("yes", "no", "yes"))
    responses = check_many(door, Guard(model, policy=Replace("Sorry.")), map(item, range(3)), concurrency=1)
    assert [response.answer for response in responses] == [ANSWER, "Sorry.", ANSWER]
    assert [response.generated for response in responses] == [ANSWER] * 3


@both_doors
def test_what_a_policy_of_ones_own_raises_comes_in_its_place(door: Door) -> None:
    class Strict(Policy):
        def settle(self, response: Response[Any]) -> Response[Any]:
            raise UngroundedError(response)

    responses: list[Any] = []
    with pytest.raises(UngroundedError):
        check_many(door, Guard(ScriptedJudge(False), policy=Strict()), [item(1)], responses)
    assert responses == []


@both_doors
def test_the_guards_own_parts_have_no_say(door: Door) -> None:
    generator = ScriptedGenerator(AssertionError("called"))
    guard = Guard(ScriptedJudge(True), retriever=generator, generator=generator)
    assert questions(check_many(door, guard, [item(1)])) == ["1?"]
