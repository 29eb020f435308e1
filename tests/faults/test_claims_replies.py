"""What a server may reply to the judge of claims: no reply makes a bad claim pass, and none makes an answer pass."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import openai
import pytest

from groundguard import Decision, Guard, Reason, Response, Retry, Status
from groundguard.judges import Claims
from groundguard.models import OpenAIModel
from groundguard.records import Usage
from support.claims import asked_about, claims, verdicts
from support.exchange import CHUNKS, QUESTION
from support.server import Behaviour, Server, hang, reset, say, send, status
from support.telemetry import Counts

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

ANSWER = "The tower is 61 metres tall. It was built in 1999."
GOOD, BAD = "The tower is 61 metres tall.", "It was built in 1999."
RIGHT = verdicts(("yes", [1]), "no")
ALL_YES = verdicts(("yes", [1]), ("yes", [2]))
ALL_NONE = verdicts("none", "none")
BOTH = claims((1, GOOD), (2, "The tower was built in 1999."))
AT_ONCE = Retry(attempts=3, initial=0, maximum=0)

Ask = Callable[..., Response[Any]]


@pytest.fixture(params=["sync client, check", "async client, acheck"])
def ask(
    request: pytest.FixtureRequest, client: openai.OpenAI, async_client: openai.AsyncOpenAI, runner: asyncio.Runner
) -> Ask:
    """Ask about an answer whose second claim is bad: `ask(server, **options_of_the_judge)`."""

    def ask(
        server: Server, *, answer: str = ANSWER, chunks: Any = CHUNKS, timeout: float = 20.0, **options: Any
    ) -> Response[Any]:
        own: Any = client if request.param.startswith("sync") else async_client
        model = OpenAIModel(own.with_options(base_url=server.url), "judge-model")
        guard = Guard(Claims(model, **options), retry=AT_ONCE, timeout=timeout)
        if request.param.startswith("sync"):
            return guard.check(QUESTION, answer=answer, chunks=chunks)
        return runner.run(guard.acheck(QUESTION, answer=answer, chunks=chunks))

    return ask


MALFORMED: dict[str, Behaviour] = {
    "empty": say(""),
    "null": say(None),
    "white space": say(" \n"),
    "malformed JSON": say(ALL_YES[:-2]),
    "undecided": say("It depends on how one reads the second passage."),
    "not yes": say("The answer is not yes"),
    "no with a yes in it": say("No, because the year differs; apart from that it would be yes."),
    "no": say("No."),
    "yes": say("yes"),
    "apology": say("I'm sorry, but I can't help with that."),
    "the other schema": say('{"verdict": "yes"}'),
    "verdicts by name": say('{"verdicts": {"1": "yes", "2": "yes"}}'),
    "verdicts as words": say('{"verdicts": ["yes", "yes"]}'),
    "a list": say('[{"id": 1, "verdict": "yes", "passages": []}, {"id": 2, "verdict": "yes", "passages": []}]'),
    "tail of 200 kB": say(ALL_YES + "x" * 200_000),
    "200 kB of words": say("yes no maybe " * 15_400),
    "verdict 7": say(
        '{"verdicts": [{"id": 1, "verdict": 7, "passages": []}, {"id": 2, "verdict": 7, "passages": []}]}'
    ),
    "verdict true": say('{"verdicts": [{"id": 1, "verdict": true}, {"id": 2, "verdict": true}]}'),
    "score 7": say(ALL_YES.replace('"passages": [2]', '"passages": [2], "score": 7')),
    "score beside": say(json.dumps({**json.loads(ALL_YES), "score": 7})),
    "number of text": say(ALL_YES.replace('"id": 2', '"id": "2"')),
    "numbers from 0": say(verdicts("yes", "yes", first=0)),
    "more verdicts than claims": say(verdicts("yes", "yes", "yes")),
    "key repeated": say(ALL_YES.replace('"verdict": "yes"', '"verdict": "no", "verdict": "yes"')),
    "content an object": say(json.loads(ALL_YES)),
    "tool call": say(ALL_YES, finish_reason="tool_calls"),
}

PARTLY: dict[str, Behaviour] = {
    "verdict list empty": say(verdicts()),
    "bad claim unjudged": say(verdicts(("yes", [1]))),
    "good claim unjudged": say(verdicts(("yes", [1]), first=2)),
    "first repeated": say('{"verdicts": [{"id": 1, "verdict": "yes"}, {"id": 1, "verdict": "yes"}]}'),
    "idk": say(verdicts(("yes", [1]), "idk")),
    "not supported": say(verdicts(("yes", [1]), "not supported")),
    "yes with a full stop": say(verdicts(("yes", [1]), "yes.")),
    "passage that is not there": say(verdicts(("yes", [1]), ("yes", [3]))),
}

FAILED: dict[str, tuple[Behaviour, Reason]] = {
    "refusal": (say(None, refusal="I can't judge this."), Reason.JUDGE_REFUSED),
    "refusal beside verdicts": (say(ALL_YES, refusal="I can't judge this."), Reason.JUDGE_REFUSED),
    "cut, complete": (say(ALL_YES, finish_reason="length"), Reason.JUDGE_TRUNCATED),
    "cut inside": (say(ALL_YES[:40], finish_reason="length"), Reason.JUDGE_TRUNCATED),
    "cut, nothing left": (say("", finish_reason="length"), Reason.JUDGE_TRUNCATED),
    "cut prompt": (
        say(ALL_YES, usage={"prompt_tokens": 20, "completion_tokens": 1, "total_tokens": 21}),
        Reason.JUDGE_TRUNCATED,
    ),
    "filtered": (say(ALL_YES, finish_reason="content_filter"), Reason.JUDGE_FILTERED),
    "HTML": (send("<p>yes</p>", content_type="text/html"), Reason.JUDGE_ERROR),
}

TRANSPORT: dict[str, tuple[Behaviour, Reason]] = {
    "429 always": (status(429), Reason.JUDGE_RATE_LIMITED),
    "500 always": (status(500), Reason.JUDGE_ERROR),
    "reset": (reset(), Reason.JUDGE_ERROR),
}

SAYS_NOTHING: dict[str, tuple[Behaviour, Reason]] = {
    **{name: (behaviour, Reason.VERDICT_MALFORMED) for name, behaviour in MALFORMED.items()},
    **FAILED,
}


def _ungrounded(response: Response[Any], counts: Counts, reason: Reason) -> None:
    assert (response.status, response.reason, response.answer) == (Status.UNGROUNDED, reason, ANSWER)
    assert response.verdict is not None
    assert response.verdict.decision is Decision.UNKNOWN
    assert (counts.queries, counts.judge_failures) == ({"ungrounded": 1}, {reason.value: 1})


# What is asked and read.


@pytest.mark.parametrize("constrained", [None, False])
def test_a_bad_claim_fails_the_answer_and_a_good_one_is_kept(
    ask: Ask, counts: Counts, constrained: bool | None
) -> None:
    usage = {"prompt_tokens": 900, "completion_tokens": 30, "total_tokens": 930}
    with Server(say(RIGHT, usage=usage)) as server:
        response = ask(server, constrained=constrained)

    assert (response.status, response.reason, response.usage) == (Status.UNGROUNDED, Reason.UNSUPPORTED, Usage(900, 30))
    assert (counts.queries, counts.judge_failures) == ({"ungrounded": 1}, {})
    assert response.verdict is not None
    assert [claim.decision for claim in response.verdict.claims] == [Decision.SUPPORTED, Decision.UNSUPPORTED]
    assert (response.verdict.score, response.verdict.model) == (0.5, "served-model")
    (request,) = server.requests
    assert asked_about(request.body["messages"][1]["content"]) == {1: GOOD, 2: BAD}
    assert request.body.keys() == {"model", "messages"} | ({"response_format"} if constrained is None else set())
    if constrained is None:
        assert request.body["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize("threshold", [1.0, 0.5])
def test_all_claims_affirmed_is_answered(ask: Ask, threshold: float) -> None:
    with Server(say(ALL_YES)) as server:
        assert ask(server, threshold=threshold).status is Status.ANSWERED


@pytest.mark.parametrize(
    ("text", "answered"), [(ALL_YES, True), (RIGHT, False), (ALL_NONE.replace("none", "no"), False)]
)
def test_fenced_verdicts_are_read_where_no_schema_was_sent(ask: Ask, text: str, answered: bool) -> None:
    with Server(say(f"```json\n{text}\n```")) as server:
        response = ask(server, constrained=False)
        schema = ask(server, constrained=True)

    assert response.status is (Status.ANSWERED if answered else Status.UNGROUNDED)
    assert response.reason is (Reason.SUPPORTED if answered else Reason.UNSUPPORTED)
    assert schema.reason is Reason.VERDICT_MALFORMED


# No verdicts.


@pytest.mark.parametrize("constrained", [None, False])
@pytest.mark.parametrize(("behaviour", "reason"), SAYS_NOTHING.values(), ids=SAYS_NOTHING)
def test_a_reply_that_is_no_list_of_verdicts_leaves_every_claim_unknown(
    ask: Ask, counts: Counts, behaviour: Behaviour, reason: Reason, constrained: bool | None
) -> None:
    with Server(behaviour) as server:
        response = ask(server, constrained=constrained, threshold=0.01)

    _ungrounded(response, counts, reason)
    assert response.verdict is not None
    assert {claim.decision for claim in response.verdict.claims} == {Decision.UNKNOWN}
    assert (response.verdict.score, len(server.requests)) == (0.0, 1)


@pytest.mark.parametrize("behaviour", PARTLY.values(), ids=PARTLY)
def test_a_claim_without_one_verdict_is_unknown(ask: Ask, counts: Counts, behaviour: Behaviour) -> None:
    with Server(behaviour) as server:
        response = ask(server)

    _ungrounded(response, counts, Reason.VERDICT_MALFORMED)
    assert response.verdict is not None
    assert response.verdict.detail
    assert Decision.UNKNOWN in {claim.decision for claim in response.verdict.claims}


@pytest.mark.parametrize(("behaviour", "reason"), TRANSPORT.values(), ids=TRANSPORT)
def test_a_server_that_is_down_is_asked_three_times(
    ask: Ask, counts: Counts, behaviour: Behaviour, reason: Reason
) -> None:
    with Server(behaviour) as server:
        response = ask(server)

    _ungrounded(response, counts, reason)
    assert response.verdict is not None
    assert (len(server.requests), response.verdict.calls) == (3, 3)


def test_a_server_that_hangs_is_a_timeout(ask: Ask, counts: Counts) -> None:
    with Server(hang()) as server:
        _ungrounded(ask(server, timeout=0.5), counts, Reason.JUDGE_TIMEOUT)


@pytest.mark.parametrize("behaviour", [status(429), status(500), reset()], ids=["429", "500", "reset"])
def test_one_fault_then_verdicts(ask: Ask, behaviour: Behaviour) -> None:
    with Server(behaviour, say(ALL_YES)) as server:
        response = ask(server)

    assert response.status is Status.ANSWERED
    assert len(server.requests) == 2


# Nothing asserted.


@pytest.mark.parametrize(("word", "status_"), [("yes", Status.ANSWERED), ("no", Status.UNGROUNDED)])
def test_without_claims_the_literal_question_decides(ask: Ask, word: str, status_: Status) -> None:
    with Server(say(ALL_NONE), say(json.dumps({"verdict": word}))) as server:
        response = ask(server)

    assert response.status is status_
    assert response.verdict is not None
    assert (response.verdict.score, response.verdict.detail, len(server.requests)) == (None, "no claims", 2)


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [case for name, case in SAYS_NOTHING.items() if name != "the other schema"],
    ids=[name for name in SAYS_NOTHING if name != "the other schema"],
)
def test_without_claims_and_without_a_literal_word_nothing_passes(
    ask: Ask, counts: Counts, behaviour: Behaviour, reason: Reason
) -> None:
    with Server(say(ALL_NONE), behaviour) as server:
        _ungrounded(ask(server), counts, reason)


# Claims that the model draws.


def test_drawn_claims_are_judged(ask: Ask) -> None:
    with Server(say(BOTH), say(RIGHT)) as server:
        response = ask(server, extract="model")

    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.UNSUPPORTED)
    extraction, judging = (request.body["messages"][1]["content"] for request in server.requests)
    assert asked_about(extraction, "statements") == {1: GOOD, 2: BAD}
    assert asked_about(judging) == {1: GOOD, 2: "The tower was built in 1999."}


@pytest.mark.parametrize(("behaviour", "reason"), SAYS_NOTHING.values(), ids=SAYS_NOTHING)
def test_an_extraction_that_says_nothing_is_no_judgement(
    ask: Ask, counts: Counts, behaviour: Behaviour, reason: Reason
) -> None:
    with Server(behaviour, say(ALL_YES)) as server:
        response = ask(server, extract="model")

    _ungrounded(response, counts, reason)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("drawn", "asked"),
    [
        (claims(), {1: GOOD, 2: BAD}),
        (claims((1, GOOD)), {1: GOOD, 2: BAD}),
        (claims((2, "The tower was built.")), {1: GOOD, 2: "The tower was built.", 3: BAD}),
    ],
    ids=["claims list empty", "bad claim lost", "bad half lost"],
)
@pytest.mark.parametrize("judge", ["knows", "says yes to what was drawn"])
def test_what_the_extraction_lost_is_asked_about(ask: Ask, drawn: str, asked: dict[int, str], judge: str) -> None:
    words = ["no" if text == BAD else "yes" for text in asked.values()]
    said = verdicts(*words) if judge == "knows" else verdicts(*words[:-1])
    with Server(say(drawn), say(said)) as server:
        response = ask(server, extract="model")

    assert response.status is Status.UNGROUNDED
    assert asked_about(server.requests[1].body["messages"][1]["content"]) == asked


# No request at all.


@pytest.mark.parametrize("extract", ["local", "model"])
@pytest.mark.parametrize(
    ("answer", "chunks", "reason"),
    [
        (ANSWER, [], Reason.NO_CHUNKS),
        (ANSWER, [" \u200b\n"], Reason.BLANK_CHUNKS),
        ("", CHUNKS, Reason.EMPTY_ANSWER),
        (" \u200b", CHUNKS, Reason.EMPTY_ANSWER),
    ],
)
def test_nothing_to_judge_asks_nobody(ask: Ask, extract: str, answer: str, chunks: Any, reason: Reason) -> None:
    with Server(say(ALL_YES)) as server:
        response = ask(server, answer=answer, chunks=chunks, extract=extract)

    assert (response.reason, response.verdict, len(server.requests)) == (reason, None, 0)
    assert response.status is not Status.ANSWERED
