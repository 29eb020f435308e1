import pytest

from groundguard import Guard
from groundguard.errors import UsageError
from groundguard.evaluation.panel import Faithfulness
from groundguard.evaluation.results import Score
from groundguard.flow.steps import OutOfTimeError
from groundguard.judges import Claims, FactCheck, Lexical
from groundguard.records import Claim, Decision, Reason, Turn, Usage, Verdict
from groundguard.testing import ScriptedJudge, ScriptedModel
from support.claims import verdicts
from support.doors import both_doors
from support.panel import SUPPORTED, UNKNOWN, UNSUPPORTED, item, response

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

FOUR = "Ada was born in Riga. She lived in Oslo. She wrote six books. She died in 1990."


def measure(judge, given=None, golden=None):
    return Faithfulness(judge)(golden or item(), given or response())


@both_doors
def test_the_share_of_supported_claims_worked_by_hand(door):
    # Three of four statements are supported: 3/4. The greeting asserts nothing and leaves the denominator.
    model = ScriptedModel(verdicts("none", ("yes", [1]), ("yes", [1]), "no", ("yes", [1])))
    metric = Faithfulness(Claims(model))
    said = door.call(metric.acall if door.is_async else metric, item(), response(f"Hello! {FOUR}"))
    assert (said.metric, said.value, said.unscored, said.applies) == ("faithfulness", 0.75, None, True)
    assert said.verdict.decision is UNSUPPORTED
    assert [claim.decision for claim in said.verdict.claims] == [None, SUPPORTED, SUPPORTED, UNSUPPORTED, SUPPORTED]


def test_the_judge_sees_the_question_the_chunks_and_the_conversation():
    judge = ScriptedJudge(True)
    history = (Turn("user", "I need a lamp."),)
    given = response("It is 12 volts.", ["One.", "Two."], delivered="Sorry.")
    measure(judge, given, item(history=history))
    (exchange,) = judge.exchanges
    assert (exchange.question, exchange.history) == (item().question, history)
    assert exchange.chunks is given.chunks
    assert exchange.answer == "It is 12 volts.", "the generator's text, not what a policy put in its place"


@pytest.mark.parametrize(
    ("verdict", "value"),
    [
        (Verdict(SUPPORTED), 1.0),
        (Verdict(UNSUPPORTED), 0.0),
        (Verdict(SUPPORTED, score=0.83), 0.83),
        (Verdict(UNSUPPORTED, score=0.1, claims=(Claim("a", SUPPORTED), Claim("b", UNSUPPORTED))), 0.5),
    ],
)
def test_claims_count_before_a_score_and_a_score_before_the_decision(verdict, value):
    assert measure(ScriptedJudge(verdict)).value == value


@pytest.mark.parametrize("reason", sorted(Reason(each) for each in ("judge_timeout", "verdict_malformed")))
def test_what_a_judge_could_not_say_is_unscored(reason):
    said = measure(ScriptedJudge(Verdict(UNKNOWN, reason)))
    assert (said.value, said.unscored, said.verdict.reason) == (None, reason.value, reason)


@both_doors
@pytest.mark.parametrize(
    ("raised", "reason"), [(RuntimeError("x"), "judge_error"), (OutOfTimeError("x"), "judge_timeout")]
)
def test_a_judge_that_raises_leaves_it_unscored(door, raised, reason):
    metric = Faithfulness(ScriptedJudge(raised))
    said = door.call(metric.acall if door.is_async else metric, item(), response())
    assert (said.value, said.unscored) == (None, reason)


@pytest.mark.parametrize("then", ["yes", "no", "maybe"])
def test_an_answer_without_claims_is_unscored_whatever_the_literal_question_says(then):
    said = measure(Claims(ScriptedModel(verdicts("none"), then)), response("Hello!"))
    assert (said.value, said.unscored, said.applies) == (None, "no claims", True)


def test_a_refusal_that_was_wanted_and_asserts_nothing_is_left_out():
    said = measure(Claims(ScriptedModel(verdicts("none"), "no")), response("I don't know."), item(refusal=True))
    assert (said.value, said.unscored, said.applies) == (None, None, False)


def test_an_answer_where_a_refusal_was_wanted_is_measured():
    said = measure(Claims(ScriptedModel(verdicts("no"))), response("It is 9 volts."), item(refusal=True))
    assert (said.value, said.applies) == (0.0, True)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (response("x", []), "no_chunks"),
        (response("x", ["", "\u200b"]), "blank_chunks"),
        (response("x", [], observed=False), "retrieval_not_observed"),
        (response(" \u200b"), "empty_answer"),
    ],
)
def test_where_the_guard_asks_no_judge_nor_does_the_metric(given, reason):
    judge = ScriptedJudge(True)
    assert measure(judge, given) == Score("faithfulness", None, reason)
    assert judge.exchanges == []


def test_a_verdict_of_the_same_judge_is_not_paid_twice():
    model = ScriptedModel(verdicts(("yes", [1])))
    judge = Claims(model)
    guarded = Guard(judge).check(item().question, answer=item().answer, chunks=[item().answer])
    said = Faithfulness(Claims(model))(item(), guarded)
    assert (said.value, len(model.prompts)) == (1.0, 1)
    assert said.verdict.claims == guarded.verdict.claims
    assert (said.verdict.calls, said.verdict.usage) == (0, None), "what it cost is counted on the response"
    assert guarded.verdict.calls == 1


def test_an_unknown_verdict_of_the_same_judge_stands_too():
    judge = FactCheck(ScriptedModel("perhaps", "yes"))
    guarded = Guard(judge).check(item().question, answer=item().answer, chunks=[item().answer])
    assert Faithfulness(judge)(item(), guarded).unscored == "verdict_malformed"


@pytest.mark.parametrize("fingerprint", ["another", None])
def test_a_verdict_of_another_judge_is_not_taken(fingerprint):
    judge = ScriptedJudge(False)
    given = response(verdict=Verdict(SUPPORTED, fingerprint=fingerprint, usage=Usage(1, 1)))
    assert measure(judge, given).value == 0.0
    assert len(judge.exchanges) == 1


def test_a_function_is_asked_again_since_only_its_name_can_be_compared():
    guarded = Guard(lambda exchange: True).check(item().question, answer=item().answer, chunks=[item().answer])
    assert guarded.verdict.decision is Decision.SUPPORTED
    assert Faithfulness(lambda exchange: False)(item(), guarded).value == 0.0


def test_lexical_counts_its_statements():
    answer = "The lamp runs on 12 volts. The lamp weighs 900 kilograms."
    assert measure(Lexical(), response(answer, ["The lamp runs on 12 volts."])).value == 0.5


def test_its_fingerprint_is_the_judges():
    assert Faithfulness(Lexical()).fingerprint == Lexical().fingerprint
    assert Faithfulness(Lexical()).name == "faithfulness"


def test_a_wiring_mistake_is_told():
    with pytest.raises(UsageError, match="a judge is"):
        Faithfulness("lexical")
