"""A live conversation: which chunks are evidence, what is said so far, what is recorded."""

import asyncio
import threading
from contextlib import suppress

import pytest

from groundguard import Guard
from groundguard.conversation import LastTurns, Session, ThisTurn
from groundguard.errors import NoContextError, UngroundedError, UsageError
from groundguard.policy import Raise, Replace, Return
from groundguard.records import Chunk, Decision, Reason, Response, Status, Turn, Verdict
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedRetriever
from support.doors import both_doors

VOLTAGE, CORD, COLOUR = Chunk("It runs on 12 volts."), Chunk("Its cord is 2 m long."), Chunk("It is blue.")


class Retriever:
    """Finds the chunks of each turn in order; an exception is raised instead."""

    def __init__(self, *found):
        self.found = list(found)
        self.questions = []

    def __call__(self, question):
        self.questions.append(question)
        found = self.found.pop(0)
        if isinstance(found, BaseException):
            raise found
        return found


class Generator:
    """Answers with the question's last word, and remembers chunks and history."""

    def __init__(self):
        self.calls = []

    def __call__(self, question, chunks, *, history):
        self.calls.append((chunks, history))
        return f"Answer to {question}"


def session(*found, judge=True, evidence=None, policy=None):
    generator, retriever, asked = Generator(), Retriever(*found), ScriptedJudge(judge)
    guard = Guard(
        asked, retriever=retriever, generator=generator.__call__, policy=Return() if policy is None else policy
    )
    return guard.session(evidence=ThisTurn() if evidence is None else evidence), generator, asked


def ask(door, conversation, question):
    return door.call(conversation.aask if door.is_async else conversation.ask, question)


def check(door, conversation, question, **given):
    return door.call(conversation.acheck if door.is_async else conversation.check, question, **given)


# Evidence.


@both_doors
def test_by_this_turn_each_turn_stands_on_its_own_chunks(door):
    conversation, generator, judge = session([VOLTAGE], [], [CORD])
    statuses = [ask(door, conversation, question).status for question in "ABC"]
    assert statuses == [Status.ANSWERED, Status.NO_CONTEXT, Status.ANSWERED]
    assert [exchange.chunks for exchange in judge.exchanges] == [(VOLTAGE,), (CORD,)]
    assert [chunks for chunks, _ in generator.calls] == [(VOLTAGE,), (), (CORD,)]


@both_doors
def test_by_last_turns_generator_and_judge_get_the_same_tuple_oldest_first(door):
    conversation, generator, judge = session([VOLTAGE, CORD], [], [CORD], [COLOUR], evidence=LastTurns(3))
    for question in "ABCD":
        assert ask(door, conversation, question).status is Status.ANSWERED
    expected = [(VOLTAGE, CORD), (VOLTAGE, CORD), (VOLTAGE, CORD, CORD), (CORD, COLOUR)]
    assert [chunks for chunks, _ in generator.calls] == expected
    assert [exchange.chunks for exchange in judge.exchanges] == expected
    assert all(seen is exchange.chunks for (seen, _), exchange in zip(generator.calls, judge.exchanges, strict=True))
    assert [response.chunks for response in conversation.turns] == expected


@both_doors
def test_with_check_earlier_chunks_stand_before_the_given_ones(door):
    judge = ScriptedJudge(True)
    conversation = Guard(judge).session(evidence=LastTurns(2))
    for chunks in ([VOLTAGE], [CORD], "It is blue."):
        check(door, conversation, "?", answer="Blue.", chunks=chunks)
    assert [exchange.chunks for exchange in judge.exchanges] == [(VOLTAGE,), (VOLTAGE, CORD), (CORD, COLOUR)]


def test_one_last_turn_is_this_turn():
    conversation, _, judge = session([VOLTAGE], [CORD], evidence=LastTurns(1))
    conversation.ask("A")
    conversation.ask("B")
    assert [exchange.chunks for exchange in judge.exchanges] == [(VOLTAGE,), (CORD,)]


@pytest.mark.parametrize("turns", [0, -1, True, 1.5, "2", None])
def test_last_turns_takes_a_whole_number(turns):
    with pytest.raises(UsageError, match="LastTurns takes a whole number of turns from 1"):
        LastTurns(turns)


@pytest.mark.parametrize("evidence", [None, 2, "last", ThisTurn, LastTurns])
def test_the_evidence_rule_is_explicit(evidence):
    with pytest.raises(UsageError, match="evidence is a rule"):
        Guard(ScriptedJudge(True)).session(evidence=evidence)
    with pytest.raises(TypeError):
        Guard(ScriptedJudge(True)).session()


# What was said so far.


@both_doors
def test_what_was_said_goes_to_generator_and_judge_and_is_no_chunk(door):
    conversation, generator, judge = session([VOLTAGE], [CORD])
    ask(door, conversation, "A")
    ask(door, conversation, "B")
    said = (Turn("user", "A"), Turn("assistant", "Answer to A"))
    assert [history for _, history in generator.calls] == [(), said]
    assert [exchange.history for exchange in judge.exchanges] == [(), said]
    assert [exchange.question for exchange in judge.exchanges] == ["A", "B"]
    assert conversation.history == (*said, Turn("user", "B"), Turn("assistant", "Answer to B"))


def test_a_generator_without_history_is_called_without():
    generator = ScriptedGenerator("Blue.")
    conversation = Guard(ScriptedJudge(True), retriever=ScriptedRetriever([COLOUR]), generator=generator).session(
        evidence=ThisTurn()
    )
    conversation.ask("A")
    conversation.ask("B")
    assert generator.calls == [("A", (COLOUR,)), ("B", (COLOUR,))]


def test_the_history_holds_what_was_delivered_not_what_was_generated():
    conversation, _, _ = session([VOLTAGE], judge=False, policy=Replace("Sorry."))
    conversation.ask("A")
    assert conversation.history == (Turn("user", "A"), Turn("assistant", "Sorry."))
    assert conversation.turns[0].generated == "Answer to A"


def test_who_says_nothing_leaves_no_message():
    conversation, _, _ = session([], policy=Return(skip_generator=True))
    conversation.ask("A")
    assert conversation.history == (Turn("user", "A"),)


# What is recorded.


@both_doors
def test_a_turn_whose_policy_raises_is_recorded_and_its_answer_was_never_said(door):
    conversation, generator, _ = session([VOLTAGE], [], [CORD], judge=False, policy=Raise(), evidence=LastTurns(2))
    with pytest.raises(UngroundedError) as caught:
        ask(door, conversation, "A")
    assert conversation.turns == (caught.value.response,)
    assert conversation.history == (Turn("user", "A"),)
    with pytest.raises(UngroundedError):
        ask(door, conversation, "B")
    assert generator.calls[1] == ((VOLTAGE,), (Turn("user", "A"),))
    assert [response.reason for response in conversation.turns] == [Reason.UNSUPPORTED] * 2


@both_doors
def test_a_streamed_turn_is_a_turn_like_any_other(door):
    def words(question, chunks, *, history):
        yield from (f"{len(history)} messages ", "before.")

    judge = ScriptedJudge(True)
    guard = Guard(judge, retriever=Retriever([VOLTAGE], [CORD]), generator=words)
    conversation = guard.session(evidence=LastTurns(2))
    stream = conversation.astream if door.is_async else conversation.stream
    for question in "AB":
        *pieces, response = door.items(stream, question)
        assert "".join(pieces) == response.answer
        assert response is conversation.turns[-1]
    assert [exchange.chunks for exchange in judge.exchanges] == [(VOLTAGE,), (VOLTAGE, CORD)]
    assert [turn.content for turn in conversation.history] == ["A", "0 messages before.", "B", "2 messages before."]


@both_doors
def test_a_streamed_turn_that_is_left_early_leaves_no_trace_and_one_that_raises_is_recorded(door):
    def words(question, chunks):
        yield from ("One ", "two.")

    guard = Guard(ScriptedJudge(False), retriever=Retriever([VOLTAGE], [CORD]), generator=words)
    conversation = guard.session(evidence=ThisTurn())

    async def leave():
        async with conversation.astream("A") as items:
            return await anext(items)

    if door.is_async:
        assert door.call(leave) == "One "
    else:
        with conversation.stream("A") as items:
            assert next(items) == "One "
            with pytest.raises(UsageError, match="still under way"):
                list(conversation.stream("B"))
    assert conversation.turns == ()

    raising = guard.with_options(policy=Raise(), retriever=Retriever([VOLTAGE])).session(evidence=ThisTurn())
    with pytest.raises(UngroundedError):
        door.items(raising.astream if door.is_async else raising.stream, "A")
    assert [turn.generated for turn in raising.turns] == ["One two."]
    assert [turn.content for turn in raising.history] == ["A"]


@both_doors
@pytest.mark.parametrize("policy", [Return(), Raise()])
def test_of_a_gated_turn_the_history_holds_what_has_left(door, policy):
    def words(question, chunks):
        yield from ("Fact one. ", "Lie two. ", "Fact three.")

    guard = Guard(
        lambda exchange: exchange.answer.startswith("Fact one.") and "Lie" not in exchange.answer,
        retriever=Retriever([VOLTAGE]),
        generator=words,
        policy=policy,
        streaming="gate",
    )
    conversation, items = guard.session(evidence=ThisTurn()), []
    with suppress(UngroundedError):
        door.items(conversation.astream if door.is_async else conversation.stream, "A", into=items)
    assert items[0] == "Fact one."
    assert [turn.content for turn in conversation.history] == ["A", "Fact one."]
    assert [turn.generated for turn in conversation.turns] == ["Fact one. Lie two. Fact three."]


@both_doors
def test_of_a_turn_whose_pieces_are_messages_the_history_holds_the_answer(door):
    def words(question, chunks):
        yield from ({"content": "One ", "role": "assistant"}, {"content": "two.", "role": "assistant"})

    conversation = Guard(ScriptedJudge(True), retriever=Retriever([VOLTAGE]), generator=words).session(
        evidence=ThisTurn()
    )
    door.items(conversation.astream if door.is_async else conversation.stream, "A")
    assert [turn.content for turn in conversation.history] == ["A", "One two."]


def test_a_turn_without_context_is_recorded_too_when_it_raises():
    conversation, _, _ = session([], policy=Raise())
    with pytest.raises(NoContextError):
        conversation.ask("A")
    assert [response.status for response in conversation.turns] == [Status.NO_CONTEXT]


@both_doors
@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt(), UsageError("mine")], ids=repr)
def test_a_turn_whose_retriever_fails_leaves_no_trace(door, error):
    conversation, generator, _ = session([VOLTAGE], error, [CORD], evidence=LastTurns(2))
    ask(door, conversation, "A")
    with pytest.raises(type(error)) as caught:
        ask(door, conversation, "B")
    assert caught.value is error
    ask(door, conversation, "C")
    assert [response.question for response in conversation.turns] == ["A", "C"]
    assert [turn.content for turn in conversation.history if turn.role == "user"] == ["A", "C"]
    assert [chunks for chunks, _ in generator.calls] == [(VOLTAGE,), (VOLTAGE, CORD)]


@both_doors
def test_an_ungrounded_error_of_another_guard_inside_is_the_users_own(door):
    inner = Guard(ScriptedJudge(False), policy=Raise())

    def retrieve(question):
        return [inner.check(question, answer="Inner.", chunks="c").answer]

    conversation = Guard(ScriptedJudge(True), retriever=retrieve, generator=ScriptedGenerator("Outer.")).session(
        evidence=ThisTurn()
    )
    with pytest.raises(UngroundedError):
        ask(door, conversation, "A")
    assert conversation.turns == conversation.history == ()


def test_a_cancelled_turn_leaves_no_trace_and_the_session_goes_on():
    found = asyncio.Event()

    async def retrieve(question):
        if question == "A":
            await found.wait()
        return [VOLTAGE]

    async def generate(question, chunks):
        return "12 volts."

    async def main():
        conversation = Guard(ScriptedJudge(True), retriever=retrieve, generator=generate).session(evidence=ThisTurn())
        task = asyncio.create_task(conversation.aask("A"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        response = await conversation.aask("B")
        return conversation, response

    conversation, response = asyncio.run(main())
    assert conversation.turns == (response,)
    assert conversation.history == (Turn("user", "B"), Turn("assistant", "12 volts."))


@both_doors
@pytest.mark.parametrize("question", [None, 3])
def test_a_wiring_mistake_leaves_the_session_usable(door, question):
    conversation, _, _ = session([VOLTAGE])
    with pytest.raises(UsageError):
        ask(door, conversation, question)
    assert ask(door, conversation, "A").status is Status.ANSWERED


# One turn at a time.


def test_overlapping_turns_in_tasks_are_a_usage_error():
    going = asyncio.Event()

    async def retrieve(question):
        await going.wait()
        return [VOLTAGE]

    async def generate(question, chunks):
        return "12 volts."

    async def main():
        conversation = Guard(ScriptedJudge(True), retriever=retrieve, generator=generate).session(evidence=ThisTurn())
        first = asyncio.create_task(conversation.aask("A"))
        await asyncio.sleep(0)
        with pytest.raises(UsageError, match="one conversation"):
            await conversation.aask("B")
        with pytest.raises(UsageError, match="one conversation"):
            conversation.check("B", answer="b", chunks="c")
        going.set()
        await first
        await conversation.aask("C")
        return conversation

    assert [response.question for response in asyncio.run(main()).turns] == ["A", "C"]


def test_overlapping_turns_in_threads_are_a_usage_error():
    begun, going = threading.Event(), threading.Event()

    def retrieve(question):
        begun.set()
        going.wait(10)
        return [VOLTAGE]

    guard = Guard(ScriptedJudge(True), retriever=retrieve, generator=ScriptedGenerator("12 volts."))
    conversation = guard.session(evidence=ThisTurn())
    thread = threading.Thread(target=conversation.ask, args=("A",))
    thread.start()
    assert begun.wait(10)
    with pytest.raises(UsageError, match="one conversation"):
        conversation.ask("B")
    going.set()
    thread.join()
    assert [response.question for response in conversation.turns] == ["A"]


def test_two_sessions_of_one_guard_know_nothing_of_each_other():
    guard = Guard(ScriptedJudge(True), retriever=ScriptedRetriever([COLOUR]), generator=ScriptedGenerator("Blue."))
    one, other = guard.session(evidence=LastTurns(2)), guard.session(evidence=LastTurns(2))
    one.ask("A")
    assert other.ask("B").chunks == (COLOUR,)
    assert (len(one.turns), len(other.turns)) == (1, 1)


# The record.


def test_the_summary_is_turn_faithfulness_over_the_turns():
    failure = Verdict(Decision.UNKNOWN, Reason.JUDGE_TIMEOUT)
    guard = Guard(ScriptedJudge(True, False, failure))
    conversation = guard.session(evidence=ThisTurn())
    for chunks in ([VOLTAGE], [CORD], [COLOUR], []):
        conversation.check("?", answer="Yes.", chunks=chunks)
    summary = conversation.summary()
    assert summary.headline == 0.25
    assert summary.mean == 0.5
    assert (summary.scored, summary.unscored) == (2, 2)
    assert [turn.index for turn in summary.turns] == [0, 1, 2, 3]
    assert summary.lowest is summary.turns[1]
    assert [turn.reason for turn in summary.turns] == [response.reason for response in conversation.turns]


def test_an_empty_session():
    conversation = Guard(ScriptedJudge(True)).session(evidence=LastTurns(2))
    assert isinstance(conversation, Session)
    assert conversation.turns == conversation.history == conversation.summary().turns == ()
    assert conversation.evidence == LastTurns(2)
    assert repr(conversation) == "Session(evidence=LastTurns(turns=2), turns=0)"


def test_no_text_stands_in_its_repr():
    conversation = Guard(ScriptedJudge(True)).session(evidence=ThisTurn())
    response = conversation.check("Secret?", answer="Secret.", chunks="Secret.")
    assert isinstance(response, Response)
    assert "ecret" not in repr(conversation)


@both_doors
@pytest.mark.parametrize("window", [0, 1, 3])
def test_only_the_last_messages_are_history(door, window):
    generator, asked = Generator(), ScriptedJudge(True)
    guard = Guard(asked, retriever=Retriever(*[[VOLTAGE]] * 4), generator=generator.__call__)
    conversation = guard.session(evidence=ThisTurn(), window=window)
    for question in "abcd":
        door.call(conversation.aask if door.is_async else conversation.ask, question)
    assert len(conversation.history) == 8
    seen = conversation.history[6 - window : 6]
    assert generator.calls[-1][1] == seen
    assert asked.exchanges[-1].history == seen


@pytest.mark.parametrize("window", [-1, True, 2.0, None])
def test_the_window_of_a_session_is_a_whole_number_of_messages(window):
    with pytest.raises(UsageError, match="a session's window is a whole number of messages, 0 or more"):
        Guard(ScriptedJudge(True)).session(evidence=ThisTurn(), window=window)


def test_the_evidence_rule_of_a_session_stays():
    conversation, _, _ = session()
    with pytest.raises(AttributeError):
        conversation.evidence = LastTurns(3)
