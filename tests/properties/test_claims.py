import itertools
import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard.guard import Guard
from groundguard.judges import Claims
from groundguard.judges.claims.coverage import covers, said
from groundguard.judges.claims.extraction import drawn
from groundguard.judges.claims.verdicts import MalformedError, Said, read_claims, read_verdicts
from groundguard.judges.statements import statements
from groundguard.models import Reply
from groundguard.records import Chunk, Decision, Exchange, Reason, Status
from groundguard.testing import ScriptedModel
from support import strategies

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

YES = {"".join(letters) for letters in product("yY", "eE", "sS")}
NO = {"".join(letters) for letters in product("nN", "oO")}
NONE = {"".join(letters) for letters in product("nN", "oO", "nN", "eE")}
NUMBERS, PASSAGES = (1, 2, 3), (1, 2)
ANSWER = "It is blue. It is small. It is new."
EXCHANGE = Exchange("?", (Chunk("a"), Chunk("b")), ANSWER)

near = ["yes.", " yes", "", "ye\u017f", "idk"]
words = st.sampled_from(["yes", "yes", "YES", "yEs", "no", "No", "none", "NONE", *near]) | strategies.texts
odd = st.none() | st.booleans() | st.floats() | st.integers() | strategies.texts | st.lists(st.integers(), max_size=2)
numbers = st.sampled_from([1, 1, 2, 2, 3, 3, 3, 0, 4])
cited = st.lists(st.sampled_from([1, 2, 1, 2, 3, 0]), max_size=3)
well_formed = st.fixed_dictionaries({"id": numbers, "verdict": words}, optional={"passages": cited})
any_entry = st.fixed_dictionaries(
    {"id": numbers | odd, "verdict": words | odd, "passages": cited | odd}, optional={"x": odd}
)
replies_of_entries = st.lists(well_formed, max_size=5).map(lambda entries: {"verdicts": entries})
json_replies = st.one_of(
    replies_of_entries,
    st.lists(any_entry, max_size=4).map(lambda entries: {"verdicts": entries}),
    st.dictionaries(st.sampled_from(["verdicts", "verdict", "claims"]), odd | st.lists(any_entry, max_size=2)),
    strategies.json_values,
)
wrappers = st.sampled_from(
    ["{}", "{}", "```json\n{}\n```", " {}\n", "x{}", "{}x", "{}{}", "<think>{}</think>{}", "\ufeff{}"]
)


def written(value, wrapper="{}"):
    return wrapper.replace("{}", json.dumps(value, default=str))


def parsed(text, *, constrained=False):
    try:
        return read_verdicts(text, NUMBERS, PASSAGES, constrained=constrained)
    except MalformedError as error:
        return str(error)


def supports(entries, number):
    """Whether exactly one entry speaks of this number, with a literal yes by passages that are there."""
    own = [entry for entry in entries if entry["id"] == number]
    return len(own) == 1 and own[0]["verdict"] in YES and {*own[0].get("passages", [])} <= {*PASSAGES}


@given(st.one_of(strategies.anything, strategies.texts, st.text('{}[]":,0123yesno `\n'), st.text()), st.booleans())
def test_any_text_is_read_and_none_supports(text, constrained):
    said = parsed(text, constrained=constrained)
    if isinstance(said, str):
        assert said.isascii()
        assert len(said) < 250
    else:
        assert all(each.decision is Decision.UNKNOWN for each in said.values())


@given(json_replies, wrappers, st.booleans())
def test_a_claim_is_supported_only_by_exactly_one_literal_yes(value, wrapper, constrained):
    said = parsed(written(value, wrapper), constrained=constrained)
    if isinstance(said, str):
        return
    assert tuple(said) == NUMBERS
    assert wrapper in {"{}", " {}\n"} or (wrapper.startswith("```") and not constrained)
    (entries,) = value.values()
    for number, each in said.items():
        assert (each.decision is Decision.SUPPORTED) == supports(entries, number)
        assert (each.wrong is None) == (each.decision is not Decision.UNKNOWN)
        assert {*each.passages} <= ({*PASSAGES} if each.decision is Decision.SUPPORTED else set())


@given(replies_of_entries)
def test_a_well_formed_reply_is_read_as_it_says(value):
    entries, said = value["verdicts"], parsed(written(value))
    if any(entry["id"] not in NUMBERS for entry in entries):
        assert said == "a verdict with a number that was not asked about"
        return
    for number in NUMBERS:
        own = [entry for entry in entries if entry["id"] == number]
        word = own[0]["verdict"] if len(own) == 1 else ""
        if word in NONE:
            assert said[number] == Said(None)
        elif word in NO:
            assert said[number] == Said(Decision.UNSUPPORTED)
        else:
            assert said[number].decision is (Decision.SUPPORTED if supports(entries, number) else Decision.UNKNOWN)


@given(st.one_of(json_replies.map(written), strategies.texts, st.builds(written, replies_of_entries, wrappers)))
def test_the_guard_answers_only_if_every_claim_that_is_asked_is_affirmed(text):
    response = Guard(Claims(ScriptedModel(text), constrained=False)).check("?", answer=ANSWER, chunks=["a", "b"])
    verdict = response.verdict
    assert verdict.score is None or 0 <= verdict.score <= 1
    assert len(verdict.claims) == len(NUMBERS)
    decisions = {claim.decision for claim in verdict.claims}
    if response.status is Status.ANSWERED:
        assert decisions <= {Decision.SUPPORTED, None}
        assert Decision.SUPPORTED in decisions
    elif decisions == {None}:
        assert (verdict.reason, verdict.score) == (Reason.VERDICT_MALFORMED, None)
    else:
        assert decisions & {Decision.UNSUPPORTED, Decision.UNKNOWN}


@given(
    st.none()
    | st.booleans()
    | st.integers()
    | st.binary()
    | st.lists(odd, max_size=2)
    | st.dictionaries(st.text(), odd),
    st.none() | st.sampled_from(["stop", "length", "content_filter"]),
)
def test_content_that_is_no_text_supports_nothing(content, finish):
    verdict = Claims(ScriptedModel(Reply(content, finish)), threshold=0.01)(EXCHANGE)
    assert verdict.decision is Decision.UNKNOWN
    assert {claim.decision for claim in verdict.claims} == {Decision.UNKNOWN}


# Claims that a model draws.

claim_entries = st.fixed_dictionaries({"statement": numbers | odd, "claim": strategies.texts | odd})


@given(
    st.one_of(
        strategies.texts,
        strategies.json_values.map(written),
        st.builds(written, st.lists(claim_entries, max_size=3).map(lambda entries: {"claims": entries}), wrappers),
    )
)
def test_any_extraction_is_read_or_malformed(text):
    try:
        found = read_claims(text, 3, constrained=False)
    except MalformedError:
        return
    assert len(set(found)) == len(found)
    assert all(number in NUMBERS and claim.strip() for number, claim in found)


sentences = st.sampled_from(
    ["It is blue. ", "It isn't new; it costs 20 euros [1]. ", "# Head\n", "```\ncode\n```\n", "Nein. ", "些文字。"]
)
answers = strategies.texts | st.lists(sentences, max_size=4).map("".join)


@given(answers, st.data())
def test_drawn_claims_leave_no_statement_uncovered_and_point_into_the_answer(answer, data):
    found = statements(answer)
    texts = st.one_of(strategies.texts, sentences, st.sampled_from([each.text for each in found] or ["x"]))
    pairs = st.tuples(st.integers(1, max(1, len(found))), texts)
    extracted = data.draw(st.lists(pairs, max_size=4 if found else 0))
    claims = drawn(found, extracted)
    assert {claim.decision for claim in claims} <= {Decision.UNKNOWN}
    texts_drawn = [claim.text for claim in claims]
    assert all(text in texts_drawn for _, text in extracted)
    for number, statement in enumerate(found, 1):
        own = [text for at, text in extracted if at == number]
        assert covers(own, statement.text, said(each.text for each in found)) or (statement.text, statement.start) in [
            (claim.text, claim.start) for claim in claims
        ]
    for claim in claims:
        inside = answer[claim.start : claim.end]
        assert inside == claim.text or inside in {each.text for each in found}


@given(answers)
def test_a_statement_covers_itself_and_nothing_covers_it_where_nothing_is(answer):
    for statement in statements(answer):
        assert covers([statement.text], statement.text)
        assert not covers([], statement.text)


@given(st.sets(st.sampled_from("lamp policy pipe Riga Ada 14 2024 blue never not only".split()), min_size=1), st.data())  # noqa: SIM905
def test_no_word_can_be_taken_away(chosen, data):
    told = sorted(chosen)
    taken = data.draw(st.sampled_from(told))
    rest = [word for word in told if word != taken]
    assert not covers([" ".join(rest)] if rest else [], " ".join(told))


WORDS = st.sampled_from("lamp policy pipe Riga Ada Ben beats 14 2024 blue never not if \u2260 > ++ ? , and".split())  # noqa: SIM905
told = st.lists(WORDS, min_size=1, max_size=8)
NEGATIONS = {"never", "not"}
LAYOUT = {">", "++", ","}
"""What a line may begin with and say nothing."""


def parts_of(words):
    """The words between `and` and commas, without negations: these are counted."""
    parts = [[]]
    for word in words:
        if word in {"and", ","}:
            parts.append([])
        elif word not in NEGATIONS:
            parts[-1].append(word)
    return parts


@given(told, told, st.lists(WORDS, max_size=5))
def test_a_claim_in_another_order_or_with_other_words_covers_nothing(statement, claim, known):
    if not covers([" ".join(claim)], " ".join(statement), frozenset(known)):
        return
    claim, statement = ([*itertools.dropwhile(LAYOUT.__contains__, words)] for words in (claim, statement))
    assert "if" not in claim or "if" in statement
    assert {word for part in parts_of(statement) for word in part} <= set(claim)
    if statement and len(set(statement)) == len(statement) and len(set(claim)) == len(claim):
        assert [word for word in claim if word in "\u2260 > ++ ?"] == [w for w in statement if w in "\u2260 > ++ ?"]
        assert sum(word in NEGATIONS for word in claim) == sum(word in NEGATIONS for word in statement)
        own = [word for part in parts_of(claim) for word in part if word in statement]
        assert own == [word for part in parts_of(statement) for word in part]


@given(st.lists(strategies.texts, max_size=3), strategies.texts, strategies.texts)
def test_whatever_the_texts_coverage_is_decided(drawn_claims, statement, context):
    assert covers(drawn_claims, statement, said([context])) in (True, False)
    assert covers([*drawn_claims, statement], statement)
