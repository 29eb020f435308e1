"""Whatever a chain returns: looking into it raises nothing but `UsageError`, and drops nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from groundguard import Chunk
from groundguard.capture import CHUNK_KEYS, Recorder, find_chunks, record_chunks
from groundguard.chunks import TEXT_KEYS, as_chunk, freeze
from groundguard.errors import UsageError
from groundguard.foreign import ANSWER_KEYS, QUESTION_KEYS, as_turns, find_answer, find_question
from groundguard.streaming.pieces import Collected

KEYS = st.sampled_from(
    [
        *QUESTION_KEYS,
        *ANSWER_KEYS,
        *CHUNK_KEYS,
        *TEXT_KEYS,
        *["id", "id_", "node_id", "metadata", "score", "source", "role", "type"],
    ]
)


class Failing:
    """Attributes, truth, text, comparison, numbers: everything fails."""

    def _fail(self, *_: Any) -> Any:
        raise RuntimeError("odd")

    __getattr__ = __str__ = __repr__ = __bool__ = __eq__ = __hash__ = __float__ = __len__ = _fail


def _cyclic() -> Any:
    ring: dict[str, Any] = {"text": "ring"}
    ring["metadata"] = ring
    return ring


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.sampled_from(["human", "user", "\ud800", "\u200b"]),
    st.builds(object),
    st.builds(Failing),
    st.builds(_cyclic),
    st.just(len),
    st.just(Chunk("c")),
    st.builds(ValueError),
)


def _nested(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.dictionaries(KEYS, inside, max_size=4)
    return st.one_of(
        st.lists(inside, max_size=3),
        st.lists(inside, max_size=3).map(tuple),
        st.tuples(inside, inside),
        fields,
        fields.map(lambda values: SimpleNamespace(**values)),
    )


THINGS = st.recursive(LEAVES, _nested, max_leaves=12)


def value_or_mistake(look: Callable[[], Any]) -> Any:
    try:
        return look()
    except UsageError:
        return None


@given(THINGS)
def test_anything_is_one_chunk(thing: Any) -> None:
    chunk = as_chunk(thing)

    assert type(chunk) is Chunk
    assert chunk.score is None or math.isfinite(chunk.score)
    assert all(value is None or type(value) is str for value in (chunk.id, chunk.source))


@given(st.lists(THINGS, max_size=5))
def test_freezing_keeps_number_and_order_and_is_done_once(things: list[Any]) -> None:
    chunks = freeze(things)

    assert len(chunks) == len(things)
    assert [chunk.text for chunk in chunks] == [as_chunk(thing).text for thing in things]
    assert all(again is chunk for again, chunk in zip(freeze(chunks), chunks, strict=True))
    assert [chunk.text for chunk in freeze(iter(things))] == [chunk.text for chunk in chunks]


@given(THINGS)
def test_looking_for_question_answer_chunks_and_turns_raises_nothing_else(thing: Any) -> None:
    question = value_or_mistake(lambda: find_question(thing))
    answer = value_or_mistake(lambda: find_answer(thing))
    found = value_or_mistake(lambda: find_chunks(thing, Recorder()))
    recorded = value_or_mistake(lambda: record_chunks(thing))
    value_or_mistake(lambda: as_turns(thing))

    assert all(text is None or isinstance(text, str) for text in (question, answer))
    assert found is None or all(type(chunk) is Chunk for chunk in found.chunks)
    assert recorded is None or type(recorded) is tuple


@given(THINGS)
def test_any_piece_of_a_stream_is_text_or_a_mistake(thing: Any) -> None:
    collected = Collected()
    try:
        collected.take(thing)
    except UsageError:
        return
    assert len(collected.pieces) == len(collected.texts) == 1
    assert type(collected.text) is str
