import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard.guard import Guard
from groundguard.records import Chunk, Reason, Status
from groundguard.status import Label, label, unasked
from groundguard.testing import ScriptedJudge
from support import strategies

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\ufe00\ufe0f\uffa0\U000e0100\U000e01ef"

blank = st.text(st.characters(categories=["Z", "C"]) | st.sampled_from(FILLERS))
mostly_blank = st.one_of(blank, strategies.texts, st.tuples(blank, st.just("x"), blank).map("".join))
chunk_lists = st.lists(st.builds(Chunk, mostly_blank), max_size=4).map(tuple)


def visible(text):
    return any(unicodedata.category(one)[0] not in "ZC" and one not in FILLERS for one in text)


@given(chunk_lists, mostly_blank, st.none() | strategies.verdicts, st.booleans())
def test_answered_needs_visible_chunks_a_visible_answer_and_a_supported_verdict(chunks, answer, verdict, observed):
    status, reason = label(chunks, answer, verdict, observed=observed)
    seen = observed and any(visible(chunk.text) for chunk in chunks)
    affirmed = verdict is not None and verdict.decision == "supported"
    assert (status is Status.ANSWERED) == (seen and visible(answer) and affirmed)
    assert (status is Status.NO_CONTEXT) == (not seen)
    assert (reason is Reason.SUPPORTED) == (status is Status.ANSWERED)


@given(chunk_lists, mostly_blank, st.none() | strategies.verdicts, st.booleans())
def test_the_label_is_pure_and_total(chunks, answer, verdict, observed):
    first = label(chunks, answer, verdict, observed=observed)
    assert first == label(chunks, answer, verdict, observed=observed)
    assert type(first) is Label
    assert type(first.status) is Status
    assert type(first.reason) is Reason


@given(chunk_lists, mostly_blank, st.none() | strategies.verdicts)
def test_the_judge_is_asked_exactly_where_its_verdict_counts(chunks, answer, verdict):
    early = unasked(chunks, answer)
    assert (early is None) == (any(visible(chunk.text) for chunk in chunks) and visible(answer))
    if early is not None:
        assert early == label(chunks, answer, verdict)


@given(chunk_lists, mostly_blank, strategies.verdicts)
def test_the_guard_reports_that_label_and_asks_no_judge_that_cannot_matter(chunks, answer, verdict):
    judge = ScriptedJudge(verdict)
    response = Guard(judge).check("?", answer=answer, chunks=chunks)
    assert (response.status, response.reason) == label(chunks, answer, verdict)
    assert len(judge.exchanges) == (unasked(chunks, answer) is None)
    assert all(exchange.chunks is response.chunks for exchange in judge.exchanges)


@given(blank)
def test_what_shows_nothing_is_blank(text):
    assert label((Chunk("x"),), text, None) == (Status.UNGROUNDED, Reason.EMPTY_ANSWER)
    assert label((Chunk(text),), "x", None) == (Status.NO_CONTEXT, Reason.BLANK_CHUNKS)
