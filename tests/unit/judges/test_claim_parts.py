"""Claims held against evidence that is longer than the model can read."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard import Chunk, Decision, Exchange, Guard, Reason, Status
from groundguard.flow.drive import run
from groundguard.judges import Claims, FactCheck, Window
from groundguard.judges.claims.calls import Heard
from groundguard.judges.claims.parts import CONTRADICTED, judged_by_part
from groundguard.judges.claims.prompts import contradicting, judging
from groundguard.judges.claims.verdicts import Said
from groundguard.models import Prompt, Reply
from groundguard.records import Usage
from groundguard.testing import ScriptedModel
from support.exchange import CHECKS, Check

QUESTION = "What about the lamp?"
ANSWER = "The lamp runs on 12 volts. The cord is 2 metres long."
LAMP, CORD, BOX = "The lamp runs on 12 volts.", "The cord is 2 metres long.", "The box is made of paper."
LINE = re.compile(r"^\[(\d+)\] (\".*\")$", re.MULTILINE)


def words(text: str) -> int:
    """A tokenizer that is easy to follow."""
    return len(text.split())


def window(passages: int, answer: str = ANSWER, chunk: str = LAMP) -> Window:
    """A window that holds so many chunks of the same number of words, and every claim of the answer."""
    exchange = Exchange(QUESTION, (Chunk(chunk),) * passages, answer)
    claims = enumerate(re.findall(r"[^.]+\.", answer), 1)
    return Window(words(judging(exchange, claims).text) + 3, count=words)


class Reader(ScriptedModel):
    """Supports a claim that a passage holds word for word; finds the contradictions that it is told of."""

    def __init__(self, *contradictions: tuple[str, str]) -> None:
        super().__init__("unused")
        self.contradictions = contradictions

    def reply(self, prompt: Prompt, schema: Any = None) -> Any:
        self.prompts.append(prompt)
        yield from ()
        return Reply(json.dumps({"verdicts": self.verdicts(prompt)}), "stop")

    def verdicts(self, prompt: Prompt) -> list[dict[str, Any]]:
        passages, _, rest = prompt.user.partition("</passages>")
        shown = [(int(number), json.loads(text)) for number, text in LINE.findall(passages)]
        claims = [(int(number), json.loads(text)) for number, text in LINE.findall(rest)]
        return [{"id": number, **self.verdict(prompt, claim, shown)} for number, claim in claims]

    def verdict(self, prompt: Prompt, claim: str, shown: list[tuple[int, str]]) -> dict[str, Any]:
        holds = self.contradictions if asks_for_contradiction(prompt) else [(claim, claim)]
        found = [n for n, text in shown if any(each == claim and against in text for each, against in holds)]
        return {"verdict": "yes" if found else "no", "passages": found}


def asks_for_contradiction(prompt: Prompt) -> bool:
    return "contradict these claims?" in prompt.user


def check(judge: Claims, *chunks: str, answer: str = ANSWER) -> Any:
    return Guard(judge).check(QUESTION, answer=answer, chunks=chunks)


@pytest.mark.parametrize("chunks", list(itertools.permutations([LAMP, BOX, CORD])), ids=" ".join)
def test_claims_may_be_supported_by_different_parts(chunks: tuple[str, ...]) -> None:
    model = Reader()
    response = check(Claims(model, window=window(1)), *chunks)
    assert response.status is Status.ANSWERED
    assert [claim.chunk_ids for claim in response.verdict.claims] == [
        (str(chunks.index(LAMP) + 1),),
        (str(chunks.index(CORD) + 1),),
    ]
    assert response.verdict.score == 1.0
    assert [asks_for_contradiction(prompt) for prompt in model.prompts] == [False] * 3 + [True] * 3


def test_a_contradiction_in_any_other_part_vetoes_that_claim_only() -> None:
    model = Reader((LAMP, "24 volts"))
    response = check(Claims(model, window=window(1)), LAMP, CORD, "The lamp runs on 24 volts.")
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.UNSUPPORTED)
    assert [claim.decision for claim in response.verdict.claims] == [Decision.UNSUPPORTED, Decision.SUPPORTED]
    assert response.verdict.claims[0].chunk_ids == ()
    assert response.verdict.detail == f"claim 1: {CONTRADICTED}"
    assert response.verdict.score == 0.5


def test_a_part_is_asked_for_contradictions_of_what_only_others_support() -> None:
    model = Reader()
    check(Claims(model, window=window(1, answer=LAMP)), LAMP, LAMP, BOX, answer=LAMP)
    doubted = [prompt.user.split("</passages>")[0] for prompt in model.prompts if asks_for_contradiction(prompt)]
    assert len(doubted) == 1
    assert "paper" in doubted[0]


def test_evidence_that_fits_is_one_call_the_same_as_without_a_window() -> None:
    within, without = Reader(), Reader()
    assert check(Claims(within, window=Window(50_000)), LAMP, CORD).status is Status.ANSWERED
    assert check(Claims(without), LAMP, CORD).status is Status.ANSWERED
    assert within.prompts == without.prompts
    assert len(without.prompts) == 1


@pytest.mark.parametrize("extract", ["local", "model"])
def test_what_cannot_fit_is_truncated_and_nothing_is_sent(extract: Any) -> None:
    model = Reader()
    response = check(Claims(model, window=Window(50, count=words), extract=extract), LAMP)
    assert (response.reason, model.prompts) == (Reason.JUDGE_TRUNCATED, [])
    assert response.verdict.detail == "the prompt does not fit into the window of 50 tokens"


@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_the_literal_question_keeps_to_the_window() -> None:
    class Greets(Reader):
        def reply(self, prompt: Prompt, schema: Any = None) -> Any:
            reply = yield from super().reply(prompt, schema)
            if "verdicts" in prompt.system:
                verdicts = [each | {"verdict": "none", "passages": []} for each in self.verdicts(prompt)]
                return Reply(json.dumps({"verdicts": verdicts}), "stop")
            return reply

    model = Greets()
    tokens = words(judging(Exchange(QUESTION, (Chunk(LAMP),), "Hi."), [(1, "Hi.")]).text)
    response = check(Claims(model, window=Window(tokens, count=words), constrained=False), LAMP, CORD, answer="Hi.")
    literal = [prompt for prompt in model.prompts if "verdicts" not in prompt.system]
    assert literal
    assert all(words(prompt.text) <= tokens for prompt in model.prompts)
    assert response.reason is Reason.VERDICT_MALFORMED
    assert response.verdict.score is None


@pytest.mark.parametrize("door", CHECKS.values(), ids=CHECKS)
def test_a_part_whose_call_fails_leaves_its_claims_to_the_others(door: Check) -> None:
    class Falls(Reader):
        def reply(self, prompt: Prompt, schema: Any = None) -> Any:
            if "1974" in prompt.user.split("</passages>")[0]:
                raise ConnectionError("gone")
            return (yield from super().reply(prompt, schema))

    answer, chunk = "The tower is 61 metres tall.", "The tower is 61 metres tall."
    size = window(1, answer=answer, chunk=chunk)
    response = door(Guard(Claims(Falls(), window=Window(size.tokens + 2, count=words))))
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.JUDGE_ERROR)
    assert response.verdict is not None
    assert response.verdict.error_type == "ConnectionError"


def test_instructions_of_ones_own_that_are_short_do_not_let_a_longer_question_overflow() -> None:
    model = Reader()
    judge = Claims(model, instructions="Check.")
    bare = words(judging(Exchange(QUESTION, (Chunk(LAMP),), LAMP), [(1, LAMP)], "Check.").text)
    response = check(Claims(model, instructions="Check.", window=Window(bare + 3, count=words)), LAMP, BOX, answer=LAMP)
    assert response.reason is Reason.JUDGE_TRUNCATED
    assert not any(map(asks_for_contradiction, model.prompts))
    assert judge.fingerprint != Claims(model, instructions="Check.", window=Window(9)).fingerprint


DECISIONS = st.sampled_from([*Decision, None])


@given(support=st.lists(DECISIONS, min_size=1, max_size=4), doubt=st.lists(DECISIONS, min_size=4, max_size=4))
def test_a_claim_is_supported_only_by_a_part_and_against_no_doubt(
    support: list[Decision | None], doubt: list[Decision | None]
) -> None:
    found = [((number, "text"),) for number in range(len(support))]

    def answering(decisions: list[Decision | None]) -> Any:
        def ask(part: Any, numbers: Any) -> Any:
            return [heard(decisions[part[0][0]])]

        return ask

    def heard(decision: Decision | None) -> Any:
        yield from ()
        return Heard({1: Said(decision)})

    together, calls = run(judged_by_part(found, [1], answering(support), answering(doubt)))
    asked = [doubt[n] for n, each in enumerate(support) if each is not Decision.SUPPORTED]
    if Decision.SUPPORTED not in support:
        assert together[1].decision is not Decision.SUPPORTED
        assert len(calls) == len(support)
    else:
        assert (together[1].decision is Decision.SUPPORTED) == all(each is Decision.UNSUPPORTED for each in asked)
        assert len(calls) == len(support) + len(asked)


def test_the_two_questions_share_their_data() -> None:
    exchange = Exchange(QUESTION, (Chunk(LAMP), Chunk(CORD)), ANSWER)
    part = [(2, CORD)]
    one = judging(exchange, [(1, LAMP)], part=part).user.splitlines()
    other = contradicting(exchange, [(1, LAMP)], part=part).user.splitlines()
    assert one[:-1] == other[:-1]
    assert one[-1] != other[-1]


def test_both_judges_take_the_same_window() -> None:
    size = Window(8_000)
    assert Claims(ScriptedModel("x"), window=size).window == FactCheck(ScriptedModel("x"), window=size).window


@pytest.mark.parametrize(("reported", "reason"), [(1_999, Reason.SUPPORTED), (2_000, Reason.JUDGE_TRUNCATED)])
def test_a_prompt_that_filled_the_window_may_have_been_cut(reported: int, reason: Reason) -> None:
    verdicts = json.dumps({"verdicts": [{"id": 1, "verdict": "yes", "passages": [1]}]})
    model = ScriptedModel(Reply(verdicts, "stop", usage=Usage(reported, 9)))
    response = check(Claims(model, window=Window(2_000)), LAMP, answer=LAMP)
    assert response.reason is reason
    assert response.usage == Usage(reported, 9)
