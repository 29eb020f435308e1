"""The path of one query, through `ask`, `aask`, `check` and `acheck`."""

from __future__ import annotations

import asyncio
import dataclasses
import pickle
import threading
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from groundguard import (
    Capture,
    Chunk,
    Decision,
    Exchange,
    Guard,
    Reason,
    Response,
    Retry,
    Status,
    UngroundedError,
    Verdict,
)
from groundguard.errors import GroundguardError, GroundguardWarning, NoContextError, UsageError
from groundguard.judges import FactCheck, Judge
from groundguard.policy import Policy, Raise, Replace, Return
from groundguard.records import ChunksFrom, Turn
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever
from support.doors import ASYNC, PLAIN, Door, both_doors

UNKNOWNS = sorted(set(Reason) - {"supported", "unsupported", "no_chunks", "blank_chunks", "empty_answer"})
UNKNOWNS = [reason for reason in UNKNOWNS if reason is not Reason.RETRIEVAL_NOT_OBSERVED]
BLANKS = ["", " \n\t", "\u200b\u2060\ufeff", "\u3164", "\x00\x1b", "\u2800"]


def guard_of(judge: object, chunks: object = "Paris is in France.", *answers: Any, **options: Any) -> Guard:
    answers = answers or ("Paris.",)
    return Guard(judge, retriever=ScriptedRetriever(chunks), generator=ScriptedGenerator(*answers), **options)


# Contract 2, line by line.


@both_doors
@pytest.mark.parametrize(
    ("chunks", "reason"),
    [
        ([], Reason.NO_CHUNKS),
        (None, Reason.NO_CHUNKS),
        ("", Reason.BLANK_CHUNKS),
        *[([blank], Reason.BLANK_CHUNKS) for blank in BLANKS],
        (BLANKS, Reason.BLANK_CHUNKS),
        ([{"metadata": {"title": "only"}}], Reason.BLANK_CHUNKS),
        ([{"text": None, "metadata": {"title": "Lamp sheet", "page": 3}}], Reason.BLANK_CHUNKS),
        ([{"text": 12, "metadata": {}}], Reason.BLANK_CHUNKS),
    ],
)
@pytest.mark.parametrize("answer", ["It was the port engineer.", "", "\u200b"])
def test_without_visible_chunks_it_is_no_context_and_nobody_is_asked(
    door: Door, chunks: object, reason: Reason, answer: str
) -> None:
    judge = ScriptedJudge(True)
    asked = door.ask(guard_of(judge, chunks, answer))
    checked = door.check(Guard(judge), answer=answer, chunks=chunks)

    for response in (asked, checked):
        assert (response.status, response.reason) == (Status.NO_CONTEXT, reason)
        assert response.verdict is None
        assert response.answer == response.generated == answer
    assert judge.exchanges == []


@both_doors
@pytest.mark.parametrize("answer", BLANKS)
def test_a_blank_answer_is_ungrounded_and_nobody_is_asked(door: Door, answer: str) -> None:
    judge = ScriptedJudge(True)

    for response in (
        door.ask(guard_of(judge, "Paris is in France.", answer)),
        door.check(Guard(judge), answer=answer, chunks="Paris is in France."),
    ):
        assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.EMPTY_ANSWER)
        assert response.verdict is None
    assert judge.exchanges == []


@both_doors
@pytest.mark.parametrize(
    ("said", "status", "reason"),
    [
        (True, Status.ANSWERED, Reason.SUPPORTED),
        (False, Status.UNGROUNDED, Reason.UNSUPPORTED),
        (Decision.UNKNOWN, Status.UNGROUNDED, Reason.JUDGE_ERROR),
        (RuntimeError("down"), Status.UNGROUNDED, Reason.JUDGE_ERROR),
        (TimeoutError("late"), Status.UNGROUNDED, Reason.JUDGE_TIMEOUT),
        *[(Verdict(Decision.UNKNOWN, reason), Status.UNGROUNDED, reason) for reason in UNKNOWNS],
    ],
)
@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_otherwise_the_verdict_decides_and_the_judge_is_asked_once(
    door: Door, said: Any, status: Status, reason: Reason
) -> None:
    for open_door in (
        lambda judge: door.ask(guard_of(judge)),
        lambda judge: door.check(Guard(judge), answer="Paris.", chunks="Paris is in France."),
    ):
        judge = ScriptedJudge(said)
        response = open_door(judge)

        assert (response.status, response.reason) == (status, reason)
        assert response.verdict is not None
        assert len(judge.exchanges) == 1
        assert response.answer == "Paris."


@both_doors
@pytest.mark.parametrize(
    "reply", ["Yes.", " yes", "yes\n", "**yes**", "yes, because", "sí", "true", "yeſ", "", None, 1, ("yes",)]
)
def test_a_reply_that_is_not_the_word_never_passes(door: Door, reply: Any) -> None:
    with pytest.warns(GroundguardWarning, match="groundguard doctor"):
        response = door.ask(guard_of(FactCheck(ScriptedModel(reply))))

    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.VERDICT_MALFORMED)


@both_doors
@pytest.mark.parametrize(
    "said", [1, "yes", None, [True], {"decision": "supported"}, SimpleNamespace(decision="supported")]
)
def test_a_judge_that_returns_anything_but_a_verdict_or_a_bool_never_passes(door: Door, said: object) -> None:
    with pytest.warns(GroundguardWarning):
        response = door.ask(guard_of(lambda exchange: said))

    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.VERDICT_MALFORMED)


@both_doors
def test_only_some_chunks_blank_is_not_no_context(door: Door) -> None:
    response = door.check(Guard(ScriptedJudge(True)), answer="Paris.", chunks=["", "Paris is in France.", " "])

    assert response.status is Status.ANSWERED
    assert [chunk.text for chunk in response.chunks] == ["", "Paris is in France.", " "]


# The judge sees what the generator saw.


@both_doors
@pytest.mark.parametrize("lazy", [False, True])
def test_generator_judge_and_response_share_one_tuple(door: Door, lazy: bool) -> None:
    found = [Chunk("p2", id="b"), "p1", {"page_content": "p3"}, "p1"]
    judge, generator = ScriptedJudge(True), ScriptedGenerator("p1.")
    response = door.ask(Guard(judge, retriever=lambda q: iter(found) if lazy else found, generator=generator))

    ((_, seen),) = generator.calls
    (exchange,) = judge.exchanges
    assert seen is exchange.chunks is response.chunks
    assert [chunk.text for chunk in seen] == ["p2", "p1", "p3", "p1"]
    assert response.chunks[0] is found[0]
    assert exchange == Exchange("Q?", seen, "p1.")
    assert response.chunks_from is ChunksFrom.RETRIEVER
    assert response.chunks_exact


@both_doors
def test_two_runs_build_byte_identical_prompts_in_the_order_of_the_chunks(door: Door) -> None:
    model = ScriptedModel("yes")
    guard = guard_of(FactCheck(model), ["p1", "p2", "p3"])
    door.ask(guard)
    door.ask(guard)
    door.check(guard, answer="Paris.", chunks=["p1", "p2", "p3"])

    first, second, third = model.prompts
    assert first == second == third
    assert first.user.index("p1") < first.user.index("p2") < first.user.index("p3")


@both_doors
def test_changing_the_retrievers_list_afterwards_changes_nothing(door: Door) -> None:
    found = ["Paris is in France."]

    def generate(question: str, chunks: tuple[Chunk, ...]) -> str:
        found[:] = []
        return "Paris."

    response = door.ask(Guard(ScriptedJudge(True), retriever=lambda q: found, generator=generate))

    assert [chunk.text for chunk in response.chunks] == ["Paris is in France."]


def test_lazy_retrieval_does_not_block_the_loop() -> None:
    ticks = 0

    def retrieve(question: str) -> Iterator[str]:
        for part in ("Paris", "is in France."):
            time.sleep(0.15)
            yield part

    async def main() -> Response[Any]:
        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        heart = asyncio.create_task(tick())
        response = await Guard(True_, retriever=retrieve, generator=ScriptedGenerator("Paris.")).aask("Q?")
        heart.cancel()
        return response

    assert [chunk.text for chunk in asyncio.run(main()).chunks] == ["Paris", "is in France."]
    assert ticks > 10


def True_(exchange: Exchange) -> bool:
    return True


# The user's own errors are the user's.


class OwnError(Exception):
    pass


@both_doors
@pytest.mark.parametrize("where", ["retriever", "generator", "lazy retriever", "history"])
@pytest.mark.parametrize("kind", [OwnError, KeyboardInterrupt, SystemExit, GroundguardError])
def test_errors_of_retriever_and_generator_reach_the_user_as_they_are(
    door: Door, where: str, kind: type[BaseException]
) -> None:
    error = kind("mine")

    def fail(*_: object) -> Any:
        raise error

    def fail_late(question: str) -> Iterator[str]:
        yield "Paris"
        raise error

    judge = ScriptedJudge(True)
    parts: dict[str, Any] = {"retriever": lambda q: "Paris.", "generator": lambda q, chunks: "Paris."}
    parts |= {"retriever": fail} if where == "retriever" else {}
    parts |= {"retriever": fail_late} if where == "lazy retriever" else {}
    parts |= {"generator": fail} if where == "generator" else {}
    history = (fail() for _ in range(1)) if where == "history" else ()
    with pytest.raises(kind) as caught:
        door.ask(Guard(judge, **parts), history=history)

    assert caught.value is error
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[-1] in {"fail", "fail_late"}
    assert judge.exchanges == []


@both_doors
def test_a_stop_iteration_of_the_user_is_not_the_end_of_the_path(door: Door) -> None:
    def stop(question: str) -> Any:
        raise StopIteration("Paris")

    with pytest.raises(RuntimeError, match="StopIteration"):
        door.ask(Guard(True_, retriever=stop, generator=lambda q, chunks: "Paris."))


@both_doors
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, UsageError])
def test_what_is_no_failure_of_the_judge_leaves_the_judge_too(door: Door, kind: type[BaseException]) -> None:
    with pytest.raises(kind):
        door.ask(guard_of(ScriptedJudge(kind("out"))))


def test_cancellation_reaches_the_user_and_gives_no_response() -> None:
    async def main() -> None:
        began = asyncio.Event()

        async def hang(exchange: Exchange) -> bool:
            began.set()
            await asyncio.sleep(60)
            return True

        task = asyncio.create_task(guard_of(hang).aask("Q?"))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


# Which functions do.


class Retriever:
    def invoke(self, question: str) -> str:
        return f"invoke {question}"

    async def ainvoke(self, question: str) -> str:
        return f"ainvoke {question}"


class Index:
    def retrieve(self, question: str) -> str:
        return f"retrieve {question}"

    async def aretrieve(self, question: str) -> str:
        return f"aretrieve {question}"


@both_doors
@pytest.mark.parametrize(("retriever", "method"), [(Retriever(), "invoke"), (Index(), "retrieve")])
def test_each_door_uses_the_retrievers_own_method(door: Door, retriever: object, method: str) -> None:
    response = door.ask(Guard(True_, retriever=retriever, generator=lambda q, chunks: chunks[0].text))

    assert response.answer == ("a" if door.is_async else "") + method + " Q?"


async def an_async_retriever(question: str) -> str:
    return "Paris."


async def an_async_generator(question: str, chunks: object) -> str:
    return "Paris."


async def an_async_judge(exchange: Exchange) -> bool:
    return True


ASYNC_PARTS: list[dict[str, Any]] = [
    {"judge": an_async_judge},
    {"retriever": an_async_retriever},
    {"generator": an_async_generator},
    {"judge": lambda exchange: an_async_judge(exchange)},
    {"retriever": lambda question: an_async_retriever(question)},
    {"generator": lambda question, chunks: an_async_generator(question, chunks)},
]


@pytest.mark.parametrize("part", ASYNC_PARTS)
def test_async_parts_work_in_the_async_door_and_are_a_mistake_in_the_plain_one(part: dict[str, Any]) -> None:
    guard = Guard(**{"judge": True_, "retriever": lambda q: "Paris.", "generator": lambda q, c: "Paris.", **part})

    assert ASYNC.ask(guard).status is Status.ANSWERED
    with pytest.raises(UsageError, match="async"):
        PLAIN.ask(guard)


def test_the_plain_door_works_inside_a_running_loop() -> None:
    async def main() -> Response[Any]:
        return guard_of(True_).ask("Q?")

    assert asyncio.run(main()).status is Status.ANSWERED


@both_doors
def test_the_output_is_the_generators_own(door: Door) -> None:
    message = SimpleNamespace(content=[{"type": "text", "text": "Par"}, {"type": "text", "text": "is."}])
    response = door.ask(Guard(True_, retriever=lambda q: "Paris.", generator=lambda q, chunks: message))

    assert response.output is message
    assert response.answer == "Paris."


@both_doors
def test_an_answer_that_is_no_text_is_a_mistake(door: Door) -> None:
    with pytest.raises(UsageError, match="no answer found in a int"):
        door.ask(Guard(True_, retriever=lambda q: "Paris.", generator=lambda q, chunks: 7))


@both_doors
def test_timings_cover_the_stages_that_ran(door: Door) -> None:
    asked = door.ask(guard_of(True_)).timings
    checked = door.check(Guard(True_), answer="Paris.", chunks=[]).timings

    stages = (asked.retrieval, asked.generation, asked.judge)
    assert all(seconds is not None and seconds >= 0 for seconds in stages)
    assert asked.total is not None
    assert asked.total >= sum(seconds or 0 for seconds in stages)
    assert (checked.retrieval, checked.generation, checked.judge) == (None, None, None)


# History.


HISTORY = [("user", "Where is Paris?"), {"role": "assistant", "content": "In France."}, Turn("user", "And Rome?")]
TURNS = (Turn("user", "Where is Paris?"), Turn("assistant", "In France."), Turn("user", "And Rome?"))


@both_doors
def test_history_goes_to_a_generator_that_takes_it_and_to_the_judge(door: Door) -> None:
    seen: list[Any] = []

    def generate(question: str, chunks: object, *, history: object) -> str:
        seen.append(history)
        return "Paris."

    class Generator:
        def __call__(self, question: str, chunks: object, history: object = None) -> str:
            return generate(question, chunks, history=history)

    for generator in (generate, Generator(), door.function(generate)):
        judge = ScriptedJudge(True)
        door.ask(Guard(judge, retriever=lambda q: "Paris.", generator=generator), history=iter(HISTORY))
        assert judge.exchanges[0].history == TURNS
    assert seen == [TURNS, TURNS, TURNS]


@both_doors
def test_history_is_kept_from_a_generator_that_does_not_take_it(door: Door) -> None:
    generator = ScriptedGenerator("Paris.")
    door.ask(Guard(True_, retriever=lambda q: "Paris.", generator=generator), history=HISTORY)
    door.ask(Guard(True_, retriever=lambda q: "Paris.", generator="Paris.".format), history=HISTORY)

    assert len(generator.calls) == 1


@both_doors
@pytest.mark.parametrize("history", ["user: hi", None, 3, {"role": "user", "content": "hi"}, ["hi"], [("user", 3)]])
def test_a_history_that_is_none_is_a_mistake(door: Door, history: Any) -> None:
    with pytest.raises(UsageError, match="history"):
        door.ask(guard_of(True_), history=history)
    with pytest.raises(UsageError, match="history"):
        door.check(Guard(True_), answer="Paris.", chunks="Paris.", history=history)


# Policies.


@dataclasses.dataclass(frozen=True)
class Outcome:
    judge: Any
    chunks: Any
    answer: str
    status: Status


OUTCOMES = {
    "answered": Outcome(True, "Paris is in France.", "Paris.", Status.ANSWERED),
    "unsupported": Outcome(False, "Paris is in France.", "Paris.", Status.UNGROUNDED),
    "judge failed": Outcome(OSError("down"), "Paris is in France.", "Paris.", Status.UNGROUNDED),
    "blank answer": Outcome(True, "Paris is in France.", " ", Status.UNGROUNDED),
    "no chunks": Outcome(True, [], "Paris.", Status.NO_CONTEXT),
    "blank chunks": Outcome(True, " ", "Paris.", Status.NO_CONTEXT),
}
outcomes = pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)


def deliver(door: Door, outcome: Outcome, policy: Policy) -> list[Response[Any]]:
    judge = ScriptedJudge(outcome.judge)
    return [
        door.ask(guard_of(judge, outcome.chunks, outcome.answer, policy=policy)),
        door.check(Guard(judge, policy=policy), answer=outcome.answer, chunks=outcome.chunks),
    ]


@both_doors
@outcomes
def test_return_always_delivers_the_answer(door: Door, outcome: Outcome) -> None:
    for response in deliver(door, outcome, Return()):
        assert response.status is outcome.status
        assert response.answer == response.generated == outcome.answer


@both_doors
@outcomes
def test_raise_raises_on_whatever_is_not_answered(door: Door, outcome: Outcome) -> None:
    if outcome.status is Status.ANSWERED:
        assert {response.answer for response in deliver(door, outcome, Raise())} == {"Paris."}
        return
    kind = NoContextError if outcome.status is Status.NO_CONTEXT else UngroundedError
    with pytest.raises(UngroundedError) as caught:
        deliver(door, outcome, Raise())

    assert type(caught.value) is kind
    assert caught.value.response.status is outcome.status
    assert caught.value.response.answer == caught.value.response.generated == outcome.answer
    assert outcome.answer.strip() not in str(caught.value) or not outcome.answer.strip()
    assert pickle.loads(pickle.dumps(caught.value)).response == caught.value.response


@both_doors
@outcomes
def test_replace_changes_the_answer_and_nothing_else(door: Door, outcome: Outcome) -> None:
    for kept, response in zip(deliver(door, outcome, Return()), deliver(door, outcome, Replace("Sorry.")), strict=True):
        assert response.answer == ("Paris." if outcome.status is Status.ANSWERED else "Sorry.")
        assert response.generated == outcome.answer
        timeless = {"timings": kept.timings, "answer": kept.answer, "verdict": kept.verdict}
        assert dataclasses.replace(response, **timeless) == kept


@both_doors
@outcomes
@pytest.mark.parametrize("policy", [Raise(on={Status.UNGROUNDED}), Replace("Sorry.", on=Status.UNGROUNDED)])
def test_a_policy_can_be_narrowed(door: Door, outcome: Outcome, policy: Policy) -> None:
    if isinstance(policy, Raise) and outcome.status is Status.UNGROUNDED:
        with pytest.raises(UngroundedError):
            deliver(door, outcome, policy)
        return
    for response in deliver(door, outcome, policy):
        assert response.answer == ("Sorry." if outcome.status is Status.UNGROUNDED else outcome.answer)


@both_doors
@pytest.mark.parametrize("chunks", [[], [" "]])
@pytest.mark.parametrize(
    ("policy", "answer"), [(Return(skip_generator=True), ""), (Replace("Sorry.", skip_generator=True), "Sorry.")]
)
def test_the_generator_can_be_skipped_when_nothing_was_retrieved(
    door: Door, chunks: object, policy: Policy, answer: str
) -> None:
    generator = ScriptedGenerator("From memory.")
    response = door.ask(Guard(True_, retriever=lambda q: chunks, generator=generator, policy=policy))

    assert generator.calls == []
    assert (response.answer, response.generated, response.status) == (answer, "", Status.NO_CONTEXT)
    assert response.timings.generation is None

    found = door.ask(Guard(True_, retriever=lambda q: "Paris.", generator=generator, policy=policy))
    assert found.answer == "From memory."


# Wiring mistakes.


@pytest.mark.parametrize(
    "options",
    [
        {"judge": "openai:gpt"},
        {"judge": None},
        {"judge": 3},
        {"judge": FactCheck},
        {"judge": True},
        {"retriever": "bm25"},
        {"retriever": 3},
        {"retriever": dict},
        {"generator": "gpt"},
        {"generator": SimpleNamespace()},
        {"policy": "raise"},
        {"policy": Raise},
        {"policy": None},
        {"retry": 3},
        {"retry": Retry},
        {"timeout": 0},
        {"timeout": -1},
        {"timeout": float("nan")},
        {"timeout": float("inf")},
        {"timeout": True},
        {"timeout": "30"},
        {"capture": None},
        {"capture": "context"},
    ],
    ids=repr,
)
def test_a_wiring_mistake_is_told_at_construction(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Guard(**{"judge": True_, **options})
    with pytest.raises(UsageError):
        Guard(True_).with_options(**options)


@both_doors
@pytest.mark.parametrize("missing", ["retriever", "generator"])
def test_asking_needs_both_parts(door: Door, missing: str) -> None:
    parts = {"retriever": lambda q: "Paris.", "generator": lambda q, c: "Paris."}
    del parts[missing]
    with pytest.raises(UsageError, match=f"needs a {missing}"):
        door.ask(Guard(True_, **parts))


@both_doors
@pytest.mark.parametrize("question", [None, 3, b"Q?", ["Q?"], {"question": "Q?"}])
def test_a_question_is_text(door: Door, question: object) -> None:
    with pytest.raises(UsageError, match="question must be a string"):
        door.ask(guard_of(True_), question)
    with pytest.raises(UsageError, match="question must be a string"):
        door.check(Guard(True_), question, answer="Paris.", chunks="Paris.")


@both_doors
@pytest.mark.parametrize("answer", [None, 3, ["Paris."]])
def test_an_answer_to_check_is_text(door: Door, answer: object) -> None:
    with pytest.raises(UsageError, match="answer must be a string"):
        door.check(Guard(True_), answer=answer, chunks="Paris.")


@both_doors
@pytest.mark.parametrize("chunks", [3, 1.5, object(), an_async_generator])
def test_chunks_that_cannot_be_iterated_over_are_a_mistake(door: Door, chunks: object) -> None:
    with pytest.raises(UsageError, match="chunks are a string or an iterable"):
        door.check(Guard(True_), answer="Paris.", chunks=chunks)
    with pytest.raises(UsageError, match="chunks are a string or an iterable"):
        door.ask(Guard(True_, retriever=lambda q: chunks, generator=lambda q, c: "Paris."))


# Options.


def test_with_options_varies_one_thing_and_leaves_the_guard_alone() -> None:
    guard = guard_of(True_)
    options: dict[str, Any] = {
        "judge": ScriptedJudge(False),
        "policy": Raise(),
        "retry": Retry(attempts=2),
        "timeout": None,
        "capture": Capture(chunks="docs"),
    }
    for name, value in options.items():
        varied = guard.with_options(**{name: value})
        assert getattr(varied, name) == value
        assert getattr(guard, name) != value
        others = [field.name for field in dataclasses.fields(Guard) if field.name != name]
        assert all(getattr(varied, other) == getattr(guard, other) for other in others)
    assert guard.with_options(retriever=lambda q: []).ask("Q?").status is Status.NO_CONTEXT
    assert guard.with_options(generator=lambda q, c: "Rome.").ask("Q?").answer == "Rome."
    assert guard.with_options() == guard


def test_an_unknown_option_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="no option polcy"):
        Guard(True_).with_options(polcy=Raise())


@pytest.mark.parametrize("name", ["judge", "policy", "timeout", "retriever"])
def test_a_guard_is_frozen(name: str) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(Guard(True_), name, None)


def test_a_guards_repr_names_no_parts_of_the_user() -> None:
    assert "lambda" not in repr(Guard(True_, retriever=lambda q: "", generator=lambda q, c: ""))


# Time.


@both_doors
def test_a_judge_that_hangs_is_given_up(door: Door) -> None:
    waiting = threading.Event()

    def hang(exchange: Exchange) -> bool:
        waiting.wait(5)
        return True

    began = time.monotonic()
    response = door.ask(guard_of(hang, timeout=0.05))
    assert time.monotonic() - began < 2
    waiting.set()

    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.JUDGE_TIMEOUT)
    assert response.answer == "Paris."


@both_doors
def test_a_late_yes_changes_nothing(door: Door) -> None:
    waiting, said = threading.Event(), threading.Event()

    def late(exchange: Exchange) -> bool:
        waiting.wait(5)
        said.set()
        return True

    response = door.ask(guard_of(late, timeout=0.05))
    waiting.set()
    assert said.wait(2)

    assert response.status is Status.UNGROUNDED


class Busy(Exception):
    status_code = 503


@both_doors
@pytest.mark.parametrize(("attempts", "status"), [(1, Status.UNGROUNDED), (2, Status.UNGROUNDED), (5, Status.ANSWERED)])
def test_a_busy_judge_is_tried_as_often_as_asked_for(door: Door, attempts: int, status: Status) -> None:
    model = ScriptedModel(*[Busy()] * 4, "yes")
    response = door.ask(guard_of(FactCheck(model), retry=Retry(attempts, initial=0, maximum=0)))

    assert response.status is status
    assert len(model.prompts) == attempts


# A judge of one's own.


class Dumb(Judge):
    @property
    def name(self) -> str:
        return "dumb"

    @property
    def fingerprint(self) -> str:
        return "dumb"

    def flow(self, exchange: Exchange) -> Any:
        return Verdict(Decision.SUPPORTED)
        yield


@both_doors
def test_a_judge_class_of_ones_own_works(door: Door) -> None:
    assert door.ask(guard_of(Dumb())).status is Status.ANSWERED


# Many at once.


def test_one_guard_serves_two_hundred_calls_at_once_and_mixes_nothing() -> None:
    def retrieve(question: str) -> list[str]:
        time.sleep(0.001)
        return [f"{question} one", f"{question} two"]

    async def aretrieve(question: str) -> list[str]:
        await asyncio.sleep(0.001)
        return [f"{question} one", f"{question} two"]

    def judge(exchange: Exchange) -> bool:
        time.sleep(0.001)
        return all(chunk.text.startswith(f"{exchange.answer} ") for chunk in exchange.chunks)

    retriever = SimpleNamespace(invoke=retrieve, ainvoke=aretrieve)
    guard = Guard(judge, retriever=retriever, generator=lambda question, chunks: question)

    async def main() -> list[Response[Any]]:
        return await asyncio.gather(*(guard.aask(f"<{number}>") for number in range(100)))

    with ThreadPoolExecutor(16) as pool:
        threads = [pool.submit(guard.ask, f"<{number}>") for number in range(100, 200)]
        responses = asyncio.run(main()) + [thread.result() for thread in threads]

    assert [response.question for response in responses] == [f"<{number}>" for number in range(200)]
    for response in responses:
        assert response.status is Status.ANSWERED
        assert response.answer == response.question
        assert [chunk.text for chunk in response.chunks] == [f"{response.question} one", f"{response.question} two"]


def test_a_class_where_an_object_belongs_is_a_mistake_at_construction() -> None:
    class Retriever:
        def invoke(self, question: str) -> list[str]:
            return [question]

    with pytest.raises(UsageError, match="the retriever must be a function"):
        Guard(True_, retriever=Retriever)
    assert Guard(True_, retriever=Retriever()).retriever is not None


@both_doors
def test_documents_without_text_are_told_once(door: Door) -> None:
    guard = Guard(
        True_, retriever=lambda question: [{"snippet": "Paris."}], generator=lambda question, chunks: "Paris."
    )
    with pytest.warns(GroundguardWarning, match="none holds visible text.*text, page_content") as told:
        responses = [door.ask(guard), door.ask(guard)]
    assert len(told) == 1
    assert {response.reason for response in responses} == {Reason.BLANK_CHUNKS}


@pytest.mark.parametrize("found", [{"text": "Paris."}, "Paris.", Chunk("Paris.")])
def test_one_document_is_not_taken_apart(found: object) -> None:
    response = Guard(True_, retriever=lambda question: found, generator=lambda question, chunks: "Paris.").ask("Q?")
    assert [chunk.text for chunk in response.chunks] == ["Paris."]


@both_doors
def test_chunks_that_are_found_while_they_are_looked_at_are_found_once(door: Door) -> None:
    class Lazy:
        looks = 0

        def __iter__(self) -> Iterator[str]:
            self.looks += 1
            yield "Paris."

    found = Lazy()
    response = door.ask(Guard(True_, retriever=lambda question: found, generator=lambda question, chunks: "Paris."))
    assert ([chunk.text for chunk in response.chunks], found.looks) == (["Paris."], 1)
