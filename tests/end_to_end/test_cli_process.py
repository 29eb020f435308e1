"""What only a process shows: exit codes, encodings, closed pipes, an interrupt, a missing extra."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from end_to_end.command import COMMAND, environment, process
from groundguard.quickstart import SAMPLES

LINE = json.dumps({"question": "q", "answer": "Two years.", "chunks": ["Two years."]}).encode() + b"\n"


def test_the_exit_code_is_the_status():
    assert process("ask", "--docs", SAMPLES, "Is broken glass covered?").returncode == 0
    assert process("ask", "--docs", SAMPLES, "What is the capital of Portugal?").returncode == 1
    missing = process("ask", "--docs", "nowhere", "q")
    assert (missing.returncode, missing.stderr) == (2, b"groundguard: no such file or folder: nowhere\n")
    assert process("ask").returncode == 2
    keyless = process("ask", "--docs", SAMPLES, "--judge", "openai:tiny", "q")
    assert keyless.returncode == 2
    assert b"Traceback" not in keyless.stderr


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_without_the_extra_it_says_what_to_install(module):
    code = f"import sys; sys.modules[{module!r}] = None; from groundguard.cli import main; main()"
    done = process(code=code)
    expected = f'groundguard: the command line needs {module}: pip install "groundguard-rag[cli]"\n'
    assert (done.returncode, done.stdout, done.stderr.decode()) == (2, b"", expected)


def test_without_bm25_only_ask_and_demo_stop():
    code = "import sys; sys.modules['bm25s'] = None; sys.argv[1:] = %r; from groundguard.cli import main; main()"
    done = process(code=code % ["demo"])
    assert done.returncode == 2
    assert b'the BM25 retriever needs bm25s: pip install "groundguard-rag[cli]"' in done.stderr
    assert process(code=code % ["check", "--input", "-"], stdin=LINE).returncode == 0


def test_another_missing_module_is_not_taken_for_the_extra():
    code = "import sys; sys.modules['groundguard.quickstart'] = None; from groundguard.cli import main; main()"
    assert b"ModuleNotFoundError: import of groundguard.quickstart halted" in process(code=code).stderr


def test_an_interrupt_while_it_starts_ends_with_130():
    code = "import sys\nfrom groundguard.cli import main\nclass Late:\n    def app(self): raise KeyboardInterrupt\n"
    done = process(code=code + "sys.modules['groundguard.cli.app'] = Late()\nmain()")
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.parametrize(
    "changes",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_narrow_encodings_get_replacement_marks(changes, tmp_path):
    (tmp_path / "a.md").write_text("退款 in 30 days → \U0001f600 [x]", encoding="utf-8")
    done = process("check", "--question", "q", "--answer", "30 days", "--context", tmp_path / "a.md", **changes)
    assert b"Traceback" not in done.stderr
    assert b"?? in 30 days ? ? [x]" in done.stdout
    found = process("ask", "--docs", tmp_path, "--json", "30 days", **changes)
    assert json.loads(found.stdout)["chunks"][0]["text"] == "退款 in 30 days → \U0001f600 [x]"
    assert process("demo", **changes).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_ends_with_130_and_no_traceback():
    with subprocess.Popen(
        [*COMMAND, "check", "--input", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as child:
        child.stdin.write(LINE)
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["status"] == "answered"
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=30)
    assert child.returncode == 130
    assert b"Traceback" not in errors
    assert b"1 checked: 1 answered" in errors


@pytest.mark.skipif(sys.platform == "win32", reason="pipes")
@pytest.mark.parametrize(
    "args", [["demo"], ["ask", "--docs", str(SAMPLES), "--json", "warranty"], ["check", "--input", "-"]]
)
def test_a_closed_pipe_ends_quietly(args):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, *args],
        input=LINE * 10,
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment(),
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 141
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full")
def test_a_full_disk_is_one_line():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "demo"], stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=60, check=False
        )
    assert done.returncode == 2
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a shell that closes streams")
def test_closed_streams_do_no_harm():
    command = f'"{sys.executable}" -m groundguard ask --docs "{SAMPLES}" --json warranty <&- >&- 2>&-'
    assert subprocess.run(command, shell=True, env=environment(), timeout=60, check=False).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colours_in_a_terminal_unless_unwanted(no_color, coloured):
    output = terminal(["demo"], NO_COLOR=no_color or None)
    assert (b"\x1b[1;32manswered" in output) is coloured
    assert b"answered" in output


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_a_progress_bar_where_a_person_looks(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(LINE * 50)
    output = terminal(["check", "--input", str(tmp_path / "in.jsonl"), "--output", str(tmp_path / "out.jsonl")])
    assert b"checking" in output
    assert b"50 checked" in output


def terminal(args, **changes):
    """What a command shows in a terminal."""
    import pty

    master, slave = pty.openpty()
    env = environment(TERM="xterm", COLUMNS="100", **changes)
    with subprocess.Popen([*COMMAND, *args], stdin=slave, stdout=slave, stderr=slave, env=env) as child:
        os.close(slave)
        output = b""
        try:
            while piece := os.read(master, 65536):
                output += piece
        except OSError:
            pass
        assert child.wait(30) == 0
    os.close(master)
    return output
