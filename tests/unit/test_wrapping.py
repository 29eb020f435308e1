"""The guard around functions and chains: `@guard`, `@guard.wraps(...)`, `guard.wrap(...)`."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import json
import pickle
import threading
import time
import warnings
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from groundguard import Capture, Chunk, Guard, Reason, Response, Status, UngroundedError, record_chunks
from groundguard.errors import GroundguardWarning, InputError, UsageError
from groundguard.foreign import find_history
from groundguard.policy import Raise, Replace
from groundguard.records import ChunksFrom
from groundguard.testing import ScriptedJudge
from groundguard.wrapping import GuardedChain
from support.doors import ASYNC, PLAIN, Door, both_doors


@pytest.fixture
def judge() -> ScriptedJudge:
    return ScriptedJudge(True)


@pytest.fixture
def guard(judge: ScriptedJudge) -> Guard:
    return Guard(judge)


def texts(response: Response[Any]) -> list[str]:
    return [chunk.text for chunk in response.chunks]


# Every kind of function, by every way to guard it.


def answer(question: str) -> tuple[str, list[str]]:
    """Answer a question."""
    return f"{question} Paris.", ["Paris is in France."]


async def aanswer(question: str) -> tuple[str, list[str]]:
    """Answer a question."""
    return f"{question} Paris.", ["Paris is in France."]


class Answerer:
    """Answers."""

    def __call__(self, question: str) -> tuple[str, list[str]]:
        return answer(question)

    def method(self, question: str) -> tuple[str, list[str]]:
        """Answer a question."""
        return answer(question)


class AsyncAnswerer:
    async def __call__(self, question: str) -> tuple[str, list[str]]:
        return answer(question)

    async def method(self, question: str) -> tuple[str, list[str]]:
        return answer(question)


def scored(score: float, question: str, *, k: int = 3) -> tuple[str, list[str]]:
    return answer(question)


async def ascored(score: float, question: str, *, k: int = 3) -> tuple[str, list[str]]:
    return answer(question)


def logged(fn: Any) -> Any:
    """Another decorator."""

    @functools.wraps(fn)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    @functools.wraps(fn)
    async def ainner(*args: Any, **kwargs: Any) -> Any:
        return await fn(*args, **kwargs)

    return ainner if inspect.iscoroutinefunction(fn) else inner


class Kinds:
    """Methods of every kind, and some that call them with arguments of their own."""

    @classmethod
    def of_class(cls, question: str) -> tuple[str, list[str]]:
        return answer(question)

    @staticmethod
    async def of_nobody(question: str) -> tuple[str, list[str]]:
        return answer(question)

    def with_more(self, score: float, question: str) -> tuple[str, list[str]]:
        return answer(question)

    partly = functools.partialmethod(with_more, 0.5)


FUNCTIONS = {
    "def": (PLAIN, answer),
    "async def": (ASYNC, aanswer),
    "lambda": (PLAIN, lambda question: answer(question)),
    "callable object": (PLAIN, Answerer()),
    "async callable object": (ASYNC, AsyncAnswerer()),
    "bound method": (PLAIN, Answerer().method),
    "async bound method": (ASYNC, AsyncAnswerer().method),
    "partial": (PLAIN, functools.partial(scored, 0.5, k=4)),
    "async partial": (ASYNC, functools.partial(functools.partial(ascored, 0.5), k=4)),
    "partial of an object": (ASYNC, functools.partial(AsyncAnswerer())),
    "functools.wraps": (PLAIN, logged(answer)),
    "async functools.wraps": (ASYNC, logged(logged(aanswer))),
    "class method": (PLAIN, Kinds.of_class),
    "async static method": (ASYNC, Kinds().of_nobody),
    "partial method": (PLAIN, Kinds().partly),
}
functions = pytest.mark.parametrize(("door", "function"), FUNCTIONS.values(), ids=FUNCTIONS)
ways = pytest.mark.parametrize(
    "decorate",
    [lambda guard, fn: guard(fn), lambda guard, fn: guard.wraps()(fn), lambda guard, fn: guard.wrap(fn)],
    ids=["@guard", "@guard.wraps()", "guard.wrap"],
)


@functions
@ways
def test_every_kind_of_function_is_judged_once(
    door: Door, function: Any, decorate: Any, guard: Guard, judge: ScriptedJudge
) -> None:
    response = door.call(decorate(guard, function), "Q?")

    assert isinstance(response, Response)
    assert (response.status, response.answer, response.question) == (Status.ANSWERED, "Q? Paris.", "Q?")
    assert response.output == ("Q? Paris.", ["Paris is in France."])
    (exchange,) = judge.exchanges
    assert exchange.chunks is response.chunks
    assert exchange.answer == "Q? Paris."


@functions
def test_names_docs_and_signature_survive(door: Door, function: Any, guard: Guard) -> None:
    guarded = guard(function)

    assert inspect.signature(guarded).parameters == inspect.signature(function).parameters
    assert guarded.__doc__ == function.__doc__
    assert guarded.__wrapped__ is function
    assert inspect.iscoroutinefunction(guarded) is door.is_async
    for name in ("__name__", "__qualname__", "__module__"):
        assert getattr(guarded, name) == getattr(function, name, getattr(guarded, name))


def pieces(question: str, *, stop: str = ".") -> Any:
    """Answer in pieces."""
    record_chunks(question)
    yield from (question, stop)


async def apieces(question: str, *, stop: str = ".") -> Any:
    """Answer in pieces."""
    record_chunks(question)
    for piece in (question, stop):
        yield piece


class Pieces:
    """Answers in pieces."""

    def __call__(self, question: str) -> Any:
        yield from pieces(question)

    async def method(self, question: str) -> Any:
        async for piece in apieces(question):
            yield piece


GENERATORS = {
    "generator": (PLAIN, pieces),
    "async generator": (ASYNC, apieces),
    "callable object": (PLAIN, Pieces()),
    "async bound method": (ASYNC, Pieces().method),
    "partial": (PLAIN, functools.partial(pieces, stop=".")),
    "async partial": (ASYNC, functools.partial(apieces, stop=".")),
}


@pytest.mark.parametrize(("door", "function"), GENERATORS.values(), ids=GENERATORS)
@ways
def test_every_kind_of_generator_ends_with_a_response(
    door: Door, function: Any, decorate: Any, guard: Guard, judge: ScriptedJudge
) -> None:
    guarded = decorate(guard, function)
    *came, response = door.items(guarded, "Q?")

    assert came == ["Q?", "."]
    assert (response.status, response.answer, texts(response)) == (Status.ANSWERED, "Q?.", ["Q?"])
    assert len(judge.exchanges) == 1
    assert inspect.isasyncgenfunction(guarded) is door.is_async
    assert inspect.isgeneratorfunction(guarded) is not door.is_async
    assert inspect.signature(guarded).parameters == inspect.signature(function).parameters
    assert guarded.__doc__ == function.__doc__


def test_what_a_guarded_function_returns_can_be_read_at_run_time(guard: Guard) -> None:
    for function in (answer, aanswer, Answerer(), lambda question: answer(question)):
        guarded = guard(function)
        assert inspect.signature(guarded).return_annotation is Response
        assert guarded.__annotations__["return"] is Response
    assert inspect.signature(guard(pieces)).return_annotation == Iterator[Response | Any]
    assert inspect.signature(guard(apieces)).return_annotation == AsyncIterator[Response | Any]

    assert inspect.signature(answer).return_annotation == answer.__annotations__["return"] == "tuple[str, list[str]]"
    assert inspect.signature(Answerer().method).return_annotation == "tuple[str, list[str]]"


def test_attributes_of_a_function_survive(guard: Guard) -> None:
    def tagged(question: str) -> tuple[str, list[str]]:
        return answer(question)

    tagged.tag = "kept"  # type: ignore[attr-defined]
    assert guard(tagged).tag == "kept"  # type: ignore[attr-defined]


@both_doors
def test_methods_see_their_object(door: Door, guard: Guard) -> None:
    def respond(self: Any, text: str) -> tuple[str, list[str]]:
        return f"{self.name}: {text}", ["Paris."]

    class Service:
        name = "service"
        ask = guard(door.function(respond))
        ask_static = staticmethod(guard(door.function(answer)))
        ask_class = classmethod(guard(door.function(lambda cls, question: answer(cls.name + question))))

    assert door.call(Service().ask, "Q?").answer == "service: Q?"
    assert door.call(Service().ask, "Q?").question == "Q?"
    assert door.call(Service.ask, Service(), text="Q?").question == "Q?"
    assert door.call(Service().ask_static, "Q?").question == "Q?"
    assert door.call(Service.ask_class, "Q?").answer == "serviceQ? Paris."
    assert door.call(Service.ask_class, "Q?").question == "Q?"


@pytest.mark.parametrize("outer", [staticmethod, classmethod])
def test_the_guard_goes_below_staticmethod_and_classmethod(outer: Any, guard: Guard) -> None:
    with pytest.raises(UsageError, match=f"put the guard below @{outer.__name__}, not above it"):
        guard(outer(answer))


@pytest.mark.parametrize("thing", [None, 3, "function", Answerer, property(answer), [answer]])
def test_what_is_no_function_is_a_mistake(thing: Any, guard: Guard) -> None:
    for decorate in (guard, guard.wraps(), guard.wrap):
        with pytest.raises(UsageError, match="guarded function must be a function"):
            decorate(thing)


def test_a_function_without_arguments_has_no_question(guard: Guard) -> None:
    with pytest.raises(UsageError, match="takes no arguments"):
        guard(lambda: ("A", []))
    with pytest.raises(UsageError, match="doesn't tell its parameters"):
        guard("{}".format)


# The question.


@both_doors
@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (lambda user, question: ("A", "c"), ("u", "Q?"), {}),
        (lambda user, query: ("A", "c"), ("u",), {"query": "Q?"}),
        (lambda query, question: ("A", "c"), ("other",), {"question": "Q?"}),
        (lambda text, k=3: ("A", "c"), ("Q?",), {}),
        (lambda self, text: ("A", "c"), (None, "Q?"), {}),
        (lambda text="Q?": ("A", "c"), (), {}),
        (lambda *, user="u", question="Q?": ("A", "c"), (), {}),
        (lambda *args: ("A", "c"), ("Q?", "more"), {}),
        (lambda **kwargs: ("A", "c"), (), {"question": "Q?", "k": 3}),
        (lambda given: ("A", "c"), ({"query": "Q?"},), {}),
        (lambda messages: ("A", "c"), ([("user", "Q?"), ("assistant", "Hm.")],), {}),
    ],
)
def test_the_question_is_found_among_the_arguments(
    door: Door, function: Any, args: Any, kwargs: Any, guard: Guard
) -> None:
    assert door.call(guard(door.function(function)), *args, **kwargs).question == "Q?"


@both_doors
@pytest.mark.parametrize("args", [(), (3,), (None,), ({"q": "Q?"},)])
def test_no_question_is_a_mistake_before_anything_runs(door: Door, args: Any, guard: Guard) -> None:
    ran: list[object] = []

    def function(*args: object) -> tuple[str, str]:
        ran.append(args)
        return "A", "c"

    with pytest.raises(UsageError, match="no question found"):
        door.call(guard(door.function(function)), *args)
    assert ran == []


@both_doors
def test_wrong_arguments_are_told_as_for_the_function_itself(door: Door, guard: Guard) -> None:
    guarded = guard(door.function(answer))
    for args, kwargs in [((), {}), (("Q?", "more"), {}), (("Q?",), {"k": 3})]:
        with pytest.raises(TypeError, match="argument"):
            door.call(guarded, *args, **kwargs)


@both_doors
def test_the_question_can_be_selected(door: Door, guard: Guard) -> None:
    def function(request: Any, text: str = "text") -> tuple[str, str]:
        return "A", "c"

    function = door.function(function)
    assert door.call(guard.wraps(question="text")(function), None, "Q?").question == "Q?"
    assert door.call(guard.wraps(question="q")(function), {"q": "Q?"}).question == "Q?"
    assert door.call(guard.wraps(question="q")(function), SimpleNamespace(q="Q?")).question == "Q?"
    assert door.call(guard.wraps(question=lambda request: request["q"].upper())(function), {"q": "q?"}).question == "Q?"
    assert door.call(guard.wrap(function, question="text"), None, "Q?").question == "Q?"
    with pytest.raises(UsageError, match="has no 'q' to take the question from"):
        door.call(guard.wraps(question="q")(function), "Q?")


# Answer and chunks.


@both_doors
def test_output_and_chunks_can_be_selected(door: Door, judge: ScriptedJudge) -> None:
    output = {"reply": "Paris.", "answer": "Rome.", "docs": ["named"], "context": ["usual"]}
    function = door.function(lambda question: output)

    response = door.call(Guard(judge).wraps(answer="reply", chunks="docs")(function), "Q?")
    assert (response.answer, texts(response)) == ("Paris.", ["named"])
    assert response.output is output
    assert (response.chunks_from, response.chunks_exact) == (ChunksFrom.OUTPUT, True)

    by_default = Guard(judge, capture=Capture(answer="reply", chunks=lambda output: output["docs"]))
    assert texts(door.call(by_default(function), "Q?")) == ["named"]
    assert door.call(by_default.wraps(answer="answer")(function), "Q?").answer == "Rome."
    assert texts(door.call(by_default.wraps(answer="answer")(function), "Q?")) == ["named"]

    with pytest.raises(UsageError, match="has no 'sources' to take the chunks from"):
        door.call(Guard(judge).wraps(chunks="sources")(function), "Q?")


@both_doors
@pytest.mark.parametrize("output", [("A", []), ("A", None), ("A", iter(())), {"answer": "A", "context": []}])
def test_explicitly_nothing_is_no_chunks_whatever_was_recorded(
    door: Door, output: Any, guard: Guard, judge: ScriptedJudge
) -> None:
    def function(question: str) -> Any:
        record_chunks("recorded")
        return output

    response = door.call(guard(door.function(function)), "Q?")

    assert (response.status, response.reason, response.chunks) == (Status.NO_CONTEXT, Reason.NO_CHUNKS, ())
    assert judge.exchanges == []


@both_doors
def test_nothing_observed_is_told_apart_and_warned_about_once(door: Door, guard: Guard, judge: ScriptedJudge) -> None:
    guarded = guard(door.function(lambda question: "A"))
    with pytest.warns(GroundguardWarning) as caught:
        response = door.call(guarded, "Q?")
    door.call(guarded, "Q?")
    door.call(guard(door.function(lambda question: {"answer": "A"})), "Q?")

    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.RETRIEVAL_NOT_OBSERVED)
    assert (response.chunks_from, response.chunks_exact) == (ChunksFrom.NOT_OBSERVED, False)
    assert response.answer == "A"
    assert judge.exchanges == []
    (warning,) = caught
    for way in ("(answer, chunks)", "chunks='KEY'", "record_chunks(chunks)", "LangChain retriever"):
        assert way in str(warning.message)


@both_doors
def test_a_warning_made_an_error_leaves_no_response(door: Door, guard: Guard) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(GroundguardWarning):
            door.call(guard(door.function(lambda question: "A")), "Q?")


# Recording.


@both_doors
def test_recorded_chunks_add_up_in_order(door: Door, guard: Guard) -> None:
    def search(*chunks: str) -> None:
        record_chunks(chunks)

    def function(question: str) -> str:
        search("a", "b")
        search()
        search("a")
        return "A"

    response = door.call(guard(door.function(function)), "Q?")

    assert texts(response) == ["a", "b", "a"]
    assert (response.chunks_from, response.chunks_exact) == (ChunksFrom.RECORDED, True)
    assert response.status is Status.ANSWERED


@both_doors
def test_recording_nothing_is_a_report(door: Door, guard: Guard, judge: ScriptedJudge) -> None:
    def function(question: str) -> str:
        record_chunks([])
        return "A"

    response = door.call(guard(door.function(function)), "Q?")
    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.NO_CHUNKS)
    assert judge.exchanges == []


@both_doors
def test_the_judge_is_given_the_very_chunks_that_were_recorded(door: Door, guard: Guard, judge: ScriptedJudge) -> None:
    kept: list[tuple[Chunk, ...]] = []

    def function(question: str) -> str:
        kept.append(record_chunks(["a", "b"]))
        return "A"

    response = door.call(guard(door.function(function)), "Q?")
    assert judge.exchanges[0].chunks is response.chunks
    assert all(seen is given for seen, given in zip(response.chunks, kept[0], strict=True))


@both_doors
def test_what_comes_too_late_is_ignored(door: Door, guard: Guard) -> None:
    contexts: list[contextvars.Context] = []

    def function(question: str) -> str:
        record_chunks("in time")
        contexts.append(contextvars.copy_context())
        return "A"

    response = door.call(guard(door.function(function)), "Q?")
    contexts[0].run(record_chunks, "late")
    record_chunks("outside")

    assert texts(response) == ["in time"]


def test_a_judge_that_records_adds_no_evidence() -> None:
    def judge(exchange: Any) -> bool:
        record_chunks("made up by the judge")
        return True

    def function(question: str) -> str:
        record_chunks("found")
        return "A"

    assert texts(Guard(judge)(function)("Q?")) == ["found"]


def test_a_task_of_the_function_reports_to_the_call_that_started_it(guard: Guard) -> None:
    async def search(text: str) -> None:
        await asyncio.sleep(0.001)
        record_chunks(text)

    @guard
    async def function(question: str) -> str:
        await asyncio.gather(search(f"{question} a"), search(f"{question} b"))
        return "A"

    async def main() -> list[Response[str]]:
        return await asyncio.gather(*(function(f"{number}") for number in range(20)))

    for number, response in enumerate(asyncio.run(main())):
        assert sorted(texts(response)) == [f"{number} a", f"{number} b"]


def in_executor(fn: Any, *args: Any) -> None:
    with ThreadPoolExecutor(2) as pool:
        pool.submit(contextvars.copy_context().run, fn, *args).result()


def in_thread(fn: Any, *args: Any) -> None:
    thread = threading.Thread(target=contextvars.copy_context().run, args=(fn, *args))
    thread.start()
    thread.join()


@both_doors
@pytest.mark.parametrize("elsewhere", [in_executor, in_thread])
def test_a_thread_with_a_copied_context_reports_to_the_call_that_started_it(
    elsewhere: Any, door: Door, guard: Guard
) -> None:
    def function(question: str) -> str:
        record_chunks("here")
        elsewhere(record_chunks, question)
        return "A"

    for question in ("one", "two"):
        assert texts(door.call(guard(door.function(function)), question)) == ["here", question]


async def in_task(fn: Any, *args: Any) -> None:
    async def call() -> None:
        await asyncio.sleep(0)
        fn(*args)

    await asyncio.create_task(call())


async def in_task_group(fn: Any, *args: Any) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(in_task(fn, *args))


async def in_the_loops_executor(fn: Any, *args: Any) -> None:
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, contextvars.copy_context().run, fn, *args)


@pytest.mark.parametrize("elsewhere", [in_task, in_task_group, asyncio.to_thread, in_the_loops_executor])
def test_whatever_a_coroutine_starts_reports_to_it(elsewhere: Any, guard: Guard) -> None:
    @guard
    async def function(question: str) -> str:
        await elsewhere(record_chunks, question)
        return "A"

    @guard
    async def generator(question: str) -> AsyncIterator[str]:
        yield "A"
        await elsewhere(record_chunks, question)
        yield "B"

    async def main() -> list[Any]:
        calls = [function(f"{number}") for number in range(10)]
        streams = [drained(generator(f"{number}")) for number in range(10, 20)]
        return [*await asyncio.gather(*calls), *(items[-1] for items in await asyncio.gather(*streams))]

    assert [texts(response) for response in asyncio.run(main())] == [[f"{number}"] for number in range(20)]


async def drained(stream: Any) -> list[Any]:
    return [item async for item in stream]


def test_a_guarded_function_below_a_guarded_function_keeps_its_chunks_to_itself(guard: Guard) -> None:
    @guard
    def inner(question: str) -> str:
        record_chunks("inner")
        return "I"

    @guard
    def outer(question: str) -> str:
        record_chunks("outer")
        return inner(question).answer

    assert texts(outer("Q?")) == ["outer"]


def test_a_guarded_response_can_be_guarded_again(judge: ScriptedJudge) -> None:
    inner = Guard(ScriptedJudge(False), policy=Replace("Sorry."))(answer)
    response = Guard(judge).wrap(inner)("Q?")

    assert judge.exchanges[0].answer == "Sorry."
    assert texts(response) == ["Paris is in France."]


# Errors and policies.


@both_doors
def test_the_functions_own_error_comes_out_as_it_is(door: Door, guard: Guard, judge: ScriptedJudge) -> None:
    error = LookupError("mine")

    def function(question: str) -> str:
        raise error

    with pytest.raises(LookupError) as caught:
        door.call(guard(door.function(function)), "Q?")
    assert caught.value is error
    assert judge.exchanges == []


def test_a_plain_function_that_returns_an_awaitable_is_a_mistake(guard: Guard) -> None:
    with pytest.raises(UsageError, match="async"):
        guard(lambda question: aanswer(question))("Q?")


@pytest.mark.parametrize("output", [iter(["a", "b"]), 3, None])
def test_an_output_without_an_answer_is_a_mistake(output: object, guard: Guard) -> None:
    with pytest.raises(UsageError, match="no answer found"):
        guard(lambda question: output)("Q?")


@functions
def test_policies_apply_to_every_kind_of_function(door: Door, function: Any) -> None:
    refusing = ScriptedJudge(False)

    with pytest.raises(UngroundedError) as caught:
        door.call(Guard(refusing, policy=Raise())(function), "Q?")
    assert caught.value.response.output == ("Q? Paris.", ["Paris is in France."])

    replaced = door.call(Guard(refusing, policy=Replace("Sorry."))(function), "Q?")
    assert (replaced.answer, replaced.generated, replaced.status) == ("Sorry.", "Q? Paris.", Status.UNGROUNDED)


# Chains.


class Chain:
    """Has both methods; says which was used and what it was given."""

    def invoke(self, given: Any, config: Any = None, **kwargs: Any) -> dict[str, Any]:
        return {"answer": "invoke", "context": ["c"], "given": (given, config, kwargs)}

    async def ainvoke(self, given: Any, config: Any = None, **kwargs: Any) -> dict[str, Any]:
        return {"answer": "ainvoke", "context": ["c"], "given": (given, config, kwargs)}


@both_doors
@pytest.mark.parametrize("given", ["Q?", {"question": "Q?"}, [("user", "Q?")]])
def test_each_door_of_a_chain_uses_its_own(door: Door, given: Any, guard: Guard, judge: ScriptedJudge) -> None:
    chain = guard.wrap(Chain())
    assert isinstance(chain, GuardedChain)

    response = door.invoke(chain, given)
    assert response.answer == ("ainvoke" if door.is_async else "invoke")
    assert response.output["given"] == (given, None, {})
    assert response.question == "Q?"
    assert len(judge.exchanges) == 1

    more = door.call(chain.ainvoke if door.is_async else chain.invoke, given, {"tags": ["t"]}, stop="x")
    assert more.output["given"] == (given, {"tags": ["t"]}, {"stop": "x"})


def test_a_chain_with_one_door_has_one_door(guard: Guard) -> None:
    plain = SimpleNamespace(invoke=lambda given: ("A", "c"))
    only_async = SimpleNamespace(ainvoke=aanswer)

    assert PLAIN.invoke(guard.wrap(plain), "Q?").status is Status.ANSWERED
    assert ASYNC.invoke(guard.wrap(plain), "Q?").status is Status.ANSWERED
    assert ASYNC.invoke(guard.wrap(only_async), "Q?").status is Status.ANSWERED
    with pytest.raises(UsageError, match="async"):
        PLAIN.invoke(guard.wrap(only_async), "Q?")


def test_a_guarded_chain_offers_no_way_round_the_guard(guard: Guard) -> None:
    class Streaming(Chain):
        def stream(self, given: Any) -> Any: ...

        def batch(self, given: Any) -> Any: ...

        def __call__(self, given: Any) -> Any: ...

    chain = guard.wrap(Streaming())
    assert {name for name in dir(chain) if not name.startswith("_")} == {
        "ainvoke",
        "capture",
        "chain",
        "invoke",
        "paths",
    }
    assert not callable(chain)


@both_doors
def test_selectors_of_a_chain(door: Door, guard: Guard) -> None:
    def invoke(given: object) -> dict[str, Any]:
        return {"reply": "A", "docs": ["d"]}

    chain = SimpleNamespace(invoke=invoke, ainvoke=ASYNC.function(invoke))
    response = door.invoke(guard.wrap(chain, question="q", answer="reply", chunks="docs"), {"q": "Q?"})
    assert (response.question, response.answer, texts(response)) == ("Q?", "A", ["d"])

    with pytest.raises(UsageError, match="no question found"):
        door.invoke(guard.wrap(chain), {"q": "Q?"})


@pytest.mark.parametrize("chain", [SimpleNamespace(), 3, None])
def test_what_is_no_chain_is_a_mistake(chain: Any, guard: Guard) -> None:
    with pytest.raises(UsageError):
        guard.wrap(chain)


def test_a_frozen_chain(guard: Guard) -> None:
    with pytest.raises(AttributeError):
        guard.wrap(Chain()).chain = None


# Threads.


def test_a_blocking_function_leaves_the_loop_alone() -> None:
    ticks: list[float] = []

    def blocking(given: object) -> Any:
        time.sleep(0.15)
        return True if hasattr(given, "chunks") else ("A", "c")

    async def main() -> Response[Any]:
        async def tick() -> None:
            while True:
                ticks.append(time.monotonic())
                await asyncio.sleep(0.01)

        heart = asyncio.create_task(tick())
        response = await Guard(blocking).wrap(SimpleNamespace(invoke=blocking)).ainvoke("Q?")
        heart.cancel()
        return response

    assert asyncio.run(main()).status is Status.ANSWERED
    assert len(ticks) > 12


def test_one_guarded_function_for_many_threads_and_tasks() -> None:
    def check(exchange: Any) -> bool:
        return all(chunk.text == exchange.question for chunk in exchange.chunks) and len(exchange.chunks) == 2

    guard = Guard(check)
    running = threading.Barrier(16)

    @guard
    def plain(question: str) -> str:
        record_chunks(question)
        time.sleep(0.001)
        record_chunks(question)
        return question

    @guard
    async def coroutine(question: str) -> str:
        record_chunks(question)
        await asyncio.sleep(0.001)
        record_chunks(question)
        return question

    def work(number: int) -> list[Response[str]]:
        running.wait(5)
        return [plain(f"<{number}.{repeat}>") for repeat in range(6)]

    async def main() -> list[Response[str]]:
        return await asyncio.gather(*(coroutine(f"<{number}>") for number in range(104)))

    with ThreadPoolExecutor(16) as pool:
        work_in_threads = [pool.submit(work, number) for number in range(16)]
        responses = asyncio.run(main())
        for future in work_in_threads:
            responses += future.result()

    assert len(responses) == 200
    for response in responses:
        assert response.status is Status.ANSWERED
        assert texts(response) == [response.question] * 2


@both_doors
def test_a_response_travels_without_the_chains_output(door: Door, guard: Guard) -> None:
    response = door.invoke(
        guard.wrap(SimpleNamespace(invoke=lambda q: {"lock": threading.Lock(), "answer": "A", "context": "c"})), "Q?"
    )
    assert pickle.loads(pickle.dumps(response)) == response
    assert pickle.loads(pickle.dumps(response)).output is None


def test_another_decorator_may_hand_in_arguments_of_its_own() -> None:
    def injecting(fn: Any) -> Any:
        @functools.wraps(fn)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, client="client", **kwargs)

        return inner

    @Guard(ScriptedJudge(True))
    @injecting
    def ask(question: str, client: str) -> Any:
        return f"Paris, says {client}.", ["Paris."]

    assert ask("Where?").question == ask(question="Where?").question == "Where?"
    with pytest.raises(TypeError):
        ask()

    @injecting
    def generate(question: str, chunks: Any, client: str) -> str:
        return "Paris."

    guard = Guard(ScriptedJudge(True), retriever=lambda question: ["Paris."], generator=generate)
    assert guard.ask("Where?").status == "answered"


def test_a_function_of_any_arguments_may_be_called_by_keyword() -> None:
    @Guard(ScriptedJudge(True))
    def ask(*args: Any, **kwargs: Any) -> Any:
        return "Paris.", ["Paris."]

    assert ask("Where?").question == ask(question="Where?").question == "Where?"


class Module:
    """Takes whatever it is given by keyword, as DSPy modules do."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return SimpleNamespace(reply=f"{kwargs}", passages=["p"])

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        return self(*args, **kwargs)


@both_doors
def test_a_callable_object_that_is_called_by_keyword(door: Door, guard: Guard) -> None:
    module = Module().acall if door.is_async else Module()
    ask = guard.wrap(module, question="question", chunks="passages", answer="reply")

    response = door.call(ask, question="Q?", query="other", k=3)
    assert (response.question, response.answer) == ("Q?", "{'question': 'Q?', 'query': 'other', 'k': 3}")
    assert texts(response) == ["p"]
    with pytest.raises(UsageError, match="has no 'question' to take the question from"):
        door.call(ask, q="Q?")


def test_pydantic_writes_and_reads_a_response_as_it_does_itself(guard: Guard) -> None:
    pydantic = pytest.importorskip("pydantic")
    response = guard(answer)("Q?")

    for kind in (Response, Response | Any):
        adapter = pydantic.TypeAdapter(kind)
        assert adapter.validate_python(response) is response
        assert adapter.dump_python(response) == response.to_dict()
        assert json.loads(adapter.dump_json(response)) == response.to_dict()
    adapter = pydantic.TypeAdapter(Response)
    assert adapter.validate_python(response.to_dict()) == response
    assert adapter.validate_json(adapter.dump_json(response)) == response
    assert adapter.json_schema(mode="serialization")["type"] == "object"
    for forged in ({}, response.to_dict() | {"verdict": None}, response.to_dict() | {"chunks": []}, "answered"):
        with pytest.raises((InputError, ValueError)):
            adapter.validate_python(forged)


# What was said before.

SAID = [("user", "Is it blue?"), ("assistant", "Yes.")]


@both_doors
@pytest.mark.parametrize("name", ["history", "chat_history"])
def test_the_judge_reads_the_history_that_a_function_is_given(door, name):
    def plain(question, **given):
        assert given[name] == SAID
        return "12 volts.", ["It runs on 12 volts."]

    def pieces(question, **given):
        assert given[name] == SAID
        yield "12 volts.", ["It runs on 12 volts."]

    judge = ScriptedJudge(True)
    door.call(Guard(judge)(door.function(plain)), "Which voltage?", **{name: SAID})
    streamed = Guard(judge)(door.generator(pieces))
    door.items(lambda: streamed("Which voltage?", **{name: SAID}))
    assert [[(turn.role, turn.content) for turn in exchange.history] for exchange in judge.exchanges] == [SAID, SAID]


def test_a_history_by_position_is_found_too():
    judge = ScriptedJudge(True)
    Guard(judge)(lambda question, history: ("12 volts.", ["It runs on 12 volts."]))("Which voltage?", SAID)
    assert [turn.content for turn in judge.exchanges[0].history] == ["Is it blue?", "Yes."]


@both_doors
def test_the_judge_reads_the_messages_before_the_question_of_a_chain(door):
    class Chain:
        def invoke(self, given):
            return {"answer": "12 volts.", "context": ["It runs on 12 volts."]}

        async def ainvoke(self, given):
            return self.invoke(given)

    judge = ScriptedJudge(True)
    door.invoke(Guard(judge).wrap(Chain()), {"messages": [*SAID, ("user", "Which voltage?")]})
    assert [turn.content for turn in judge.exchanges[0].history] == ["Is it blue?", "Yes."]
    assert judge.exchanges[0].question == "Which voltage?"


class Unreadable(list[Any]):
    """Messages in a store that is down."""

    def __reversed__(self) -> Iterator[Any]:
        raise ConnectionError("down")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("Q?", []),
        ({"question": "Q?"}, []),
        ({"question": "Q?", "chat_history": "Human: hello"}, []),
        ({"question": "Q?", "chat_history": None}, []),
        ({"question": "Q?", "chat_history": []}, []),
        ({"question": "Q?", "chat_history": [object(), ("system", "Be brief."), ("tool", "12 V"), *SAID]}, SAID),
        ({"question": "Q?", "history": [("user", ""), ("ai", "Hello.")]}, [("ai", "Hello.")]),
        ([*SAID, ("user", "Q?"), ("assistant", "")], SAID),
        ({"input": [*SAID, ("user", "Q?")]}, SAID),
        ({"messages": [("assistant", "Hello.")]}, []),
        ({"messages": 3}, []),
        (
            {"chat_history": [("user", "x" * 8_000), ("user", "y" * 7_990), ("ai", "Hello.")]},
            [("user", "y" * 7_990), ("ai", "Hello.")],
        ),
        ({"chat_history": Unreadable([("user", "Hello.")])}, []),
        ({"chat_history": [("user", str(number)) for number in range(30)]}, [("user", str(n)) for n in range(20, 30)]),
    ],
)
def test_the_history_of_an_input_is_what_can_be_read_of_it(given, said):
    assert [(turn.role, turn.content) for turn in find_history(given)] == said


def test_the_question_is_no_part_of_what_was_said_before_it():
    judge = ScriptedJudge(True)
    Guard(judge)(lambda chat_history: ("12 volts.", ["It runs on 12 volts."]))([*SAID, ("user", "Which voltage?")])
    (exchange,) = judge.exchanges
    assert (exchange.question, [turn.content for turn in exchange.history]) == (
        "Which voltage?",
        ["Is it blue?", "Yes."],
    )
