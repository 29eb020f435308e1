"""Holding a part out: deterministic, balanced, and like questions together."""

from collections import Counter
from dataclasses import replace

import pytest

from groundguard.errors import UsageError
from groundguard.evaluation.golden import SAMPLE, GoldenItem, GoldenSet, Split, Want, load, split
from groundguard.evaluation.golden.similar import words

TAGS = ("home", "motor", "travel")


def items(count, **fields):
    return tuple(GoldenItem(f"i{n}", f"w{n} v{n} u{n}?", tags=(TAGS[n % 3],), **fields) for n in range(count))


def golden(*each):
    return GoldenSet("x", "1", each)


def sides(found):
    return {item.id: item.split for item in found.items}


def test_the_same_items_are_held_out_whatever_their_order():
    one = split(golden(*items(40)))
    other = split(golden(*items(40)[::-1]))
    assert sides(one) == sides(other)
    assert one.version == "1"


def test_another_seed_makes_another_choice():
    assert sides(split(golden(*items(40)))) != sides(split(golden(*items(40)), seed=1))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_every_tag_and_every_wanted_outcome_has_its_share(share):
    refused = [replace(item, id=f"r{item.id}", question=f"r{item.question}", want=Want.REFUSAL) for item in items(30)]
    found = split(golden(*items(90), *refused), heldout=share)
    held = Counter((item.want, item.tags) for item in found.items if item.split is Split.HELDOUT)
    total = Counter((item.want, item.tags) for item in found.items)
    assert all(abs(held[each] - share * total[each]) <= 1 for each in total)
    assert abs(held.total() - share * 120) <= 1


def test_many_tags_with_one_item_each_still_give_the_share():
    alone = [replace(item, tags=(item.id,)) for item in items(50)]
    assert Counter(sides(split(golden(*alone), heldout=0.3)).values())[Split.HELDOUT] == 15


def test_items_that_have_a_split_keep_it():
    tune = [replace(item, split=Split.TUNE) for item in items(20)]
    before = golden(*tune, *items(60)[20:])
    after = split(before)
    assert all(after.items[at].split is Split.TUNE for at in range(20))
    assert Counter(sides(after).values())[Split.HELDOUT] == 30
    assert sides(split(before, force=True)) == sides(split(golden(*items(60))))


def test_a_set_that_is_split_stays_as_it_is():
    once = split(golden(*items(40)))
    assert split(once, heldout=0.2, seed=9) == once


def test_questions_that_are_nearly_the_same_stay_together():
    asked = "What does the policy pay for a hotel after the car of {} broke down?"
    names = [f"n{chr(97 + n)}" for n in range(20)]
    pairs = [
        GoldenItem(f"{name}-{k}", asked.format(" ".join(f"{name}{at}x" for at in "abcdefghijkl")) + " Please." * k)
        for name in names
        for k in (0, 1)
    ]
    same = GoldenItem("again", pairs[0].question.upper())
    found = sides(split(golden(*pairs, same)))
    assert all(found[f"{name}-0"] is found[f"{name}-1"] for name in names)
    assert found["again"] is found["na-0"]
    assert set(found.values()) == set(Split)


def test_a_twin_goes_where_its_twin_is():
    twin = GoldenItem("twin", "Is hail covered?", split=Split.HELDOUT)
    found = sides(split(golden(twin, GoldenItem("other", "is HAIL covered"), *items(10))))
    assert found["other"] is Split.HELDOUT


def test_twins_that_are_on_two_sides_stay_there():
    twins = [GoldenItem(side.value, "Is hail covered?", split=side) for side in Split]
    assert sides(split(golden(*twins))) == {side.value: side for side in Split}


@pytest.mark.parametrize("share", [0, 1, -1, 2, float("nan")])
def test_a_share_of_nothing_or_everything_is_refused(share):
    with pytest.raises(UsageError, match="above 0 and below 1"):
        split(golden(*items(4)), heldout=share)


def test_the_sample_is_split_as_this_splits_it():
    sample = load(SAMPLE)
    assert split(sample, force=True) == sample


def test_words_of_these_items_are_not_alike():
    assert len({tuple(words(item.question)) for item in items(90)}) == 90
