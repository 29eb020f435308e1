"""A retriever over chunks in memory: BM25 by bm25s."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from groundguard.errors import UsageError
from groundguard.quickstart.words import bm25s, content_words
from groundguard.records import Chunk


class BM25Retriever:
    """The chunks that are about a question, best first, with their BM25 scores.

    A chunk is about a question if it holds enough of the question's content words. Each word weighs the more, the fewer
    chunks hold it, and a word that no chunk holds weighs most. If no chunk is about the question, nothing is returned,
    and the status will honestly be `no_context`. It matches words, not meanings.

    Args:
        chunks: What to search.
        k: How many chunks to return at most.
        share: The least share of the question's weight that a relevant chunk holds, above 0 and up to 1.
    """

    def __init__(self, chunks: Iterable[Chunk], k: int = 4, share: float = 0.3) -> None:
        if k < 1:
            raise UsageError(f"k is the number of chunks to return, at least 1, not {k}")
        if not 0 < share <= 1:
            raise UsageError(f"share lies above 0 and up to 1, not {share}")
        self._chunks = tuple(chunks)
        self._k = k
        self._share = share
        words = [content_words(chunk.text) for chunk in self._chunks]
        self._index = _index(words)
        self._words = list(map(frozenset, words))
        self._held = Counter(word for held in self._words for word in held)

    def __call__(self, question: str) -> tuple[Chunk, ...]:
        """The chunks for one question: at most k, perhaps none."""
        words = content_words(question)
        if self._index is None or not words:
            return ()
        scores = [float(score) for score in self._index.get_scores(words)]
        relevant = self._about(set(words))
        found = sorted((at for at in relevant if scores[at] > 0), key=lambda at: -scores[at])
        return tuple(replace(self._chunks[at], score=scores[at]) for at in found[: self._k])

    def _about(self, asked: set[str]) -> list[int]:
        weights = {word: math.log(1 + len(self._chunks) / (self._held[word] or 1)) for word in sorted(asked)}
        least = self._share * math.fsum(weights.values())
        return [at for at, held in enumerate(self._words) if math.fsum(weights[word] for word in asked & held) >= least]


def _index(words: list[list[str]]) -> Any:  # the library has no types
    """The index; None if there is nothing to search."""
    library = bm25s()
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    if not any(words):
        return None
    index = library.BM25()
    index.index(words, show_progress=False)
    return index
