"""Nothing of an answer is lost between its statements."""

from hypothesis import given, settings
from hypothesis import strategies as st

from groundguard.judges.statements import statements
from groundguard.text import is_blank, is_invisible

MARKS = ["\n", "\r\n", "\r", "\x85", "\u2028", "\x1c", "\x00", "\u200b", "\u2800", ". ", "。", "```", "~~~", "- ", "1. ", "# ", "| ",
         "> ", "**", '"', "”", "[1]", "A.", "a", " ", "\xa0", "\u3000", "\ud800", "\udfff", "\U0001f600", "long words " * 5]  # fmt: skip
ANSWERS = (
    st.text()
    | st.text(st.characters(exclude_categories=()))
    | st.lists(st.sampled_from(MARKS), max_size=60).map("".join)
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


@given(ANSWERS)
def test_the_split_is_deterministic(answer):
    assert statements(answer) == statements(answer)


@given(st.lists(ANSWERS, min_size=40, max_size=60).map("".join))
def test_long_answers_keep_the_law(answer):
    shown = sum(not is_invisible(character) for character in answer * 30)
    held = sum(not is_invisible(character) for statement in statements(answer * 30) for character in statement.text)
    assert shown == held
