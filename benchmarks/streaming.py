"""When the pieces of a streamed answer leave: after, hold and gate, as parts of the time that generating alone takes.

    python benchmarks/streaming.py

A scripted generator writes 12 sentences at 30 pieces a second; a judge takes 100 ms for any text.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from groundguard import Exchange, Guard, Status
from groundguard.streaming import Mode

SENTENCES = [f"Part {number} of the lamp is made of brushed steel." for number in range(1, 13)]
PIECES = [f" {word}" for sentence in SENTENCES for word in sentence.split()]
PACE, JUDGING = 1 / 30, 0.1
MODES: tuple[Mode, ...] = ("after", "hold", "gate")


@dataclass
class Times:
    """Seconds until the first piece, the last one and the response came."""

    first: float
    last: float
    response: float


def retrieve(_: str) -> list[str]:
    return SENTENCES


def generate(_question: str, _chunks: object) -> Iterator[str]:
    for piece in PIECES:
        time.sleep(PACE)
        yield piece


async def agenerate(_question: str, _chunks: object) -> AsyncIterator[str]:
    for piece in PIECES:
        await asyncio.sleep(PACE)
        yield piece


def judge(_: Exchange) -> bool:
    time.sleep(JUDGING)
    return True


async def ajudge(_: Exchange) -> bool:
    await asyncio.sleep(JUDGING)
    return True


def timed(guard: Guard) -> Times:
    began, came, stream = time.perf_counter(), list[float](), guard.stream("What is it made of?")
    for _ in stream:
        came.append(time.perf_counter() - began)
    assert stream.response.status is Status.ANSWERED
    return Times(came[0], came[-2], came[-1])


async def atimed(guard: Guard) -> Times:
    began, came, stream = time.perf_counter(), list[float](), guard.astream("What is it made of?")
    async for _ in stream:
        came.append(time.perf_counter() - began)
    assert stream.response.status is Status.ANSWERED
    return Times(came[0], came[-2], came[-1])


def alone() -> float:
    began = time.perf_counter()
    for _ in generate("", ()):
        pass
    return time.perf_counter() - began


def show(name: str, times: Times, whole: float) -> None:
    parts = (times.first, times.last, times.response)
    print(f"{name:15}" + "".join(f"{part / whole:14.2f}" for part in parts))


def main() -> None:
    whole = alone()
    print(f"generating alone: {whole:.2f} s = 1; the judge {JUDGING / whole:.2f}")
    print(f"{'':15}{'first piece':>14}{'last piece':>14}{'response':>14}")
    for mode in MODES:
        guard = Guard(judge, retriever=retrieve, generator=generate, streaming=mode)
        show(f"stream, {mode}", timed(guard), whole)
    for mode in MODES:
        guard = Guard(ajudge, retriever=retrieve, generator=agenerate, streaming=mode)
        show(f"astream, {mode}", asyncio.run(atimed(guard)), whole)


if __name__ == "__main__":
    main()
