"""`import groundguard` is light and quiet."""

from __future__ import annotations

import pytest

from support.scripts import run_script

HEAVY = ["openai", "langchain_core", "numpy", "scipy", "bm25s", "typer", "pandas", "httpx", "requests"]
MODULES = ["groundguard", "groundguard.judges", "groundguard.policy", "groundguard.models", "groundguard.testing"]


@pytest.mark.parametrize("module", MODULES)
def test_importing_loads_nothing_heavy_and_does_nothing(module: str) -> None:
    done = run_script(
        f"""
        import sys, threading, socket, signal
        def refuse(*arguments, **keywords):
            raise AssertionError("the network was touched")
        socket.socket.connect = socket.getaddrinfo = refuse
        import asyncio
        policy = asyncio.events._event_loop_policy
        handlers = [signal.getsignal(number) for number in signal.valid_signals()]
        import {module}
        assert not {set(HEAVY)} & sys.modules.keys(), {set(HEAVY)} & sys.modules.keys()
        assert threading.enumerate() == [threading.main_thread()]
        assert asyncio.events._event_loop_policy is policy
        assert [signal.getsignal(number) for number in signal.valid_signals()] == handlers
        """,
        preamble="",
    )
    assert done.stdout == done.stderr == ""


def test_the_extras_are_not_needed() -> None:
    run_script(
        """
        import sys
        for name in ("rich", "typer", "bm25s", "numpy"):
            sys.modules[name] = None
        from groundguard import Guard
        from groundguard.judges import FactCheck
        guard = Guard(FactCheck(lambda prompt: "yes"))
        assert guard.check("Q?", answer="A", chunks="c").status == "answered"
        assert guard.wrap(lambda question: ("A", "c"))("Q?").status == "answered"
        """,
        preamble="",
    )


def test_a_guard_of_ones_own_functions_loads_no_model_library() -> None:
    run_script(
        """
        import sys
        guard = Guard(lambda exchange: True, retriever=lambda q: "c", generator=lambda q, chunks: "A")
        guard.ask("Q?"), asyncio.run(guard.aask("Q?"))
        assert not {"openai", "langchain_core", "numpy"} & sys.modules.keys()
        """
    )
