"""What the guard costs beside the judge's own request: ratios within one run, against the bare `openai` client.

    python benchmarks/overhead.py

A loopback server answers `yes` after 20 ms (single checks) or 50 ms (200 checks, 16 at once).
"""

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import Process, SimpleQueue

from openai import AsyncOpenAI, OpenAI

from groundguard import Chunk, Exchange, Guard
from groundguard.judges import FactCheck
from groundguard.judges.prompts import fact_check
from groundguard.models import OpenAIModel

CHUNKS = tuple(Chunk(f"Passage {number}. " + "The household policy covers burst pipes. " * 13) for number in range(4))
QUESTION, ANSWER = "What is covered?", "Burst pipes are covered. Fire is covered. Floods are not."
PROMPT = fact_check(Exchange(QUESTION, CHUNKS, ANSWER))
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


async def batch_s(call: Callable[[], Awaitable[object]]) -> float:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one() -> None:
        async with gate:
            await call()

    await asyncio.gather(*(one() for _ in range(AT_ONCE)))
    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(MANY)))
    return time.perf_counter() - began


async def batches(url: str) -> tuple[float, float]:
    async with AsyncOpenAI(base_url=url, api_key="none") as client:
        guard = Guard(FactCheck(OpenAIModel(client, "m")))
        bare = await batch_s(lambda: client.chat.completions.create(model="m", messages=MESSAGES))
        guarded = await batch_s(lambda: guard.acheck(QUESTION, answer=ANSWER, chunks=CHUNKS))
    return bare, guarded


def main() -> None:
    with judge_server(0.02) as url, OpenAI(base_url=url, api_key="none") as client:
        guard = Guard(FactCheck(OpenAIModel(client, "m")))
        bare = median_ms(lambda: client.chat.completions.create(model="m", messages=MESSAGES))
        guarded = median_ms(lambda: guard.check(QUESTION, answer=ANSWER, chunks=CHUNKS))
    print(f"one check     openai {bare:6.1f} ms   guard {guarded:6.1f} ms   ratio {guarded / bare:.2f}")

    with judge_server(0.05) as url:
        bare_s, guarded_s = asyncio.run(batches(url))
    ideal = MANY * 0.05 / AT_ONCE
    print(f"200 checks    openai {bare_s:6.2f} s    guard {guarded_s:6.2f} s    ratio {guarded_s / bare_s:.2f}", end="")
    print(f"   (ideal {ideal:.2f} s; guard / ideal {guarded_s / ideal:.2f})")


if __name__ == "__main__":
    main()
