"""Context variables that hold a value for a while."""

from __future__ import annotations

from contextvars import ContextVar, copy_context

import pytest

from groundguard.capture import deaf, record_chunks
from groundguard.contextual import holding

COLOUR: ContextVar[str] = ContextVar("colour", default="none")


def test_the_former_value_comes_back_after_an_error_too() -> None:
    with holding(COLOUR, "red"):
        with holding(COLOUR, "blue"):
            assert COLOUR.get() == "blue"
        with pytest.raises(LookupError), holding(COLOUR, "green"):
            raise LookupError
        assert COLOUR.get() == "red"
    assert COLOUR.get() == "none"


def test_what_is_left_in_another_context_undoes_nothing_there() -> None:
    scope = holding(COLOUR, "red")
    entered = copy_context()
    entered.run(scope.__enter__)
    with holding(COLOUR, "blue"):
        scope.__exit__(None, None, None)
        assert COLOUR.get() == "blue"
    assert entered[COLOUR] == "red"


def test_a_judge_that_is_thrown_away_in_another_context_raises_nothing() -> None:
    scope = deaf()
    copy_context().run(scope.__enter__)
    assert scope.__exit__(GeneratorExit, GeneratorExit(), None) is False
    assert record_chunks("c")[0].text == "c"
