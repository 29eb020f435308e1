"""Uses of the public API, type-checked by mypy and pyright and never run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Generator, Iterator
from typing import Any, assert_type

from groundguard import (
    Capture,
    Chunk,
    Decision,
    Exchange,
    GroundguardError,
    Guard,
    Reason,
    Response,
    Retry,
    Status,
    UngroundedError,
    Verdict,
    record_chunks,
)
from groundguard.errors import NoContextError, UsageError
from groundguard.integrations.llama_index import GuardedChatEngine, GuardedQueryEngine
from groundguard.judges import FactCheck, Judge, Lexical
from groundguard.models import Model, Prompt, Reply, as_model
from groundguard.policy import Feedback, Policy, Prune, Raise, Regenerate, Replace, Return, Revision
from groundguard.records import Attempt, ChunksFrom, Timings, Usage
from groundguard.streaming import AsyncStream, Mode, Stream
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever

# Guards.


def judge(exchange: Exchange) -> bool:
    assert_type(exchange.question, str)
    assert_type(exchange.chunks, tuple[Chunk, ...])
    assert_type(exchange.answer, str)
    return True


async def ajudge(exchange: Exchange) -> Verdict:
    return Verdict(Decision.UNKNOWN, Reason.JUDGE_REFUSED, score=0.5, detail="why")


def retrieve(question: str) -> list[str]:
    return [question]


def generate(question: str, chunks: tuple[Chunk, ...], *, history: object = ()) -> str:
    return question


def complete(prompt: str) -> str:
    return prompt


guard = Guard(
    FactCheck("openai:name", instructions="…", constrained=True),
    retriever=retrieve,
    generator=generate,
    policy=Replace("Sorry.", on={Status.UNGROUNDED}, skip_generator=False),
    retry=Retry(attempts=5, initial=0.1, maximum=2.0),
    timeout=None,
    capture=Capture(question="q", chunks=lambda output: output["docs"], answer="reply", retriever_events=False),
)
Guard(judge)
Guard(ajudge, policy=Return(skip_generator=True))
Guard(Lexical(), policy=Raise(on=[Status.NO_CONTEXT]), timeout=3)
Guard(FactCheck(complete))
Guard(
    ScriptedJudge(True, Decision.UNKNOWN, ValueError()),
    retriever=ScriptedRetriever(["a"]),
    generator=ScriptedGenerator("A"),
)


def regenerate(question: str, chunks: tuple[Chunk, ...], *, feedback: Feedback | None = None) -> str:
    return question if feedback is None else f"{feedback} {feedback.answer} {feedback.reason} {feedback.claims[0].text}"


composed = Regenerate(2, then=Prune(then=Raise(), on={Status.UNGROUNDED}), on_failure=True, on=[Status.UNGROUNDED])
assert_type(Guard(judge, retriever=retrieve, generator=regenerate, policy=composed), Guard)
assert_type(composed.skip_generator, bool)
assert_type(composed.regenerates, bool)
assert_type(composed.then, Policy)
Regenerate(2)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
Prune()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
Prune("x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


class Shorten(Policy):
    """A policy of one's own."""

    skip_generator = True

    def revise(self, response: Response[Any]) -> Revision | None:
        return Revision(Return(), response.generated[:10], ("rest",))

    def settle(self, response: Response[Any]) -> Response[Any]:
        return response


assert_type(guard.with_options(policy=Raise()), Guard)
assert_type(guard.judge, Judge)
assert_type(guard.policy, Policy)
assert_type(guard.timeout, float | None)
Guard("openai:name").ask("a string is no judge: refused when it runs, since a judge may be any object")
guard.timeout = 3  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
Guard(judge, Raise())  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
Guard(judge, policy="raise")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# Doors.

assert_type(guard.ask("Q?"), Response[Any])
assert_type(guard.ask("Q?", history=[("user", "Hi"), {"role": "assistant", "content": "Hello"}]), Response[Any])
assert_type(
    guard.check("Q?", answer="A", chunks=["c", Chunk("d", id="1", score=0.5, metadata={"k": 1})]), Response[None]
)
guard.ask(question=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
guard.check("Q?", "A", [])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


async def doors() -> None:
    assert_type(await guard.aask("Q?", history=()), Response[Any])
    assert_type(await guard.acheck("Q?", answer="A", chunks="c"), Response[None])


# What comes out.


def widen(response: Response[object]) -> None:
    assert_type(response.output, object)


def read(response: Response[list[int]]) -> None:
    assert_type(response.answer, str)
    assert_type(response.generated, str)
    assert_type(response.status, Status)
    assert_type(response.reason, Reason)
    assert_type(response.verdict, Verdict | None)
    assert_type(response.question, str)
    assert_type(response.chunks, tuple[Chunk, ...])
    assert_type(response.chunks_from, ChunksFrom)
    assert_type(response.chunks_exact, bool)
    assert_type(response.timings, Timings)
    assert_type(response.attempts, tuple[Attempt, ...])
    assert_type(response.attempts[0].removed, tuple[str, ...])
    assert_type(response.usage, Usage | None)
    assert_type(response.evidence_digest, str)
    assert_type(response.output, list[int])
    assert_type(response.to_dict(), dict[str, Any])
    assert_type(Response.from_dict({}), Response[None])
    widen(response)
    response.status = Status.ANSWERED  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def catch() -> Response[Any] | None:
    try:
        return guard.ask("Q?")
    except NoContextError as error:
        return assert_type(error.response, Response[Any])
    except UngroundedError as error:
        return assert_type(error.response, Response[Any])
    except (UsageError, GroundguardError):
        return None


# The decorator: six overloads, each also with selectors.


@guard
def plain(question: str, k: int = 3) -> tuple[str, list[str]]:
    return question, [chunk.text for chunk in record_chunks(["c"])]


assert_type(plain("Q?"), Response[tuple[str, list[str]]])
assert_type(plain(question="Q?", k=4), Response[tuple[str, list[str]]])
assert_type(plain("Q?").output, tuple[str, list[str]])
plain()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
plain("Q?", k="3")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@guard
async def coroutine(question: str, *, k: int = 3) -> dict[str, Any]:
    return {"answer": question, "context": [k]}


@guard
def generator(question: str) -> Generator[str, None, None]:
    yield question


@guard
def iterator(question: str) -> Iterator[str | dict[str, Any]]:
    yield question


@guard
async def async_generator(question: str) -> AsyncGenerator[str, None]:
    yield question


@guard
async def async_iterator(question: str) -> AsyncIterator[tuple[str, list[str]]]:
    yield question, ["c"]


assert_type(generator("Q?"), Iterator[str | Response[tuple[str, ...]]])
assert_type(iterator("Q?"), Iterator[str | dict[str, Any] | Response[tuple[str | dict[str, Any], ...]]])
assert_type(async_generator("Q?"), AsyncIterator[str | Response[tuple[str, ...]]])
assert_type(async_iterator("Q?"), AsyncIterator[tuple[str, list[str]] | Response[tuple[tuple[str, list[str]], ...]]])


async def consume() -> None:
    assert_type(await coroutine("Q?", k=4), Response[dict[str, Any]])
    await coroutine("Q?", 4)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    pending: Coroutine[Any, Any, Response[dict[str, Any]]] = coroutine("Q?")
    await pending
    for piece in generator("Q?"):
        if isinstance(piece, Response):
            assert_type(piece.output, tuple[str, ...])
        else:
            assert_type(piece, str)
    async for item in async_generator("Q?"):
        assert_type(item.answer if isinstance(item, Response) else item, str)


@guard.wraps(question="text", chunks="docs", answer=lambda output: output["reply"])
def selected(user: int, text: str) -> dict[str, Any]:
    return {"reply": text, "docs": [], "user": user}


@guard.wraps()
async def selected_coroutine(text: str) -> str:
    return text


@guard.wraps(question="text")
def selected_generator(text: str) -> Iterator[str]:
    yield text


@guard.wraps(question=lambda given: given["q"])
async def selected_async_generator(given: dict[str, str]) -> AsyncIterator[str]:
    yield given["q"]


assert_type(selected(1, "Q?"), Response[dict[str, Any]])
assert_type(selected_generator("Q?"), Iterator[str | Response[tuple[str, ...]]])
assert_type(selected_async_generator({}), AsyncIterator[str | Response[tuple[str, ...]]])
selected(1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
guard.wraps("text")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
guard(3)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]


class Service:
    """Methods keep their `self`."""

    @guard
    def ask(self, question: str) -> str:
        return question

    @guard
    async def aask(self, question: str) -> str:
        return question

    @guard
    def stream(self, question: str) -> Iterator[str]:
        yield question

    @staticmethod
    @guard
    def ask_static(question: str) -> str:
        return question

    def helper(self, question: str) -> int:
        return len(question)


assert_type(Service().ask_static("Q?"), Response[str])
assert_type(Service.ask(Service(), "Q?"), Response[str])
assert_type(guard(Service().helper)("Q?"), Response[int])

# Wrapping: the six kinds of functions, as the decorator; engines; and whatever has `invoke`.


def whole(question: str, k: int = 3) -> dict[str, Any]:
    return {"answer": question, "context": [k]}


async def awaits(question: str) -> tuple[str, list[str]]:
    return question, []


def generates(question: str) -> Generator[str, None, None]:
    yield question


def iterates(question: str) -> Iterator[str]:
    yield question


async def agenerates(question: str) -> AsyncGenerator[str, None]:
    yield question


async def aiterates(question: str) -> AsyncIterator[str]:
    yield question


class Engine:
    """A LlamaIndex query engine."""

    def query(self, str_or_query_bundle: str) -> list[str]:
        return [str_or_query_bundle]


class Chat:
    """A LlamaIndex chat engine."""

    def chat(self, message: str) -> list[str]:
        return [message]


class Module:
    """A callable object."""

    def __call__(self, question: str) -> list[str]:
        return [question]


class Chain:
    """A chain that can be called, too."""

    def invoke(self, given: object) -> str:
        return str(given)

    def __call__(self, given: object) -> str:
        return str(given)


class AsyncChain:
    """A chain with one door."""

    async def ainvoke(self, given: object) -> str:
        return str(given)


assert_type(guard.wrap(whole)("Q?", k=4), Response[dict[str, Any]])
assert_type(guard.wrap(whole, question="question", chunks="context", answer="answer")("Q?").output, dict[str, Any])
assert_type(guard.wrap(generates)("Q?"), Iterator[str | Response[tuple[str, ...]]])
assert_type(guard.wrap(iterates)("Q?"), Iterator[str | Response[tuple[str, ...]]])
assert_type(guard.wrap(agenerates)("Q?"), AsyncIterator[str | Response[tuple[str, ...]]])
assert_type(guard.wrap(aiterates, answer=str)("Q?"), AsyncIterator[str | Response[tuple[str, ...]]])
assert_type(guard.wrap(Module())("Q?"), Response[list[str]])
assert_type(guard.wrap(Service().helper)("Q?").output, int)
assert_type(guard.wrap(Engine(), chunks="nodes"), GuardedQueryEngine)
assert_type(guard.wrap(Engine()).query("Q?"), Response[Any])
assert_type(guard.wrap(Engine()).stream("Q?"), Generator[str | Response[Any], None, None])
assert_type(guard.wrap(Chat()), GuardedChatEngine)
assert_type(guard.wrap(Chat()).stream_chat("Q?"), Generator[str | Response[Any], None, None])
assert_type(guard.wrap(Chain()), Any)
assert_type(guard.wrap(AsyncChain(), question="q", chunks="docs", answer="reply"), Any)
guard.wrap(3)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
guard.wrap(whole)()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
guard.wrap(whole, chunk="context")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]


async def wrapped() -> None:
    assert_type(await guard.wrap(awaits)("Q?"), Response[tuple[str, list[str]]])
    assert_type(await guard.wrap(Engine()).aquery("Q?"), Response[Any])
    assert_type(await guard.wrap(Chat()).achat("Q?"), Response[Any])
    async for item in guard.wrap(Chat()).astream_chat("Q?"):
        assert_type(item, str | Response[Any])


# Streams.

mode: Mode = "hold"
Guard(Lexical(), streaming=mode)
Guard(Lexical(), streaming="before")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
assert_type(guard.stream("Q?"), Stream)
assert_type(guard.stream("Q?").response, Response[Any])
assert_type(guard.astream("Q?", history=[("user", "Hi")]), AsyncStream)

# Chunks.

assert_type(record_chunks(["a", {"text": "b"}]), tuple[Chunk, ...])
assert_type(str(Chunk("a")), str)

# Judges and models.

assert_type(FactCheck("openai:name")(Exchange("Q?", (Chunk("c"),), "A")), Verdict)
assert_type(as_model("openai:name"), Model)
assert_type(ScriptedModel("yes", Reply("no"), ValueError()).prompts, list[Prompt])


async def awaited() -> None:
    async with guard.astream("Q?") as stream:
        assert_type(stream, AsyncStream)
    assert_type(await selected_coroutine("Q?"), Response[str])
    assert_type(await Service().aask("Q?"), Response[str])
    assert_type(await Lexical().acall(Exchange("Q?", (), "A")), Verdict)
