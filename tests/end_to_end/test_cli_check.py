"""`groundguard check`: one answer, and a file of them."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from end_to_end.chat_server import chat_server
from end_to_end.command import COMMAND, environment, invoke, process
from groundguard.cli.many import unbroken
from groundguard.cli.show import out, show_label
from groundguard.guard import Guard
from groundguard.records import Claim, Decision, Response, Verdict
from support.exchange import wait_until

GOOD = {"question": "How long?", "answer": "The warranty lasts 2 years.", "chunks": ["The warranty lasts 2 years."]}
WRONG = {**GOOD, "answer": "The warranty lasts 5 years."}
NOTHING = {**GOOD, "chunks": []}


@pytest.fixture
def context(tmp_path):
    file = tmp_path / "warranty.md"
    file.write_text("The warranty lasts 2 years.\n")
    return file


@pytest.fixture
def response():
    """A response from a line of output."""

    def read(line):
        return Response.from_dict({key: value for key, value in line.items() if key not in {"line", "id"}})

    return read


def one(answer, *context, **more):
    contexts = [part for file in context for part in ("--context", file)]
    return invoke("check", "--question", "How long?", "--answer", answer, *contexts, **more)


def many(tmp_path, *items, args=()):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(
        b"".join(item if isinstance(item, bytes) else json.dumps(item).encode() + b"\n" for item in items)
    )
    result = invoke("check", "--input", source, "--output", target, *args)
    return result, [json.loads(line, parse_constant=pytest.fail) for line in target.read_bytes().splitlines()]


def test_a_supported_answer(context):
    result = one("The warranty lasts 2 years.", context)
    assert result.exit_code == 0
    assert "answered" in result.stdout
    assert str(context) in result.stdout


def test_an_unsupported_answer_says_what_is_wrong(context):
    result = one("The warranty lasts 5 years.", context)
    assert result.exit_code == 1
    assert "ungrounded" in result.stdout
    assert "- The warranty lasts 5 years. (the closest passage lacks or contradicts: 5" in result.stdout


def test_words_that_are_there_and_say_something_else_are_not_called_missing(tmp_path):
    claim = Claim("It is not so.", Decision.UNSUPPORTED, score=0.5)
    console = out()
    with console.capture() as capture:
        show_label(console, labelled(claim))
    assert "- It is not so. (the closest passage has these words, but says something else)" in capture.get()


def labelled(claim):
    """A response whose judge found fault with one claim."""
    guard = Guard(lambda exchange: Verdict(Decision.UNSUPPORTED, claims=(claim,)))
    return guard.check("q", answer=claim.text, chunks=["It is so."])


def test_each_context_is_one_chunk(context, tmp_path):
    other = tmp_path / "blank.md"
    other.write_text(" ")
    data = json.loads(
        invoke("check", "--json", "--question", "q", "--answer", "x", "--context", context, "--context", other).stdout
    )
    assert [chunk["source"] for chunk in data["chunks"]] == [str(context), str(other)]
    assert data["chunks"][0]["text"] == "The warranty lasts 2 years.\n"


def test_blank_contexts_are_no_context_and_a_blank_answer_is_ungrounded(context, tmp_path):
    blank = tmp_path / "blank.md"
    blank.write_text("\n")
    assert "(blank_chunks)" in one("x", blank).stdout
    result = one(" ", context)
    assert result.exit_code == 1
    assert "(empty_answer)" in result.stdout


def test_answer_and_context_from_files_and_stdin(context, tmp_path):
    answer = tmp_path / "answer.txt"
    answer.write_bytes(b"\xef\xbb\xbfThe warranty lasts 2 years.\n")
    assert one(f"@{answer}", context).exit_code == 0
    assert one("@-", context, stdin="The warranty lasts 2 years.").exit_code == 0
    assert one("The warranty lasts 2 years.", "-", stdin="The warranty lasts 2 years.").exit_code == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "check needs --question, --answer and --context, or --input"),
        (["--question", "q", "--answer", "a"], "check needs --question, --answer and --context, or --input"),
        (["--input", "x", "--answer", "a"], "--answer goes without --input"),
        (["--input", "x", "--context", "a"], "--context goes without --input"),
        (["--output", "x"], "--output goes with --input"),
        (["--question", "q", "--answer", "a", "--context", "x", "--output", "y"], "--output goes with --input"),
        (
            ["--question", "q", "--answer", "a", "--context", "x", "--concurrency", "2"],
            "--concurrency goes with --input",
        ),
        (["--input", "x", "--concurrency", "0"], "Invalid value for '--concurrency'"),
        (["--question", "q", "--answer", "@-", "--context", "-"], "stdin can be read only once"),
        (["--question", "q", "--answer", "a", "--context", "-", "--context", "-"], "stdin can be read only once"),
        (["--input", "nowhere.jsonl"], "can't open nowhere.jsonl: No such file"),
        (["--question", "q", "--answer", "@nowhere", "--context", "x"], "can't read"),
        (["--question", "q", "--answer", "a", "--context", "nowhere"], "can't read nowhere: No such file"),
        (["--judge", "x"], "--judge is 'lexical', 'openai:NAME' or 'claims:openai:NAME'"),
    ],
)
def test_bad_input_ends_with_2_and_says_what(args, message):
    result = invoke("check", *args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_a_missing_answer_file_is_named(context):
    result = one("@nowhere.txt", context)
    assert result.exit_code == 2
    assert "can't read nowhere.txt" in result.stderr


def test_a_context_that_is_not_utf_8_is_named(tmp_path):
    (tmp_path / "x.md").write_bytes(b"\xff\xfe")
    result = one("a", tmp_path / "x.md")
    assert result.exit_code == 2
    assert "x.md is not UTF-8 text (byte 0)" in result.stderr


def test_a_folder_as_context_is_an_error(tmp_path):
    assert one("a", tmp_path).exit_code == 2


def test_a_dash_is_an_answer_like_any_other(context):
    assert "(no answer)" not in one("-", context).stdout
    assert one("-", context).stdout.startswith("-\n")


def test_many_in_order_with_a_summary(tmp_path, response):
    result, lines = many(tmp_path, GOOD, WRONG, NOTHING)
    assert [line["status"] for line in lines] == ["answered", "ungrounded", "no_context"]
    assert [line["line"] for line in lines] == [1, 2, 3]
    assert [response(line).question for line in lines] == ["How long?"] * 3
    assert result.exit_code == 1
    summary = "3 checked: 1 answered, 1 ungrounded, 1 no_context; judge failures 0; bad lines 0"
    note, told = result.stderr.splitlines()
    assert note.startswith("groundguard: note: judged by lexical, which compares words")
    assert told == f"groundguard: {summary}"
    assert result.stdout == ""


def test_all_answered_is_0(tmp_path):
    result, _ = many(
        tmp_path, GOOD, {**GOOD, "chunks": [{"page_content": GOOD["answer"], "id": 7, "score": 0.5}], "more": 1}
    )
    assert result.exit_code == 0


def test_blank_lines_and_a_byte_order_mark_are_skipped_and_the_last_line_needs_no_end(tmp_path):
    data = b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\n   \n" + json.dumps(GOOD).encode()
    result, lines = many(tmp_path, data)
    assert (result.exit_code, len(lines)) == (0, 2)


@pytest.mark.parametrize("name", ["a\ud800", "", 7, -1.5, 10**400])
def test_a_line_keeps_its_number_and_its_id(tmp_path, name):
    _, lines = many(tmp_path, b"\n", {**GOOD, "id": name}, {"id": name}, GOOD)
    assert [line["line"] for line in lines] == [2, 3, 4]
    assert [line.get("id") for line in lines] == [name, name, None]
    assert lines[1] == {"line": 3, "id": name, "error": '"question" is missing'}


@pytest.mark.parametrize("name", ["true", "null", "[1]", "{}", "1e999", "-1e999"])
def test_an_id_of_another_kind_is_not_echoed(tmp_path, name):
    result, (line,) = many(tmp_path, json.dumps(GOOD).replace("{", f'{{"id": {name}, ', 1).encode())
    assert result.exit_code == 0
    assert "id" not in line


BAD = {
    b"nonsense": "not JSON: Expecting value (column 1)",
    b"\xff{}": "not UTF-8 (byte 0)",
    b"[1]": "not a JSON object but a list",
    b"7": "not a JSON object but a number",
    b"null": "not a JSON object but null",
    b'{"answer": "a", "chunks": []}': '"question" is missing',
    b'{"question": 1, "answer": "a", "chunks": []}': '"question" must be a string, not a number',
    b'{"question": "q", "answer": null, "chunks": []}': '"answer" must be a string, not null',
    b'{"question": "q", "answer": "a"}': '"chunks" must be a list of strings or objects, not null',
    b'{"question": "q", "answer": "a", "chunks": "c"}': '"chunks" must be a list of strings or objects, not a string',
    b'{"question": "q", "answer": "a", "chunks": ["c", true]}': (
        'chunk 2 must be a string or an object with "text", not true or false'
    ),
    b'{"question": "q", "answer": "a", "chunks": [{"text": 1}]}': (
        'chunk 1 must be a string or an object with "text", not an object'
    ),
    b'{"question": "q", "answer": "a", "chunks": [{"text": "c", "score": NaN}]}': "not JSON: NaN is no JSON value",
    b'{"question": "q", "answer": "a", "chunks": ' + b"[" * 100_000: "nested too deeply",
}


@pytest.mark.parametrize(("line", "message"), BAD.items(), ids=range(len(BAD)))
def test_a_bad_line_is_told_and_stops_nothing(tmp_path, line, message):
    result, lines = many(tmp_path, GOOD, line + b"\n", GOOD)
    assert lines[1] == {"line": 2, "error": message}
    assert [lines[0]["status"], lines[2]["status"]] == ["answered", "answered"]
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].endswith("bad lines 1")


@pytest.mark.parametrize("depth", [100, 200, 300, 400, 500, 700, 900])
def test_deep_metadata_is_checked_or_told(tmp_path, depth):
    chunk = '{"text": "The warranty lasts 2 years.", "metadata": {"a": ' + "[" * depth + "]" * depth + "}}"
    line = '{"question": "q", "answer": "The warranty lasts 2 years.", "chunks": [' + chunk + "]}\n"
    _, lines = many(tmp_path, line.encode(), GOOD)
    assert lines[0].get("status") == "answered" or lines[0] == {"line": 1, "error": "nested too deeply"}
    assert lines[1]["status"] == "answered"


def test_lone_surrogates_and_huge_numbers_survive_as_strict_json(tmp_path):
    line = rb'{"question": "\ud800", "answer": "warranty \udc00", "chunks": [{"text": "warranty \udc00", "score": 1e999, "metadata": {"n": 1e999}}]}'
    result, (out,) = many(tmp_path, line)
    assert result.exit_code == 0
    assert (out["question"], out["answer"]) == ("\ud800", "warranty \udc00")
    assert out["chunks"][0]["metadata"] == {"n": "inf"}
    assert (tmp_path / "out.jsonl").read_bytes().isascii()


def test_a_line_that_is_longer_than_a_read_is_one_line(tmp_path):
    filler = "The sky is blue. " * 30_000
    result, lines = many(tmp_path, GOOD, {**GOOD, "chunks": [filler, *GOOD["chunks"]]}, b"\xff" * 200_000 + b"\n", GOOD)
    assert [line.get("status") for line in lines] == ["answered", "answered", None, "answered"]
    assert len(lines[1]["chunks"][0]["text"]) == len(filler)
    assert result.exit_code == 2


@pytest.mark.parametrize(("args", "at_once"), [((), 8), (("--concurrency", "3"), 3)])
def test_so_many_lines_are_judged_at_once_and_come_out_in_order(tmp_path, monkeypatch, args, at_once):
    barrier = threading.Barrier(at_once)

    def reply(request):
        barrier.wait(20)  # passes only when so many ask at once
        return "yes"

    with chat_server(reply) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        items = [{**GOOD, "id": number} if number % 3 else b"bad\n" for number in range(3 * at_once)]
        result, lines = many(tmp_path, *items, args=("--judge", "openai:tiny", *args))
    assert [line["line"] for line in lines] == list(range(1, 3 * at_once + 1))
    assert [line.get("id") for line in lines] == [number if number % 3 else None for number in range(3 * at_once)]
    assert f"{2 * at_once} checked: {2 * at_once} answered" in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_leaves_whole_lines_only(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text((json.dumps(GOOD) + "\n") * 50_000)
    target.touch()
    command = [*COMMAND, "check", "--input", str(source), "--output", str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as child:
        wait_until(lambda: target.stat().st_size > 100_000, 60)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=30)
    assert child.returncode == 130
    *whole, rest = target.read_bytes().split(b"\n")
    assert rest == b""
    assert [json.loads(line)["line"] for line in whole] == list(range(1, len(whole) + 1))
    assert f"{len(whole)} checked: {len(whole)} answered" in errors.decode()
    assert b"Traceback" not in errors


def test_an_interrupt_waits_for_the_line_that_is_being_written_and_a_second_one_does_not():
    usual, done = signal.getsignal(signal.SIGINT), []

    def write(interrupts):
        with unbroken():
            for _ in range(interrupts):
                signal.raise_signal(signal.SIGINT)
            done.append(interrupts)

    for interrupts in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            write(interrupts)
    write(0)
    assert done == [1, 0]
    elsewhere = threading.Thread(target=write, args=(0,))
    elsewhere.start()
    elsewhere.join()
    assert done == [1, 0, 0]
    assert signal.getsignal(signal.SIGINT) is usual


def test_one_who_sends_a_line_and_waits_is_not_kept_waiting():
    with subprocess.Popen(
        [*COMMAND, "check", "--input", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as child:
        for number in range(1, 4):
            child.stdin.write(json.dumps(GOOD).encode() + b"\n")
            child.stdin.flush()
            assert json.loads(child.stdout.readline())["line"] == number
        child.stdin.write(b"\n" + json.dumps(GOOD).encode() + b"\nbad")
        output, _ = child.communicate(timeout=30)
    assert [json.loads(line)["line"] for line in output.splitlines()] == [5, 6]
    assert child.returncode == 2


@pytest.mark.parametrize("data", [b"", b"\n\n"])
def test_nothing_checked_is_not_a_pass(tmp_path, data):
    result, lines = many(tmp_path, data)
    assert (result.exit_code, lines) == (2, [])
    told = f"groundguard: {tmp_path / 'in.jsonl'} has nothing to check: every line of it is blank\n"
    assert result.stderr == told
    assert "stdin has nothing to check" in invoke("check", "--input", "-", stdin=data).stderr


def test_refuses_to_overwrite_its_input(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(GOOD))
    link = tmp_path / "link.jsonl"
    os.link(source, link)
    for target in (source, link):
        result = invoke("check", "--input", source, "--output", target)
        assert result.exit_code == 2
        assert "is the file that --input reads: choose another" in result.stderr
    assert json.loads(source.read_text()) == GOOD


def test_an_output_that_cannot_be_opened_is_named(tmp_path):
    (tmp_path / "in.jsonl").write_text(json.dumps(GOOD))
    result = invoke("check", "--input", tmp_path / "in.jsonl", "--output", tmp_path / "no" / "out.jsonl")
    assert result.exit_code == 2
    assert "can't open" in result.stderr


def test_dashes_are_stdin_and_stdout():
    result = invoke("check", "--input", "-", stdin=json.dumps(GOOD) + "\n" + json.dumps(WRONG) + "\n")
    assert [json.loads(line)["status"] for line in result.stdout.splitlines()] == ["answered", "ungrounded"]
    assert result.exit_code == 1


def test_an_output_that_exists_is_written_anew(tmp_path):
    target = tmp_path / "out.jsonl"
    target.write_text("old")
    assert invoke("check", "--input", "-", "--output", target, stdin=json.dumps(GOOD)).exit_code == 0
    assert json.loads(target.read_text())["status"] == "answered"


def test_failures_are_counted_by_reason_the_most_common_first(tmp_path, monkeypatch):
    replies = iter(["hm", (401, "no"), "hm", "yes"])
    with chat_server(lambda request: next(replies)) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        result, _ = many(tmp_path, GOOD, GOOD, GOOD, GOOD, args=("--judge", "openai:tiny"))
    assert "judge failures 3 (2 verdict_malformed, 1 judge_error); bad lines 0" in result.stderr
    assert "note: judged by" not in result.stderr


def test_judge_failures_come_before_not_answered_and_after_bad_lines(tmp_path, monkeypatch):
    replies = iter(["yes", "no", "maybe", "yes", "hm"])
    with chat_server(lambda request: next(replies)) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        args = ("--judge", "openai:tiny", "--concurrency", "1")
        result, lines = many(tmp_path, GOOD, GOOD, GOOD, args=args)
        assert [line["reason"] for line in lines] == ["supported", "unsupported", "verdict_malformed"]
        assert result.exit_code == 3
        assert "judge failures 1 (1 verdict_malformed);" in result.stderr
        result, _ = many(tmp_path, GOOD, GOOD, b"bad\n", args=args)
        assert result.exit_code == 2


def test_two_thousand_lines_as_a_process_keep_their_order(tmp_path):
    source = tmp_path / "in.jsonl"
    with source.open("w") as file:
        for number in range(2000):
            line = json.dumps({**GOOD, "question": f"{number}?"}) if number % 10 else f"bad {number}"
            file.write(line + "\n")
    done = process("check", "--input", source, "--output", "-")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == 2000
    for number, line in enumerate(lines):
        assert line["question"] == f"{number}?" if number % 10 else line["line"] == number + 1
    assert done.returncode == 2
    assert b"1800 checked: 1800 answered, 0 ungrounded, 0 no_context; judge failures 0; bad lines 200" in done.stderr
    assert b"checking" not in done.stderr
