"""The embedded judge: what it must reject, what it must accept, and what holds for any text."""

import asyncio
import threading
import time
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard.errors import GroundguardWarning, UsageError
from groundguard.flow.steps import Call
from groundguard.judges.base import judged
from groundguard.judges.lexical import Lexical
from groundguard.records import Chunk, Claim, Decision, Exchange, Reason, Verdict

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

LAMP = "The Aldona desk lamp runs on 12 volts and weighs 900 g. It was designed in Riga in 1984."
VELD = "Veld is a town in the north. It has 67 000 inhabitants. The town lies on the river Ost."
TRIAL = "The trial lasts 14 days. The trial must not be extended. Logging is enabled by default."


def judge(question: str, answer: str, chunks: list[str], threshold: float | None = None) -> Verdict:
    lexical = Lexical() if threshold is None else Lexical(threshold)
    return lexical(Exchange(question, tuple(map(Chunk, chunks)), answer))


ACCEPTED = [
    ("How many live in Veld?", "It has **67 000** inhabitants.", [VELD]),
    ("How many live in Veld?", "It has about 67 thousand inhabitants.", [VELD]),
    ("How many live in Veld?", "Veld has 67,000 inhabitants [1].", [VELD]),
    ("", "The screw has 1.5 % twist.", ["The screw has 1,5 % twist."]),
    ("", "The screw has 1.5 percent twist.", ["The screw has 1,5 % twist."]),
    ("", "The trial cannot be extended.", [TRIAL]),
    ("", "By default, logging is enabled.", [TRIAL]),
    ("", "Logging is not disabled by default.", [TRIAL]),
    ("", "The bolt is 1.2 cm long.", ["The bolt is 12 mm long."]),
    ("", "The bridge is 61 m high.", ["The bridge is 61 metres high."]),
    ("", "The museum opened on March 5, 2019.", ["The museum opened on 5 March 2019."]),
    ("", "The museum opened on 2019-03-05.", ["The museum opened on 5 March 2019."]),
    ("", "Borealis was acquired by Acme.", ["Acme acquired Borealis."]),
    ("", "From Monday to Friday the shop is open.", ["The shop is open from Monday to Friday."]),
    ("", "Ost has 76 000 inhabitants.", ["Veld has 67 000 inhabitants. Ost has 76 000 inhabitants."]),
    ("What voltage does the Aldona lamp need?", "12 volts", [LAMP]),
    ("What voltage does the Aldona lamp need?", "12 V", [LAMP]),
    ("What voltage does the Aldona lamp need?", "It runs on 12 volts.", ["The Aldona lamp needs 12 volts."]),
    ("What voltage does the Aldona lamp need?", "It needs 12 volts.", [LAMP]),
    ("What voltage does the Aldona lamp need?", "The lamp needs 12 volts.", [LAMP]),
    ("Which languages does Ana know?", "Python. SQL.", ["Ana has used Python and SQL for years."]),
    ("Which languages does Ana know?", "- Python\n- SQL", ["Ana has used Python and SQL for years."]),
    ("What is the capital of Estonia?", "Tallinn.", ["Tallinn is the capital of Estonia."]),
    ("", "The trial lasts 14 days. Veld is a town in the north. It was designed in Riga in 1984.", [LAMP, VELD, TRIAL]),
    ("", "The trial lasts two weeks.", [TRIAL]),
    ("", "Dogs are not allowed in the park.", ["Dogs are forbidden in the park."]),
    ("", "The team had 12 women.", ["The team had 67 men and 12 women."]),
    ("", "We support Go, SQL and Python.", ["We support Python, SQL and Go."]),
    ("", "So:\n- The trial lasts 14 days.", [TRIAL]),
    ("", "The report was written in Riga.", ["The report was written by Mara in Riga."]),
    ("", "Die Testphase dauert 14 Tage.", ["Die Testphase dauert 14 Tage und endet automatisch."]),
    ("", "沃尔登有67000名居民。", ["沃尔登有67000名居民。它在北方。"]),
    ("", "At least 18 years old is required.", ["You must be at least 18 years old."]),
    ("How many inhabitants does Veld have?", "67 000", ["Ost has 76 000 inhabitants. Veld has 67 000 inhabitants."]),
    (
        "How many inhabitants does Veld have?",
        "It has 67 000 inhabitants.",
        ["Ost has 76 000 inhabitants. Veld has 67 000 inhabitants."],
    ),
    ("", "The lamp weighs 0.9 kg.", [LAMP]),
    ("", "> The trial lasts 14 days. [1][2]", [TRIAL]),
    ("", "1. The trial lasts 14 days.\n2. Logging is enabled by default.", [TRIAL]),
    ("", "The parcel costs 12 euros.", ["The parcel costs €12."]),
    ("", "The loan is $3.2 million.", ["The loan is 3,200,000 dollars."]),
    ("", "Use version 1.2.3.", ["Use version 1.2.3 only."]),
    ("", "It froze at −5 °C.", ["It froze at -5 °C."]),
    ("", "It takes 10-15 minutes.", ["It takes 10–15 minutes."]),
    ("", "The lamp needs 12 volts.", ["How many volts does the lamp need? The lamp needs 12 volts."]),
]

REJECTED = [
    ("How many live in Veld?", "It has 76 000 inhabitants.", [VELD]),
    ("How many live in Veld?", "It has **999 000** inhabitants.", [VELD]),
    ("", "The screw has 15 % twist.", ["The screw has 1,5 % twist."]),
    ("", "The Berta desk lamp runs on 12 volts.", [LAMP]),
    ("", "The trial must be extended.", [TRIAL]),
    ("", "The trial can be extended.", [TRIAL]),
    ("", "Logging is disabled by default.", [TRIAL]),
    ("", "Logging is not enabled by default.", [TRIAL]),
    ("", "Veld lies on the river Ost and won a design prize.", [VELD]),
    ("", "The lamp runs on 12 volts. Whales sing at night.", [LAMP]),
    ("", "The bolt is 12 cm long.", ["The bolt is 12 mm long."]),
    ("", "The bridge is 61 feet high.", ["The bridge is 61 metres high."]),
    ("", "It opened on 5 April 2019.", ["The museum opened on 5 March 2019."]),
    ("", "It opened on 5 March 2018.", ["The museum opened on 5 March 2019."]),
    ("", "Borealis acquired Acme.", ["Acme acquired Borealis."]),
    ("", "Borealis acquired Acme in 2011.", ["Acme acquired Borealis in 2011."]),
    ("", "Acme was acquired by Borealis.", ["Acme acquired Borealis."]),
    ("", "The shop is open from Friday to Monday.", ["The shop is open from Monday to Friday."]),
    ("", "The ferry runs from Oslo to Bergen.", ["The ferry runs from Bergen to Oslo."]),
    (
        "What is the capital of Portugal?",
        "Lisbon is the capital of Portugal.",
        ["My cousin flew home from Lisbon on Monday.", "Portugal won the match.", "The capital was raised."],
    ),
    (
        "What is the capital of Portugal?",
        "Lisbon is the capital of Portugal.",
        ["My cousin flew home from Lisbon on Monday."],
    ),
    ("Which city is the capital of Portugal?", "Lisbon.", ["My cousin flew home from Lisbon on Monday."]),
    ("", "Veld has 76 000 inhabitants.", ["Veld has 67 000 inhabitants. Ost has 76 000 inhabitants."]),
    ("", "The red hall seats 90.", ["The red hall seats 60. The blue hall seats 90."]),
    ("", "The small hall seats 90.", ["The small hall seats 60. The large hall seats 90."]),
    ("What voltage does the Aldona lamp need?", "24 volts", [LAMP]),
    ("What is the capital of Estonia?", "Tallinn.", ["The jazz festival in Tallinn starts on Friday."]),
    ("", "The trial lasts 14 weeks.", [TRIAL]),
    ("", "Smoking is allowed in the hall.", ["Smoking is not allowed in the hall."]),
    ("", "Smoking is not allowed in the hall.", ["Smoking is allowed in the hall."]),
    ("", "Dogs are not forbidden in the park.", ["Dogs are forbidden in the park."]),
    ("", "The tower was never completed.", ["The tower was completed in 1890."]),
    ("", "Sales decreased by 5 % in 2020.", ["Sales increased by 5 % in 2020."]),
    ("", "Apply it before meals.", ["Apply it after meals."]),
    ("", "The maximum load is 5 kg.", ["The minimum load is 5 kg."]),
    ("", "The door is always locked.", ["The door is never locked."]),
    ("", "The heater is on.", ["The heater is off."]),
    ("", "The team had 12 men and 67 women.", ["The team had 67 men and 12 women."]),
    ("", "The team had 12 men.", ["The team had 67 men and 12 women."]),
    ("", "The dog bit the man.", ["The man bit the dog."]),
    ("", "Alice sent the letter to Bob.", ["Bob sent the letter to Alice."]),
    ("", "Portugal is the capital of Lisbon.", ["Lisbon is the capital of Portugal."]),
    ("", "😀 !!!", [LAMP]),
    ("", "Yes.", [TRIAL]),
    ("", "It is.", [TRIAL]),
    ("", "The result is uncertain.", ["The result is certain."]),
    ("", "The two events are independent.", ["The two events are dependent."]),
    ("", "Berg lies in France.", ["Berg lies in Norway. Paris lies in France."]),
    (
        "",
        "Mara Lind wrote the report and Tom Falk reviewed it.",
        ["Tom Falk wrote the report and Mara Lind reviewed it."],
    ),
    ("", "Die Testphase wird verlängert.", ["Die Testphase wird nicht verlängert."]),
    ("", "The novel was written by Ana Sol.", ["The film was written by Ana Sol. The novel was written by Max Orr."]),
    ("", "You may be at most 18 years old.", ["You must be at least 18 years old."]),
    (
        "How many inhabitants does Veld have?",
        "It has 76 000 inhabitants.",
        ["Ost has 76 000 inhabitants. Veld has 67 000 inhabitants."],
    ),
    ("How many inhabitants does Veld have?", "76 000", ["Ost has 76 000 inhabitants. Veld has 67 000 inhabitants."]),
    ("What voltage does the Berta lamp need?", "It runs on 12 volts.", [LAMP]),
    ("", "Source words only: lamp.", [VELD]),
    ("", "THE LAMP SINGS SONGS AT NIGHT", [LAMP]),
    ("", "The lamp runs on 12 volts and sings.", [LAMP]),
    ("", "The trial lasts 14 days and is free.", [TRIAL]),
    ("", "The lamp weighs 900 kg.", [LAMP]),
    ("", "The lamp weighs 12 g and runs on 900 volts.", [LAMP]),
    ("", "It was designed in Riga in 1948.", [LAMP]),
    ("", "It was designed in Oslo in 1984.", [LAMP]),
    ("", "The trial lasts at most 14 days.", ["The trial lasts at least 14 days."]),
    ("", "Nobody may enter.", ["Everybody may enter."]),
    ("", "Members may enter without a ticket.", ["Members may enter with a ticket."]),
    ("", "Members may enter with a ticket.", ["Members may enter without a ticket."]),
    ("", "The parcel costs $12.", ["The parcel costs €12."]),
    ("", "The loan is $3.2 billion.", ["The loan is 3,200,000 dollars."]),
    ("", "Account 12345678901234567891 is closed.", ["Account 12345678901234567890 is closed."]),
    ("", "Use version 1.2.4.", ["Use version 1.2.3."]),
    ("", "Call at 9:30.", ["Call at 9:45."]),
    ("", "It froze at 5 °C.", ["It froze at -5 °C."]),
    ("", "It froze at -5 °C.", ["It froze at 5 °C."]),
    ("", "It takes 10-50 minutes.", ["It takes 10–15 minutes."]),
    ("", "The trial can be extended.", ["The trial can be extended? No, it ends after 14 days."]),
]


@pytest.mark.parametrize(("question", "answer", "chunks"), ACCEPTED)
def test_what_the_chunks_say_is_supported(question, answer, chunks):
    verdict = judge(question, answer, chunks)
    assert verdict.decision is Decision.SUPPORTED, verdict.claims


@pytest.mark.parametrize(("question", "answer", "chunks"), REJECTED)
def test_what_the_chunks_do_not_say_is_unsupported(question, answer, chunks):
    verdict = judge(question, answer, chunks)
    assert verdict.decision is Decision.UNSUPPORTED, verdict.claims


# The words of the answer stand in the chunk, but in another sentence or clause: a question, an answer, a chunk.
BORROWED = [
    ("", "Standard delivery costs 80 euros.", "Standard delivery costs 4.90 euros. Delivery is free for orders above 80 euros."),
    ("", "Delivery is free for orders above 4.90 euros.", "Standard delivery costs 4.90 euros. Delivery is free for orders above 80 euros."),
    ("", "Refunds are paid within two years.", "Refunds are paid within 14 days. The warranty lasts two years."),
    ("", "The warranty lasts 14 days.", "Refunds are paid within 14 days. The warranty lasts two years."),
    ("", "Refunds are paid within two years.", "Refunds are paid promptly. The warranty lasts two years."),
    ("", "You may return any lamp within 5 working days.", "You may return any lamp within 30 days of delivery, for any reason. The refund arrives within 5 working days after the parcel has reached us."),
    ("", "The refund arrives within 30 days.", "You may return any lamp within 30 days of delivery, for any reason. The refund arrives within 5 working days after the parcel has reached us."),
    ("", "Delivery is free for orders above 12.50 euros.", "Express delivery costs 12.50 euros. Delivery is free for orders above 80 euros."),
    ("", "Express delivery costs 80 euros.", "Express delivery costs 12.50 euros. Delivery is free for orders above 80 euros."),
    ("", "The museum opened in 1990.", "The museum opened in 1984. The new wing followed in 1990."),
    ("", "The museum opened in May.", "The museum opened in March. The café followed in May."),
    ("", "The new wing opened in 1984.", "The museum opened in 1984. The new wing has a glass roof."),
    ("", "The bridge is 300 m high.", "The bridge is 61 m high. The road over it is 300 m long."),
    ("", "The tank holds 20 litres.", "The tank holds 50 litres. The spare can holds 20 litres."),
    ("", "The lamp weighs 2 kg.", "The lamp weighs 900 g. The box weighs 2 kg."),
    ("", "The factory stands in Oslo.", "The factory stands in Riga. The offices are in Oslo."),
    ("", "The offices are in Riga.", "The factory stands in Riga. The offices are in Oslo."),
    ("", "Call Ida Rook about refunds.", "Call Max Orr about refunds. Ida Rook handles complaints."),
    ("", "Members may not bring guests.", "Members may bring guests. Guests may not swim."),
    ("", "Guests may swim.", "Members may bring guests. Guests may not swim."),
    ("", "Sale items can be returned.", "Lamps can be returned. Sale items can never be returned."),
    ("", "Lamps can never be returned.", "Lamps can be returned. Sale items can never be returned."),
    ("", "The pool is closed.", "The pool is open. The sauna is closed."),
    ("", "The floor lamp costs 40 euros.", "The desk lamp costs 40 euros and the floor lamp 90 euros."),
    ("", "The floor lamp costs 40 euros.", "The desk lamp costs 40 euros and the floor lamp costs 90 euros."),
    ("", "The floor lamp costs 40 euros.", "The desk lamp costs 40 euros, the floor lamp 90 euros."),
    ("", "The desk lamp costs 90 euros.", "The desk lamp costs 40 euros and the floor lamp 90 euros."),
    ("", "Ben was born in Riga.", "Ada was born in Riga and Ben in Oslo."),
    ("", "The floor lamp takes 60 watts.", "The lamp takes 60 watts, while the floor lamp takes 75 watts."),
    ("", "The trial lasts 30 days and is free.", "The trial lasts 14 days. It is free. Accounts are kept for 30 days."),
    ("", "The library opened in 1984.", "Veld became a town in 1984. The library opened later."),
    ("", "The large hall seats 60.", "The red hall seats 60. The large hall was rebuilt."),
    ("", "The lamp costs 20 euros.", "The lamp is sold out. The cable costs 20 euros."),
    ("", "The cable has a warranty of two years.", "The lamp has a warranty of two years. The cable has no warranty."),
    ("", "The cable has a warranty of two years.", "The lamp has a warranty of two years. The cable has a warranty of one year."),
    ("How long?", "Five years.", "The warranty covers every lamp for two years."),
    ("How long is the warranty?", "Five years.", "The warranty covers every lamp for two years."),
    ("What is the capital of Estonia?", "Tallinn.", "Tallinn hosts a jazz festival in April."),
    ("What is the capital of Estonia?", "The capital is Tallinn.", "Tallinn hosts a jazz festival in April."),
    ("Which city is the capital of Estonia?", "Tallinn.", "Tallinn hosts a jazz festival in April."),
    ("How far is the station?", "300 m.", "The beach is 300 m from the hotel."),
    ("", "You can return it within 90 days.", "You may return any lamp within 30 days of delivery."),
    ("", "Refunds for cards take two years.", "Refunds for cards take 14 days. Refunds for vouchers take two years."),
    ("", "The floor lamp weighs 900 g.", "The desk lamp weighs 900 g; the floor lamp weighs 4 kg."),
    ("", "The wing opened in 1984.", "The museum opened in 1984 and the wing in 1990."),
    ("", "The small hall seats 90.", "It has two halls. The tall hall seats 90. The small hall seats 60."),
    ("", "It opened in May.", "It opened in March. It closed in May."),
]  # fmt: skip

TRUE = [
    ("", "Standard delivery costs 4.90 euros.", "Standard delivery costs 4.90 euros. Delivery is free for orders above 80 euros."),
    ("", "Standard delivery costs 4.90 euros and is free for orders above 80 euros.", "Standard delivery costs 4.90 euros. Delivery is free for orders above 80 euros."),
    ("", "You may return any lamp within 30 days.", "You may return any lamp within 30 days of delivery, for any reason. The refund arrives within 5 working days after the parcel has reached us."),
    ("", "The refund arrives within 5 working days.", "You may return any lamp within 30 days of delivery, for any reason. The refund arrives within 5 working days after the parcel has reached us."),
    ("", "Members may bring guests.", "Members may bring guests. Guests may not swim."),
    ("", "Guests may not swim.", "Members may bring guests. Guests may not swim."),
    ("", "The floor lamp costs 90 euros.", "The desk lamp costs 40 euros and the floor lamp 90 euros."),
    ("", "The desk lamp costs 40 euros.", "The desk lamp costs 40 euros and the floor lamp 90 euros."),
    ("", "Ben was born in Oslo.", "Ada was born in Riga and Ben in Oslo."),
    ("", "Ada was born in Riga.", "Ada was born in Riga and Ben in Oslo."),
    ("", "The lamp runs on 12 volts and weighs 900 g.", "The lamp runs on 12 volts. It weighs 900 g."),
    ("", "The Aldona lamp weighs 900 g.", "The Aldona lamp runs on 12 volts. It weighs 900 g."),
    ("", "The Aldona lamp was designed in 1984.", "The Aldona lamp runs on 12 volts. It was designed in Riga in 1984."),
    ("", "The trial lasts 14 days and is free.", "The trial lasts 14 days. It is free."),
    ("How long?", "Two years.", "The warranty covers every lamp for two years."),
    ("How long is the warranty?", "Two years.", "The warranty covers every lamp for two years."),
    ("How long is the warranty?", "The warranty is two years.", "The warranty covers every lamp for two years."),
    ("How often is the pool cleaned?", "Daily.", "The pool is cleaned daily."),
    ("How old is the bridge?", "90 years.", "The bridge is 90 years old."),
    ("How old is the bridge?", "The bridge is 90 years.", "The bridge has stood for 90 years."),
    ("How much does the lamp cost?", "20 euros.", "The lamp is sold for 20 euros."),
    ("How big is the pool?", "25 metres.", "The pool measures 25 metres."),
    ("What colour is the lamp?", "The lamp is blue.", "The lamp is blue."),
    ("What colour is the lamp?", "The lamp is blue.", "The lamp we sell is blue."),
    ("What colour is the lamp?", "Blue.", "The lamp is blue."),
    ("What colour?", "Blue.", "The lamp is blue."),
    ("How far is the station?", "300 m.", "The station is 300 m from the hotel."),
    ("When does the pool open?", "At 9:30.", "The pool opens at 9:30."),
    ("", "Refunds take 14 days.", "Refunds are paid within 14 days of the return."),
    ("", "The lamp needs 12 volts.", "The Aldona desk lamp runs on 12 volts."),
    ("", "It uses 12 V.", "The Aldona desk lamp runs on 12 volts."),
    ("", "The Aldona lamp uses 12 V.", "The Aldona desk lamp runs on 12 volts."),
    ("What does it cost?", "It costs 20 euros.", "The price is 20 euros."),
    ("What does the lamp cost?", "It costs 20 euros.", "The price of the lamp is 20 euros."),
    ("What does the lamp cost?", "The lamp costs 20 euros.", "The price of the lamp is 20 euros."),
    ("", "You can return it within 30 days.", "You may return any lamp within 30 days of delivery."),
    ("", "Returns are possible within 30 days.", "You may return any lamp within 30 days of delivery."),
    ("", "The warranty lasts two years.", "The warranty covers every lamp for two years."),
    ("", "The lamp has a two-year warranty.", "The warranty covers every lamp for two years."),
    ("", "The museum opened in 1984 and the wing in 1990.", "The museum opened in 1984 and the wing in 1990."),
    ("", "The lamp costs 90 euros in Oslo.", "The lamp costs 40 euros in Riga and 90 euros in Oslo."),
    ("", "The wing opened in 1990.", "The museum, the wing and the café opened in 1984, 1990 and 1991."),
]  # fmt: skip

KNOWN_FALSE_PASSES = [
    ("", "The museum opened on 7 May 2019.", "The museum opened on 5 March 2019. The café followed on 7 May 2019."),
    ("", "Ana Sol wrote the report.", "Max Orr wrote the report. Ana Sol reviewed it."),
    ("", "The report was reviewed by Max Orr.", "Max Orr wrote the report. Ana Sol reviewed it."),
    ("", "Ada was born in Oslo.", "Ada was born in Riga and Ben in Oslo."),
    ("", "Dogs are allowed in the hall.", "Dogs are allowed in the park and cats in the hall."),
]  # fmt: skip


@pytest.mark.parametrize(("question", "answer", "chunk"), BORROWED)
def test_a_sentence_does_not_borrow_what_is_said_of_something_else(question, answer, chunk):
    verdict = judge(question, answer, [chunk])
    assert verdict.decision is Decision.UNSUPPORTED, verdict.claims
    assert all(claim.missing for claim in verdict.claims)


@pytest.mark.parametrize(("question", "answer", "chunk"), TRUE)
def test_light_paraphrase_and_short_answers_are_supported(question, answer, chunk):
    verdict = judge(question, answer, [chunk])
    assert verdict.decision is Decision.SUPPORTED, verdict.claims


@pytest.mark.parametrize(("question", "answer", "chunk"), KNOWN_FALSE_PASSES)
@pytest.mark.xfail(strict=True, reason="out of reach without understanding: the docstring says so")
def test_known_false_passes(question, answer, chunk):
    assert judge(question, answer, [chunk]).decision is Decision.UNSUPPORTED


# Each pair: a true statement of the chunk, and the same with one thing changed.
TWINS = [
    ("The bridge is 61 metres high.", "The bridge is 61 metres high.", "The bridge is 16 metres high."),
    ("The valve opens at 1.500 bar.", "The valve opens at 1,500 bar.", "The valve opens at 15 bar."),
    ("The plot has 1.234.567 stones.", "The plot has 1,234,567 stones.", "The plot has 1,234,576 stones."),
    ("The plot costs 1.234,50 euros.", "The plot costs 1,234.50 euros.", "The plot costs 1,235.50 euros."),
    ("The rate is 0.125 percent.", "The rate is 0,125 %.", "The rate is 125 %."),
    ("They hired twenty-one cooks.", "They hired 21 cooks.", "They hired 20 cooks."),
    ("They hired two hundred and five cooks.", "They hired 205 cooks.", "They hired 200 cooks."),
    ("They sold a dozen boats and 3 dozen oars.", "They sold 36 oars.", "They sold 30 oars."),
    ("The fund holds $3m.", "The fund holds 3 million dollars.", "The fund holds 3 metres."),
    ("The town has 67 312 inhabitants.", "The town has about 67 thousand inhabitants.", "The town has 67 thousand inhabitants."),
    ("The town has 67 312 inhabitants.", "The town has nearly 67,300 inhabitants.", "The town has nearly 68,000 inhabitants."),
    ("The walk takes 119 minutes.", "The walk takes about 2 hours.", "The walk takes about 3 hours."),
    ("The film is from the 1990s.", "The film is from the 1990s.", "The film is from the 1980s."),
    ("She came 3rd in the race.", "She came third in the race.", "She came fourth in the race."),
    ("The engine is a V2 made in the U.S. by Orr.", "The engine is a V2 made in the US by Orr.", "The engine is a V4 made in the US by Orr."),
    ("The part number is 12345678901234567890123456789012.", "The part number is 12345678901234567890123456789012.", "The part number is 12345678901234567890123456789013."),
    ("One of the gates is open.", "One gate is open.", "Two of the gates are open."),
    ("Dogs aren't allowed.", "Dogs are not allowed.", "Dogs are allowed."),
    ("Dogs aren’t allowed.", "No dogs are allowed.", "Dogs are allowed."),
    ("The lamp is blue, the cable is not.", "The lamp is blue, the cable is not.", "The lamp is not blue."),
    ("It is not only cheap but light.", "It is cheap and light.", "It is not cheap."),
    ("The result is not certain.", "The result is uncertain.", "The result is certain."),
    ("Sales rose and then fell.", "Sales rose.", "Sales never rose."),
    ("The farm’s owner is Ida Rook.", "Ida Rook is the farm's owner.", "Ida Crow is the farm's owner."),
    ("It opens at six o'clock.", "It opens at six o'clock.", "It opens at five o'clock."),
    ("Ida Rook hired Max Orr.", "Max Orr was hired by Ida Rook.", "Ida Rook was hired by Max Orr."),
    ("The wall was painted by Ida and Max.", "Ida and Max painted the wall.", "The wall was painted by Ida and Tom."),
    ("The shop sells tea, rice and salt.", "The shop sells salt, rice and tea.", "The shop sells salt, rice and wine."),
    ("Ada beat Ben, and Ben beat Cal.", "Ada beat Ben.", "Ada lost to Ben."),
    ("Ada met Ben in Riga; Cal met Dan in Oslo.", "Ada met Ben in Riga.", "Ada met Ben in Bonn."),
    ("ROOF GARDEN OPENS IN SPRING", "The roof garden opens in spring.", "The roof garden opens in autumn."),
    ("Der Turm ist höher als 60 Meter.", "Der Turm ist höher als 60 Meter.", "Der Turm ist kleiner als 60 Meter."),
    ("टावर की ऊँचाई 61 मीटर है।", "टावर की ऊँचाई 61 मीटर है।", "टावर की ऊँचाई 16 मीटर है।"),
    ("塔高61米，建于北方。", "塔高61米。", "塔高16米。"),
    ("Ποταμός Ost 中 a", "Ποταμός Ost 中 a", "Ποταμός Ost 国 a"),
    ("The code is A-7 at 9:30.", "The code is A-7 at 9:30.", "The code is A-7 at 9:31."),
    ("The pool costs 5 € a day.", "The pool costs €5 a day.", "The pool costs £5 a day."),
    ("Water boils at 100 °C.", "Water boils at 100°C.", "Water boils at 100 °F."),
    ("The roof garden opens in spring.", "THE ROOF GARDEN OPENS IN SPRING", "THE ROOF GARDEN OPENS IN AUTUMN"),
    ("The lamp is not red", "The lamp is not red at all", "The lamp is red"),
    ("Rooms seven eight are free.", "Rooms seven eight are free.", "Rooms 15 are free."),
    ("The lot is 1,234.567 m long.", "The lot is 1,234.567 m long.", "The lot is 1,234,567 m long."),
    ("The gate is free, no? Yes, the gate is free.", "The gate is free.", "The gate is never free."),
    ("No! The gate is free.", "No, the gate is free.", "No, the gate is not free."),
    ("They sold three million million boats.", "They sold three million million boats.", "They sold three million boats."),
    ("Seats: 9999999999999999 thousand.", "Seats: 9999999999999999 thousand.", "Seats: 9999999999999998 thousand."),
    ("The desk is 50 wide, in cm.", "The desk is 50 wide.", "The desk is 50 m wide."),
]  # fmt: skip


@pytest.mark.parametrize(("chunk", "true", "false"), TWINS)
def test_one_thing_changed_flips_the_verdict(chunk, true, false):
    decisions = judge("", true, [chunk]).decision, judge("", false, [chunk]).decision
    assert decisions == (Decision.SUPPORTED, Decision.UNSUPPORTED)


# An answer, and a chunk from which it differs in one number, name or negation only.
CHANGED = [
    ("Vitamin D strengthens the bones.", "Vitamin C strengthens the bones."),
    ("Hepatitis C is curable.", "Hepatitis B is curable."),
    ("Plan A costs 30 euros.", "Plan A costs 20 euros. Plan B costs 30 euros."),
    ("Henry VII built the palace.", "Henry VIII built the palace."),
    ("Take the pill once a day.", "Take the pill twice a day."),
    ("Take the pill twice a day.", "Take the pill once a day."),
    ("One of the engines failed.", "Two of the engines failed."),
    ("Two of the engines failed.", "One of the engines failed."),
    ("Riga won 1-3.", "Riga won 3-1."),
    ("Delivery takes 5 days.", "Delivery takes 3 to 5 days."),
    ("Delivery takes 3 days.", "Delivery takes 3-5 days."),
    ("The hall opened in 1956.", "The hall opened in 1932 and was rebuilt in 1956."),
    ("The hall opened in 1956.", "The hall opened in 1932, and was rebuilt in 1956."),
    ("The hall opened 1956.", "The hall opened 1932, rebuilt 1956."),
    ("The treatment is invasive.", "The treatment is non-invasive."),
    ("The treatment is non-invasive.", "The treatment is invasive."),
    ("Returns are accepted if the seal is broken.", "Returns are accepted unless the seal is broken."),
    ("Returns are accepted unless the seal is broken.", "Returns are accepted if the seal is broken."),
    ("The lamp is red.", "It is not the case that the lamp is red."),
    ("It is not the case that the lamp is red.", "The lamp is red."),
    ("The lamp is red.", "It is false that the lamp is red."),
    ("It is not true that the lamp is red.", "The lamp is red."),
    ("The lamp is red.", "It is not true that the lamp is red."),
    ("The lamp has a switch.", "The lamp lacks a switch."),
    ("The lamp lacks a switch.", "The lamp has a switch."),
    ("The pump started.", "The pump failed to start."),
    ("The pump failed to start.", "The pump started."),
    ("Ida signed the letter.", "Ida refused to sign the letter."),
    ("Ida refused to sign the letter.", "Ida signed the letter."),
    ("Ida stole the car.", "Ida denied that she stole the car."),
    ("Ida said that Max stole the car.", "Ida denied that Max stole the car."),
    ("Many people survived.", "Few people survived."),
    ("Few people survived.", "Many people survived."),
    ("狗允许进入公园。", "狗不允许进入公园。"),
    ("狗不允许进入公园。", "狗允许进入公园。"),
    ("公园有居民。", "公园没有居民。"),
    ("Il cane entra nel parco.", "Il cane non entra nel parco."),
    ("Il cane non entra nel parco.", "Il cane entra nel parco."),
    ("Башня открыта зимой.", "Башня не открыта зимой."),
    ("Башня не открыта зимой.", "Башня открыта зимой."),
    ("La torre está abierta.", "La torre no está abierta."),
    ("Il fume dans la salle.", "Il ne fume pas dans la salle."),
    ("Il ne fume jamais dans la salle.", "Il fume dans la salle."),
    ("Der Turm hat Fenster.", "Der Turm hat kein Fenster."),
    ("Es gibt eine Gebühr.", "Es gibt keine Gebühr."),
    ("The shop covers lamps.", "The shop sells lamps."),
    ("The shop makes lamps.", "The shop sells lamps."),
    ("Acme sells at 1:3.", "Acme sells at 3:1."),
    ("It lasts from 5 to 3 days.", "It lasts from 3 to 5 days."),
    ("Delivery takes 3 days to Oslo.", "Delivery takes 3 to 5 days to Oslo."),
    ("World War II began in May.", "World War I began in May."),
    ("The hall is closed.", "The owner doubts nothing; the hall is not closed."),
]  # fmt: skip

# An answer that says what the chunk says, with such a number, name or negation.
KEPT = [
    ("Lamps have a two-year warranty.", "Lamps have a warranty of two years."),
    ("Vitamin C strengthens the bones.", "Vitamin C strengthens the bones and the skin."),
    ("Henry VIII built the palace.", "The palace was built by Henry VIII."),
    ("Take the pill once a day.", "Take the pill once a day, with water."),
    ("One of the engines failed.", "One of the engines failed during the flight."),
    ("Riga won 3-1.", "Riga won 3-1 against Oslo."),
    ("Delivery takes 3 to 5 days.", "Delivery takes 3-5 days."),
    ("Delivery takes up to 5 days.", "Delivery takes 3-5 days."),
    ("The hall was rebuilt in 1956.", "The hall opened in 1932, and was rebuilt in 1956."),
    ("The hall opened in 1932.", "The hall opened in 1932, and was rebuilt in 1956."),
    ("The treatment is noninvasive.", "The treatment is non-invasive."),
    ("The pump did not start.", "The pump failed to start."),
    ("The lamp has no switch.", "The lamp lacks a switch."),
    ("Refunds take 14 days.", "Refunds are paid within 14 days of the return."),
    ("狗不允许进入公园。", "狗不允许进入公园。它们可以在花园里。"),
    ("The lamp is not red.", "It is not the case that the lamp is red."),
    ("One gate is open.", "One of the gates is open."),
    ("Delivery takes 5 days.", "Delivery takes 5 days."),
    ("Plan A costs 20 euros.", "Plan A costs 20 euros. Plan B costs 30 euros."),
    ("VITAMIN C STRENGTHENS THE BONES", "Vitamin C strengthens the bones."),
    ("In May 67 people came.", "In May 2019 67 people came."),
    ("Today I saw the tower.", "Today I saw the tower in Riga."),
    ("大楼未来很高。", "大楼未来很高。楼里有人。"),
    ("The lamp is new.", "The lamp is not only new but cheap."),
]  # fmt: skip


# Signs before a number, crosses beside a sentence, numbers that are names, letters that stand for things.
CHANGED += [
    ("It needs \u2260 12 volts.", "It needs 12 volts."),
    ("It needs 12 volts.", "It needs \u226012 volts."),
    ("It needs 12 volts.", "It needs \u274c12 volts here."),
    ("It needs >= 12 volts.", "It needs <= 12 volts."),
    ("It needs > 12 volts.", "It needs \u2265 12 volts."),
    ("It needs \u2260 5 and 12 volts.", "It needs \u2260 5 and \u2260 12 volts."),
    ("It needs \u2265 12 volts.", "It needs \u2265 5 volts and 12 volts."),
    ("It needs \u2265 12 mm.", "It needs \u2265 12 cm."),
    ("It costs \u2264\u20ac12.", "It costs \u20ac12."),
    ("It costs \u226412 euros.", "It costs at least 12 euros."),
    ("It costs >12 euros.", "It costs no more than 12 euros."),
    ("It costs >12 euros.", "It costs not over 12 euros."),
    ("It costs ~12 euros.", "It costs 12 euros."),
    ("\u226012 volts", "It needs 12 volts."),
    (">12 volts", "It needs 12 volts."),
    ("not 12 volts", "It needs 12 volts."),
    ("\u274c 12 volts", "It needs 12 volts."),
    ("12 volts \u274c", "It needs 12 volts."),
    ("The lamp is blue.", "\u274c The lamp is blue."),
    ("The lamp is blue \U0001f44e", "The lamp is blue."),
    ("The lamp is blue. \U0001f6ab\U0001f6ab", "The lamp is blue."),
    ("\u26d4\u26d4 The lamp is blue.", "The lamp is blue."),
    ("Use version 2.10.", "Use version 2.1."),
    ("Use version 2.1.", "Use version 2.10."),
    ("Section 5.10 applies.", "Section 5.1 applies."),
    ("Y is greater than X.", "X is greater than Y."),
    ("Y beats X.", "X beats Y in most games."),
]  # fmt: skip
KEPT += [
    ("It needs \u226012 volts.", "It needs != 12 volts."),
    ("It needs 5 volts.", "It needs 5 volts, \u2260 12 volts."),
    ("It needs !=12 volts here.", "It needs \u2260 12 volts and hums here."),
    ("It needs \u2265 12 volts.", "It needs \u2265 12 volts in summer."),
    ("It needs >=12 V.", "It needs \u2265 12 volts in summer."),
    ("It needs \u2265 1.2 cm.", "It needs \u2265 12 mm in summer."),
    ("It needs \u2265 12 volts.", "It needs at least 12 volts."),
    ("It needs \u2265 12 volts.", "It needs no less than 12 volts."),
    ("It needs > 12 volts.", "It needs more than 12 volts."),
    ("It costs \u2264\u20ac12.", "It costs up to \u20ac12."),
    ("It costs ~12 euros.", "It costs about 12 euros."),
    ("It costs \u224812 euros.", "It costs ~12 euros."),
    ("It needs 12 \u00b1 1 volts.", "It needs 12 \u00b1 1 volts in summer."),
    ("> It needs\n> 12 volts.", "It needs 12 volts."),
    ("> > It needs 12 volts.", "It needs 12 volts."),
    ("It needs<br>12 volts.", "It needs 12 volts."),
    ("It needs -> 12 volts.", "It needs 12 volts."),
    ("The need => 12 volts.", "The need is 12 volts."),
    ("\u2705 It needs 12 volts \U0001f44d", "It needs 12 volts."),
    ("\u274c The lamp is not blue.", "The lamp is not blue."),
    ("\u274c The lamp is blue.", "The lamp is not blue."),
    ("The multi\u2011layer board is green.", "The multi-layer board is green."),
    ("Use 2.1.", "Use version 2.1."),
    ("Use version 2.1.", "Use version 2.1 or version 2.10."),
    ("X is greater than Y.", "X is greater than Y, as Euler knew."),
    ("J. Smith wrote it.", "It was John Smith who wrote it."),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "chunk"), CHANGED)
def test_a_number_a_name_or_a_negation_that_differs_is_unsupported(answer, chunk):
    verdict = judge("", answer, [chunk])
    assert verdict.decision is Decision.UNSUPPORTED, verdict.claims
    assert all(claim.missing for claim in verdict.claims)


@pytest.mark.parametrize(("answer", "chunk"), KEPT)
def test_a_number_a_name_or_a_negation_that_agrees_is_supported(answer, chunk):
    verdict = judge("", answer, [chunk])
    assert verdict.decision is Decision.SUPPORTED, verdict.claims


WORD_LIKE = " ".join(
    "lamp" + "abcdefghij"[n % 10] + "klmnopqrstuvwxyz"[n // 10 % 16] + "xyz"[n // 160 % 3] for n in range(4_000)
)
HOSTILE = [
    "| " + " ".join(f"{n} items" for n in range(8_000)),
    "| " + " ".join(f"about {n} m" for n in range(5_000)),
    "| " + "not " * 8_000,
    "| " + "not lamp " * 8_000,
    "| lamp " + "the " * 20_000,
    "| " + "uncertain certain " * 4_000,
    "| " + "Ada lamp " * 8_000,
    "| 0 " + "million " * 100_000,
    "| " + "[1," * 40_000,
    "| " + "1." * 100_000,
    "| " + "-" * 100_000,
    "| " + "= > " * 50_000,
    ">" * 100_000,
    "> " * 50_000,
    "| lamp " + "\u274c" * 50_000,
    "| " + "\u2260 12 \u274c lamp " * 4_000,
    "| " + "version 1.10 " * 8_000,
    "| " + "1" * 500_000,
    f"```\n{WORD_LIKE}\n```",
    " ".join(f"{n} items" for n in range(5_000)),
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_judged_in_moderate_time(text):
    cut = text.rfind(" ", 0, 6_000) + 1 or 6_000
    began = time.thread_time()
    judge("", f"{text} zebra", [text])
    judge("", f"{text[:cut]}zebra", [text])
    judge("", "\n".join(f"{text[n * 7 : n * 7 + 60]}." for n in range(50)), [text])
    assert time.thread_time() - began < 5 * 3


def test_a_statement_too_long_to_compare_is_supported_word_for_word_only():
    row = "| " + " ".join(f"{n} items" for n in range(1_200))
    (claim,) = judge("", row, [LAMP, row]).claims
    assert (claim.decision, claim.chunk_ids) == (Decision.SUPPORTED, ("2",))
    (claim,) = judge("", row.replace("7 items", "8 items"), [LAMP, row]).claims
    assert (claim.decision, claim.missing, claim.score) == (Decision.UNSUPPORTED, ("too long to compare",), 0.0)


def test_every_part_of_a_long_sentence_is_evidence():
    row = "| " + " ".join(f"{n} items" for n in range(2_000)) + " near the brass gate"
    assert judge("", "10 items", [row]).decision is Decision.SUPPORTED
    assert judge("", "The gate is brass.", [row]).decision is Decision.SUPPORTED


def test_claims_say_which_statement_where_and_by_which_chunk():
    answer = "So:\nThe trial lasts 14 days. It runs on 24 volts."
    chunks = (Chunk("Nothing here."), Chunk(TRIAL, id="terms"), Chunk(LAMP), Chunk(TRIAL))
    lead, trial, lamp = Lexical()(Exchange("", chunks, answer)).claims
    assert lead == Claim("So:", None, 0, 3)
    assert trial == Claim("The trial lasts 14 days.", Decision.SUPPORTED, 4, 28, ("2", "4"), score=1.0)
    assert (lamp.decision, lamp.chunk_ids, lamp.missing) == (
        Decision.UNSUPPORTED,
        (),
        ("24 volts (the passage says 12 volts)",),
    )
    assert answer[lamp.start : lamp.end] == lamp.text == "It runs on 24 volts."


def test_the_score_is_the_lowest_of_the_statements():
    verdict = judge("", "The trial lasts 14 days. Whales sing.", [TRIAL])
    assert verdict.score == min(claim.score for claim in verdict.claims) == 0.0


MISSING = [
    ("", "The trial lasts 14 days and whales sing.", TRIAL, ("whales", "sing")),
    ("", "The trial lasts 90 days.", TRIAL, ("90 days (the passage says 14 days)",)),
    ("", "The trial must be extended.", TRIAL, ("extended (a negation differs)",)),
    ("", "Logging is disabled by default.", TRIAL, ("disabled (the opposite)",)),
    ("", "The result is uncertain.", "The result is certain.", ("uncertain (the passage says certain)", "uncertain (the opposite)")),
    ("", "Ben beat Ada.", "Ada beat Ben.", ("Ben … Ada (swapped)",)),
    ("", "Acme was acquired by Borealis.", "Acme acquired Borealis.", ("acquired by Borealis (swapped)",)),
    ("", "They hired 12 men.", "They hired 67 men and 12 women.", ("12 men (the passage says 67 men)",)),
    ("", "The roof is red and flat.", "The roof is blue and flat.", ("red (the passage says blue)",)),
    ("", "The cable costs 4 euros.", "The lamp costs 4 euros, the cable 9 euros.", ("4 euros (the passage says 9 euros)",)),
    ("Is the Berta lamp red?", "It is red.", "The Aldona lamp is red.", ("Aldona (the passage is about it)",)),
    ("What is the capital of Estonia?", "Oslo.", "Oslo is cold.", ("capital (of the question)", "Estonia (of the question)")),
]  # fmt: skip


@pytest.mark.parametrize(("question", "answer", "chunk", "missing"), MISSING)
def test_what_is_missing_is_named(question, answer, chunk, missing):
    claim = judge(question, answer, [chunk]).claims[0]
    assert (claim.decision, claim.missing) == (Decision.UNSUPPORTED, missing)


def test_what_only_another_sentence_says_is_named_where_it_is_not_enough():
    (claim,) = judge("", "The lamp is red.", ["The lamp is old. It is red."], threshold=1.0).claims
    assert claim.missing == ("lamp (in another sentence)",)


def test_nothing_to_hold_it_against():
    assert judge("", "Whales sing.", []).decision is Decision.UNSUPPORTED


def test_a_conflict_counts_whatever_the_threshold():
    verdict = judge("", "The trial must be extended.", [TRIAL], threshold=0.01)
    assert (verdict.decision, verdict.score) == (Decision.UNSUPPORTED, 0.5)


def test_a_lower_threshold_passes_more():
    answer = "The trial lasts 14 days or fewer sleeps."
    assert judge("", answer, [TRIAL], threshold=0.3).decision is Decision.SUPPORTED
    assert judge("", answer, [TRIAL], threshold=1.0).decision is Decision.UNSUPPORTED


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan"), float("inf"), "0.5", None, True, 1j])
def test_a_threshold_outside_its_range_is_refused(threshold):
    with pytest.raises(UsageError, match="threshold"):
        Lexical(threshold)


def test_the_fingerprint_covers_the_threshold():
    assert Lexical().fingerprint == Lexical(0.75).fingerprint != Lexical(0.8).fingerprint
    assert Lexical().name == "lexical"


@pytest.mark.filterwarnings("default")
def test_it_says_once_what_it_is():
    Lexical()
    with pytest.warns(GroundguardWarning, match="understands nothing.*FactCheck"):
        judge("", "The trial lasts 14 days.", [TRIAL])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judge("", "The trial lasts 14 days.", [TRIAL]).decision is Decision.SUPPORTED


def test_it_is_one_call_that_is_no_model_call_and_can_be_cut_off():
    steps = judged(Lexical(), Exchange("", (Chunk(TRIAL),), "The trial lasts 14 days."), timeout=5.0)
    call = next(steps)
    assert isinstance(call, Call)
    assert (call.retry, call.timeout is not None) == ("never", True)
    with pytest.raises(StopIteration) as end:
        steps.send(call.callee.plain(*call.args))
    assert (end.value.value.reason, end.value.value.calls) == (Reason.SUPPORTED, 0)


def test_the_async_door_judges_alike_off_the_loop():
    exchange = Exchange("", (Chunk(TRIAL),), "The trial lasts 14 days.")
    verdict = asyncio.run(Lexical().acall(exchange))
    assert (verdict.decision, verdict.claims) == (Decision.SUPPORTED, Lexical()(exchange).claims)


def test_words_of_very_many_sentences_are_looked_up_last():
    chunk = "The gate is open. " * 10_100 + "The brass gate is open and hums. " + "The gate hums. " * 10_100
    assert judge("", "The brass gate hums.", [chunk]).decision is Decision.SUPPORTED
    assert judge("", "The brass gate sings.", [chunk]).decision is Decision.UNSUPPORTED


def test_a_large_prompt_is_judged_in_moderate_time():
    chunks = [f"{VELD} Hall {n} seats {n % 90} guests near gate {n * 7}. {LAMP} {TRIAL}" for n in range(1_500)]
    answer = "Hall 1499 seats 59 guests near gate 10493. " * 100
    began = time.thread_time()
    assert judge("", answer, chunks).decision is Decision.SUPPORTED
    assert time.thread_time() - began < 20


WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=9)
SENTENCES = st.lists(WORDS, min_size=3, max_size=9).map(lambda words: " ".join(words).capitalize() + ".")
TEXTS = st.lists(SENTENCES, min_size=1, max_size=4).map(" ".join)
PIECES = ["not ", "no ", "by ", "12 ", "1,5 ", "twenty ", "million ", "€", "mm ", "[1] ", "A.", "2020-01-02 ", "-5", "?", ". ", ", ",
          "Oslo ", "un", "中文", "\u0301", "\ud800", "\x85", "٣", "²", "\n", "```", "| ", "'t ", "’"]  # fmt: skip
ANY = st.text() | st.lists(st.sampled_from(PIECES) | st.characters(), max_size=20).map("".join)


@given(ANY, ANY, st.lists(ANY, max_size=3))
def test_it_is_total_and_deterministic_and_scores_lie_in_range(question, answer, chunks):
    verdict = judge(question, answer, chunks)
    assert verdict.decision is not Decision.UNKNOWN, verdict.detail
    assert (verdict.decision, verdict.claims) == ((again := judge(question, answer, chunks)).decision, again.claims)
    assert all(0 <= claim.score <= 1 for claim in verdict.claims if claim.score is not None)
    assert all(claim.missing for claim in verdict.claims if claim.decision is Decision.UNSUPPORTED)


@given(ANY, st.lists(ANY, max_size=2), st.lists(ANY, max_size=2), ANY)
def test_a_chunk_word_for_word_is_supported_among_any_others(chunk, before, after, question):
    verdict = judge(question, chunk, [*before, chunk, *after])
    asserts = any(claim.decision is not None for claim in verdict.claims)
    assert verdict.decision is (Decision.SUPPORTED if asserts else Decision.UNSUPPORTED), verdict.claims


@given(TEXTS, st.lists(TEXTS, max_size=2), st.sampled_from(["Whales sing xylophonic quartets.", "Gyro 999 is qqqq."]))
def test_an_invented_sentence_flips_the_verdict(chunk, others, invented):
    assert judge("", f"{chunk} {invented}", [chunk, *others]).decision is Decision.UNSUPPORTED


def test_a_call_of_another_thread_does_not_disturb_it():
    verdicts = []
    threads = [threading.Thread(target=lambda: verdicts.append(judge("", LAMP, [LAMP]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {verdict.decision for verdict in verdicts} == {Decision.SUPPORTED}


@pytest.mark.parametrize(
    ("chunk", "answer"),
    [
        ("Drug Alfa causes nausea. Drug Beta treats headaches.", "Drug Beta causes nausea."),
        ("Vitamin C is found in oranges. Vitamin D comes from sunlight.", "Vitamin D is found in oranges."),
    ],
)
def test_a_sentence_about_another_name_lends_nothing(chunk, answer):
    assert Lexical()(Exchange("Which?", (Chunk(chunk),), answer)).decision is Decision.UNSUPPORTED
