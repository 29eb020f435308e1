"""Golden sets of every kind: read back as written, whatever the format; and whatever bytes come, an InputError at worst."""

import string
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard.errors import InputError
from groundguard.evaluation.golden import (
    GoldenItem,
    GoldenSet,
    Origin,
    Split,
    Want,
    difference,
    dump,
    import_file,
    lint,
    load,
    lock,
    split,
    verify,
)
from groundguard.evaluation.golden.similar import ALIKE, alike, words
from groundguard.fields import joined
from groundguard.records import Chunk, Turn
from groundguard.text import is_blank
from support.strategies import HOSTILE

pytest.importorskip("yaml")

WORDS = st.lists(
    st.sampled_from((*HOSTILE, *string.ascii_letters, " ", "#", ":", "- ", "~", "no", "1.5", "2025-01-01"))
)
TEXTS = st.one_of(st.text(max_size=20), WORDS.map("".join)).map(joined)
VISIBLE = TEXTS.filter(lambda text: not is_blank(text))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=5,
)
NAMES = st.lists(VISIBLE, max_size=3, unique=True).map(tuple)
CHUNKS = st.builds(
    Chunk,
    VISIBLE,
    id=st.none() | TEXTS,
    source=st.none() | TEXTS,
    score=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    metadata=st.dictionaries(TEXTS, JSON, max_size=2),
)
ITEMS = st.builds(
    GoldenItem,
    VISIBLE,
    VISIBLE,
    st.none() | TEXTS,
    chunks=st.lists(CHUNKS.filter(lambda chunk: chunk.id is None or not is_blank(chunk.id)), max_size=2).map(tuple),
    chunk_ids=NAMES,
    want=st.sampled_from(Want),
    verified_by=st.none() | TEXTS,
    verified_on=st.none() | st.dates().map(str),
    origin=st.sampled_from(Origin),
    split=st.none() | st.sampled_from(Split),
    tags=NAMES,
    history=st.lists(st.builds(Turn, VISIBLE, TEXTS), max_size=2).map(tuple),
    metadata=st.dictionaries(TEXTS, JSON, max_size=2),
)
SETS = st.builds(
    GoldenSet,
    VISIBLE,
    VISIBLE,
    st.lists(ITEMS, min_size=1, max_size=4, unique_by=lambda item: item.id).map(tuple),
    st.none() | TEXTS,
)


@given(SETS, st.sampled_from([".jsonl", ".yaml"]))
def test_what_is_written_is_read_back(golden, ending):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"set{ending}")
        dump(golden, file)
        assert load(file) == golden
        assert load(file).content_hash == golden.content_hash
        lock(golden, file)
        verify(golden, file)


def outcome(read, file):
    """The items, or what is wrong with the file."""
    try:
        return read(file).items
    except InputError as error:
        return str(error)


@given(
    st.one_of(
        st.binary(max_size=200),
        st.lists(
            st.sampled_from(
                [
                    *(
                        "name: x\n",
                        "version: '1'\n",
                        "items:\n",
                        "- id: a\n",
                        "  question: q\n",
                        "  tags: [",
                        "]",
                        "&a ",
                        "*a",
                    ),
                    *(
                        '{"name": "x", "version": "1"}\n',
                        '{"id": "a", "question": "q"',
                        ', "chunks": [',
                        "}",
                        "\n",
                        "!!set ",
                    ),
                    *(
                        "input",
                        "question",
                        ",",
                        '"',
                        "\r\n",
                        "{",
                        "? ",
                        "|\n",
                        "%YAML 9\n",
                        "---\n",
                        "\ufeff",
                        "\x00",
                        "é",
                    ),
                ]
            )
        ).map(lambda parts: "".join(parts).encode()),
    ),
    st.sampled_from([".jsonl", ".yaml", ".csv", ".json"]),
)
def test_any_bytes_are_a_set_or_an_input_error(data, ending):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"set{ending}")
        file.write_bytes(data)
        for read in (load, lambda path: import_file(path, name="x").golden):
            found = outcome(read, file)
            assert found
            assert not isinstance(found, str) or str(file) in found


@given(SETS, st.floats(0.01, 0.99), st.integers())
def test_a_split_gives_every_item_a_side_and_changes_nothing_else(golden, share, seed):
    found = split(golden, heldout=share, seed=seed)
    assert all(item.split is not None for item in found.items)
    assert split(found, heldout=share, seed=seed) == found
    assert not difference(GoldenSet(golden.name, golden.version, found.items, golden.description), found)
    for before, after in zip(golden.items, found.items, strict=True):
        assert before.split in {None, after.split}
        assert before.id == after.id


@given(SETS, st.dates())
def test_every_set_can_be_linted(golden, today):
    ids = {item.id for item in golden.items}
    found = lint(golden, today=today)
    assert all(set(finding.ids) <= ids for finding in found)
    assert lint(golden, today=today) == found


@given(st.lists(st.lists(st.sampled_from("abcdefg"), max_size=9).map(" ".join), max_size=8))
def test_the_quick_search_for_likeness_misses_no_pair(texts):
    def shingles(text):
        read = words(text)
        return {*read, *pairwise(read)}

    expected = {
        (one, other)
        for other in range(len(texts))
        for one in range(other)
        if words(texts[one]) != words(texts[other])
        and (both := shingles(texts[one]) | shingles(texts[other]))
        and len(shingles(texts[one]) & shingles(texts[other])) / len(both) >= ALIKE
    }
    assert {(one, other) for one, other, _ in alike(texts)} == expected
