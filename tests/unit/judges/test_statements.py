"""Where one statement ends and the next begins."""

import time

import pytest

from groundguard.judges.statements import Statement, statements

SPLITS = [
    ("", []),
    (" \n\u200b\t", []),
    ("One thing. Another thing! A third?", ["One thing.", "Another thing!", "A third?"]),
    ("Dr. Rook weighs 1.5 kg. He left.", ["Dr. Rook weighs 1.5 kg.", "He left."]),
    ("塔很高。河很长！", ["塔很高。", "河很长！"]),
    ("Python. SQL.", ["Python.", "SQL."]),
    ("Python\nSQL", ["Python", "SQL"]),
    ("First paragraph\n\nsecond paragraph", ["First paragraph", "second paragraph"]),
    ("- a thing. More.\n* other\n  deeper", ["- a thing.", "More.", "* other", "deeper"]),
    ("1. First. Second\n2) Third\n(3) Fourth", ["1. First.", "Second", "2) Third", "(3) Fourth"]),
    ("> quoted. more\nafter", ["> quoted.", "more", "after"]),
    ("# Head. Line\nText", ["# Head. Line", "Text"]),
    ("Head\n====\nText", ["Head", "====", "Text"]),
    ("| a. B | c |\n|---|---|\n| 1 | 2 |", ["| a. B | c |", "|---|---|", "| 1 | 2 |"]),
    ("Run:\n```py\nx = 1. Y\n\n# no\n```\nDone.", ["Run:", "```py\nx = 1. Y\n\n# no\n```", "Done."]),
    ("~~~~\na. B\n~~~\n~~~~ \nc", ["~~~~\na. B\n~~~\n~~~~", "c"]),
    ("```\nnever. Closed", ["```\nnever. Closed"]),
    ("A line that is long enough to be wrapped by\nan editor ends. So.", ["A line that is long enough to be wrapped by\nan editor ends.", "So."]),
    ("A line that is long enough to be wrapped by\n- an item", ["A line that is long enough to be wrapped by", "- an item"]),
    ("A line that is long enough to be wrapped by\n```\ncode\n```", ["A line that is long enough to be wrapped by", "```\ncode\n```"]),
    ("A line that is long enough to be wrapped by\n# head", ["A line that is long enough to be wrapped by", "# head"]),
    ("Desk lamps in black, white, brass and copper\nThe Aldona desk lamp runs on twelve volts and weighs 900 g", ["Desk lamps in black, white, brass and copper", "The Aldona desk lamp runs on twelve volts and weighs 900 g"]),
    ("Desk lamps in black, white, brass and copper\n“Aldona” runs on twelve volts and weighs less than 900 g", ["Desk lamps in black, white, brass and copper", "“Aldona” runs on twelve volts and weighs less than 900 g"]),
    ("The lamp was drawn in Riga in 1984 by Mara\nLind-Kalnins of the Aldona works, who drew it.", ["The lamp was drawn in Riga in 1984 by Mara\nLind-Kalnins of the Aldona works, who drew it."]),
    ("**Bold.** Next [1]. Last.[2] End", ["**Bold.**", "Next [1].", "Last.[2]", "End"]),
    ("He said “Go.” Then left.", ["He said “Go.”", "Then left."]),
    ("A\x85. B\u2028. C", ["A", ".", "B", ".", "C"]),
    ("\ud800 lone. Half \udfff.", ["lone.", "Half \udfff."]),
    ("A. \n", ["A."]),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "expected"), SPLITS)
def test_statements(answer, expected):
    assert [statement.text for statement in statements(answer)] == expected


def test_offsets():
    assert statements(" One. \n Two.") == (Statement("One.", 1, 5), Statement("Two.", 8, 12))


def test_a_long_paragraph_is_split_as_a_short_one_is():
    sentence = "The quick brown fox jumps over the lazy dog. "
    assert {statement.text for statement in statements(sentence * 500)} == {sentence.strip()}


def test_a_long_text_without_a_sentence_is_cut_between_words():
    words = [word for statement in statements("word " * 3_000) for word in statement.text.split()]
    assert words == ["word"] * 3_000


@pytest.mark.parametrize(
    "piece", ["中文。", "«a. ", '"', "(a. ", "a\n", "```\n", "[1]", "\u200b", "word ", "x", "\ud800", "> ", "'a. b' "]
)
def test_time_grows_with_the_length_only(piece):
    began = time.thread_time()
    statements(piece * (60_000 // len(piece)))
    assert time.thread_time() - began < 5


@pytest.mark.parametrize(
    "marks", ["_", ")", "*_", "[1]", "a.)", "!)", "a. _", "a.[1", "> ", "`", "#", "\n#", "- ", "1. ", "\n~~~"]
)
def test_marks_before_a_word_take_no_time(marks):
    began = time.thread_time()
    for text in (marks * 5_000 + "x", "A. " + marks * 5_000 + "x", "A." + marks * 5_000 + "x. B"):
        assert "".join(statement.text for statement in statements(text)).endswith(("x", "B"))
    assert time.thread_time() - began < 2 * 3
