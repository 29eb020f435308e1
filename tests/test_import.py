"""`import groundguard` is light and quiet."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

import groundguard
from support.scripts import run_script

if TYPE_CHECKING:
    from collections.abc import Callable

HEAVY = ["openai", "langchain_core", "numpy", "scipy", "bm25s", "typer", "pandas", "httpx", "requests"]
MODULES = ["groundguard", "groundguard.judges", "groundguard.policy", "groundguard.models", "groundguard.testing"]
MODULES += ["groundguard.evaluation"]


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


def test_every_name_loads_at_its_first_use_and_no_other_name_exists() -> None:
    run_script(
        """
        import sys
        import groundguard
        assert not [name for name in sys.modules if name.startswith("groundguard.")]
        assert groundguard.errors.GroundguardError is groundguard.GroundguardError
        assert groundguard.Chunk("c").text == "c"
        assert "groundguard.guard" not in sys.modules
        assert {*groundguard.__all__, "judges"} <= set(dir(groundguard))
        assert groundguard.judges.Lexical and groundguard.Guard is groundguard.Guard
        for name in ("Gard", "__main__", "cli"):
            try:
                getattr(groundguard, name)
            except AttributeError as error:
                assert str(error) == f"module 'groundguard' has no attribute {name!r}"
            else:
                raise AssertionError(name)
        """,
        preamble="",
    )


def test_a_name_or_a_part_is_loaded_when_it_is_first_used() -> None:
    run_script(
        """
        import sys
        import groundguard
        assert not [name for name in sys.modules if name.startswith("groundguard.")]
        assert groundguard.judges.FactCheck.__name__ == "FactCheck"
        assert groundguard.Status("answered") is groundguard.records.Status.ANSWERED
        assert {"Guard", "judges", "testing"} <= set(dir(groundguard))
        """,
        preamble="",
    )


def test_every_part_and_name_is_there_and_nothing_else() -> None:
    load: Callable[[str], object] = groundguard.__getattr__
    for name in dir(groundguard):
        assert getattr(groundguard, name) is not None
    for part in ("evaluation", "judges", "policy"):
        assert load(part) is importlib.import_module(f"groundguard.{part}")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        load("nothing")
