import asyncio
import dataclasses
import fractions
import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard.errors import UsageError
from groundguard.guard import Guard
from groundguard.judges import Entailment
from groundguard.judges.entailment import windows
from groundguard.judges.statements import statements
from groundguard.records import Chunk, Decision, Exchange, Reason, Status, Verdict
from groundguard.retry import Retry
from support.doors import Door, both_doors
from support.exchange import stuck
from support.ids import steady

YES, NO, SILENT = Decision.SUPPORTED, Decision.UNSUPPORTED, Decision.UNKNOWN

malformed = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")


class Scorer:
    """Scores each pair by what is written down for words of the premise and the hypothesis; remembers its calls."""

    def __init__(self, scores, default=0.0):
        self.scores, self.default = scores, default
        self.calls = []

    def __call__(self, pairs):
        self.calls.append(list(pairs))
        return [self.score(*pair) for pair in pairs]

    def score(self, premise, hypothesis):
        for (one, other), score in self.scores.items():
            if one in premise and other in hypothesis:
                return score
        return self.default

    @property
    def pairs(self):
        return [pair for call in self.calls for pair in call]


def nli(entailment, contradiction=0.0):
    return {
        "entailment": entailment,
        "neutral": max(0.0, 1 - entailment - contradiction),
        "contradiction": contradiction,
    }


def exchange(answer, *chunks):
    return Exchange("What?", tuple(chunk if isinstance(chunk, Chunk) else Chunk(chunk) for chunk in chunks), answer)


def judge(answer, chunks, scorer, **options):
    return Entailment(scorer, **options)(exchange(answer, *chunks))


def check(door: Door, own, answer="The lamp is red.", chunks=("The lamp is red.",), **options):
    return door.check(Guard(own, **options), answer=answer, chunks=chunks)


# What supports a statement.


@pytest.mark.parametrize(
    ("result", "decision"),
    [
        (nli(0.9), YES),
        (nli(0.5), YES),
        (nli(0.499), NO),
        (nli(0.9, 0.5), NO),
        (nli(0.9, 0.499), YES),
        ({"entailment": 1, "contradiction": 0}, YES),
        ({"ENTAILMENT": 0.9, "Contradiction": 0.1, "NEUTRAL": 0.0}, YES),
        ({"Entailment": 0.1, "contradiction": 0.1}, NO),
        (0.5, YES),
        (1, YES),
        (0.49, NO),
        (0, NO),
        (fractions.Fraction(2, 3), YES),
    ],
    ids=steady,
)
@both_doors
def test_a_result_and_what_it_comes_to(door, result, decision):
    verdict = check(door, Entailment(door.function(lambda pairs: [result]))).verdict
    assert (verdict.decision, verdict.claims[0].decision) == (decision, decision)
    assert verdict.calls == 1


def test_each_statement_is_held_against_each_passage():
    scorer = Scorer({("red", "red"): nli(0.9), ("12 volts", "12"): nli(0.8)})
    verdict = judge(
        "The lamp is red. It needs 12 volts.",
        [Chunk("The lamp is red.", id="a"), Chunk("It runs on 12 volts.", id="b")],
        scorer,
    )
    assert scorer.calls == [
        [
            ("The lamp is red.", "The lamp is red."),
            ("It runs on 12 volts.", "The lamp is red."),
            ("The lamp is red.", "It needs 12 volts."),
            ("It runs on 12 volts.", "It needs 12 volts."),
        ]
    ]  # fmt: skip
    assert [(claim.text, claim.decision, claim.score, claim.chunk_ids) for claim in verdict.claims] == [
        ("The lamp is red.", YES, 0.9, ("a",)),
        ("It needs 12 volts.", YES, 0.8, ("b",)),
    ]
    assert [(claim.start, claim.end) for claim in verdict.claims] == [(0, 16), (17, 35)]
    assert (verdict.decision, verdict.score, verdict.detail) == (YES, 1.0, None)


def test_the_best_passage_counts_and_all_that_support_are_named():
    scorer = Scorer({("one", "red"): nli(0.6), ("two", "red"): nli(0.9), ("three", "red"): nli(0.4)})
    claim = judge("It is red.", ["one", "two", "three", Chunk("two again", id="2")], scorer).claims[0]
    assert (claim.score, claim.chunk_ids, claim.missing) == (0.9, ("1", "2", "4"), ())


def test_a_contradiction_in_any_passage_vetoes():
    scorer = Scorer({("says so", "red"): nli(0.99), ("denies", "red"): nli(0.0, 0.5), ("too", "red"): nli(0.2, 0.8)})
    chunks = ["says so", Chunk("denies it", id="x"), "it too", "denies it again"]
    verdict = judge("It is red.", chunks, scorer)
    claim = verdict.claims[0]
    assert (verdict.decision, verdict.reason, verdict.score) == (NO, Reason.UNSUPPORTED, 0.0)
    assert (claim.decision, claim.score, claim.chunk_ids) == (NO, 0.99, ("1",))
    assert claim.missing == ("contradicted by 2", "contradicted by 3", "contradicted by 4")
    assert judge("It is red.", chunks, scorer, contradiction=0.9).decision is YES


def test_a_contradiction_in_another_window_of_the_same_passage_vetoes():
    scorer = Scorer({("is red", "red"): nli(0.99), ("is blue", "red"): nli(0.0, 0.9)})
    claim = judge("It is red.", ["The lamp is red. The lamp is blue. It is blue."], scorer, window=20).claims[0]
    assert len(scorer.pairs) == 3
    assert (claim.decision, claim.chunk_ids, claim.missing) == (NO, ("1",), ("contradicted by 1",))


def test_thresholds():
    scorer = Scorer({("red", "red"): nli(0.6)})
    answer, chunks = "It is red. It is big. It is red too.", ["It is red."]
    assert judge(answer, chunks, scorer).decision is NO
    verdict = judge(answer, chunks, scorer, threshold=2 / 3)
    assert (verdict.decision, verdict.score) == (YES, 2 / 3)
    assert judge(answer, chunks, scorer, threshold=0.7).decision is NO
    assert judge(answer, chunks, scorer, threshold=0.5, support=0.61).decision is NO


# What is asked.


def test_a_statement_without_a_letter_or_digit_is_not_asked():
    scorer = Scorer({}, default=1.0)
    verdict = judge("It is red.\n\n---\n\n7\n\n👍", ["It is red."], scorer)
    assert [(claim.text, claim.decision) for claim in verdict.claims] == [
        ("It is red.", YES),
        ("---", None),
        ("7", YES),
        ("👍", None),
    ]
    assert [hypothesis for _, hypothesis in scorer.pairs] == ["It is red.", "7"]


@malformed
@both_doors
def test_nothing_asked_is_never_a_yes(door):
    scorer = Scorer({}, default=1.0)
    response = check(door, Entailment(scorer), answer="👍\n\n---")
    verdict = response.verdict
    assert (response.status, verdict.decision, verdict.reason) == (Status.UNGROUNDED, SILENT, Reason.VERDICT_MALFORMED)
    assert (verdict.detail, verdict.score, len(verdict.claims)) == ("no claims", None, 2)
    assert scorer.calls == []


@pytest.mark.parametrize("chunks", [(), ("",), ("\u200b", " ")])
def test_without_a_visible_passage_nothing_is_supported(chunks):
    scorer = Scorer({}, default=1.0)
    verdict = judge("It is red.", chunks, scorer)
    assert (verdict.decision, verdict.claims[0].score, scorer.calls) == (NO, 0.0, [])


@both_doors
def test_a_hypothesis_may_be_built(door):
    def full(given, text):
        return f"{given.question} {text}"

    scorer = Scorer({("12", "What? 12 volts"): 0.9})
    own = Entailment(scorer, hypothesis=door.function(full))
    response = door.check(Guard(own), "What?", answer="12 volts\n\n---", chunks=["It runs on 12 volts."])
    assert response.status is Status.ANSWERED
    assert scorer.pairs == [("It runs on 12 volts.", "What? 12 volts")]
    assert [claim.text for claim in response.verdict.claims] == ["12 volts", "---"]
    assert response.verdict.calls == 1


@pytest.mark.parametrize("built", [None, "", " \u200b", 7, b"text", ["text"]])
def test_a_hypothesis_that_is_no_visible_text_supports_nothing(built):
    scorer = Scorer({}, default=1.0)
    verdict = judge("It is red.", ["It is red."], scorer, hypothesis=lambda given, text: built)
    assert (verdict.decision, verdict.reason, scorer.calls) == (SILENT, Reason.JUDGE_ERROR, [])
    assert verdict.detail == f"a hypothesis is a visible text; the function returned a {type(built).__name__}"


def test_a_hypothesis_that_fails_is_a_failed_judge():
    verdict = judge("It is red.", ["It is red."], Scorer({}, default=1.0), hypothesis=lambda given, text: 1 / 0)
    assert (verdict.decision, verdict.error_type) == (SILENT, "ZeroDivisionError")


# Windows.


def test_windows_lie_at_sentence_borders_and_neighbours_share_a_sentence():
    text = "Aaaa aaa.  Bbbb bbb. Cccc ccc. Dddd ddd."
    assert list(windows(text, 40)) == [text]
    assert list(windows(text, 39)) == ["Aaaa aaa.  Bbbb bbb. Cccc ccc.", "Cccc ccc. Dddd ddd."]
    assert list(windows(text, 30)) == ["Aaaa aaa.  Bbbb bbb. Cccc ccc.", "Cccc ccc. Dddd ddd."]
    assert list(windows(text, 29)) == ["Aaaa aaa.  Bbbb bbb.", "Bbbb bbb. Cccc ccc. Dddd ddd."]
    assert list(windows(text, 20)) == ["Aaaa aaa.  Bbbb bbb.", "Bbbb bbb. Cccc ccc.", "Cccc ccc. Dddd ddd."]
    assert list(windows(text, 19)) == ["Aaaa aaa.", "Bbbb bbb. Cccc ccc.", "Cccc ccc. Dddd ddd."]
    assert list(windows(text, 18)) == ["Aaaa aaa.", "Bbbb bbb.", "Cccc ccc.", "Dddd ddd."]


def test_a_sentence_longer_than_the_window_is_a_window_of_its_own():
    long = f"Cccc {'c' * 50}."
    text = f"Aaaa aaa. Bbbb bbb. {long} Dddd ddd. Eeee eee."
    assert list(windows(text, 20)) == ["Aaaa aaa. Bbbb bbb.", long, "Dddd ddd. Eeee eee."]
    assert list(windows(long, 1)) == [long]
    assert list(windows(" \n", 1)) == []


@given(
    st.lists(st.sampled_from(["A b.", "Ccc ddd eee.", "- item\n", "\n\n", " ", "x" * 30, "| a |\n", "?!"])),
    st.integers(1, 60),
)
def test_windows_lose_nothing_and_are_no_longer_than_they_may_be(parts, size):
    text = "".join(parts)
    sentences = [each.text for each in statements(text)]
    found = list(windows(text, size))
    assert all(window in text for window in found)
    assert all(len(window) <= size or window in sentences for window in found)
    assert all(any(sentence in window for window in found) for sentence in sentences)
    assert len(found) <= len(sentences)


def test_a_long_passage_supports_by_any_of_its_windows():
    text = " ".join(f"Sentence number {number} says nothing." for number in range(60)) + " The lamp is red."
    scorer = Scorer({("lamp is red", "red"): 0.9})
    verdict = judge("The lamp is red.", ["Nothing.", text], scorer, window=200)
    assert verdict.decision is YES
    assert verdict.claims[0].chunk_ids == ("2",)
    assert len(scorer.pairs) == 1 + len(list(windows(text, 200)))
    assert all(len(premise) <= 200 for premise, _ in scorer.pairs)


# Calls.


@pytest.mark.parametrize("batch", [1, 2, 3, 5, 6, 7, 32])
@both_doors
def test_the_pairs_are_the_same_in_batches_of_any_size(door, batch):
    scorer = Scorer({("red", "red"): 0.9, ("big", "big"): 0.8, ("old", "old"): 0.7})
    answer, chunks = "It is red. It is big. It is old.", ["red", "big and old"]
    verdict = check(door, Entailment(scorer, batch=batch), answer, chunks).verdict
    assert verdict.decision is YES
    assert [(claim.score, claim.chunk_ids) for claim in verdict.claims] == [(0.9, ("1",)), (0.8, ("2",)), (0.7, ("2",))]
    assert sorted(map(len, scorer.calls)) == sorted([batch] * (6 // batch) + [6 % batch] * (6 % batch > 0))
    assert len(set(scorer.pairs)) == 6
    assert verdict.calls == len(scorer.calls)


def test_async_calls_wait_for_each_other():
    met = asyncio.Event()

    async def scorer(pairs):
        if "red" in pairs[0][1]:
            await met.wait()
        met.set()
        return [1.0]

    verdict = asyncio.run(Entailment(scorer, batch=1).acall(exchange("It is red. It is big.", "Both.")))
    assert (verdict.decision, verdict.calls) == (YES, 2)


@both_doors
@pytest.mark.parametrize("timeout", [None, 30])
def test_plain_calls_wait_for_each_other(door, timeout):
    barrier = threading.Barrier(3, timeout=20)

    def scorer(pairs):
        barrier.wait()
        return [1.0]

    own = Entailment(scorer, batch=1)
    assert check(door, own, "It is red. It is big. It is old.", timeout=timeout).status is Status.ANSWERED


@both_doors
@pytest.mark.parametrize(
    "wrap", [list, tuple, iter, lambda results: (result for result in results), lambda results: map(float, results)]
)
def test_results_come_in_anything_that_can_be_iterated_over(door, wrap):
    scorer = door.function(lambda pairs: wrap([0.9 for _ in pairs]))
    assert check(door, Entailment(scorer)).status is Status.ANSWERED


def test_numpy_results():
    numpy = pytest.importorskip("numpy")
    rows = numpy.array([[0.1, 0.9, 0.0]], dtype="float32")
    for result in (
        numpy.array([0.9]),
        [dict(zip(("contradiction", "entailment", "neutral"), row, strict=True)) for row in rows],
    ):
        assert judge("It is red.", ["Yes."], lambda pairs, result=result: result).decision is YES


@malformed
def test_numpy_results_that_are_no_probabilities():
    numpy = pytest.importorskip("numpy")
    for result in (numpy.array([True]), numpy.array([[0.1, 0.9, 0.0]]), numpy.array(0.9), numpy.array([numpy.nan])):
        assert judge("It is red.", ["Yes."], lambda pairs, result=result: result).decision is SILENT


# What is not a result.

NO_RESULTS = {
    "NaN": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "above 1": 1.0001,
    "below 0": -0.0001,
    "a truth value": True,
    "nothing": None,
    "a text": "0.9",
    "a word": "yes",
    "a complex number": 0.9 + 0j,
    "a list": [0.9],
    "a verdict": Verdict(YES),
    "no keys": {},
    "one key": {"entailment": 0.9},
    "the other key": {"contradiction": 0.1},
    "a further key": {"entailment": 0.9, "contradiction": 0.0, "other": 0.1},
    "a label and its score": {"label": "entailment", "score": 0.9},
    "numbered labels": {0: 0.0, 1: 0.9, 2: 0.1},
    "one key twice": {"entailment": 0.9, "ENTAILMENT": 0.1, "contradiction": 0.0},
    "padded keys": {" entailment": 0.9, "contradiction": 0.0},
    "a text in it": {"entailment": "0.9", "contradiction": 0.0},
    "a truth value in it": {"entailment": True, "contradiction": 0.0},
    "NaN in it": {"entailment": 0.9, "contradiction": math.nan},
    "nothing in it": {"entailment": 0.9, "contradiction": None},
    "odd neutral": {"entailment": 0.9, "contradiction": 0.0, "neutral": 7},
}


@malformed
@pytest.mark.parametrize("result", NO_RESULTS.values(), ids=NO_RESULTS)
@both_doors
def test_what_is_no_probability_makes_its_claim_unknown_and_no_other(door, result):
    scorer = Scorer({("", "red"): result}, default=1.0)
    response = check(door, Entailment(scorer), "It is red. It is big.")
    verdict = response.verdict
    assert (response.status, verdict.decision, verdict.reason) == (Status.UNGROUNDED, SILENT, Reason.VERDICT_MALFORMED)
    assert [(claim.decision, claim.score) for claim in verdict.claims] == [(SILENT, None), (YES, 1.0)]
    assert (verdict.score, verdict.error_type) == (0.5, None)
    assert verdict.detail.startswith("it returned ")
    half = judge("It is red. It is big.", ["Yes."], scorer, threshold=0.5)
    assert (half.decision, half.detail) == (YES, None)


@malformed
@pytest.mark.parametrize(
    "results",
    [
        [],
        [1.0],
        [1.0, 1.0, 1.0],
        None,
        1.0,
        True,
        "ye",
        b"ye",
        {"a": 1.0, "b": 1.0},
        {1.0: "a", 0.9: "b"},
        {1.0, 0.9},
        {1.0: 1, 0.9: 2}.keys(),
        object(),
        nli(1.0),
    ],
    ids=steady,
)
@both_doors
def test_results_of_another_number_or_kind_make_every_claim_of_the_call_unknown(door, results):
    own = Entailment(door.function(lambda pairs: results))
    verdict = check(door, own, "It is red. It is big.").verdict
    assert (verdict.decision, verdict.reason) == (SILENT, Reason.VERDICT_MALFORMED)
    assert [claim.decision for claim in verdict.claims] == [SILENT, SILENT]
    assert verdict.detail.startswith("it returned ")


class Frame:
    """A table: iterates over the names of its columns, as pandas' and polars' do."""

    ndim = 2
    columns = (1, 0)

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.columns)

    def __len__(self):
        return len(self.rows)


class Line:
    """An array of one dimension."""

    ndim = 1

    def __init__(self, values):
        self.values = values

    def __iter__(self):
        return iter(self.values)


class Labelled(Line):
    columns = ("support",)


class Nested(Line):
    ndim = 2


class Bare(Line):
    ndim = None


@malformed
@pytest.mark.parametrize(
    "results",
    [
        Frame([[0.9, 0.1]] * 2),
        Labelled([1.0, 1.0]),
        Nested([1.0, 1.0]),
        Bare([1.0, 1.0]),
        range(1, 3),
        range(2),
        bytearray(b"\x01\x01"),
        memoryview(b"\x01\x01"),
        {1: 1.0, 2: 1.0}.values(),
        type("Unending", (), {"ndim": 1, "__getitem__": lambda self, place: 1.0})(),
    ],
    ids=lambda results: type(results).__name__,
)
@both_doors
def test_what_can_be_iterated_over_and_is_no_list_of_results_supports_nothing(door, results):
    verdict = check(door, Entailment(door.function(lambda pairs: results)), "It is red. It is big.").verdict
    assert (verdict.decision, verdict.reason) == (SILENT, Reason.VERDICT_MALFORMED)
    assert [claim.decision for claim in verdict.claims] == [SILENT, SILENT]
    assert verdict.detail == f"it returned a {type(results).__name__}, no list of results"


@pytest.mark.parametrize("kind", [list, tuple, iter, Line, lambda results: (each for each in results)])
@both_doors
def test_results_come_in_a_list_a_tuple_an_iterator_or_an_array_of_one_dimension(door, kind):
    verdict = check(door, Entailment(door.function(lambda pairs: kind([1.0, 0.1]))), "It is red. It is big.").verdict
    assert [claim.decision for claim in verdict.claims] == [YES, NO]


@malformed
def test_an_array_of_numpy_has_one_dimension():
    numpy = pytest.importorskip("numpy")
    verdicts = [
        judge("It is red. It is big.", ["Yes."], lambda pairs, shape=shape: numpy.full(shape, 0.9)).decision
        for shape in ((2,), (2, 1), (2, 2), ())
    ]
    assert verdicts == [YES, SILENT, SILENT, SILENT]


@malformed
def test_results_without_an_end_are_another_number():
    def scorer(pairs):
        while True:
            yield 1.0

    assert judge("It is red.", ["Yes."], scorer).reason is Reason.VERDICT_MALFORMED


@malformed
def test_only_the_claims_of_a_bad_call_are_unknown():
    def scorer(pairs):
        return [] if "red" in pairs[0][1] else [1.0] * len(pairs)

    verdict = judge("It is red. It is big.", ["One.", "Two."], scorer, batch=2)
    assert [claim.decision for claim in verdict.claims] == [SILENT, YES]
    mixed = judge("It is red. It is big.", ["One.", "Two.", "Three."], scorer, batch=4)
    assert [claim.decision for claim in mixed.claims] == [SILENT, SILENT]


@malformed
def test_a_contradiction_does_not_hide_that_another_result_was_none():
    scorer = Scorer({("one", "red"): nli(0.0, 0.9), ("two", "red"): None, ("three", "red"): nli(1.0)})
    verdict = judge("It is red.", ["one", "two", "three"], scorer)
    assert (verdict.decision, verdict.claims[0].chunk_ids) == (SILENT, ())


@malformed
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-1, 2) | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["entailment", "contradiction", "neutral", "Entailment", "x"]), inner)
        ),
        max_leaves=4,
    )
)
def test_nothing_but_a_probability_of_support_ever_supports(results):
    verdict = judge("It is red.", ["Yes."], lambda pairs: results)
    if verdict.decision is not YES:
        return
    (result,) = results
    values = (
        {key.lower(): value for key, value in result.items()} if isinstance(result, dict) else {"entailment": result}
    )
    assert 0.5 <= values["entailment"] <= 1
    assert values.get("contradiction", 0) < 0.5
    assert not any(isinstance(value, bool) for value in values.values())


# Failures.


class Busy(Exception):
    status_code = 429


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("out of memory"), Reason.JUDGE_ERROR),
        (TimeoutError("slow"), Reason.JUDGE_TIMEOUT),
        (Busy("busy"), Reason.JUDGE_RATE_LIMITED),
        (StopIteration("odd"), Reason.JUDGE_ERROR),
        (asyncio.CancelledError("odd"), Reason.JUDGE_ERROR),
    ],
    ids=steady,
)
@both_doors
def test_a_scorer_that_raises_makes_the_claims_of_that_call_unknown(door, error, reason):
    def scorer(pairs):
        if "red" in pairs[0][1]:
            raise error
        return [1.0] * len(pairs)

    response = check(door, Entailment(door.function(scorer), batch=1), "It is big. It is red.")
    verdict = response.verdict
    assert (response.status, verdict.decision, verdict.reason) == (Status.UNGROUNDED, SILENT, reason)
    assert [claim.decision for claim in verdict.claims] == [YES, SILENT]
    assert verdict.error_type is not None
    assert verdict.detail


def test_results_that_fail_while_they_are_computed():
    def scorer(pairs):
        yield 1.0
        raise ValueError("half way")

    verdict = judge("It is red. It is big.", ["Yes."], scorer)
    assert (verdict.decision, verdict.reason, verdict.detail) == (SILENT, Reason.JUDGE_ERROR, "half way")


def test_a_failure_that_decides_nothing_is_not_told():
    def scorer(pairs):
        if "red" in pairs[0][1]:
            raise ValueError
        return [0.0]

    verdict = judge("It is red. It is big.", ["Yes."], scorer, batch=1)
    assert (verdict.decision, verdict.reason, verdict.detail, verdict.error_type) == (
        NO,
        Reason.UNSUPPORTED,
        None,
        None,
    )


@both_doors
def test_the_deadline_of_the_guard_ends_the_scorer(door):
    with stuck() as event:

        def scorer(pairs):
            event.wait()
            return [1.0] * len(pairs)

        def lazy(pairs):
            event.wait()
            yield from [1.0] * len(pairs)

        for hanging in (scorer, lazy):
            response = check(door, Entailment(hanging), timeout=0.05)
            assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.JUDGE_TIMEOUT)


@both_doors
def test_a_scorer_is_tried_again_only_if_asked_for(door):
    for retry, calls in ((None, 1), (Retry(attempts=3, initial=0, maximum=0), 3)):
        asked = []

        def scorer(pairs, asked=asked):
            asked.append(pairs)
            raise ConnectionError("refused")

        response = check(door, Entailment(door.function(scorer)), retry=retry)
        assert (response.reason, len(asked), response.verdict.calls) == (Reason.JUDGE_ERROR, calls, calls)


def test_async_functions_behind_a_plain_door_are_wiring_mistakes():
    async def scorer(pairs):
        raise AssertionError("asked")

    async def hypothesis(given, text):
        raise AssertionError("asked")

    for own in (Entailment(scorer), Entailment(lambda pairs: [1.0], hypothesis=hypothesis)):
        with pytest.raises(UsageError, match="is async: use the async door"):
            Guard(own).check("?", answer="It is red.", chunks=["Yes."])


# A value.


def test_the_fingerprint_covers_whatever_shapes_the_verdict():
    def scorer(pairs): ...
    def other(pairs): ...
    def hypothesis(given, text): ...

    judges = [
        Entailment(scorer),
        Entailment(other),
        Entailment(scorer, support=0.6),
        Entailment(scorer, contradiction=0.6),
        Entailment(scorer, threshold=0.6),
        Entailment(scorer, window=600),
        Entailment(scorer, hypothesis=hypothesis),
    ]
    assert len({own.fingerprint for own in judges}) == len(set(judges)) == len(judges)
    assert Entailment(scorer, batch=7, support=1).fingerprint == Entailment(scorer, support=1.0).fingerprint
    assert judges[0].name == f"entailment:{scorer.__qualname__}"
    assert dataclasses.replace(judges[0], window=600) == judges[5]
    with pytest.raises(dataclasses.FrozenInstanceError):
        judges[0].window = 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scorer": None}, "the scorer must be a function, plain or async; got a NoneType"),
        ({"scorer": "CANARY"}, "got a str"),
        ({"scorer": Scorer}, "got the class Scorer"),
        ({"scorer": lambda: [1.0]}, "is called with 1 positional argument; it takes others"),
        ({"scorer": lambda one, other: [1.0]}, "is called with 1 positional argument; it takes others"),
        ({"hypothesis": "CANARY"}, "the hypothesis must be a function"),
        ({"hypothesis": lambda text: text}, "is called with 2 positional arguments; it takes others"),
        ({"support": 0}, "support is a number above 0"),
        ({"support": 1.1}, "support"),
        ({"contradiction": math.nan}, "contradiction"),
        ({"contradiction": "CANARY"}, "contradiction .* got a str"),
        ({"threshold": True}, "threshold"),
        ({"window": 0}, "window is a whole number from 1; got 0"),
        ({"window": 1.5}, r"window is a whole number from 1; got 1\.5"),
        ({"window": None}, "window is a whole number from 1; got a NoneType"),
        ({"batch": -1}, "batch is a whole number from 1; got -1"),
        ({"batch": True}, "batch is a whole number from 1; got True"),
        ({"batch": "CANARY"}, "batch is a whole number from 1; got a str"),
    ],
)
def test_what_can_not_be_wired_is_refused(options, message):
    with pytest.raises(UsageError, match=message) as raised:
        Entailment(**{"scorer": Scorer({}), **options})
    assert "CANARY" not in str(raised.value)
