"""LangGraph: a stream of states and updates, judged by the state that the graph ends in.

What a graph yields is no part of an answer: nodes, states, tokens of any model in it. So every part goes to the
consumer as the graph yields it, in the `stream_mode` that is asked for, and the text and the chunks that are judged are
those of the output that `invoke` returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables.base import RunnableBindingBase, RunnableSequence

from groundguard.capture import Capture, Recorder, find_chunks
from groundguard.errors import UsageError
from groundguard.fields import is_mapping
from groundguard.foreign import INTERRUPT, find_answer, get
from groundguard.integrations.langchain.pieces import Seen

_BINDING: Any = RunnableBindingBase
_SEQUENCE: Any = RunnableSequence


def find_graph(chain: Any) -> Any:
    """The LangGraph graph that `chain` is, or is bound to; None if it is another kind of chain.

    Raises:
        UsageError: if it is a sequence that ends in a graph: that streams updates, and says nowhere which of them hold
            the answer.
    """
    while isinstance(chain, _BINDING):
        chain = chain.bound
    if isinstance(chain, _SEQUENCE) and find_graph(chain.last) is not None:
        raise UsageError(
            "a sequence that ends in a graph can't be streamed: put the guard around the graph, as in"
            " step | guard.wrap(graph)"
        )
    is_graph = any(base.__module__.startswith("langgraph.pregel") for base in type(chain).__mro__)
    return chain if is_graph else None


def graph_reading(graph: Any, asked: Mapping[str, Any], capture: Capture) -> GraphReading:
    """How the stream of a graph is read.

    Args:
        graph: The graph.
        asked: Keyword arguments of `stream`.
        capture: Where its output holds answer and chunks.
    """
    mode = asked.get("stream_mode") or graph.stream_mode
    modes = [mode] if isinstance(mode, str) else list(mode)
    return GraphReading(
        output=capture,
        output_keys=None if asked.get("output_keys") else graph.output_channels,
        modes=modes,
        bare=isinstance(mode, str),
        nested=bool(asked.get("subgraphs")),
        kwargs={**asked, "stream_mode": [*modes, *({"values"} - set(modes))]},
        capture=Capture(retriever_events=capture.retriever_events),
    )


@dataclass
class GraphReading:
    """Hands every part on, and reads the answer in the last state.

    Attributes:
        output: Where the output holds answer and chunks.
        output_keys: The keys of the state that `invoke` returns; None or a single name stands for all of it.
        modes: The stream modes that the consumer asked for.
        bare: Whether a part comes without the name of its mode.
        nested: Whether a part comes with the name of its subgraph.
        kwargs: Keyword arguments with which the stream is asked for.
        capture: Where text and chunks stand in the pieces as they are read.
        state: The last state.
    """

    output: Capture
    output_keys: str | Sequence[str] | None
    modes: Sequence[str]
    bare: bool
    nested: bool
    kwargs: Mapping[str, Any]
    capture: Capture
    state: Any = field(default=None, repr=False)

    def see(self, piece: Any) -> Iterable[Any]:
        """The part as the consumer asked for it, holding nothing to be judged; a state is kept."""
        namespace, mode, data = self._told(piece)
        if mode in {"values", "updates"} and not namespace:
            self._keep(mode, data, get(piece, "interrupts") if is_mapping(piece) else None)
        return (Seen({}, self._form(piece, namespace, data)),) if mode in self.modes else ()

    def end(self) -> Iterable[Any]:
        """Answer and chunks of the last state."""
        output = self._output()
        found = find_chunks(output, Recorder(), self.output)
        fields = {"answer": find_answer(output, self.output.answer)}
        return (Seen(fields | ({"context": found.chunks} if found.observed else {}), output, shown=False),)

    def _keep(self, mode: str, data: Any, paused: Any) -> None:
        # LangGraph before 1.1 tells in a part of its own that the graph waits, which replaces no state.
        paused = paused or (data.get(INTERRUPT) if is_mapping(data) else None)
        if mode == "values" and not (is_mapping(data) and set(data) == {INTERRUPT}):
            self.state = data
        if paused:
            self.state = {**(self.state if is_mapping(self.state) else {}), INTERRUPT: paused}

    def _told(self, piece: Any) -> tuple[Any, str, Any]:
        if is_mapping(piece):  # version="v2" of LangGraph's streams
            return piece["ns"], piece["type"], piece["data"]
        return piece if self.nested else ((), *piece)

    def _form(self, piece: Any, namespace: Any, data: Any) -> Any:
        if is_mapping(piece) or not self.bare:
            return piece
        return (namespace, data) if self.nested else data

    def _output(self) -> Any:
        if self.output_keys is None or isinstance(self.output_keys, str) or not is_mapping(self.state):
            return self.state
        return {key: value for key, value in self.state.items() if key in (*self.output_keys, INTERRUPT)}
