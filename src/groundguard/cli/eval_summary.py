"""What a run amounts to: figures, gates, the fault, and whether its judge can be believed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from groundguard.cli.exits import JUDGE_FAILED
from groundguard.cli.show import line, out, visible
from groundguard.errors import InputError
from groundguard.evaluation.calibration.kept import FOLDER, Stale, calibration_of
from groundguard.evaluation.figures import figures
from groundguard.evaluation.gates import gates as gating
from groundguard.evaluation.gates.gates import Gate, GateResult, Outcome
from groundguard.evaluation.overfit import Gap, overfit
from groundguard.evaluation.panel import Faithfulness, RunDiagnosis, diagnose_run
from groundguard.evaluation.panel.base import FAITHFULNESS
from groundguard.evaluation.results import Figure, Run
from groundguard.evaluation.runner.control import owes
from groundguard.evaluation.runner.health import Health, health
from groundguard.evaluation.runner.pins import floating
from groundguard.fields import plain, plain_fields
from groundguard.judges import Judge

_COLOURS = {Outcome.PASSED: "bold green", Outcome.FAILED: "bold red", Outcome.REFUSED: "bold yellow"}


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run amounts to."""

    run: Run
    figures: tuple[Figure, ...]
    gates: tuple[GateResult, ...]
    health: Health
    is_well: bool
    diagnosis: RunDiagnosis
    gaps: tuple[Gap, ...]
    calibration: str
    floating: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(
        cls, run: Run, judge: Judge | None, gates: Sequence[Gate], *, allow_noisy: bool, most_failures: float
    ) -> Summary:
        """Sum a run up."""
        found = figures(run)
        held = gating.held(gates, found, repeats=run.pins.repeats, allow_noisy=allow_noisy)
        well = health(run.results)
        return cls(
            run=run,
            figures=found,
            gates=held,
            health=well,
            is_well=well.is_well(most_failures),
            diagnosis=diagnose_run(run.results),
            gaps=overfit(run),
            calibration=calibration_line(judge, run),
            floating=floating(run.results),
        )

    @property
    def code(self) -> int:
        """The exit code, but for how the run was stopped."""
        return gating.exit_code(self.figures, self.gates) if self.is_well else JUDGE_FAILED

    @property
    def retriable(self) -> bool:
        """Whether there are results that a judge owes."""
        return any(map(owes, self.run.results))

    @property
    def digest(self) -> str:
        """SHA-256 of the run without its clocks: the same for every run with the same results."""
        return sha256(self.run.canonical()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON values."""
        return {
            **self.run.head(),
            "done": len(self.run.results),
            "digest": self.digest,
            "figures": [plain_fields(figure) for figure in self.figures],
            "gates": [gate.to_dict() for gate in self.gates],
            "judge": {**self.health.to_dict(), "is_well": self.is_well},
            "diagnosis": plain_fields(self.diagnosis),
            "overfit": [gap.to_dict() for gap in self.gaps],
            "calibration": self.calibration,
            "floating": plain(self.floating),
        }


def calibration_line(judge: Judge | None, run: Run, folder: Path = FOLDER) -> str:
    """Whether the judge of faithfulness is calibrated, in words."""
    if judge is None:
        return "no judge of faithfulness here, so none to be calibrated"
    try:
        found = calibration_of(judge, folder, models=_models(run))
    except InputError as error:
        return f"whether its judge is calibrated is not known: {error}"
    advice = "`groundguard calibrate LABELS` holds it against human labels"
    if found is None:
        return f"its judge is not calibrated: {advice}"
    if isinstance(found, Stale):
        return f"its judge is not calibrated any more: {found.why}; {advice}"
    lacks = "; ".join(found.lacks())
    return f"its judge is calibrated: {found.made or 'no date'}{', but ' * bool(lacks)}{lacks}"


def _models(run: Run) -> set[str]:
    """The model names that the server of the judge of faithfulness reported."""
    scores = (score for result in run.results for score in result.scores if score.metric == FAITHFULNESS)
    return {score.verdict.model for score in scores if score.verdict is not None and score.verdict.model}


def judge_of(panel: object) -> Judge | None:
    """The judge of faithfulness in a panel."""
    metrics = getattr(panel, "metrics", ())
    return next((metric.judge for metric in metrics if isinstance(metric, Faithfulness)), None)


def show_summary(summary: Summary) -> None:
    """Print what a person wants to know, the worst first to be seen at the end."""
    console, run = out(), summary.run
    name = visible(f"{run.pins.dataset} {run.pins.version}")
    line(console, Text(f"{name}: {len(run.results)} of {run.expected} results"))
    console.print()
    _show_figures(console, summary.figures, repeated=run.pins.repeats > 1)
    console.print()
    if errors := Counter(result.error for result in run.results if result.error is not None):
        named = visible(", ".join(f"{count} {name}" for name, count in errors.most_common()))
        told = f"the pipeline failed in {errors.total()} of {len(run.results)} results: {named}"
        line(console, Text(told, style="red"))
    line(console, Text(visible(f"diagnosis: {summary.diagnosis}")))
    line(console, Text(visible(summary.calibration)))
    line(console, Text(_spent(run)))
    for told in _smells(summary.gaps) if summary.is_well else ():
        line(console, Text(visible(told), style="yellow"))
    for models in summary.floating.values():
        names = visible(" and ".join(models))
        line(console, Text(f"the judge's model floats: its server reported {names} within this run", style="yellow"))
    if summary.health.failed or not summary.is_well:
        line(console, Text(str(summary.health), style="yellow" if summary.is_well else "bold red"))
    if not summary.is_well:
        told = "the judge is unhealthy, and that says nothing about the answers; `groundguard doctor --judge` tells why"
        line(console, Text(told, style="bold red"))
    for gate in summary.gates:
        line(
            console, Text(gate.outcome.value, style=_COLOURS[gate.outcome]).append(f"  {visible(gate.why)}", "default")
        )


def _smells(gaps: Sequence[Gap]) -> Iterator[str]:
    yield from (f"{gap.metric}: {gap.why}" for gap in gaps if gap.smells)
    if perfect := [gap.metric for gap in gaps if gap.perfect]:
        yield (
            f"every scored item is perfect by {', '.join(perfect)}, which is suspicious: the set may be too easy, or"
            " its answers stand where the pipeline sees them"
        )


def _show_figures(console: Console, found: Sequence[Figure], *, repeated: bool) -> None:
    if not any(figure.n for figure in found):
        told = "nothing was scored: that is a failure of the run, whatever the gates say"
        line(console, Text(told, style="bold red"))
    names = {figure: visible(figure.metric) for figure in found}
    width = max(map(len, names.values()), default=0)
    noise = "   flips  spread" if repeated else ""
    line(console, Text(f"{'':{width}}  value  95 % interval      n  unscored{noise}", style="dim"))
    for figure in found:
        line(console, Text(f"{names[figure]:{width}}  {_row(figure, repeated=repeated)}"))


def _row(figure: Figure, *, repeated: bool) -> str:
    value = "  -  " if figure.value is None else f"{figure.value:5.3f}"
    between = f"{'-':13}"
    if figure.interval is not None:
        between = f"{figure.interval.low:5.3f} - {figure.interval.high:5.3f}"
    reasons = visible(", ".join(f"{count} {reason}" for reason, count in figure.reasons.items()))
    noise = f"  {_part(figure.flip_rate)}  {_part(figure.spread)}" if repeated else ""
    apart = f"  ({reasons})" if reasons else ""
    return f"{value}  {between}  {figure.n:5}  {figure.unscored:8}{noise}{apart}"


def _part(value: float | None) -> str:
    return "    -" if value is None else f"{value:5.3f}"


def _spent(run: Run) -> str:
    tokens = "tokens unknown"
    if run.input_tokens is not None or run.output_tokens is not None:
        tokens = f"{'at least ' if run.silent else ''}{run.input_tokens or 0} tokens in, {run.output_tokens or 0} out"
    if run.silent:
        tokens += f" (not reported for {run.silent} of {len(run.results)} results)"
    cost = "cost unknown" if run.cost is None else f"cost {run.cost:.4g}"
    return f"judges took {run.calls} calls, {tokens}, {cost}" if run.calls else "judges called no model"
