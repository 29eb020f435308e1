"""An evaluation past one process: the items in shards, each shard a small run of its own, the rows put together.

No live object travels: a worker gets the items of its shard and the name of a function that builds target and panel
where it stands; it sends back rows as JSON. The only file with processes and Ray.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from groundguard.errors import GroundguardError, InputError, UsageError, told
from groundguard.evaluation.golden.items import GoldenItem, GoldenSet
from groundguard.evaluation.golden.located import Record
from groundguard.evaluation.golden.record import read_item
from groundguard.evaluation.panel import Panel
from groundguard.evaluation.results import ItemResult, Pins, Run
from groundguard.evaluation.runner.budget import UNLIMITED, Budget, Purse, Spent, read_spent
from groundguard.evaluation.runner.control import PATIENCE, UNHEALTHY, Control, stoppable
from groundguard.evaluation.runner.plan import Metrics, Plan
from groundguard.evaluation.runner.run import How, opened, perform_work
from groundguard.evaluation.runner.store import Row
from groundguard.evaluation.runner.target import as_target, resolve
from groundguard.evaluation.runner.work import assembled
from groundguard.fields import plain_fields
from groundguard.foreign import is_pair

SHARDS = 16
"""Into how many shards a set is cut unless told: few enough to be cheap, enough for every worker to stay busy."""

SHARD = "shard-"
"""What the name of a shard's store begins with."""

Engine = Literal["ray", "processes"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a run. Parts add up, in any order and however they are grouped.

    Attributes:
        rows: Its results, by place and repeat.
        started: When the first of them began; empty where there is none.
        stopped: Why parts of it are not complete.
    """

    rows: tuple[Row, ...] = field(default=(), repr=False)
    started: str = ""
    stopped: frozenset[str] = frozenset()

    def __add__(self, other: Part) -> Part:
        """Both parts; raises `InputError` where they say different things of one result."""
        rows = {(row.place, row.repeat): row for row in self.rows}
        for row in other.rows:
            if rows.setdefault((row.place, row.repeat), row) != row:
                which = f"repeat {row.repeat} of item {row.result.id}"
                raise InputError(f"two parts of the run differ in one result, {which}")
        started = min(filter(None, (self.started, other.started)), default="")
        return Part(tuple(rows[key] for key in sorted(rows)), started, self.stopped | other.stopped)

    def to_json(self) -> str:
        """The part as one line of JSON."""
        rows = [[row.place, row.repeat, row.result.to_dict(), plain_fields(row.spent)] for row in self.rows]
        return json.dumps({"rows": rows, "started": self.started, "stopped": sorted(self.stopped)})

    @classmethod
    def from_json(cls, text: str) -> Part:
        """The part back from `to_json`."""
        data = json.loads(text)
        rows = tuple(
            Row(place, repeat, ItemResult.from_dict(result), read_spent(spent))
            for place, repeat, result, spent in data["rows"]
        )
        return cls(rows, data["started"], frozenset(data["stopped"]))

    def run(self, pins: Pins, expected: int, budget: Budget) -> Run:
        """The run, once all parts are together."""
        stopped = ", ".join(sorted(self.stopped)) or None
        return assembled(self.rows, pins, expected, started=self.started, budget=budget, stopped=stopped)


def shard_of(item: GoldenItem, shards: int) -> int:
    """Which shard an item belongs to: by its id alone, so that the same everywhere."""
    return int(hashlib.sha256(item.id.encode("utf-8", "surrogatepass")).hexdigest()[:12], 16) % shards


def _check_folder(folder: Path, *, resume: bool) -> None:
    """Raise `InputError` unless the folder is new, empty, or holds shards that are to be gone on with."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: the stores of several processes need a folder")
    held = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    if held and not resume:
        raise InputError(f"{folder} is not empty: go on with its run (resume=True, --resume), or name another")
    if any(not name.startswith(SHARD) for name in held):
        raise InputError(f"{folder} holds something else than the stores of a run: name another")


def spread(
    golden: GoldenSet,
    factory: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    engine: Engine = "ray",
    workers: int | None = None,
    shards: int = SHARDS,
    repeats: int = 1,
    seed: int = 0,
    concurrency: int = 8,
    budget: Budget = UNLIMITED,
    pipeline: str | None = None,
    pipeline_model: str | None = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    patience: int = PATIENCE,
    tell: Callable[[str], None] = lambda _: None,
) -> Run:
    """Evaluate on several processes, or on a Ray cluster; equal to `evaluate` of the same, byte for byte.

    ```python
    def setup(version):                              # in app.py, called in every worker
        return build_chain(version), [Faithfulness(Claims("openai:NAME"))]

    run = spread(golden, "app:setup", {"version": "7"}, engine="ray")
    ```

    Args:
        golden: The items.
        factory: Names a function, `module:function`, that a worker calls to build `(target, panel)`: what `evaluate`
            takes as target, guarded already or a `Target`, and a `Panel` or a list of metrics.
        arguments: JSON values that it is called with.
        engine: `ray`, on the cluster that Ray finds or begins here; or `processes` of this machine.
        workers: How many shards at once; None takes as many as there are processors.
        shards: Into how many parts the set is cut, by item id.
        repeats: As for `evaluate`; so are the others that are not named here.
        seed: Likewise.
        concurrency: How many results a shard makes at once.
        budget: Shared out among the shards in equal parts, so that it holds; a shard that used up its part stops.
        pipeline: Likewise.
        pipeline_model: Likewise.
        store: A folder that keeps a file for each shard, where every worker finds it; None keeps nothing.
        resume: Whether to go on with what that folder holds, cut into as many shards.
        patience: For each shard.
        tell: Likewise.

    Raises:
        UsageError: if something is wired wrong, or Ray is not installed.
        InputError: if the set is empty, or a store can't be used.
    """
    if type(shards) is not int or shards < 1:
        raise UsageError(f"shards is a whole number from 1; got {shards if type(shards) is int else told(shards)}")
    jobs = Jobs(golden, factory, dict(arguments or {}), shards, repeats, seed, concurrency, budget, pipeline)
    if store is not None:
        _check_folder(Path(store), resume=resume)
    jobs = replace(jobs, model=pipeline_model, store=None if store is None else str(store), resume=resume)
    todo = list(jobs.written(patience))
    whole = Plan(golden, *built(factory, jobs.arguments), repeats, seed, pipeline, pipeline_model)
    run_on = {"ray": _on_ray, "processes": _on_processes}[engine]
    control, part = Control(Purse(budget, Spent(), ()), patience), Part()
    with stoppable(control, tell):
        for answer in run_on(todo, workers or os.cpu_count() or 1, lambda: control.stopped is not None):
            part += _read_answer(answer)
            if UNHEALTHY in part.stopped:
                control.stop(UNHEALTHY)
    if control.stopped is not None:
        part += Part(stopped=frozenset({control.stopped}))
    return part.run(whole.pins, whole.expected, budget)


@dataclass(frozen=True)
class Jobs:
    """What is cut into shards, and how each is run; the attributes as for `spread`."""

    golden: GoldenSet
    factory: str
    arguments: dict[str, Any]
    shards: int
    repeats: int
    seed: int
    concurrency: int
    budget: Budget
    pipeline: str | None
    model: str | None = None
    store: str | None = None
    resume: bool = False

    def written(self, patience: int) -> Iterator[str]:
        """One line of JSON a shard that has items."""
        places: dict[int, list[int]] = {}
        for place, item in enumerate(self.golden.items):
            places.setdefault(shard_of(item, self.shards), []).append(place)
        share = _share(self.budget, max(1, len(places)))
        for shard, own in sorted(places.items()):
            name = f"{SHARD}{shard + 1:04}-of-{self.shards:04}.store"
            yield json.dumps(
                {
                    "name": self.golden.name,
                    "version": self.golden.version,
                    "items": [self.golden.items[place].to_record() for place in own],
                    "places": own,
                    "factory": self.factory,
                    "arguments": self.arguments,
                    "plan": [self.repeats, self.seed, self.pipeline, self.model],
                    "concurrency": self.concurrency,
                    "patience": patience,
                    "budget": plain_fields(share),
                    "store": None if self.store is None else str(Path(self.store).absolute() / name),
                    "resume": self.resume,
                    "folder": str(Path.cwd()),
                }
            )


def _share(budget: Budget, parts: int) -> Budget:
    return replace(
        budget,
        calls=None if budget.calls is None else budget.calls // parts,
        tokens=None if budget.tokens is None else budget.tokens // parts,
        cost=None if budget.cost is None else budget.cost / parts,
    )


def built(factory: str, arguments: Mapping[str, Any]) -> tuple[Any, Metrics]:
    """Target and panel, as the named function builds them."""
    made: object = resolve(factory)(**arguments)
    if not is_pair(made):
        raise UsageError(f"{factory} builds a pair, (target, panel); got {told(made)}")
    target, panel = made
    return as_target(target), panel if hasattr(panel, "fingerprints") else Panel(panel)


def work_on(job: str) -> str:
    """Run one shard, in a worker; its part as JSON, or what is wrong."""
    data = json.loads(job)
    if data["folder"] not in sys.path and Path(data["folder"]).is_dir():
        sys.path.insert(0, data["folder"])
    try:
        return json.dumps({"part": _part(data).to_json()})
    except GroundguardError as error:
        return json.dumps({"error": str(error), "usage": isinstance(error, UsageError)})


def _part(data: Mapping[str, Any]) -> Part:
    items = tuple(read_item(Record("shard", at, item)) for at, item in enumerate(data["items"], 1))
    golden = GoldenSet(data["name"], data["version"], items)
    plan = Plan(golden, *built(data["factory"], data["arguments"]), *data["plan"])
    store = None if data["store"] is None else Path(data["store"])
    if store is not None:
        store.parent.mkdir(parents=True, exist_ok=True)
    how = How(data["concurrency"], Budget(**data["budget"]), store, data["resume"], data["patience"])
    with opened(plan, how) as work:
        perform_work(work, how)
        rows, started, stopped = work.rows()
    placed = tuple(row._replace(place=data["places"][row.place]) for row in rows)
    return Part() + Part(placed, started, frozenset() if stopped is None else frozenset({stopped}))


def _read_answer(text: str) -> Part:
    answer = json.loads(text)
    if "part" in answer:
        return Part.from_json(answer["part"])
    raise (UsageError if answer["usage"] else InputError)(answer["error"])


def _on_processes(jobs: Iterable[str], workers: int, stopped: Callable[[], bool]) -> Iterator[str]:
    """Each job in a process that is begun afresh, so that it inherits no client, lock or thread."""
    from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait  # noqa: PLC0415, TID251  # processes live here
    from multiprocessing import get_context  # noqa: PLC0415  # what most never need

    todo = list(reversed(list(jobs)))
    with ProcessPoolExecutor(min(workers, len(todo) or 1), mp_context=get_context("spawn")) as pool:
        running = {pool.submit(work_on, todo.pop()) for _ in range(min(workers, len(todo)))}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                if todo and not stopped():
                    running.add(pool.submit(work_on, todo.pop()))
                yield future.result()


def _on_ray(jobs: Iterable[str], workers: int, stopped: Callable[[], bool]) -> Iterator[str]:
    """Each job as a task of Ray; at most so many are under way."""
    try:
        ray: Any = importlib.import_module("ray")  # the extra may be missing, and it is heavy
    except ModuleNotFoundError as error:
        raise UsageError("the engine ray needs Ray: pip install 'groundguard-rag[ray]'") from error
    begun = not ray.is_initialized()
    if begun:
        ray.init(include_dashboard=False, log_to_driver=False)
    try:
        task = ray.remote(work_on)
        todo = list(reversed(list(jobs)))
        running = [task.remote(todo.pop()) for _ in range(min(workers, len(todo)))]
        while running:
            done, running = ray.wait(running)
            if todo and not stopped():
                running.append(task.remote(todo.pop()))
            yield from map(str, ray.get(done))
    finally:
        if begun:
            ray.shutdown()
