"""Which chunks, which question and which answer: found in what others built."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from groundguard import Capture, Chunk, record_chunks
from groundguard.capture import Recorder, current_recorder, find_chunks, found_below, record_event
from groundguard.chunks import as_chunk, freeze
from groundguard.errors import UsageError
from groundguard.foreign import as_turns, find_answer, find_question, get, has, message_text, role_of
from groundguard.records import ChunksFrom, Turn


class Document:
    """As LangChain's."""

    def __init__(self, page_content: str, metadata: Mapping[str, Any] | None = None, id_: str | None = None) -> None:
        self.page_content = page_content
        self.metadata = metadata or {}
        self.id = id_


class Node:
    """As LlamaIndex's TextNode."""

    def __init__(self, text: str, id_: str, metadata: Mapping[str, Any]) -> None:
        self.text = text
        self.id_ = id_
        self.metadata = metadata


class NodeWithScore:
    """As LlamaIndex's, which hands on what its node has."""

    def __init__(self, node: Node, score: object) -> None:
        self.node = node
        self.score = score

    @property
    def text(self) -> str:
        return self.node.text

    @property
    def node_id(self) -> str:
        return self.node.id_

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.node.metadata


class Broken:
    """Every attribute of it fails."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class BrokenMapping(Mapping[str, Any]):
    """Every look into it fails."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(key)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError

    def __len__(self) -> int:
        return 1


class BrokenNumber:
    def __float__(self) -> float:
        raise RuntimeError


def kind(thing: object) -> str:
    return type(thing).__name__


# Chunks.


@pytest.mark.parametrize(
    ("thing", "chunk"),
    [
        ("Paris.", Chunk("Paris.")),
        (Document("Paris.", {"source": "a.md", "page": 3}, "d1"), Chunk("Paris.", "d1", "a.md", None, {"page": 3})),
        (
            NodeWithScore(Node("Paris.", "n1", {"file_path": "b.md"}), np.float64(0.5)),
            Chunk("Paris.", "n1", "b.md", 0.5),
        ),
        (Node("Paris.", "n1", {}), Chunk("Paris.", "n1")),
        ((Document("Paris."), 0.25), Chunk("Paris.", score=0.25)),
        ((Document("Paris.", id_="d1"), np.float32(0.5)), Chunk("Paris.", "d1", score=0.5)),
        (("Paris.", 1), Chunk("Paris.", score=1.0)),
        *[
            ({key: "Paris."}, Chunk("Paris."))
            for key in ("text", "page_content", "content", "document", "body", "passage")
        ],
        ({"text": None, "content": "Paris."}, Chunk("Paris.")),
        ({"text": "Paris.", "id": 7, "score": Decimal("0.5"), "source": "c"}, Chunk("Paris.", "7", "c", 0.5)),
        ({"text": "Paris.", "score": float("nan")}, Chunk("Paris.")),
        ({"text": "Paris.", "score": True}, Chunk("Paris.")),
        ({"text": "Paris.", "score": "0.5"}, Chunk("Paris.")),
        ({"text": "Paris.", "score": BrokenNumber()}, Chunk("Paris.")),
        ({"text": "Paris.", "score": np.array([1, 2])}, Chunk("Paris.")),
        ({"text": "Paris.", "score": 10**400}, Chunk("Paris.")),
        ({"text": "Paris.", "id": object(), "metadata": "none"}, Chunk("Paris.")),
        ({"text": "Paris.", "metadata": BrokenMapping()}, Chunk("Paris.")),
        (SimpleNamespace(text="Paris.", metadata=Broken()), Chunk("Paris.")),
    ],
    ids=kind,
)
def test_a_chunk_from_what_a_retriever_may_return(thing: object, chunk: Chunk) -> None:
    found = as_chunk(thing)

    assert (found.text, found.id, found.source, found.score) == (chunk.text, chunk.id, chunk.source, chunk.score)
    assert type(found.score) in {float, type(None)}
    assert freeze([thing, "more"]) == (found, Chunk("more"))


@pytest.mark.parametrize(
    "thing",
    [
        None, 3, 0.5, True, b"bytes", object(), [], ["nested"], (), ("a", "b"), ("a", True), ("a", None), {}, {"text": 12},
        {"text": None, "metadata": {"page": 3}}, {"documents": ["Chroma"]}, {"page_content": b"bytes"}, Broken(),
        BrokenMapping(), Exception("x"), Chunk, lambda: "x", SimpleNamespace(text=object()), np.float64(1), float("inf"),
    ],
    ids=kind,
)  # fmt: skip
def test_an_odd_thing_becomes_a_blank_chunk_that_is_counted(thing: object) -> None:
    assert as_chunk(thing).text == ""
    assert [chunk.text for chunk in freeze(["a", thing, "b"])] == ["a", "", "b"]


def test_metadata_become_json_values_and_what_cannot_is_left_out() -> None:
    cyclic: dict[str, Any] = {}
    cyclic["self"] = cyclic

    class Unwritable:
        def __str__(self) -> str:
            raise RuntimeError

    assert as_chunk(
        {
            "text": "a",
            "metadata": {
                1: {
                    2,
                },
                "x": [None, 1.5],
            },
        }
    ).metadata == {"1": "{2}", "x": (None, 1.5)}
    assert as_chunk({"text": "a", "metadata": cyclic}).metadata == {}
    assert as_chunk({"text": "a", "metadata": {"x": Unwritable()}}).metadata == {}


@pytest.mark.parametrize(
    ("chunks", "texts"),
    [
        (None, []),
        ([], []),
        ((), []),
        ("", [""]),
        ("Paris.", ["Paris."]),
        (b"Paris.", [""]),
        (Chunk("Paris."), ["Paris."]),
        (Document("Paris."), ["Paris."]),
        ({"text": "Paris."}, ["Paris."]),
        ({}, [""]),
        (["a", "b", "a"], ["a", "b", "a"]),
        (("a", "b"), ["a", "b"]),
        (("a", 0.5), ["a", ""]),
        (iter(["a", "b"]), ["a", "b"]),
        ((text for text in "ab"), ["a", "b"]),
        ({"a": "x"}.values(), ["x"]),
        (np.array(["a", "b"]), ["a", "b"]),
        ([["a", "b"]], [""]),
    ],
    ids=kind,
)
def test_freezing_keeps_order_and_number(chunks: object, texts: list[str]) -> None:
    assert [chunk.text for chunk in freeze(chunks)] == texts


def test_a_frozen_tuple_keeps_the_very_chunks() -> None:
    chunks = (Chunk("a"), Chunk("b"))
    assert all(kept is given for kept, given in zip(freeze(chunks), chunks, strict=True))


async def an_async_iterator() -> Any:
    yield "Paris."


def test_what_must_be_awaited_says_so() -> None:
    with pytest.raises(UsageError, match="not a async_generator; await it first"):
        freeze(an_async_iterator())
    coroutine = asyncio.sleep(0)
    with pytest.raises(UsageError, match="not a coroutine; await it first"):
        freeze(coroutine)
    coroutine.close()
    for odd in (3, object(), Broken(), test_what_must_be_awaited_says_so):
        with pytest.raises(UsageError) as caught:
            freeze(odd)
        assert "await" not in str(caught.value)


# The question.


class HumanMessage:
    type = "human"

    def __init__(self, content: Any) -> None:
        self.content = content


class AIMessage(HumanMessage):
    type = "ai"


TALK = [HumanMessage("First?"), AIMessage("Hm."), HumanMessage("Last?"), AIMessage("Well.")]


@pytest.mark.parametrize(
    "given",
    [
        "Last?",
        {"question": "Last?"},
        {"query": "Last?", "k": 3},
        {"input": "Last?", "chat_history": TALK[:2]},
        {"input": TALK},
        {"messages": TALK},
        {"messages": [{"role": "user", "content": "Last?"}, {"role": "assistant", "content": "Well."}]},
        {"question": HumanMessage("Last?")},
        TALK,
        tuple(TALK),
        [("human", "First?"), ("user", "Last?"), ("ai", "Well.")],
        HumanMessage([{"type": "text", "text": "La"}, "st?", {"type": "image_url", "image_url": "x"}]),
    ],
)
def test_the_question_is_found(given: object) -> None:
    assert find_question(given) == "Last?"


@pytest.mark.parametrize(
    "given",
    [
        None, 3, {}, [], {"messages": []}, {"messages": "Last?"}, {"messages": [AIMessage("Well.")]}, {"question": None},
        {"question": 3}, ["Last?"], object(), Broken(), BrokenMapping(), [{"role": ["user"], "content": "x"}],
        [Broken()], {"q": "Last?"},
    ],
    ids=kind,
)  # fmt: skip
def test_no_question_is_a_mistake_that_says_how_to_name_it(given: object) -> None:
    with pytest.raises(UsageError, match=r"no question found .* name it with question="):
        find_question(given)


@pytest.mark.parametrize("keys", [("question", "query"), ("question", "input"), ("query", "input")])
def test_two_questions_are_a_mistake(keys: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match=f"{keys[0]} and {keys[1]}: name the question"):
        find_question(dict.fromkeys(keys, "Q?"))
    assert find_question(dict.fromkeys(keys, "Q?"), keys[1]) == "Q?"


def test_a_question_selector_is_a_key_an_attribute_or_a_function() -> None:
    assert find_question({"q": "Q?", "question": "other"}, "q") == "Q?"
    assert find_question(SimpleNamespace(q="Q?"), "q") == "Q?"
    assert find_question({"q": ["Q?"]}, lambda given: given["q"][0]) == "Q?"
    with pytest.raises(UsageError, match=r"the input, a dict, has no 'q' .*; it has question"):
        find_question({"question": "Q?", "k": 3}, "q")
    with pytest.raises(UsageError, match="the input, a str, has no 'q'"):
        find_question("Q?", "q")
    with pytest.raises(ZeroDivisionError):
        find_question("Q?", lambda _: 1 / 0)


# The answer.


@pytest.mark.parametrize(
    "output",
    [
        "Paris.",
        ("Paris.", ["chunk"]),
        (AIMessage("Paris."), []),
        AIMessage("Paris."),
        AIMessage([{"type": "thinking", "thinking": "Rome?"}, {"type": "text", "text": "Paris."}]),
        AIMessage([{"type": "text", "text": "Paris."}, {"type": "text", "text": 3}]),
        {"answer": AIMessage("Paris."), "context": []},
        {"role": "assistant", "content": "Paris."},
        *[{key: "Paris."} for key in ("answer", "result", "output_text", "response", "output", "text", "content")],
        SimpleNamespace(response="Paris.", source_nodes=[]),
        ({"answer": "Paris."}, ["chunk"]),
    ],
)
def test_the_answer_is_found(output: object) -> None:
    assert find_answer(output) == "Paris."


@pytest.mark.parametrize(
    "output",
    [None, 3, {}, {"reply": "x"}, {"answer": None}, [], ["a"], object(), Broken(), (None, [])],
    ids=kind,
)
def test_no_answer_is_a_mistake_that_says_how_to_name_it(output: object) -> None:
    with pytest.raises(UsageError, match=r"no answer found .* name it with answer="):
        find_answer(output)


def test_an_answer_selector_goes_first() -> None:
    assert find_answer({"reply": "Paris.", "answer": "Rome."}, "reply") == "Paris."
    assert find_answer(({"reply": "Paris."}, []), "reply") == "Paris."
    assert find_answer({"choices": ["Paris."]}, lambda output: output["choices"][0]) == "Paris."
    assert find_answer(("meta", "Paris."), lambda output: output[1]) == "Paris."
    with pytest.raises(UsageError, match="has no 'reply' to take the answer from"):
        find_answer({"answer": "Paris."}, "reply")


# The four ways.


def recorder(*recorded: list[str], events: Mapping[int, list[str]] | None = None) -> Recorder:
    made = Recorder([freeze(chunks) for chunks in recorded])
    for place, chunks in (events or {}).items():
        record_event(made, place, chunks)
    return made


@pytest.mark.parametrize(
    ("output", "selector", "texts", "way"),
    [
        (("A", ["pair"]), None, ["pair"], ChunksFrom.RETURNED),
        (({"docs": ["named"]}, ["pair"]), "docs", ["named"], ChunksFrom.OUTPUT),
        (("A", {"used": ["named"]}), lambda output: output[1]["used"], ["named"], ChunksFrom.OUTPUT),
        (("A", []), None, [], ChunksFrom.RETURNED),
        (("A", None), None, [], ChunksFrom.RETURNED),
        (({"context": ["key"]}, ["pair"]), None, ["pair"], ChunksFrom.RETURNED),
        ({"docs": ["named"], "context": ["key"]}, "docs", ["named"], ChunksFrom.OUTPUT),
        ({"docs": [], "context": ["key"]}, "docs", [], ChunksFrom.OUTPUT),
        ({"context": ["key"]}, lambda output: ["function"], ["function"], ChunksFrom.OUTPUT),
        *[
            ({key: ["key"]}, None, ["key"], ChunksFrom.OUTPUT)
            for key in ("context", "source_documents", "source_nodes", "documents", "contexts", "chunks")
        ],
        ({"context": [], "documents": ["later"]}, None, [], ChunksFrom.OUTPUT),
        ({"context": None}, None, [], ChunksFrom.OUTPUT),
        (SimpleNamespace(source_nodes=["key"]), None, ["key"], ChunksFrom.OUTPUT),
        ("A", None, ["recorded"], ChunksFrom.RECORDED),
        (("A", ["b"], 3), None, ["recorded"], ChunksFrom.RECORDED),
        (["A", ["b"]], None, ["recorded"], ChunksFrom.RECORDED),
    ],
)  # fmt: skip
def test_the_first_way_that_reported_wins_even_if_empty(
    output: object, selector: Any, texts: list[str], way: ChunksFrom
) -> None:
    found = find_chunks(output, recorder(["recorded"], events={0: ["event"]}), Capture(chunks=selector))

    assert [chunk.text for chunk in found.chunks] == texts
    assert found.chunks_from is way
    assert found.observed
    assert found.exact


class Pair(NamedTuple):
    answer: str
    chunks: list[str]


def test_a_named_tuple_is_an_output_with_names_and_no_pair() -> None:
    found = find_chunks(Pair("A", ["b"]), Recorder())
    assert (found.chunks, found.chunks_from) == ((Chunk("b"),), ChunksFrom.OUTPUT)
    assert find_answer(Pair("A", ["b"])) == "A"


def test_what_was_reported_from_below() -> None:
    assert found_below(recorder(["a"], [], ["b", "a"])).chunks == freeze(["a", "b", "a"])
    assert found_below(recorder([])) == ((), ChunksFrom.RECORDED)
    assert found_below(recorder([], events={0: ["e"]})) == ((), ChunksFrom.RECORDED)

    by_events = found_below(recorder(events={1: ["second"], 0: ["first"]}))
    assert by_events == (freeze(["first", "second"]), ChunksFrom.EVENTS)
    assert by_events.observed
    assert not by_events.exact

    nothing = found_below(recorder())
    assert nothing == ((), ChunksFrom.NOT_OBSERVED)
    assert not nothing.observed
    assert not nothing.exact


def test_a_selector_that_names_nothing_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="the output, a dict, has no 'docs' to take the chunks from; it has answer"):
        find_chunks({"answer": "A"}, Recorder(), Capture(chunks="docs"))
    with pytest.raises(UsageError, match="the output, a str, has no 'docs'"):
        find_chunks("A", Recorder(), Capture(chunks="docs"))


# Recording.


def test_outside_a_guard_recording_only_freezes() -> None:
    assert current_recorder() is None
    assert record_chunks(["a", Document("b")]) == freeze(["a", "b"])


def test_recording_adds_up_until_the_run_is_over() -> None:
    made = Recorder()
    with made.active():
        assert current_recorder() is made
        assert record_chunks(iter(["a", "b"])) == freeze(["a", "b"])
        record_chunks("c")
        found = found_below(made)
        record_chunks("late")
        record_event(made, 0, ["late"])
    record_chunks("outside")

    assert found.chunks == freeze(["a", "b", "c"])
    assert found_below(made) == found
    assert made.events == {}


def test_nothing_is_kept_after_the_run_whatever_the_way() -> None:
    for output in (("A", []), {"context": []}, "A"):
        made = Recorder()
        find_chunks(output, made)
        with made.active():
            record_chunks("late")
        assert made.recorded == []


def test_recording_from_threads_needs_a_copy_of_the_context() -> None:
    made = Recorder()
    with made.active():
        with ThreadPoolExecutor(3) as pool:
            for name in "abc":
                pool.submit(contextvars.copy_context().run, record_chunks, name).result()
            pool.submit(record_chunks, "lost").result()
        thread = threading.Thread(target=record_chunks, args=("lost",), daemon=True)
        thread.start()
        thread.join()

    texts = [chunk.text for chunk in found_below(made).chunks]
    assert texts[:3] == ["a", "b", "c"]
    assert "lost" not in texts or getattr(threading.Thread, "context", None)


def test_a_guard_below_a_guard_records_for_itself() -> None:
    outer, inner = Recorder(), Recorder()
    with outer.active():
        record_chunks("outer")
        with inner.active():
            record_chunks("inner")
        record_chunks("outer again")

    assert found_below(outer).chunks == freeze(["outer", "outer again"])
    assert found_below(inner).chunks == freeze("inner")


# Messages.


def test_turns_of_all_kinds() -> None:
    turns = [Turn("user", "a"), ("assistant", "b"), {"role": "user", "content": "c"}, HumanMessage("d")]
    assert as_turns(turns) == (Turn("user", "a"), Turn("assistant", "b"), Turn("user", "c"), Turn("human", "d"))


@pytest.mark.parametrize(
    "message",
    [None, "text", 3, {"role": "user"}, {"content": "x"}, {"role": 3, "content": "x"}, Broken()],
    ids=kind,
)
def test_what_is_no_turn_is_a_mistake(message: object) -> None:
    with pytest.raises(UsageError, match="a turn of the history has a role and a content"):
        as_turns([message])


def test_looking_into_things_never_fails() -> None:
    for thing in (None, 3, "text", Broken(), BrokenMapping(), object()):
        assert not has(thing, "text")
        assert get(thing, "text") is None
        assert role_of(thing) is None
        assert message_text(thing) is None
    assert has({"text": None}, "text")
    assert get({"text": None}, "text") is None


def test_a_capture_names_nothing_by_default() -> None:
    assert Capture() == Capture(question=None, chunks=None, answer=None, retriever_events=True)


def test_an_id_that_is_a_uuid_is_kept() -> None:
    id_ = uuid.UUID(int=7)
    assert as_chunk({"text": "Paris.", "id": id_}).id == str(id_)


def test_what_a_function_takes_the_answer_from_is_no_pair_of_answer_and_chunks() -> None:
    found = find_chunks(("meta", "Paris."), Recorder(), Capture(answer=lambda output: output[1]))
    assert found == ((), ChunksFrom.NOT_OBSERVED)
    assert find_chunks(({"reply": "A"}, ["b"]), Recorder(), Capture(answer="reply")).chunks == (Chunk("b"),)


def test_a_mapping_is_a_message_only_if_it_says_who_speaks() -> None:
    assert find_answer({"answer": "Paris.", "content": "a raw page"}) == "Paris."
    assert find_answer({"content": "Paris."}) == "Paris."
    assert find_answer({"role": "assistant", "content": "Paris.", "answer": "no"}) == "Paris."


@pytest.mark.parametrize("role", ["ai", "assistant", "AIMessageChunk"])
def test_an_agents_answer_is_the_message_that_it_ends_with(role: str) -> None:
    asked = {"role": "user", "content": "Where?"}
    for last in ({"role": role, "content": "Paris."}, SimpleNamespace(type=role, content="Paris."), (role, "Paris.")):
        assert find_answer({"messages": [asked, last]}) == "Paris."
        assert find_answer({"messages": (asked, last), "answer": "Rome."}) == "Rome."
        assert find_answer({"messages": [last], "answer": None}) == "Paris."
        with pytest.raises(UsageError, match="no answer found"):
            find_answer({"messages": [last, asked]})


@pytest.mark.parametrize("messages", [None, [], "Paris.", 3, [None], [{"role": "tool", "content": "Paris."}]], ids=kind)
def test_messages_that_nobody_answered_hold_no_answer(messages: object) -> None:
    with pytest.raises(UsageError, match="no answer found"):
        find_answer({"messages": messages})


def test_a_second_attempt_takes_the_place_of_what_the_first_recorded() -> None:
    made = Recorder()
    with made.active():
        record_chunks(["stale"])
        record_chunks(["fresh"], replace=True)
        record_chunks(["more"])
    assert [chunk.text for chunk in found_below(made).chunks] == ["fresh", "more"]


def test_chunks_of_a_class_of_ones_own_are_frozen() -> None:
    class Mutable(Chunk):
        __setattr__ = object.__setattr__

    (frozen,) = freeze([Mutable("Paris.", "c1", score=0.5, metadata={"page": 3})])
    assert type(frozen) is Chunk
    assert frozen == Chunk("Paris.", "c1", score=0.5, metadata={"page": 3})
