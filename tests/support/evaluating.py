"""Evaluations through both doors, and what they are made of."""

from __future__ import annotations

from typing import Any

from groundguard.evaluation import GoldenItem, GoldenSet, Run, aevaluate, evaluate
from groundguard.evaluation.panel import Faithfulness, Panel
from support.doors import Door


def golden(items: int = 20) -> GoldenSet:
    """Items that are told apart by their question."""
    return GoldenSet("d", "1", tuple(GoldenItem(f"i{n}", f"Question {n}?", answer="Yes.") for n in range(items)))


def number(question: str) -> int:
    """The number in a question."""
    return int(question.split()[1].rstrip("?"))


def rag(question: str) -> tuple[str, list[str]]:
    """A pipeline."""
    return f"Answer {number(question)}.", [f"Answer {number(question)}."]


def only(judge: Any) -> Panel:
    """A panel of faithfulness alone."""
    return Panel([Faithfulness(judge)])


def evaluated(door: Door, *args: Any, **options: Any) -> Run:
    """`evaluate` or `aevaluate`."""
    return door.call(aevaluate if door.is_async else evaluate, *args, **options)
