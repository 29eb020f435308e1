"""The file of a run: what it keeps, and whom it refuses."""

from __future__ import annotations

import os
import resource
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from groundguard.errors import InputError
from groundguard.evaluation.results import ItemResult
from groundguard.evaluation.runner.budget import Spent
from groundguard.evaluation.runner.store import Key, Row, Store
from groundguard.records import Usage
from support.scripts import run_script

IDENTITY = {"dataset": "d", "version": "1"}


def row(place: int, repeat: int = 0) -> Row:
    return Row(place, repeat, ItemResult(f"i{place}", repeat, "q"), Spent(1, Usage(2, 3)))


def opened(path, identity=IDENTITY, **options):
    return closing(Store(path, identity, "2026-01-01", **options))


def test_what_was_kept_is_there_in_order(tmp_path):
    path = tmp_path / "run.store"
    with opened(path) as store:
        for place in reversed(range(200)):
            store.keep(Key(f"h{place}", 0), row(place), final=place % 2 == 0)
    with opened(path, resume=True) as store:
        assert [each.place for each in store.rows()] == list(range(200))
        assert next(store.rows()) == row(0)
        assert len(store.finished()) == 100
        assert sum(store.spent(), Spent()).calls == 100
        assert store.started == "2026-01-01"


def test_replies_stay_until_their_result_is_final():
    with opened(None) as store:
        store.keep_reply(Key("h", 0), "d1", '"yes"')
        store.keep_reply(Key("h", 0), "d2", '"no"')
        store.keep_reply(Key("h", 1), "d1", '"other"')
        assert store.replies(Key("h", 0)) == [("d1", '"yes"'), ("d2", '"no"')]
        store.keep(Key("h", 0), row(0), final=False)
        assert store.count_replies() == 3
        store.keep(Key("h", 0), row(0), final=True)
        assert store.count_replies() == 1
        assert store.replies(Key("h", 1)) == [("d1", '"other"')]


def test_a_run_that_is_there_is_not_written_over(tmp_path):
    path = tmp_path / "run.store"
    Store(path, IDENTITY, "now").close()
    with pytest.raises(InputError, match=r"holds a run already: .*--resume"):
        Store(path, IDENTITY, "now")


def test_another_run_is_refused_by_what_differs(tmp_path):
    path = tmp_path / "run.store"
    Store(path, IDENTITY, "now").close()
    with pytest.raises(InputError, match="made with another version and target"):
        Store(path, {"dataset": "d", "version": "2", "target": "t"}, "now", resume=True)
    with opened(path, resume=True):
        pass


def test_a_second_user_is_refused_and_comes_in_when_the_first_is_gone(tmp_path):
    path = tmp_path / "run.store"
    with opened(path), pytest.raises(InputError, match="in use by another run"):
        Store(path, IDENTITY, "now", resume=True)
    with opened(path, resume=True):
        script = f"""
            from groundguard.errors import InputError
            from groundguard.evaluation.runner.store import Store
            try:
                Store({str(path)!r}, {IDENTITY!r}, "now", resume=True)
            except InputError as error:
                print(error)
            """
        assert "in use by another run" in run_script(script, preamble="").stdout


def test_other_files_are_refused(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database at all, but long enough to be looked at as one" * 20)
    with pytest.raises(InputError, match="no store of a run"):
        Store(text, IDENTITY, "now", resume=True)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE t (x)")
    with pytest.raises(InputError, match="a database of something else"):
        Store(other, IDENTITY, "now", resume=True)
    with closing(sqlite3.connect(other, timeout=0)) as database:
        database.execute("INSERT INTO t VALUES (1)")  # nobody holds it


def test_a_folder_that_cant_be_written_is_told(tmp_path):
    with pytest.raises(InputError, match="can't keep the run in"):
        Store(tmp_path / "missing" / "run.store", IDENTITY, "now")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that is closed to this user")
def test_a_read_only_folder_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="can't keep the run in"):
        Store(tmp_path / "run.store", IDENTITY, "now")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_file_system_that_takes_no_files_is_told():
    with pytest.raises(InputError, match=r"can't keep the run in /proc/run\.store"):
        Store(Path("/proc/run.store"), IDENTITY, "now")


@pytest.mark.skipif(sys.platform == "win32" or not hasattr(resource, "RLIMIT_FSIZE"), reason="limits of a process")
def test_a_full_disk_ends_the_run_in_one_sentence_and_keeps_what_was_written(tmp_path):
    path = tmp_path / "run.store"
    script = f"""
        import resource
        from groundguard.errors import InputError
        from groundguard.evaluation import evaluate
        from groundguard.evaluation.golden.items import GoldenItem, GoldenSet
        from groundguard.testing import ScriptedJudge
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
        golden = GoldenSet("d", "1", tuple(GoldenItem(f"i{{n}}", "q" * 2000) for n in range(400)))
        try:
            evaluate(golden, lambda question: (question, [question]), judge=ScriptedJudge(True), store={str(path)!r})
        except InputError as error:
            print(error)
        """
    said = run_script(script, preamble="").stdout
    assert "can't keep the run in" in said
    assert "what was written before is kept" in said
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM results").fetchone()[0] > 3


def test_after_it_is_closed_nothing_is_written():
    store = Store(None, IDENTITY, "now")
    store.close()
    with pytest.raises(sqlite3.ProgrammingError):
        store.keep_reply(Key("h", 0), "d", "r")
