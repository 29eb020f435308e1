import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard import Chunk
from groundguard.evaluation.golden.items import GoldenItem, Want
from groundguard.evaluation.panel import Stage, diagnose, panel
from groundguard.evaluation.panel.asking import precision
from groundguard.evaluation.panel.base import FunctionMetric
from groundguard.evaluation.panel.references import references, relevant, retrieved
from groundguard.evaluation.results import Score
from groundguard.judges import Lexical
from groundguard.models import Reply
from groundguard.records import Decision, Turn
from groundguard.testing import ScriptedModel
from support import strategies
from support.panel import item, response

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

ids = st.none() | st.sampled_from("abc")
chunks = st.lists(st.builds(Chunk, st.sampled_from(["One.", "Two.", " ", "one."]), ids), max_size=5)
names = st.sampled_from(
    ["faithfulness", "answer_relevancy", "context_precision", "context_recall", "refusal", "a metric of one's own"]
)
near = st.sampled_from(["yes", "no", "none", "YES", "yes.", " yes", "", "si"])
entries = st.lists(
    st.fixed_dictionaries({"id": st.integers(0, 3), "verdict": near}, optional={"passages": st.just([])}), max_size=4
)
replies = st.one_of(
    near,
    entries.map(lambda found: json.dumps({"verdicts": found})),
    strategies.json_values.map(lambda value: json.dumps(value, default=str)),
    strategies.texts,
    st.none(),
    st.builds(Reply, near, st.sampled_from(["stop", "length", "content_filter", "odd"])),
    st.just(RuntimeError("down")),
)


@given(st.lists(st.booleans(), max_size=12))
def test_precision_lies_between_0_and_1_and_moving_evidence_forward_never_lowers_it(flags):
    ranked, plain = precision(flags, ranked=True), precision(flags, ranked=False)
    assert 0 <= plain <= 1
    assert 0 <= ranked <= 1
    assert (ranked == 0) == (plain == 0) == (True not in flags)
    assert ranked <= precision(sorted(flags, reverse=True), ranked=True)
    assert precision([*flags, False], ranked=True) == ranked, "noise behind the evidence takes nothing"
    for at in range(1, len(flags)):
        if flags[at] and not flags[at - 1]:
            moved = [*flags[: at - 1], True, False, *flags[at + 1 :]]
            assert precision(moved, ranked=True) >= ranked


@given(chunks, chunks, st.lists(st.sampled_from("abcd"), max_size=3))
def test_by_ids_each_chunk_and_each_reference_is_told_or_said_to_be_open(found, named, wanted):
    golden = GoldenItem("q", "?", chunks=tuple(named), chunk_ids=tuple(wanted))
    asked = references(golden)
    assert len(set(asked)) == len(asked)
    flags, hits = relevant(found, asked), retrieved(found, asked)
    assert (len(flags), len(hits)) == (len(found), len(asked))
    assert (True in flags) == (True in hits)
    assert all(
        flag is True
        for chunk, flag in zip(found, flags, strict=True)
        if chunk.id in {each.id for each in asked} - {None}
    )
    if all(chunk.id is not None for chunk in found):
        assert None not in (*flags, *hits)


@given(replies, st.sampled_from(Want), st.sampled_from(["It is blue. It is new.", "", "Hello!"]), st.booleans())
def test_whatever_a_model_replies_the_panel_is_total(reply, want, answer, retrieved_any):
    golden = item(refusal=want is Want.REFUSAL, chunk_ids=("a",))
    given_response = response(answer, [Chunk("It is blue.", id="a")] if retrieved_any else [])
    scores = panel(ScriptedModel(reply))(golden, given_response)
    assert len(scores) == 5
    for score in scores:
        assert score.value is None or 0 <= score.value <= 1
        assert not (
            score.verdict is not None and score.verdict.decision is Decision.UNKNOWN and score.value is not None
        )
        if score.applies:
            assert (score.value is None) == (score.unscored is not None)
    diagnose(scores, want)


@given(st.lists(st.tuples(names, st.none() | st.floats(0, 1)), max_size=7), st.sampled_from(Want))
def test_a_diagnosis_is_total_and_in_the_order_of_the_path(values, want):
    scores = [Score(name, value, None if value is not None else "judge_error") for name, value in values]
    found = diagnose(scores, want)
    assert list(found.stages) == [stage for stage in Stage if stage in found.stages]
    assert not {Stage.MISSES_EVIDENCE, Stage.LOUD} <= set(found.stages)
    assert str(found)


@given(strategies.odd | strategies.texts | st.floats() | st.integers())
def test_whatever_a_function_returns_is_a_score_or_a_metric_error(said):
    score = FunctionMetric(lambda item, response: said, "mine")(item(), response())
    assert score.value is not None or score.unscored.startswith("metric error: ")


@given(strategies.texts, strategies.texts, strategies.texts, strategies.texts, strategies.texts)
def test_no_text_leaves_its_place_in_a_prompt(question, answer, passage, reference, turn):
    model = ScriptedModel("x")
    golden = item(question=question, answer=reference, history=(Turn(turn, turn),))
    panel(model, judge=Lexical())(golden, response(answer, [passage, "plain"]))
    for prompt in model.prompts:
        assert all(map(str.isprintable, prompt.user.split("\n")))
        outside = [line for line in prompt.user.splitlines() if not line.startswith(('"', "["))]
        assert not [line for line in outside if "<" in line and line.strip("</>\n") not in MARKS]
        for line in prompt.user.splitlines():
            if line.startswith("["):
                json.loads(line.partition("] ")[2])


MARKS = {"passages", "conversation", "question", "answer", "reference", "statements", "claims"}
