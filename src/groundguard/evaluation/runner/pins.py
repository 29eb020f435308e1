"""What a run is made with, told so that another one can be held against it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version

from groundguard.evaluation.golden.items import GoldenSet
from groundguard.evaluation.results import ItemResult, Pins
from groundguard.evaluation.runner.budget import leaves
from groundguard.records import Verdict


def library(name: str = "groundguard-rag") -> str:
    """Version of groundguard; `unknown` where it is run from its source, not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def pins_of(
    golden: GoldenSet,
    judges: Mapping[str, str],
    *,
    pipeline: str | None = None,
    model: str | None = None,
    seed: int = 0,
    repeats: int = 1,
) -> Pins:
    """The pins of a run that is about to begin; which models its judges use is known at its end."""
    return Pins(
        dataset=golden.name,
        version=golden.version,
        content_hash=golden.content_hash,
        pipeline=pipeline,
        model=model,
        judges=dict(judges),
        seed=seed,
        repeats=repeats,
        library=library(),
    )


def verdicts_of(result: ItemResult) -> Iterable[Verdict]:
    """Every verdict of a result that a judge gave on its own, on the response and on the scores."""
    own = None if result.response is None else result.response.verdict
    for verdict in (own, *(score.verdict for score in result.scores)):
        if verdict is not None:
            yield from leaves(verdict)


def judge_models(results: Iterable[ItemResult]) -> tuple[str, ...]:
    """The model names that the judges' servers reported, sorted."""
    return tuple(sorted({each.model for result in results for each in verdicts_of(result) if each.model is not None}))


def floating(results: Iterable[ItemResult]) -> Mapping[str, tuple[str, ...]]:
    """Judges whose server reported more than one model within the run, by fingerprint: their model's name floats."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for result in results:
        for verdict in verdicts_of(result):
            if verdict.model is not None and verdict.fingerprint is not None:
                found[verdict.fingerprint].add(verdict.model)
    return {judge: tuple(sorted(models)) for judge, models in sorted(found.items()) if len(models) > 1}
