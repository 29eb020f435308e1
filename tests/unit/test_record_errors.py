"""What is wrong with a record is told in our own words: no error quotes a value, or a key that is not ours."""

import copy
import json
import traceback
from collections import UserDict

import pytest

from groundguard.conversation import TurnResult
from groundguard.errors import InputError, UsageError
from groundguard.policy import Feedback, Prune, Raise, Regenerate, Replace, Return, Revision
from groundguard.records import (
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
)
from support.ids import steady

MARK = "the-secret-mark"
NUMBER = 7**11
CLAIM = Claim("It hums.", Decision.UNSUPPORTED, 0, 8, ("1",), ("hums",), 0.5)
USAGE = Usage(7, 1)
VERDICT = Verdict(Decision.UNKNOWN, Reason.JUDGE_TIMEOUT, claims=(CLAIM,), usage=USAGE)
NO = Verdict(Decision.UNSUPPORTED, score=0.5, claims=(CLAIM,), raw="no", usage=USAGE, members=(VERDICT,))
ATTEMPT = Attempt("It hums.", Status.UNGROUNDED, Reason.UNSUPPORTED, NO, ("It sings.",))
CHUNK = Chunk("The lamp.", "lamp", "lamps.md", 0.5, {"page": 1})
RESPONSE = Response(
    answer="It hums.",
    generated="It hums.",
    status=Status.UNGROUNDED,
    reason=Reason.UNSUPPORTED,
    verdict=NO,
    question="Does it?",
    chunks=(CHUNK,),
    chunks_from=ChunksFrom.GIVEN,
    attempts=(ATTEMPT,),
    timings=Timings(1.0, 2.0, 3.0, 4.0),
)
RECORDS = [CHUNK, CLAIM, USAGE, NO, ATTEMPT, RESPONSE, RESPONSE.timings, Turn("user", "Does it?"),
           Exchange("Does it?", (CHUNK,), "It hums.", (Turn("user", "Hm?"),)),
           TurnResult(0, Status.UNGROUNDED, Reason.UNSUPPORTED, NO), Feedback("It hums.", Reason.UNSUPPORTED, (CLAIM,))]  # fmt: skip
BAD = [MARK, [MARK], (MARK,), {MARK: MARK}, [{MARK: MARK}], {MARK}, MARK.encode(), NUMBER, float(NUMBER), -NUMBER]


def said(error):
    """All that an error tells, with whatever lies behind it."""
    chain, behind = "".join(traceback.format_exception(error)), error
    while behind is not None:
        chain += f"{behind} {behind!r}"
        behind = behind.__cause__ or behind.__context__
    return chain


def assert_quotes_nothing(error):
    assert MARK not in said(error)
    assert str(NUMBER) not in said(error)
    assert str(error)


def assert_names(error, name):
    assert name in str(error) or "can't have the reason" in str(error)


def test_the_marks_would_be_found():
    def fail():
        try:
            raise ValueError(MARK)
        except ValueError:
            raise TypeError(NUMBER) from None

    with pytest.raises(TypeError) as raised:
        fail()
    assert MARK in said(raised.value)
    assert str(NUMBER) in said(raised.value)


# Constructors.

FIELDS = [(record, name) for record in RECORDS for name in type(record).__dataclass_fields__ if name != "output"]


@pytest.mark.parametrize(
    ("record", "name"), FIELDS, ids=lambda each: each if isinstance(each, str) else type(each).__name__
)
def test_no_constructor_quotes_what_it_refuses(record, name):
    kind, values = type(record), {key: getattr(record, key) for key in type(record).__dataclass_fields__}
    assert kind(**values) == record
    refused = 0
    for bad in BAD:
        try:
            kind(**{**values, name: bad})
        except (TypeError, ValueError) as error:
            assert_quotes_nothing(error)
            assert_names(error, name)
            refused += 1
    assert refused > 0


@pytest.mark.parametrize("kind", [Status, Decision, Reason, ChunksFrom])
@pytest.mark.parametrize("bad", [*BAD, None, True, Chunk, object()], ids=steady)
def test_the_expected_values_of_an_enumeration_are_told(kind, bad):
    name, make = {
        Status: ("Attempt.status", lambda: Attempt("x", bad, Reason.UNSUPPORTED)),
        Decision: ("Verdict.decision", lambda: Verdict(bad)),
        Reason: ("Feedback.reason", lambda: Feedback("x", bad)),
        ChunksFrom: ("Response.chunks_from", lambda: Response("x", "x", "ungrounded", "unsupported", NO, "?", (), bad)),
    }[kind]
    with pytest.raises(ValueError, match=f"^{name} must be one of {', '.join(kind)}, not ") as raised:
        make()
    assert_quotes_nothing(raised.value)
    assert raised.value.__context__ is None


# From a dictionary.


def places(data, path=()):
    """The path of every value, and of every mapping."""
    yield path
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from places(value, (*path, key))


def changed(data, path, change):
    if not path:
        return change(data)
    data = copy.copy(data)
    data[path[0]] = changed(data[path[0]], path[1:], change)
    return data


READ = [
    (kind, path)
    for kind, record in ((Response, RESPONSE), (Verdict, NO))
    for path in places(json.loads(json.dumps(record.to_dict())))
    if "metadata" not in path[:-1]
]


@pytest.mark.parametrize(("kind", "path"), READ, ids=str)
def test_no_reading_quotes_the_data(kind, path):
    data = json.loads(json.dumps({Response: RESPONSE, Verdict: NO}[kind].to_dict()))
    assert kind.from_dict(data) is not None
    more = [lambda value: {**value, MARK: MARK} if isinstance(value, dict) else {MARK: value},
            lambda value: [*value, MARK] if isinstance(value, list) else MARK]  # fmt: skip
    for change in (*more, *(lambda value, bad=bad: bad for bad in BAD)):
        try:
            kind.from_dict(changed(data, path, change))
        except InputError as error:
            assert_quotes_nothing(error)


KINDS = [
    ("a verdict", "Verdict", Verdict, ()),
    ("a verdict", "Claim", Verdict, ("claims", 0)),
    ("a verdict", "Usage", Verdict, ("usage",)),
    ("a verdict", "Verdict", Verdict, ("members", 0)),
    ("a response", "Response", Response, ()),
    ("a response", "Chunk", Response, ("chunks", 0)),
    ("a response", "Timings", Response, ("timings",)),
    ("a response", "Attempt", Response, ("attempts", 0)),
    ("a verdict", "Claim", Response, ("attempts", 0, "verdict", "claims", 0)),
]


@pytest.mark.parametrize(("what", "name", "kind", "path"), KINDS)
def test_what_is_unknown_or_missing_is_told(what, name, kind, path):
    data = {Response: RESPONSE, Verdict: NO}[kind].to_dict()
    begin = f"not {what} as to_dict() writes it: {name} "
    for more, count in (({MARK: 1}, "1 more key than "), ({MARK: 1, 5: 2}, "2 more keys than ")):
        with pytest.raises(InputError) as raised:
            kind.from_dict(changed(data, path, lambda value, more=more: value | more))
        assert str(raised.value).startswith(f"{begin}has {count}")
        assert_quotes_nothing(raised.value)
    for other in (MARK, [MARK], None, [("text", MARK)]):
        if other is None and name == "Usage":
            continue
        with pytest.raises(InputError) as raised:
            kind.from_dict(changed(data, path, lambda _, other=other: other))
        assert str(raised.value) == f"{begin}is read from a mapping, not a {type(other).__name__}"


@pytest.mark.parametrize(
    ("name", "kind", "path", "lacking"),
    [
        ("Claim", Verdict, ("claims", 0), "text, decision"),
        ("Chunk", Response, ("chunks", 0), "text"),
        ("Attempt", Response, ("attempts", 0), "generated, status, reason, verdict"),
        ("Verdict", Verdict, (), "decision, claims, usage, members"),
    ],
)
def test_all_that_is_missing_is_told_at_once(name, kind, path, lacking):
    data = {Response: RESPONSE, Verdict: NO}[kind].to_dict()
    with pytest.raises(InputError, match=f": {name} lacks {lacking}$") as raised:
        kind.from_dict(changed(data, path, lambda _: {MARK: MARK}))
    assert_quotes_nothing(raised.value)


def test_what_a_mapping_of_somebodys_own_raises_is_named_and_not_quoted():
    class Broken(UserDict):
        def __iter__(self):
            raise KeyError(MARK)

    with pytest.raises(InputError, match=r"not a verdict as to_dict\(\) writes it: KeyError$") as raised:
        Verdict.from_dict(Broken())
    assert MARK not in "".join(traceback.format_exception(raised.value))


# Policies.


@pytest.mark.parametrize(
    "make",
    [
        lambda: Raise(on=MARK),
        lambda: Raise(on=[Status.UNGROUNDED, MARK]),
        lambda: Raise(on={MARK: 1}),
        lambda: Replace("x", on={MARK}),
        lambda: Prune(Return(), on=[[MARK]]),
        lambda: Prune(MARK),
        lambda: Regenerate(MARK, Return()),
        lambda: Revision(Return(), "x", MARK),
        lambda: Revision(Return(), "x", (MARK, 5)),
    ],
)
def test_no_policy_quotes_what_it_refuses(make):
    with pytest.raises(UsageError) as raised:
        make()
    assert_quotes_nothing(raised.value)
