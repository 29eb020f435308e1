"""`--judge claims:openai:NAME`: a verdict on every statement."""

import json
import re

import pytest

from end_to_end.chat_server import chat_server
from end_to_end.command import invoke
from groundguard.records import Decision, Response

CHUNK = "The warranty covers the lamp for two years."
ANSWER = "The warranty covers the lamp for two years. It covers broken glass as well."
CHECK = ("check", "--question", "What is covered?", "--answer", ANSWER, "--context", "-", "--judge", "claims:openai:m")


def believes(request):
    """Says yes to the claims that stand in a passage word for word."""
    passages, _, rest = request["messages"][1]["content"].partition("</passages>")
    claims = re.findall(r'^\[(\d+)\] "(.*)"$', rest, re.MULTILINE)
    verdicts = [
        {
            "id": int(number),
            "verdict": "yes" if claim in passages else "no",
            "passages": [1] if claim in passages else [],
        }
        for number, claim in claims
    ]
    return json.dumps({"verdicts": verdicts})


def test_the_statement_that_no_passage_supports_is_shown():
    with chat_server(believes) as server:
        result = invoke(*CHECK, stdin=CHUNK, env=server.environment)
    assert result.exit_code == 1
    assert "ungrounded" in result.stdout
    assert "- It covers broken glass as well. (no passage supports it)" in result.stdout
    assert "- The warranty covers" not in result.stdout
    assert "judged by claims:m" in result.stdout
    assert len(server.requests) == 1
    assert server.requests[0]["response_format"]["type"] == "json_schema"


def test_as_json_every_claim_is_there():
    with chat_server(believes) as server:
        result = invoke(*CHECK, "--json", stdin=CHUNK, env=server.environment)
    verdict = Response.from_dict(json.loads(result.stdout)).verdict
    assert [claim.decision for claim in verdict.claims] == [Decision.SUPPORTED, Decision.UNSUPPORTED]
    assert verdict.score == 0.5


def test_a_statement_without_a_verdict_is_said_to_be_without_one():
    one = json.dumps({"verdicts": [{"id": 1, "verdict": "yes", "passages": [1]}]})
    with chat_server(lambda request: one) as server:
        result = invoke(*CHECK, stdin=CHUNK, env=server.environment)
    assert result.exit_code == 3
    assert "- It covers broken glass as well. (the judge gave no verdict on it)" in result.stdout


def test_a_judge_of_another_form_is_refused():
    result = invoke(*CHECK[:-1], "claims:lexical", stdin=CHUNK)
    assert result.exit_code == 2
    result = invoke(*CHECK[:-1], "claim", stdin=CHUNK)
    assert result.exit_code == 2
    assert "--judge is 'lexical', 'openai:NAME' or 'claims:openai:NAME'" in result.stderr


def test_a_server_that_knows_no_schema_is_asked_in_words():
    def refuses(request):
        return (400, "response_format is not supported") if "response_format" in request else believes(request)

    with chat_server(refuses) as server:
        told = invoke("doctor", "--judge", "claims:openai:m", env=server.environment).stdout
        assert "if it can't constrain output to a JSON schema, add --no-constrained." in told
        result = invoke(*CHECK, "--no-constrained", stdin=CHUNK, env=server.environment)
    assert result.exit_code == 1
    assert "(no passage supports it)" in result.stdout


def test_one_word_is_asked_for_without_a_schema_unless_told_otherwise():
    with chat_server(lambda request: "yes") as server:
        assert invoke(*CHECK[:-1], "openai:m", stdin=CHUNK, env=server.environment).exit_code == 0
        assert invoke(*CHECK[:-1], "openai:m", "--no-constrained", stdin=CHUNK, env=server.environment).exit_code == 0
    assert not any("response_format" in request for request in server.requests)


@pytest.mark.parametrize("constrained", [[], ["--constrained"], ["--no-constrained"]])
def test_the_doctor_examines_it(constrained):
    with chat_server(lambda request: "yes") as server:
        result = invoke("doctor", "--judge", "claims:openai:m", *constrained, env=server.environment)
    assert result.exit_code == 3
    assert "It does not reply with the JSON object that was asked for" in result.stdout
    with chat_server(believes) as server:
        result = invoke("doctor", "--judge", "claims:openai:m", *constrained, env=server.environment)
    assert "6 of 6 replies were verdicts" in result.stdout
