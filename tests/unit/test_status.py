import pytest

from groundguard.records import JUDGE_FAILURES, Chunk, Decision, Reason, Status, Verdict
from groundguard.status import Label, label, unasked

SOME = (Chunk("The lamp runs on 12 volts."),)
PARTLY = (Chunk(""), *SOME, Chunk("\u200b"))
BLANK = (Chunk(""), Chunk(" \n\t"), Chunk("\u200b\ufeff\u3164"))
YES, NO = Verdict(Decision.SUPPORTED), Verdict(Decision.UNSUPPORTED)
FAILURES = [Verdict(Decision.UNKNOWN, reason) for reason in sorted(JUDGE_FAILURES)]

ASKED = [
    (YES, Label(Status.ANSWERED, Reason.SUPPORTED)),
    (NO, Label(Status.UNGROUNDED, Reason.UNSUPPORTED)),
    *[(failure, Label(Status.UNGROUNDED, failure.reason)) for failure in FAILURES],
    (None, Label(Status.UNGROUNDED, Reason.JUDGE_ERROR)),
]


@pytest.mark.parametrize("verdict", [YES, NO, *FAILURES, None])
@pytest.mark.parametrize("answer", ["12 volts.", "", "\u200b"])
@pytest.mark.parametrize("chunks", [(), BLANK, SOME])
def test_no_context_whatever_the_answer_and_the_verdict(chunks, answer, verdict):
    expected = {(): Reason.NO_CHUNKS, BLANK: Reason.BLANK_CHUNKS}
    assert label(chunks, answer, verdict, observed=False) == (Status.NO_CONTEXT, Reason.RETRIEVAL_NOT_OBSERVED)
    if chunks in expected:
        assert label(chunks, answer, verdict) == (Status.NO_CONTEXT, expected[chunks])
        assert unasked(chunks, answer) == label(chunks, answer, verdict)


@pytest.mark.parametrize("verdict", [YES, NO, *FAILURES, None])
@pytest.mark.parametrize("answer", ["", " ", "\n\t", "\u200b", "\ufeff\u2060", "\u3164", "\u2800"])
@pytest.mark.parametrize("chunks", [SOME, PARTLY])
def test_a_blank_answer_is_ungrounded_whatever_the_verdict(chunks, answer, verdict):
    assert label(chunks, answer, verdict) == (Status.UNGROUNDED, Reason.EMPTY_ANSWER)
    assert unasked(chunks, answer) == (Status.UNGROUNDED, Reason.EMPTY_ANSWER)


@pytest.mark.parametrize(("verdict", "expected"), ASKED)
@pytest.mark.parametrize("answer", ["12 volts.", "\u200b.\u200b", "0", "no"])
@pytest.mark.parametrize("chunks", [SOME, PARTLY])
def test_the_verdict_decides_the_rest(chunks, answer, verdict, expected):
    assert label(chunks, answer, verdict) == expected
    assert unasked(chunks, answer) is None


def test_lists_will_do():
    assert label(list(SOME), "12 volts.", YES).status is Status.ANSWERED
