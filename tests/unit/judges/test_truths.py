"""The facts of the passages, as a model lists them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard.flow.drive import run
from groundguard.judges.claims.verdicts import MalformedError
from groundguard.judges.prompts import encoded
from groundguard.judges.truths import SCHEMA, extracted, extracting, read_truths
from groundguard.models import Reply
from groundguard.records import Chunk, Exchange, Reason, Turn
from groundguard.testing import ScriptedModel
from support import strategies

EXCHANGE = Exchange("Which lamp?", (Chunk("The lamp is blue."), Chunk("Buy it.")), "It is red.", (Turn("user", "Hi!"),))


def test_the_prompt_holds_the_passages_and_nothing_of_what_is_asked_or_answered():
    prompt = extracting(EXCHANGE)
    assert prompt.user.startswith('<passages>\n[1] "The lamp is blue."\n[2] "Buy it."\n</passages>\n')
    for text in ("Which lamp?", "It is red.", "Hi!"):
        assert text not in prompt.text
    assert extracting(EXCHANGE, ((2, "Buy it."),)).user.startswith('<passages>\n[2] "Buy it."\n</passages>\n')


@given(strategies.texts)
def test_a_passage_stays_in_its_block(text):
    prompt = extracting(Exchange("?", (Chunk(text),), "A"))
    assert prompt.system == extracting(EXCHANGE).system
    assert prompt.user.split("\n")[:3] == ["<passages>", f"[1] {encoded(text)}", "</passages>"]


@pytest.mark.parametrize(
    ("reply", "truths"),
    [
        ('{"truths": ["The lamp is blue.", "It costs 20 euros."]}', ("The lamp is blue.", "It costs 20 euros.")),
        ('{"truths": ["Blue.", "Blue."]}', ("Blue.",)),
        ('{"truths": []}', ()),
        ('```json\n{"truths": ["Blue."]}\n```', ("Blue.",)),
    ],
)
def test_truths_are_read(reply, truths):
    assert read_truths(reply, constrained=False) == truths


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Blue.",
        "[]",
        '["Blue."]',
        '{"facts": ["Blue."]}',
        '{"truths": "Blue."}',
        '{"truths": [1]}',
        '{"truths": [["Blue."]]}',
        '{"truths": ["Blue.", null]}',
        '{"truths": ["Blue.", " \\u200b"]}',
        '{"truths": ["Blue."], "more": 1}',
        '{"truths": ["Blue."], "truths": []}',
        '{"truths": ["Blue."',
        '{"truths": ["Blue."]} Done.',
    ],
)
def test_anything_else_is_malformed(reply):
    with pytest.raises(MalformedError) as caught:
        read_truths(reply, constrained=False)
    assert "Blue" not in str(caught.value)


def test_where_the_server_has_the_schema_a_fence_is_malformed():
    with pytest.raises(MalformedError):
        read_truths('```json\n{"truths": ["Blue."]}\n```', constrained=True)


@given(
    st.one_of(
        strategies.texts,
        st.lists(strategies.texts | st.none() | st.integers()).map(lambda value: json.dumps({"truths": value})),
    )
)
def test_reading_is_total(reply):
    try:
        truths = read_truths(reply, constrained=False)
    except MalformedError:
        return
    assert all(type(truth) is str for truth in truths)


@pytest.mark.parametrize(("constrained", "schema"), [(True, SCHEMA), (False, None)])
def test_one_call(constrained, schema):
    model = ScriptedModel('{"truths": ["Blue."]}')
    heard = run(extracted(model, extracting(EXCHANGE), constrained=constrained))
    assert (heard.value, heard.failure, model.schemas) == (("Blue.",), None, [schema])


def test_a_cut_list_is_a_failure():
    heard = run(extracted(ScriptedModel(Reply('{"truths": []}', "length")), extracting(EXCHANGE), constrained=False))
    assert (heard.value, heard.failure.reason) == (None, Reason.JUDGE_TRUNCATED)
