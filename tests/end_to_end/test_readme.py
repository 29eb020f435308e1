"""The README does what it says: short, and every example runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


def test_it_is_short():
    assert len(README.read_text("utf-8").splitlines()) < 120


def test_it_shows_three_uses_of_under_15_lines_each():
    assert [len(example.splitlines()) < 15 for example in EXAMPLES] == [True, True, True]


@pytest.mark.parametrize("example", EXAMPLES, ids=["wrap", "decorator", "spans"])
def test_every_example_prints_what_its_comment_says(example, tmp_path):
    done = run(example, tmp_path)
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"print\(.*\)  # (.*)", example)
    assert all(line in done.stdout for line in promised)
    assert promised or '"name": "groundguard check"' in done.stdout


def test_it_has_two_commands_for_a_bare_machine():
    commands = re.findall(r"^python3 -m venv.*$", README.read_text("utf-8"), re.MULTILINE)
    assert [command.split("/")[-1] for command in commands] == ["groundguard demo", "pytest -q -n auto"]


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README.read_text("utf-8"))
    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []


def run(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "example.py"
    path.write_text(source, "utf-8")
    return subprocess.run([sys.executable, path], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
