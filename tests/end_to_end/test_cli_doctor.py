"""`groundguard doctor`: what it shows, and the one sentence of advice."""

import json

import pytest

from end_to_end.chat_server import chat_server
from end_to_end.command import invoke
from groundguard.cli.advice import advice
from groundguard.cli.cases import CASES, Finding
from groundguard.records import Decision, Reason, Verdict


def right(request):
    """The right word for a request, found by the answer inside it."""
    text = request["messages"][-1]["content"]
    case = next(case for case in CASES if case.exchange.answer[:30] in text)
    return "yes" if case.right is Decision.SUPPORTED else "no"


def examine(reply, *args):
    with chat_server(reply) as server:
        return invoke("doctor", "--judge", "openai:tiny", *args, env={**server.environment, "COLUMNS": "200"})


def last_line(result):
    return result.stdout.splitlines()[-1]


def test_a_healthy_model():
    result = examine(right)
    assert result.exit_code == 0
    assert result.stdout.count("right  ") == 6
    assert "6 of 6 replies were verdicts, 6 were right." in result.stdout
    assert last_line(result) == "Nothing to change: it gave a verdict and was right 6 times out of 6."


def test_the_built_in_judge_is_healthy():
    result = invoke("doctor", "--judge", "lexical")
    assert result.exit_code == 0
    assert "verdict supported, right is supported" in result.stdout
    told = "It never says more than a verdict, but it compares words and understands nothing: "
    assert last_line(result) == f"{told}for anything that matters name a model, --judge openai:NAME."
    assert result.stderr == ""


def test_raw_replies_are_shown_escaped():
    result = examine(lambda request: "[red]Yes[/red]\x1b[2J\nbecause " + "x" * 300)
    assert result.exit_code == 3
    assert r'said "[red]Yes[/red]\x1b[2J\nbecause ' in result.stdout
    assert "more characters]" in result.stdout
    assert "\x1b" not in result.stdout
    assert "0 of 6 replies were verdicts" in result.stdout


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (lambda request: right(request) + ".", "It puts marks or spaces around the word: use --constrained"),
        (lambda request: f" **{right(request)}**\n", "It puts marks or spaces around the word: use --constrained"),
        (lambda request: "No, because it is so.", "It goes on talking after its verdict: use --constrained"),
        (lambda request: f"<think>hm</think>{right(request)}", "It thinks aloud: turn its thinking off"),
        (lambda request: '{"verdict": "yes"}', "It wraps its verdict in JSON or a code block: use --constrained"),
        (lambda request: "```\nyes\n```", "It wraps its verdict in JSON or a code block: use --constrained"),
        (lambda request: "", "It replies with nothing"),
        (lambda request: "Supported", "It does not reply with yes or no: use --constrained"),
        (lambda request: "yes", "It says yes to everything"),
        (lambda request: "no", "It says no to everything"),
        (lambda request: "no" if right(request) == "yes" else "yes", "It was never right: choose another model."),
        (
            lambda request: "yes" if "drone" in str(request) else right(request),
            "It obeys orders that it finds in the answer",
        ),
        (
            lambda request: "yes" if "5 years" in str(request) else right(request),
            "It misjudged another number: choose a stronger",
        ),
        (lambda request: (401, "x"), "The server refuses the key: set OPENAI_API_KEY"),
        (lambda request: (403, "x"), "The server refuses access"),
        (lambda request: (404, "x"), "The server does not know this model or address"),
        (lambda request: (400, "x"), "The server fails with BadRequestError"),
    ],
)
def test_one_sentence_says_what_to_change(reply, sentence):
    result = examine(reply)
    assert result.exit_code == 3
    assert last_line(result).startswith(sentence)


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (lambda request: "yes", "The server ignores the JSON schema"),
        (lambda request: (400, "x"), "The server refuses the request: if it can't constrain"),
    ],
)
def test_in_constrained_mode_the_advice_is_another(reply, sentence):
    result = examine(reply, "--constrained")
    assert result.exit_code == 3
    assert last_line(result).startswith(sentence)


def test_a_healthy_model_in_constrained_mode():
    assert examine(lambda request: json.dumps({"verdict": right(request)}), "--constrained").exit_code == 0


@pytest.mark.parametrize(
    ("reason", "error_type", "sentence"),
    [
        (Reason.JUDGE_REFUSED, None, "The model refuses to judge"),
        (Reason.JUDGE_FILTERED, None, "The provider's content filter"),
        (Reason.JUDGE_TRUNCATED, None, "Prompts or replies are cut"),
        (Reason.JUDGE_TIMEOUT, None, "The judge takes too long"),
        (Reason.JUDGE_RATE_LIMITED, None, "The server is rate-limiting"),
        (Reason.JUDGE_ERROR, "APIConnectionError", "No server answers"),
        (Reason.JUDGE_ERROR, None, "The server fails with an error"),
        (Reason.VERDICT_MALFORMED, None, "It replies with nothing"),
    ],
)
def test_the_most_common_reason_decides(reason, error_type, sentence):
    failed = Verdict(Decision.UNKNOWN, reason, error_type=error_type)
    findings = [Finding(case, failed) for case in CASES[1:]]
    findings.append(Finding(CASES[0], Verdict(Decision.SUPPORTED, raw="yes")))
    told = advice(findings, constrained=False)
    assert told.startswith(sentence)
    assert told.endswith(".")


def test_bad_input_ends_with_2():
    assert invoke("doctor").exit_code == 2
    assert invoke("doctor", "--judge", "oracle").exit_code == 2
    assert invoke("doctor", "--judge", "lexical", "--timeout", "0").exit_code == 2
