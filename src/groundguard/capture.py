"""Which chunks did the generator really see? The first way that reported wins, even if what it reported is empty.

1. the pair `(answer, chunks)` that a function returned
2. a key, attribute or extractor of the chain's output
3. `record_chunks(chunks)`, called anywhere below the guard
4. LangChain's retriever events: an observation, since a reranker or a prompt may have changed the chunks afterwards
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from groundguard.chunks import TEXT_KEYS, freeze, holds_chunks
from groundguard.contextual import holding
from groundguard.errors import warn_once
from groundguard.foreign import CHUNK_KEYS, Selector, get, has, is_paused, select, state_of
from groundguard.records import Chunk, ChunksFrom, Reason


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
        with holding(_recorder, self):
            yield


@contextmanager
def deaf() -> Generator[None]:
    """Let nobody hear what is reported: a judge's own retrieval is no evidence."""
    with holding(_recorder, None):
        yield


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
    """The chunks of a finished run, by the first way that reported. A selector of the user's overrides the pair.

    Those of a graph that waits for a person are none: it has no answer yet that they could support.
    """
    recorder.open = False
    output = state_of(output)
    if is_paused(output):
        return Found((), ChunksFrom.OUTPUT)
    if capture.chunks is not None:
        return Found(freeze(select(output, capture.chunks, "chunks", "output")), ChunksFrom.OUTPUT)
    if holds_chunks(output) and not callable(capture.answer):
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
