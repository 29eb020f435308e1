"""A run as a file: valid JSON, all of it or nothing."""

from __future__ import annotations

import json

import pytest

from groundguard.errors import InputError
from groundguard.evaluation import ItemResult, Pins, Run, Score, read_run, write_run

RUN = Run(
    Pins("d", "1", "h", judges={"m": "f"}),
    (
        ItemResult("no claims", 0, "\ud800 and \u2028", scores=(Score("m", None, "no claims"),)),
        ItemResult("broken", 0, "q", error="LookupError"),
    ),
    expected=3,
    started="2026-01-01T00:00:00+00:00",
    stopped="budget",
)


def refuse(name):
    raise AssertionError(name)


def test_it_comes_back_and_is_strict_json(tmp_path):
    path = tmp_path / "run.json"
    write_run(RUN, path)
    assert read_run(path) == RUN
    assert json.loads(path.read_text("ascii"), parse_constant=refuse) == RUN.to_dict()
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]
    write_run(RUN, path)


def test_what_cant_be_written_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="can't write"):
        write_run(RUN, tmp_path / "missing" / "run.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="can't write"):
        write_run(RUN, tmp_path / "folder")
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "is no JSON"),
        ('{"format": NaN}', "is no JSON"),
        ("[]", "not a run"),
        (json.dumps(RUN.to_dict() | {"format": "another"}), "not a run"),
        (json.dumps(RUN.to_dict() | {"results": [{}]}), "not a result"),
        (json.dumps(RUN.to_dict() | {"results": 3}), "results must be a list"),
    ],
)
def test_other_files_are_refused(tmp_path, text, what):
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(InputError, match=what):
        read_run(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="can't read"):
        read_run(tmp_path / "run.json")
