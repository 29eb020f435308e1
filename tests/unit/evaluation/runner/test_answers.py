"""Recorded answers: read, judged as they stand, and bad rows survived."""

from __future__ import annotations

import json

import pytest

from groundguard import Guard, Status
from groundguard.errors import InputError
from groundguard.evaluation import GoldenItem, GoldenSet, evaluate
from groundguard.evaluation.panel import Faithfulness
from groundguard.evaluation.runner.answers import recorded
from groundguard.testing import ScriptedJudge

GUARD = Guard(ScriptedJudge(True))
GOOD = {"id": "a", "answer": "Größe 5 µm – 温度 \U0001f600", "chunks": ["c", {"text": "d", "id": "1"}]}


def written(tmp_path, *lines, bom=b""):
    path = tmp_path / "answers.jsonl"
    rows = [line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() for line in lines]
    path.write_bytes(bom + b"\n".join(rows))
    return path


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_answers_are_judged_as_they_stand(tmp_path, bom):
    path = written(tmp_path, GOOD, b"", b"", bom=bom)
    golden = GoldenSet("d", "1", (GoldenItem("a", "q"),))
    run = evaluate(golden, path, judge=GUARD, panel=[Faithfulness(GUARD.judge)])
    response = run.results[0].response
    assert (response.answer, response.status, len(response.chunks)) == (GOOD["answer"], Status.ANSWERED, 2)
    assert evaluate(golden, str(path), judge=GUARD, panel=[Faithfulness(GUARD.judge)]).canonical() == run.canonical()


def test_bad_rows_are_failures_of_their_items_and_end_nothing(tmp_path):
    lines = [
        GOOD,
        {"id": "no chunks", "answer": "a"},
        {"id": "chunks no list", "answer": "a", "chunks": "c"},
        {"id": "odd chunk", "answer": "a", "chunks": [1]},
        {"id": "no answer", "answer": None, "chunks": []},
        b"{",
        b'{"id": "nan", "answer": NaN}',
        b"\xff",
        b"[]",
        {"id": 3},
    ]
    target = recorded(written(tmp_path, *lines), GUARD)
    assert target.bad == (6, 7, 8, 9, 10)
    golden = GoldenSet("d", "1", tuple(GoldenItem(name, "q") for name in (*target.answers, "missing")))
    errors = {result.id: result.error for result in evaluate(golden, target, judge=GUARD).results}
    bad = ["no chunks", "chunks no list", "odd chunk", "no answer"]
    assert errors == {"a": None, **dict.fromkeys(bad, "BadAnswerError"), "missing": "NoAnswerError"}


def test_the_file_counts_by_its_content(tmp_path):
    one = recorded(written(tmp_path, GOOD), GUARD).identity
    assert recorded(written(tmp_path, {**GOOD, "answer": "b"}), GUARD).identity != one


def test_two_answers_for_one_item_are_an_error(tmp_path):
    with pytest.raises(InputError, match="line 2: a second answer for one id"):
        recorded(written(tmp_path, GOOD, GOOD), GUARD)


def test_no_answers_are_an_error(tmp_path):
    with pytest.raises(InputError, match="holds no answers"):
        recorded(written(tmp_path, b"{"), GUARD)
    with pytest.raises(InputError, match="can't read"):
        recorded(tmp_path / "nowhere.jsonl", GUARD)
