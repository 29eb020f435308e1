"""Where a run is kept while it goes on: one SQLite file, a row a finished result, JSON and no pickle.

Beside the results stand the replies of calls whose result is not finished yet, each written down the moment it is
there. So whatever ends the process, what is resumed makes no call again whose reply is written down; only a call that
was under way when the process was killed outright has to be made once more, since its reply never came.

The file is in WAL mode: it stays whole when the process is killed; a power cut may lose the last moments.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from groundguard.errors import InputError
from groundguard.evaluation.results import ItemResult
from groundguard.evaluation.runner.budget import Spent, read_spent
from groundguard.fields import plain_fields

APPLICATION = 0x67675275
"""What SQLite writes into the head of the file: a store of groundguard, and no other database."""

_SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE results (
    item TEXT NOT NULL, repeat INTEGER NOT NULL, place INTEGER NOT NULL, result TEXT NOT NULL, spent TEXT NOT NULL,
    final INTEGER NOT NULL, PRIMARY KEY (item, repeat)
);
CREATE INDEX in_order ON results (place, repeat);
CREATE TABLE replies (
    number INTEGER PRIMARY KEY, item TEXT NOT NULL, repeat INTEGER NOT NULL, digest TEXT NOT NULL, reply TEXT NOT NULL
);
CREATE INDEX by_result ON replies (item, repeat);
CREATE TRIGGER finished AFTER INSERT ON results WHEN NEW.final BEGIN
    DELETE FROM replies WHERE item = NEW.item AND repeat = NEW.repeat;
END;
"""


_AT_ONCE = 64
"""How many results are read at once."""


class Key(NamedTuple):
    """What a result is of: an item as it is, by its hash, and the repeat."""

    item: str
    repeat: int


class Row(NamedTuple):
    """A finished result, where it stands in the run, and what it took."""

    place: int
    repeat: int
    result: ItemResult
    spent: Spent


class Store:
    """The results of one run.

    One process at a time has it: a second one is refused. Threads may share it.

    Args:
        path: The file; None keeps all in memory.
        identity: What the run is made with, as JSON values: a store of another one is refused.
        started: When the run began; the file keeps the first.
        resume: Whether to go on with a file that is there.

    Raises:
        InputError: if it is there and not to be resumed, holds another run or something else, is in use, or can't be
            written.
    """

    def __init__(
        self, path: str | Path | None, identity: Mapping[str, Any], started: str, *, resume: bool = False
    ) -> None:
        self.path = None if path is None else Path(path)
        if self.path is not None and self.path.exists() and not resume:
            raise InputError(
                f"{self.path} holds a run already: go on with it (resume=True, --resume), or delete it, or name another"
            )
        self._turn: SimpleQueue[None] = SimpleQueue()
        self._turn.put(None)
        try:
            self._database = sqlite3.connect(
                ":memory:" if path is None else path, timeout=0, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise InputError(_told(error, self.path)) from error
        try:
            self._open(identity, started)
        except sqlite3.Error as error:
            self._database.close()
            raise InputError(_told(error, self.path)) from error
        except InputError:
            self._database.close()
            raise

    def _open(self, identity: Mapping[str, Any], started: str) -> None:
        ask = self._database.execute
        ask("PRAGMA locking_mode = EXCLUSIVE")
        is_new = not ask("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not is_new and ask("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise InputError(f"{self.path} is a database of something else: name another file")
        ask("PRAGMA journal_mode = WAL")
        ask("PRAGMA synchronous = NORMAL")
        ask("BEGIN IMMEDIATE").execute("COMMIT")  # takes the lock, and keeps it
        if is_new:
            self._database.executescript(f"BEGIN;PRAGMA application_id = {APPLICATION};{_SCHEMA}COMMIT;")
            about = {"identity": json.dumps(identity, sort_keys=True), "started": started}
            self._database.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        self._check(identity)

    def _check(self, identity: Mapping[str, Any]) -> None:
        kept = json.loads(self._about("identity"))
        differs = [key for key in (*kept, *(identity.keys() - kept.keys())) if kept.get(key) != identity.get(key)]
        if differs:
            raise InputError(
                f"{self.path} holds a run that was made with another {' and '.join(differs)}: results of the two can't"
                " be mixed; name another file for this one"
            )

    def _about(self, key: str) -> str:
        return str(self._ask("SELECT value FROM about WHERE key = ?", (key,))[0][0])

    def _ask(self, statement: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._alone():
            return self._database.execute(statement, values).fetchall()

    @contextmanager
    def _alone(self) -> Generator[None]:
        """One thread at a time: a connection that is closed while another thread is in it takes the process down."""
        self._turn.get()
        try:
            yield
        finally:
            self._turn.put(None)

    @property
    def started(self) -> str:
        """When the run began."""
        return self._about("started")

    def finished(self) -> set[Key]:
        """Which results are there and final."""
        return {Key(*row) for row in self._ask("SELECT item, repeat FROM results WHERE final")}

    def keep(self, key: Key, row: Row, *, final: bool) -> None:
        """Write a result down, and forget the replies that it was made of.

        Args:
            key: What it is of.
            row: The result.
            final: Whether it stands; one about which a judge could not be asked is tried again when the run is resumed.
        """
        values = (row.place, json.dumps(row.result.to_dict()), json.dumps(plain_fields(row.spent)), final)
        self._ask("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?)", (*key, *values))

    def rows(self) -> Iterator[Row]:
        """The results in order, one by one: few of them in memory."""
        after = (-1, -1)
        found = (
            "SELECT place, repeat, result, spent FROM results WHERE (place, repeat) > (?, ?)"
            " ORDER BY place, repeat LIMIT ?"
        )
        while rows := self._ask(found, (*after, _AT_ONCE)):
            for place, repeat, result, spent in rows:
                yield Row(place, repeat, ItemResult.from_dict(json.loads(result)), read_spent(json.loads(spent)))
            after = rows[-1][:2]

    def spent(self) -> Iterator[Spent]:
        """What each final result took."""
        return (read_spent(json.loads(spent)) for (spent,) in self._ask("SELECT spent FROM results WHERE final"))

    def keep_reply(self, key: Key, digest: str, reply: str) -> None:
        """Write down what came back from a call of a result that is not finished."""
        self._ask("INSERT INTO replies (item, repeat, digest, reply) VALUES (?, ?, ?, ?)", (*key, digest, reply))

    def replies(self, key: Key) -> list[tuple[str, str]]:
        """The replies of a result that was not finished: digest and reply, in the order in which they came."""
        rows = self._ask("SELECT digest, reply FROM replies WHERE item = ? AND repeat = ? ORDER BY number", key)
        return [(str(digest), str(reply)) for digest, reply in rows]

    def count_replies(self) -> int:
        """How many calls belong to results that are not finished."""
        return int(self._ask("SELECT count(*) FROM replies")[0][0])

    def close(self) -> None:
        """Let others have it."""
        with self._alone():
            self._database.close()


def _told(error: sqlite3.Error, path: Path | None) -> str:
    text = str(error)
    if "locked" in text:
        return f"{path} is in use by another run: wait for its end, or name another file"
    if "not a database" in text:
        return f"{path} is no store of a run: name another file"
    return f"can't keep the run in {path}: {text}"


def told(error: sqlite3.Error, path: Path | None) -> str:
    """What is wrong with the store, and what to do."""
    return f"{_told(error, path)}; what was written before is kept"
