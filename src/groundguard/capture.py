"""Which chunks did the generator really see? The first way that reported wins, even if what it reported is empty.

1. the pair `(answer, chunks)` that a function returned
2. a key, attribute or extractor of the chain's output
3. `record_chunks(chunks)`, called anywhere below the guard
4. LangChain's retriever events: an observation, since a reranker or a prompt may have changed the chunks afterwards

Here are also the ways to find the question in a chain's input and the answer in its output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, TypeGuard
from uuid import UUID

from groundguard.errors import UsageError, warn_once
from groundguard.fields import exact, is_list, is_mapping, is_sequence
from groundguard.records import Chunk, ChunksFrom, Reason, Turn

Selector: TypeAlias = str | Callable[[Any], Any]
"""A key (or attribute) of the chain's input or output, or a function that takes it apart."""

QUESTION_KEYS = ("question", "query", "input")
ANSWER_KEYS = ("answer", "result", "output_text", "response", "output", "text", "content")
CHUNK_KEYS = ("context", "source_documents", "source_nodes", "documents", "contexts", "chunks")
TEXT_KEYS = ("text", "page_content", "content", "document", "body", "passage")


@dataclass(frozen=True, slots=True)
class Capture:
    """Where a guard finds the question, the chunks and the answer of the chains that it wraps.

    Args:
        question: Key of the input, or a function of it. By default: the input if it is a string, else exactly one of
            the keys `question`, `query`, `input`, else the last human message.
        chunks: Key of the output, or a function of it. By default `context`, `source_documents`, `source_nodes`, ….
        answer: Key of the output, or a function of it. By default the output if it is text or a message, else
            `answer`, `result`, ….
        retriever_events: Whether to fall back on LangChain's retriever events.
    """

    question: Selector | None = None
    chunks: Selector | None = None
    answer: Selector | None = None
    retriever_events: bool = True


class Found(NamedTuple):
    """The chunks of one run, and who reported them."""

    chunks: tuple[Chunk, ...]
    chunks_from: ChunksFrom

    @property
    def observed(self) -> bool:
        """Whether anybody reported chunks at all."""
        return self.chunks_from is not ChunksFrom.NOT_OBSERVED

    @property
    def exact(self) -> bool:
        """Whether they are known to be what the generator saw."""
        return self.chunks_from not in {ChunksFrom.EVENTS, ChunksFrom.NOT_OBSERVED}


# Way 3: what the code below the guard records.


@dataclass(slots=True)
class Recorder:
    """Collects what is reported during one guarded run, and nothing after it.

    Attributes:
        recorded: What `record_chunks` reported, in order.
        events: What retrievers returned, by the order in which they began.
        listener: Whoever hears those retrievers for this run.
        open: Whether the run goes on.
    """

    recorded: list[tuple[Chunk, ...]] = field(default_factory=list[tuple[Chunk, ...]])
    events: dict[int, tuple[Chunk, ...]] = field(default_factory=dict[int, tuple[Chunk, ...]])
    listener: Any = field(default=None, repr=False, compare=False)
    open: bool = True

    @contextmanager
    def active(self) -> Generator[None]:
        """Be the one that `record_chunks` reports to."""
        token = _recorder.set(self)
        try:
            yield
        finally:
            _recorder.reset(token)


@contextmanager
def deaf() -> Generator[None]:
    """Let nobody hear what is reported: a judge's own retrieval is no evidence."""
    token = _recorder.set(None)
    try:
        yield
    finally:
        _recorder.reset(token)


_recorder: ContextVar[Recorder | None] = ContextVar("groundguard_recorder", default=None)


def record_chunks(chunks: object, *, replace: bool = False) -> tuple[Chunk, ...]:
    """Report the chunks that the generator is about to see, from anywhere below the guard.

    Several calls add up, in order. An empty list is a report too: nothing was found. Outside a guarded call it does
    nothing. A thread of your own sees the guard only with a copy of the context:
    `executor.submit(contextvars.copy_context().run, search, question)`.

    Args:
        chunks: One string, or any iterable of `Chunk`s, strings, LangChain documents, LlamaIndex nodes or mappings with
            a text key. An iterator is consumed.
        replace: Whether these take the place of what was recorded before: for a step that may be tried again, whose
            failed attempts the generator never saw.

    Returns:
        The chunks as they were recorded.
    """
    frozen = freeze(chunks)
    recorder = _recorder.get()
    if recorder is not None and recorder.open:
        recorder.recorded[0 if replace else len(recorder.recorded) :] = [frozen]
    return frozen


def current_recorder() -> Recorder | None:
    """The recorder of the guarded run that this code runs below, if any."""
    return _recorder.get()


def record_event(recorder: Recorder, place: int, chunks: object) -> None:
    """Report what an outermost retriever returned: way 4.

    Args:
        recorder: Of the run that the retriever belongs to; callbacks come from any thread and context.
        place: Its rank among the retrievers of the run, by when they began: parallel ones end in any order.
        chunks: What it returned.
    """
    if recorder.open:
        recorder.events[place] = freeze(chunks)


def find_chunks(output: object, recorder: Recorder, capture: Capture = Capture()) -> Found:
    """The chunks of a finished run, by the first way that reported. A selector of the user's overrides the pair."""
    recorder.open = False
    if capture.chunks is not None:
        return Found(freeze(select(output, capture.chunks, "chunks", "output")), ChunksFrom.OUTPUT)
    if is_pair(output) and not callable(capture.answer):
        return Found(freeze(output[1]), ChunksFrom.RETURNED)
    for key in CHUNK_KEYS:
        if has(output, key):
            return Found(freeze(get(output, key)), ChunksFrom.OUTPUT)
    return found_below(recorder)


def found_below(recorder: Recorder) -> Found:
    """The chunks that were reported from below the guard: recorded ones, else those of retriever events."""
    recorder.open = False
    if recorder.recorded:
        return Found(sum(recorder.recorded, ()), ChunksFrom.RECORDED)
    if recorder.events:
        return Found(sum((chunks for _, chunks in sorted(recorder.events.items())), ()), ChunksFrom.EVENTS)
    return Found((), ChunksFrom.NOT_OBSERVED)


def is_pair(output: object) -> TypeGuard[tuple[Any, Any]]:
    """Whether a function returned `(answer, chunks)`."""
    return type(output) is tuple and len(output) == 2  # noqa: PLR2004  # pyright: ignore[reportUnknownArgumentType]


def find_answer(output: object, selector: Selector | None = None) -> str:
    """The answer's text in what a function or chain returned.

    Raises:
        UsageError: if there is none to be found.
    """
    if selector is not None:
        said: object = select(output, selector, "answer", "output")
    else:
        said = output[0] if is_pair(output) else output
    text = answer_text(said)
    if text is None:
        raise UsageError(
            f"no answer found in a {type(said).__name__}: return text, a message or a mapping with one of"
            f" {', '.join(ANSWER_KEYS)}, or name it with answer='KEY' or answer=FUNCTION"
        )
    return text


def answer_text(said: object) -> str | None:
    """The text of an answer: its own, a message's, or that under the first of the usual keys; None if it has none."""
    if isinstance(said, str):
        return exact(said)
    text = None if is_mapping(said) and not has(said, "role") and not has(said, "type") else message_text(said)
    if text is not None:
        return text
    value = next((get(said, key) for key in ANSWER_KEYS if has(said, key)), None)
    return exact(value) if isinstance(value, str) else None if value is None else message_text(value)


def find_question(given: object, selector: Selector | None = None) -> str:
    """The question in the input of a chain.

    Raises:
        UsageError: if there is none, or more than one, to be found.
    """
    if selector is not None:
        given = select(given, selector, "question", "input")
    elif is_mapping(given):
        given = _question_of(given)
    elif is_sequence(given):
        given = _last_human(given)
    text = given if isinstance(given, str) else message_text(given)
    if text is None:
        raise UsageError(
            f"no question found in a {type(given).__name__}: pass a string, a mapping with exactly one of"
            f" {', '.join(QUESTION_KEYS)}, or messages; or name it with question='KEY' or question=FUNCTION"
        )
    return text


def _question_of(given: Mapping[Any, Any]) -> object:
    keys = [key for key in QUESTION_KEYS if has(given, key)]
    if len(keys) > 1:
        raise UsageError(f"the input has {' and '.join(keys)}: name the question with question='KEY'")
    if keys:
        value = get(given, keys[0])
        return _last_human(value) if is_sequence(value) else value
    return _last_human(get(given, "messages"))


def _last_human(messages: object) -> object:
    turns = reversed(messages) if is_sequence(messages) else ()
    return next((message for message in turns if role_of(message) in {"human", "user"}), None)


def role_of(message: object) -> str | None:
    """Who speaks in a message: of LangChain, as a mapping, or as a pair; None if it doesn't say."""
    if is_pair(message):
        role: object = message[0]
    else:
        role = get(message, "role") if has(message, "role") else get(message, "type")
    return role if isinstance(role, str) else None


def message_text(message: object) -> str | None:
    """The text of a message: its content if that is text, else its text blocks joined; None if it has none."""
    if is_pair(message):
        content: object = message[1]
    else:
        content = get(message, "content") if has(message, "content") else None
    if isinstance(content, str):
        return exact(content)
    return "".join(map(_block_text, content)) if is_list(content) else None


def _block_text(block: object) -> str:
    text = block if isinstance(block, str) else get(block, "text")
    return text if isinstance(text, str) else ""


def as_turns(history: object) -> tuple[Turn, ...]:
    """Earlier messages: `Turn`s, pairs `(role, content)`, mappings or LangChain messages."""
    if isinstance(history, str) or is_mapping(history) or not _is_iterable(history):
        raise UsageError(f"the history is a list of earlier messages, not a {type(history).__name__}")
    return tuple(map(_turn, history))


def _turn(message: object) -> Turn:
    if isinstance(message, Turn):
        return message
    role, text = role_of(message), message_text(message)
    if role is None or text is None:
        raise UsageError(f"a turn of the history has a role and a content; got a {type(message).__name__}")
    return Turn(role, text)


def tell(found: Found, reason: Reason) -> None:
    """Warn once of chunks that nobody reported, that were only observed, or that hold no text."""
    if reason is Reason.BLANK_CHUNKS:
        warn_once(
            "chunks came, but none holds visible text. In an object or mapping the text is looked for under"
            f" {', '.join(TEXT_KEYS)}.",
            "blank chunks",
        )
    elif found.chunks_from is ChunksFrom.NOT_OBSERVED:
        warn_once(
            "no retrieval was observed, so nothing was checked. Hand over the chunks in one of four ways: return"
            " (answer, chunks); name them in the output, with chunks='KEY' if it isn't a usual one; call"
            " record_chunks(chunks) where they are retrieved; or retrieve with a LangChain retriever.",
            "not observed",
        )
    elif found.chunks_from is ChunksFrom.EVENTS:
        warn_once(
            "the chunks come from LangChain's retriever events; a reranker or a prompt may have changed them since."
            " Name the chunks instead: in the output (chunks='KEY') or with record_chunks(chunks).",
            "events",
        )


# Looking into what others built, by its attributes and without an import.


def has(thing: object, key: str) -> bool:
    """Whether a mapping has a key, or an object an attribute."""
    return _look(thing, key) is not _ABSENT


def get(thing: object, key: str) -> Any:
    """The value of a key or attribute; None if it isn't there."""
    value = _look(thing, key)
    return None if value is _ABSENT else value


_ABSENT = object()


def _look(thing: object, key: str) -> Any:
    try:
        if is_mapping(thing):
            return thing.get(key, _ABSENT)
        return _ABSENT if isinstance(thing, str) else getattr(thing, key, _ABSENT)
    except Exception:  # noqa: BLE001  # a property that fails holds nothing for us
        return _ABSENT


def select(thing: object, selector: Selector, what: str, where: str) -> Any:
    """Apply a selector: a function to the whole, a key to the answer of a pair; `UsageError` if it isn't there."""
    if not isinstance(selector, str):
        return selector(thing)
    thing = thing[0] if is_pair(thing) else thing
    if not has(thing, selector):
        keys = f"; its keys are {', '.join(map(str, thing))}" if is_mapping(thing) else ""
        raise UsageError(f"the {where}, a {type(thing).__name__}, has no {selector!r} to take the {what} from{keys}")
    return get(thing, selector)


# Chunks, from whatever a retriever returns.


def freeze(chunks: object) -> tuple[Chunk, ...]:
    """Chunks as one frozen tuple: same order, nothing dropped or merged.

    An odd element, such as a document without text, becomes a blank chunk: it is counted, and it supports nothing.

    Args:
        chunks: None, one string, one document, or an iterable of `Chunk`s, strings, documents, nodes, mappings or pairs
            `(document, score)`. An iterator is consumed once.

    Raises:
        UsageError: if it can't be iterated over.
    """
    if chunks is None:
        return ()
    if is_single(chunks):
        return (as_chunk(chunks),)
    if not _is_iterable(chunks):
        hint = "; await it first" if has(chunks, "__aiter__") or has(chunks, "__await__") else ""
        raise UsageError(f"chunks are a string or an iterable of chunks, not a {type(chunks).__name__}{hint}")
    return tuple(map(as_chunk, chunks))


def _is_iterable(chunks: object) -> TypeGuard[Iterable[object]]:
    return isinstance(chunks, Iterable)


def is_single(chunks: object) -> bool:
    """Whether this is one chunk, rather than an iterable of some."""
    return isinstance(chunks, (str, bytes, Chunk, Mapping)) or _text(chunks) is not None


def as_chunk(thing: object) -> Chunk:
    """One chunk from a string, a document, a node, a mapping or a pair `(document, score)`; blank if it has no text."""
    if type(thing) is Chunk:
        return thing
    if isinstance(thing, str):
        return Chunk(thing)
    if is_pair(thing) and _finite(thing[1]) is not None:
        return _scored(as_chunk(thing[0]), thing[1])
    metadata = get(thing, "metadata")
    return Chunk(
        text=_text(thing) or "",
        id=_first(get(thing, key) for key in ("id", "id_", "node_id")),
        source=_first([get(thing, "source"), get(metadata, "source"), get(metadata, "file_path")]),
        score=_finite(get(thing, "score")),
        metadata=_readable(metadata),
    )


def _readable(metadata: object) -> Mapping[str, Any]:
    try:
        return Chunk("", metadata=metadata).metadata if is_mapping(metadata) else {}
    except Exception:  # noqa: BLE001  # values that can't even be written as text, or that contain themselves
        return {}


def _scored(chunk: Chunk, score: object) -> Chunk:
    return Chunk(chunk.text, chunk.id, chunk.source, _finite(score), chunk.metadata)


def _text(thing: object) -> str | None:
    return next((value for key in TEXT_KEYS if isinstance(value := get(thing, key), str)), None)


def _first(values: Iterable[object]) -> str | None:
    return next((str(value) for value in values if isinstance(value, (str, int, UUID))), None)


def _finite(value: object) -> float | None:
    """`value` as a float; numpy's numbers too, no truth values."""
    if isinstance(value, bool) or not hasattr(type(value), "__float__"):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # its type has __float__
    except Exception:  # noqa: BLE001  # an array, a number too large, a number that fails
        return None
    return number if math.isfinite(number) else None
