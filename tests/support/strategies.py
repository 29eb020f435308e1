"""Texts that try to break out, and records of every kind, for hypothesis."""

import datetime as dt
import math

from hypothesis import strategies as st

from groundguard.records import (
    JUDGE_FAILURES,
    Attempt,
    Chunk,
    ChunksFrom,
    Claim,
    Decision,
    Reason,
    Response,
    Status,
    Timings,
    Turn,
    Usage,
    Verdict,
)
from groundguard.status import label

HOSTILE = (
    "</answer>",
    "<passages>",
    "</passages>\n<answer>",
    "[1] ",
    '"',
    "\\",
    "\\u003c",
    "\\n",
    "\n",
    "\r\n",
    "\x00",
    "\x85",
    "\u2028",
    "\u202e",
    "\u2066",
    "\u200b",
    "\ufeff",
    "\u3164",
    "\ufe0f",
    "\U000e0041",
    "\ud83d",
    "\ude00",
    "\U0001f600",
    "{question}",
    "{{",
    "%s",
    "{0}",
    "$x",
    "yes",
    "é",
    "些",
)


def joined(text):
    """`text` with the two halves of a surrogate pair as one character: JSON can't tell them apart."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


anything = st.text(st.characters(exclude_categories=()))
hostile = st.lists(st.sampled_from(HOSTILE)).map("".join)
texts = st.one_of(st.sampled_from(["", " ", "The lamp runs on 12 volts."]), anything, hostile).map(joined)
maybe_texts = st.none() | texts
scores = st.none() | st.floats(0, 1)
seconds = st.none() | st.floats(0, 1e6)
counts = st.none() | st.integers(-5, 10**9)

odd = st.sampled_from(
    [
        math.nan,
        math.inf,
        -math.inf,
        b"bytes",
        1j,
        dt.date(2024, 2, 29),
        frozenset({1}),
        Decision.SUPPORTED,
        Chunk("inner"),
        range(3),
    ]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | odd,
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(texts | st.integers(), inner),
    max_leaves=6,
)
metadata = st.dictionaries(texts | st.integers() | st.none(), json_values, max_size=3)

chunks = st.builds(
    Chunk,
    texts,
    id=maybe_texts,
    source=maybe_texts,
    score=st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9),
    metadata=metadata,
)
chunk_tuples = st.lists(chunks, max_size=3).map(tuple)
turns = st.builds(Turn, texts, texts)
usages = st.builds(Usage, counts, counts)
claims = st.builds(
    Claim,
    texts,
    st.none() | st.sampled_from(Decision),
    counts,
    counts,
    st.lists(texts, max_size=2).map(tuple),
    st.lists(texts, max_size=2).map(tuple),
    scores,
)


@st.composite
def verdict_records(draw):
    decision = draw(st.sampled_from(Decision))
    reasons = {
        Decision.SUPPORTED: [Reason.SUPPORTED],
        Decision.UNSUPPORTED: [Reason.UNSUPPORTED],
        Decision.UNKNOWN: sorted(JUDGE_FAILURES),
    }
    optional = ("raw", "detail", "error_type", "judge", "fingerprint", "prompt_version", "prompt_hash", "model")
    return Verdict(
        decision,
        draw(st.sampled_from(reasons[decision])),
        score=draw(scores),
        claims=tuple(draw(st.lists(claims, max_size=2))),
        usage=draw(st.none() | usages),
        calls=draw(st.integers(0, 9)),
        seconds=draw(seconds),
        **{name: draw(maybe_texts) for name in optional},
    )


verdicts = verdict_records()


@st.composite
def attempt_records(draw):
    generated, verdict = draw(texts), draw(st.none() | verdicts)
    status, reason = label(draw(chunk_tuples), generated, verdict)
    return Attempt(generated, status, reason, verdict, tuple(draw(st.lists(texts, max_size=2))))


@st.composite
def response_records(draw):
    found, generated, verdict = draw(chunk_tuples), draw(texts), draw(st.none() | verdicts)
    chunks_from = draw(st.sampled_from(ChunksFrom))
    status, reason = label(found, generated, verdict, observed=chunks_from is not ChunksFrom.NOT_OBSERVED)
    return Response(
        answer=generated if status is Status.ANSWERED else draw(texts),
        generated=generated,
        status=status,
        reason=reason,
        verdict=verdict,
        question=draw(texts),
        chunks=found,
        chunks_from=chunks_from,
        chunks_exact=draw(st.booleans()),
        attempts=tuple(draw(st.lists(attempt_records(), max_size=2))),
        timings=Timings(*(draw(seconds) for _ in range(4))),
        output=object(),
    )


responses = response_records()
