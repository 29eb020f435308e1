import json
import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard.guard import Guard
from groundguard.judges import FactCheck
from groundguard.judges.verdicts import constrained, read, shape
from groundguard.models import Prompt, Reply
from groundguard.records import JUDGE_FAILURES, Chunk, Decision, Exchange, Reason, Status, Usage
from groundguard.testing import ScriptedModel
from support import strategies

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

EIGHT = {"".join(letters) for letters in product("yY", "eE", "sS")}
FOUR = {"".join(letters) for letters in product("nN", "oO")}
EXCHANGE = Exchange("What voltage?", (Chunk("It runs on 12 volts."),), "12 volts.")

VOCABULARY = frozenset(
    """
    a after all an and ascii asked bare block but character characters closed code emphasis empty equals fence final
    first for full json like looks markdown marks neither never no none nor object of one outside punctuation quotation
    removing reply space stop surrounding that the them think visible was where white whole with word words yes
    """.split()  # noqa: SIM905  # reads better
)

letters = st.sampled_from(sorted(EIGHT | FOUR)) | st.sampled_from("yesnoYESNO \n.\u017f\u0435\u200b*`\"'<>{}")
nearly = st.lists(letters, min_size=1, max_size=4).map("".join)
replies = st.one_of(st.sampled_from(sorted(EIGHT | FOUR)), nearly, strategies.texts, st.text())
odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=4) | replies,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "refusal", "verdict"]), inner)
        | st.fixed_dictionaries({"type": st.sampled_from(["text", "thinking", "refusal", "x"]), "text": inner})
    ),
    max_leaves=5,
)


def expected(reply):
    return Decision.SUPPORTED if reply in EIGHT else Decision.UNSUPPORTED if reply in FOUR else Decision.UNKNOWN


@given(replies)
def test_the_fact_check_supports_exactly_the_eight_spellings_of_yes(reply):
    verdict = FactCheck(ScriptedModel(reply))(EXCHANGE)
    assert verdict.decision is expected(reply)
    assert verdict.raw == reply
    assert (verdict.reason is Reason.VERDICT_MALFORMED) == (verdict.decision is Decision.UNKNOWN)


@given(replies)
def test_the_guard_answers_exactly_on_the_eight_spellings_of_yes(reply):
    response = Guard(FactCheck(ScriptedModel(reply))).check("What voltage?", answer="12 volts.", chunks=["12 volts."])
    assert (response.status is Status.ANSWERED) == (reply in EIGHT)
    assert response.answer == "12 volts."


@given(odd)
def test_content_of_any_kind_is_read_and_only_text_can_support(content):
    reading = read(Reply(content), Prompt("", ""))
    if reading.decision is Decision.SUPPORTED:
        assert reading.raw in EIGHT
        assert isinstance(content, (str, list))
    elif reading.decision is Decision.UNKNOWN:
        assert reading.reason in JUDGE_FAILURES
        assert reading.detail


@given(
    st.none() | st.sampled_from(["stop", "STOP", "length", "content_filter", "refusal"]) | odd,
    st.none() | st.just("") | st.text(),
    st.none() | st.integers(-9, 9_999),
)
def test_a_yes_counts_only_if_nothing_says_that_it_is_not_whole(finish, refusal, seen):
    usage = None if seen is None else Usage(seen)
    reading = read(Reply("yes", finish, refusal, usage), Prompt("", "word " * 2_000))
    whole = finish is None or str(finish).lower() in {
        "",
        "stop",
        "end_turn",
        "stop_sequence",
        "eos",
        "eos_token",
        "complete",
        "completed",
        "finished",
    }
    uncut = seen is None or seen <= 0 or seen >= 2_000
    assert (reading.decision is Decision.SUPPORTED) == (whole and not refusal and uncut)


@given(odd, st.sampled_from([json.dumps, str, repr]))
def test_a_constrained_reply_supports_only_as_the_schema_says(value, write):
    try:
        text = write(value)
    except (TypeError, ValueError):
        return
    decision = constrained(text)
    assert decision is None or json.loads(text) in [{"verdict": word} for word in EIGHT | FOUR]


@given(replies, st.sampled_from(["", " ", "\n", "\ufeff", "x", ","]), st.sampled_from(["", " ", "\n", "x", ","]))
def test_a_constrained_word_follows_the_literal_rule(word, before, after):
    text = before + json.dumps({"verdict": word}) + after
    padded = {before, after} <= {"", " ", "\n"}
    assert (constrained(text) is Decision.SUPPORTED) == (padded and word in EIGHT)


@given(st.one_of(strategies.anything, replies, st.text("abc.*`\"'\n<>/think", max_size=60)))
def test_the_shape_of_a_reply_never_quotes_it(reply):
    said = shape(reply)
    assert set(re.findall(r"[^\W\d]+", said.lower())) <= VOCABULARY
    assert said.isascii()
    assert len(said) < 250
    numbers = {int(number) for number in re.findall(r"\d+", said)}
    assert numbers <= {len(reply), len(reply.split())}
