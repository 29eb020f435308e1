"""The lock: items belong to a version, and changing one without the other is an error."""

import json
from dataclasses import replace

import pytest

from groundguard.errors import InputError
from groundguard.evaluation.golden import GoldenItem, GoldenSet, dump, load, lock, lock_path, verify

ITEMS = tuple(GoldenItem(f"i{n}", f"Question {n}?") for n in range(8))
ONE = GoldenSet("shop", "1", ITEMS)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "shop.jsonl"
    dump(ONE, path)
    return path


def test_the_lock_lies_beside_the_set(tmp_path):
    assert lock_path(tmp_path / "shop.v1.yaml") == tmp_path / "shop.v1.lock.json"


def test_a_locked_set_is_verified(file):
    assert lock(ONE, file) is True
    assert lock(ONE, file) is False
    verify(ONE, file)
    assert load(file, locked=True) == ONE


def test_the_order_of_items_and_the_format_are_nothing(file):
    pytest.importorskip("yaml")
    lock(ONE, file)
    other = file.with_suffix(".yaml")
    dump(replace(ONE, items=ITEMS[::-1]), other)
    assert load(other, locked=True).items == ITEMS[::-1]


def test_changed_items_under_the_same_version_are_an_error_that_names_them(file):
    lock(ONE, file)
    changed = replace(ONE, items=(replace(ITEMS[0], answer="secret"), *ITEMS[2:], GoldenItem("new", "q")))
    for check in (lock, verify):
        with pytest.raises(
            InputError, match=r"version is still '1' \(changed: i0; added: new; removed: i1\)"
        ) as caught:
            check(changed, file)
        assert "secret" not in str(caught.value)
    dump(changed, file)
    with pytest.raises(InputError, match="give the set a new version"):
        load(file, locked=True)


def test_of_many_changes_the_first_few_are_named(file):
    lock(ONE, file)
    changed = replace(ONE, items=tuple(replace(item, answer="x") for item in ITEMS))
    with pytest.raises(InputError, match="changed: i0, i1, i2, i3, i4 and 3 more"):
        verify(changed, file)


def test_every_version_stays_locked(file):
    two = replace(ONE, version="2", items=ITEMS[:5])
    lock(ONE, file)
    assert lock(two, file) is True
    verify(ONE, file)
    verify(two, file)
    with pytest.raises(InputError, match="version is still '1': give"):
        verify(replace(ONE, items=ITEMS[:6]), file)


def test_a_set_that_is_not_locked_says_what_to_run(file):
    with pytest.raises(InputError, match="is not locked: run `groundguard golden lock"):
        load(file, locked=True)
    lock(ONE, file)
    with pytest.raises(InputError, match="version '3' is not locked: run `groundguard golden lock"):
        verify(replace(ONE, version="3"), file)


def test_the_lock_of_another_set_is_not_taken_for_this_ones(file):
    lock(ONE, file)
    for check in (lock, verify):
        for version in ("1", "2"):
            with pytest.raises(InputError, match="its lock is of 'shop'"):
                check(replace(ONE, name="bank", version=version), file)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "7",
        '{"format": 2, "name": "shop", "versions": {"1": "x"}, "latest": {"i0": "x"}}',
        '{"format": 1, "name": 7, "versions": {"1": "x"}, "latest": {"i0": "x"}}',
        '{"format": 1, "name": "shop", "versions": {"1": 7}, "latest": {"i0": "x"}}',
        '{"format": 1, "name": "shop", "versions": {}, "latest": {"i0": "x"}}',
        '{"format": 1, "name": "shop", "versions": ["1"], "latest": {"i0": "x"}}',
        "[" * 100_000,
        '{"format": true, "name": "shop", "versions": {"1": "x"}, "latest": {"i0": "x"}}',
    ],
)
def test_a_lock_that_is_none_is_never_taken_for_one(file, text):
    lock_path(file).write_text(text)
    for check in (lock, verify):
        with pytest.raises(InputError, match="is no lock that this version of groundguard wrote"):
            check(ONE, file)


def test_the_lock_file_is_plain_json(file):
    lock(ONE, file)
    data = json.loads(lock_path(file).read_text())
    assert data["versions"] == {"1": ONE.content_hash}
    assert data["latest"] == {item.id: item.content_hash for item in ITEMS}


def test_a_set_may_be_held_to_its_lock_only_where_there_is_one(file):
    assert load(file, locked=None) == ONE
    lock(ONE, file)
    assert load(file, locked=None) == ONE
    dump(replace(ONE, items=ITEMS[1:]), file)
    assert load(file).items == ITEMS[1:]
    with pytest.raises(InputError, match="removed: i0"):
        load(file, locked=None)
