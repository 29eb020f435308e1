"""One question on its way through the guard's own retriever and generator; the generator may stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from groundguard import options
from groundguard.capture import Found, Recorder, find_chunks
from groundguard.chunks import freeze, is_single
from groundguard.errors import UsageError
from groundguard.fields import is_sequence
from groundguard.flow.steps import Call, Callee, Flow, scoped
from groundguard.foreign import as_turns, is_iterable
from groundguard.judging import Generated
from groundguard.policy import Feedback
from groundguard.records import Chunk, ChunksFrom
from groundguard.streaming.collecting import collect, is_stream, whole
from groundguard.streaming.modes import Hold, Outlet
from groundguard.streaming.pieces import Collected


class Query:
    """One question, and what is known of its answer so far.

    Attributes:
        question: The question.
        turns: What was said before it.
        found: The chunks, once they are retrieved.
        collected: What the generator gave at its first call.
        heeds: Whether the generator is told what was wrong with an answer before.
    """

    def __init__(
        self,
        retriever: Callee | None,
        generator: Callee | None,
        question: str,
        history: Iterable[object],
        *,
        regenerates: bool,
    ) -> None:
        self._retriever = options.needed(retriever, "retriever")
        self._generator = options.needed(generator, "generator")
        self.question, self.turns = options.text(question, "question"), as_turns(history)
        self.heeds = regenerates or options.takes(self._generator, "feedback")
        self._keywords = {"history": self.turns} if options.takes(self._generator, "history") else {}
        self.found = Found((), ChunksFrom.NOT_OBSERVED)
        self.collected = Collected()

    def retrieve(self, earlier: tuple[Chunk, ...] = ()) -> Flow[tuple[Chunk, ...]]:
        """Find the chunks, and return them; `earlier` ones stand before them."""
        chunks = yield from _retrieved(Call(self._retriever, (self.question,)))
        self.found = Found((*earlier, *chunks), ChunksFrom.RETRIEVER)
        return chunks

    def generate(self, outlet: Outlet) -> Flow[Generated]:
        """Make the first answer; `outlet` sees its pieces as they come."""
        return self._made(None, self.collected, outlet)

    def generate_again(self, feedback: Feedback) -> Flow[Generated]:
        """Make another answer; nothing of it leaves before it is judged."""
        return self._made(feedback, Collected(), Hold())

    def _made(self, feedback: Feedback | None, collected: Collected, outlet: Outlet) -> Flow[Generated]:
        recorder = Recorder()
        output = yield from scoped(self._called(feedback, collected, outlet), recorder.active)
        streamed = is_stream(output)
        self._check(collected.found(recorder) if streamed else find_chunks(output, recorder))
        return Generated(collected.text, tuple(collected.pieces) if streamed else output)

    def _called(self, feedback: Feedback | None, collected: Collected, outlet: Outlet) -> Flow[Any]:
        output = yield self._call(feedback)
        if is_stream(output):
            yield from collect(output, collected, outlet)
        else:
            yield from whole(output, collected, outlet)
        return output

    def _check(self, own: Found) -> None:
        """Raise `UsageError` if the guard's own generator reports other chunks than it was handed."""
        if own.exact and [chunk.text for chunk in own.chunks] != [chunk.text for chunk in self.found.chunks]:
            raise UsageError(
                f"{self._generator.name} was handed the chunks of the retriever and reported others: let the retriever"
                " find them, or guard a function that finds its own, by the decorator or `wrap`"
            )

    def _call(self, feedback: Feedback | None) -> Call:
        told: dict[str, Any] = {"feedback": feedback} if self.heeds else {}
        return Call(self._generator, (self.question, self.found.chunks), {**self._keywords, **told})


def _retrieved(call: Call) -> Flow[tuple[Chunk, ...]]:
    """Call the retriever. One that finds its chunks lazily does so here, as a call like any other, and only once."""
    found = yield call
    if _is_lazy(found):
        found = yield Call(Callee(tuple, None, call.callee.name), (found,))
    return freeze(found)


def _is_lazy(found: object) -> bool:
    return is_iterable(found) and not is_sequence(found) and not is_single(found)
