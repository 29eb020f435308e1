"""The nouns of an evaluation: checked when they are made, and the same after JSON."""

from __future__ import annotations

import json

import pytest

from groundguard import Decision, Guard, Verdict
from groundguard.errors import InputError
from groundguard.evaluation import Figure, ItemResult, Pins, Run, Score
from groundguard.evaluation.calibration.record import Rate, Row
from groundguard.evaluation.golden.items import Split
from groundguard.policy import Prune, Return
from groundguard.records import Claim
from groundguard.testing import ScriptedJudge

CLAIMS = (Claim("Two years.", Decision.UNSUPPORTED, 0, 10), Claim("It is red.", Decision.SUPPORTED, 11, 21))


def response(seconds):
    members = (Verdict(Decision.SUPPORTED, seconds=seconds),)
    verdict = Verdict(Decision.UNSUPPORTED, claims=CLAIMS, members=members, seconds=seconds)
    guard = Guard(ScriptedJudge(verdict, True), policy=Prune(Return()))
    return guard.check("q", answer="Two years. It is red.", chunks=["It is red."])


def run(seconds=1.0, started="2026-01-01", **options) -> Run:
    score = Score("m", 0.5, verdict=Verdict(Decision.SUPPORTED, seconds=seconds))
    results = (
        ItemResult("a", 0, "q", response(seconds), scores=(score,), split=Split.TUNE, tags=("t",), refused=False),
        ItemResult("b", 0, "\ud800", error="LookupError", scores=(Score("m", None, applies=False),)),
    )
    return Run(Pins("d", "1", "h", judges={"m": "f"}), results, 2, started, 3, 10, 2, 0.5, None, **options)


def test_a_run_loses_nothing_as_json():
    whole = run()
    assert whole.results[0].response.attempts
    assert Run.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole
    assert Run.from_dict(json.loads("\n".join(whole.lines()))) == whole
    empty = Run(Pins("d", "1", "h"), (), 2, "")
    assert Run.from_dict(json.loads("\n".join(empty.lines()))) == empty
    assert whole.is_complete
    assert not empty.is_complete


def test_the_canonical_bytes_know_no_clock():
    assert run().canonical() == run(3.0, "2027-01-01").canonical()
    assert run().canonical() != run(silent=1).canonical()
    assert b"\\ud800" in run().canonical()


@pytest.mark.parametrize(
    "change", [{"format": "1"}, {"pins": None}, {"results": None}, {"results": [3]}, {"more": 1}, {"calls": "3"}]
)
def test_other_data_is_refused(change):
    with pytest.raises(InputError, match="not a r"):
        Run.from_dict({**run().to_dict(), **change})


@pytest.mark.parametrize("change", [{"scores": [{"metric": "m"}]}, {"scores": [3]}, {"response": {}}, {"want": "x"}])
def test_other_results_are_refused(change):
    with pytest.raises(InputError):
        ItemResult.from_dict({**run().results[0].to_dict(), **change})


def test_a_score_has_a_value_or_a_reason():
    with pytest.raises(ValueError, match="a value, or a reason"):
        Score("m", None)
    with pytest.raises(ValueError, match="a value, or a reason"):
        Score("m", 1.0, "no reference")


COUNTS = {
    "the n of a figure": lambda: Figure("m", 1.0, -1),
    "the unscored of a figure": lambda: Figure("m", 1.0, 1, unscored=-1),
    "a repeat": lambda: ItemResult("a", -1, "q"),
    "repeats": lambda: Pins("d", "1", "h", repeats=-1),
    "what is expected": lambda: Run(Pins("d", "1", "h"), (), -1, ""),
    "calls": lambda: Run(Pins("d", "1", "h"), (), 1, "", calls=-1),
    "silent results": lambda: Run(Pins("d", "1", "h"), (), 1, "", silent=-1),
    "tokens in": lambda: Run(Pins("d", "1", "h"), (), 1, "", input_tokens=-1),
    "tokens out": lambda: Run(Pins("d", "1", "h"), (), 1, "", output_tokens=-1),
    "a row of the confusion": lambda: Row(passed=-1),
    "the n of a rate": lambda: Rate(None, None, -1),
}


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in COUNTS.items()])
def test_nothing_counts_below_0(make):
    with pytest.raises(ValueError, match="is a count, and never below 0"):
        make()
    assert (Figure("m", None, 0).n, Rate(None, None, 0).n) == (0, 0)
