"""The statistics of an evaluation against scipy's, which does nothing for the library itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundguard.evaluation.statistics import (
    agreement,
    bootstrap,
    intervals,
    paired,
    prevalence,
    rank,
    samples,
    student,
)
from groundguard.evaluation.statistics.agreement import Table

stats = pytest.importorskip("scipy.stats")
special = pytest.importorskip("scipy.special")

levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])
counts = st.integers(0, 300)
shares = st.floats(0, 1)
tables = st.builds(Table, *[st.integers(0, 60)] * 4)
few_scores = st.lists(st.integers(0, 9).map(lambda tenths: tenths / 10), min_size=1, max_size=25)


@given(counts, st.integers(1, 300), levels)
def test_wilson(hits, n, level):
    hits = min(hits, n)
    ours, theirs = intervals.wilson(hits, n, level), stats.binomtest(hits, n).proportion_ci(level, "wilson")
    assert ours.low == pytest.approx(theirs.low, abs=1e-12)
    assert ours.high == pytest.approx(theirs.high, abs=1e-12)


@given(counts, st.integers(1, 300), levels)
def test_upper_bound(hits, n, level):
    hits = min(hits, n)
    theirs = stats.binomtest(hits, n, alternative="less").proportion_ci(level, "exact")
    assert intervals.upper_bound(hits, n, level) == pytest.approx(theirs.high, abs=1e-9)


@given(counts, counts)
def test_mcnemar(gained, lost):
    theirs = stats.binomtest(gained, gained + lost, 0.5).pvalue if gained + lost else 1
    assert paired.mcnemar(gained, lost) == pytest.approx(theirs, abs=1e-10)


@given(st.integers(1, 200), levels)
def test_students_t(degrees, level):
    assert student.t_of(level, degrees) == pytest.approx(stats.t.ppf((1 + level) / 2, degrees), rel=1e-7)


@given(st.floats(0.5, 60), st.floats(0.5, 60), shares)
def test_incomplete_beta(a, b, x):
    assert student.incomplete_beta(a, b, x) == pytest.approx(special.betainc(a, b, x), abs=1e-9)


@given(few_scores, few_scores)
def test_auroc(good, bad):
    theirs = stats.mannwhitneyu(good, bad).statistic / (len(good) * len(bad))
    assert rank.auroc(good, bad) == pytest.approx(theirs, abs=1e-12)


@settings(max_examples=8, deadline=None)
@given(st.lists(shares, min_size=12, max_size=60, unique=True), st.integers(0, 99))
def test_the_bootstrap(values, seed):
    """Two bootstraps with other seeds differ by what 2,000 drawings leave open: a tenth of the width here."""
    for ours, method in ((bootstrap.percentile, "percentile"), (bootstrap.bca, "BCa")):
        low, high = ours(values, seed=seed)
        theirs = stats.bootstrap((values,), lambda x, axis: x.mean(axis=axis), method=method, rng=seed)
        assert low == pytest.approx(theirs.confidence_interval.low, abs=0.15 * (high - low))
        assert high == pytest.approx(theirs.confidence_interval.high, abs=0.15 * (high - low))


@given(st.lists(shares, min_size=1, max_size=60), st.integers(0, 9))
def test_the_interval_of_a_mean_is_total_and_holds_the_mean(values, seed):
    interval = intervals.of_mean(values, seed=seed)
    assert 0 <= interval.low <= interval.high <= 1
    if interval.method == "wilson":
        assert interval.low - 1e-9 <= sum(values) / len(values) <= interval.high + 1e-9


@given(tables)
def test_agreement_is_total(table):
    for value, interval in (
        (agreement.kappa(table), agreement.kappa_interval(table)),
        (agreement.balanced_accuracy(table), agreement.balanced_interval(table)),
    ):
        assert (value is None) == (interval is None) == (not table.good or not table.bad)
        if value is not None:
            assert -1 <= interval.low <= value + 1e-12
            assert value - 1e-12 <= interval.high <= 1


@given(st.integers(0, 50), st.integers(1, 50), tables)
def test_a_corrected_rate_is_total(passed, n, table):
    corrected = prevalence.rogan_gladen(min(passed, n), n, table)
    if corrected is not None:
        assert 0 <= corrected.interval.low <= corrected.value <= corrected.interval.high <= 1


@given(*[st.integers(0, 40)] * 4, levels)
def test_a_difference_of_rates_holds_the_difference(both, gained, lost, neither, level):
    n = both + gained + lost + neither
    if n:
        interval = paired.difference_of_rates(both, gained, lost, neither, level)
        assert -1 <= interval.low <= (gained - lost) / n + 1e-12
        assert (gained - lost) / n - 1e-12 <= interval.high <= 1


@settings(deadline=None)
@given(st.integers(0, 6), st.floats(0.31, 0.6))
def test_the_labels_it_takes_are_enough(twentieths, below):
    n = samples.to_bound(twentieths / 20, below)
    assert intervals.upper_bound(-(-twentieths * n // 20), n) <= below
