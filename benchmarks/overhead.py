"""What the guard costs beside the judge's own request: ratios within one run, against the bare `openai` client.

    python benchmarks/overhead.py

A loopback server answers `yes` after 20 ms (single checks) or 50 ms (200 checks, 16 at once, by `check_many` and
`acheck_many`; the bare client by threads and by tasks).
"""

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import Process, SimpleQueue

from openai import AsyncOpenAI, OpenAI

from groundguard import Chunk, Exchange, Guard, Response, Status
from groundguard.judges import FactCheck
from groundguard.judges.prompts import fact_check
from groundguard.models import OpenAIModel

CHUNKS = tuple(Chunk(f"Passage {number}. " + "The household policy covers burst pipes. " * 13) for number in range(4))
QUESTION, ANSWER = "What is covered?", "Burst pipes are covered. Fire is covered. Floods are not."
EXCHANGE = Exchange(QUESTION, CHUNKS, ANSWER)
PROMPT = fact_check(EXCHANGE)
MESSAGES = [{"role": "system", "content": PROMPT.system}, {"role": "user", "content": PROMPT.user}]
REPLY = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
    }
).encode()
SINGLE, MANY, AT_ONCE = 41, 200, 16


class Judge(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    latency = 0.0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        time.sleep(self.latency)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(REPLY)))
        self.end_headers()
        self.wfile.write(REPLY)

    def log_message(self, *_: object) -> None: ...


def serve(latency: float, port: "SimpleQueue[int]") -> None:
    Judge.latency = latency
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    port.put(server.server_port)
    server.serve_forever()


@contextmanager
def judge_server(latency: float) -> Iterator[str]:
    port: SimpleQueue[int] = SimpleQueue()
    process = Process(target=serve, args=(latency, port), daemon=True)
    process.start()
    yield f"http://127.0.0.1:{port.get()}/v1"
    process.kill()


def median_ms(call: Callable[[], object]) -> float:
    times = []
    for _ in range(SINGLE):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def seconds(run: Callable[[int], object]) -> float:
    run(AT_ONCE)  # connections are opened before the clock starts
    began = time.perf_counter()
    run(MANY)
    return time.perf_counter() - began


async def aseconds(run: Callable[[int], Awaitable[object]]) -> float:
    await run(AT_ONCE)
    began = time.perf_counter()
    await run(MANY)
    return time.perf_counter() - began


def by_threads(url: str) -> tuple[float, float]:
    with OpenAI(base_url=url, api_key="none") as client, ThreadPoolExecutor(AT_ONCE) as pool:
        guard = Guard(FactCheck(OpenAIModel(client, "m")))

        def bare(count: int) -> None:
            list(pool.map(lambda _: client.chat.completions.create(model="m", messages=MESSAGES), range(count)))

        def guarded(count: int) -> None:
            checked(list(guard.check_many([EXCHANGE] * count, concurrency=AT_ONCE)), count)

        return seconds(bare), seconds(guarded)


async def by_tasks(url: str) -> tuple[float, float]:
    async with AsyncOpenAI(base_url=url, api_key="none") as client:
        guard = Guard(FactCheck(OpenAIModel(client, "m")))

        async def bare(count: int) -> None:
            gate = asyncio.Semaphore(AT_ONCE)

            async def one() -> None:
                async with gate:
                    await client.chat.completions.create(model="m", messages=MESSAGES)

            await asyncio.gather(*(one() for _ in range(count)))

        async def guarded(count: int) -> None:
            checked([each async for each in guard.acheck_many([EXCHANGE] * count, concurrency=AT_ONCE)], count)

        return await aseconds(bare), await aseconds(guarded)


def checked(responses: list[Response[None]], count: int) -> None:
    assert [response.status for response in responses] == [Status.ANSWERED] * count


def main() -> None:
    with judge_server(0.02) as url, OpenAI(base_url=url, api_key="none") as client:
        guard = Guard(FactCheck(OpenAIModel(client, "m")))
        bare = median_ms(lambda: client.chat.completions.create(model="m", messages=MESSAGES))
        guarded = median_ms(lambda: guard.check(QUESTION, answer=ANSWER, chunks=CHUNKS))
    print(f"one check     openai {bare:6.1f} ms   guard {guarded:6.1f} ms   ratio {guarded / bare:.2f}")

    with judge_server(0.05) as url:
        rows = {"check_many": by_threads(url), "acheck_many": asyncio.run(by_tasks(url))}
    ideal = MANY * 0.05 / AT_ONCE
    for name, (bare, guarded) in rows.items():
        print(f"{name:13} openai {bare:6.2f} s    guard {guarded:6.2f} s    ratio {guarded / bare:.2f}", end="")
        print(f"   (ideal {ideal:.2f} s: openai / ideal {bare / ideal:.2f}, guard / ideal {guarded / ideal:.2f})")


if __name__ == "__main__":
    main()
