"""Items and sets: what is checked at construction, and what their hashes cover."""

from dataclasses import replace

import pytest

from groundguard.evaluation.golden import GoldenItem, GoldenSet, Want
from groundguard.records import Chunk, Turn

ITEM = GoldenItem("a", "How long?", "Two years.", chunk_ids=("w.md#1",), tags=("warranty",))
OTHER = GoldenItem("b", "How much?", want=Want.REFUSAL)


def golden(*items, version="1"):
    return GoldenSet("shop", version, items)


def test_the_ids_of_an_items_own_chunks_count_as_reference_ids_once():
    item = GoldenItem("a", "q", chunks=(Chunk("x", id="2"), Chunk("y"), Chunk("z", id="1")), chunk_ids=("1",))
    assert item.chunk_ids == ("1", "2")


def test_an_id_stands_once_in_a_set():
    with pytest.raises(ValueError, match="1 stand more than once"):
        golden(ITEM, OTHER, ITEM)


def test_a_record_leaves_out_what_is_at_its_default():
    assert ITEM.to_record() == {
        "id": "a",
        "question": "How long?",
        "answer": "Two years.",
        "chunk_ids": ["w.md#1"],
        "tags": ["warranty"],
    }
    assert GoldenItem("c", "q", chunks=(Chunk("x"),)).to_record() == {
        "id": "c",
        "question": "q",
        "chunks": [{"text": "x"}],
    }


def test_a_dict_has_every_field():
    assert OTHER.to_dict()["want"] == "refusal"
    assert OTHER.to_dict()["answer"] is None


def test_what_is_asked_includes_what_was_said_before():
    item = replace(ITEM, history=(Turn("user", "About the lamp:"),))
    assert item.asked == "About the lamp:\nHow long?"


def test_the_hash_ignores_order_name_and_version():
    assert golden(ITEM, OTHER).content_hash == golden(OTHER, ITEM, version="2").content_hash


@pytest.mark.parametrize(
    "change",
    [
        {"question": "How long?!"},
        {"answer": None},
        {"want": Want.REFUSAL},
        {"tags": ()},
        {"chunk_ids": ("w.md#2",)},
        {"chunks": (Chunk("x"),)},
        {"metadata": {"k": 1}},
        {"history": (Turn("user", "hi"),)},
    ],
)
def test_the_hash_covers_every_field(change):
    changed = replace(ITEM, **change)
    assert changed.content_hash != ITEM.content_hash
    assert golden(changed).content_hash != golden(ITEM).content_hash
