"""Text from outside, with what nobody can see written out."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given

from groundguard.evaluation.report.shown import on_one_line, pieces, shown
from support.strategies import texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\ttext\r\nand more", "plain\ttext\nand more"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("hidden\U000e0041", "hidden\\U000e0041"),
        ("\x00\x1b[31m\x85", "\\x00\\x1b[31m\\x85"),
        ("\ud83d", "\\ud83d"),
        ("\u3164\u2800", "\\u3164\\u2800"),
        ("wide\u3000and\u00a0hard", "wide\u3000and\u00a0hard"),
        ("👩\u200d🔬 ❤\ufe0f می\u200cخواهم", "👩\u200d🔬 ❤\ufe0f می\u200cخواهم"),
        ("a\u200db", "a\\u200db"),
        ("é\u200d\u200d", "é\u200d\\u200d"),
        ("^]-\\", "^]-\\"),
        ("", ""),
    ],
)
def test_what_is_invisible_is_written_out(text: str, expected: str) -> None:
    assert shown(text) == expected


@given(texts)
def test_any_text_is_valid_in_xml_and_utf_8(text: str) -> None:
    shown(text).encode("utf-8")
    element = ET.Element("t")
    element.text = shown(text)

    assert ET.fromstring(ET.tostring(element, encoding="unicode")).text in {shown(text), None}


@given(texts)
def test_the_pieces_are_the_text(text: str) -> None:
    assert "".join(piece for piece, _ in pieces(text)) == shown(text)
    assert all(piece.startswith("\\") for piece, hidden in pieces(text) if hidden)


def test_a_line_is_one_line_and_as_long_as_told() -> None:
    assert on_one_line(" a\n\tb  c ") == "a b c"
    assert on_one_line("abcdef", 4) == "abc…"
    assert on_one_line("abcd", 4) == "abcd"
