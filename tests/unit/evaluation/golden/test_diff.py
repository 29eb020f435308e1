"""What changed between two sets."""

from dataclasses import replace

from groundguard.evaluation.golden import Change, GoldenItem, GoldenSet, Want, difference

A, B, C = (GoldenItem(id_, f"{id_}?", "Yes.") for id_ in "abc")
OLD = GoldenSet("x", "1", (A, B))


def test_the_order_is_nothing():
    found = difference(OLD, replace(OLD, items=(B, A)))
    assert not found
    assert not found.needs_version
    assert found.unchanged == 2


def test_added_removed_and_changed():
    changed = replace(B, answer="No.", want=Want.REFUSAL, tags=("t",))
    found = difference(OLD, replace(OLD, version="2", items=(changed, C)))
    assert found
    assert (found.added, found.removed, found.unchanged) == (("c",), ("a",), 0)
    assert found.changed == (
        Change("b", {"answer": ("Yes.", "No."), "want": ("answer", "refusal"), "tags": ([], ["t"])}),
    )
    assert found.header == {"version": ("1", "2")}
    assert not found.needs_version


def test_other_items_under_the_same_version_need_a_new_one():
    assert difference(OLD, replace(OLD, items=(A,))).needs_version


def test_a_header_alone_needs_none():
    found = difference(OLD, replace(OLD, description="d"))
    assert found
    assert not found.needs_version
    assert found.header == {"description": (None, "d")}


def test_texts_stand_in_no_repr():
    assert "Yes" not in repr(difference(OLD, replace(OLD, items=(replace(A, answer="No."),))))


def test_one_is_not_true():
    one, true = (replace(A, metadata={"x": value}) for value in (1, True))
    assert difference(replace(OLD, items=(one,)), replace(OLD, items=(true,))).changed[0].fields == {
        "metadata": ({"x": 1}, {"x": True})
    }
