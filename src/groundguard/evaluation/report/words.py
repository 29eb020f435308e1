"""The sentences of a report: the verdict on top, and what else is said in words in more than one form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from groundguard.evaluation.comparison.likeness import pin_differences
from groundguard.evaluation.gates.gates import GateResult, Outcome
from groundguard.evaluation.report.content import Report
from groundguard.evaluation.results import Figure, Pins

METRICS = {
    "faithfulness": "Faithfulness",
    "answer_relevancy": "Answer relevancy",
    "context_precision": "Context precision",
    "context_recall": "Context recall",
    "refusal": "Refusal",
}
"""The metrics that have a name of their own in print."""

MEANINGS = {
    "faithfulness": "Share of what the answer states that its chunks support.",
    "answer_relevancy": "Whether the answer answers the question that was asked.",
    "context_precision": "Whether the chunks that were needed stand on top.",
    "context_recall": "Whether the chunks hold what was needed.",
    "refusal": "Whether it declines where it should, and only there.",
}
"""What each metric measures, in a few words."""


class Mood(StrEnum):
    """How a verdict is to be read at a glance."""

    GOOD = "good"
    BAD = "bad"
    DOUBT = "doubt"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict on a run.

    Attributes:
        mood: At a glance.
        title: In a few words.
        words: In a sentence.
    """

    mood: Mood
    title: str
    words: str


def headline(report: Report) -> Headline:
    """The verdict. Good is one thing only: gates were set, every one is passed, and the run is complete and sound."""
    return next(_verdicts(report))


def _verdicts(report: Report) -> Iterator[Headline]:
    """What there is to say, the gravest first."""
    failed, refused = (_with(report, outcome) for outcome in (Outcome.FAILED, Outcome.REFUSED))
    if not report.is_scored:
        yield Headline(
            Mood.BAD, "Nothing was scored", "A run without a single score proves nothing, and counts as failed."
        )
    if not report.health.is_well():
        words = f"{str(report.health).capitalize()}: its figures say little."
        yield Headline(Mood.BAD, "The judge is unhealthy", words)
    if failed:
        yield Headline(Mood.BAD, "Failed", f"{_of(failed, report)} failed: {_names(failed)}.")
    if refused:
        words = f"{_of(refused, report)} {'stands' if len(refused) == 1 else 'stand'} inside the noise, so that nothing"
        yield Headline(Mood.DOUBT, "Undecided", f"{words} would follow from it: {_names(refused)}.")
    if not report.is_complete:
        yield Headline(Mood.DOUBT, "Not complete", f"{_so_far(report)} What is missing may change every figure.")
    if not report.gates:
        yield Headline(Mood.PLAIN, "Measured", "No gate was set, so nothing passed or failed.")
    yield Headline(Mood.GOOD, "Passed", f"{_of(report.gates, report)} passed.")


def _with(report: Report, outcome: Outcome) -> list[GateResult]:
    return [gate for gate in report.gates if gate.outcome is outcome]


def _names(results: Sequence[GateResult]) -> str:
    return ", ".join(str(result.gate) for result in results)


def _of(some: Sequence[GateResult], report: Report) -> str:
    total = len(report.gates)
    return "The one gate" if total == 1 else f"{len(some)} of {total} gates"


def _so_far(report: Report) -> str:
    if not report.gates:
        return "No gate was set."
    return (
        "The one gate is passed so far."
        if len(report.gates) == 1
        else f"All {len(report.gates)} gates are passed so far."
    )


def completeness(report: Report) -> str:
    """How much of the run is there."""
    run = report.run
    if report.is_complete:
        return f"Complete run: {counted(len(run.results), 'result')}."
    why = f" It stopped early: {run.stopped}." if run.stopped else ""
    return f"Partial run: {len(run.results):,} of {counted(run.expected, 'result')}.{why}"


def trust(report: Report) -> str:
    """Whether the judge is calibrated."""
    return f"Judge {'' if report.trust.is_calibrated else 'not '}calibrated. {report.trust.words}"


def metric_name(metric: str) -> str:
    """A metric's name in print."""
    return METRICS.get(metric, metric)


def number(value: float | None) -> str:
    """A figure in three digits; a dash where there is none. Only what is 1 is printed as 1, and only 0 as 0."""
    if value is None:
        return "-"
    text = f"{value:.3f}"
    if text == "1.000" and value < 1:
        return ">0.999"
    return "<0.001" if text == "0.000" and value > 0 else text


def interval(figure: Figure) -> str:
    """The interval of a figure."""
    between = figure.interval
    return "-" if between is None else f"{between.low:.3f} to {between.high:.3f}"


def reasons(figure: Figure) -> str:
    """Why items could not be scored, and how often each."""
    return ", ".join(f"{reason.replace('_', ' ')} {count}" for reason, count in figure.reasons.items())


def unscored(figure: Figure) -> str:
    """How many items could not be scored, and why."""
    why = reasons(figure)
    return f"{figure.unscored} ({why})" if figure.unscored and why else str(figure.unscored)


def counted(count: int, noun: str) -> str:
    """So many of something."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def unlike(one: Pins, other: Pins) -> str:
    """The pins in which two runs differ, by name."""
    return ", ".join(difference.pin for difference in pin_differences(one, other)) or "nothing"


def cost(report: Report) -> str:
    """What the run took: calls, tokens, money. What nobody reported is unknown, and never 0."""
    run = report.run
    tokens = "tokens not reported"
    if run.input_tokens is not None or run.output_tokens is not None:
        tokens = f"{_known(run.input_tokens)} tokens in, {_known(run.output_tokens)} out"
        tokens += f" (at least: {counted(run.silent, 'result')} without a report)" if run.silent else ""
    money = "cost unknown" if run.cost is None else f"cost {run.cost:,.4f}"
    return f"{counted(run.calls, 'call')} of models, {tokens}, {money}"


def _known(count: int | None) -> str:
    return "unknown" if count is None else f"{count:,}"
