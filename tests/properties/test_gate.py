"""The gate, rehearsed by hand: whatever the judge says and whenever, nothing unsupported leaves, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from groundguard import Guard
from groundguard.capture import Found
from groundguard.flow.steps import PENDING, Emit, Finished, Flow, Start
from groundguard.judges.statements import statements
from groundguard.records import Chunk, ChunksFrom, Decision, Exchange, Response, Status, Verdict
from groundguard.status import label
from groundguard.streaming.gate import MOST_AT_ONCE, Gate
from groundguard.streaming.pieces import Collected
from groundguard.text import is_blank, is_invisible
from support.doors import Door, both_doors
from support.strategies import texts

CHUNKS = (Chunk("Everything is so."),)

PARTS = (
    "It is so.", " ", " ", "\n", "\n\n", "- one\n", "1. ", "# Head", "\n===\n", "===", "a | b", "\n--|--\n", "```\n",
    "Dr. ", "5 p.m. ", "No! ", "He said “Go!” ", "行こう。", "> ", "…", "The end", "\u200b", "Is it? ", "x",
)  # fmt: skip

answers = st.one_of(st.lists(st.sampled_from(PARTS), max_size=14).map("".join), texts)
decisions = st.sampled_from([*Decision, Decision.SUPPORTED, Decision.SUPPORTED, Decision.SUPPORTED])


class Rehearsal:
    """One answer on its way through a gate.

    Args:
        found: The chunks that are known.
        pending: Whether a judgement is still under way when the gate looks and doesn't wait.
        decide: What a judgement comes to.
    """

    def __init__(self, found: Found, pending: Callable[[], bool], decide: Callable[[], Decision]) -> None:
        self.pending, self.decide = pending, decide
        self.collected = Collected()
        self.complete = False
        self.asked: list[Exchange] = []
        self.said: dict[int, Decision] = {}
        self.emitted: list[str] = []
        ask: Callable[[Exchange], Any] = lambda exchange: exchange  # noqa: E731
        self.gate = Gate(ask, "Q?", (), lambda: found)

    def take(self, *pieces: str) -> None:
        for piece in pieces:
            self.collected.take(piece)
            self.perform(self.gate.taken(self.collected))

    def end(self) -> None:
        self.complete = True
        self.perform(self.gate.ended(self.collected))

    def settle(self, response: Response[Any]) -> list[str]:
        before = len(self.emitted)
        for step in self.gate.settled(self.collected, response):
            assert isinstance(step, Emit)
            self.emitted.append(step.piece)
        return self.emitted[before:]

    def perform(self, flow: Flow[None]) -> None:
        reply: Any = None
        try:
            while True:
                reply = self._reply(flow.send(reply))
        except StopIteration:
            pass

    def _reply(self, step: Any) -> Any:
        if isinstance(step, Emit):
            return self._let_out(step.piece)
        if isinstance(step, Start):
            self.asked.append(step.flow)  # type: ignore[arg-type]
            assert sum(place not in self.said for place in range(len(self.asked))) <= MOST_AT_ONCE
            return len(self.asked) - 1
        assert isinstance(step, Finished)
        if step.handle not in self.said:
            if not step.wait and self.pending():
                return PENDING
            self.said[step.handle] = self.decide()
        return Verdict(self.said[step.handle])

    def _let_out(self, piece: str) -> None:
        """It ends a statement that is complete as the text stands now, and the judge has affirmed it."""
        self.emitted.append(piece)
        released = "".join(self.emitted)
        assert self.collected.text.startswith(released)
        split = statements(self.collected.text)
        (statement,) = (each for each in split if each.end == len(released))
        assert self.complete or statement != split[-1]
        assert statement.text.endswith(visible(piece))
        said = [decision for place, decision in self.said.items() if self.asked[place].answer == statement.text]
        assert Decision.SUPPORTED in said


def visible(piece: str) -> str:
    shown = [place for place, letter in enumerate(piece) if not is_invisible(letter)]
    return piece[shown[0] : shown[-1] + 1]


def response_to(text: str, found: Found, final: Decision) -> Response[None]:
    verdict = None if is_blank(text) or not found.chunks else Verdict(final)
    status, reason = label(found.chunks, text, verdict, observed=found.observed)
    return Response(text, text, status, reason, verdict, "Q?", found.chunks, found.chunks_from)


KNOWN, UNKNOWN = Found(CHUNKS, ChunksFrom.GIVEN), Found((), ChunksFrom.NOT_OBSERVED)


@given(st.data(), answers, st.sampled_from([KNOWN, KNOWN, UNKNOWN]), st.sampled_from(Decision))
def test_only_what_is_supported_leaves_and_all_of_an_answered_answer(
    data: Any, text: str, found: Found, final: Decision
) -> None:
    rehearsal = Rehearsal(found, lambda: data.draw(st.booleans()), lambda: data.draw(decisions))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    rehearsal.take(*(text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)))
    rehearsal.end()
    assert found is KNOWN or rehearsal.asked == []

    response = response_to(text, found, final)
    rest = rehearsal.settle(response)
    if response.status is Status.ANSWERED:
        assert "".join(rehearsal.emitted) == response.generated
    else:
        assert rest == []


@given(answers, st.booleans())
def test_when_everything_is_supported_every_statement_is_asked_about_once_and_leaves(text: str, late: bool) -> None:
    rehearsal = Rehearsal(KNOWN, lambda: late, lambda: Decision.SUPPORTED)
    rehearsal.take(text)
    rehearsal.end()

    split = statements(text)
    assert [exchange.answer for exchange in rehearsal.asked] == [statement.text for statement in split]
    assert "".join(rehearsal.emitted) == (text[: split[-1].end] if split else "")


def test_a_statement_whose_boundaries_move_is_judged_anew_and_takes_no_more_room() -> None:
    rehearsal = Rehearsal(KNOWN, lambda: True, lambda: Decision.SUPPORTED)
    rehearsal.take("Foo is. ", "Bar was.", "\n===", "\nBaz is.")
    assert [exchange.answer for exchange in rehearsal.asked] == ["Foo is.", "Foo is. Bar was.", "==="]
    assert rehearsal.emitted == []

    rehearsal.take("\nOne.", "\nTwo.", "\nThree.")
    assert len(rehearsal.asked) == MOST_AT_ONCE
    rehearsal.end()
    assert rehearsal.emitted == ["Foo is. Bar was.", "\n===", "\nBaz is.", "\nOne.", "\nTwo.", "\nThree."]


def test_void_judgements_that_take_all_the_room_are_waited_for_at_the_end() -> None:
    rehearsal = Rehearsal(KNOWN, lambda: True, lambda: Decision.SUPPORTED)
    rehearsal.take("One is. Two is. Three is. Four is. Five is.", "\n===")
    assert [exchange.answer for exchange in rehearsal.asked] == ["One is.", "Two is.", "Three is.", "Four is."]
    rehearsal.end()
    assert rehearsal.emitted == ["One is. Two is. Three is. Four is. Five is.", "\n==="]


def test_a_statement_that_left_before_its_boundaries_moved_is_judged_again_as_it_stands() -> None:
    verdicts = iter([Decision.SUPPORTED, Decision.UNSUPPORTED])
    rehearsal = Rehearsal(KNOWN, lambda: False, lambda: next(verdicts))
    rehearsal.take("Foo is. Bar was.", "\n===", "\nBaz is.")
    rehearsal.end()
    assert rehearsal.emitted == ["Foo is."]
    assert [exchange.answer for exchange in rehearsal.asked] == ["Foo is.", "Foo is. Bar was."]


def test_a_long_text_is_not_split_at_every_piece() -> None:
    rehearsal = Rehearsal(KNOWN, lambda: True, lambda: Decision.SUPPORTED)
    rehearsal.take("It is so. " * 100)
    rehearsal.gate._waiting.clear()
    rehearsal.take("It ", "is ")
    assert not rehearsal.gate._waiting
    rehearsal.take("so. It is so. " * 2)
    assert rehearsal.gate._waiting


@both_doors
@settings(max_examples=60)
@given(answers, st.lists(st.integers(0, 40), max_size=6), st.sets(st.integers(0, 6)), st.booleans())
def test_it_holds_through_the_doors(door: Door, text: str, cuts: list[int], bad: set[int], final: bool) -> None:
    affirmed: list[str] = []

    def judge(exchange: Exchange) -> bool:
        said = final if exchange.answer == text and not exchange.history else len(exchange.answer) % 7 not in bad
        affirmed.extend([exchange.answer] * said)
        return said

    def generate(question: str, chunks: object) -> Iterator[str]:
        places = [0, *sorted(cuts), len(text)]
        yield from (text[start:end] for start, end in pairwise(places))

    guard = Guard(judge, retriever=lambda question: CHUNKS, generator=door.generator(generate), streaming="gate")
    *pieces, response = door.items(guard.astream if door.is_async else guard.stream, "Q?")

    assert response.generated.startswith("".join(pieces))
    if response.status is Status.ANSWERED:
        assert "".join(pieces) == response.generated
    else:
        assert all(any(said.endswith(visible(piece)) for said in affirmed) for piece in pieces)
