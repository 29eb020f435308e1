"""`Decide`: one typed yes/no question a statement, and what becomes of the probabilities."""

import json
import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard import Guard
from groundguard.errors import UsageError
from groundguard.judges import Decide
from groundguard.judges.prompts import encoded
from groundguard.judges.statements import statements
from groundguard.models.decisions import DecisionModel
from groundguard.records import Chunk, Decision, Exchange, Reason, Status, Turn, Usage
from groundguard.retry import Retry
from support import strategies
from support.doors import both_doors

pytest.importorskip("langchain_core.decisions", reason="langchain-core 1.8 has decision models")

from support.decisions import AsyncScripted, Predicates, Scripted, noul, nouls  # after the skip

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

ANSWER = "The lamp is blue. It runs on 12 volts. It costs 30 euros."
EXCHANGE = Exchange("What about the lamp?", (Chunk("The lamp is blue."), Chunk("It runs on 12 volts.")), ANSWER)

REFUSED = SimpleNamespace(type="refusal")
CHOICE = SimpleNamespace(type="choice", choice="yes", confidence=1.0)


def decisions(verdict):
    return [claim.decision for claim in verdict.claims]


@both_doors
def test_each_statement_is_one_question_and_keeps_its_probability(door):
    model = AsyncScripted(lines=[nouls(0.9, 0.8, 0.1)], usage={"input_tokens": 300, "output_tokens": 9})
    response = door.check(Guard(Decide(model)), "What about the lamp?", answer=ANSWER, chunks=["The lamp is blue."])
    verdict = response.verdict
    assert (response.status, verdict.decision) == (Status.UNGROUNDED, Decision.UNSUPPORTED)
    assert decisions(verdict) == [Decision.SUPPORTED, Decision.SUPPORTED, Decision.UNSUPPORTED]
    assert [claim.score for claim in verdict.claims] == [0.9, 0.8, 0.1]
    assert [ANSWER[claim.start : claim.end] for claim in verdict.claims] == [claim.text for claim in verdict.claims]
    assert verdict.score == pytest.approx(2 / 3)
    assert (verdict.usage, verdict.model, verdict.calls) == (Usage(300, 9), "served-1", 1)
    assert (verdict.judge, verdict.prompt_version) == ("decide:decider-1", "decide/1")
    assert json.loads(verdict.raw) == [{"1": 0.9, "2": 0.8, "3": 0.1}]
    assert verdict.detail is None


@both_doors
def test_all_statements_supported_is_answered(door):
    response = door.check(Guard(Decide(Scripted(lines=[nouls(0.9, 0.8, 0.51)]))), answer=ANSWER, chunks="…")
    assert (response.status, response.verdict.score) == (Status.ANSWERED, 1.0)


@pytest.mark.parametrize(
    ("over", "probability", "decision"),
    [
        (0.5, 0.5, Decision.UNSUPPORTED),
        (0.5, math.nextafter(0.5, 1), Decision.SUPPORTED),
        (0.9, 0.9, Decision.UNSUPPORTED),
        (0.9, 1, Decision.SUPPORTED),
        (0.5, 0, Decision.UNSUPPORTED),
    ],
)
def test_a_supported_statement_is_above_the_probability(over, probability, decision):
    model = Scripted(lines=[nouls(probability)])
    assert Decide(model, over=over)(Exchange("?", (Chunk("c"),), "Blue.")).decision is decision


@pytest.mark.parametrize(
    ("answers", "decision", "reason"),
    [
        (nouls(0.9, 0.9, 0.1), Decision.SUPPORTED, Reason.SUPPORTED),
        (nouls(0.9, 0.1, 0.1), Decision.UNSUPPORTED, Reason.UNSUPPORTED),
        (nouls(0.9, 0.1), Decision.UNKNOWN, Reason.VERDICT_MALFORMED),
        (nouls(0.9, 0.9), Decision.SUPPORTED, Reason.SUPPORTED),
        (nouls(0.1, 0.1), Decision.UNSUPPORTED, Reason.UNSUPPORTED),
    ],
)
def test_a_threshold_makes_it_a_ratio(answers, decision, reason):
    verdict = Decide(Scripted(lines=[answers]), threshold=0.6)(EXCHANGE)
    assert (verdict.decision, verdict.reason) == (decision, reason)


# What is no probability.


@pytest.mark.parametrize(
    ("answers", "reason", "detail"),
    [
        (nouls(0.9, 0.9), Reason.VERDICT_MALFORMED, "1 of 3 statements without a probability: 1 missing, out"),
        ({}, Reason.VERDICT_MALFORMED, "3 of 3 statements without a probability: 3 missing"),
        (nouls(0.9, 0.9, math.nan), Reason.VERDICT_MALFORMED, "1 of 3"),
        (nouls(0.9, 0.9, 2), Reason.VERDICT_MALFORMED, "1 of 3"),
        (nouls(0.9, 0.9) | {"3": CHOICE}, Reason.VERDICT_MALFORMED, "1 of 3"),
        (nouls(0.9, 0.9) | {"3": REFUSED}, Reason.JUDGE_REFUSED, "1 of 3 statements without a probability: 1 refused"),
        (nouls(0.9) | {"3": REFUSED}, Reason.JUDGE_REFUSED, "1 refused, 1 missing"),
    ],
)
def test_a_statement_without_a_probability_is_unknown(answers, reason, detail):
    verdict = Decide(Scripted(lines=[answers]))(EXCHANGE)
    assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, reason)
    assert detail in verdict.detail
    assert Decision.UNKNOWN in decisions(verdict)
    assert all(claim.score is None for claim in verdict.claims if claim.decision is Decision.UNKNOWN)


@pytest.mark.parametrize("extra", ["4", "0", "01", "1 ", "lamp", ""])
def test_an_answer_to_what_nobody_asked_makes_the_whole_response_worthless(extra):
    verdict = Decide(Scripted(lines=[nouls(0.9, 0.9, 0.9) | {extra: noul(0.9)}]))(EXCHANGE)
    assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, Reason.VERDICT_MALFORMED)
    assert decisions(verdict) == [Decision.UNKNOWN] * 3


def test_a_refusal_in_the_vocabulary_of_openai():
    verdict = Decide(Predicates(answers={"1": REFUSED}))(Exchange("?", (Chunk("c"),), "Blue."))
    assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, Reason.JUDGE_REFUSED)


@both_doors
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TimeoutError("late"), Reason.JUDGE_TIMEOUT),
        (RuntimeError("no"), Reason.JUDGE_ERROR),
        (SimpleNamespace(usage=None), Reason.JUDGE_ERROR),
    ],
    ids=["timeout", "error", "no response"],
)
def test_a_failing_model_never_passes(door, error, reason):
    response = door.check(Guard(Decide(AsyncScripted(lines=[error]))), answer=ANSWER, chunks="c")
    assert (response.status, response.reason) == (Status.UNGROUNDED, reason)


def test_it_is_tried_again_only_if_asked_to():
    lines = [ConnectionError("reset"), nouls(0.9)]
    assert Guard(Decide(Scripted(lines=lines))).check("?", answer="Blue.", chunks="c").reason is Reason.JUDGE_ERROR
    guard = Guard(Decide(Scripted(lines=lines)), retry=Retry(2, initial=0))
    assert guard.check("?", answer="Blue.", chunks="c").status is Status.ANSWERED


def test_a_cut_prompt_is_never_a_verdict():
    chunks = (Chunk("The lamp is blue and small. " * 100),)
    model = Scripted(lines=[nouls(0.9)], usage={"input_tokens": 200, "output_tokens": 1})
    verdict = Decide(model)(Exchange("?", chunks, "Blue."))
    assert (verdict.decision, verdict.reason) == (Decision.UNKNOWN, Reason.JUDGE_TRUNCATED)
    assert "a request that was cut" in verdict.detail


@pytest.mark.parametrize("answer", ["", " \n", "\u200b"])
def test_an_answer_without_statements_is_unknown(answer):
    model = Scripted(lines=[nouls(0.9)])
    verdict = Decide(model)(Exchange("?", (Chunk("c"),), answer))
    assert (verdict.decision, verdict.detail) == (Decision.UNKNOWN, "no statement to ask about")
    assert model._asked == []


# Several requests.


@both_doors
def test_more_questions_than_fit_go_in_several_requests(door):
    answer = " ".join(f"Lamp {number} is blue." for number in range(5))
    model = ByIds(lines=[], usage={"input_tokens": 100, "output_tokens": 2})
    verdict = door.check(Guard(Decide(model, per_call=2)), answer=answer, chunks="c").verdict
    assert sorted(sorted(questions) for _, questions in model._asked) == [["1", "2"], ["3", "4"], ["5"]]
    assert [claim.score for claim in verdict.claims] == [0.9, 0.8, 0.7, 0.6, 0.5]
    assert decisions(verdict) == [Decision.SUPPORTED] * 4 + [Decision.UNSUPPORTED]
    assert (verdict.usage, verdict.calls) == (Usage(300, 6), 3)
    assert len({json.dumps(state) for state, _ in model._asked}) == 1


class ByIds(Scripted):
    """Gives question n the probability 1 - n / 10."""

    def _classify(self, state, questions):
        self._asked.append((state, questions))
        answers = {key: noul(round(1 - int(key) / 10, 1)) for key in questions}
        return SimpleNamespace(answers=answers, usage=self.usage, model="served-1")


def test_an_answer_from_another_request_is_worthless():
    verdict = Decide(Scripted(lines=[nouls(0.9, 0.9, 0.9)]), per_call=2)(EXCHANGE)
    assert decisions(verdict) == [Decision.UNKNOWN] * 3


# What is sent.


def test_the_state_holds_everything_chunks_first():
    model = Scripted(lines=[nouls(0.9, 0.9, 0.9)])
    Decide(model)(Exchange("Why?", EXCHANGE.chunks, ANSWER, (Turn("user", "A lamp!"),)))
    ((state, questions),) = model._asked
    assert list(state) == ["passages", "conversation", "question", "answer", "statements"]
    assert state["passages"] == {"1": '"The lamp is blue."', "2": '"It runs on 12 volts."'}
    assert state["conversation"] == [{"role": '"user"', "content": '"A lamp!"'}]
    assert (state["question"], state["answer"]) == ('"Why?"', f'"{ANSWER}"')
    assert state["statements"] == {
        "1": '"The lamp is blue."',
        "2": '"It runs on 12 volts."',
        "3": '"It costs 30 euros."',
    }
    assert list(questions) == ["1", "2", "3"]
    assert "Is statement 2 supported by the passages?" in questions["2"].instructions
    assert "statement 2" in questions["2"].criteria.true
    assert "statement 2" in questions["2"].criteria.false


@given(strategies.texts, strategies.texts, strategies.texts)
def test_no_text_of_a_stranger_stands_in_a_question(question, chunk, answer):
    asked = statements(answer)
    model = Scripted(lines=[nouls(*[0.9] * len(asked))])
    Decide(model, per_call=len(asked) + 1)(Exchange(question, (Chunk(chunk),), answer))
    other = Scripted(lines=[nouls(*[0.9] * len(asked))])
    Decide(other, per_call=len(asked) + 1)(Exchange("?", (Chunk("c"),), " ".join(["Blue is it."] * len(asked))))
    sent, plain = model._asked, other._asked
    assert [questions for _, questions in sent] == [questions for _, questions in plain]
    assert all(state["passages"] == {"1": encoded(chunk)} for state, _ in sent)


@given(st.dictionaries(st.sampled_from(["1", "2", "3", "4", "x"]), st.sampled_from([0.9, 0.1, None, math.nan])))
def test_it_passes_only_if_each_question_and_no_other_got_a_high_probability(given_answers):
    answers = {key: noul(value) for key, value in given_answers.items()}
    verdict = Decide(Scripted(lines=[answers]))(EXCHANGE)
    assert (verdict.decision is Decision.SUPPORTED) == (given_answers == {"1": 0.9, "2": 0.9, "3": 0.9})


# The value.


def test_it_is_a_value_with_a_fingerprint_over_all_that_counts():
    model = DecisionModel(Scripted(lines=[]))
    judges = [
        Decide(model),
        Decide(model, threshold=0.5),
        Decide(model, over=0.9),
        Decide(model, per_call=5),
        Decide(Scripted(lines=[], model="decider-2")),
        Decide(AsyncScripted(lines=[])),
    ]
    assert len({judge.fingerprint for judge in judges}) == len(judges)
    assert Decide(model) == Decide(model)
    assert Decide(model).fingerprint == Decide(Scripted(lines=[])).fingerprint
    assert Decide(model).name == "decide:decider-1"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("over", value) for value in (0, 1, -1, 1.5, math.nan, True, "0.5", None)),
        *(("threshold", value) for value in (0, 1.5, None)),
        *(("per_call", value) for value in (0, -1, 2.5, True, None)),
    ],
)
def test_options_out_of_range_are_a_usage_error(option, value):
    with pytest.raises(UsageError, match=option):
        Decide(Scripted(lines=[]), **{option: value})


@pytest.mark.parametrize(("value", "got"), [(0, "0"), (-1, "-1"), (2.5, "2.5"), (True, "a bool"), ("many", "a str")])
def test_a_number_out_of_range_is_shown(value, got):
    with pytest.raises(UsageError, match=f"per_call is a whole number of questions above 0; got {got}$"):
        Decide(Scripted(lines=[]), per_call=value)


def test_a_chat_model_is_no_decision_model():
    with pytest.raises(UsageError, match="BaseDecisionModel"):
        Decide("openai:gpt")
