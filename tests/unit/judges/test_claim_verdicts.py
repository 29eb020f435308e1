import json

import pytest

from groundguard.judges.claims.verdicts import MalformedError, Said, read_claims, read_verdicts
from groundguard.records import Decision
from support.claims import claims, verdicts

YES, NO, UNKNOWN = Decision.SUPPORTED, Decision.UNSUPPORTED, Decision.UNKNOWN


def read(text, numbers=(1, 2), passages=(1, 2, 3), *, constrained=False):
    return read_verdicts(text, numbers, passages, constrained=constrained)


def entry(**changes):
    return json.dumps({"verdicts": [{"id": 1, "verdict": "yes", "passages": [1], **changes}]})


# Verdicts.


def test_a_verdict_for_each_number():
    said = read(verdicts(("yes", [3, 1]), "no"))
    assert said == {1: Said(YES, (3, 1)), 2: Said(NO)}


@pytest.mark.parametrize(
    ("word", "decision"),
    [("yes", YES), ("YES", YES), ("yEs", YES), ("No", NO), ("none", None), ("NONE", None), ("nOne", None)],
)
def test_words_follow_the_ascii_case_rule(word, decision):
    assert read(entry(verdict=word), [1])[1].decision is decision


@pytest.mark.parametrize(
    "word",
    [
        *(
            "",
            " yes",
            "yes ",
            "yes.",
            "Yes!",
            "yes\n",
            "ye\u017f",
            "\uff59\uff45\uff53",
            "y\u0435s",
            "sí",
            "ja",
            "true",
        ),
        *("1", "idk", "not supported", "supported", "partially", "none.", "n\u043ene", "null", "yes no", "**yes**"),
    ],
)
def test_any_other_word_leaves_its_claim_unknown_and_the_others_theirs(word):
    said = read(verdicts(word, "yes"))
    assert said == {1: Said(UNKNOWN, wrong="answered with another word"), 2: Said(YES)}


@pytest.mark.parametrize("text", [verdicts(), verdicts("yes"), verdicts("yes", first=2)])
def test_a_missing_number_is_unknown(text):
    said = read(text)
    given = {each["id"] for each in json.loads(text)["verdicts"]}
    assert set(said) == {1, 2}
    for number in said:
        assert said[number] == (Said(YES) if number in given else Said(UNKNOWN, wrong="missing"))


@pytest.mark.parametrize("words", [("yes", "yes"), ("yes", "no"), ("no", "yes", "yes"), ("none", "yes")])
def test_a_repeated_number_is_unknown_whatever_is_repeated(words):
    entries = [{"id": 1, "verdict": word, "passages": []} for word in words]
    said = read(json.dumps({"verdicts": [*entries, {"id": 2, "verdict": "yes", "passages": []}]}))
    assert said == {1: Said(UNKNOWN, wrong="repeated"), 2: Said(YES)}


@pytest.mark.parametrize("number", [0, 3, -1, 10**30])
def test_a_number_that_was_not_asked_about_spoils_the_whole_reply(number):
    text = json.dumps({"verdicts": [{"id": each, "verdict": "yes", "passages": []} for each in (1, 2, number)]})
    with pytest.raises(MalformedError, match="a number that was not asked about") as raised:
        read(text)
    assert "0" not in str(raised.value)


@pytest.mark.parametrize("cited", [[4], [0], [-1], [1, 4], [10**30]])
def test_a_yes_by_a_passage_that_is_not_there_is_unknown(cited):
    assert read(verdicts(("yes", cited), "yes"))[1] == Said(UNKNOWN, wrong="supported by a passage that is not there")
    assert read(verdicts(("no", cited), ("none", cited))) == {1: Said(NO), 2: Said(None)}


def test_passages_are_named_once_and_need_not_be():
    assert read(entry(passages=[2, 1, 2]), [1])[1].passages == (2, 1)
    assert read(entry(passages=[]), [1])[1] == Said(YES)
    assert read('{"verdicts": [{"id": 1, "verdict": "yes"}]}', [1])[1] == Said(YES)


MALFORMED = {
    "empty": "",
    "white space": " \n",
    "prose": "I can't decide.",
    "yes": "yes",
    "negated prose": "The answer is not yes",
    "null": "null",
    "number": "1",
    "text": '"yes"',
    "list": '[{"id": 1, "verdict": "yes", "passages": []}]',
    "no key": "{}",
    "other key": '{"results": []}',
    "more keys": '{"verdicts": [], "score": 7}',
    "one verdict": '{"verdict": "yes"}',
    "verdicts an object": '{"verdicts": {"1": "yes"}}',
    "verdicts words": '{"verdicts": ["yes"]}',
    "verdicts null": '{"verdicts": null}',
    "verdict a list": '{"verdicts": [[1, "yes"]]}',
    "key repeated": '{"verdicts": [{"id": 1, "verdict": "no", "verdict": "yes", "passages": []}]}',
    "outer key repeated": '{"verdicts": [], "verdicts": [{"id": 1, "verdict": "yes", "passages": []}]}',
    "key more": entry(reason="it says so"),
    "no id": '{"verdicts": [{"verdict": "yes", "passages": []}]}',
    "no verdict": '{"verdicts": [{"id": 1, "passages": []}]}',
    "id text": entry(id="1"),
    "id true": entry(id=True),
    "id null": entry(id=None),
    "id a float": entry(id=1.0),
    "id NaN": entry(id=float("nan")),
    "verdict 7": entry(verdict=7),
    "verdict true": entry(verdict=True),
    "verdict null": entry(verdict=None),
    "verdict words in a list": entry(verdict=["yes"]),
    "passages null": entry(passages=None),
    "passages a number": entry(passages=1),
    "passages text": entry(passages="1"),
    "a passage as text": entry(passages=["1"]),
    "a passage true": entry(passages=[True]),
    "a passage a float": entry(passages=[1.0]),
    "a passage infinite": entry(passages=[float("inf")]),
    "cut": verdicts("yes")[:-1],
    "tail": verdicts("yes") + " and so on",
    "long tail": verdicts("yes") + "x" * 200_000,
    "two objects": verdicts("yes") * 2,
    "prose before": "Here it is: " + verdicts("yes"),
    "thoughts before": "<think>yes</think>" + verdicts("yes"),
    "byte order mark": "\ufeff" + verdicts("yes"),
    "no-break space": "\u00a0" + verdicts("yes"),
    "single quotes": verdicts("yes").replace('"', "'"),
    "comment": verdicts("yes").replace("{", "{/**/", 1),
    "comma at the end": verdicts("yes").replace("]}", "],}"),
    "deep": "[" * 100_000,
    "huge number": entry(id=0).replace("0", "9" * 5_000, 1),
    "many words": "yes no maybe " * 15_400,
}


@pytest.mark.parametrize("constrained", [True, False])
@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_anything_else_is_malformed_and_told_by_its_shape(text, constrained):
    with pytest.raises(MalformedError) as raised:
        read(text, constrained=constrained)
    said = str(raised.value)
    assert said.isascii()
    assert len(said) < 250
    for words in ("says so", "so on", "maybe", "decide", "Here", "results"):
        assert words not in said


# The one wrapper.

FENCED = ["```json\n{}\n```", "```\n{}\n```", "\n ```JSON \r\n{}\r\n ``` \n", "```json\n\n{}\n\n```", " \t{}\r\n"]
NOT_FENCED = [
    "```json {}```",
    "```json\n{}```",
    "`{}`",
    "~~~\n{}\n~~~",
    "Sure:\n```json\n{}\n```",
    "```json\n{}\n```\nDone.",
    "```json\n{}",
    "{}\n```",
    "```json\n```json\n{}\n```\n```",
    "```json\n{}\n```\n```json\n{}\n```",
    "> {}",
]


@pytest.mark.parametrize("wrapper", FENCED)
@pytest.mark.parametrize(("word", "decision"), [("yes", YES), ("no", NO)])
def test_white_space_and_one_fence_around_the_object_are_taken_off(wrapper, word, decision):
    assert read(wrapper.replace("{}", verdicts(word)), [1])[1].decision is decision


@pytest.mark.parametrize("wrapper", NOT_FENCED)
def test_no_other_wrapper_is(wrapper):
    with pytest.raises(MalformedError):
        read(wrapper.replace("{}", verdicts("yes")), [1])


def test_under_a_schema_no_fence_is_expected_and_none_taken_off():
    with pytest.raises(MalformedError):
        read(FENCED[0].replace("{}", verdicts("yes")), [1], constrained=True)
    assert read("\n" + verdicts("yes"), [1], constrained=True) == {1: Said(YES)}


# Claims that a model drew.


def drawn(text, statements=2, *, constrained=False):
    return read_claims(text, statements, constrained=constrained)


def test_claims_come_with_the_number_of_their_statement():
    assert drawn(claims((1, "A."), (2, "B."), (1, "C."))) == ((1, "A."), (2, "B."), (1, "C."))
    assert drawn(claims()) == ()
    assert drawn("```json\n" + claims((1, "A.")) + "\n```") == ((1, "A."),)


def test_repeats_within_a_statement_are_merged():
    assert drawn(claims((1, "A."), (2, "A."), (1, "A."), (1, "a."))) == ((1, "A."), (2, "A."), (1, "a."))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not one JSON object of claims: an empty reply"),
        ("I found none.", "not one JSON object of claims: 13 characters"),
        ("[]", "JSON, but no object with a list of claims"),
        ('{"claims": ["A."]}', "other keys"),
        ('{"claims": [{"claim": "A."}]}', "other keys"),
        ('{"claims": [{"statement": 1, "claim": "A.", "x": 1}]}', "other keys"),
        ('{"claims": [{"statement": "1", "claim": "A."}]}', "no whole number"),
        ('{"claims": [{"statement": true, "claim": "A."}]}', "no whole number"),
        ('{"claims": [{"statement": 1.0, "claim": "A."}]}', "no whole number"),
        ('{"claims": [{"statement": 1, "claim": null}]}', "no text"),
        ('{"claims": [{"statement": 1, "claim": "A.", "claim": "B."}]}', "not one JSON object"),
        (claims((0, "A.")), "a statement that is not there"),
        (claims((3, "A.")), "a statement that is not there"),
        (claims((-1, "A.")), "a statement that is not there"),
        (claims((1, "A."), (1, "")), "without visible text"),
        (claims((1, " \u200b")), "without visible text"),
        (claims((1, "A."))[:-1], "not one JSON object"),
    ],
)
def test_anything_else_is_no_extraction(text, told):
    with pytest.raises(MalformedError, match=told):
        drawn(text)
