"""One exchange, asked about through either door; and calls that hang until the test is over."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from groundguard import Guard, Response

QUESTION = "How tall is the tower?"
CHUNKS = ("The tower is 61 metres tall.", "It was built in 1974.")
ANSWER = "The tower is 61 metres tall."

Check = Callable[[Guard], Response[Any]]
Ask = Callable[..., Response[Any]]


def check(guard: Guard) -> Response[Any]:
    """The plain door."""
    return guard.check(QUESTION, answer=ANSWER, chunks=CHUNKS)


async def acheck(guard: Guard) -> Response[Any]:
    """The async door, on the running loop."""
    return await guard.acheck(QUESTION, answer=ANSWER, chunks=CHUNKS)


def check_async(guard: Guard) -> Response[Any]:
    """The async door, on a loop of its own."""
    return asyncio.run(acheck(guard))


CHECKS = {"check": check, "acheck": check_async}


def wait_until(true: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait for something that another thread is about to do."""
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.005)


def running_calls() -> list[threading.Thread]:
    """The threads in which a call of the user's is still running."""
    return [thread for thread in threading.enumerate() if thread.name == "groundguard-call"]


@contextmanager
def stuck() -> Iterator[threading.Event]:
    """An event for calls to hang on: set at the end, when every one of them comes back."""
    event = threading.Event()
    try:
        yield event
    finally:
        event.set()
        wait_until(lambda: not running_calls())
