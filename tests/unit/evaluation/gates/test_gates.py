"""Gates: what passes, what fails, what is refused, and what the message says."""

import pytest

from groundguard.errors import InputError, UsageError
from groundguard.evaluation.figures import figures
from groundguard.evaluation.gates.gates import Bound, Gate, Outcome, exit_code, held, shown, written
from groundguard.evaluation.gates.options import from_table, parsed, read
from groundguard.evaluation.results import Figure, Interval
from support.measured import run_with

PANEL = [("faithfulness", 0.75), ("answer_relevancy", 0.8), ("context_precision", 0.7), ("context_recall", 0.8)]


def at(value, gate=0.8, bound=Bound.VALUE, repeats=1, unscored=0, spread=None, reason="judge_error", **options):
    """What becomes of one gate."""
    reasons = {reason: unscored} if unscored else {}
    interval = None if value is None else Interval(max(0, value - 0.1), min(1, value + 0.1))
    n = 0 if value is None else 20
    figure = Figure("faithfulness", value, n, interval, unscored, reasons, spread)
    (result,) = held([Gate("faithfulness", gate, bound)], [figure], repeats=repeats, **options)
    return result


def test_at_the_gate_passes():
    result = at(0.8)
    assert result.outcome is Outcome.PASSED
    assert result.why == "faithfulness 0.80 >= 0.80 (n 20)"


def test_below_the_gate_fails():
    result = at(0.79)
    assert result.outcome is Outcome.FAILED
    assert result.why == "faithfulness 0.79 < 0.80 (n 20)"


def test_the_lower_bound_is_another_matter():
    result = at(0.85, bound=Bound.LOWER)
    assert result.outcome is Outcome.FAILED
    assert result.value == 0.75
    assert result.why == "the lower bound of faithfulness 0.75 < 0.80 (n 20)"
    assert at(0.95, bound=Bound.LOWER).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("value", "gate", "printed"),
    [
        (0.8461, 0.85, "0.846"),
        (29 / 30, 0.9667, "0.96667"),
        (0.704, 0.702, "0.704"),
        (0.7, 0.7, "0.70"),
        (0.1 + 0.2, 0.3, "0.30"),
    ],
)
def test_what_is_printed_falls_on_the_side_that_was_decided(value, gate, printed):
    result = at(value, gate)
    assert shown(value, gate) == printed
    assert (float(printed) >= gate) is (result.outcome is Outcome.PASSED)


def test_a_gate_is_written_with_all_its_digits():
    assert [written(gate) for gate in (0.8, 0.9667, 1, 0.75)] == ["0.80", "0.9667", "1.00", "0.75"]
    assert str(Gate("m", 0.8, Bound.LOWER)) == "m.lower=0.80"
    assert shown(0.123456) == "0.12"


def test_a_gate_inside_the_noise_is_refused_unless_that_is_wanted():
    result = at(0.82, repeats=3, spread=0.02)
    assert result.outcome is Outcome.REFUSED
    assert "inside the noise" in result.why
    assert result.noise.low < 0.8 < result.noise.high
    allowed = at(0.82, repeats=3, spread=0.02, allow_noisy=True)
    assert allowed.outcome is Outcome.PASSED
    assert allowed.noise == result.noise


def test_a_gate_outside_the_noise_is_not_refused():
    assert at(0.95, repeats=3, spread=0.01).outcome is Outcome.PASSED
    assert at(0.6, repeats=3, spread=0.01).outcome is Outcome.FAILED
    assert at(0.8, repeats=3, spread=0).outcome is Outcome.PASSED


def test_the_noise_around_a_lower_bound_is_around_it():
    assert at(0.9, bound=Bound.LOWER, repeats=3, spread=0.01).outcome is Outcome.REFUSED
    assert at(0.8, bound=Bound.LOWER, repeats=3, spread=0.01).outcome is Outcome.FAILED


def test_a_few_failures_are_told_and_too_many_fail():
    few, many = at(0.9, unscored=1), at(0.9, unscored=2)
    assert few.outcome is Outcome.PASSED
    assert few.why == "faithfulness 0.90 >= 0.80 (n 20; 1 of 21 could not be scored (1 judge_error))"
    assert many.outcome is Outcome.FAILED
    assert many.why == "faithfulness: 2 of 22 could not be scored (2 judge_error), and more than 5% failed"
    assert at(0.9, unscored=2, most_failed=0.1).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    "reason",
    ["pipeline failed", "not scored", "judge_timeout", "metric error: LookupError", "metric error: it returned a str"],
)
def test_what_failed_is_not_what_could_not_be_known(reason):
    assert at(0.9, unscored=5, reason=reason).outcome is Outcome.FAILED
    assert at(0.9, unscored=5, reason="no reference").outcome is Outcome.PASSED


def test_a_figure_over_less_than_half_of_the_items_passes_no_gate():
    assert at(0.9, unscored=20, reason="no reference").outcome is Outcome.PASSED
    result = at(0.9, unscored=21, reason="no reference")
    assert result.outcome is Outcome.FAILED
    assert result.why == "faithfulness: 21 of 41 could not be scored (21 no reference), which is more than 50% of them"
    assert at(0.9, unscored=21, reason="no reference", most_unscored=0.6).outcome is Outcome.PASSED


def test_what_was_not_measured_fails():
    result = at(None, unscored=3)
    assert (result.outcome, result.value) == (Outcome.FAILED, None)
    assert result.why == "faithfulness was not measured: 3 of 3 could not be scored (3 judge_error)"
    (absent,) = held([Gate("context_recall", 0.8)], [])
    assert absent.outcome is Outcome.FAILED
    assert absent.why == "context_recall was not measured: no item has it"


def test_no_gate_asks_for_nothing():
    assert held([], figures(run_with([0, 0]))) == ()


@pytest.mark.parametrize(
    ("values", "results", "code"),
    [
        ([1, 1], [], 0),
        ([0, 0], [], 0),
        ([], [], 2),
        (["no reference"], [], 2),
        (["judge_error"], [], 3),
        ([1], [at(0.9)], 0),
        ([1], [at(0.9), at(0.1)], 1),
        ([1], [at(0.1), at(0.82, repeats=3, spread=0.02)], 2),
    ],
)
def test_how_a_run_ends(values, results, code):
    assert exit_code(figures(run_with(values)), results) == code


def test_what_flags_mean():
    assert parsed([]) == ()
    assert parsed(["faithfulness"]) == (Gate("faithfulness", 0.7),)
    assert parsed(["panel"]) == tuple(Gate(*gate) for gate in PANEL)
    assert parsed(["faithfulness=0.8"]) == parsed(["faithfulness>=0.8"]) == (Gate("faithfulness", 0.8),)
    assert parsed(["faithfulness.lower=0.8"]) == (Gate("faithfulness", 0.8, Bound.LOWER),)
    assert parsed(["panel.lower"])[0] == Gate("faithfulness", 0.75, Bound.LOWER)
    assert parsed(["faithfulness=0.9", "panel"])[0] == Gate("faithfulness", 0.9)
    assert len(parsed(["faithfulness=0.9", "panel"])) == 4
    assert len(parsed(["faithfulness=0.9", "faithfulness.lower=0.8"])) == 2


@pytest.mark.parametrize(
    "flags",
    [
        ["refusal"], [""], ["=0.8"], ["faithfulness="], ["faithfulness=high"], ["faithfulness=80"], ["faithfulness=0"],
        ["faithfulness=nan"], ["faithfulness=-1"], ["panel=0.8"], ["faithfulness=0.7", "faithfulness=0.8"],
    ],
)  # fmt: skip
def test_flags_that_mean_nothing(flags):
    with pytest.raises(UsageError):
        parsed(flags)


def test_a_gate_at_0_is_none():
    with pytest.raises(ValueError, match="stops nothing"):
        Gate("m", 0)


def test_a_table_asks_as_flags_do():
    table = {"panel": True, "refusal": 1, "faithfulness": False, "context_recall.lower": 0.75}
    gates = from_table(table, "x.toml: [gates]")
    assert gates == parsed(["panel", "refusal=1", "context_recall.lower=0.75"])


@pytest.mark.parametrize(
    "table", [[], "faithfulness", {"faithfulness": "0.8"}, {"faithfulness": 8}, {"recall": True}, {1: 0.8}]
)
def test_a_table_that_asks_for_nothing_known(table):
    with pytest.raises(InputError, match=r"x\.toml: \[gates\]"):
        from_table(table, "x.toml: [gates]")


@pytest.mark.parametrize("name", ["gates", "tool.groundguard.gates"])
def test_a_toml_file(tmp_path, name):
    file = tmp_path / "gates.toml"
    file.write_text(f"[{name}]\nfaithfulness = 0.8\n")
    assert read(file) == (Gate("faithfulness", 0.8),)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "can't read"),
        ("[gates]\nx = \n", "line 2"),
        ("[tool]\nx = 1\n", "has no table"),
        ("[gates]\nx = 'a'\n", r"\[gates\]: x must be"),
        ("x = " + "[" * 3000 + "]" * 3000, "nested too deep"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_toml_file_that_has_no_gates(tmp_path, text, why):
    file = tmp_path / "gates.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=why):
        read(file)


def test_a_result_as_json():
    assert at(0.9).to_dict() == {
        "gate": {"metric": "faithfulness", "at": 0.8, "bound": "value"},
        "outcome": "passed",
        "value": 0.9,
        "why": "faithfulness 0.90 >= 0.80 (n 20)",
        "noise": None,
    }
