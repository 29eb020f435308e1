"""The lock of a golden set: which items belong to which version, in a file beside the set."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundguard.errors import InputError
from groundguard.evaluation.golden.files import read_text, write_text
from groundguard.evaluation.golden.items import GoldenSet
from groundguard.fields import is_mapping

FORMAT = 1
"""Version of the lock file's own format."""

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Lock:
    """What a lock file holds.

    Attributes:
        name: Name of the set.
        versions: The content hash of every version that was locked, oldest first.
        latest: The hash of each item of the version locked last, by id: to name what changed.
    """

    name: str
    versions: Mapping[str, str]
    latest: Mapping[str, str]


def lock_path(path: str | os.PathLike[str]) -> Path:
    """Where the lock of a set lies: `insurer.lock.json` beside `insurer.jsonl` or `insurer.yaml`."""
    return Path(path).with_suffix(".lock.json")


def lock(golden: GoldenSet, path: str | os.PathLike[str]) -> bool:
    """Note in the set's lock file that these items are this version; says whether that is news.

    Args:
        golden: The set, as it was loaded.
        path: The file of the set.

    Raises:
        InputError: if this version was locked with other items, the lock belongs to another set, or can't be written.
    """
    held = _read(path) or Lock(golden.name, {}, {})
    if golden.version in held.versions:
        _compare(held, golden, path)
        return False
    latest = {item.id: item.content_hash for item in golden.items}
    versions = {**_same_set(held, golden, path).versions, golden.version: golden.content_hash}
    _write(Lock(golden.name, versions, latest), path)
    return True


def verify(golden: GoldenSet, path: str | os.PathLike[str]) -> None:
    """Make sure that a set's items are those that its lock holds for its version.

    Args:
        golden: The set, as it was loaded.
        path: The file of the set.

    Raises:
        InputError: if they are not, or there is no lock, or none for this version.
    """
    held = _read(path)
    if held is None:
        raise InputError(f"{path} is not locked: run `groundguard golden lock {path}`")
    if golden.version not in _same_set(held, golden, path).versions:
        raise InputError(f"{path}: version {golden.version!r} is not locked: run `groundguard golden lock {path}`")
    _compare(held, golden, path)


def _compare(held: Lock, golden: GoldenSet, path: object) -> None:
    if _same_set(held, golden, path).versions[golden.version] == golden.content_hash:
        return
    changed = _changes(held, golden) if golden.version == list(held.versions)[-1] else ""
    raise InputError(
        f"{path}: items changed, but the version is still {golden.version!r}{changed}: give the set a new version, then"
        f" run `groundguard golden lock {path}`"
    )


def _same_set(held: Lock, golden: GoldenSet, path: object) -> Lock:
    if held.name != golden.name:
        raise InputError(f"{path} is the set {golden.name!r}, but its lock is of {held.name!r}: rename one of them")
    return held


def _changes(held: Lock, golden: GoldenSet) -> str:
    now = {item.id: item.content_hash for item in golden.items}
    kinds = {
        "changed": [id_ for id_ in now if held.latest.get(id_, now[id_]) != now[id_]],
        "added": [id_ for id_ in now if id_ not in held.latest],
        "removed": [id_ for id_ in held.latest if id_ not in now],
    }
    return f" ({'; '.join(f'{what}: {shown(ids)}' for what, ids in kinds.items() if ids)})"


def shown(ids: Iterable[str], most: int = _SHOWN) -> str:
    """The first few ids, and how many more there are."""
    ids = list(ids)
    return ", ".join(ids[:most]) + (f" and {len(ids) - most} more" if len(ids) > most else "")


def _read(path: str | os.PathLike[str]) -> Lock | None:
    file = lock_path(path)
    if not file.exists():
        return None
    try:
        data = json.loads(read_text(file))
        _check_format(data)
        return Lock(data["name"], _texts(data["versions"]), _texts(data["latest"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            f"{file} is no lock that this version of groundguard wrote: restore it, or remove it and lock the set anew"
        ) from None


def _check_format(data: Any) -> None:
    if data["format"] != FORMAT or type(data["format"]) is not int or not isinstance(data["name"], str):
        raise ValueError("another format")


def _texts(data: object) -> dict[str, str]:
    if not is_mapping(data) or not data or not all(isinstance(value, str) for value in data.values()):
        raise ValueError("not hashes by name")
    return dict(data)


def _write(held: Lock, path: str | os.PathLike[str]) -> None:
    data = {"format": FORMAT, "name": held.name, "versions": dict(held.versions), "latest": dict(held.latest)}
    write_text(lock_path(path), json.dumps(data, indent=2) + "\n")
