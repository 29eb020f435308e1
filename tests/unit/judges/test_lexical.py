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


def test_claims_say_which_statement_where_and_by_which_chunk():
    answer = "So:\nThe trial lasts 14 days. It runs on 24 volts."
    chunks = (Chunk("Nothing here."), Chunk(TRIAL, id="terms"), Chunk(LAMP), Chunk(TRIAL))
    lead, trial, lamp = Lexical()(Exchange("", chunks, answer)).claims
    assert lead == Claim("So:", None, 0, 3)
    assert trial == Claim("The trial lasts 14 days.", Decision.SUPPORTED, 4, 28, ("terms", "4"), score=1.0)
    assert (lamp.decision, lamp.chunk_ids, lamp.missing) == (Decision.UNSUPPORTED, (), ("24 volts",))
    assert answer[lamp.start : lamp.end] == lamp.text == "It runs on 24 volts."


def test_the_score_is_the_lowest_of_the_statements():
    verdict = judge("", "The trial lasts 14 days. Whales sing.", [TRIAL])
    assert verdict.score == min(claim.score for claim in verdict.claims) == 0.0


def test_what_is_missing_is_named():
    assert judge("", "The trial lasts 14 days and whales sing.", [TRIAL]).claims[0].missing == ("whales", "sing")
    assert judge("", "The trial must be extended.", [TRIAL]).claims[0].missing == ("extended",)
    assert judge("", "Ben beat Ada.", ["Ada beat Ben."]).claims[0].missing == ("Ben … Ada",)
    assert "capital" in judge("Which is the capital?", "Oslo.", ["Oslo is cold."]).claims[0].missing


def test_nothing_to_hold_it_against():
    assert judge("", "Whales sing.", []).decision is Decision.UNSUPPORTED


def test_a_conflict_counts_whatever_the_threshold():
    verdict = judge("", "The trial must be extended.", [TRIAL], threshold=0.01)
    assert (verdict.decision, verdict.score) == (Decision.UNSUPPORTED, 0.5)


def test_a_lower_threshold_passes_more():
    answer = "The trial lasts 14 days or fewer sleeps."
    assert judge("", answer, [TRIAL], threshold=0.3).decision is Decision.SUPPORTED
    assert judge("", answer, [TRIAL], threshold=1.0).decision is Decision.UNSUPPORTED


@pytest.mark.parametrize("threshold", [0, -0.1, 1.01, float("nan"), float("inf")])
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
