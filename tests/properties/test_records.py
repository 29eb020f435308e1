import copy
import dataclasses
import hashlib
import json
import pickle
import struct

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from groundguard.errors import InputError
from groundguard.records import Attempt, Chunk, Decision, Reason, Response, Status, Verdict, evidence_digest
from groundguard.text import is_blank
from support import strategies
from support.strategies import joined

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10**400),
    st.floats(),
    st.sampled_from(["answered", "supported", "ungrounded", "given", "x", "", "true", "1", "0.5"]),
    st.just([]),
    st.just({}),
    st.just(["x"]),
    st.just([["a", "b"]]),
    st.just({"text": "x"}),
    st.just({"decision": "supported"}),
)


def strict(value):
    return json.loads(json.dumps(value, allow_nan=False))


def affirmed(record):
    """Whether an `answered` response or attempt rests on a judge's yes."""
    verdict, chunks = record.verdict, getattr(record, "chunks", None)
    return (
        isinstance(verdict, Verdict)
        and verdict.decision is Decision.SUPPORTED
        and record.reason is Reason.SUPPORTED
        and not is_blank(record.generated)
        and (chunks is None or any(not is_blank(chunk.text) for chunk in chunks))
    )


def consistent(response):
    return all(affirmed(one) for one in (response, *response.attempts) if one.status == "answered")


def places(value, path=()):
    """Every path into a JSON value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, key))


def changed(value, path, junk):
    if not path:
        return junk
    value = copy.copy(value)
    value[path[0]] = changed(value[path[0]], path[1:], junk)
    return value


@settings(max_examples=25)
@given(strategies.responses)
def test_a_response_survives_strict_json(response):
    back = Response.from_dict(strict(response.to_dict()))
    assert back == response
    assert hash(back) == hash(response)
    assert back.to_dict() == response.to_dict()
    assert back.output is None
    assert consistent(back)


@settings(max_examples=25)
@given(strategies.responses)
def test_a_response_survives_pickle_and_copy(response):
    for back in (pickle.loads(pickle.dumps(response)), copy.deepcopy(response)):
        assert back == response
        assert [chunk.metadata for chunk in back.chunks] == [chunk.metadata for chunk in response.chunks]
        assert back.output is None


@given(strategies.verdicts)
def test_a_verdict_survives_strict_json_and_pickle(verdict):
    assert Verdict.from_dict(strict(verdict.to_dict())) == verdict
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    assert "raw" not in repr(verdict)


@settings(max_examples=25)
@given(strategies.responses, JUNK, st.data())
def test_no_tampering_reads_as_an_answer_that_no_judge_affirmed(response, junk, data):
    written = strict(response.to_dict())
    path = data.draw(st.sampled_from(list(places(written))))
    try:
        back = Response.from_dict(changed(written, path, junk))
    except InputError:
        return
    assert consistent(back)
    strict(back.to_dict())


@settings(max_examples=25)
@given(strategies.responses, st.sampled_from(Status), st.sampled_from(Reason), st.none() | strategies.verdicts)
def test_no_replacement_makes_an_answer_that_no_judge_affirmed(response, status, reason, verdict):
    for changes in ({"status": status}, {"status": status, "reason": reason}, {"verdict": verdict}):
        try:
            made = dataclasses.replace(response, **changes)
        except ValueError:
            continue
        assert consistent(made)


@given(strategies.texts, st.sampled_from(Status), st.sampled_from(Reason), st.none() | strategies.verdicts)
def test_an_attempt_is_answered_only_if_a_judge_affirmed_it(generated, status, reason, verdict):
    try:
        attempt = Attempt(generated, status, reason, verdict)
    except ValueError:
        return
    assert attempt.status is not Status.ANSWERED or affirmed(attempt)


@given(st.lists(strategies.texts, max_size=4), st.integers(0, 3), st.characters())
def test_the_digest_is_over_length_prefixed_texts_and_notices_every_change(texts, at, extra):
    sizes = [text.encode("utf-8", "surrogatepass") for text in texts]
    expected = hashlib.sha256(b"".join(struct.pack(">Q", len(size)) + size for size in sizes)).hexdigest()
    assert evidence_digest(map(Chunk, texts)) == expected
    assert evidence_digest(Chunk(text, id="1", score=2, metadata={"a": 1}) for text in texts) == expected
    if at < len(texts):
        other = [*texts[:at], joined(texts[at] + extra), *texts[at + 1 :]]
        assert evidence_digest(map(Chunk, other)) != expected


@given(strategies.metadata)
def test_metadata_is_read_only_at_every_depth_and_cut_off_from_what_was_handed_in(given_metadata):
    chunk = Chunk("x", metadata=given_metadata)
    before = strict(chunk.__reduce__()[1][4])
    given_metadata.clear()
    todo = [chunk.metadata]
    while todo:
        value = todo.pop()
        assert (
            value is None or isinstance(value, (str, bool, int, float, tuple)) or type(value).__name__ == "mappingproxy"
        )
        if isinstance(value, tuple):
            todo.extend(value)
        elif type(value).__name__ == "mappingproxy":
            with pytest.raises(TypeError):
                value["new"] = 1
            assert all(isinstance(key, str) for key in value)
            todo.extend(value.values())
    assert strict(chunk.__reduce__()[1][4]) == before


@settings(max_examples=25)
@given(strategies.responses, st.text("abcdefgh", min_size=12, max_size=12))
def test_no_representation_shows_what_anybody_wrote(response, secret):
    assume(secret not in repr(response))
    chunk = Chunk(secret, secret, secret, metadata={secret: secret})
    verdict = dataclasses.replace(
        response.verdict or Verdict(Decision.UNKNOWN), raw=secret, detail=secret, prompt_hash=secret
    )
    made = dataclasses.replace(
        response,
        answer=secret,
        generated=secret,
        question=secret,
        chunks=(chunk, *response.chunks) if response.chunks else (),
        verdict=response.verdict and verdict,
    )
    assert secret not in f"{made!r} {made} {chunk!r} {verdict!r}"
