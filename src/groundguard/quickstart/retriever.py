"""A retriever over chunks in memory: BM25 by bm25s."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from groundguard.errors import UsageError
from groundguard.quickstart.words import bm25s, content_words
from groundguard.records import Chunk


class BM25Retriever:
    """The chunks that share words with a question, best first, with their BM25 scores.

    A chunk is relevant if its score is above zero, that is if at least one content word of the question occurs in it.
    If none occurs anywhere, nothing is returned, and the status will honestly be `no_context`. It matches words, not
    meanings: a chunk that shares one word is found although it may not help.

    Args:
        chunks: What to search.
        k: How many chunks to return at most.
    """

    def __init__(self, chunks: Iterable[Chunk], k: int = 4) -> None:
        if k < 1:
            raise UsageError(f"k is the number of chunks to return, at least 1, not {k}")
        self._chunks = tuple(chunks)
        self._k = k
        self._index = _index([content_words(chunk.text) for chunk in self._chunks])

    def __call__(self, question: str) -> tuple[Chunk, ...]:
        """The chunks for one question: at most k, perhaps none."""
        words = content_words(question)
        if self._index is None or not words:
            return ()
        scores = [float(score) for score in self._index.get_scores(words)]
        found = sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: -scores[at])
        return tuple(replace(self._chunks[at], score=scores[at]) for at in found[: self._k])


def _index(words: list[list[str]]) -> Any:  # the library has no types
    """The index; None if there is nothing to search."""
    library = bm25s()
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    if not any(words):
        return None
    index = library.BM25()
    index.index(words, show_progress=False)
    return index
