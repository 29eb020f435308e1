"""Turn faithfulness of a recorded conversation: what is judged, on which evidence, and what the figures say."""

import asyncio
import json
import math
import threading
import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from groundguard.conversation import EvidenceRule, LastTurns, ThisTurn, TurnFaithfulness, TurnResult, aturn_faithfulness
from groundguard.conversation import turn_faithfulness as plain_turn_faithfulness
from groundguard.errors import InputError, UsageError
from groundguard.judges import Lexical
from groundguard.records import Chunk, Claim, Decision, Reason, Status, Turn, Verdict
from groundguard.testing import ScriptedJudge
from support import strategies
from support.doors import ASYNC, PLAIN, both_doors

VOLTAGE, CORD = "It runs on 12 volts.", "Its cord is 2 m long."


def user(content):
    return {"role": "user", "content": content}


def assistant(content, context=None):
    return {"role": "assistant", "content": content, "retrieval_context": context}


def faithfulness(door, turns, judge, **options):
    fn = aturn_faithfulness if door.is_async else plain_turn_faithfulness
    return door.call(fn, turns, judge, **{"evidence": ThisTurn(), "concurrency": 1, **options})


LOG = [
    user("Voltage?"),
    assistant("12 volts.", [VOLTAGE]),
    user("And its cord?"),
    assistant("2 m.", [CORD]),
    user("And both?"),
    assistant("12 volts, 2 m."),
]


# Evidence and history.


@both_doors
def test_by_this_turn_a_turn_is_judged_on_its_own_chunks(door):
    judge = ScriptedJudge(True)
    result = faithfulness(door, LOG, judge)
    assert [exchange.chunks for exchange in judge.exchanges] == [(Chunk(VOLTAGE),), (Chunk(CORD),)]
    assert [(turn.index, turn.status, turn.reason) for turn in result.turns] == [
        (1, Status.ANSWERED, Reason.SUPPORTED),
        (3, Status.ANSWERED, Reason.SUPPORTED),
        (5, Status.NO_CONTEXT, Reason.NO_CHUNKS),
    ]


@both_doors
def test_by_last_turns_it_has_those_of_the_turns_before(door):
    judge = ScriptedJudge(True)
    assert faithfulness(door, LOG, judge, evidence=LastTurns(2)).headline == 1.0
    assert [exchange.chunks for exchange in judge.exchanges] == [
        (Chunk(VOLTAGE),),
        (Chunk(VOLTAGE), Chunk(CORD)),
        (Chunk(CORD),),
    ]


@pytest.mark.parametrize(
    ("window", "history"),
    [(0, ""), (1, "12 volts."), (2, "Voltage?|12 volts."), (3, "Voltage?|12 volts."), (10, "Voltage?|12 volts.")],
)
def test_the_judge_sees_the_question_and_at_most_so_many_messages_before_it(window, history):
    judge = ScriptedJudge(True)
    plain_turn_faithfulness(LOG[:4], judge, evidence=ThisTurn(), window=window, concurrency=1)
    assert judge.exchanges[1].question == "And its cord?"
    assert "|".join(turn.content for turn in judge.exchanges[1].history) == history


def test_two_answers_to_one_question_and_one_to_none():
    judge = ScriptedJudge(True)
    turns = [assistant("Hello.", ["Say hello."]), user("Q?"), assistant("A.", ["a"]), assistant("B.", ["b"])]
    plain_turn_faithfulness(turns, judge, evidence=ThisTurn(), concurrency=1)
    assert [exchange.question for exchange in judge.exchanges] == ["", "Q?", "Q?"]
    assert judge.exchanges[2].history == (Turn("assistant", "Hello."), Turn("assistant", "A."))


@both_doors
def test_nothing_but_assistant_turns_with_evidence_and_words_is_judged(door):
    judge = ScriptedJudge(True)
    turns = [
        {"role": "system", "content": "Be brief.", "retrieval_context": ["x"]},
        {"role": "user", "content": "Hi.", "retrieval_context": ["x"]},
        assistant("Hello."),
        assistant("Hello.", []),
        assistant("Hello.", ["", " \u200b"]),
        assistant(" ", ["x"]),
        {"role": "tool", "content": "found", "retrieval_context": ["x"]},
    ]
    result = faithfulness(door, turns, judge)
    assert judge.exchanges == []
    assert [(turn.index, turn.reason) for turn in result.turns] == [
        (2, Reason.NO_CHUNKS),
        (3, Reason.NO_CHUNKS),
        (4, Reason.BLANK_CHUNKS),
        (5, Reason.EMPTY_ANSWER),
    ]
    assert (result.headline, result.mean, result.scored, result.lowest) == (0.0, None, 0, None)


# How a log may look.


@pytest.mark.parametrize(
    "turns",
    [
        [user("Q?"), assistant("A.", [VOLTAGE])],
        [user("Q?"), assistant("A.", VOLTAGE)],
        [user("Q?"), assistant("A.", (Chunk(VOLTAGE),))],
        [user("Q?"), assistant("A.", [{"document_id": "d", "text": VOLTAGE}])],
        [Turn("user", "Q?"), SimpleNamespace(role="assistant", content="A.", retrieval_context=[VOLTAGE])],
        [{"speaker": "user", "text": "Q?"}, {"speaker": "agent", "text": "A.", "contexts": [{"text": VOLTAGE}]}],
        [HumanMessage("Q?"), {"role": "ai", "content": [{"type": "text", "text": "A."}], "contexts": [VOLTAGE]}],
        iter([("human", "Q?"), {"role": "Assistant", "content": "A.", "retrieval_context": [VOLTAGE]}]),
    ],
    ids=["strings", "string", "chunks", "mappings", "objects", "speaker and text", "messages", "iterator"],
)
def test_every_usual_log_is_read(turns):
    judge = ScriptedJudge(True)
    assert plain_turn_faithfulness(turns, judge, evidence=ThisTurn()).mean == 1.0
    (exchange,) = judge.exchanges
    assert (exchange.question, exchange.answer) == ("Q?", "A.")
    assert [chunk.text for chunk in exchange.chunks] == [VOLTAGE]


def test_a_message_of_langchain_that_retrieved_nothing():
    result = plain_turn_faithfulness([HumanMessage("Q?"), AIMessage("A.")], ScriptedJudge(True), evidence=ThisTurn())
    assert [turn.status for turn in result.turns] == [Status.NO_CONTEXT]


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        ({"content": "secret"}, "turn 2 of the conversation, a dict, has no role"),
        ({"role": 3, "content": "secret"}, "turn 2 of the conversation, a dict, has no role"),
        ({"role": "assistant"}, "turn 2 of the conversation, a dict, has no content that is text"),
        ({"role": "assistant", "content": None}, "has no content that is text"),
        ({"role": "assistant", "content": 3}, "has no content that is text"),
        (
            {"role": "asistant-secret", "content": "A."},
            "turn 2 of the conversation has a role that is none of agent, ai",
        ),
        (assistant("A.", 3), "the retrieval context of turn 2 of the conversation: chunks are a string or an iterable"),
        ("secret", "turn 2 of the conversation, a str, has no role"),
        (None, "turn 2 of the conversation, a NoneType, has no role"),
    ],
)
def test_an_error_names_the_turn_and_quotes_nothing(turn, message):
    with pytest.raises(InputError) as caught:
        plain_turn_faithfulness([user("Q?"), turn], ScriptedJudge(True), evidence=ThisTurn())
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("turns", ["secret", {"role": "user"}, 3, None])
def test_what_is_no_list_of_turns(turns):
    with pytest.raises(InputError, match="are a list of messages") as caught:
        plain_turn_faithfulness(turns, ScriptedJudge(True), evidence=ThisTurn())
    assert "secret" not in str(caught.value)


@both_doors
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"evidence": None}, "evidence is a rule"),
        *(({"window": value}, "window is a whole number from 0") for value in (-1, True, 1.5, None)),
        *(({"concurrency": value}, "concurrency is a whole number from 1") for value in (0, True, "2")),
        ({"timeout": 0}, "timeout"),
        ({"retry": 3}, "retry"),
    ],
)
def test_a_wrong_option_is_a_usage_error(door, options, message):
    with pytest.raises(UsageError, match=message):
        faithfulness(door, LOG, ScriptedJudge(True), **options)


def rule_of(earlier):
    class Own(EvidenceRule):
        def earlier(self, turns):
            return earlier(turns)

    return Own()


@both_doors
@pytest.mark.parametrize("kind", [tuple, list, iter, lambda chunks: (chunk for chunk in chunks)])
def test_a_rule_of_your_own_returns_chunks_in_whatever_can_be_iterated_over(door, kind):
    judge = ScriptedJudge(True)
    rule = rule_of(lambda turns: kind([chunks[0] for chunks in turns[:1]]))
    faithfulness(door, LOG, judge, evidence=rule)
    assert [exchange.chunks for exchange in judge.exchanges] == [
        (Chunk(VOLTAGE),),
        (Chunk(VOLTAGE), Chunk(CORD)),
        (Chunk(VOLTAGE),),
    ]


class OwnChunk(Chunk):
    pass


@both_doors
@pytest.mark.parametrize(
    ("returned", "got"),
    [
        (None, "a NoneType"),
        ("SECRET", "a str"),
        (5, "a int"),
        (Chunk("SECRET"), "a Chunk"),
        ({"SECRET": Chunk("SECRET")}, "a dict"),
        (["SECRET"], "a str among them"),
        ((Chunk("x"), None), "a NoneType among them"),
        ([(Chunk("SECRET"),)], "a tuple among them"),
        ([OwnChunk("SECRET")], "a OwnChunk among them"),
        (Chunk, "the class Chunk"),
    ],
    ids=repr,
)
def test_a_rule_that_returns_no_chunks_is_a_usage_error_that_names_it(door, returned, got):
    judge = ScriptedJudge(True)
    with pytest.raises(
        UsageError, match=rf"the evidence rule rule_of.<locals>.Own must return .*; got {got}$"
    ) as raised:
        faithfulness(door, LOG, judge, evidence=rule_of(lambda turns: returned))
    assert "SECRET" not in str(raised.value)
    assert not judge.exchanges


@both_doors
def test_what_a_rule_raises_itself_passes_through_and_it_can_not_change_what_it_is_shown(door):
    def broken(turns):
        raise LookupError("mine")

    with pytest.raises(LookupError, match=r"^mine$"):
        faithfulness(door, LOG, ScriptedJudge(True), evidence=rule_of(broken))
    with pytest.raises(AttributeError, match="tuple"):
        faithfulness(door, LOG, ScriptedJudge(True), evidence=rule_of(lambda turns: turns.clear()))


def test_the_evidence_rule_and_a_judge_are_required():
    with pytest.raises(TypeError):
        plain_turn_faithfulness(LOG, ScriptedJudge(True))
    with pytest.raises(UsageError, match="a judge is"):
        plain_turn_faithfulness(LOG, None, evidence=ThisTurn())


# The judge.


async def async_judge(exchange):
    await asyncio.sleep(0)
    return True


def test_an_async_judge_needs_the_async_door():
    assert faithfulness(ASYNC, LOG, async_judge).mean == 1.0
    with pytest.raises(UsageError, match="async"):
        faithfulness(PLAIN, LOG, async_judge)


@both_doors
def test_a_failing_judge_is_unscored_never_1_nor_a_mean_of_0(door):
    result = faithfulness(door, LOG, ScriptedJudge(True, RuntimeError("down")))
    assert [turn.reason for turn in result.turns] == [Reason.SUPPORTED, Reason.JUDGE_ERROR, Reason.NO_CHUNKS]
    assert [turn.score for turn in result.turns] == [1.0, None, None]
    assert (result.headline, result.mean, result.unscored) == (pytest.approx(1 / 3), 1.0, 2)


@both_doors
def test_the_timeout_is_for_each_turn(door):
    release = threading.Event()

    def judge(exchange):
        if exchange.answer == "2 m.":
            release.wait(10)
        return True

    try:
        result = faithfulness(door, LOG, judge, timeout=0.2)
    finally:
        release.set()
    assert [turn.reason for turn in result.turns] == [Reason.SUPPORTED, Reason.JUDGE_TIMEOUT, Reason.NO_CHUNKS]


@both_doors
@pytest.mark.parametrize("limit", [1, 3])
def test_at_most_so_many_turns_are_judged_at_once_and_the_order_stays(door, limit):
    at_work, most, lock = 0, 0, threading.Lock()

    def judge(exchange):
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        time.sleep(0.01)
        with lock:
            at_work -= 1
        return exchange.answer != "4."

    turns = [assistant(f"{number}.", ["x"]) for number in range(9)]
    result = faithfulness(door, turns, judge, concurrency=limit)
    assert most <= limit
    assert [turn.index for turn in result.turns if turn.score == 0] == [4]


@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_a_real_judge_scores_the_turns():
    result = plain_turn_faithfulness(
        [
            user("Which voltage?"),
            assistant("It runs on 12 volts.", [VOLTAGE]),
            assistant("It runs on 24 volts.", [VOLTAGE]),
        ],
        Lexical(),
        evidence=ThisTurn(),
    )
    assert [turn.status for turn in result.turns] == [Status.ANSWERED, Status.UNGROUNDED]
    assert result.lowest.index == 2


# The figures.


def claims(*decisions):
    return tuple(Claim("c", decision) for decision in decisions)


@pytest.mark.parametrize(
    ("verdict", "score"),
    [
        (Verdict(Decision.SUPPORTED), 1.0),
        (Verdict(Decision.UNSUPPORTED), 0.0),
        (Verdict(Decision.SUPPORTED, score=0.7), 1.0),
        (Verdict(Decision.UNSUPPORTED, score=0.3), 0.0),
        (Verdict(Decision.SUPPORTED, score=0.5, claims=claims("supported", "unsupported")), 0.5),
        (Verdict(Decision.UNSUPPORTED, score=0.5, claims=claims("supported", "unsupported")), 0.5),
        (Verdict(Decision.UNSUPPORTED, claims=claims("supported", "unknown", "unsupported", None)), 1 / 3),
        (Verdict(Decision.SUPPORTED, score=0.8, claims=claims("supported", "supported")), 1.0),
        (Verdict(Decision.UNSUPPORTED, score=0.8, claims=claims("supported", "supported")), 0.0),
        (Verdict(Decision.SUPPORTED, claims=claims(None)), 1.0),
        (Verdict(Decision.UNSUPPORTED, claims=claims(None)), 0.0),
        (Verdict(Decision.UNKNOWN, score=0.5, claims=claims("supported", "unknown")), None),
        (None, None),
    ],
)
def test_the_score_of_a_turn(verdict, score):
    status = Status.UNGROUNDED if verdict is None or verdict.decision is not Decision.SUPPORTED else Status.ANSWERED
    reason = Reason.EMPTY_ANSWER if verdict is None else verdict.reason
    assert TurnResult(0, status, reason, verdict).score == score


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ((True, "ungrounded", "unsupported"), TypeError, r"TurnResult\.index must be int, not a bool"),
        (("0", "ungrounded", "unsupported"), TypeError, r"TurnResult\.index must be int, not a str"),
        ((-1, "ungrounded", "unsupported"), ValueError, r"TurnResult\.index counts from 0"),
        ((0, "fine", "unsupported"), ValueError, r"TurnResult\.status must be one of answered, ungrounded, no_context"),
        ((0, "ungrounded", "nonsense"), ValueError, r"TurnResult\.reason must be one of supported, "),
        ((0, "ungrounded", "unsupported", True), TypeError, r"TurnResult\.verdict must be .*Verdict"),
        ((0, "answered", "supported"), ValueError, "`answered` needs a SUPPORTED verdict"),
        ((0, "answered", "supported", Verdict("unsupported")), ValueError, "`answered` needs a SUPPORTED verdict"),
        ((0, "answered", "supported", Verdict("unknown")), ValueError, "`answered` needs a SUPPORTED verdict"),
        ((0, "answered", "unsupported", Verdict("unsupported")), ValueError, "can't have the reason"),
        ((0, "ungrounded", "supported", Verdict("supported")), ValueError, "can't have the reason"),
        ((0, "no_context", "unsupported"), ValueError, "can't have the reason"),
    ],
)
def test_a_result_whose_label_does_not_go_together_can_not_be_made(values, kind, message):
    with pytest.raises(kind, match=message):
        TurnResult(*values)


def test_a_result_whose_label_goes_together_can_be_made():
    assert TurnResult(0, "answered", "supported", Verdict("supported")).status is Status.ANSWERED
    assert TurnResult(3, "ungrounded", "judge_error").reason is Reason.JUDGE_ERROR
    assert TurnResult(0, Status.NO_CONTEXT, Reason.NO_CHUNKS).verdict is None


def test_a_worked_figure():
    half = Verdict(Decision.UNSUPPORTED, score=0.5, claims=claims("supported", "unsupported"))
    turns = [user("?"), *(assistant(f"{number}", ["x"]) for number in range(3)), assistant("Any time!")]
    result = plain_turn_faithfulness(turns, ScriptedJudge(True, half, False), evidence=ThisTurn(), concurrency=1)
    assert result.headline == 1.5 / 4
    assert result.mean == 1.5 / 3
    assert (result.scored, result.unscored, result.lowest.index, result.lowest.score) == (3, 1, 3, 0.0)


def test_a_conversation_without_assistant_turns_has_no_figure():
    result = plain_turn_faithfulness([user("Hello?")], ScriptedJudge(True), evidence=ThisTurn())
    assert result == TurnFaithfulness(())
    assert (result.headline, result.mean, result.scored, result.unscored, result.lowest) == (None, None, 0, 0, None)


def test_the_figures_as_json_values():
    data = plain_turn_faithfulness(LOG, ScriptedJudge(True, False), evidence=ThisTurn(), concurrency=1).to_dict()
    assert json.loads(json.dumps(data)) == data
    assert {key: data[key] for key in ("headline", "mean", "scored", "unscored", "lowest")} == {
        "headline": 1 / 3,
        "mean": 0.5,
        "scored": 2,
        "unscored": 1,
        "lowest": 3,
    }
    assert [(turn["index"], turn["status"], turn["score"]) for turn in data["turns"]] == [
        (1, "answered", 1.0),
        (3, "ungrounded", 0.0),
        (5, "no_context", None),
    ]


@given(st.lists(st.none() | strategies.verdicts))
def test_the_figures_are_total_within_range_and_only_support_is_1(verdicts):
    turns = tuple(
        TurnResult(index, Status.UNGROUNDED, Reason.UNSUPPORTED, verdict) for index, verdict in enumerate(verdicts)
    )
    result = TurnFaithfulness(turns)
    assert result.scored + result.unscored == len(turns)
    assert (result.headline is None) == (not turns)
    assert (result.mean is None) == (result.scored == 0)
    for figure in (result.headline, result.mean):
        assert figure is None or (math.isfinite(figure) and 0 <= figure <= 1 + 1e-9)
    assert result.headline is None or result.mean is None or result.headline <= result.mean + 1e-9
    assert result.lowest is None or all(turn.score is None or turn.score >= result.lowest.score for turn in turns)
