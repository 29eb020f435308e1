import time

import pytest

from groundguard.judges.claims.coverage import covers, said
from groundguard.judges.claims.extraction import drawn, unjudged
from groundguard.judges.statements import statements
from groundguard.records import Claim, Decision

POLICY = "The policy covers burst pipes and pays within 14 days."
LAMP = "The Aldona desk lamp runs on 12 volts and weighs 900 g."
RUNS = "It runs on 240 volts."
COVERED = {
    "word for word": ([POLICY], POLICY),
    "in two": (["The policy covers burst pipes", "The policy pays within 14 days"], POLICY),
    "in two and whole": (["The policy covers burst pipes", POLICY], POLICY),
    "in two and wrong": (["The policy covers burst pipes", "The policy pays within 14 days", "It is free"], POLICY),
    "numbers": (["The Aldona desk lamp runs on 12 volts.", "The Aldona desk lamp weighs 900 g."], LAMP),
    "a relative clause": (
        ["The lamp was designed in Riga.", "The lamp costs 20 euros."],
        "The lamp, which was designed in Riga, costs 20 euros.",
    ),
    "an apposition": (
        ["Ada Lovelace was a mathematician.", "Ada Lovelace wrote the program."],
        "Ada Lovelace, a mathematician, wrote the program.",
    ),
    "a list": (["The shop sells tea.", "The shop sells rice.", "The shop sells salt."], "The shop sells tea, rice and salt."),
    "two subjects": (["Ada lives in Riga.", "Ben lives in Riga."], "Ada and Ben live in Riga."),
    "two sentences in one": (
        ["The museum opened in 1984.", "The wing opened in 1990."],
        "The museum opened in 1984, and the wing opened in 1990.",
    ),
    "an opening that holds for both": (
        ["In 2019, Acme bought Borealis.", "In 2019, Acme sold Ceres."],
        "In 2019, Acme bought Borealis and sold Ceres.",
    ),
    "brackets": (["The lamp has 12 volts.", "The lamp costs 20 euros."], "The lamp (12 volts) costs 20 euros."),
    "a condition whole": (["If it rains, the match is cancelled"], "If it rains, the match is cancelled. [1]"),
    "an attribution whole": (["Ada says the lamp is blue and new"], "Ada says **the lamp** is blue and new."),
    "a sign kept": (["The lamp needs \u2265 12 volts.", "The lamp weighs 900 g."], "The lamp needs \u2265 12 volts and weighs 900 g."),
    "signs of a name": (["C++ is fast.", "C++ is old."], "C++ is fast and old."),
    "an arrow kept": (["A -> B"], "A -> B."),
    "a modal negation": (["It can not swim."], "It can't swim."),
    "negation kept": (["It does not cover floods."], "It doesn't cover floods."),
    "negation shared out": (["It covers no floods.", "It covers no fires."], "It covers neither floods nor fires."),
    "negation at the end": (["The lamp is blue.", "The lamp isn't new."], "The lamp is blue but isn't new."),
    "the opposite negated": (["The shop is not closed."], "The shop isn't closed."),
    "quoted and marked": (["Ada leads the team"], "- **Ada** leads the `team` \u30104\u3011"),
    "a table row": (["The lamp is blue"], "| The lamp | is blue |"),
    "a quotation": (["The lamp is blue"], "> The lamp is ~~blue~~"),
    "German, in two": (
        ["Die Police deckt Rohrbr\u00fcche.", "Die Police zahlt innerhalb von 14 Tagen."],
        "Die Police deckt Rohrbr\u00fcche und zahlt innerhalb von 14 Tagen.",
    ),
    "German, a relative clause": (
        ["Die Lampe wurde in Riga entworfen.", "Die Lampe kostet 20 Euro."],
        "Die Lampe, die in Riga entworfen wurde, kostet 20 Euro.",
    ),
    "German, a passive": (
        ["Die Lampe wurde 1984 in Riga entworfen.", "Die Lampe l\u00e4uft mit 12 Volt."],
        "Die Lampe wurde 1984 in Riga entworfen und l\u00e4uft mit 12 Volt.",
    ),
    "German, a list": (
        ["Der Laden verkauft Tee.", "Der Laden verkauft Reis.", "Der Laden verkauft Salz."],
        "Der Laden verkauft Tee, Reis und Salz.",
    ),
    "German, two predicates": (["Der Turm steht in Riga.", "Der Turm ist 60 Meter hoch."], "Der Turm steht in Riga und ist 60 Meter hoch."),
    "German, a negation": (["Die Police deckt Rohre.", "Die Police deckt kein Hochwasser."], "Die Police deckt Rohre, aber kein Hochwasser."),
    "Chinese, whole": (["\u4fdd\u5355\u627f\u4fdd\u6c34\u7ba1\u7206\u88c2\u3002"], "\u4fdd\u5355\u627f\u4fdd\u6c34\u7ba1\u7206\u88c2"),
}  # fmt: skip
RESOLVED = {
    "a pronoun": (["The lamp costs 20 euros."], "It costs 20 euros [3].", "Which lamp?"),
    "a pronoun, in two": (["The lamp is blue.", "The lamp lasts a year."], "It is blue and lasts a year.", "The lamp"),
    "whose it is": (["The lamp's cord is long.", "The cord is black."], "Its cord is long and black.", "The lamp is here."),
    "a German pronoun": (["Die Lampe kostet 20 Euro."], "Sie kostet 20 Euro.", "Was kostet die Lampe?"),
    "a fragment": (["The lamp needs 12 volts."], "12 volts", "What voltage does the lamp need?"),
    "a number": (["Veld has 67 000 inhabitants."], "67 000", "How many inhabitants does Veld have?"),
}  # fmt: skip
LOST = {
    "no claim": ([], POLICY),
    "no claim for a mark": ([], "##"),
    "no claim for a yes": ([], "Yes"),
    "a yes": (["The lamp is blue."], "Yes, the lamp is blue."),
    "another claim for a mark": (["The lamp is blue."], "##"),
    "nothing but function words": (["The lamp is blue."], "It is."),
    "a clause": (["The policy covers burst pipes"], POLICY),
    "a number": (["The policy covers burst pipes and pays within days."], POLICY),
    "another number": (["The policy covers burst pipes and pays within 40 days."], POLICY),
    "another unit": (["The policy covers burst pipes and pays within 14 weeks."], POLICY),
    "another subject": (["The policy covers burst pipes", "Acme pays within 14 days"], POLICY),
    "a name": (["The team won."], "The team of Ada won."),
    "a negation": (["It covers floods."], "It does not cover floods."),
    "a negation at the end": (["It does."], "It does not."),
    "a curly negation": (["It does."], "It doesn\u2019t."),
    "a Chinese negation too many": (["\u706f\u4e0d\u662f\u84dd\u8272\u7684\u3002\u706f\u662f\u84dd\u8272\u7684\u3002"], "\u706f\u662f\u84dd\u8272\u7684\u3002"),
    "one of two negations": (["It covers no floods and fires."], "It covers no floods and no fires."),
    "a negation too many": (["It does not cover floods."], "It covers floods."),
    "a negation of something else": (["The lamp is blue.", "The lamp is not small."], "The lamp is not blue and is small."),
    "a negation that may reach further": (["It does not shine.", "It hums."], "It does not shine and hum."),
    "what a negation forbids": (["It doesn't swim."], "It can't swim."),
    "the opposite": (["Sales decreased."], "Sales increased."),
    "a small opposite": (["Pay after arrival."], "Pay before arrival."),
    "only": (["Members may enter."], "Only members may enter."),
    "may": (["Members enter."], "Members may enter."),
    "a tense": (["She is the head."], "She was the head."),
    "a preposition": (["They voted for the bill."], "They voted against the bill."),
    "a word of two": (["My great-grandfather sings."], "My great-great-grandfather sings."),
    "a German negation": (["Die Police deckt Wasser."], "Die Police deckt kein Wasser."),
    "a German clause": (["Die Police deckt Rohre."], "Die Police deckt Rohre und zahlt bald."),
    "a Chinese clause": (["\u4fdd\u5355\u627f\u4fdd\u6c34\u7ba1\u7206\u88c2\u3002"], "\u4fdd\u5355\u627f\u4fdd\u6c34\u7ba1\u7206\u88c2\u5e76\u5728\u5341\u56db\u5929\u5185\u8d54\u4ed8\u3002"),
    # The order.
    "who beat whom": (["Ben beat Anna."], "Anna beat Ben."),
    "who bought whom": (["B bought A."], "A bought B."),
    "the voice": (["Borealis acquired Acme."], "Borealis was acquired by Acme."),
    "which is greater": (["B > A"], "A > B"),
    "German order": (["Anna schlug Ben."], "Ben schlug Anna."),
    # What holds a statement together.
    "a clause divided": (["The lamp runs.", "It runs on 240 volts."], "The lamp runs on 240 volts."),
    "a clause in shreds": (["The lamp runs.", "240 volts"], "The lamp runs on 240 volts."),
    "an item alone": (["The shop sells tea.", "rice"], "The shop sells tea and rice."),
    "a condition": (["The match is cancelled.", "If it rains"], "If it rains, the match is cancelled."),
    "an alternative": (["The lamp is blue", "The lamp is small"], "The lamp is blue or small."),
    "a reason": (["The lamp is blue.", "The lamp is cheap"], "The lamp is cheap because it is blue."),
    "who says so": (["Ada says the lamp is blue.", "The lamp costs 20 euros."], "Ada says the lamp is blue and costs 20 euros."),
    "few": (["Few lamps are blue.", "The lamps are small"], "Few lamps are blue and small."),
    "a phrase": (["Members may enter.", "Members with a ticket"], "Members, with a ticket, may enter."),
    "an opening": (["Acme bought Borealis.", "In 2019, Acme"], "In 2019, Acme bought Borealis."),
    "an opening, once": (["In 2019, Acme bought Borealis.", "Acme sold Ceres."], "In 2019, Acme bought Borealis and sold Ceres."),
    "a range": (["It takes 3 days", "It takes 5 days"], "It takes between 3 and 5 days."),
    "a pair of numbers": (["It takes 3 days", "It takes 5 days"], "It takes 3 and 5 days."),
    "a fraction": (["It lasts one hour.", "It lasts half hours."], "It lasts one and a half hours."),
    # What a claim adds.
    "a wrapper of a condition": (["If it runs on 240 volts, it runs on 240 volts."], RUNS),
    "a wrapper of what is said": (["The answer says that it runs on 240 volts."], RUNS),
    "a wrapper of words": (["The words are: it runs on 240 volts."], RUNS),
    "a wrapper of another's words": (["Ada believes it runs on 240 volts."], RUNS),
    "a wrapper that resolves": (["According to Ada, the lamp runs on 240 volts."], RUNS),
    "an alternative added": (["It runs on 240 volts or not."], RUNS),
    "a doubt added": (["Perhaps it runs on 240 volts."], RUNS),
    "a possibility added": (["The lamp may run on 240 volts."], RUNS),
    "a falsehood": (["It is false that it runs on 240 volts."], RUNS),
    "a quotation": (['There is "it runs on 240 volts".'], RUNS),
    "a colon": (["There it is: it runs on 240 volts."], RUNS),
    "a question": (["The lamp runs on 240 volts?"], RUNS),
    "a name added": (["The lamp of Ada runs on 240 volts."], "The lamp runs on 240 volts."),
    "a pronoun added": (["It pays within 14 days.", "The policy covers burst pipes."], POLICY),
    "a German condition": (["Wenn es mit 240 Volt l\u00e4uft, l\u00e4uft es mit 240 Volt."], "Es l\u00e4uft mit 240 Volt."),
    "a German wrapper": (["Die Antwort sagt, dass es mit 240 Volt l\u00e4uft."], "Es l\u00e4uft mit 240 Volt."),
}  # fmt: skip
SIGNS = ["\u2260", "!=", ">", "<", "\u2264", "\u2265", "\u00b1", "\u2011", "\u2013", "\u2014", "\u00ac", "~", "\u2248",
         "\u221a", "=", "\u2192", "1*", "\u274c ", "\U0001f4af "]  # fmt: skip
EVERYTHING = " ".join(text for claims, statement in LOST.values() for text in (*claims, statement))


@pytest.mark.parametrize(("claims", "statement"), COVERED.values(), ids=COVERED)
def test_a_statement_is_covered(claims, statement):
    assert covers(claims, statement)


@pytest.mark.parametrize(("claims", "statement", "context"), RESOLVED.values(), ids=RESOLVED)
def test_a_claim_may_say_what_a_pronoun_means_in_words_that_were_said(claims, statement, context):
    assert covers(claims, statement, said([context, statement]))
    assert not covers(claims, statement, said([statement]))


@pytest.mark.parametrize(("claims", "statement"), LOST.values(), ids=LOST)
def test_what_is_lost_uncovers_a_statement(claims, statement):
    assert not covers(claims, statement)
    assert not covers(claims, statement, said([EVERYTHING]))


@pytest.mark.parametrize("sign", SIGNS, ids=ascii)
def test_a_sign_that_is_lost_or_added_uncovers_a_statement(sign):
    plain, signed = "The lamp runs on 12 volts", f"The lamp runs on {sign}12 volts"
    assert not covers([plain], f"{signed}.")
    assert not covers([signed], f"{plain}.")
    assert covers([signed, "The lamp is new"], f"{signed} and is new.")


@pytest.mark.parametrize(
    ("claim", "statement"),
    [("A < B", "A > B"), ("A == B", "A != B"), ("C is fast", "C++ is fast"), ("C+ is fast", "C++ is fast"), ("A B", "A -> B"),
     ("The lamp is blue", "The lamp is blue \U0001f4af"), ("The lamp is blue", "The lamp is blue?")],
)  # fmt: skip
def test_a_sign_between_or_behind_words_counts_too(claim, statement):
    assert not covers([claim], statement)


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


def test_what_the_conversation_says_may_stand_for_a_pronoun():
    found = statements("It costs 20 euros.")
    claim = (1, "The lamp costs 20 euros.")
    assert [each.text for each in drawn(found, [claim], ["Which lamp?"])] == [claim[1]]
    assert [each.text for each in drawn(found, [claim])] == [claim[1], "It costs 20 euros."]


def test_offsets_point_into_the_answer():
    answer = "Hello. The lamp is blue and the lamp is small."
    for claim in drawn(statements(answer), [(2, "the lamp is small"), (2, "The lamp is blue")]):
        assert answer[claim.start : claim.end] == claim.text


def test_a_statement_of_thousands_of_words_is_covered_by_itself_only():
    text = "The lamp is blue, " * 1_000 + "and new."
    assert not covers([text.upper()], text)
    assert covers([text], text)


def test_many_claims_of_long_statements_are_compared_in_moderate_time():
    statement = "In Riga, " + ", ".join(f"lamp {number} costs {number} euros" for number in range(300)) + "."
    claims = [f"In Riga, lamp {number} costs {number} euros." for number in range(400)]
    began = time.thread_time()
    assert covers(claims, statement)
    assert time.thread_time() - began < 20
