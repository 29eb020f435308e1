"""Field reports of the area evaluation that are about what is written at the end."""

import json
import xml.etree.ElementTree as ET

import pytest

from end_to_end.command import invoke, process
from groundguard.evaluation.runner.files import read_run, write_run
from groundguard.records import Chunk, Reason, Verdict
from groundguard.records import Decision as D
from support.runs import claim, insurer, result, verdict

ODD = "Gr\u00f6\u00dfe \u2028 \ud800 \U0001f600"


def refuse(name):
    """For a strict reader: NaN and Infinity are no JSON."""
    raise AssertionError(name)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """One answer without claims, one judge that failed, one with odd characters."""
    rows = (
        result("none", said=Verdict(D.SUPPORTED)),
        result("failed", ODD, said=verdict(unknown=Reason.JUDGE_ERROR)),
        result("odd", ODD, ODD, (Chunk(ODD, "water-1"),), verdict(claim(ODD, ODD, D.SUPPORTED, "water-1"))),
    )
    made = insurer(results=rows, expected=3)
    monkeypatch.chdir(tmp_path)
    write_run(made, "run.json")
    return made


def test_every_report_is_read_by_a_strict_reader(run, tmp_path):  # eval-report-is-not-valid-json
    done = invoke("report", "run.json", "--html", "r.html", "--junit", "r.xml", "--markdown", "r.md", "--json")

    assert done.exit_code == 3  # a judge that failed in one of three is unhealthy
    json.loads(done.stdout, parse_constant=refuse)
    json.loads((tmp_path / "run.json").read_text(encoding="ascii"), parse_constant=refuse)
    assert read_run("run.json") == run
    ET.parse(tmp_path / "r.xml")
    for name in ("r.html", "r.xml", "r.md"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "Gr\u00f6\u00dfe" in text
        assert "\\ud800" in text


def test_the_terminal_shows_a_mark_where_it_has_no_sign(run):  # eval-windows-encoding
    done = process("report", "run.json", "--html", "r.html", PYTHONIOENCODING="cp1252", PYTHONUTF8="0", LC_ALL="C")

    assert (done.returncode, b"Traceback" in done.stderr) == (3, False)
