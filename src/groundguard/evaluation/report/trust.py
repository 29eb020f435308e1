"""Whether the judge of a run is calibrated, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from groundguard.evaluation.calibration.record import Calibration, Rate
from groundguard.evaluation.results import Run

STALE = "The calibration is of an earlier state of it: its prompt, model or settings changed. Calibrate again."
UNKNOWN = "Nobody has held it against human labels: groundguard calibrate does."


@dataclass(frozen=True, slots=True)
class Trust:
    """How far the judge of a run can be trusted.

    Attributes:
        is_calibrated: Whether it was held against enough human labels, and nothing has changed since.
        words: With which result; or why it is not.
    """

    is_calibrated: bool = False
    words: str = UNKNOWN


def trust_in(run: Run, calibrations: Iterable[Calibration]) -> Trust:
    """What calibrations say about the judge of a run: the newest that fits, or why none does.

    Args:
        run: The run.
        calibrations: Calibrations of whatever judges, oldest first.
    """
    verdicts = [r.response.verdict for r in run.results if r.response and r.response.verdict]
    own = {*run.pins.judges.values(), *(verdict.fingerprint for verdict in verdicts)}
    names = {verdict.judge for verdict in verdicts}
    known = [each for each in calibrations if each.fingerprint in own or each.judge in names]
    of_it = [each for each in known if each.fingerprint in own]
    fitting = [each for each in of_it if each.fits_models(run.pins.judge_models)]
    if fitting:
        return _trust(fitting[-1])
    if of_it:
        return Trust(words="The judge's server reports another model than it did at the calibration: calibrate again.")
    return Trust(words=STALE) if known else Trust()


def _trust(calibration: Calibration) -> Trust:
    numbers = (
        f"Balanced accuracy {_told(calibration.balanced_accuracy)}, false passes {_told(calibration.false_pass)},"
        f" on {calibration.n} labels."
    )
    lacks = ", ".join(calibration.lacks())
    return Trust(not lacks, f"The calibration has {lacks}. {numbers}" if lacks else numbers)


def _told(rate: Rate) -> str:
    if rate.value is None or rate.interval is None:
        return "unknown"
    return f"{rate.value:.2f} ({rate.interval.low:.2f} to {rate.interval.high:.2f})"
