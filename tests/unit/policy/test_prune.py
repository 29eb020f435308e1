"""Cut what is not supported: which statements stay, how they are joined, and when there is nothing to be done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard.judges.statements import statements
from groundguard.policy import Prune, Raise, Regenerate, Replace, Return
from groundguard.policy.prune import prune
from groundguard.records import Chunk, ChunksFrom, Claim, Decision, Response, Status, Verdict
from groundguard.status import label
from groundguard.text import is_blank
from support.strategies import texts

GOOD, BAD, UNHEARD = Decision.SUPPORTED, Decision.UNSUPPORTED, Decision.UNKNOWN
LAMP = "It runs on 12 volts. It is made of gold. It has a switch."
LIST = "Lamps:\n\n- It runs on 12 volts.\n- It is made of gold.\n- It has a switch."


def claims_of(answer, *decisions):
    """One claim a statement, with these decisions in order; `...` for no claim at all."""
    split = statements(answer)
    assert len(split) == len(decisions)
    pairs = zip(split, decisions, strict=True)
    return [Claim(one.text, decision, one.start, one.end) for one, decision in pairs if decision is not ...]


def part(answer, text, decision):
    """A claim about a part of an answer."""
    start = answer.index(text)
    return Claim(text, decision, start, start + len(text))


@pytest.mark.parametrize(
    ("answer", "decisions", "left", "removed"),
    [
        (LAMP, [GOOD, BAD, GOOD], "It runs on 12 volts. It has a switch.", ("It is made of gold.",)),
        (LAMP, [BAD, GOOD, GOOD], "It is made of gold. It has a switch.", ("It runs on 12 volts.",)),
        (LAMP, [GOOD, UNHEARD, BAD], "It runs on 12 volts.", ("It is made of gold.", "It has a switch.")),
        (LAMP, [GOOD, ..., GOOD], "It runs on 12 volts. It has a switch.", ("It is made of gold.",)),
        (LAMP, [GOOD, BAD, None], "It runs on 12 volts. It has a switch.", ("It is made of gold.",)),
        (LIST, [None, GOOD, BAD, GOOD], LIST.replace("- It is made of gold.\n", ""), ("- It is made of gold.",)),
        (LIST, [BAD, GOOD, GOOD, GOOD], LIST.removeprefix("Lamps:\n\n"), ("Lamps:",)),
        (" It runs. It hums.\n\nIt glows. \n", [GOOD, BAD, GOOD], "It runs.\n\nIt glows.", ("It hums.",)),
        ("It runs.\n\nIt hums. It glows.", [GOOD, BAD, GOOD], "It runs.\n\nIt glows.", ("It hums.",)),
        ("It runs.  It hums. It glows.", [GOOD, BAD, GOOD], "It runs.  It glows.", ("It hums.",)),
    ],
)
def test_what_is_supported_stays_as_it_stood(answer, decisions, left, removed):
    assert prune(answer, claims_of(answer, *decisions)) == (left, removed)


@pytest.mark.parametrize("decision", [BAD, UNHEARD])
def test_a_statement_goes_whole_if_any_part_of_it_is_not_supported(decision):
    claims = [*claims_of(LAMP, GOOD, GOOD, GOOD), part(LAMP, "gold", decision)]
    for order in (claims, claims[::-1]):
        assert prune(LAMP, order) == ("It runs on 12 volts. It has a switch.", ("It is made of gold.",))


def test_a_claim_over_several_statements_takes_them_all_along():
    claims = [*claims_of(LAMP, GOOD, GOOD, GOOD), part(LAMP, "volts. It is", BAD)]
    assert prune(LAMP, claims) == ("It has a switch.", ("It runs on 12 volts.", "It is made of gold."))


def test_claims_about_parts_of_a_statement_keep_it_together():
    answer = "It runs on 12 volts and has a switch. It is made of gold."
    claims = [part(answer, "It runs on 12 volts", GOOD), part(answer, "has a switch", GOOD), part(answer, "gold", BAD)]
    assert prune(answer, claims) == ("It runs on 12 volts and has a switch.", ("It is made of gold.",))


@pytest.mark.parametrize(
    "claims",
    [
        [],
        claims_of(LAMP, GOOD, GOOD, GOOD),
        claims_of(LAMP, BAD, BAD, UNHEARD),
        claims_of(LAMP, None, BAD, None),
        claims_of(LAMP, None, None, None),
        claims_of(LAMP, ..., BAD, ...),
        [*claims_of(LAMP, GOOD, BAD, GOOD), Claim("It hums.", BAD)],
        [*claims_of(LAMP, GOOD, BAD, GOOD), Claim("It hums.", UNHEARD, 3)],
        [*claims_of(LAMP, GOOD, BAD, GOOD), Claim("It hums.", BAD, 50, 500)],
        [*claims_of(LAMP, GOOD, BAD, GOOD), Claim("It hums.", BAD, -5, 5)],
        [*claims_of(LAMP, GOOD, BAD, GOOD), Claim("It hums.", BAD, 5, 5)],
        [Claim("It runs on 12 volts.", GOOD), *claims_of(LAMP, ..., BAD, ...)],
        [Claim("It runs on 12 volts.", GOOD, 0, 500), *claims_of(LAMP, ..., BAD, ...)],
    ],
)
def test_there_may_be_nothing_to_cut_or_to_keep(claims):
    assert prune(LAMP, claims) is None


def test_a_supported_claim_that_cannot_be_found_is_no_obstacle():
    claims = [*claims_of(LAMP, GOOD, BAD, GOOD), Claim("It is a lamp.", GOOD), Claim("Well.", None)]
    assert prune(LAMP, claims) == ("It runs on 12 volts. It has a switch.", ("It is made of gold.",))


offsets = st.none() | st.integers(-3, 80)
any_claims = st.lists(st.builds(Claim, texts, st.none() | st.sampled_from(Decision), offsets, offsets), max_size=6)


@given(
    st.lists(st.sampled_from(["It runs. ", "Gold.\n", "- no\n", " ", "些。", "\u200b", "a"]), max_size=9), any_claims
)
def test_nothing_stays_that_an_unsupported_claim_touches_or_that_is_not_in_the_answer(parts, claims):
    answer = "".join(parts)
    pruned = prune(answer, claims)
    if pruned is None:
        return
    split = statements(answer)
    bad = [claim for claim in claims if claim.decision in {BAD, UNHEARD}]
    good = [claim for claim in claims if claim.decision is GOOD and None not in (claim.start, claim.end)]
    kept = [one for one in split if not any(claim.start < one.end and one.start < claim.end for claim in bad)]
    assert pruned.removed
    assert set(pruned.removed) <= {one.text for one in split}
    assert all(claim.start is not None and claim.end is not None for claim in bad)
    assert any(claim.start < one.end and one.start < claim.end for claim in good for one in kept)
    assert sum(len(one.text) for one in split) - sum(map(len, pruned.removed)) <= len(pruned.text) < len(answer)
    assert not is_blank(pruned.text)


# As a policy.


def response(verdict, generated=LAMP, chunks=("The lamp runs on 12 volts.",)):
    found = tuple(map(Chunk, chunks))
    status, reason = label(found, generated, verdict)
    return Response(generated, generated, status, reason, verdict, "?", found, ChunksFrom.GIVEN)


PRUNABLE = response(Verdict(BAD, claims=tuple(claims_of(LAMP, GOOD, BAD, GOOD))))
UNPRUNABLE = response(Verdict(BAD))


def test_what_is_left_is_to_be_judged_and_then_it_goes_on_with_then():
    revision = Prune(Raise()).revise(PRUNABLE)
    assert revision.policy == Raise()
    assert revision.revised == "It runs on 12 volts. It has a switch."
    assert revision.removed == ("It is made of gold.",)


def test_a_judge_that_failed_with_some_claims_heard_can_be_cut_down_too():
    given = response(Verdict(UNHEARD, claims=tuple(claims_of(LAMP, GOOD, UNHEARD, GOOD))))
    assert Prune(Raise()).revise(given).removed == ("It is made of gold.",)


@pytest.mark.parametrize(
    "given",
    [UNPRUNABLE, response(None, generated=""), response(None, chunks=()), response(Verdict(GOOD))],
    ids=["no claims", "empty answer", "no context", "answered"],
)
def test_what_cannot_be_cut_down_is_left_to_then(given):
    assert Prune(Return()).revise(given) is None
    settled = Prune(Replace("Sorry.")).settle(given)
    assert settled.answer == (given.generated if given.status is Status.ANSWERED else "Sorry.")


def test_then_may_have_something_else_judged():
    revision = Prune(Regenerate(1, Raise())).revise(UNPRUNABLE)
    assert revision.policy == Raise()
    assert revision.revised.answer == LAMP
