"""Nothing of an answer is lost between its statements."""

from hypothesis import given, settings
from hypothesis import strategies as st

from groundguard.judges.statements import statements
from groundguard.text import is_blank, is_invisible

MARKS = ["\n", "\r\n", "\r", "\x85", "\u2028", "\x1c", "\x00", "\u200b", "\u2800", ". ", "。", "```", "~~~", "- ", "1. ", "# ", "| ",
         "> ", "> ```\n", "| a | b |", "--|--\n", "====\n", "1、", "一、", "・", "・\u0301", "e.g. ", "z. B. ", "EE. UU. ", "a. m. ", "3. Mai", "am 3. ",
         "U.S. ", "etc. ", "M. ", "J. ", "… ", "Then ", "the ", "डॉ. ", "है। ", "ए. के. ", "د. ", "؟ ", "۔ ", "！", "？", "と言", "「", "」", "« ", " »", "„", "“",
         "¿", "¡", "`a. B`", "https://a.b/c", "\u0301", "\u200d", "\ufe0f", "\u202e", "\u2067", "\x0b", "\x0c", "\u2029", "\U000e0001", "**", '"', "”", "[1]", "A.", "a", " ", "\xa0", "\u3000", "\ud800", "\udfff", "\U0001f600", "long words " * 5]  # fmt: skip
ANSWERS = (
    st.text()
    | st.text(st.characters(exclude_categories=()))
    | st.lists(st.sampled_from(MARKS), max_size=60).map("".join)
    | st.lists(st.sampled_from(MARKS) | st.characters(exclude_categories=()), max_size=60).map("".join)
)


@settings(max_examples=400)
@given(ANSWERS)
def test_every_visible_character_belongs_to_exactly_one_statement(answer):
    end = 0
    for statement in statements(answer):
        assert answer[statement.start : statement.end] == statement.text
        assert statement.start >= end
        assert is_blank(answer[end : statement.start])
        assert not is_invisible(statement.text[0])
        assert not is_invisible(statement.text[-1])
        end = statement.end
    assert is_blank(answer[end:])


@settings(max_examples=400)
@given(ANSWERS)
def test_statements_and_the_gaps_between_them_are_the_answer(answer):
    parts = statements(answer)
    starts, ends = [part.start for part in parts], [part.end for part in parts]
    gaps = [answer[end:start] for end, start in zip([0, *ends], [*starts, len(answer)], strict=True)]
    assert all(map(is_blank, gaps))
    assert gaps[0] + "".join(part.text + gap for part, gap in zip(parts, gaps[1:], strict=True)) == answer


@given(ANSWERS)
def test_the_split_is_deterministic(answer):
    assert statements(answer) == statements(answer)


@given(st.lists(ANSWERS, min_size=40, max_size=60).map("".join))
def test_long_answers_keep_the_law(answer):
    shown = sum(not is_invisible(character) for character in answer * 30)
    held = sum(not is_invisible(character) for statement in statements(answer * 30) for character in statement.text)
    assert shown == held
