"""Runs as they come out, made by hand: so many items, with these values."""

from __future__ import annotations

from groundguard.evaluation.results import ItemResult, Pins, Run, Score
from groundguard.records import Chunk, ChunksFrom, Decision, Response, Verdict
from groundguard.status import label

PINS = Pins("lamps", "1", "aa", pipeline="v1", judges={"faithfulness": "f1"}, library="0.1.0")


def response(answer="It is so.", decision=Decision.SUPPORTED, chunk="It is so."):
    """A labelled answer."""
    verdict = Verdict(decision)
    status, reason = label((Chunk(chunk),), answer, verdict)
    return Response(answer, answer, status, reason, verdict, "Q?", (Chunk(chunk),), ChunksFrom.GIVEN)


def score(value, metric="faithfulness", **more):
    """A score: a number, the reason why there is none, or None where the metric does not apply."""
    if value is None:
        return Score(metric, None, applies=False, **more)
    if isinstance(value, str):
        return Score(metric, None, value, **more)
    return Score(metric, value, **more)


def row(id_, value, repeat=0, metric="faithfulness", **more):
    """One result with one score; a `ValueError` of the pipeline in its place is written as an exception."""
    if isinstance(value, Exception):
        return ItemResult(id_, repeat, "Q?", error=type(value).__name__, **more)
    return ItemResult(id_, repeat, "Q?", scores=(score(value, metric),), **more)


def run_of(*results, pins=PINS, **more):
    """A run of these results."""
    return Run(pins, results, **{"expected": len(results), "started": "2026-01-01T00:00:00+00:00"} | more)


def run_with(values, pins=PINS, **more):
    """A run of one metric: item `q0` has the first value, and so on; a list of values is one a repeat."""
    many = [value if isinstance(value, list) else [value] for value in values]
    rows = [row(f"q{at}", value, repeat) for at, each in enumerate(many) for repeat, value in enumerate(each)]
    return run_of(*rows, pins=pins, **more)
