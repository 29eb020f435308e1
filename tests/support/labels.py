"""Labelled answers and their files."""

from __future__ import annotations

import json

from groundguard.evaluation.calibration.labels import Label, Labeller
from groundguard.records import Chunk, Decision, Exchange, Verdict

LINE = {
    "question": "How bright?",
    "chunks": ["The lamp has 300 lumens."],
    "answer": "It has 300 lumens.",
    "label": "grounded",
    "labeller_kind": "human",
}

YES, NO, UNKNOWN = Decision.SUPPORTED, Decision.UNSUPPORTED, Decision.UNKNOWN


def label(at, grounded, kind=Labeller.HUMAN):
    """A label on an answer of its own."""
    return Label(Exchange("Q?", (Chunk("c"),), f"Answer {at}."), grounded, f"l{at}", at, None, kind)


def labelled(*kinds, kind=Labeller.HUMAN):
    """Labels of these kinds."""
    return [label(at, grounded, kind) for at, grounded in enumerate(kinds, 1)]


def said(*decisions, **more):
    """A verdict for each decision."""
    return [Verdict(decision, **more) for decision in decisions]


def write(path, *lines):
    """A file of these lines; text is written as it is."""
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), "utf-8")
    return path
