"""`groundguard eval`: a golden set through a pipeline, and what the panel says."""

from __future__ import annotations

import asyncio  # noqa: TID251  # a command owns its loop, and an async target needs one
import json
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from groundguard.cli.eval_options import (
    AllowNoisy,
    Answer,
    Chunks,
    Concurrency,
    DryRun,
    Engine,
    Gates,
    GatesFile,
    Golden,
    JudgeOrObject,
    MaxCalls,
    MaxCost,
    MaxFailures,
    MaxTokens,
    Output,
    PanelObject,
    Pipeline,
    PipelineModel,
    PriceIn,
    PriceOut,
    Question,
    Quiet,
    Repeats,
    Resume,
    Seed,
    SplitName,
    StoreFile,
    Tags,
    TargetName,
    Workers,
)
from groundguard.cli.eval_setup import FACTORY, parts
from groundguard.cli.eval_summary import Summary, judge_of, show_summary
from groundguard.cli.exits import BAD_INPUT, FINE, JUDGE_FAILED, STOPPED, CommandError, friendly, tell
from groundguard.cli.options import Constrained, Timeout, note_judge
from groundguard.cli.progress import shown_progress, tell_at_once
from groundguard.cli.show import line, out, print_json
from groundguard.errors import InputError, UsageError
from groundguard.evaluation.gates import options as gate_options
from groundguard.evaluation.gates.gates import Gate
from groundguard.evaluation.golden.items import GoldenItem, GoldenSet, Split
from groundguard.evaluation.golden.reading import load
from groundguard.evaluation.results import Run
from groundguard.evaluation.runner.answers import Recorded
from groundguard.evaluation.runner.budget import Budget
from groundguard.evaluation.runner.control import INTERRUPTED, UNHEALTHY
from groundguard.evaluation.runner.estimate import Estimate, estimate
from groundguard.evaluation.runner.files import write_run
from groundguard.evaluation.runner.plan import Plan
from groundguard.evaluation.runner.run import How, aperform, perform
from groundguard.evaluation.spread import SHARD, spread

JSON = Annotated[bool, typer.Option("--json", help="Print the summary as one JSON document.")]

UNFINISHED = Path(".groundguard")
"""The folder where a run is kept while it goes on, if no file is named."""


def evaluate(  # one parameter an option
    golden: Golden,
    *,
    target: TargetName,
    judge: JudgeOrObject = None,
    panel: PanelObject = None,
    question: Question = None,
    chunks: Chunks = None,
    answer: Answer = None,
    split: SplitName = None,
    tag: Tags = None,
    repeats: Repeats = 1,
    seed: Seed = 0,
    concurrency: Concurrency = 8,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    pipeline: Pipeline = None,
    model: PipelineModel = None,
    gate: Gates = None,
    gates: GatesFile = None,
    allow_noisy_gate: AllowNoisy = False,
    max_judge_failures: MaxFailures = 0.05,
    output: Output = None,
    store: StoreFile = None,
    resume: Resume = False,
    engine: Engine = "local",
    workers: Workers = None,
    dry_run: DryRun = False,
    constrained: Constrained = None,
    timeout: Timeout = 30.0,
    quiet: Quiet = False,
    as_json: JSON = False,
) -> None:
    """Run a golden set through a pipeline, score every answer, and hold the figures against gates.

    groundguard eval golden.jsonl --target app:chain

    groundguard eval golden.jsonl --target app:chain --judge claims:openai:NAME --output run.json

    groundguard eval golden.jsonl --target answers.jsonl --gate faithfulness --gate context_recall=0.8

    groundguard eval golden.jsonl --target app:chain --repeats 3 --max-calls 2000 --output run.json --resume

    What is under test is a guard with retriever and generator, a chain or a function, guarded or not, or a file of
    recorded answers. A run that is stopped, by Ctrl-C, by its budget or by a crash, goes on with --resume and pays for
    nothing twice.

    Exit codes: 0 fine, 1 a gate failed, 2 bad input, nothing measured or a gate inside the noise, 3 the judge is
    unhealthy; 130 stopped by Ctrl-C. A run that its budget stopped ends with 2 if there are gates: they were not held
    against all of it.
    """
    with friendly():
        if workers is not None and engine == "local":
            raise CommandError("--workers goes with --engine processes or --engine ray")
        wanted = _gates(gate, gates)
        budget = Budget(max_calls, max_tokens, max_cost, price_in, price_out)
        items = _chosen(load(golden, locked=None), golden, split, tag)
        named: dict[str, Any] = {
            "target": target,
            "judge": judge,
            "panel": panel,
            "constrained": constrained,
            "timeout": timeout,
            "question": question,
            "chunks": chunks,
            "answer": answer,
        }
        plan = Plan(items, *parts(**named), repeats, seed, pipeline, model)
        _check_gates(wanted, plan)
        if not quiet:
            _tell_of(plan)
        if dry_run:
            _show_estimate(estimate(plan), as_json=as_json)
            code = FINE
        else:
            kept = _store(store, output, plan)
            with _unless_wired_wrong(kept):
                if engine == "local":
                    with shown_progress(quiet=quiet) as progress:
                        run = _here(plan, How(concurrency, budget, kept, resume, progress=progress, tell=tell_at_once))
                else:
                    how = How(concurrency, budget, kept, resume, tell=tell_at_once)
                    run = _spread(plan, named, engine, workers, how)
            summary = Summary.of(
                run, judge_of(plan.panel), wanted, allow_noisy=allow_noisy_gate, most_failures=max_judge_failures
            )
            code = _concluded(summary, run, kept, output, as_json=as_json)
    raise typer.Exit(code)


def _gates(flags: list[str] | None, file: Path | None) -> tuple[Gate, ...]:
    read = () if file is None else gate_options.read(file)
    named = gate_options.parsed(flags or ())
    strictest = {(gate.metric, gate.bound): gate for gate in sorted((*read, *named), key=lambda gate: gate.at)}
    return tuple(strictest.values())


def _check_gates(gates: Iterable[Gate], plan: Plan) -> None:
    """A gate of a metric that nobody measures is found before the run is paid for."""
    unknown = [gate.metric for gate in gates if gate.metric not in plan.panel.names]
    if unknown:
        known = ", ".join(plan.panel.names)
        raise CommandError(f"no metric of this run is called {' or '.join(unknown)}: it measures {known}")


def _chosen(golden: GoldenSet, path: Path, split: Split | None, tags: list[str] | None) -> GoldenSet:
    """The items that the filters leave; none is an error that names them."""

    def fits(item: GoldenItem) -> bool:
        return (split is None or item.split is split) and set(tags or ()) <= set(item.tags)

    items = tuple(filter(fits, golden.items))
    if not items:
        filters = [f"--split {split.value}"] if split is not None else []
        filters += [f"--tag {tag}" for tag in tags or ()]
        raise InputError(f"{path} has no items{' with ' * bool(filters)}{' '.join(filters)}: nothing to measure")
    return replace(golden, items=items)


def _tell_of(plan: Plan) -> None:
    """What a person should know before it begins."""
    judge = judge_of(plan.panel)
    if judge is not None:
        note_judge(judge)
    if isinstance(plan.target, Recorded) and plan.target.bad:
        shown = ", ".join(map(str, plan.target.bad[:5]))
        tell(f"note: {plan.target.name}: {len(plan.target.bad)} lines hold no answer with an id (line {shown})")


def _store(store: Path | None, output: Path | None, plan: Plan) -> Path:
    """Where the run is kept while it goes on; by default each set, target and judge has a place of its own."""
    for path in (store, output):
        if path is not None and not path.parent.is_dir():
            raise CommandError(f"there is no folder {path.parent} to write {path.name} into")
    if store is not None:
        return store
    if output is not None:
        return output.with_name(f"{output.name}.store")
    UNFINISHED.mkdir(exist_ok=True)
    name = "".join(character if character.isalnum() else "-" for character in plan.golden.name)
    identity = sha256(json.dumps(plan.identity, sort_keys=True).encode()).hexdigest()
    return UNFINISHED / f"{name}-{identity[:12]}.store"


@contextmanager
def _unless_wired_wrong(kept: Path) -> Generator[None]:
    """A run that could measure nothing leaves nothing behind that the next one would stumble over."""
    is_new = not kept.exists()
    try:
        yield
    except UsageError:
        if is_new:
            _remove(kept)
        raise


def _here(plan: Plan, how: How) -> Run:
    return asyncio.run(aperform(plan, how)) if plan.target.is_async else perform(plan, how)


def _spread(
    plan: Plan,
    named: dict[str, Any],
    engine: Literal["ray", "processes"],
    workers: int | None,
    how: How,
) -> Run:
    return spread(
        plan.golden,
        FACTORY,
        named,
        engine=engine,
        workers=workers,
        repeats=plan.repeats,
        seed=plan.seed,
        concurrency=how.concurrency,
        budget=how.budget,
        pipeline=plan.pipeline,
        pipeline_model=plan.model,
        store=how.store,
        resume=how.resume,
        tell=how.tell,
    )


def _concluded(summary: Summary, run: Run, kept: Path, output: Path | None, *, as_json: bool) -> int:
    """Write and show what came out; returns the exit code. The store of a complete run has done its duty."""
    if output is not None:
        write_run(run, output)
    code = _code(summary, run)
    if as_json:
        print_json({**summary.to_dict(), "output": None if output is None else str(output), "exit_code": code})
    else:
        show_summary(summary)
    if run.stopped is not None:
        tell(f"stopped ({run.stopped}) after {len(run.results)} of {run.expected}: --resume goes on ({kept})")
    elif not summary.retriable:
        _remove(kept)
    else:
        tell(f"--resume asks again where the judge failed ({kept})")
    return code


def _remove(kept: Path) -> None:
    """Remove what this run has written there, and nothing else."""
    for shard in kept.glob(f"{SHARD}*.store*") if kept.is_dir() else ():
        shard.unlink()
    if kept.is_dir():
        with suppress(OSError):  # something of the user's is in it
            kept.rmdir()
        return
    for path in (kept, kept.with_name(f"{kept.name}-wal"), kept.with_name(f"{kept.name}-shm")):
        path.unlink(missing_ok=True)


def _code(summary: Summary, run: Run) -> int:
    stopped = set([] if run.stopped is None else run.stopped.split(", "))  # of several workers
    if stopped & {INTERRUPTED, UNHEALTHY}:
        return STOPPED if INTERRUPTED in stopped else JUDGE_FAILED
    undecided = summary.gates and (run.stopped is not None or not run.is_complete)
    return BAD_INPUT if undecided and summary.code != JUDGE_FAILED else summary.code


def _show_estimate(found: Estimate, *, as_json: bool) -> None:
    if as_json:
        print_json(found.to_dict())
        return
    console = out()
    told = (
        f"{found.results} results, at least {found.calls} calls of the judge's model, about {found.prompt_tokens}"
        " tokens of prompts. Nothing was asked."
    )
    line(console, Text(told))
    if found.by_reference:
        line(console, Text("The pipeline was not run: reference answers and chunks stood in for its own."))
