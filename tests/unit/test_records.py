import dataclasses
import enum
import hashlib
import inspect
import json
import pickle
import sys
import uuid
from collections import UserDict
from decimal import Decimal
from fractions import Fraction

import pytest

from groundguard import records
from groundguard.errors import InputError
from groundguard.guard import Guard
from groundguard.judges import FactCheck
from groundguard.models import Prompt, Reply
from groundguard.records import (
    JUDGE_FAILURES,
    Attempt,
    Chunk,
    ChunksFrom,
    Claim,
    Decision,
    Exchange,
    Reason,
    Response,
    Status,
    Timings,
    Turn,
    Usage,
    Verdict,
    evidence_digest,
)

SUPPORTED = Verdict(Decision.SUPPORTED)
UNSUPPORTED = Verdict(Decision.UNSUPPORTED)
UNKNOWN = Verdict(Decision.UNKNOWN)


def response(**changes):
    values = {
        "answer": "12 volts.",
        "generated": "12 volts.",
        "status": Status.ANSWERED,
        "reason": Reason.SUPPORTED,
        "verdict": SUPPORTED,
        "question": "What voltage?",
        "chunks": (Chunk("The lamp runs on 12 volts.", id="lamp"),),
        "chunks_from": ChunksFrom.GIVEN,
    }
    return Response(**{**values, **changes})


def ungrounded(**changes):
    return response(**{"status": Status.UNGROUNDED, "reason": Reason.UNSUPPORTED, "verdict": UNSUPPORTED, **changes})


def written(one=None):
    return json.loads(json.dumps((one or response()).to_dict(), allow_nan=False))


# The closed lists.


def test_the_names_of_statuses_decisions_and_reasons_are_for_ever():
    assert [status.value for status in Status] == ["answered", "ungrounded", "no_context"]
    assert [decision.value for decision in Decision] == ["supported", "unsupported", "unknown"]
    assert {reason.value for reason in Reason} == {
        "supported",
        "unsupported",
        "verdict_malformed",
        "judge_refused",
        "judge_filtered",
        "judge_truncated",
        "judge_timeout",
        "judge_rate_limited",
        "judge_error",
        "no_chunks",
        "blank_chunks",
        "retrieval_not_observed",
        "empty_answer",
    }


def test_the_judge_failures_are_the_reasons_of_a_verdict_that_is_unknown():
    assert {reason for reason in Reason if reason.startswith("judge_")} | {Reason.VERDICT_MALFORMED} == JUDGE_FAILURES
    for reason in Reason:
        if reason in JUDGE_FAILURES:
            assert Verdict(Decision.UNKNOWN, reason).reason is reason
        else:
            with pytest.raises(ValueError, match="can't have the reason"):
                Verdict(Decision.UNKNOWN, reason)


# Verdicts.


@pytest.mark.parametrize(
    ("decision", "reason"),
    [("supported", "supported"), ("unsupported", "unsupported"), ("unknown", "judge_error")],
)
def test_the_reason_follows_from_the_decision(decision, reason):
    verdict = Verdict(decision)
    assert verdict.decision is Decision(decision)
    assert verdict.reason is Reason(reason)


@pytest.mark.parametrize("decision", [True, 1, None, "yes", "Supported", "answered", b"supported", Status.ANSWERED])
def test_nothing_else_is_a_decision(decision):
    with pytest.raises(ValueError, match=r"^Verdict\.decision must be one of supported, unsupported, unknown, not a "):
        Verdict(decision)


@pytest.mark.parametrize("decision", [Decision.SUPPORTED, Decision.UNSUPPORTED])
def test_a_sure_verdict_has_no_other_reason(decision):
    for reason in set(Reason) - {Reason(decision.value)}:
        with pytest.raises(ValueError, match="can't have the reason"):
            Verdict(decision, reason)


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan"), float("inf"), 2])
def test_a_score_lies_between_0_and_1(score):
    with pytest.raises(ValueError, match="score must be finite and within its range"):
        Verdict(Decision.SUPPORTED, score=score)
    with pytest.raises(ValueError, match=r"Claim\.score"):
        Claim("x", None, score=score)


@pytest.mark.parametrize("score", [True, "0.5", 1j, Decimal(1), [0.5]])
def test_a_score_is_a_number(score):
    with pytest.raises(TypeError, match=r"Verdict\.score must be a number or None, not"):
        Verdict(Decision.SUPPORTED, score=score)


def test_scores_become_plain_floats():
    numpy = pytest.importorskip("numpy")
    for score in (numpy.float32(0.5), numpy.float64(0.5), Fraction(1, 2)):
        assert type(Verdict(Decision.SUPPORTED, score=score).score) is float
        assert json.dumps(Chunk("x", score=score).__reduce__()[1][3]) == "0.5"
    assert type(Chunk("x", score=3).score) is float


def test_claims_become_a_tuple_of_claims():
    claims = [Claim("x", "supported", chunk_ids=["1"])]
    verdict = Verdict(Decision.SUPPORTED, claims=claims)
    assert verdict.claims == (Claim("x", Decision.SUPPORTED, chunk_ids=("1",)),)
    assert verdict.claims[0].decision is Decision.SUPPORTED
    with pytest.raises(TypeError, match=r"Verdict\.claims must be a tuple of Claim"):
        Verdict(Decision.SUPPORTED, claims=["x"])


# What a field may hold.

WRONG = [
    (lambda bad: Chunk(bad), [None, 1, b"x", ["x"]], r"Chunk\.text must be str, not"),
    (lambda bad: Chunk("x", id=bad), [1, uuid.UUID(int=0)], r"Chunk\.id must be str \| None, not"),
    (lambda bad: Chunk("x", source=bad), [1, b"x"], r"Chunk\.source must be str"),
    (lambda bad: Chunk("x", score=bad), ["1", True, 1j], r"Chunk\.score must be a number or None"),
    (lambda bad: Chunk("x", metadata=bad), [None, [("a", 1)], "x"], r"Chunk\.metadata must be Mapping"),
    (lambda bad: Turn("user", bad), [None, 1], r"Turn\.content must be str"),
    (lambda bad: Exchange(bad, (), ""), [None, 1], r"Exchange\.question must be str"),
    (lambda bad: Exchange("", (), bad), [None, 1, True], r"Exchange\.answer must be str"),
    (lambda bad: Exchange("", bad, ""), ["x", ["x"], [None]], r"Exchange\.chunks must be a tuple of Chunk"),
    (lambda bad: Exchange("", (), "", bad), ["x", [("user", "x")]], r"Exchange\.history must be a tuple of Turn"),
    (lambda bad: Usage(bad), [True, 1.5, "1"], r"Usage\.input_tokens must be int \| None"),
    (lambda bad: Claim(bad, None), [None, 1], r"Claim\.text must be str"),
    (lambda bad: Claim("x", None, bad), [True, 1.0], r"Claim\.start must be int"),
    (lambda bad: Claim("x", None, chunk_ids=bad), ["12", [1]], r"Claim\.chunk_ids must be a tuple of str"),
    (lambda bad: Verdict("unknown", raw=bad), [1, b"yes", ["yes"]], r"Verdict\.raw must be str"),
    (lambda bad: Verdict("unknown", detail=bad), [ValueError("x")], r"Verdict\.detail must be str"),
    (lambda bad: Verdict("unknown", usage=bad), [{}, 1], r"Verdict\.usage must be .*Usage"),
    (lambda bad: Verdict("unknown", calls=bad), [None, True, 1.0], r"Verdict\.calls must be int"),
    (lambda bad: Timings(bad), ["1", True], r"Timings\.retrieval must be a number"),
    (lambda bad: Attempt(bad, "ungrounded", "unsupported"), [None, ["x"]], r"Attempt\.generated must be str"),
    (
        lambda bad: Attempt("x", "ungrounded", "unsupported", removed=bad),
        ["x", [None], [1]],
        r"Attempt\.removed must be a tuple of str",
    ),
    (lambda bad: ungrounded(question=bad), [None, 1], r"Response\.question must be str"),
    (lambda bad: ungrounded(answer=bad), [None, ["x"]], r"Response\.answer must be str"),
    (lambda bad: response(generated=bad), [["x", "y"], {"x": 1}], r"Response\.generated must be str"),
    (lambda bad: ungrounded(verdict=bad), [True, "supported", Decision.SUPPORTED], r"Response\.verdict must be"),
    (lambda bad: ungrounded(chunks_exact=bad), [1, None, "true"], r"Response\.chunks_exact must be bool"),
    (lambda bad: ungrounded(timings=bad), [None, {}], r"Response\.timings must be Timings"),
    (lambda bad: ungrounded(attempts=bad), [["x"]], r"Response\.attempts must be a tuple of Attempt"),
]


@pytest.mark.parametrize(
    ("make", "bad", "message"), [(make, bad, message) for make, bads, message in WRONG for bad in bads]
)
def test_a_wrong_type_is_refused_where_it_is_made(make, bad, message):
    with pytest.raises(TypeError, match=message):
        make(bad)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf")])
def test_a_chunk_has_a_finite_score_or_none(score):
    with pytest.raises(ValueError, match=r"Chunk\.score must be finite"):
        Chunk("x", score=score)
    with pytest.raises(ValueError, match=r"Timings\.total"):
        Timings(total=score)


def test_records_are_frozen():
    for record in (Chunk("x"), Turn("a", "b"), Usage(), Claim("x", None), SUPPORTED, Timings(), response()):
        for field in dataclasses.fields(record):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(record, field.name, None)
        assert not hasattr(record, "__dict__")


# Chunks.


def test_a_chunk_reads_as_its_text():
    assert str(Chunk("The lamp.")) == "The lamp."


def test_metadata_is_json_or_becomes_its_str():
    class Odd:
        def __str__(self):
            return "odd"

    chunk = Chunk(
        "x",
        metadata={1: Odd(), "list": [1, {"deep": {2}}], "nan": float("nan"), "kind": Decision.UNKNOWN, None: None},
    )
    assert chunk.metadata == {
        "1": "odd",
        "list": (1, {"deep": "{2}"}),
        "nan": "nan",
        "kind": "unknown",
        "None": None,
    }
    with pytest.raises(TypeError):
        chunk.metadata["new"] = 1
    with pytest.raises(TypeError):
        chunk.metadata["list"][1]["deep"] = 1
    written_response = written(response(chunks=(chunk,)))
    assert written_response["chunks"][0]["metadata"]["list"] == [1, {"deep": "{2}"}]


def test_chunks_with_other_metadata_are_other_chunks_that_hash():
    one, other = Chunk("x", metadata={"page": 1}), Chunk("x", metadata={"page": 2})
    assert one != other
    assert one == Chunk("x", metadata={"page": 1})
    assert len({one, other, Chunk("x", metadata={"page": 1})}) == 2


# The digest.


def test_the_digest_is_sha_256_over_length_prefixed_utf_8():
    plain = hashlib.sha256(b"\0\0\0\0\0\0\0\x02ab\0\0\0\0\0\0\0\x01c").hexdigest()
    assert evidence_digest([Chunk("ab"), Chunk("c")]) == plain
    accented = hashlib.sha256(b"\0\0\0\0\0\0\0\x02\xc3\xa9").hexdigest()
    assert evidence_digest([Chunk("é")]) == accented
    assert evidence_digest([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_the_digest_knows_where_one_chunk_ends():
    texts = (["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["", "abc"], ["c", "ab"])
    assert len({evidence_digest(map(Chunk, each)) for each in texts}) == len(texts)


def test_the_digest_survives_a_surrogate_pair_in_two_halves():
    halves = response(chunks=(Chunk("lamp \ud83d\ude00"),))
    assert Response.from_dict(written(halves)).chunks[0].text == "lamp \U0001f600"
    alone = response(chunks=(Chunk("lamp \ud83d"),), answer="\ude00 12 volts.", generated="\ude00 12 volts.")
    assert Response.from_dict(written(alone)) == alone


# A response is `answered` in one way only.

NOT_ANSWERED = [
    {"verdict": None},
    {"verdict": UNSUPPORTED},
    {"verdict": UNKNOWN},
    {"chunks": ()},
    {"chunks": (Chunk(""), Chunk(" \u200b\n"), Chunk("\u2800\u3164"))},
    {"chunks_from": ChunksFrom.NOT_OBSERVED},
    {"generated": ""},
    {"generated": "\u200b \ufeff"},
    {"reason": Reason.UNSUPPORTED},
    {"reason": Reason.NO_CHUNKS},
]


@pytest.mark.parametrize("changes", NOT_ANSWERED)
@pytest.mark.parametrize("status", [Status.ANSWERED, "answered"])
def test_nothing_else_can_be_built_as_answered(status, changes):
    assert response(status=status).status is Status.ANSWERED
    with pytest.raises(ValueError, match=r"`answered` needs|can't have the reason"):
        response(status=status, **changes)
    with pytest.raises(ValueError, match=r"`answered` needs|can't have the reason"):
        dataclasses.replace(response(), **changes)


@pytest.mark.parametrize("make", [response, lambda **changes: Attempt("x", **changes)])
@pytest.mark.parametrize(
    ("status", "reason", "verdict"),
    [
        ("answered", "supported", None),
        ("answered", "supported", UNKNOWN),
        ("answered", "unsupported", UNSUPPORTED),
        ("ungrounded", "supported", SUPPORTED),
        ("ungrounded", "no_chunks", None),
        ("no_context", "unsupported", None),
        ("no_context", "empty_answer", None),
    ],
)
def test_status_reason_and_verdict_go_together(make, status, reason, verdict):
    with pytest.raises(ValueError, match=r"`answered` needs|can't have the reason"):
        make(status=status, reason=reason, verdict=verdict)


def test_a_judge_cannot_dress_up_as_a_verdict():
    class Posing:
        decision = Decision.SUPPORTED
        reason = Reason.SUPPORTED

    class PosingChunk:
        text = "visible"

    with pytest.raises(TypeError, match=r"Response\.verdict"):
        response(verdict=Posing())
    with pytest.raises(TypeError, match=r"Response\.chunks"):
        response(chunks=(PosingChunk(),))


def test_equal_strings_of_other_enums_are_not_a_decision():
    class Mood(enum.StrEnum):
        ANSWERED = "answered"
        SUPPORTED = "supported"

    class Lax(Verdict):
        def __post_init__(self):
            """Check nothing."""

    assert response(status=Mood.ANSWERED).status is Status.ANSWERED
    assert Verdict(Mood.SUPPORTED).decision is Decision.SUPPORTED
    for decision in (Mood.SUPPORTED, Reason.SUPPORTED, "supported", True):
        with pytest.raises(ValueError, match="`answered` needs"):
            response(verdict=Lax(decision))


class LaxResponse(Response):
    def __post_init__(self):
        """Check nothing."""


def test_a_lax_subclass_does_not_come_back_from_pickle_or_json():
    lax = LaxResponse(**{field.name: getattr(response(), field.name) for field in dataclasses.fields(Response)})
    object.__setattr__(lax, "verdict", None)
    with pytest.raises(ValueError, match="`answered` needs"):
        pickle.loads(pickle.dumps(lax))
    with pytest.raises(InputError):
        LaxResponse.from_dict(lax.to_dict())


def test_a_status_that_is_not_answered_needs_no_verdict():
    for status, reason in [("no_context", "no_chunks"), ("ungrounded", "empty_answer"), ("ungrounded", "judge_error")]:
        made = response(status=status, reason=reason, verdict=None, chunks=[])
        assert (made.status, made.reason) == (status, reason)
        assert made.usage is None
        assert made.chunks == ()


# To a dictionary and back.


def test_a_response_is_written_as_json_values():
    verdict = Verdict(Decision.SUPPORTED, usage=Usage(7, 1), claims=[Claim("12 volts.", None)])
    attempt = Attempt("13 volts.", Status.UNGROUNDED, Reason.UNSUPPORTED, UNSUPPORTED, ["It hums."])
    data = written(response(verdict=verdict, attempts=[attempt], output=object()))
    assert data["status"] == "answered"
    assert data["chunks_from"] == "given"
    assert data["usage"] == data["verdict"]["usage"] == {"input_tokens": 7, "output_tokens": 1}
    assert data["attempts"][0]["verdict"]["decision"] == "unsupported"
    assert data["attempts"][0]["removed"] == ["It hums."]
    assert data["evidence_digest"] == response().evidence_digest
    assert "output" not in data
    assert set(data) == {field.name for field in dataclasses.fields(Response)} - {"output"} | {
        "usage",
        "evidence_digest",
    }
    assert Response.from_dict(data) == response(verdict=verdict, attempts=(attempt,))


def test_the_output_is_left_out_of_equality_hash_pickle_and_dictionary():
    one, other = response(output=lambda: 1), response(output=None)
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert pickle.loads(pickle.dumps(one)).output is None
    assert one.to_dict() == other.to_dict()
    assert dataclasses.replace(one, question="x").output is one.output


def test_an_answered_response_delivers_what_was_judged():
    with pytest.raises(ValueError, match="delivers the text that was judged"):
        response(answer="another text")
    with pytest.raises(InputError, match="delivers the text that was judged"):
        Response.from_dict(response().to_dict() | {"answer": "another text"})


class Liar(str):
    """Says one thing to a judge and another to a reader."""

    __slots__ = ()

    def __str__(self):
        return "another text"

    def __format__(self, how):
        return "another text"

    def __iter__(self):
        return iter("another text")

    def lower(self):
        return "yes"


@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_a_string_of_a_class_of_ones_own_becomes_a_plain_one():
    given = response(question=Liar("q"), chunks=(Chunk(Liar("c"), Liar("id")),))
    for text in (given.question, given.chunks[0].text, given.chunks[0].id, Claim(Liar("x"), None).text):
        assert type(text) is str
    assert Claim("x", None, missing=(Liar("a"),)).missing == ("a",)
    guard = Guard(FactCheck(lambda prompt: Liar("certainly not")))
    assert guard.check("q", answer=Liar("lamp"), chunks=["lamp"]).reason == "verdict_malformed"
    assert guard.check("q", answer=Liar(" "), chunks=["lamp"]).reason == "empty_answer"


TAMPERED = [
    ({"status": "answered", "verdict": None}, "needs a SUPPORTED verdict"),
    ({"status": "answered", "generated": " "}, "needs a SUPPORTED verdict"),
    ({"status": "Answered"}, r"Response\.status must be one of answered, ungrounded, no_context, not a str"),
    ({"status": True}, r"Response\.status must be one of .*, not a bool"),
    ({"reason": "unsupported"}, "can't have the reason"),
    ({"evidence_digest": "0" * 64}, "evidence_digest"),
    ({"evidence_digest": None}, "evidence_digest"),
    ({"chunks": []}, "needs visible chunks"),
    ({"chunks": [{"text": "13 volts."}]}, "evidence_digest"),
    ({"chunks": [{"text": None}]}, r"Chunk\.text must be str"),
    ({"chunks": ["x"]}, "Chunk is read from a mapping, not a str"),
    ({"chunks": "x"}, "chunks must be a list, not a str"),
    ({"chunks": None}, "chunks must be a list, not a NoneType"),
    ({"chunks": [{"text": "x", "score": "high"}]}, r"Chunk\.score"),
    ({"chunks": [{"text": "x", "score": 10**400}]}, r"Chunk\.score must be finite"),
    ({"chunks_from": "somewhere"}, r"Response\.chunks_from must be one of retriever, given, .*, not a str"),
    ({"chunks_exact": "yes"}, r"Response\.chunks_exact must be bool"),
    ({"verdict": True}, "bool"),
    ({"verdict": {"decision": "supported"}}, "Verdict lacks claims, usage, members"),
    ({"question": 5}, r"Response\.question must be str"),
    ({"generated": ["1", "2"]}, r"Response\.generated must be str"),
    ({"answer": None}, r"Response\.answer must be str"),
    ({"timings": {"total": "long"}}, r"Timings\.total"),
    ({"timings": None}, "Timings is read from a mapping, not a NoneType"),
    ({"attempts": [{"generated": "x", "status": "answered", "reason": "supported", "verdict": None}]}, "needs"),
    ({"attempts": [{"generated": "x"}]}, "Attempt lacks status, reason, verdict"),
    ({"output": "x"}, "Response has 1 more key than answer, .*, evidence_digest$"),
    ({"surplus": 1, "other": 2}, "Response has 2 more keys than answer, .*, evidence_digest$"),
]


@pytest.mark.parametrize(("changes", "message"), TAMPERED)
def test_a_tampered_response_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        Response.from_dict({**written(), **changes})


@pytest.mark.parametrize("name", ["answer", "status", "reason", "verdict", "chunks", "evidence_digest", "attempts"])
def test_a_response_with_something_missing_is_refused(name):
    data = written()
    del data[name]
    with pytest.raises(InputError, match=f"not a response as to_dict.. writes it: Response lacks {name}$"):
        Response.from_dict(data)


@pytest.mark.parametrize("data", [None, 5, "x", [], [1], {}, [("a", 1)]])
def test_what_is_no_response_is_refused(data):
    with pytest.raises(InputError, match="not a response"):
        Response.from_dict(data)
    with pytest.raises(InputError, match="not a verdict"):
        Verdict.from_dict(data)


@pytest.mark.parametrize(
    "changes",
    [
        {"decision": "yes"},
        {"decision": True},
        {"reason": "judge_error"},
        {"score": "0.5"},
        {"score": True},
        {"usage": {"input_tokens": "7"}},
        {"usage": [7]},
        {"claims": [{"text": "x"}]},
        {"claims": ["x"]},
        {"claims": None},
        {"raw": 5},
        {"calls": "1"},
        {"surplus": 1},
    ],
)
def test_a_tampered_verdict_is_refused(changes):
    with pytest.raises(InputError, match="not a verdict as to_dict"):
        Verdict.from_dict({**SUPPORTED.to_dict(), **changes})


def test_metadata_that_is_nested_too_deep_is_refused():
    deep = "x"
    for _ in range(sys.getrecursionlimit()):
        deep = [deep]
    data = {**written(), "chunks": [{"text": "x", "metadata": {"deep": deep}}]}
    with pytest.raises(InputError, match="RecursionError"):
        Response.from_dict(data)


def test_an_interrupt_while_reading_is_not_bad_data():
    class Interrupted(UserDict):
        def __iter__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Response.from_dict({**written(), "verdict": Interrupted()})


# What a representation shows.


def test_no_representation_holds_any_text():
    secret = "the-secret"
    chunk = Chunk(secret, secret, secret, 0.5, {secret: secret})
    claim = Claim(secret, Decision.SUPPORTED, 0, 3, (secret,), (secret,), 0.5)
    verdict = Verdict(Decision.SUPPORTED, claims=(claim,), raw=secret, detail=secret, prompt_hash=secret)
    turn = Turn("user", secret)
    exchange = Exchange(secret, (chunk,), secret, (turn,))
    attempt = Attempt(secret, Status.ANSWERED, Reason.SUPPORTED, verdict, (secret,))
    whole = response(
        answer=secret,
        generated=secret,
        question=secret,
        chunks=(chunk,),
        verdict=verdict,
        attempts=(attempt,),
        output=secret,
    )
    others = (Prompt("instructions", secret), Reply(secret, "stop", secret))
    for record in (chunk, claim, verdict, turn, exchange, attempt, whole, *others):
        assert secret not in repr(record)
    assert "answered" in repr(whole)
    assert "0.5" in repr(chunk)


def test_every_public_record_is_a_frozen_dataclass_or_an_enum():
    public = [value for name, value in vars(records).items() if inspect.isclass(value) and not name.startswith("_")]
    own = [value for value in public if value.__module__ == records.__name__]
    assert len(own) >= 13
    for value in own:
        assert issubclass(value, enum.StrEnum) or value.__dataclass_params__.frozen
