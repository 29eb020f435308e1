import pytest

from groundguard.judges.claims.extraction import covers, drawn, unjudged
from groundguard.judges.statements import statements
from groundguard.records import Claim, Decision

POLICY = "The policy covers burst pipes and pays within 14 days."
COVERED = {
    "word for word": ([POLICY], POLICY),
    "in two": (["The policy covers burst pipes", "The policy pays within 14 days"], POLICY),
    "with the pronoun put right": (["The lamp costs 20 euros."], "It costs 20 euros [3]."),
    "another form of the words": (
        ["Burst pipes are covered.", "It pays in 14 days."],
        "Pays 14 days; covers burst pipe",
    ),
    "negation kept": (["It does not cover floods."], "It doesn't cover floods."),
    "negation shared out": (["It covers no floods.", "It covers no fires."], "It covers neither floods nor fires."),
    "nothing but function words": (["The lamp is blue."], "Yes"),
    "a mark": (["The lamp is blue."], "##"),
    "quoted and marked": (["Ada leads the team"], "- **Ada** leads the `team` 【4】"),
}
LOST = {
    "no claim": ([], POLICY),
    "no claim for a mark": ([], "##"),
    "no claim for a yes": ([], "Yes"),
    "a clause": (["The policy covers burst pipes"], POLICY),
    "a number": (["The policy covers burst pipes and pays within days."], POLICY),
    "another number": (["The policy covers burst pipes and pays within 40 days."], POLICY),
    "another unit": (["The policy covers burst pipes and pays within 14 weeks."], POLICY),
    "a name": (["The team won."], "The team of Ada won."),
    "a negation": (["It covers floods."], "It does not cover floods."),
    "a negation at the end": (["It does."], "It does not."),
    "a curly negation": (["It does."], "It doesn\u2019t."),
    "a Chinese negation too many": (["灯不是蓝色的。灯是蓝色的。"], "灯是蓝色的。"),
    "one of two negations": (["It covers no floods and fires."], "It covers no floods and no fires."),
    "a negation too many": (["It does not cover floods."], "It covers floods."),
    "the opposite": (["Sales decreased."], "Sales increased."),
    "a small opposite": (["Pay after arrival."], "Pay before arrival."),
    "only": (["Members may enter."], "Only members may enter."),
    "may": (["Members enter."], "Members may enter."),
    "a German negation": (["Die Police deckt Wasser."], "Die Police deckt kein Wasser."),
    "a German clause": (["Die Police deckt Rohre."], "Die Police deckt Rohre und zahlt bald."),
    "a Chinese clause": (["保单承保水管爆裂。"], "保单承保水管爆裂并在十四天内赔付。"),
}


@pytest.mark.parametrize(("claims", "statement"), COVERED.values(), ids=COVERED)
def test_a_statement_is_covered(claims, statement):
    assert covers(claims, statement)


@pytest.mark.parametrize(("claims", "statement"), LOST.values(), ids=LOST)
def test_what_is_lost_uncovers_a_statement(claims, statement):
    assert not covers(claims, statement)


def placed(claims):
    return [(claim.text, claim.start, claim.end) for claim in claims]


def test_statements_as_claims_are_unknown_until_somebody_judges_them():
    answer = "# Lamp\n\nIt is blue. "
    claims = unjudged(statements(answer))
    assert placed(claims) == [("# Lamp", 0, 6), ("It is blue.", 8, 19)]
    assert {claim.decision for claim in claims} == {Decision.UNKNOWN}
    assert unjudged(()) == ()


def test_claims_come_in_the_order_of_their_statements_with_what_was_lost_behind_them():
    answer = "It is blue. It costs 20 euros and lasts. Bye!"
    found = statements(answer)
    claims = drawn(found, [(2, "The lamp costs 20 euros"), (1, "It is blue")])
    assert placed(claims) == [
        ("It is blue", 0, 10),
        ("The lamp costs 20 euros", 12, 40),
        ("It costs 20 euros and lasts.", 12, 40),
        ("Bye!", 41, 45),
    ]
    assert claims[0] == Claim("It is blue", Decision.UNKNOWN, 0, 10)
    assert {claim.decision for claim in claims} == {Decision.UNKNOWN}


def test_offsets_point_into_the_answer():
    answer = "Hello. The lamp is blue and the lamp is small."
    for claim in drawn(statements(answer), [(2, "the lamp is small"), (2, "The lamp is blue")]):
        assert answer[claim.start : claim.end] == claim.text
