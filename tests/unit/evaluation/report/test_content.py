"""What a report tells, before it has a form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groundguard.errors import UsageError
from groundguard.evaluation.calibration.calibrate import assess
from groundguard.evaluation.calibration.labels import Label, Labeller
from groundguard.evaluation.calibration.record import Calibration
from groundguard.evaluation.gates.gates import Gate, GateResult, Outcome
from groundguard.evaluation.report.content import report_on
from groundguard.evaluation.report.words import Mood, completeness, cost, headline, number, trust, unlike, unscored
from groundguard.evaluation.results import Figure, ItemResult, Run
from groundguard.judges.base import FunctionJudge
from groundguard.records import Decision, Exchange, Verdict
from support.runs import PINS, claim, insurer, result, verdict

GOOD = insurer(results=insurer().results[:1], expected=1)
SAID = verdict(claim("No.", "No.", Decision.UNSUPPORTED))


def run(*results: ItemResult, **more: Any) -> Run:
    return insurer(results=results, expected=more.pop("expected", len(results)), **more)


def test_good_is_gates_that_are_all_passed_on_a_complete_run() -> None:
    told = headline(report_on(GOOD, gates=[Gate("faithfulness", 0.8), Gate("refusal", 1)]))

    assert (told.mood, told.title, told.words) == (Mood.GOOD, "Passed", "2 of 2 gates passed.")
    assert headline(report_on(GOOD, gates=[Gate("refusal", 1)])).words == "The one gate passed."


@pytest.mark.parametrize(
    ("measured", "gates", "mood", "title", "words"),
    [
        (GOOD, [], Mood.PLAIN, "Measured", "No gate was set, so nothing passed or failed."),
        (GOOD, [Gate("other", 0.5)], Mood.BAD, "Failed", "The one gate failed: other=0.50."),
        (replace(GOOD, expected=9), [], Mood.DOUBT, "Not complete", "No gate was set. What is missing may change"),
        (replace(GOOD, expected=9), [Gate("refusal", 1)], Mood.DOUBT, "Not complete", "The one gate is passed so far."),
        (
            replace(GOOD, stopped="budget"),
            [Gate("refusal", 1), Gate("faithfulness", 1)],
            Mood.DOUBT,
            "Not complete",
            "All 2 gates are passed so far.",
        ),
        (run(), [], Mood.BAD, "Nothing was scored", "counts as failed"),
        (run(insurer().results[4]), [Gate("refusal", 1)], Mood.BAD, "Nothing was scored", "counts as failed"),
        (insurer(), [], Mood.BAD, "The judge is unhealthy", "The judge failed in 1 of 7 results"),
        (
            GOOD,
            [GateResult(Gate("refusal", 0.9), Outcome.REFUSED, 1.0, "noise")],
            Mood.DOUBT,
            "Undecided",
            "The one gate stands inside the noise, so that nothing would follow from it: refusal=0.90.",
        ),
    ],
)
def test_everything_else_is_not(measured: Run, gates: list[Any], mood: Mood, title: str, words: str) -> None:
    told = headline(report_on(measured, gates=gates))

    assert (told.mood, told.title) == (mood, title)
    assert words in told.words


def test_a_partial_run_says_how_much_is_there_and_why() -> None:
    assert completeness(report_on(GOOD)) == "Complete run: 1 result."
    assert completeness(report_on(replace(GOOD, expected=2_000))) == "Partial run: 1 of 2,000 results."
    assert "It stopped early: budget." in completeness(report_on(replace(GOOD, stopped="budget")))


@pytest.mark.parametrize("runs", [(), [], "run.json", [GOOD, "run.json"]])
def test_a_report_is_on_runs(runs: Any) -> None:
    with pytest.raises(UsageError, match=r"one or more runs, not on (none|a str)"):
        report_on(runs)


def test_the_last_run_is_told_and_those_before_it_are_its_past() -> None:
    older = replace(GOOD, pins=replace(PINS, pipeline="v6", repeats=2))

    told = report_on([older, GOOD])

    assert told.run is GOOD
    assert [past.run for past in told.history] == [older, GOOD]
    assert unlike(older.pins, GOOD.pins) == "pipeline, repeats"
    assert unlike(GOOD.pins, GOOD.pins) == "nothing"


def test_slices_are_by_split_and_by_tag() -> None:
    slices = {(each.kind, each.name): each for each in report_on(insurer()).slices}

    assert list(slices) == [
        ("split", "heldout"), ("split", "tune"), ("tag", "limits"), ("tag", "refusals"), ("tag", "theft"), ("tag", "water"),
        ("tag", "weather"),
    ]  # fmt: skip
    assert slices["tag", "water"].size == 3
    assert {f.metric: (f.n, f.unscored) for f in slices["tag", "water"].figures}["faithfulness"] == (2, 1)


def test_findings_name_the_stage_and_the_items_the_most_frequent_first() -> None:
    results = [result(f"bad-{n}", said=SAID) for n in range(3)]

    told = report_on(run(*insurer().results, *results, replace(results[0], repeat=1))).findings

    assert [(each.title, each.count, each.first) for each in told] == [
        ("The generator invents", 5, 5), ("The retriever misses evidence", 1, 1), ("The pipeline failed", 1, 1),
    ]  # fmt: skip
    assert told[0].item_ids == ("flood", "bad-0", "bad-1", "bad-2")
    assert "ConnectionError" in told[2].words


def test_what_is_not_known_is_told_as_not_known() -> None:
    free = report_on(replace(GOOD, calls=1, input_tokens=None, output_tokens=None))
    half = report_on(replace(GOOD, output_tokens=None, cost=1.5, silent=2))

    assert cost(free) == "1 call of models, tokens not reported, cost unknown"
    assert cost(half) == (
        "41 calls of models, 120,400 tokens in, unknown out (at least: 2 results without a report), cost 1.5000"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0, "0.000"), (0.0001, "<0.001"), (0.5, "0.500"), (0.9999, ">0.999"), (1, "1.000")],
)
def test_only_one_is_printed_as_one_and_only_zero_as_zero(value: float | None, text: str) -> None:
    assert number(value) == text


def test_unscored_items_stand_with_their_reasons() -> None:
    assert unscored(Figure("m", 0.5, 3)) == "0"
    assert unscored(Figure("m", 0.5, 3, unscored=2)) == "2"
    assert unscored(Figure("m", 0.5, 3, unscored=2, reasons={"judge_timeout": 2})) == "2 (judge timeout 2)"


def test_a_judge_is_not_calibrated_until_a_calibration_of_it_says_so() -> None:
    assert trust(report_on(GOOD)).startswith("Judge not calibrated. Nobody has held it against human labels")


class Known(FunctionJudge):
    """A judge with the fingerprint of the run's."""

    fingerprint = "claims:4c1d"
    name = "claims"


class Other(Known):
    """A judge of that name with other settings."""

    fingerprint = "claims:0000"


def calibration(count: int, judge: type[Known] = Known, model: str | None = None, kinds: int = 2) -> Calibration:
    truths = [number % kinds == 0 for number in range(count)]
    labels = [
        Label(Exchange("Q?", (), f"A{number}."), truth, line=number, kind=Labeller.HUMAN)
        for number, truth in enumerate(truths, 1)
    ]
    said = [Verdict(Decision.SUPPORTED if truth else Decision.UNSUPPORTED, model=model) for truth in truths]
    return assess(labels, said, judge(lambda exchange: True))


@pytest.mark.parametrize(
    ("known", "calibrated", "words"),
    [
        ([calibration(100)], True, "Balanced accuracy 1.00 (0.9"),
        ([calibration(100, Other), calibration(100)], True, "on 100 labels."),
        ([calibration(100), calibration(100, model="muse-8")], True, "on 100 labels."),
        ([calibration(100, model="muse-8")], False, "reports another model than it did"),
        ([calibration(100, Other)], False, "of an earlier state of it"),
        ([calibration(20)], False, "The calibration has 20 labels by people, of 50."),
        ([calibration(60, kinds=1)], False, "Balanced accuracy unknown"),
        ([], False, "Nobody has held it against human labels"),
    ],
)
def test_a_calibration_speaks_for_its_own_judge_only(known: list[Calibration], calibrated: bool, words: str) -> None:
    told = report_on(GOOD, calibrations=known)

    assert told.trust.is_calibrated is calibrated
    assert words in trust(told)
    assert trust(told).startswith("Judge calibrated." if calibrated else "Judge not calibrated.")
