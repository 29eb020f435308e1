"""Which questions are alike."""

import pytest

from groundguard.evaluation.golden.similar import alike, same, words

CONTENTS = "What is the limit for bicycles in the contents policy?"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("How long? It's 30 days!", ["how", "long", "it", "s", "30", "days"]),
        ("保証期間は？", ["保", "証", "期", "間", "は"]),
        ("GRÖẞE", ["grösse"]),
        ("?!", []),
    ],
)
def test_words(text, found):
    assert words(text) == found


def test_the_same_but_for_case_and_punctuation():
    assert same(["How long?", "x", "how LONG", "how, long!", "?", "!"]) == [(0, 2, 3)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (CONTENTS, "What is the limit for bicycles in the contents policy now?"),
        (CONTENTS, "In the contents policy, what is the limit for bicycles?"),
        ("保証期間は何年ですか", "保証期間は何年ですかね"),
    ],
)
def test_nearly_the_same(one, other):
    ((first, second, share),) = alike([one, "Who is the ombudsman?", other])
    assert (first, second) == (0, 2)
    assert 0.7 <= share < 1


@pytest.mark.parametrize(
    "other",
    [
        "Is theft covered?",
        "What is the limit for valuables in the travel policy?",
        CONTENTS,  # the same, not alike
        CONTENTS.upper(),
        "",
    ],
)
def test_not_alike(other):
    assert list(alike([CONTENTS, other])) == []


def test_other_numbers_make_another_question():
    asked = "May I send the lamp back after {} days without its box?"
    assert list(alike([asked.format(30), asked.format(60)])) == []
    assert len(list(alike([asked.format(30), asked.format(30) + " Please."]))) == 1
