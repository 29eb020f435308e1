"""Field reports of the area evaluation that are about the golden set and the panel."""

from dataclasses import replace

import pytest

from end_to_end.command import invoke, process
from groundguard import Guard, Reason, Status
from groundguard.errors import InputError
from groundguard.evaluation.golden import GoldenItem, GoldenSet, difference, dump, load, lock
from groundguard.evaluation.panel import Faithfulness, FunctionMetric, Panel
from groundguard.judges import FactCheck
from groundguard.testing import ScriptedJudge, ScriptedModel

SET = GoldenSet("lamps", "1", tuple(GoldenItem(f"i{n}", f"Question {n}?", f"Answer {n}.") for n in range(4)))


def test_dataset_drift_is_seen_and_the_order_of_rows_is_nothing(tmp_path):  # eval-dataset-drift
    file = tmp_path / "lamps.jsonl"
    dump(SET, file)
    lock(SET, file)
    edited = replace(SET.items[0], answer="Another.")
    drifted = replace(SET, items=(*SET.items[:0:-1], edited, GoldenItem("new", "Question?")))
    assert replace(SET, items=SET.items[::-1]).content_hash == SET.content_hash
    found = difference(SET, drifted)
    assert (found.added, found.removed, [change.id for change in found.changed]) == (("new",), (), ["i0"])
    assert found.unchanged == 3
    dump(drifted, file)
    with pytest.raises(InputError, match=r"changed: i0; added: new"):
        load(file, locked=True)


def test_duplicate_row_ids_are_an_error(tmp_path):  # eval-dataset-drift
    file = tmp_path / "lamps.jsonl"
    file.write_text('{"name": "x", "version": "1"}\n{"id": "a", "question": "q"}\n{"id": "a", "question": "r"}\n')
    with pytest.raises(InputError, match="line 3: the id stands on line 2 already"):
        load(file)


@pytest.mark.parametrize("text", ["", "\n \n", '{"name": "lamps", "version": "1"}\n', None])
def test_an_empty_set_or_a_wrong_path_is_an_error_that_names_it(tmp_path, text):  # eval-empty-set-is-green
    file = tmp_path / "lamps.jsonl"
    if text is not None:
        file.write_text(text)
    done = invoke("golden", "lint", file)
    assert (done.exit_code, done.stdout) == (2, "")
    assert str(file) in done.stderr


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_set_loads_whatever_the_systems_code_page(tmp_path, mark):  # eval-windows-encoding
    file = tmp_path / "lamps.jsonl"
    text = "Größe 5 µm – 温度 \U0001f600"
    file.write_bytes(f'{mark}{{"name": "x", "version": "1"}}\n{{"id": "a", "question": "{text}"}}\n'.encode())
    assert load(file).items[0].question == text
    copy = tmp_path / "copy.jsonl"
    where = {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = process("golden", "split", file, "--output", copy, **where)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert load(copy).items[0].question == text
    dump(replace(SET, items=(replace(SET.items[0], answer=text),)), tmp_path / "other.jsonl")
    done = process("golden", "diff", file, tmp_path / "other.jsonl", **where)
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False)


@pytest.mark.parametrize(("said", "kind"), [(None, "NoneType"), (len, "builtin_function_or_method"), ("high", "str")])
def test_a_metric_that_returns_no_number_is_told_with_its_type(said, kind):  # eval-evaluator-error-invisible
    response = Guard(ScriptedJudge(True)).check("Question 0?", answer="Answer 0.", chunks=["Answer 0."])
    (score,) = Panel([FunctionMetric(lambda item, response: said, "mine")])(SET.items[0], response)
    assert (score.value, score.unscored) == (None, f"metric error: it returned a {kind}")


def test_an_outage_of_the_judge_is_not_held_against_the_answer():  # eval-judge-outage-blamed-on-answers
    judge = FactCheck(ScriptedModel("yes", RuntimeError("down")))
    guard, measure = Guard(judge), Panel([Faithfulness(judge)])
    rows = [guard.check(item.question, answer="An answer.", chunks=["A chunk."]) for item in SET.items[:2]]
    scores = [score for item, row in zip(SET.items, rows, strict=False) for score in measure(item, row)]
    assert [(row.status, row.reason) for row in rows] == [
        (Status.ANSWERED, Reason.SUPPORTED),
        (Status.UNGROUNDED, Reason.JUDGE_ERROR),
    ]
    assert [(score.value, score.unscored) for score in scores] == [(1.0, None), (None, "judge_error")]
