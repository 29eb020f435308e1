"""What is known of a judge: how it did on labelled answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from groundguard.evaluation.results import Interval
from groundguard.evaluation.statistics.agreement import Table
from groundguard.evaluation.statistics.prevalence import Corrected, rogan_gladen
from groundguard.fields import built, collect, count, entries, expect, listed, measure, plain_fields, reading
from groundguard.judges import Judge

ENOUGH = 50
"""Fewer labels than this say little about a judge."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of some of the labels.

    Attributes:
        value: The share; None where there are none of them.
        interval: Its interval.
        n: Of how many.
    """

    value: float | None
    interval: Interval | None
    n: int

    def __post_init__(self) -> None:
        measure(self, "value", least=-1, most=1)
        expect(self, Interval | None, "interval")
        expect(self, int, "n")
        count(self, "n")


@dataclass(frozen=True, slots=True)
class Row:
    """What became of the answers with one kind of label: a line of the confusion table.

    Attributes:
        passed: The judge said supported.
        stopped: The judge said unsupported.
        unknown: The judge could not say: not passed, and not a judgement either.
    """

    passed: int = 0
    stopped: int = 0
    unknown: int = 0

    def __post_init__(self) -> None:
        expect(self, int, "passed", "stopped", "unknown")
        count(self, "passed", "stopped", "unknown")

    @property
    def n(self) -> int:
        """How many there are."""
        return self.passed + self.stopped + self.unknown


@dataclass(frozen=True, slots=True)
class Swept:
    """What the judge's score would do as a threshold.

    Attributes:
        threshold: A score that passes, and everything above it.
        sensitivity: Share of the grounded answers that would pass.
        false_passes: Share of the ungrounded answers that would pass.
        balanced_accuracy: The mean of the sensitivity and of what is left of the false passes.
    """

    threshold: float
    sensitivity: float
    false_passes: float
    balanced_accuracy: float

    def __post_init__(self) -> None:
        measure(self, "threshold", "sensitivity", "false_passes", "balanced_accuracy", least=0, most=1)


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled answer on which judge and label differ, by where it stands: its texts stay in the file.

    Attributes:
        line: Its line.
        id: Its own name, if it has one.
    """

    line: int
    id: str | None = None

    def __post_init__(self) -> None:
        expect(self, int, "line")
        expect(self, str | None, "id")


@dataclass(frozen=True, slots=True)
class Calibration:
    """A judge held against labels. It belongs to one fingerprint, and goes stale when that changes.

    An answer that the judge could not judge counts as not passed, as it does in production, and is shown apart.

    Attributes:
        judge: The judge's name.
        fingerprint: The judge's fingerprint.
        models: The model names that its server reported, sorted.
        prompt_hash: Hash of its prompt, where it has one.
        labels_hash: Hash of the labels.
        n: How many labels.
        human: How many of them a person wrote, as the file says.
        by_model: How many of them a model wrote.
        distinct: How many different answers they are of: one labelled twice is one.
        human_ungrounded: How many of those by people say `ungrounded`: the false-pass rate stands on these.
        grounded: What became of the grounded answers.
        ungrounded: What became of the others.
        sensitivity: Share of the grounded answers that passed.
        specificity: Share of the ungrounded answers that did not.
        false_pass: Share of the ungrounded answers that passed.
        false_pass_upper: The highest false-pass rate that fits: a one-sided bound, 1 without ungrounded answers.
        balanced_accuracy: The mean of sensitivity and specificity.
        kappa: Cohen's kappa.
        auroc: How well the judge's score ranks grounded above ungrounded answers; no value where it gives none.
        sweep: What other thresholds on the score would do.
        false_passes: The ungrounded answers that passed: to be read.
        false_stops: The grounded answers that did not pass, unknown ones included.
        labels_needed: How many ungrounded labels it takes to show a false-pass rate below the target, if it stays what
            it is; None where no number would do.
        target: That target.
        made: When, ISO 8601; None where nobody said.
        notes: What a reader should know, aloud.
    """

    judge: str
    fingerprint: str
    models: tuple[str, ...]
    prompt_hash: str | None
    labels_hash: str
    n: int
    human: int
    by_model: int
    distinct: int
    human_ungrounded: int
    grounded: Row
    ungrounded: Row
    sensitivity: Rate
    specificity: Rate
    false_pass: Rate
    false_pass_upper: float
    balanced_accuracy: Rate
    kappa: Rate
    auroc: Rate
    sweep: tuple[Swept, ...] = field(default=(), repr=False)
    false_passes: tuple[Case, ...] = field(default=(), repr=False)
    false_stops: tuple[Case, ...] = field(default=(), repr=False)
    labels_needed: int | None = None
    target: float = 0.1
    made: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        expect(self, str, "judge", "fingerprint", "labels_hash")
        expect(self, str | None, "prompt_hash", "made")
        expect(self, int, "n", "human", "by_model", "distinct", "human_ungrounded")
        expect(self, int | None, "labels_needed")
        collect(self, str, "models", "notes")
        collect(self, Swept, "sweep")
        collect(self, Case, "false_passes", "false_stops")
        measure(self, "false_pass_upper", "target", least=0, most=1)

    @property
    def table(self) -> Table:
        """Labels against what the judge does, an unknown as not passed."""
        good, bad = self.grounded, self.ungrounded
        return Table(good.passed, good.stopped + good.unknown, bad.passed, bad.stopped + bad.unknown)

    @property
    def agreement(self) -> float | None:
        """Share on which judge and label agree. Never to be read without `best_guess` beside it."""
        return self.table.agreement

    @property
    def best_guess(self) -> float:
        """The agreement of whoever always says what most labels say."""
        return max(self.grounded.n, self.ungrounded.n) / self.n

    @property
    def unknown(self) -> int:
        """How many answers the judge could not judge."""
        return self.grounded.unknown + self.ungrounded.unknown

    def fits(self, judge: Judge, models: Collection[str] = ()) -> bool:
        """Whether this calibration is of that judge as it is now.

        Args:
            judge: The judge.
            models: The model names that its server reports now, where known: a floating name moves to another model.
        """
        return self.fingerprint == judge.fingerprint and self.fits_models(models)

    def fits_models(self, models: Collection[str]) -> bool:
        """Whether the server reports the models of the calibration, as far as both are known."""
        return not models or not self.models or set(models) <= set(self.models)

    def lacks(self, *, least: int = ENOUGH, kappa: float | None = None) -> tuple[str, ...]:
        """What it lacks to be relied on, in words; nothing where it is sound.

        Args:
            least: How many human labels it takes.
            kappa: What the kappa must reach.
        """
        found: list[str] = []
        if self.human < least:
            found.append(f"{self.human} labels by people, of {least}")
        elif self.distinct < least:
            found.append(f"{self.distinct} different answers among its labels, of {least}")
        if self.human and not self.human_ungrounded:
            found.append("no label by a person of an ungrounded answer, so its false passes are a model's word")
        if self.kappa.value is None:
            found.append("no kappa: the labels are all of one kind")
        elif self.kappa.value <= 0:
            found.append(f"a kappa of {self.kappa.value:.2f}: no better than chance")
        elif kappa is not None and self.kappa.value < kappa:
            found.append(f"a kappa of {self.kappa.value:.2f}, below {kappa:.2f}")
        return tuple(found)

    def corrected(self, passed: int, n: int) -> Corrected | None:
        """The share of answers that are truly grounded, of which this judge passed so many (Rogan and Gladen).

        None where the judge is no better than a coin, or the labels are all of one kind. It holds as far as the
        labelled answers are like those: same pipeline, same kind of question.

        Args:
            passed: How many answers the judge passed.
            n: How many it was asked about.
        """
        return rogan_gladen(passed, n, self.table)

    def to_dict(self) -> dict[str, Any]:
        """The calibration as JSON values."""
        told = {"agreement": self.agreement, "best_guess": self.best_guess, "unknown": self.unknown}
        return plain_fields(self) | told

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Calibration:
        """The calibration back from `to_dict()`; raises `InputError` on anything else."""
        with reading("a calibration"):
            names = [each.name for each in fields(cls)]
            values = entries("Calibration", data, names, (*names, "agreement", "best_guess", "unknown"))
            for name in ("agreement", "best_guess", "unknown"):
                values.pop(name, None)
            values |= {name: built(Row, values[name]) for name in ("grounded", "ungrounded")}
            values |= {name: _rate(values[name]) for name in _RATES}
            values["sweep"] = tuple(built(Swept, each) for each in listed(values, "sweep"))
            for name in ("false_passes", "false_stops"):
                values[name] = tuple(built(Case, each) for each in listed(values, name))
            return cls(**values)


_RATES = ("sensitivity", "specificity", "false_pass", "balanced_accuracy", "kappa", "auroc")


def _rate(data: Any) -> Rate:
    values = entries("Rate", data, ("value", "interval", "n"), ("value", "interval", "n"))
    interval = values.pop("interval")
    return Rate(**values, interval=None if interval is None else built(Interval, interval))
