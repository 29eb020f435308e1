"""The words that a text is about: lower case, without endings, without the words that every text has."""

from __future__ import annotations

import importlib
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

from groundguard.errors import UsageError

_QUESTION_WORDS = (
    *("also", "anyone", "anything", "could", "get", "gets", "give", "go", "goes", "got", "happen", "happens", "hello"),
    *("hi", "how's", "many", "may", "mean", "meaning", "means", "might", "much", "must", "need", "please", "shall"),
    *(
        "someone",
        "something",
        "tell",
        "thank",
        "thanks",
        "us",
        "use",
        "uses",
        "want",
        "whose",
        "work",
        "works",
        "would",
    ),
)
_APOSTROPHES = re.compile(r"(?<=\w)['\u2019\u02bc](?=\w)")
_PARTS = re.compile(r"_+|(?<=[a-z])(?=[A-Z])")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_SHORTEST_STEM = 3
_VOWELS = "aeiouy"


def content_words(text: str) -> list[str]:
    """The words of `text` in order, repeats included.

    A name of code gives itself and its parts: `no_context` is `no_context` and `context`, `FactCheck` is `factcheck`,
    `fact` and `check`. Left out: English stop words and question words. English endings (-s, -es, -ies, -ed, -ied,
    -ing, -e, the second of two equal letters) are taken off.
    Scripts that put no spaces between words (Chinese, Japanese, Thai, …, and Korean, whose words carry particles) give
    pairs of neighbouring characters.
    """
    return [term for word in _words(text) for term in _terms(word)]


def bm25s() -> Any:  # the library has no types
    """The BM25 library, which loads numpy: at first need.

    Raises:
        UsageError: if it isn't installed.
    """
    try:
        return importlib.import_module("bm25s")
    except ModuleNotFoundError as error:
        raise UsageError(f'the BM25 retriever needs {error.name}: pip install "groundguard-rag[cli]"') from error


@cache
def _stop_words() -> frozenset[str]:
    bm25s()
    words: tuple[str, ...] = importlib.import_module("bm25s.stopwords").STOPWORDS_EN_PLUS
    return frozenset(word.replace("'", "") for word in (*words, *_QUESTION_WORDS))


def _words(text: str) -> Iterator[str]:
    text = _APOSTROPHES.sub("", unicodedata.normalize("NFKC", text))
    for name in "".join(character if _is_of_word(character) else " " for character in text).split():
        parts = [part for part in _PARTS.split(name) if part]
        if len(parts) > 1:
            yield name.strip("_").casefold()
        yield from (part.casefold() for part in parts)


def _is_of_word(character: str) -> bool:
    return character == "_" or unicodedata.category(character)[0] in "LMN"


def _terms(word: str) -> Iterator[str]:
    if word.isascii():
        if word not in _stop_words():
            yield _stem(word)
        return
    position = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > position:
            yield word[position : run.start()]
        characters = run[0]
        yield from (characters[at : at + 2] for at in range(max(1, len(characters) - 1)))
        position = run.end()
    if position < len(word):
        yield word[position:]


def _stem(word: str) -> str:
    """An English word without its ending; a number or a short word as it is."""
    if len(word) <= _SHORTEST_STEM or not word.isalpha():
        return word
    for ending in ("ies", "ied", "ie"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _SHORTEST_STEM and any(letter in _VOWELS for letter in stem):
            word = stem
            break
    word = word.removesuffix("e") if len(word) > _SHORTEST_STEM else word
    return word[:-1] if len(word) > _SHORTEST_STEM and word[-1] == word[-2] else word
