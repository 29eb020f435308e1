"""The options of `groundguard eval`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from groundguard.evaluation.golden.items import Split

Golden = Annotated[Path, typer.Argument(metavar="GOLDEN", help="A golden set: .jsonl or .yaml.", show_default=False)]
TargetName = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="MODULE:OBJECT|FILE",
        help="What is under test: a guard, a chain or a function, such as app:chain; or a file of recorded answers,"
        ' {"id": ..., "answer": ..., "chunks": [...]} a line.',
        show_default=False,
    ),
]
JudgeOrObject = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="JUDGE",
        help="Who scores, and guards what is not guarded: 'lexical', 'openai:NAME', 'claims:openai:NAME', or a judge of"
        " your own as module:object. Without it: the guard's own judge, else 'lexical'.",
        show_default=False,
    ),
]
PanelObject = Annotated[
    str | None,
    typer.Option("--panel", metavar="MODULE:OBJECT", help="Metrics of your own instead: a Panel or a list."),
]
Question = Annotated[
    str | None,
    typer.Option("--question", metavar="KEY", help="Input key, or parameter, that takes the question."),
]
Chunks = Annotated[str | None, typer.Option("--chunks", metavar="KEY", help="Output key that holds the chunks.")]
Answer = Annotated[str | None, typer.Option("--answer", metavar="KEY", help="Output key that holds the answer.")]
SplitName = Annotated[Split | None, typer.Option("--split", help="Only the items of this split.")]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Only items with this tag; repeat for all of several.")
]
Repeats = Annotated[
    int, typer.Option("--repeats", metavar="N", min=1, help="Run each item so often: measures the noise.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of everything random.")]
Concurrency = Annotated[
    int, typer.Option("--concurrency", metavar="N", min=1, help="How many results are made at once.")
]
MaxCalls = Annotated[
    int | None,
    typer.Option("--max-calls", metavar="N", min=0, help="Stop before the judge's model was called more often."),
]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", metavar="N", min=0, help="Stop before its server reports more tokens.")
]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", metavar="X", min=0, help="Stop before it costs more; needs both prices.")
]
PriceIn = Annotated[
    float | None, typer.Option("--price-in", metavar="X", min=0, help="Price of a million input tokens.")
]
PriceOut = Annotated[
    float | None, typer.Option("--price-out", metavar="X", min=0, help="Price of a million output tokens.")
]
Pipeline = Annotated[
    str | None, typer.Option("--pipeline", metavar="VERSION", help="The pipeline's version, for the record.")
]
PipelineModel = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="The pipeline's model, for the record.")
]
Gates = Annotated[
    list[str] | None,
    typer.Option(
        "--gate",
        metavar="GATE",
        help="What must be reached: 'faithfulness' (0.70), 'panel', METRIC=0.8, METRIC.lower=0.8; repeat for more.",
    ),
]
GatesFile = Annotated[
    Path | None,
    typer.Option(
        "--gates",
        metavar="FILE",
        help="A TOML file with a table [gates] or [tool.groundguard.gates]; of two gates the higher holds.",
    ),
]
AllowNoisy = Annotated[bool, typer.Option("--allow-noisy-gate", help="Let a gate stand inside the measured noise.")]
MaxFailures = Annotated[
    float,
    typer.Option(
        "--max-judge-failures",
        metavar="SHARE",
        min=0,
        max=1,
        help="The judge is unhealthy where it failed in a larger share of the results.",
    ),
]
Output = Annotated[Path | None, typer.Option("--output", metavar="FILE", help="Write the whole run there, as JSON.")]
StoreFile = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FILE",
        help="Where the run is kept while it goes on. By default beside --output, else in .groundguard.",
        show_default=False,
    ),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with a run that was stopped; begins one where there is none.")
]
Engine = Annotated[
    Literal["local", "processes", "ray"],
    typer.Option("--engine", help="Where: in this process, in several of this machine, or on a Ray cluster."),
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", min=1, help="With --engine processes or ray: how many at once."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Count the calls of the judge and the size of their prompts; make none.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress and no notes.")]
