"""A run at work: one flow a result, whatever door runs it, and what is done with each that comes out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from groundguard.errors import UsageError
from groundguard.evaluation.golden.items import GoldenItem
from groundguard.evaluation.panel.refusal import refused
from groundguard.evaluation.results import ItemResult, Pins, Run, Score
from groundguard.evaluation.runner.budget import Budget, Spent, spent_on
from groundguard.evaluation.runner.control import PATIENCE, Control, Halt, health_of, owes
from groundguard.evaluation.runner.journal import Journal
from groundguard.evaluation.runner.pins import judge_models
from groundguard.evaluation.runner.plan import Plan, Task
from groundguard.evaluation.runner.store import Row, Store
from groundguard.flow.steps import Flow, Sleep

PAUSE = 0.02
"""Seconds between two looks at whether the budget has room."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: Results that are there, earlier ones included.
        expected: Results of a complete run.
        failed: Results so far, in this process, whose pipeline raised.
        unjudged: Likewise, in which the judge only failed.
        spent: What all of it took so far.
        stopped: Why it is coming to an end; None while it goes on.
    """

    done: int
    expected: int
    failed: int
    unjudged: int
    spent: Spent
    stopped: str | None


class Outcome(NamedTuple):
    """What is kept in memory of a result that is written down already."""

    finished: bool
    spent: Spent = Spent()
    seen: int = 0
    known: int = 0
    health: bool | None = None
    error: str | None = None
    wiring: UsageError | None = None


class Work:
    """A run at work.

    Args:
        plan: What is to do.
        store: Where it is kept.
        control: Whether it goes on.
        progress: Told of every result; None tells nobody.
    """

    def __init__(
        self, plan: Plan, store: Store, control: Control, progress: Callable[[Progress], object] | None = None
    ) -> None:
        self._plan, self._store, self.control, self._progress = plan, store, control, progress
        self._finished = store.finished()
        self._done = len(self._finished)
        self._failed = self._unjudged = self._came = 0
        self._wiring: list[UsageError] = []

    def flows(self) -> Generator[Flow[Outcome], None, None]:
        """A flow for each result that is missing, until the run is stopped."""
        number = 0
        for task in self._plan.tasks():
            if self.control.stopped is not None:
                return
            if task.key not in self._finished:
                yield self._outcome(number, task)
                number += 1

    def _outcome(self, number: int, task: Task) -> Flow[Outcome]:
        try:
            while (admitted := self.control.admits_result(number)) is None:
                yield Sleep(PAUSE)
            if not admitted:
                return Outcome(finished=False)
            target = self._plan.target
            journal = Journal(task.key, self._store, self.control, target.pipeline)
            result, wiring = yield from journal.around(self._result(task.item, task.repeat))
            return self._kept(task, result, journal, wiring)
        except Halt:
            return Outcome(finished=False)

    def _kept(self, task: Task, result: ItemResult, journal: Journal, wiring: UsageError | None) -> Outcome:
        spent = spent_on(result.response, [score.verdict for score in result.scores])
        inside = result.response.verdict if result.response is not None and self._plan.target.opaque else None
        spent = replace(spent, calls=journal.seen + (0 if inside is None else inside.calls))
        health = health_of(result)
        with self.control.guarded(self._store):
            row = Row(task.place, task.repeat, result, spent)
            self._store.keep(task.key, row, final=not owes(result) and wiring is None)
        return Outcome(
            finished=True,
            spent=spent,
            seen=journal.seen,
            known=journal.known,
            health=health,
            error=result.error,
            wiring=wiring,
        )

    def _result(self, item: GoldenItem, repeat: int) -> Flow[tuple[ItemResult, UsageError | None]]:
        """Ask the target and the panel. An exception of the pipeline is what became of the item, and ends no run."""
        blank = ItemResult(
            item.id,
            repeat,
            item.question,
            want=item.want,
            split=item.split,
            tags=item.tags,
            reference=item.answer,
            chunk_ids=item.chunk_ids,
        )
        try:
            response = yield from self._plan.target.flow(item)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is the pipeline's
            wiring = error if isinstance(error, UsageError) else None
            return replace(blank, error=type(error).__name__), wiring
        response = replace(response, output=None)
        scores: tuple[Score, ...] = yield from self._plan.panel.flow(item, response)
        return replace(blank, response=response, scores=scores, refused=refused(item, response, scores)), None

    def receive(self, outcome: Outcome) -> None:
        """Account for a result; on the thread, or loop, that takes them all."""
        self.control.purse.deliver(outcome.spent, outcome.seen, outcome.known)
        if not outcome.finished:
            return
        self._done += 1
        self._came += 1
        self._failed += outcome.error is not None
        self._unjudged += outcome.health is False
        self.control.look_at(outcome.health)
        if outcome.wiring is not None:
            self._wiring.append(outcome.wiring)
        if len(self._wiring) == self._came == PATIENCE:
            raise self._wiring[0]
        if self._progress is not None:
            self._progress(self.progress)

    @property
    def progress(self) -> Progress:
        """How far it is."""
        spent, stopped = self.control.purse.spent, self.control.stopped
        return Progress(self._done, self._plan.expected, self._failed, self._unjudged, spent, stopped)

    def rows(self) -> tuple[tuple[Row, ...], str, str | None]:
        """The results that are there, when the run began, and why it was stopped.

        Raises:
            InputError: if the store failed on the way.
            UsageError: if the target is wired wrong, so that it could answer nothing.
        """
        if self.control.broken is not None:
            raise self.control.broken
        if self._came and len(self._wiring) == self._came:
            raise self._wiring[0]
        return tuple(self._store.rows()), self._store.started, self.control.stopped

    def run(self) -> Run:
        """The run as it is now; raises as `rows` does."""
        rows, started, stopped = self.rows()
        plan, budget = self._plan, self.control.purse.budget
        return assembled(rows, plan.pins, plan.expected, started=started, budget=budget, stopped=stopped)


def assembled(
    rows: Iterable[Row], pins: Pins, expected: int, *, started: str, budget: Budget, stopped: str | None
) -> Run:
    """A run from its rows, in whatever order and from wherever they come."""
    ordered = sorted(rows, key=lambda row: (row.place, row.repeat))
    results = tuple(row.result for row in ordered)
    spent = sum((row.spent for row in ordered), Spent())
    usage = spent.usage
    return Run(
        pins=replace(pins, judge_models=judge_models(results)),
        results=results,
        expected=expected,
        started=started,
        calls=spent.calls,
        input_tokens=None if usage is None else usage.input_tokens,
        output_tokens=None if usage is None else usage.output_tokens,
        cost=spent.cost(budget),
        stopped=None if len(results) == expected else stopped,
        silent=spent.silent,
    )
