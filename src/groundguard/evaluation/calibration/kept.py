"""Where calibrations are kept: a folder with a JSON file each. None is ever overwritten by that of another judge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from groundguard.errors import InputError
from groundguard.evaluation.calibration.record import Calibration
from groundguard.evaluation.golden.files import read_text, write_text
from groundguard.judges import Judge

FOLDER = Path(".groundguard") / "calibrations"
"""Where they are kept, unless told."""


@dataclass(frozen=True, slots=True)
class Stale:
    """A calibration that no longer fits its judge.

    Attributes:
        calibration: The calibration.
        why: What changed, in words.
    """

    calibration: Calibration
    why: str


def save(calibration: Calibration, folder: Path = FOLDER) -> Path:
    """Keep a calibration; returns its file. One of the same judge, models and labels is replaced.

    Raises:
        InputError: if the file can't be written.
    """
    of_judge = hashlib.sha256("\n".join((calibration.fingerprint, *calibration.models)).encode("utf-8", "replace"))
    path = folder / f"{of_judge.hexdigest()[:16]}-{calibration.labels_hash[:12]}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"can't make the folder {folder}: {error.strerror}") from error
    write_text(path, json.dumps(calibration.to_dict(), ensure_ascii=True, allow_nan=False, indent=2) + "\n")
    return path


def load(folder: Path = FOLDER) -> tuple[Calibration, ...]:
    """Every calibration in a folder, oldest first; none where there is no such folder.

    Raises:
        InputError: if a file can't be read, or holds none; says which.
    """
    return tuple(sorted(map(_read, sorted(folder.glob("*.json"))), key=lambda each: each.made or ""))


def calibration_of(judge: Judge, folder: Path = FOLDER, *, models: Collection[str] = ()) -> Calibration | Stale | None:
    """The newest calibration that fits a judge; else a stale one of a judge of that name; else None.

    Args:
        judge: The judge.
        folder: Where calibrations are kept.
        models: The model names that the judge's server reports now, where known.

    Raises:
        InputError: if a file there can't be read.
    """
    own = [each for each in load(folder) if each.fingerprint == judge.fingerprint or each.judge == judge.name]
    fitting = [each for each in own if each.fits(judge, models)]
    if fitting:
        return fitting[-1]
    return Stale(own[-1], _why(own[-1], judge, models)) if own else None


def _why(calibration: Calibration, judge: Judge, models: Collection[str]) -> str:
    if calibration.fingerprint == judge.fingerprint:
        return (
            f"the model changed: the server reports {', '.join(sorted(models))}, and the calibration is of"
            f" {', '.join(calibration.models)}"
        )
    prompt = getattr(judge, "prompt_hash", None)
    what = "its prompt" if prompt is not None and prompt != calibration.prompt_hash else "its model or a setting of it"
    return f"{what} changed since: the judge is {judge.fingerprint} now, and was {calibration.fingerprint}"


def _read(path: Path) -> Calibration:
    try:
        return Calibration.from_dict(json.loads(read_text(path)))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {type(error).__name__}. Remove it, or calibrate again") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
