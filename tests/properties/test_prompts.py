import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from groundguard.judges.prompts import FACT_CHECK, encoded, fact_check, prompt_hash
from groundguard.records import Chunk, Exchange
from support import strategies

MARKS = {f"<{slash}{name}>" for slash in ("", "/") for name in ("passages", "conversation", "question", "answer")}

exchanges = st.builds(
    Exchange,
    strategies.texts,
    st.lists(st.builds(Chunk, strategies.texts), max_size=3).map(tuple),
    strategies.texts,
    st.lists(strategies.turns, max_size=3).map(tuple),
)
instructions = st.just(FACT_CHECK) | strategies.texts.filter(bool)


def parsed(user):
    """The blocks of a prompt, read by nobody's code but this: names with their lines, and the last line."""
    *lines, ask = user.split("\n")
    blocks, name = {}, None
    for line in lines:
        if name is None:
            assert line in MARKS
            assert not line.startswith("</")
            name = line[1:-1]
            assert name not in blocks
            blocks[name] = []
        elif line == f"</{name}>":
            name = None
        else:
            blocks[name].append(line)
    assert name is None
    return blocks, ask


def strings(line):
    """The JSON strings of one data line."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(line):
        if line[at] == '"':
            value, at = decoder.raw_decode(line, at)
            found.append(value)
        else:
            at += 1
    return found


@given(exchanges, st.booleans())
def test_the_texts_come_back_exactly_and_nothing_else_is_in_the_frame(exchange, constrained):
    blocks, ask = parsed(fact_check(exchange, constrained=constrained).user)
    passages = blocks.pop("passages", [])
    assert [strings(line) for line in passages] == [[chunk.text] for chunk in exchange.chunks]
    assert all(line.startswith(f'[{number}] "') for number, line in enumerate(passages, 1))
    assert [strings(line) for line in blocks.pop("conversation", [])] == [
        [turn.role, turn.content] for turn in exchange.history
    ]
    assert [json.loads(line) for line in blocks.pop("question")] == [exchange.question]
    assert [json.loads(line) for line in blocks.pop("answer")] == [exchange.answer]
    assert blocks == {}
    assert ask.startswith("Is the answer supported by the passages?")


@given(exchanges)
def test_no_data_line_shows_a_mark_a_line_break_or_an_invisible_character(exchange):
    blocks, _ = parsed(fact_check(exchange).user)
    for line in (line for lines in blocks.values() for line in lines):
        assert not set(line) & set("<>\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\u2800\u3164\ufe0f")
        assert all(character == " " or unicodedata.category(character)[0] not in "ZC" for character in line)
        assert len(line.splitlines()) == 1


@given(strategies.texts)
def test_an_encoded_text_is_one_json_string(text):
    assert json.loads(encoded(text)) == text
    assert encoded(text) == encoded(text)


@given(exchanges, instructions, st.booleans())
def test_the_same_exchange_gives_the_same_bytes(exchange, own, constrained):
    first = fact_check(exchange, own, constrained=constrained)
    again = fact_check(
        Exchange(exchange.question, exchange.chunks, exchange.answer, exchange.history), own, constrained=constrained
    )
    assert first == again
    assert first.text == f"{first.system}\n\n{first.user}"


@given(exchanges, exchanges)
def test_everything_up_to_the_end_of_the_passages_depends_on_the_chunks_alone(exchange, other):
    chunks = (Chunk("always one"), *exchange.chunks)
    one = fact_check(Exchange(exchange.question, chunks, exchange.answer, exchange.history))
    two = fact_check(Exchange(other.question, chunks, other.answer, other.history))
    end = "</passages>\n"
    assert one.user.startswith("<passages>\n")
    assert one.text[: one.text.index(end, len(one.system))] == two.text[: two.text.index(end, len(two.system))]
    assert one.system == two.system


@given(exchanges, instructions, st.booleans())
def test_the_instructions_stand_as_they_are_and_the_word_is_still_demanded(exchange, own, constrained):
    system = fact_check(exchange, own, constrained=constrained).system
    assert system.startswith(f"{own}\n\nReply with exactly one ")
    assert "English word, in whatever language the texts are" in system[len(own) :]


@given(instructions, instructions, st.booleans(), st.booleans())
def test_the_hash_covers_instructions_and_form_and_nothing_else(own, other, constrained, free):
    same = (own, constrained) == (other, free)
    assert (prompt_hash(own, constrained=constrained) == prompt_hash(other, constrained=free)) == same
