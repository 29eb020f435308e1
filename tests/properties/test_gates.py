"""Gates are total: any flag, any value, and what is printed always says what was decided."""

from hypothesis import example, given
from hypothesis import strategies as st

from groundguard.errors import InputError, UsageError
from groundguard.evaluation.gates.gates import Gate, Outcome, held, reaches, shown, written
from groundguard.evaluation.gates.options import from_table, parsed
from groundguard.evaluation.results import Figure, Interval
from support.strategies import hostile, json_values

values = st.floats(0, 1)
# a gate as a person writes it: a few digits
gates = st.integers(1, 10_000).map(lambda at: at / 10_000)


@given(values, gates)
@example(29 / 30, 0.9667)
@example(0.8461, 0.85)
@example(0.1 + 0.2, 0.3)
def test_what_is_printed_is_what_was_decided(value, at):
    assert (float(shown(value, at)) >= float(written(at))) is reaches(value, at)


@given(values, gates, st.integers(0, 9), st.floats(0, 0.2), st.integers(1, 5))
def test_a_gate_that_passes_was_reached_outside_the_noise(value, at, unscored, spread, repeats):
    figure = Figure("m", value, 10, Interval(value / 2, (1 + value) / 2), unscored, {"no": unscored}, spread)
    (result,) = held([Gate("m", at)], [figure], repeats=repeats)
    assert (result.outcome is Outcome.PASSED) <= (reaches(value, at) and unscored <= 10)
    assert (result.outcome is Outcome.REFUSED) <= (repeats > 1)


names = st.sampled_from(["faithfulness", "panel", "x", "faithfulness.lower", "panel.lower", ""]) | hostile
flags = st.one_of(names, st.builds("{}={}".format, names, st.floats() | hostile | st.integers()))


@given(st.lists(flags, max_size=3))
def test_any_flags_are_gates_or_an_error(written_flags):
    try:
        found = parsed(written_flags)
    except UsageError:
        return
    assert all(0 < gate.at <= 1 for gate in found)
    assert parsed(map(str, found)) == found


@given(json_values | st.dictionaries(names, json_values, max_size=3))
def test_any_table_is_gates_or_an_error(table):
    try:
        found = from_table(table, "x.toml")
    except InputError as error:
        found, told = (), str(error)
        assert told.startswith("x.toml")  # both ways are right
    assert all(0 < gate.at <= 1 for gate in found)
