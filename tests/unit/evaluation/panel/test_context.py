import pytest

from groundguard import Chunk
from groundguard.errors import UsageError
from groundguard.evaluation.panel import ContextPrecision, ContextRecall
from groundguard.evaluation.panel.asking import precision
from groundguard.evaluation.panel.prompts import PRECISION, PRECISION_VERSION
from groundguard.evaluation.results import Score
from groundguard.judges import Claims, Lexical
from groundguard.records import Claim, Turn
from groundguard.testing import ScriptedJudge, ScriptedModel
from support.claims import verdicts
from support.doors import both_doors
from support.panel import SUPPORTED, UNKNOWN, UNSUPPORTED, item, named, response, words

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

YES, NO = True, False


# The definition, on examples worked by hand.


@pytest.mark.parametrize(
    ("relevant", "ranked", "plain"),
    [
        ([YES], 1, 1),
        ([NO], 0, 0),
        ([YES, NO], 1, 1 / 2),  # noise behind the evidence takes nothing from the ranked one
        ([NO, YES], 1 / 2, 1 / 2),
        ([NO, NO, YES, YES, NO], (1 / 3 + 2 / 4) / 2, 2 / 5),
        ([YES, NO, YES], (1 / 1 + 2 / 3) / 2, 2 / 3),
        ([NO, YES, NO, YES, YES], (1 / 2 + 2 / 4 + 3 / 5) / 3, 3 / 5),
        ([NO, NO, NO], 0, 0),
        ([], 0, 0),
    ],
)
def test_precision_worked_by_hand(relevant, ranked, plain):
    assert precision(relevant, ranked=True) == pytest.approx(ranked)
    assert precision(relevant, ranked=False) == pytest.approx(plain)


# Context precision by a model.


@both_doors
def test_each_chunk_gets_its_verdict_in_one_call(door):
    model = ScriptedModel(words("no", "yes", "yes"))
    metric = ContextPrecision(model)
    given = response("x", named("a", "b", "c"))
    said = door.call(metric.acall if door.is_async else metric, item(), given)
    assert said.metric == "context_precision"
    assert said.value == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert said.verdict.claims == (
        Claim("passage 1 is useful", UNSUPPORTED, chunk_ids=("a",)),
        Claim("passage 2 is useful", SUPPORTED, chunk_ids=("b",)),
        Claim("passage 3 is useful", SUPPORTED, chunk_ids=("c",)),
    )
    assert said.verdict.prompt_version == PRECISION_VERSION
    assert len(model.prompts) == 1
    assert ContextPrecision(model, ranked=False)(item(), response("x", named("a"))).unscored == "verdict_malformed"


def test_the_plain_share_does_not_care_for_the_order():
    said = ContextPrecision(ScriptedModel(words("yes", "no", "no", "no")), ranked=False)(
        item(), response("x", named("a", "b", "c", "d"))
    )
    assert said.value == 0.25


def test_the_passages_come_first_and_the_reference_last():
    model = ScriptedModel(words("yes", "no"))
    given = response("The answer under test.", ["One.", "Two."])
    ContextPrecision(model)(item(history=(Turn("user", "I need a lamp."),)), given)
    (prompt,) = model.prompts
    assert prompt.system.startswith(PRECISION)
    assert prompt.user.splitlines()[:14] == [
        "<passages>",
        '[1] "One."',
        '[2] "Two."',
        "</passages>",
        "<conversation>",
        '"user": "I need a lamp."',
        "</conversation>",
        "<question>",
        '"What voltage does the lamp need?"',
        "</question>",
        "<reference>",
        '"The lamp runs on 12 volts."',
        "</reference>",
        (
            "Is each passage useful for arriving at the reference answer? Reply with one JSON object that has one"
            " verdict for each number: yes or no."
        ),
    ]
    assert "under test" not in prompt.text


@pytest.mark.parametrize("reply", [words("yes"), words("yes", "none"), words("yes", "maybe"), "yes", RuntimeError("x")])
def test_one_verdict_that_is_missing_or_malformed_leaves_it_unscored(reply):
    said = ContextPrecision(ScriptedModel(reply))(item(), response("x", named("a", "b")))
    assert (said.value, said.verdict.decision, said.unscored) == (None, UNKNOWN, said.verdict.reason.value)


@pytest.mark.parametrize("metric", [ContextPrecision, ContextRecall])
@pytest.mark.parametrize("answer", [None, "", "\u200b"])
def test_without_a_reference_answer_a_model_can_not_tell(metric, answer):
    model = ScriptedModel("yes")
    said = metric(model)(item(answer=answer, chunk_ids=("a",)), response("x", named("a")))
    assert (said.value, said.unscored, model.prompts) == (None, "no reference", [])


# Context recall by a model or a judge.


@both_doors
def test_the_share_of_the_reference_answers_claims_worked_by_hand(door):
    # The reference answer says three things, and the chunks hold two of them: 2/3.
    model = ScriptedModel(verdicts(("yes", [1]), "no", ("yes", [2])))
    golden = item(answer="The lamp is blue. It costs 20 euros. It lasts a year.")
    metric = ContextRecall(model)
    given = response("Something else entirely.", ["The lamp is blue.", "It lasts a year."])
    said = door.call(metric.acall if door.is_async else metric, golden, given)
    assert (said.metric, said.value) == ("context_recall", pytest.approx(2 / 3))
    assert [claim.chunk_ids for claim in said.verdict.claims] == [("1",), (), ("2",)]
    assert "entirely" not in model.prompts[0].text


def test_any_judge_can_tell_what_the_chunks_support():
    golden = item(answer="The lamp runs on 12 volts. The cord is made of copper.")
    assert ContextRecall(Lexical())(golden, response("x", ["The lamp runs on 12 volts."])).value == 0.5
    assert ContextRecall(ScriptedJudge(False))(golden, response("x")).value == 0.0
    assert ContextRecall(ScriptedJudge(RuntimeError("x")))(golden, response("x")).unscored == "judge_error"
    model = ScriptedModel("x")
    assert ContextRecall(model).judge == Claims(model)


# By ids, without a model.


@both_doors
@pytest.mark.parametrize(
    ("retrieved", "wanted", "precise", "recalled"),
    [
        ("a b c", "a", 1, 1),
        ("b a", "a", 1 / 2, 1),
        ("x b y a", "a b", (1 / 2 + 2 / 4) / 2, 1),
        ("a x", "a b", 1, 1 / 2),
        ("x y", "a b", 0, 0),
        ("a a", "a", 1, 1),
        ("a x b", "a b c d", (1 + 2 / 3) / 2, 1 / 2),
    ],
)
def test_by_ids_worked_by_hand(door, retrieved, wanted, precise, recalled):
    golden = item(answer=None, chunk_ids=tuple(wanted.split()))
    given = response("x", named(*retrieved.split()))
    for metric, value in ((ContextPrecision(), precise), (ContextRecall(), recalled)):
        said = door.call(metric.acall if door.is_async else metric, golden, given)
        assert (said.value, said.verdict) == (pytest.approx(value), None)


def test_reference_chunks_without_ids_are_found_by_their_text():
    golden = item(chunks=(Chunk("The lamp\n runs on 12\u00a0volts."), Chunk("The cord is 2 m long.")))
    given = response("x", ["It is blue.", "The lamp runs on  12 volts.\n"])
    assert ContextPrecision()(golden, given).value == 0.5
    assert ContextRecall()(golden, given).value == 0.5


def test_a_reference_chunk_is_found_by_its_id_or_by_its_text():
    golden = item(chunks=(Chunk("One.", id="a"), Chunk("Two.", id="b")), chunk_ids=("a", "b"))
    given = response("x", [Chunk("one, cut otherwise", id="a"), Chunk("Two.", id="77")])
    assert ContextRecall()(golden, given).value == 1.0
    assert ContextPrecision()(golden, given).value == 1.0


@pytest.mark.parametrize("metric", [ContextPrecision(), ContextRecall()])
def test_chunks_without_ids_are_not_held_for_wrong_ones(metric):
    said = metric(item(chunk_ids=("a",)), response("x", ["One.", "Two."]))
    assert said == Score(metric.name, None, "chunks without ids")


def test_what_can_be_told_without_ids_is_told():
    golden = item(chunk_ids=("a",))
    assert ContextRecall()(golden, response("x", named(None, "a"))).value == 1.0, "found, whatever the other may be"
    assert ContextPrecision()(golden, response("x", named(None, "a"))).unscored == "chunks without ids"
    assert ContextPrecision()(golden, response("x", [Chunk(""), Chunk("A.", id="a")])).value == 0.5


@pytest.mark.parametrize("metric", [ContextPrecision(), ContextRecall()])
@pytest.mark.parametrize("chunks", [(), (Chunk(" "),)])
def test_without_named_reference_chunks_there_is_nothing_to_compare(metric, chunks):
    assert metric(item(chunks=chunks), response("x", named("a"))).unscored == "no reference"


# Nothing retrieved, nothing wanted.


@pytest.mark.parametrize(("chunks", "reason"), [([], "no_chunks"), ([" "], "blank_chunks")])
def test_where_nothing_was_retrieved_recall_is_zero_and_precision_unscored(chunks, reason):
    model = ScriptedModel("yes")
    golden, given = item(chunk_ids=("a",)), response("x", chunks)
    for precise, recalled in ((ContextPrecision(), ContextRecall()), (ContextPrecision(model), ContextRecall(model))):
        assert precise(golden, given) == Score("context_precision", None, reason)
        assert recalled(golden, given) == Score("context_recall", 0.0)
    assert model.prompts == []


@pytest.mark.parametrize("metric", [ContextPrecision(), ContextRecall(), ContextRecall(Lexical())])
def test_where_nobody_reported_the_chunks_it_is_unscored(metric):
    said = metric(item(chunk_ids=("a",)), response("x", [], observed=False))
    assert (said.value, said.unscored) == (None, "retrieval_not_observed")


@pytest.mark.parametrize("make", [ContextPrecision, ContextRecall])
def test_where_a_refusal_is_wanted_there_is_no_evidence_to_find(make):
    for metric in (make(), make(ScriptedModel("yes"))):
        assert metric(item(refusal=True, chunk_ids=("a",)), response()) == Score(metric.name, None, applies=False)


# Fingerprints and wiring.


def test_fingerprints_tell_the_ways_apart():
    precise = [
        ContextPrecision(),
        ContextPrecision(ranked=False),
        ContextPrecision(ScriptedModel("x")),
        ContextPrecision(ScriptedModel("x"), ranked=False),
        ContextPrecision(ScriptedModel("x", name="other")),
        ContextPrecision(ScriptedModel("x"), constrained=False),
    ]
    recalled = [ContextRecall(), ContextRecall(Lexical()), ContextRecall(ScriptedModel("x"))]
    assert len({metric.fingerprint for metric in [*precise, *recalled]}) == 9
    assert ContextPrecision(ScriptedModel("x")).fingerprint == ContextPrecision(ScriptedModel("y")).fingerprint
    assert len({metric.question.fingerprint for metric in precise if metric.question}) == 4


def test_wiring_mistakes_are_told():
    with pytest.raises(UsageError, match="ranked is True or False"):
        ContextPrecision(ranked="yes")
    with pytest.raises(UsageError):
        ContextPrecision(3)
    with pytest.raises(UsageError):
        ContextRecall(3)
