import ast

import pytest
from hypothesis import given

from groundguard.text import escaped, is_blank, is_invisible
from support import strategies

INVISIBLE = (
    " \t\n\r\v\f\x00\x1f\x7f\x85\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b\u180e\u180f\u2000\u200b\u200c"
    "\u200d\u200e\u2028\u2029\u202a\u202e\u2060\u2066\u206f\u2800\u3000\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9"
    "\U0001bca0\U0001d173\U000e0001\U000e0041\U000e0100\U000e01ef\ud800\udfff\ue000"
)


@pytest.mark.parametrize("character", INVISIBLE)
def test_invisible(character):
    assert is_invisible(character)
    assert is_blank(character * 3)
    assert not is_blank(character + "x" + character)
    assert (escaped(character) == character) == (character == " ")


@pytest.mark.parametrize("character", "a0.-_é些ß\u0301\u20ac\u2026\u3002\ufffd\U0001f600")
def test_visible(character):
    assert not is_invisible(character)
    assert not is_blank(f" {character}\n")
    assert escaped(character) == character


def test_an_empty_text_is_blank():
    assert is_blank("")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("yes\n", r"yes\n"),
        ("a b", "a b"),
        ("\u200byes\ufeff", r"\u200byes\ufeff"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        (r"\n", r"\\n"),
        ("né\xa0些", "né\\xa0些"),
    ],
)
def test_escaped(text, shown):
    assert escaped(text) == shown


@given(strategies.texts)
def test_escaped_shows_everything_and_loses_nothing(text):
    shown = escaped(text)
    assert all(character == " " or not is_invisible(character) for character in shown)
    quoted = shown.replace('"', r"\"")
    assert ast.literal_eval(f'"{quoted}"') == text
