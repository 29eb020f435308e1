"""What a run is made with, as far as only its replies tell."""

from __future__ import annotations

from groundguard.evaluation import evaluate
from groundguard.evaluation.runner.pins import floating, judge_models, library
from groundguard.judges import FactCheck, Majority
from groundguard.models import Reply
from groundguard.testing import ScriptedModel
from support.evaluating import golden, only, rag


def run(*names):
    judge = FactCheck(ScriptedModel(*[Reply("yes", "stop", model=name) for name in names]))
    return evaluate(golden(4), rag, judge=judge, panel=only(judge), concurrency=1)


def test_the_models_that_the_servers_name_are_pinned():
    assert run("muse-9-2031-01").pins.judge_models == ("muse-9-2031-01",)
    assert run(None).pins.judge_models == ()


def test_a_name_that_moves_within_the_run_is_seen():
    moved = run("muse-9-2031-01", "muse-9-2031-03")
    assert moved.pins.judge_models == ("muse-9-2031-01", "muse-9-2031-03")
    assert list(floating(moved.results).values()) == [("muse-9-2031-01", "muse-9-2031-03")]
    assert floating(run("muse-9").results) == {}


def test_two_models_of_two_judges_do_not_float():
    seats = [FactCheck(ScriptedModel(Reply("yes", "stop", model=name), name=name)) for name in ("a", "b")]
    judge = Majority(*seats)
    found = evaluate(golden(2), rag, judge=judge, panel=only(judge))
    assert judge_models(found.results) == ("a", "b")
    assert floating(found.results) == {}


def test_a_library_that_is_not_installed_has_no_version():
    assert library()[0].isdigit()
    assert library("no such distribution") == "unknown"
