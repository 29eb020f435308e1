"""`evaluate` and `aevaluate`: a golden set, a target and a panel; one run comes out, whatever happens on the way."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from groundguard.errors import UsageError, told
from groundguard.evaluation.golden.items import GoldenSet
from groundguard.evaluation.golden.reading import load
from groundguard.evaluation.panel import Panel
from groundguard.evaluation.panel.whole import panel_of
from groundguard.evaluation.results import Run
from groundguard.evaluation.runner.answers import recorded
from groundguard.evaluation.runner.budget import UNLIMITED, Budget, Purse, Spent
from groundguard.evaluation.runner.control import PATIENCE, Control, stoppable
from groundguard.evaluation.runner.plan import Metrics, Plan
from groundguard.evaluation.runner.store import Store
from groundguard.evaluation.runner.target import Ask, GuardTarget, Target, as_target, resolve
from groundguard.evaluation.runner.work import Outcome, Progress, Work
from groundguard.flow.drive import amany, many
from groundguard.flow.steps import Flow
from groundguard.foreign import Selector
from groundguard.guard import Guard

LINES = (".jsonl", ".ndjson")
"""What the name of a file of recorded answers ends in."""


def evaluate(
    golden: GoldenSet | str | os.PathLike[str],
    target: object,
    *,
    judge: object = None,
    panel: Metrics | Iterable[object] | None = None,
    repeats: int = 1,
    seed: int = 0,
    concurrency: int = 8,
    budget: Budget = UNLIMITED,
    pipeline: str | None = None,
    pipeline_model: str | None = None,
    question: Ask | None = None,
    chunks: Selector | None = None,
    answer: Selector | None = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    patience: int = PATIENCE,
    progress: Callable[[Progress], object] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Run:
    """Run a golden set through a pipeline, and score every answer.

    The pipeline is asked by the very guard and judges that serve production. Whatever it raises is recorded on the
    item, by the name of the class, and the run goes on. Needs no event loop, so it works inside a running one; an async
    target needs `aevaluate`. In the main thread the first Ctrl-C ends the run in order, and what is there is returned.

    Args:
        golden: The set, or its file.
        target: What is under test: a `Guard` with retriever and generator; a chain or function that returns a
            `Response`; one that doesn't, guarded here with `judge`; `"module:object"`, which names one of these; or a
            file of recorded answers, `answers.jsonl`.
        judge: Who judges a target that has no guard: a judge, or a `Guard` with options of its own.
        panel: The metrics: a `Panel`, or a list of metrics; None takes the usual ones, with `judge` or the guard's, and
            where that is a `FactCheck` or `Claims`, with its model: some four calls more an item.
        repeats: How often each item is run; more than once measures the noise.
        seed: Seed of everything random.
        concurrency: How many results are made at once.
        budget: What the run may cost.
        pipeline: Version of the pipeline, for the pins.
        pipeline_model: Name of its model, for the pins.
        question: How the question is handed over: a key of the chain's input, a parameter of the function, or a
            function from item to input. None hands over the question itself.
        chunks: Key or attribute of the output that holds the chunks, or a function of the output.
        answer: Key or attribute of the output that holds the answer, or a function of the output.
        store: A file that keeps every result, and every reply of a judge, the moment it is there. None keeps nothing.
        resume: Whether to go on with a store that is there, and pay for nothing twice. What failed because a judge
            could not be asked is tried again.
        patience: After how many results in a row in which the judge only failed to stop.
        progress: Told of every result. None tells nobody.
        tell: Told, in words, that the run is being stopped. It is called by a signal handler, and may use no buffered
            stream.

    Returns:
        The run; one that was stopped says why, and holds what was finished.

    Raises:
        UsageError: if something is wired wrong: an async target, a target that returns no answer.
        InputError: if the set is empty or can't be read, or the store can't be used.
    """
    plan = planned(golden, target, judge, panel, repeats, seed, pipeline, pipeline_model, question, chunks, answer)
    how = How(concurrency, budget, None if store is None else Path(store), resume, patience, progress, tell)
    return perform(plan, how)


async def aevaluate(
    golden: GoldenSet | str | os.PathLike[str],
    target: object,
    *,
    judge: object = None,
    panel: Metrics | Iterable[object] | None = None,
    repeats: int = 1,
    seed: int = 0,
    concurrency: int = 8,
    budget: Budget = UNLIMITED,
    pipeline: str | None = None,
    pipeline_model: str | None = None,
    question: Ask | None = None,
    chunks: Selector | None = None,
    answer: Selector | None = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    patience: int = PATIENCE,
    progress: Callable[[Progress], object] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Run:
    """`evaluate` on the running event loop. Cancelling it ends it at once; a store keeps what was there."""
    plan = planned(golden, target, judge, panel, repeats, seed, pipeline, pipeline_model, question, chunks, answer)
    how = How(concurrency, budget, None if store is None else Path(store), resume, patience, progress, tell)
    return await aperform(plan, how)


@dataclass(frozen=True, slots=True)
class How:
    """How a plan is carried out; the attributes as for `evaluate`."""

    concurrency: int = 8
    budget: Budget = UNLIMITED
    store: Path | None = None
    resume: bool = False
    patience: int = PATIENCE
    progress: Callable[[Progress], object] | None = None
    tell: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        for name, what in (("concurrency", "results are made at once"), ("patience", "failures are borne in a row")):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                got = value if type(value) is int else told(value)
                raise UsageError(f"{name} is how many {what}, a whole number from 1; got {got}")
        if not isinstance(self.budget, Budget):
            raise UsageError(f"budget is a Budget(...); got {told(self.budget)}")


def perform(plan: Plan, how: How) -> Run:
    """Carry a plan out in the plain door."""
    if plan.target.is_async:
        raise UsageError(f"the target {plan.target.name} is async: await aevaluate(...)")
    with opened(plan, how) as work:
        with stoppable(work.control, how.tell):
            perform_work(work, how)
        return work.run()


def perform_work(work: Work, how: How) -> None:
    """Make every result that is missing, in the plain door."""
    with closing(many(work.flows(), how.concurrency)) as outcomes:
        for outcome in outcomes:
            work.receive(outcome)


async def aperform(plan: Plan, how: How) -> Run:
    """Carry a plan out on the running event loop."""
    with opened(plan, how) as work:
        with stoppable(work.control, how.tell):
            async with aclosing(amany(_as_async(work.flows()), how.concurrency)) as outcomes:
                async for outcome in outcomes:
                    work.receive(outcome)
        return work.run()


def planned(  # noqa: PLR0917  # the arguments of `evaluate`, handed on in their order
    golden: GoldenSet | str | os.PathLike[str],
    target: object,
    judge: object,
    panel: Metrics | Iterable[object] | None,
    repeats: int,
    seed: int,
    pipeline: str | None,
    pipeline_model: str | None,
    question: Ask | None,
    chunks: Selector | None,
    answer: Selector | None,
) -> Plan:
    """What there is to do; the arguments as for `evaluate`."""
    guard = judge if isinstance(judge, Guard) or judge is None else Guard(judge)
    found = targeted(target, guard, question=question, chunks=chunks, answer=answer)
    golden = golden if isinstance(golden, GoldenSet) else load(golden, locked=None)
    return Plan(golden, found, _panel(panel, guard, found), repeats, seed, pipeline, pipeline_model)


def targeted(
    target: object,
    guard: Guard | None,
    *,
    question: Ask | None = None,
    chunks: Selector | None = None,
    answer: Selector | None = None,
) -> Target:
    """The target, from an object, the name of one, or a file; raises as `evaluate` does."""
    name = target if isinstance(target, str) else None
    if isinstance(target, os.PathLike) or (name is not None and name.endswith(LINES)):
        if guard is None:
            raise UsageError("recorded answers need a judge: judge=..., --judge")
        return recorded(Path(target), guard)  # type: ignore[arg-type]  # a path or a string
    thing: Any = target if name is None else resolve(name)
    return as_target(thing, guard, name=name, question=question, chunks=chunks, answer=answer)


def _panel(panel: Metrics | Iterable[object] | None, guard: Guard | None, target: Target) -> Metrics:
    if panel is None:
        asked = target.guard if guard is None and isinstance(target, GuardTarget) else guard
        if asked is None:
            raise UsageError("a run needs a judge or a panel: judge=Lexical(), panel=Panel([...]); --judge")
        return panel_of(asked.judge, timeout=asked.timeout, retry=asked.retry)
    if all(hasattr(panel, name) for name in ("names", "fingerprints", "flow")):
        return panel  # type: ignore[return-value]  # pyright: ignore[reportReturnType]  # it has what Metrics has
    return Panel(panel)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # it checks what it is given


@contextmanager
def opened(plan: Plan, how: How) -> Generator[Work]:
    """A plan at work, with its store open."""
    began = datetime.now(UTC).isoformat(timespec="seconds")
    with closing(Store(how.store, plan.identity, began, resume=how.resume)) as store:
        each = list(store.spent())
        spent = sum(each, Spent(calls=store.count_replies()))
        purse = Purse(how.budget, spent, each, hidden=plan.target.opaque)
        yield Work(plan, store, Control(purse, how.patience), how.progress)


async def _as_async(flows: Generator[Flow[Outcome], None, None]) -> AsyncGenerator[Flow[Outcome], None]:
    for flow in flows:
        yield flow
