"""The path of one query: retrieve, generate, judge, label, act, respond; observed all along.

Each path below is written once, as a flow; `flow/drive.py` runs it, plain or async. Whatever goes wrong while judging
becomes a verdict; whatever goes wrong in the user's own retriever or generator reaches the user untouched.
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from typing import Any

from groundguard import many, options
from groundguard.capture import Capture, Found, Recorder, deaf, find_chunks
from groundguard.chunks import freeze
from groundguard.conversation import EvidenceRule, Session
from groundguard.errors import UsageError
from groundguard.flow.drive import arun, run
from groundguard.flow.steps import Call, Callee, Emit, Flow, Scope, scoped
from groundguard.foreign import Selector, as_turns, find_answer
from groundguard.integrations.llama_index import guard_engine, is_engine
from groundguard.judges import Judge, as_judge, judged
from groundguard.judging import Again, Decided, Draft, Generated, decide
from groundguard.policy import Policy, Return, as_policy
from groundguard.query import Query
from groundguard.records import Chunk, ChunksFrom, Exchange, Response, Turn, Verdict
from groundguard.retry import Retry
from groundguard.status import unasked
from groundguard.streaming import AsyncStream, Mode, Stream
from groundguard.streaming.collecting import collect
from groundguard.streaming.gate import Gate
from groundguard.streaming.modes import After, Hold, Outlet, as_mode
from groundguard.streaming.pieces import Collected
from groundguard.telemetry import Watch, watched
from groundguard.typed import Wrapper
from groundguard.wrapping import CHAIN_METHODS, GuardedChain, Wraps, decorate

RETRIEVER_METHODS = (("invoke", "ainvoke"), ("retrieve", "aretrieve"))


@dataclass(frozen=True, init=False)
class Guard(Wrapper):
    """Wraps a retriever and a generator, or a chain of both, and labels every answer.

    Frozen and safe to share between threads and tasks; vary it with `with_options`.

    Args:
        judge: Who decides: `FactCheck(model)`, `Lexical()`, or any function `(Exchange) -> Verdict | bool`.
        retriever: For `ask`: a function from question to chunks, or an object with `invoke` or `retrieve`.
        generator: For `ask`: a function `(question, chunks) -> answer`; it may also take `history` and `feedback`, and
            give its answer in pieces.
        policy: What to do with an answer that isn't `answered`: `Return()`, `Raise()`, `Replace(text)`,
            `Regenerate(times, then)` or `Prune(then)`.
        retry: How often a judge's model call is tried. None: three times for `openai` clients, once for models that
            may retry themselves.
        timeout: Seconds for the whole judgement of one text, retries included; None sets no limit.
        capture: Where to find question, chunks and answer of the chains that are wrapped.
        streaming: When the pieces of a streamed answer leave. `"after"`: as they come, the status last; the default
            with `Return()`, and possible with no other policy. `"hold"`: not before the status; the default with any
            other. `"gate"`, experimental: each statement when it is judged to be supported, the status last; not with
            `Regenerate` or `Prune`.

    Raises:
        UsageError: if any of these is not what it should be, or two of them don't go together.
    """

    judge: Judge
    _: KW_ONLY
    retriever: Callee | None = field(default=None, repr=False)
    generator: Callee | None = field(default=None, repr=False)
    policy: Policy = field(default_factory=Return)
    retry: Retry | None = None
    timeout: float | None = 30.0
    capture: Capture = field(default_factory=Capture)
    streaming: Mode | None = None

    def __init__(
        self,
        judge: object,
        *,
        retriever: object = None,
        generator: object = None,
        policy: Policy = Return(),
        retry: Retry | None = None,
        timeout: float | None = 30.0,
        capture: Capture = Capture(),
        streaming: Mode | None = None,
    ) -> None:
        values = {
            "judge": as_judge(judge),
            "retriever": options.callee(retriever, "retriever", RETRIEVER_METHODS, arguments=1),
            "generator": options.callee(generator, "generator", arguments=2, optional=("history", "feedback")),
            "policy": as_policy(policy),
            "retry": options.instance(retry, (Retry, type(None)), "retry is a Retry(...) or None"),
            "timeout": options.seconds(timeout),
            "capture": options.instance(capture, (Capture,), "capture is a Capture(...)"),
            "streaming": streaming,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._mode()
        if self.policy.regenerates:
            options.can_regenerate(self.generator)

    def with_options(self, **changes: Any) -> Guard:
        """A guard like this one, but for `changes`: any of the constructor's keyword arguments, or `judge`."""
        known = {f.name for f in fields(self)}
        if unknown := sorted(changes.keys() - known):
            raise UsageError(f"a guard has no option {', '.join(unknown)}; it has {', '.join(sorted(known))}")
        return replace(self, **changes)

    # The doors.

    def ask(self, question: str, *, history: Iterable[object] = ()) -> Response[Any]:
        """Retrieve, generate, judge and label.

        Args:
            question: The question.
            history: Earlier messages, as `(role, content)`, mappings or LangChain messages. The generator gets them if
                it takes `history`; a judge may read them to resolve "it" and "that", never as evidence.

        Returns:
            The labelled response; `output` is what the generator returned.

        Raises:
            UsageError: if the guard has no retriever or generator, or one of them is async only.
            UngroundedError: if the policy is to raise.
        """
        return run(self._ask(question, history))

    async def aask(self, question: str, *, history: Iterable[object] = ()) -> Response[Any]:
        """`ask` on the running event loop."""
        return await arun(self._ask(question, history))

    def stream(self, question: str, *, history: Iterable[object] = ()) -> Stream:
        """`ask`, in pieces: iterate over it; the last item is the labelled response, always.

        The generator gives an iterator of pieces (text, messages or mappings with a text), or anything that `ask` takes
        as one piece. When they leave, the guard's `streaming` says. Nothing runs before the first item is asked for.

        Args:
            question: The question.
            history: Earlier messages, as for `ask`.

        Returns:
            The stream. Its `response` is the last item; `close()` and `with` end it early.

        Raises:
            UsageError: at once, if the guard has no retriever or generator or an argument is not what it should be; on
                the way, if one of them is async only.
            UngroundedError: at the end, if the policy is to raise.
        """
        return Stream(self._stream(question, history))

    def astream(self, question: str, *, history: Iterable[object] = ()) -> AsyncStream:
        """`stream` on the running event loop, for `async for`; the generator's pieces may be async too.

        A plain iterator is pulled in threads, all with one copy of the context, so that it doesn't block the loop.
        """
        return AsyncStream(self._stream(question, history))

    def check(self, question: str, *, answer: str, chunks: object, history: Iterable[object] = ()) -> Response[None]:
        """Judge and label an answer that already exists.

        Args:
            question: The question.
            answer: The answer to judge.
            chunks: What it was generated from: one string, or an iterable of chunks, strings, documents or mappings.
            history: Earlier messages; never evidence.

        Raises:
            UsageError: if an argument is not what it should be.
            UngroundedError: if the policy is to raise.
        """
        return run(self.guard_check(question, answer, chunks, history))

    async def acheck(
        self, question: str, *, answer: str, chunks: object, history: Iterable[object] = ()
    ) -> Response[None]:
        """`check` on the running event loop."""
        return await arun(self.guard_check(question, answer, chunks, history))

    def check_many(
        self, exchanges: Iterable[many.Item], *, concurrency: int = 16
    ) -> Generator[Response[None], None, None]:
        """Check many exchanges, some at once; their responses come one by one, in the order of the exchanges.

        Nothing is read before the first response is asked for. Then at most `4 * concurrency` exchanges are read and
        not yet delivered, on your own thread and while you wait for a response; so a million of them take no more
        memory than a hundred, and a slow input holds up a response that is ready by one exchange. Every check sees your
        context variables as they are when it starts.

        A judge that fails makes one response, like any other. Closing early, as `break` does, starts no further check;
        the input is yours to close.

        Args:
            exchanges: `Exchange`s, or mappings with `question`, `answer`, `chunks` and perhaps `history`, as for
                `check`.
            concurrency: How many checks run at once.

        Raises:
            UsageError: at once, if an argument is not what it should be, or the policy is to raise.
            InputError: after the responses before it, for an exchange that is none; it says which, counted from 1.
                An error of the input itself comes in its place too, untouched.
        """
        return many.check_many(self.guard_check, self.policy, exchanges, concurrency)

    def acheck_many(
        self, exchanges: Iterable[many.Item] | AsyncIterable[many.Item], *, concurrency: int = 16
    ) -> AsyncGenerator[Response[None], None]:
        """`check_many` on the running event loop; the exchanges may be async too.

        An async input is read by a task of its own, so a slow one holds up no response; cancelling or closing early
        while it is being waited for cancels that wait. A plain one is read on the loop.
        """
        return many.acheck_many(self.guard_check, self.policy, exchanges, concurrency)

    def wraps(
        self,
        *,
        question: Selector | None = None,
        chunks: Selector | None = None,
        answer: Selector | None = None,
    ) -> Wraps:
        """The decorator with selectors.

        Args:
            question: Parameter that holds the question, or a key of the first argument, or a function of it.
            chunks: Key or attribute of the returned output that holds the chunks, or a function of the output.
            answer: Key or attribute of the returned output that holds the answer, or a function of the output.
        """
        options.has_no_generator("`wraps`", regenerates=self.policy.regenerates)
        return Wraps(self, self._capture(question, chunks, answer))

    def _wrap(self, chain: Any, question: Selector | None, chunks: Selector | None, answer: Selector | None) -> Any:
        options.has_no_generator("`wrap`", regenerates=self.policy.regenerates)
        capture = self._capture(question, chunks, answer)
        if is_langchain(chain):
            from groundguard.integrations.langchain import guard_runnable  # noqa: PLC0415  # loads langchain_core

            return guard_runnable(chain, self, capture)
        if any(hasattr(chain, name) for pair in CHAIN_METHODS for name in pair) and not inspect.isroutine(chain):
            return GuardedChain(chain, self, capture)
        if is_engine(chain):
            return guard_engine(chain, self, capture)
        return decorate(chain, self, capture)

    def session(self, *, evidence: EvidenceRule, window: int = 10) -> Session:
        """Begin a conversation.

        Args:
            evidence: Which chunks are evidence for a turn: `ThisTurn()`, or `LastTurns(n)` for those that still stand
                in the generator's prompt.
            window: How many earlier messages generator and judge get as history, the last ones; 0 for none.

        Raises:
            UsageError: if it is no evidence rule, or the window no whole number from 0.
        """
        return Session(self._ask, self._stream, self.guard_check, evidence, window)

    def _decorate(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        options.has_no_generator("a decorated function", regenerates=self.policy.regenerates)
        return decorate(fn, self, self.capture)

    def _capture(self, question: Selector | None, chunks: Selector | None, answer: Selector | None) -> Capture:
        own = self.capture
        return replace(
            own,
            question=own.question if question is None else question,
            chunks=own.chunks if chunks is None else chunks,
            answer=own.answer if answer is None else answer,
        )

    # The paths.

    def _ask(self, question: str, history: Iterable[object], earlier: tuple[Chunk, ...] = ()) -> Flow[Response[Any]]:
        return self._answer(self._query(question, history), Hold(), earlier)

    def _stream(self, question: str, history: Iterable[object], earlier: tuple[Chunk, ...] = ()) -> Flow[Response[Any]]:
        query = self._query(question, history)
        outlet = self._outlet(query.question, query.turns, lambda: query.found)
        return _released(self._answer(query, outlet, earlier), query.collected, outlet)

    def _query(self, question: str, history: Iterable[object]) -> Query:
        return Query(self.retriever, self.generator, question, history, regenerates=self.policy.regenerates)

    def _answer(self, query: Query, outlet: Outlet, earlier: tuple[Chunk, ...] = ()) -> Flow[Response[Any]]:
        def path(watch: Watch) -> Flow[Decided]:
            yield from watch.retrieval(query.question, query.retrieve(earlier))
            made = Generated("", "")
            if unasked(query.found.chunks, "?") is None or not self.policy.skip_generator:
                made = yield from watch.stage("generation", query.generate(outlet))
            draft = Draft(query.question, query.found, made.text, made.output, query.turns)
            return (yield from self._decide(watch, draft, query.generate_again if query.heeds else None))

        return self._settled(path)

    def guard_ask(self, question: str, history: Iterable[object] = ()) -> Flow[Response[Any]]:
        """The path of one question; for those who run it themselves."""
        return self._ask(question, history)

    def guard_check(
        self,
        question: str,
        answer: str,
        chunks: object,
        history: Iterable[object] = (),
        earlier: tuple[Chunk, ...] = (),
    ) -> Flow[Response[None]]:
        """The path of an answer that exists already; for those who run it themselves."""
        options.has_no_generator("`check`", regenerates=self.policy.regenerates)
        found = Found((*earlier, *freeze(chunks)), ChunksFrom.GIVEN)
        draft = Draft(
            options.text(question, "question"), found, options.text(answer, "answer"), None, as_turns(history)
        )
        return self._settled(lambda watch: self._decide(watch, draft))

    def guard_call(
        self, call: Call, question: str, capture: Capture, history: tuple[Turn, ...] = ()
    ) -> Flow[Response[Any]]:
        """The path of a chain that finds its own chunks; for those who wrap."""
        recorder = Recorder()

        def path(watch: Watch) -> Flow[Decided]:
            made = scoped(_made(call), recorder.active, *_event_scopes(capture))
            output = yield from watch.stage("generation", made)
            found = find_chunks(output, recorder, capture)
            draft = Draft(question, found, find_answer(output, capture.answer), output, history)
            return (yield from self._decide(watch, draft))

        return self._settled(path)

    def guard_stream(
        self, source: object, question: str, capture: Capture, history: tuple[Turn, ...] = ()
    ) -> Flow[None]:
        """The path of an answer that arrives in pieces; for those who wrap."""
        recorder, collected = Recorder(), Collected(capture)
        outlet = self._outlet(question, history, lambda: collected.found_so_far(recorder))
        scopes = (recorder.active, *_event_scopes(capture))

        def path(watch: Watch) -> Flow[Decided]:
            yield from watch.stage("generation", collect(source, collected, outlet, scopes))
            found = collected.found(recorder)
            draft = Draft(question, found, collected.text, tuple(collected.pieces), history)
            return (yield from self._decide(watch, draft))

        response = yield from _released(self._settled(path), collected, outlet)
        yield Emit(response)

    def _settled(self, path: Callable[[Watch], Flow[Decided]]) -> Flow[Response[Any]]:
        return (yield from watched(path, time.monotonic)).settled()

    def _mode(self) -> Mode:
        revises = type(self.policy).revise is not Policy.revise
        return as_mode(self.streaming, returns=type(self.policy) is Return, revises=revises)

    def _outlet(self, question: str, history: tuple[Turn, ...], known: Callable[[], Found]) -> Outlet:
        mode = self._mode()
        if mode == "gate":
            return Gate(self._ask_judge, question, history, known)
        return After() if mode == "after" else Hold(returns=type(self.policy) is Return)

    def _decide(self, watch: Watch, draft: Draft, again: Again | None = None) -> Flow[Decided]:
        return decide(draft, self.policy, watch, self._ask_judge, again)

    def _ask_judge(self, exchange: Exchange) -> Flow[Verdict]:
        asked = judged(self.judge, exchange, timeout=self.timeout, retry=self.retry, clock=time.monotonic)
        return scoped(asked, deaf, *_event_scopes(self.capture))


def is_langchain(chain: object) -> bool:
    """Whether `chain` is a LangChain Runnable, without importing LangChain."""
    return hasattr(chain, "invoke") and any(
        base.__module__.startswith("langchain_core.runnables") for base in type(chain).__mro__
    )


def _made(call: Call) -> Flow[Any]:
    return (yield call)


def _released(path: Flow[Response[Any]], collected: Collected, outlet: Outlet) -> Flow[Response[Any]]:
    """The path of a streamed answer to its end: once its status is known, the rest leaves."""
    response = yield from path
    yield from outlet.settled(collected, response)
    return response


def _event_scopes(capture: Capture) -> tuple[Scope, ...]:
    """Listen to LangChain's retrievers, if LangChain is in use at all."""
    if not capture.retriever_events or "langchain_core" not in sys.modules:
        return ()
    from groundguard.integrations.langchain import observed_retrievers  # noqa: PLC0415  # langchain_core is loaded

    return (observed_retrievers,)
