"""`groundguard ask`, `demo`, `--version`, `--help`."""

import json
import re
import socket
import time
import warnings
from importlib.metadata import PackageNotFoundError

import pytest

from end_to_end.chat_server import chat_server
from end_to_end.command import invoke
from groundguard.cli.exits import friendly
from groundguard.cli.show import QUOTED, REASONS
from groundguard.quickstart import SAMPLES
from groundguard.records import Reason, Response, Status

NO_KEY = {"OPENAI_API_KEY": None, "OPENAI_BASE_URL": None, "OPENAI_ADMIN_KEY": None}


def test_answers_from_the_documents_and_shows_how():
    result = invoke("ask", "--docs", SAMPLES, "Is broken glass covered by the warranty?")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "The warranty does not cover broken glass, light bulbs, or damage by water."
    assert lines[2].startswith("answered  the judge found the whole answer in the chunks")
    assert "judged by lexical" in result.stdout
    assert re.search(r"^  warranty\.md:10  score \d\.\d\d$", result.stdout, re.MULTILINE)
    assert re.search(r"^took .*retrieval .*generation .*judge ", lines[-1])


def test_a_question_beside_the_documents_is_no_context():
    result = invoke("ask", "--docs", SAMPLES, "What is the capital of Portugal?")
    assert result.exit_code == 1
    assert "(no answer)" in result.stdout
    assert "no_context  nothing was retrieved" in result.stdout


def test_what_the_judge_is_not_is_told_once_in_words_of_the_command_line():
    result = invoke("ask", "--docs", SAMPLES, "warranty")
    assert result.stderr == ""
    told = "judged by lexical, which compares words and understands nothing; --judge openai:NAME has a model read them"
    assert told in result.stdout.splitlines()
    result = invoke("ask", "--docs", SAMPLES, "--json", "warranty")
    assert result.stderr == f"groundguard: note: {told}\n"
    result = invoke("ask", "--docs", SAMPLES, "--json", "What is the capital of Portugal?")
    assert result.stderr == ""


def test_a_quote_says_that_it_may_be_beside_the_point():
    assert QUOTED in invoke("ask", "--docs", SAMPLES, "warranty").stdout.splitlines()
    assert QUOTED not in invoke("ask", "--docs", SAMPLES, "What is the capital of Portugal?").stdout


def test_two_quotes_are_two_paragraphs():
    result = invoke("ask", "--docs", SAMPLES, "Is return postage free, and are gift cards refunded in cash?")
    first, blank, second = result.stdout.splitlines()[:3]
    assert first.startswith("Gift cards")
    assert blank == ""
    assert second.startswith("Return postage is free")


def test_json_is_one_strict_document_and_nothing_else():
    result = invoke("ask", "--docs", SAMPLES, "--json", "Is broken glass covered by the warranty?")
    assert result.exit_code == 0
    assert result.stdout.isascii()
    assert result.stdout.count("\n") == 1
    response = Response.from_dict(json.loads(result.stdout, parse_constant=pytest.fail))
    assert response.status is Status.ANSWERED
    assert response.chunks[0].id == "warranty.md#2"


def test_top_k_limits_the_chunks():
    result = invoke("ask", "--docs", SAMPLES, "--json", "--top-k", 1, "lamp warranty")
    assert len(json.loads(result.stdout)["chunks"]) == 1


def test_hostile_documents_reach_the_terminal_as_text(tmp_path):
    (tmp_path / "evil.md").write_text(
        "Lamps cost [red]9[/red] euros \x1b[2J\x1b]0;owned\x07 \u202e:smile: [link=http://x]y."
    )
    result = invoke("ask", "--docs", tmp_path, "What do lamps cost?")
    assert "[red]9[/red]" in result.stdout
    assert ":smile: [link=http://x]y" in result.stdout
    assert r"\x1b[2J\x1b]0;owned\x07 \u202e" in result.stdout
    assert not {"\x1b", "\x07", "\u202e"} & set(result.stdout)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--docs", "nowhere", "q"], "no such file or folder: nowhere"),
        (
            ["--docs", str(SAMPLES), "--judge", "oracle", "q"],
            "--judge is 'lexical', 'openai:NAME' or 'claims:openai:NAME', not 'oracle'",
        ),
        (["--docs", str(SAMPLES), "--judge", "openai:", "q"], "a model's name reads 'openai:NAME'"),
        (["--docs", str(SAMPLES), "--judge", "openai:tiny", "q"], "OPENAI_API_KEY"),
        (["--docs", str(SAMPLES), "--model", "openai:tiny", "q"], "OPENAI_API_KEY"),
        (["--docs", str(SAMPLES), "--model", "tiny", "q"], "a model's name reads 'openai:NAME'"),
        (["--docs", str(SAMPLES), "--constrained", "q"], "--constrained is for a model"),
        (["--docs", str(SAMPLES), "--timeout", "nan", "q"], "timeout is a number of seconds above 0"),
        (["--docs", str(SAMPLES), "--timeout", "0", "q"], "timeout is a number of seconds above 0"),
        (["--docs", str(SAMPLES), "--top-k", "0", "q"], "--top-k"),
        (["--docs", str(SAMPLES)], "QUESTION"),
        (["q"], "--docs"),
        (["--docs", str(SAMPLES), ""], "the question is blank"),
        (["--docs", str(SAMPLES), " \n"], "the question is blank"),
    ],
)
def test_bad_input_ends_with_2_and_says_what(args, message):
    result = invoke("ask", *args, env=NO_KEY)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("option", ["--judge", "--model"])
def test_a_missing_key_is_one_line(option):
    result = invoke("ask", "--docs", SAMPLES, option, "openai:tiny", "q", env=NO_KEY)
    (line,) = result.stderr.splitlines()
    assert "OPENAI_API_KEY" in line
    assert "OPENAI_BASE_URL" in line
    assert result.exit_code == 2


def test_a_model_judges():
    with chat_server(lambda request: "Yes") as server:
        result = invoke("ask", "--docs", SAMPLES, "--judge", "openai:tiny", "glass", env=server.environment)
    assert result.exit_code == 0
    assert "judged by fact_check:tiny" in result.stdout
    assert result.stderr == ""
    assert len(server.requests) == 1


def test_a_model_that_says_no():
    with chat_server(lambda request: "no") as server:
        result = invoke("ask", "--docs", SAMPLES, "--judge", "openai:tiny", "glass", env=server.environment)
    assert result.exit_code == 1
    assert "ungrounded  the answer says something that the chunks do not (unsupported)" in result.stdout


def test_a_model_that_chats_is_a_judge_that_failed():
    with chat_server(lambda request: "Yes.") as server:
        result = invoke("ask", "--docs", SAMPLES, "--judge", "openai:tiny", "glass", env=server.environment)
    assert result.exit_code == 3
    assert "(verdict_malformed)" in result.stdout
    assert "equals yes after removing the final full stop" in result.stdout
    (note,) = result.stderr.splitlines()
    assert note.startswith("groundguard: note: the judge fact_check:tiny replied, but not with a verdict")
    assert "doctor" in note


def test_a_judge_without_a_right_key_failed():
    with chat_server(lambda request: (401, "bad \x1b[31mkey")) as server:
        result = invoke("ask", "--docs", SAMPLES, "--judge", "openai:tiny", "glass", env=server.environment)
    assert result.exit_code == 3
    assert "ungrounded  the judge failed, so nothing was checked (judge_error)" in result.stdout
    assert r"bad \x1b[31mkey" in result.stdout


def test_a_judge_in_constrained_mode_is_sent_the_schema():
    with chat_server(lambda request: '{"verdict": "yes"}') as server:
        args = ("ask", "--docs", SAMPLES, "--judge", "openai:tiny", "--constrained", "glass")
        result = invoke(*args, env=server.environment)
    assert result.exit_code == 0
    assert server.requests[0]["response_format"]["type"] == "json_schema"


def test_a_model_answers_and_is_not_asked_without_chunks():
    with chat_server(lambda request: "The warranty does not cover broken glass.") as server:
        args = ("ask", "--docs", SAMPLES, "--model", "openai:tiny")
        result = invoke(*args, "Is broken glass covered?", env=server.environment)
        assert result.stdout.startswith("The warranty does not cover broken glass.\n")
        assert result.exit_code == 0
        assert QUOTED not in result.stdout
        assert len(server.requests) == 1
        assert invoke(*args, "What is the capital of Portugal?", env=server.environment).exit_code == 1
        assert len(server.requests) == 1


def test_an_error_of_the_answering_model_is_one_line():
    with chat_server(lambda request: (400, "no such\nmodel")) as server:
        result = invoke("ask", "--docs", SAMPLES, "--model", "openai:tiny", "glass", env=server.environment)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("groundguard: openai:tiny could not answer: BadRequestError: ")
    assert result.stdout == ""


def test_an_answering_model_without_text_is_one_line():
    with chat_server(lambda request: None) as server:
        result = invoke("ask", "--docs", SAMPLES, "--model", "openai:tiny", "glass", env=server.environment)
    assert result.exit_code == 2
    assert "the model tiny sent no text" in result.stderr


def test_the_timeout_holds_for_the_model_that_answers():
    with chat_server(lambda request: time.sleep(2)) as server:
        begun = time.monotonic()
        args = ("ask", "--docs", SAMPLES, "--model", "openai:tiny", "--timeout", "0.2", "glass")
        result = invoke(*args, env=server.environment)
        assert time.monotonic() - begun < 1.5
    assert result.exit_code == 2
    told = "openai:tiny could not answer: no answer within 0.2 s; --timeout gives it more time"
    assert result.stderr == f"groundguard: {told}\n"


def test_without_a_connection_the_server_is_named_and_no_password():
    env = {"OPENAI_BASE_URL": f"http://user:secret@127.0.0.1:{free_port()}/v1", "OPENAI_API_KEY": "a-test-key"}
    told = f"no connection to {env['OPENAI_BASE_URL'].replace('user:secret@', '')}: start a server there"
    args = ("ask", "--docs", SAMPLES, "--timeout", "0.3", "glass")
    result = invoke(*args, "--model", "openai:tiny", env=env)
    assert result.exit_code == 2
    assert f"groundguard: openai:tiny could not answer: {told}" in result.stderr
    result = invoke(*args, "--judge", "openai:tiny", env=env)
    assert result.exit_code == 3
    assert told in result.stdout
    assert "secret" not in result.stdout + result.stderr


def free_port():
    """A port where nobody listens."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def test_demo_shows_the_three_statuses_and_what_to_do_next():
    result = invoke("demo")
    assert result.exit_code == 0
    assert result.stderr == ""
    labels = re.findall(r"^   (answered|ungrounded|no_context)  ", result.stdout, re.MULTILINE)
    assert labels == ["answered", "ungrounded", "no_context"]
    assert "scripted" in result.stdout
    assert "90 days" in result.stdout
    assert [line.split()[:2] for line in result.stdout.splitlines()[-2:]] == [
        ["groundguard", "ask"],
        ["groundguard", "check"],
    ]
    assert len(result.stdout.splitlines()) <= 30


def test_version():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("groundguard ")


@pytest.mark.parametrize("args", [["--help"], ["ask", "--help"], ["check", "--help"], ["doctor", "--help"]])
def test_help_teaches_by_example(args):
    result = invoke(*args, env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert "groundguard" in result.stdout


def test_help_of_a_command_without_options():
    assert "no key" in invoke("demo", "--help").stdout


def test_without_a_command_it_shows_the_help():
    result = invoke()
    assert result.exit_code == 2
    assert "groundguard demo" in result.stdout + result.stderr


def test_every_reason_is_explained():
    assert REASONS.keys() == set(Reason)
    assert all(len(text) < 90 for text in REASONS.values())


def test_the_version_of_a_source_that_is_not_installed(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("groundguard.cli.app.version", missing)
    assert invoke("--version").stdout == "groundguard (run from its source, not installed)\n"


def test_warnings_of_others_are_left_as_they_are():
    with pytest.warns(FutureWarning, match="theirs"), friendly():
        warnings.warn("theirs", FutureWarning, stacklevel=1)
