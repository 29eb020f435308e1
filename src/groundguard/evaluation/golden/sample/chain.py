"""The answering chain of the sample: a retriever and an answerer over the insurer's documents, and copies with a fault.

Everything here is plain Python without a model, so that each run gives the same answers. `good` is the chain as it
should be; each of the others has one fault, for a metric to find:

- `misses_evidence`: the chunk that holds the answer is not retrieved (context recall)
- `loud_retriever`: it is retrieved last, after many that are beside the point (context precision)
- `invents`: the answer says more than the documents (faithfulness)
- `answers_another_question`: the answer is true and beside the point (answer relevancy)
- `never_refuses`: it answers questions that the documents don't answer (refusals)

Every `## ` section of a document is one chunk. Its id is the file's name and the heading in lower case with hyphens,
`buildings.md#burst-pipes`: it stays the same when another section is added or moved. The golden set names its reference
chunks by these ids.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from groundguard import Chunk

DOCUMENTS = Path(__file__).parent / "documents"

REFUSAL = "The policy documents don't say."

Answer = tuple[str, list[Chunk]]

_K = 3
_LOUD = 8
_ENOUGH = 0.5
_FURTHER = 0.35
_STOP = frozenset(
    re.findall(
        r"\S+",
        "a about after all am an and any are as at be been before by can can't could did do does don't each"
        " for from get had has have how i if in into is it its long many may me much must my need no not of on"
        " or our own s so than that the their them then there they this to under up us was we were what when"
        " where which while who whom whose why will with without would you your yours t",
    )
)


def good(question: str) -> Answer:
    """Retrieve the best sections, and quote what answers the question; decline if nothing does."""
    chunks = retrieve(question)
    return answer(question, chunks), chunks


def misses_evidence(question: str) -> Answer:
    """The fault: the best chunk is dropped, and the answer is quoted from the rest."""
    chunks = retrieve(question, _K + 1)[1:]
    return answer(question, chunks), chunks


def loud_retriever(question: str) -> Answer:
    """The fault: many chunks, the worst first; the answerer still finds what it needs."""
    chunks = retrieve(question, _LOUD)[::-1]
    return good(question)[0], chunks


def invents(question: str) -> Answer:
    """The fault: to every answer it adds a promise that stands nowhere."""
    text, chunks = good(question)
    return text if text == REFUSAL else f"{text} On top of that you receive a voucher worth 777 dollars.", chunks


def answers_another_question(question: str) -> Answer:
    """The fault: it quotes the sentence that has the least to do with the question."""
    text, chunks = good(question)
    if text == REFUSAL:
        return text, chunks
    weights = _weights(question)
    return min(_sentences(chunks), key=lambda sentence: (sentence.weight(weights), sentence.text)).text, chunks


def never_refuses(question: str) -> Answer:
    """The fault: where nothing answers the question, it quotes whatever comes closest."""
    chunks = retrieve(question)
    return answer(question, chunks, enough=0.0), chunks


def retrieve(question: str, k: int = _K) -> list[Chunk]:
    """The k chunks that are most about the question, best first, by BM25."""
    scores = {at: _bm25(question, at) for at in range(len(chunks()))}
    best = sorted(scores, key=lambda at: (-scores[at], at))[:k]
    return [replace(chunks()[at], score=round(scores[at], 4)) for at in best]


def answer(question: str, found: list[Chunk], enough: float = _ENOUGH) -> str:
    """One or two sentences quoted from the chunks.

    Args:
        question: The question.
        found: The chunks.
        enough: The share of the question's weight that the quoted sentences and their headings must hold.
    """
    weights = _weights(question)
    sentences = _sentences(found)
    first = max(sentences, key=lambda sentence: sentence.weight(weights))
    rest = {word: weight for word, weight in weights.items() if word not in first.words}
    near = [sentence for sentence in sentences if sentence.chunk == first.chunk and sentence != first]
    second = max(near, key=lambda sentence: sentence.weight(rest), default=first)
    further = sum(rest.get(word, 0.0) for word in second.words)
    quoted = [first, second] if second != first and further >= _FURTHER * sum(weights.values()) else [first]
    held = {word for sentence in quoted for word in sentence.words | sentence.above}
    if sum(weight for word, weight in weights.items() if word in held) < enough * sum(weights.values()):
        return REFUSAL
    return " ".join(sentence.text for sentence in sorted(quoted, key=sentences.index))


@cache
def chunks() -> tuple[Chunk, ...]:
    """Every section of every document."""
    return tuple(chunk for file in sorted(DOCUMENTS.glob("*.md")) for chunk in _sections(file))


def _sections(file: Path) -> list[Chunk]:
    title, *sections = re.split(r"^#+ +", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [_section(file.name, title.splitlines()[0], *section.split("\n", 1)) for section in sections]


def _section(name: str, title: str, heading: str, body: str) -> Chunk:
    above = f"{title}: {heading}"
    return Chunk(
        text=f"{above}\n\n{body.strip()}",
        id=f"{name}#{re.sub(r'[^a-z0-9]+', '-', heading.lower()).strip('-')}",
        source=name,
        metadata={"heading": above},
    )


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    chunk: str | None
    words: frozenset[str]
    above: frozenset[str]

    def weight(self, weights: dict[str, float]) -> float:
        """How much of the question is in it; what stands in the headings counts half."""
        own = sum(weights.get(word, 0.0) for word in self.words)
        return own + sum(weights.get(word, 0.0) for word in self.above - self.words) / 2


def _sentences(found: list[Chunk]) -> list[_Sentence]:
    return [
        _Sentence(text, chunk.id, frozenset(_words(text)), frozenset(_words(str(chunk.metadata["heading"]))))
        for chunk in found
        for text in re.split(r"(?<=[.!?])\s+", " ".join(chunk.text.partition("\n\n")[2].split()))
    ]


def _words(text: str) -> list[str]:
    """The words that a text is about, without endings."""
    return [_stem(word) for word in re.findall(r"[a-z0-9]+(?:'t)?", text.lower()) if word not in _STOP]


def _stem(word: str) -> str:
    for ending in ("ies", "ing", "ed", "es", "s", "y", "e"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word.removesuffix(ending)
    return word


@cache
def _index() -> tuple[tuple[Counter[str], ...], Counter[str]]:
    """The words of each chunk, and in how many chunks each word stands."""
    each = tuple(Counter(_words(chunk.text)) for chunk in chunks())
    return each, Counter(word for words in each for word in words)


def _weights(question: str) -> dict[str, float]:
    """How much each word of the question counts: more, the fewer chunks hold it; a word that none holds, most."""
    each, held = _index()
    return {word: math.log(1 + len(each) / (held[word] or 0.5)) for word in sorted(set(_words(question)))}


def _bm25(question: str, at: int) -> float:
    """Okapi BM25 with its usual constants, k1 = 1.5 and b = 0.75."""
    each, _ = _index()
    words = each[at]
    length = 0.25 + 0.75 * words.total() / (sum(each_.total() for each_ in each) / len(each))
    return sum(weight * words[word] * 2.5 / (words[word] + 1.5 * length) for word, weight in _weights(question).items())
