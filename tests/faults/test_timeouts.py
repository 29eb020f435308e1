"""Deadlines: whatever hangs, the caller gets `judge_timeout` in time, and nothing waits for what still hangs."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import openai
import pytest

from groundguard import Exchange, Guard, Reason, Retry, Status
from groundguard.flow.drive import MOST_ABANDONED
from groundguard.judges import FactCheck
from groundguard.models import OpenAIModel
from support.exchange import ANSWER, CHECKS, CHUNKS, QUESTION, Check, acheck, check, running_calls, stuck, wait_until
from support.server import Server, drip, hang, say
from support.telemetry import Counts


@pytest.fixture
def event() -> Iterator[threading.Event]:
    """What plain calls hang on, until the test is over."""
    with stuck() as event:
        yield event


@pytest.fixture(params=CHECKS.values(), ids=CHECKS)
def door(request: pytest.FixtureRequest) -> Check:
    return request.param


def _times_out(door: Check, judge: object, counts: Counts, *, seconds: float = 0.5, **options: Any) -> None:
    began = time.monotonic()
    response = door(Guard(judge, timeout=seconds, **options))
    took = time.monotonic() - began

    assert took < seconds + 0.5, "the contract: within 1 s for a timeout of 0.5 s"
    assert (response.status, response.reason, response.answer) == (Status.UNGROUNDED, Reason.JUDGE_TIMEOUT, ANSWER)
    assert (counts.queries, counts.judge_failures) == ({"ungrounded": 1}, {"judge_timeout": 1})


def test_a_plain_function(door: Check, event: threading.Event, counts: Counts) -> None:
    def judge(exchange: Exchange) -> bool:
        return event.wait()

    _times_out(door, judge, counts)


def test_a_callable_object(door: Check, event: threading.Event, counts: Counts) -> None:
    class Judge:
        def __call__(self, exchange: Exchange) -> bool:
            return event.wait()

    _times_out(door, Judge(), counts)


def test_a_model_that_is_a_plain_function(door: Check, event: threading.Event, counts: Counts) -> None:
    def model(prompt: str) -> str:
        return "yes" if event.wait() else "no"

    _times_out(door, FactCheck(model), counts, retry=Retry(attempts=5))


def test_a_sync_client(door: Check, client: openai.OpenAI, counts: Counts) -> None:
    with Server(hang()) as server:
        _times_out(door, FactCheck(OpenAIModel(client.with_options(base_url=server.url), "m")), counts)
        assert len(server.requests) == 1


def test_a_sync_client_whose_own_timeout_restarts_at_every_byte(
    door: Check, client: openai.OpenAI, counts: Counts
) -> None:
    with Server(drip("yes")) as server:
        own = client.with_options(base_url=server.url, timeout=openai.Timeout(300.0))
        _times_out(door, FactCheck(OpenAIModel(own, "m")), counts)


def test_an_async_client(async_client: openai.AsyncOpenAI, runner: asyncio.Runner, counts: Counts) -> None:
    with Server(hang()) as server:
        model = OpenAIModel(async_client.with_options(base_url=server.url), "m")
        _times_out(lambda guard: runner.run(acheck(guard)), FactCheck(model), counts)
        assert len(server.requests) == 1


def test_an_async_function(counts: Counts) -> None:
    async def judge(exchange: Exchange) -> bool:
        await asyncio.sleep(60)
        return True

    _times_out(CHECKS["acheck"], judge, counts)


def test_a_plain_function_that_returns_an_awaitable_shares_one_deadline(counts: Counts) -> None:
    def judge(exchange: Exchange) -> Awaitable[None]:
        time.sleep(0.3)
        return asyncio.sleep(60)

    _times_out(CHECKS["acheck"], judge, counts)


def test_an_async_function_that_swallows_its_cancellation(counts: Counts) -> None:
    swallowed = []

    async def judge(exchange: Exchange) -> bool:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            swallowed.append(True)
            await asyncio.sleep(0.05)
        return True

    _times_out(CHECKS["acheck"], judge, counts)
    assert swallowed == [True]


def test_a_yes_that_comes_too_late_stays_a_timeout() -> None:
    async def main() -> Any:
        async def judge(exchange: Exchange) -> bool:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                return True
            return True

        response = await acheck(Guard(judge, timeout=0.05))
        await asyncio.sleep(0.05)
        return response

    assert asyncio.run(main()).reason is Reason.JUDGE_TIMEOUT


def test_one_deadline_covers_all_attempts(door: Check) -> None:
    asked = []

    def model(prompt: str) -> str:
        asked.append(time.monotonic())
        time.sleep(0.2)
        raise ConnectionError

    began = time.monotonic()
    response = door(Guard(FactCheck(model), timeout=0.5, retry=Retry(attempts=100, initial=0.0, maximum=0.0)))

    assert time.monotonic() - began < 1.0
    assert response.status is Status.UNGROUNDED
    assert response.reason in {Reason.JUDGE_TIMEOUT, Reason.JUDGE_ERROR}
    assert 2 <= len(asked) <= 3
    wait_until(lambda: not running_calls())


def test_no_deadline_waits(door: Check) -> None:
    def judge(exchange: Exchange) -> bool:
        time.sleep(0.1)
        return True

    assert door(Guard(judge, timeout=None)).status is Status.ANSWERED


def test_a_deadline_far_away_is_no_error(door: Check) -> None:
    def judge(exchange: Exchange) -> bool:
        time.sleep(0.05)
        return True

    assert door(Guard(judge, timeout=1e300)).status is Status.ANSWERED


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "ending", [lambda: True, lambda: 1 / 0, lambda: next(iter(()))], ids=["ends", "fails", "stops"]
)
def test_a_call_that_comes_back_late_makes_no_noise(
    door: Check, ending: Callable[[], Any], capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with stuck() as event:

        def judge(exchange: Exchange) -> Any:
            event.wait()
            return ending()

        assert door(Guard(judge, timeout=0.01)).reason is Reason.JUDGE_TIMEOUT

    assert capfd.readouterr().err == ""
    assert [record.name for record in caplog.records] == ["groundguard"]


def test_a_call_that_comes_back_late_on_a_running_loop_makes_no_noise(caplog: pytest.LogCaptureFixture) -> None:
    problems: list[Any] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: problems.append(context))
        with stuck() as event:

            def judge(exchange: Exchange) -> Any:
                event.wait()
                raise ValueError

            assert (await acheck(Guard(judge, timeout=0.01))).reason is Reason.JUDGE_TIMEOUT
        await asyncio.sleep(0.01)

    asyncio.run(main())
    assert problems == []
    assert [record.name for record in caplog.records] == ["groundguard"]


def test_an_async_judge_that_fails_when_it_is_cancelled_makes_no_noise() -> None:
    problems: list[Any] = []

    async def judge(exchange: Exchange) -> bool:
        try:
            return await asyncio.sleep(60, True)
        finally:
            raise ValueError("in the clean-up")

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: problems.append(context))
        assert (await acheck(Guard(judge, timeout=0.01))).reason is Reason.JUDGE_TIMEOUT
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(acheck(Guard(judge, timeout=60.0)), 0.01)
        await asyncio.sleep(0.01)
        gc.collect()

    asyncio.run(main())
    assert problems == []


def test_past_the_cap_no_further_call_is_started_until_some_come_back(door: Check) -> None:
    asked: list[Exchange] = []

    with stuck() as event:

        def hanging(exchange: Exchange) -> bool:
            return event.wait()

        def judge(exchange: Exchange) -> bool:
            asked.append(exchange)
            return True

        stuck_guard, guard = Guard(hanging, timeout=0.01), Guard(judge, timeout=30.0)
        reasons = [door(stuck_guard).reason]
        while reasons[-1] is Reason.JUDGE_TIMEOUT:  # also of calls whose time is over before they begin, under load
            reasons.append(door(stuck_guard).reason)
        assert set(reasons) == {Reason.JUDGE_TIMEOUT, Reason.JUDGE_ERROR}
        assert len(running_calls()) <= MOST_ABANDONED
        patient = stuck_guard.with_options(timeout=30.0)
        assert [door(patient).reason for _ in range(3)] == [Reason.JUDGE_ERROR] * 3, "once past the cap, always past it"

        began = time.monotonic()
        response = door(guard)
        assert time.monotonic() - began < 1.0
        assert (response.reason, asked) == (Reason.JUDGE_ERROR, [])
        assert response.verdict is not None
        assert response.verdict.error_type == "TooManyAbandonedError"
        assert door(guard.with_options(timeout=None)).status is Status.ANSWERED, "nothing that waits is abandoned"

    wait_until(lambda: door(guard).status is Status.ANSWERED)


def test_the_caller_can_give_up_at_any_time(event: threading.Event) -> None:
    async def main() -> float:
        guard = Guard(lambda exchange: event.wait(), timeout=60.0)
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await acheck(guard)
        return time.monotonic() - began

    assert asyncio.run(main()) < 1.0


# Whole processes: neither `asyncio.run` nor the end of the process waits, and nothing is said on stderr.

PREAMBLE = f"""
import asyncio, sys, time, warnings
from groundguard import Guard
from groundguard.judges import FactCheck

def check(judge, timeout=0.5):
    print("ready", flush=True)
    return show(Guard(judge, timeout=timeout).check({QUESTION!r}, answer={ANSWER!r}, chunks={CHUNKS!r}))

async def acheck(judge, timeout=0.5):
    print("ready", flush=True)
    return show(await Guard(judge, timeout=timeout).acheck({QUESTION!r}, answer={ANSWER!r}, chunks={CHUNKS!r}))

def show(response):
    print(response.status, response.reason, flush=True)

def plain(exchange):
    time.sleep(60)

async def coroutine(exchange):
    await asyncio.sleep(60)

async def stubborn(exchange):
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        await asyncio.sleep(60)

def late(exchange):
    time.sleep(0.7)
    raise ValueError("too late to matter")
"""

SCRIPTS = {
    "a plain judge, sync door": "check(plain)",
    "a plain judge, asyncio.run": "asyncio.run(acheck(plain), debug=False)",
    "an async judge, asyncio.run": "asyncio.run(acheck(coroutine), debug=False)",
    "an async judge that swallows its cancellation": "asyncio.run(acheck(stubborn), debug=False)",
    "a judge that fails after the loop is gone": "asyncio.run(acheck(late), debug=False); time.sleep(0.5)",
    "clients, both doors": """
import openai
from groundguard.models import OpenAIModel

async def main():
    async with openai.AsyncOpenAI(api_key="test", base_url=URL) as client:
        await acheck(FactCheck(OpenAIModel(client, "m")))

with openai.OpenAI(api_key="test", base_url=URL, timeout=openai.Timeout(60)) as client:
    check(FactCheck(OpenAIModel(client, "m")))
    asyncio.run(main(), debug=False)
""",
}

QUERIES = {
    "a hanging retriever is given up": "retriever=plain, generator=lambda question, chunks: ''",
    "a hanging generator is given up": "retriever=lambda question: 'text', generator=lambda question, chunks: plain(0)",
}
for name, parts in QUERIES.items():
    SCRIPTS[name] = f"""
async def main():
    print("ready", flush=True)
    try:
        await asyncio.wait_for(Guard(lambda exchange: True, {parts}).aask("?"), 0.5)
    except TimeoutError:
        print("ungrounded judge_timeout", flush=True)

asyncio.run(main(), debug=False)
"""


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_process_ends_in_time_and_without_noise(script: str) -> None:
    with Server(hang()) as server, _python(f"URL = {server.url!r}\n{PREAMBLE}\n{script}") as process:
        began = _ready(process)
        output, noise = process.communicate(timeout=30)
        took = time.monotonic() - began

    assert set(output.splitlines()) - {"ready"} == {"ungrounded judge_timeout"}
    assert noise == ""
    assert process.returncode == 0
    assert took < 3.0


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT can't be sent to one process there")
@pytest.mark.parametrize(
    "script",
    ["check(plain, 60)", "asyncio.run(acheck(plain, 60), debug=False)", "asyncio.run(acheck(coroutine, 60))"],
    ids=["a plain judge, sync door", "a plain judge, asyncio.run", "an async judge, asyncio.run"],
)
def test_an_interrupt_ends_the_wait(script: str) -> None:
    with _python(f"{PREAMBLE}\n{script}") as process:
        began = _ready(process)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        output, noise = process.communicate(timeout=30)
        took = time.monotonic() - began

    assert noise.strip().endswith("KeyboardInterrupt")
    assert "never" not in noise
    assert process.returncode == -signal.SIGINT
    assert output == ""
    assert took < 3.0


def _python(script: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-X", "dev", "-c", script], stdout=pipe, stderr=pipe, text=True)


def _ready(process: subprocess.Popen[str]) -> float:
    """When the script began to wait: starting an interpreter is not what is measured."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == "ready\n", process.stderr and process.stderr.read()
    return time.monotonic()


def test_a_server_that_answers_is_not_a_timeout(client: openai.OpenAI, door: Check) -> None:
    with Server(say("yes")) as server:
        model = OpenAIModel(client.with_options(base_url=server.url), "m")
        assert door(Guard(FactCheck(model), timeout=20.0)).status is Status.ANSWERED
    assert check is CHECKS["check"]
