"""Wrapping other people's chains, as people met it: each test is named after the report it answers."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import pytest

from groundguard import Guard, Reason, Response, Status, record_chunks
from groundguard.errors import GroundguardWarning
from groundguard.policy import Raise, Replace
from groundguard.records import ChunksFrom
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedRetriever
from support.doors import Door, both_doors
from support.telemetry import Spans

QUESTION = "How long does the kettle take?"
EVIDENCE = "The Brunel kettle boils one litre in three minutes."
PIECES = ["It takes ", "three ", "minutes."]
WRONG = ["It takes ", "nine ", "minutes."]


def recording(question: str, pieces: list[str]) -> Iterator[str]:
    record_chunks(EVIDENCE)
    yield from pieces


class Kettle:
    """Slow in both ways; says which way was taken."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def invoke(self, question: str) -> tuple[str, str]:
        self.taken.append("invoke")
        time.sleep(0.3)
        return "It takes three minutes.", EVIDENCE

    async def ainvoke(self, question: str) -> tuple[str, str]:
        self.taken.append("ainvoke")
        await asyncio.sleep(0.3)
        return "It takes three minutes.", EVIDENCE


class PlainKettle:
    def invoke(self, question: str) -> tuple[str, str]:
        return Kettle().invoke(question)


async def patient(exchange: object) -> bool:
    await asyncio.sleep(0.1)
    return True


def blocking(exchange: object) -> bool:
    time.sleep(0.1)
    return True


@pytest.mark.parametrize("judge", [patient, blocking])
@pytest.mark.parametrize("chain", [Kettle(), PlainKettle()])
def test_wrap_async_call_runs_sync_path(judge: Any, chain: Any) -> None:
    late: list[float] = []

    async def heart() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.02)
            late.append(time.monotonic() - before - 0.02)

    async def main() -> Response[Any]:
        beating = asyncio.create_task(heart())
        response = await Guard(judge).wrap(chain).ainvoke(QUESTION)
        beating.cancel()
        return response

    assert asyncio.run(main()).status is Status.ANSWERED
    assert len(late) > 8
    assert max(late) < 0.2
    assert getattr(chain, "taken", ["ainvoke"])[-1] == "ainvoke"


@both_doors
def test_wrap_chitchat_turn_blocked(door: Door) -> None:
    generator = ScriptedGenerator("My pleasure!")
    response = door.ask(
        Guard(ScriptedJudge(True), retriever=ScriptedRetriever([]), generator=generator), "Great, thanks!"
    )

    assert (response.status, response.answer) == (Status.NO_CONTEXT, "My pleasure!")


WAYS_TO_LEAVE = ["break", "return", "raise", "cancel", "aclose in another task", "garbage"]


@pytest.mark.parametrize("way", WAYS_TO_LEAVE)
def test_wrap_consumer_stops_early(way: str, caplog: pytest.LogCaptureFixture) -> None:
    closed: list[str] = []
    judge = ScriptedJudge(True)

    @Guard(judge)
    async def answer(question: str) -> AsyncIterator[str]:
        try:
            for piece in recording(question, PIECES):
                yield piece
                await asyncio.sleep(0.001)
        finally:
            closed.append(question)

    async def read(stream: Any) -> None:
        async for _ in stream:
            if way == "break":
                break
            if way == "return":
                return
            if way == "raise":
                raise LookupError
            if way == "cancel":
                await asyncio.sleep(60)

    async def main() -> None:
        stream: Any = answer(QUESTION)
        if way in {"aclose in another task", "garbage"}:
            await asyncio.create_task(stream.__anext__())
            if way == "garbage":
                del stream
                gc.collect()
            else:
                await asyncio.create_task(stream.aclose())
            return
        task = asyncio.create_task(read(stream))
        await asyncio.sleep(0.01)
        if way == "cancel":
            task.cancel()
        fails = {"raise": LookupError, "cancel": asyncio.CancelledError}
        with pytest.raises(fails[way]) if way in fails else nullcontext():
            await task

    caplog.set_level(logging.INFO)
    spans = Spans()
    asyncio.run(main())
    gc.collect()

    assert closed == [QUESTION]
    assert judge.exchanges == []
    assert caplog.records == []
    assert sorted(spans.names) == ["groundguard generate", "invoke_workflow groundguard"]
    for name in spans.names:
        attributes = spans.one(name).attributes or {}
        assert attributes["groundguard.given_up"] is True
        assert "groundguard.status" not in attributes


@both_doors
@pytest.mark.parametrize("field", ["context", "source_documents"])
def test_wrap_dict_stream_pieces(door: Door, field: str) -> None:
    pieces = [{field: [EVIDENCE]}, *({"answer": piece} for piece in PIECES)]
    judge = ScriptedJudge(True)
    *seen, response = door.items(Guard(judge)(door.generator(lambda question: pieces)), QUESTION)

    assert all(piece is given for piece, given in zip(seen, pieces, strict=True))
    assert judge.exchanges[0].answer == response.answer == "It takes three minutes."
    assert [chunk.text for chunk in response.chunks] == [EVIDENCE]
    assert response.status is Status.ANSWERED


@both_doors
def test_wrap_dict_stream_pieces_that_grow_are_not_guessed_at(door: Door) -> None:
    growing = ["It takes ", "It takes three ", "It takes three minutes."]
    judge = ScriptedJudge(False)
    door.items(Guard(judge)(door.generator(recording)), QUESTION, growing)

    assert judge.exchanges[0].answer == "".join(growing)


@both_doors
@pytest.mark.parametrize("handed_over", [True, False])
@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_wrap_retrieval_in_worker_thread(door: Door, handed_over: bool) -> None:
    judge = ScriptedJudge(True)

    def search(query: str) -> str:
        (chunk,) = record_chunks(query)
        return chunk.text

    with ThreadPoolExecutor(3) as shared:

        def answer(question: str) -> str:
            found = [
                shared.submit(contextvars.copy_context().run, search, f"{question} {part}")
                if handed_over
                else shared.submit(search, f"{question} {part}")
                for part in "abc"
            ]
            return " ".join(future.result() for future in found)

        guarded = Guard(judge)(door.function(answer))
        responses = [door.call(guarded, question) for question in ("one", "two")]

    for question, response in zip(("one", "two"), responses, strict=True):
        if handed_over:
            assert sorted(chunk.text for chunk in response.chunks) == [f"{question} {part}" for part in "abc"]
            assert (response.status, response.chunks_from) == (Status.ANSWERED, ChunksFrom.RECORDED)
        else:
            assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.RETRIEVAL_NOT_OBSERVED)
            assert response.chunks == ()
    assert len(judge.exchanges) == (2 if handed_over else 0)


def test_wrap_shared_instance_concurrency() -> None:
    guard = Guard(lambda exchange: {exchange.question} == {chunk.text for chunk in exchange.chunks})
    running = threading.Barrier(16)

    def invoke(question: str) -> str:
        record_chunks(question)
        return "A"

    async def ainvoke(question: str) -> str:
        await asyncio.sleep(0.001)
        return invoke(question)

    chain = guard.wrap(type("Chain", (), {"invoke": staticmethod(invoke), "ainvoke": staticmethod(ainvoke)})())

    def work(number: int) -> list[Response[Any]]:
        running.wait(5)
        return [chain.invoke(f"<{number}.{repeat}>") for repeat in range(6)]

    async def main() -> list[Response[Any]]:
        return await asyncio.gather(*(chain.ainvoke(f"<{number}>") for number in range(104)))

    spans = Spans()
    with ThreadPoolExecutor(16) as pool:
        threads = [pool.submit(work, number) for number in range(16)]
        responses = asyncio.run(main()) + [response for thread in threads for response in thread.result()]

    assert len({response.question for response in responses}) == 200
    for response in responses:
        assert response.status is Status.ANSWERED
        assert [chunk.text for chunk in response.chunks] == [response.question]
    queries = {span.context.span_id: span for span in spans.ended if span.name == "invoke_workflow groundguard"}
    checks = [span for span in spans.ended if span.name == "groundguard check"]
    assert len(queries) == len(checks) == 200
    assert {check.parent.span_id for check in checks} == set(queries)
    for check in checks:
        digest = "groundguard.evidence.digest"
        assert check.attributes[digest] == queries[check.parent.span_id].attributes[digest]


@both_doors
@pytest.mark.parametrize(("pieces", "said"), [(PIECES, True), (WRONG, False), (PIECES, OSError("down"))])
def test_wrap_streaming_bypasses_the_check(door: Door, pieces: list[str], said: Any) -> None:
    def whole(question: str) -> tuple[str, str]:
        return "".join(pieces), EVIDENCE

    class Chain:
        def invoke(self, question: str) -> tuple[str, str]:
            return whole(question)

    generate = lambda question, chunks: "".join(pieces)  # noqa: E731  # one of five styles
    styles = {
        "ask": lambda guard: door.ask(guard.with_options(retriever=lambda q: EVIDENCE, generator=generate), QUESTION),
        "check": lambda guard: door.check(guard, QUESTION, answer="".join(pieces), chunks=EVIDENCE),
        "function": lambda guard: door.call(guard(door.function(whole)), QUESTION),
        "stream": lambda guard: door.items(guard(door.generator(recording)), QUESTION, pieces)[-1],
        "chain": lambda guard: door.invoke(guard.wrap(Chain()), QUESTION),
    }
    outcomes = set()
    for style in styles.values():
        judge = ScriptedJudge(said)
        response = style(Guard(judge))
        assert len(judge.exchanges) == 1
        outcomes.add((response.status, response.reason, response.answer))
    assert len(outcomes) == 1


@both_doors
@pytest.mark.parametrize("said", [False, OSError("down")])
def test_wrap_text_shown_before_verdict(door: Door, said: Any) -> None:
    judge = ScriptedJudge(said)
    *passed, last = door.items(Guard(judge)(door.generator(recording)), QUESTION, WRONG)
    assert passed == WRONG
    assert (type(last), last.status, last.answer) == (Response, Status.UNGROUNDED, "".join(WRONG))

    *held, last = door.items(Guard(judge, policy=Replace("Ask the shop."))(door.generator(recording)), QUESTION, WRONG)
    assert held == ["Ask the shop."]
    assert (last.status, last.generated) == (Status.UNGROUNDED, "".join(WRONG))

    nothing: list[Any] = []
    with pytest.raises(Exception, match="ungrounded"):
        door.items(Guard(judge, policy=Raise())(door.generator(recording)), QUESTION, WRONG, into=nothing)
    assert nothing == []


@both_doors
def test_ctx_capture_missing_is_not_empty(door: Door) -> None:
    """Without a framework; with one, see the end-to-end tests."""
    judge = ScriptedJudge(True)

    def search_and_answer(question: str) -> str:
        return "It takes three minutes."

    with pytest.warns(GroundguardWarning) as warned:
        response = door.call(Guard(judge)(door.function(search_and_answer)), QUESTION)
    door.call(Guard(judge)(door.function(search_and_answer)), QUESTION)  # a second warning would be an error

    assert len(warned) == 1
    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.RETRIEVAL_NOT_OBSERVED)
    assert judge.exchanges == []
