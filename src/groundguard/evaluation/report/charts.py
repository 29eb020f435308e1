"""Where the marks of a chart stand. Plain numbers: the template draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundguard.evaluation.report.content import Past, Report
from groundguard.evaluation.results import Figure, Run

WIDTH, HEIGHT = 300, 120
"""Of a trend, in the units of its drawing."""
LEFT, RIGHT, TOP, BOTTOM = 28, 12, 10, 18


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure on a line from 0 to 100: its interval, its value, and the gate that it is held against."""

    low: float
    high: float
    value: float | None
    gate: float | None = None

    @property
    def width(self) -> float:
        """Of the interval."""
        return round(self.high - self.low, 2)


@dataclass(frozen=True, slots=True)
class Point:
    """One run in a trend: where it stands, and its interval."""

    x: float
    y: float
    low: float
    high: float
    figure: Figure
    run: Run


@dataclass(frozen=True, slots=True)
class Trend:
    """One metric over the runs: the points of those that scored it, joined by a line."""

    metric: str
    points: tuple[Point, ...]

    @property
    def line(self) -> str:
        """The points as SVG writes them."""
        return " ".join(f"{point.x},{point.y}" for point in self.points)


def bar(figure: Figure, gate: float | None = None) -> Bar:
    """A figure on its line."""
    between, value = figure.interval, figure.value
    low, high = (0.0, 0.0) if between is None else (between.low, between.high)
    return Bar(_percent(low), _percent(high), None if value is None else _percent(value), gate and _percent(gate))


def trends(report: Report) -> tuple[Trend, ...]:
    """One a metric of the last run, where more than one run scored it."""
    found = (Trend(figure.metric, _points(figure.metric, report.history)) for figure in report.figures)
    return tuple(trend for trend in found if len(trend.points) > 1)


def _points(metric: str, history: Sequence[Past]) -> tuple[Point, ...]:
    step = (WIDTH - LEFT - RIGHT) / max(1, len(history) - 1)
    return tuple(
        _point(LEFT + step * place, figure, past.run)
        for place, past in enumerate(history)
        for figure in past.figures
        if figure.metric == metric and figure.value is not None
    )


def _point(x: float, figure: Figure, run: Run) -> Point:
    value = figure.value or 0.0
    low, high = (value, value) if figure.interval is None else (figure.interval.low, figure.interval.high)
    return Point(round(x, 2), height(value), height(low), height(high), figure, run)


def height(value: float) -> float:
    """Where a value from 0 to 1 stands in a trend; 1 is on top."""
    return round(TOP + (1 - min(1.0, max(0.0, value))) * (HEIGHT - TOP - BOTTOM), 2)


def _percent(share: float) -> float:
    return round(min(1.0, max(0.0, share)) * 100, 2)
