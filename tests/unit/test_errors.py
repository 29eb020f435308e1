import asyncio
import copy
import pickle
import warnings
from pathlib import Path

import pytest

from groundguard import errors
from groundguard.errors import (
    GroundguardError,
    GroundguardWarning,
    InputError,
    NoContextError,
    UngroundedError,
    UsageError,
    forget_warnings,
    warn_once,
)
from groundguard.guard import Guard
from groundguard.judges import FactCheck
from groundguard.policy import Raise
from groundguard.records import Status
from groundguard.testing import ScriptedJudge, ScriptedModel


def raised(chunks):
    guard = Guard(ScriptedJudge(False), policy=Raise())
    with pytest.raises(UngroundedError) as caught:
        guard.check("the question", answer="the answer", chunks=chunks)
    return caught.value


def test_the_tree():
    assert issubclass(UsageError, GroundguardError)
    assert issubclass(InputError, GroundguardError)
    assert issubclass(UngroundedError, GroundguardError)
    assert issubclass(NoContextError, UngroundedError)
    assert issubclass(GroundguardError, Exception)
    assert issubclass(GroundguardWarning, UserWarning)
    assert not issubclass(GroundguardError, (ValueError, TypeError))
    drawn = {name for name in vars(errors) if name.endswith(("Error", "Warning")) and not name.startswith("_")}
    assert all(name in errors.__doc__ for name in drawn)


@pytest.mark.parametrize(
    ("chunks", "kind", "message"),
    [
        (["a chunk"], UngroundedError, "ungrounded (unsupported)"),
        ([], NoContextError, "no_context (no_chunks)"),
        ([" "], NoContextError, "no_context (blank_chunks)"),
    ],
)
def test_the_error_carries_the_response_and_shows_no_text(chunks, kind, message):
    error = raised(chunks)
    assert type(error) is kind
    assert str(error) == message
    assert error.response.answer == "the answer"
    assert not any(text in f"{error!r} {error}" for text in ("the question", "the answer", "a chunk"))


@pytest.mark.parametrize("chunks", [["a chunk"], []])
@pytest.mark.parametrize("again", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
def test_the_error_survives_pickle_and_copy(again, chunks):
    error = raised(chunks)
    back = again(error)
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert back.response == error.response
    assert back.response.status is not Status.ANSWERED


@pytest.mark.parametrize("error", [UsageError("wire it"), InputError("line 3"), GroundguardError("x")])
def test_the_other_errors_survive_pickle(error):
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert back.args == error.args


def test_a_warning_is_told_once_a_key():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for message, *key in (("first", "a"), ("again", "a"), ("longer key", "a", "b"), ("other", "b")):
            warn_once(message, *key)
    assert {each.category for each in told} == {GroundguardWarning}
    assert [str(each.message) for each in told] == ["first", "longer key", "other"]


def test_a_warning_can_be_told_again_after_it_was_forgotten():
    for _ in range(2):
        with pytest.warns(GroundguardWarning, match="first"):
            warn_once("first", "a")
        forget_warnings()


def test_a_warning_points_at_the_line_of_whoever_called_groundguard():
    guard = Guard(FactCheck(ScriptedModel("Yes.")))
    with pytest.warns(GroundguardWarning, match="not with a verdict") as told:
        guard.check("?", answer="an answer", chunks=["a chunk"])
    assert told[0].filename == __file__
    forget_warnings()
    with pytest.warns(GroundguardWarning, match="not with a verdict") as told:
        asyncio.run(guard.acheck("?", answer="an answer", chunks=["a chunk"]))
    assert "groundguard" not in Path(told[0].filename).parts
    with pytest.warns(GroundguardWarning, match="mine") as told:
        warn_once("mine", "mine")
    assert told[0].filename == __file__


def test_a_warning_that_was_made_an_error_is_raised_once():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(GroundguardWarning, match="first"):
            warn_once("first", "a")
        warn_once("first", "a")
