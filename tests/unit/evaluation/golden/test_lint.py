"""The lint: each rule finds what it is there for, and a good set passes."""

import datetime as dt
from dataclasses import replace

import pytest

from groundguard.evaluation.golden import SAMPLE, GoldenItem, GoldenSet, Origin, Severity, Split, Want, dump, lint, load
from groundguard.evaluation.golden.reading import read
from groundguard.records import Chunk, Turn

TODAY = dt.date(2025, 12, 1)
CHECKED = {"verified_by": "Ann", "verified_on": "2025-05-01"}
NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)


def item(number, **fields):
    """One of many items that differ in every word and have nothing wrong with them."""
    tens, ones = NUMBERS[number // 20], NUMBERS[number % 20]
    known = {
        "question": f"{tens}x{ones} q{tens}{ones}?",
        "answer": f"Reply {number}.",
        "chunk_ids": (f"d#{number}",),
        "split": Split.HELDOUT if number % 2 else Split.TUNE,
        "verified_by": ("Ann", "Bob")[number % 2],
        "verified_on": "2025-05-01",
    }
    return GoldenItem(f"i{number}", **{**known, **fields})


def refusal(number, **fields):
    return item(number, **{"want": Want.REFUSAL, "answer": None, "chunk_ids": (), **fields})


GOOD = (*(item(n) for n in range(2, 60)), refusal(0), refusal(1))


def findings(*items, today=TODAY):
    return lint(GoldenSet("x", "1", items), today=today)


def found(code, *items, today=TODAY):
    """The only finding with this code."""
    (one,) = (each for each in findings(*items, today=today) if each.code == code)
    return one


def codes(*items):
    return {each.code for each in findings(*items)}


def test_a_good_set_passes():
    assert findings(*GOOD) == ()


def test_the_sample_passes():
    assert lint(load(SAMPLE), today=TODAY) == ()


def test_few_items():
    one = found("few-items", *GOOD[:20])
    assert one.severity is Severity.WARNING
    assert "20 items only: a figure of 0.80 on so few is known to about ±0.17" in one.message
    assert "few-items" not in codes(*GOOD[:50])


def test_a_single_item_and_none_at_all_are_told_apart_from_many():
    assert "1 item only" in found("few-items", GOOD[0]).message
    assert "0 items only: a figure of 0.80 on so few is known to about ±1.00" in found("few-items").message


def test_synthetic_items_that_nobody_verified():
    synthetic = item(2, origin=Origin.SYNTHETIC, verified_by=None, verified_on=None)
    one = found("unverified-synthetic", synthetic, *GOOD[1:])
    assert (one.severity, one.ids) == (Severity.WARNING, ("i2",))
    assert "unverified-synthetic" not in codes(item(2, origin=Origin.SYNTHETIC), *GOOD[1:])


def test_items_of_people_that_nobody_verified_are_a_note():
    one = found("unverified", item(2, verified_by=None, verified_on=None), *GOOD[1:])
    assert (one.severity, one.ids) == (Severity.NOTE, ("i2",))


def test_a_check_in_the_future():
    later = item(2, verified_on="2025-12-02")
    assert found("verified-in-future", later, *GOOD[1:]).severity is Severity.ERROR
    assert "verified-in-future" not in {each.code for each in findings(later, *GOOD[1:], today=dt.date(2025, 12, 2))}


@pytest.mark.parametrize("lacking", ["verified_by", "verified_on"])
def test_a_check_without_its_date_or_its_person(lacking):
    assert found("half-verified", item(2, **{lacking: None}), *GOOD[1:]).ids == ("i2",)


def test_one_verifier():
    assert found("one-verifier", *(replace(each, verified_by="Ann") for each in GOOD)).severity is Severity.NOTE


def test_exact_duplicates():
    one = found("duplicate", *GOOD, replace(GOOD[0], id="again", question=GOOD[0].question.upper()))
    assert (one.severity, one.ids) == (Severity.ERROR, ("i2", "again"))
    assert "2 times" in one.message


@pytest.mark.parametrize("change", [{"want": Want.REFUSAL}, {"answer": "Another."}])
def test_duplicates_that_contradict_each_other(change):
    one = found("contradiction", *GOOD, replace(GOOD[0], id="again", **change))
    assert (one.severity, one.ids) == (Severity.ERROR, ("i2", "again"))


def test_the_same_question_after_something_else_is_another_question():
    again = replace(GOOD[0], id="again", history=(Turn("user", "Something quite different, at length"),))
    assert not {"duplicate", "contradiction", "near-duplicate"} & codes(*GOOD, again)


LONG = "What does the policy pay for a hotel after the car broke down?"


def near(split):
    return (
        item(60, question=LONG, split=Split.TUNE),
        item(61, question=LONG.replace("a hotel", "the hotel"), split=split),
    )


def test_near_duplicates():
    one = found("near-duplicate", *GOOD, *near(Split.TUNE))
    assert (one.severity, one.ids) == (Severity.WARNING, ("i60", "i61"))


def test_a_near_duplicate_on_the_other_side_is_a_leak():
    one = found("leak", *GOOD, *near(Split.HELDOUT))
    assert (one.severity, one.ids) == (Severity.ERROR, ("i60", "i61"))
    assert "near-duplicate" not in codes(*GOOD, *near(Split.HELDOUT))


def test_a_duplicate_on_the_other_side_is_a_leak():
    assert found("leak", *GOOD, replace(GOOD[0], id="again", split=Split.HELDOUT)).ids == ("i2", "again")


def test_nothing_held_out():
    tune = [replace(each, split=Split.TUNE) for each in GOOD]
    assert found("no-heldout", *tune).severity is Severity.WARNING
    assert "no-heldout" in codes(*(replace(each, split=None) for each in GOOD))


def test_some_items_on_neither_side():
    assert found("unsplit", replace(GOOD[0], split=None), *GOOD[1:]).ids == ("i2",)


def test_a_held_out_part_that_is_too_small():
    one = found("small-heldout", *(replace(each, split=Split.TUNE) for each in GOOD[10:]), *GOOD[:10])
    assert "5 items held out" in one.message


def test_refusals_on_one_side_only():
    one_sided = [replace(each, split=Split.TUNE) for each in GOOD[-2:]]
    assert found("heldout-without-refusals", *GOOD[:-2], *one_sided).severity is Severity.WARNING


def test_no_refusals_wanted():
    assert found("no-refusals", *GOOD[:-2]).severity is Severity.WARNING
    assert "heldout-without-refusals" not in codes(*GOOD[:-2])


def test_a_refusal_whose_answer_is_there():
    assert found("refusal-with-chunks", *GOOD, refusal(60, chunk_ids=("x",))).ids == ("i60",)


@pytest.mark.parametrize("answer", [None, "", " … "])
def test_no_reference_answer(answer):
    assert found("no-reference-answer", *GOOD, item(60, answer=answer)).ids == ("i60",)


def test_no_reference_chunks():
    assert found("no-reference-chunks", *GOOD, item(60, chunk_ids=())).ids == ("i60",)
    assert "no-reference-chunks" not in codes(*GOOD, item(60, chunk_ids=(), chunks=(Chunk("x"),)))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is it true that the excess is 250 euros?", "The excess is 250 euros."),
        (
            "Do customers without a claim for five years pay no excess?",
            "Without a claim for five years, customers pay no.",
        ),
    ],
)
def test_an_answer_that_leaks_into_its_question(question, answer):
    assert found("answer-in-question", *GOOD, item(60, question=question, answer=answer)).ids == ("i60",)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is hail covered?", "Yes."),
        ("Is hail covered?", "Hail is covered."),
        ("What is the excess?", "The excess is 250 euros."),
        ("Is 12 the age?", "12"),
    ],
)
def test_an_answer_that_does_not(question, answer):
    assert "answer-in-question" not in codes(*GOOD, item(60, question=question, answer=answer))


def test_a_tag_with_one_item():
    one = found("lonely-tag", *GOOD, item(60, tags=("motor",)))
    assert (one.severity, one.ids) == (Severity.NOTE, ("i60",))
    assert "'motor'" in one.message
    assert "lonely-tag" not in codes(*GOOD, item(60, tags=("motor",)), item(61, tags=("motor",)))


def test_the_worst_comes_first_and_names_its_line(tmp_path):
    items = (item(2, tags=("alone",)), item(3), replace(item(3), id="again"))
    golden = GoldenSet("x", "1", items)
    file = tmp_path / "x.jsonl"
    dump(golden, file)
    told = lint(golden, today=TODAY, lines=read(file).lines)
    assert [each.severity for each in told] == sorted((each.severity for each in told), key=list(Severity).index)
    assert {each.code: each.line for each in told} == {
        "duplicate": 3,
        "few-items": None,
        "small-heldout": None,
        "no-refusals": None,
        "lonely-tag": 2,
    }


def test_a_finding_without_known_lines_has_none():
    assert all(each.line is None for each in findings(*GOOD[:3]))
