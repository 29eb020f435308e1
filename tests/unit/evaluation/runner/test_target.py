"""What can be under test, and how it is asked."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from groundguard import Guard, Response, Status
from groundguard.errors import InputError, UsageError
from groundguard.evaluation.golden.items import GoldenItem
from groundguard.evaluation.runner.target import Target, as_target, is_guarded, resolve
from groundguard.policy import Raise
from groundguard.records import Turn
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedRetriever
from support.doors import PLAIN, Door, both_doors

ITEM = GoldenItem("i", "How long?", answer="Two years.")
TALKED = GoldenItem("i", "And then?", history=(Turn("user", "How long?"),))


def guard(said=True, **options) -> Guard:
    return Guard(ScriptedJudge(said), **options)


def answered(target: Target, item: GoldenItem = ITEM, door: Door = PLAIN) -> Response:
    from groundguard.flow.drive import arun, run

    return door.call(arun if door.is_async else run, target.flow(item))


def rag(question):
    return f"{question} Two years.", ["Two years."]


@both_doors
def test_a_guard_is_asked(door):
    own = guard(retriever=ScriptedRetriever(["c"]), generator=ScriptedGenerator("a"))
    target = as_target(own, name="app:guard")
    response = answered(target, door=door)
    assert (response.question, response.answer, response.status) == ("How long?", "a", Status.ANSWERED)
    assert (target.name, target.identity, target.opaque, target.is_async) == (
        "app:guard", "app:guard (scripted)", False, False,
    )  # fmt: skip
    assert target.pipeline == (own.retriever, own.generator)


def test_a_guard_without_a_generator_is_none():
    with pytest.raises(UsageError, match="with its retriever and generator"):
        as_target(guard())


def test_what_a_policy_withholds_is_a_response_like_any_other():
    own = guard(False, retriever=ScriptedRetriever(["c"]), generator=ScriptedGenerator("a"), policy=Raise())
    assert answered(as_target(own)).status is Status.UNGROUNDED


@both_doors
def test_a_function_is_guarded_here(door):
    target = as_target(door.function(rag), guard())
    assert answered(target, door=door).chunks[0].text == "Two years."
    assert target.is_async is door.is_async
    assert not target.opaque


@both_doors
def test_a_guarded_one_is_taken_as_it_is(door):
    target = as_target(guard()(door.function(rag)), guard(False))
    assert answered(target, door=door).status is Status.ANSWERED
    assert target.opaque
    assert target.identity == target.name


def test_what_returns_no_response_has_to_be_guarded():
    with pytest.raises(UsageError, match="not a Response: guard it"):
        answered(as_target(rag))


class Chain:
    def invoke(self, given):
        return {"reply": given["q"] + "!", "docs": ["How long?!"]}


class Engine:
    def query(self, given):
        return type("Out", (), {"response": given + "!", "source_nodes": ["How long?!"]})()


def test_a_chain_gets_the_question_under_its_key():
    target = as_target(Chain(), guard(), question="q", chunks="docs", answer="reply")
    response = answered(target)
    assert (response.answer, response.chunks[0].text) == ("How long?!", "How long?!")


def test_a_function_gets_it_by_its_parameter():
    def search(*, text, top=1):
        return text, [text] * top

    assert answered(as_target(search, guard(), question="text")).answer == "How long?"


def test_the_input_may_be_made_of_the_item():
    target = as_target(Chain(), guard(), question=lambda item: {"q": item.id}, chunks="docs", answer="reply")
    assert answered(target).answer == "i!"


def test_an_engine_is_wrapped():
    target = as_target(Engine(), guard())
    assert answered(target).answer == "How long?!"
    assert target.opaque


def test_the_history_goes_to_those_who_take_it():
    def talk(question, history=()):
        return f"{question} after {len(history)}", ["c"]

    assert answered(as_target(talk, guard()), TALKED).answer == "And then? after 1"
    assert answered(as_target(rag, guard()), TALKED).answer == "And then? Two years."


def test_a_target_stays_what_it_is_and_a_number_is_none():
    target = as_target(rag, guard())
    assert as_target(target) is target
    with pytest.raises(UsageError, match="the target must be a function"):
        as_target(3, guard())


def test_what_says_that_it_is_guarded():
    def plain(question): ...
    def labelled(question) -> Response[str]: ...

    assert [is_guarded(each) for each in (plain, labelled, guard()(rag), guard().wrap(Chain()))] == [
        False, True, True, True,
    ]  # fmt: skip


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "evaluated_app.py").write_text("class Box:\n    chain = staticmethod(len)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    sys.modules.pop("evaluated_app", None)


@pytest.mark.usefixtures("module")
def test_a_name_is_resolved_from_the_working_folder():
    assert resolve("evaluated_app:Box.chain") is len
    for spec, what in [
        ("evaluated_app", "named as module:object"),
        (":x", "named as module:object"),
        ("evaluated_nowhere:x", "no module 'evaluated_nowhere'"),
        ("evaluated_app:Box.other", "has no 'Box.other'"),
    ]:
        with pytest.raises(InputError, match=what):
            resolve(spec)


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("code", "why", "line"),
    [
        ("import evaluated_missing_module\n", "ModuleNotFoundError: No module named 'evaluated_missing_module'", 1),
        ("x = 1\n1 / 0\n", "ZeroDivisionError: division by zero", 2),
        ("raise SystemExit(3)\n", "SystemExit: 3", 1),
        ("\n\ndef chain(q:\n", "SyntaxError", 3),
    ],
    ids=["missing", "raises", "exits", "syntax"],
)
def test_a_module_that_can_not_be_imported_is_named_with_the_line(code, why, line):
    Path("evaluated_bad.py").write_text(code)
    importlib.invalidate_caches()
    with pytest.raises(InputError) as raised:
        resolve("evaluated_bad:x")
    assert f"'evaluated_bad' can't be imported: {why}" in str(raised.value)
    assert f"evaluated_bad.py, line {line})" in str(raised.value)
