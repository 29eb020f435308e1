"""A local entailment or consistency model as a judge: every statement against every passage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from numbers import Real
from typing import Any, NamedTuple, TypeGuard

from groundguard.errors import UsageError, told
from groundguard.fields import exact, is_mapping, is_sequence
from groundguard.flow.steps import Call, Callee, Flow, Together, as_callee, name_of
from groundguard.foreign import get, has, is_iterable
from groundguard.judges.base import Judge, failed, fingerprint
from groundguard.judges.scoring import checked_share, chunk_names, weigh
from groundguard.judges.statements import Statement, statements
from groundguard.records import Chunk, Claim, Decision, Exchange, Reason, Verdict
from groundguard.text import is_blank

_VERSION = "entailment/1"
_LABELS = frozenset({"entailment", "neutral", "contradiction"})
_NEEDED = frozenset({"entailment", "contradiction"})

Pair = tuple[str, str]
"""A premise and a hypothesis."""


class _Premise(NamedTuple):
    source: str  # what a claim calls the chunk
    text: str


class _Split(NamedTuple):
    statements: tuple[Statement, ...]
    asked: tuple[Statement, ...]
    premises: tuple[_Premise, ...]


class _Score(NamedTuple):
    support: float
    contradiction: float


_Scores = Sequence[_Score | Verdict]
"""What became of each pair; a verdict tells why there is no score."""


@dataclass(frozen=True)
class Entailment(Judge):
    """Asks a local model of natural language inference, or of consistency, whether the passages entail the answer.

    Each statement of the answer is a hypothesis, and each passage a premise: whole, or in windows of whole sentences
    where it is long. A statement is supported as well as its best window supports it, as in SummaC (Laban et al.,
    2022, "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization", TACL 10), which reads
    models trained on pairs of sentences so. Added to that, a window that contradicts the statement refutes it, whatever
    the others say. What only several windows together say is not found.

    ```python
    model = sentence_transformers.CrossEncoder("cross-encoder/nli-deberta-v3-base")
    labels = [model.config.id2label[number] for number in range(3)]  # contradiction, entailment, neutral

    def deberta(pairs):
        return [dict(zip(labels, row)) for row in model.predict(pairs, apply_softmax=True)]

    judge = Entailment(deberta)
    ```

    The scorer is called with a list of pairs `(premise, hypothesis)` and returns one result for each, in order: a
    list, a tuple, an iterator, or an array of one dimension, such as numpy's. Whatever else can be iterated over, such
    as a table by its columns, is none of these. A result is a mapping with the probabilities `entailment`,
    `contradiction` and, if it likes, `neutral`, in upper or lower case; or one number, the probability of support, as
    consistency models give it. A statement is unknown, never supported, if one of its results is anything
    else, or is not from 0 to 1, or if the scorer raised; and so are all statements of a call that returned too few
    results or too many. The calls for one answer run side by side: a plain scorer is called from several threads, and
    one that can't bear that holds a lock.

    A statement without a letter or digit has the decision None and doesn't count. If nothing counts, the verdict is
    UNKNOWN with the detail `no claims`. Each claim's score is the best support, its `chunk_ids` are the passages that
    reach `support`, and its `missing` names those that contradict it. The verdict's score is the share of statements
    that are supported.

    An answer such as `12 volts` is no sentence, and a model of inference may make little of it: `hypothesis` can build
    one, with the question's help.

    Args:
        scorer: The model: a function, plain or async, of a list of pairs. The judge is named after it, and its
            fingerprint can't see inside: name the function after the model.
        support: The least probability of entailment at which a window supports a statement, above 0 and up to 1.
        contradiction: The least probability of contradiction at which a window refutes a statement, likewise.
        threshold: The least share of supported statements in a supported answer, above 0 and up to 1.
        window: Characters of a premise at most. A passage that is longer is read in windows at sentence borders;
            neighbours share a sentence where it fits. A sentence that is longer is a window of its own, never cut here;
            a premise and a statement should fit the model together, since nobody sees what a model cuts.
        batch: Pairs of a call at most.
        hypothesis: What to ask about a statement: a function of the exchange and the statement's text, plain or async,
            that returns a text. None asks about the statement as it stands.

    Raises:
        UsageError: if the scorer or the hypothesis can't be called so, or an option is not a number in its range.
    """

    scorer: Callable[[list[Pair]], Any]
    support: float = field(default=0.5, kw_only=True)
    contradiction: float = field(default=0.5, kw_only=True)
    threshold: float = field(default=1.0, kw_only=True)
    window: int = field(default=1200, kw_only=True)
    batch: int = field(default=32, kw_only=True)
    hypothesis: Callable[[Exchange, str], Any] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        as_callee(self.scorer, "scorer", arguments=1)
        if self.hypothesis is not None:
            as_callee(self.hypothesis, "hypothesis", arguments=2)
        for share in ("support", "contradiction", "threshold"):
            object.__setattr__(self, share, checked_share(getattr(self, share), share))
        for count in ("window", "batch"):
            _check_count(getattr(self, count), count)

    @property
    def name(self) -> str:
        """`entailment:` and the scorer's name."""
        return f"entailment:{name_of(self.scorer)}"

    @property
    def fingerprint(self) -> str:
        """Covers the version of the rules, the names of the scorer and the hypothesis, and whatever shapes verdicts."""
        return fingerprint(
            "entailment",
            version=_VERSION,
            scorer=name_of(self.scorer),
            hypothesis=None if self.hypothesis is None else name_of(self.hypothesis),
            support=self.support,
            contradiction=self.contradiction,
            threshold=self.threshold,
            window=self.window,
        )

    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """Split the answer and the passages, score every pair, weigh the claims."""
        split: _Split = yield Call(Callee(self._split, None, f"the judge {self.name}"), (exchange,))
        hypotheses = yield from self._hypotheses(exchange, split.asked)
        each = len(split.premises)
        pairs = range(each * len(hypotheses))
        parts = [pairs[at : at + self.batch] for at in pairs[:: self.batch]]
        results = yield Together(tuple(self._scores(split.premises, hypotheses, part) for part in parts))
        scores: _Scores = [score for result in results for score in result]
        found = {statement: scores[at * each : (at + 1) * each] for at, statement in enumerate(split.asked)}
        claims = tuple(self._claim(statement, found.get(statement), split.premises) for statement in split.statements)
        return self._verdict(claims, next((score for score in scores if isinstance(score, Verdict)), None))

    def _split(self, exchange: Exchange) -> _Split:
        """In one plain call, so that a deadline can end it."""
        found = statements(exchange.answer)
        asked = tuple(statement for statement in found if any(map(str.isalnum, statement.text)))
        return _Split(found, asked, tuple(_premises(exchange.chunks, self.window)))

    def _hypotheses(self, exchange: Exchange, asked: Sequence[Statement]) -> Flow[list[str]]:
        if self.hypothesis is None:
            return [statement.text for statement in asked]
        callee, built = as_callee(self.hypothesis, "hypothesis"), list[str]()
        for statement in asked:
            text = yield Call(callee, (exchange, statement.text))
            if not isinstance(text, str) or is_blank(text):
                raise TypeError(f"a hypothesis is a visible text; the function returned {told(text)}")
            built.append(exact(text))
        return built

    def _scores(self, premises: Sequence[_Premise], hypotheses: Sequence[str], numbers: range) -> Flow[_Scores]:
        """Score some of the pairs, which are numbered statement by statement and built only here."""
        pairs = [(premises[at % len(premises)].text, hypotheses[at // len(premises)]) for at in numbers]
        callee = as_callee(self.scorer, "scorer")
        try:
            said: object = yield Call(callee, (pairs,), retry="asked")
            if not _is_results(said):
                return [_malformed(f"{told(said)}, no list of results")] * len(numbers)
            results: list[object] = yield Call(Callee(_listed, None, callee.name), (said, len(numbers) + 1))
            if len(results) != len(numbers):
                return [_malformed("another number of results than of pairs")] * len(numbers)
            return [_read(result) for result in results]
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001  # what can't be scored is unknown, and the other calls go on
            return [failed(error)] * len(numbers)

    def _claim(self, statement: Statement, scores: _Scores | None, premises: Sequence[_Premise]) -> Claim:
        text, start, end = statement.text, statement.start, statement.end
        if scores is None:
            return Claim(text, None, start, end)
        known = [score for score in scores if isinstance(score, _Score)]
        if len(known) < len(scores):
            return Claim(text, Decision.UNKNOWN, start, end)
        read = list(zip(premises, known, strict=True))
        sources = dict.fromkeys(premise.source for premise, score in read if score.support >= self.support)
        against = dict.fromkeys(premise.source for premise, score in read if score.contradiction >= self.contradiction)
        return Claim(
            text,
            Decision.SUPPORTED if sources and not against else Decision.UNSUPPORTED,
            start,
            end,
            chunk_ids=tuple(sources),
            missing=tuple(f"contradicted by {source}" for source in against),
            score=max((score.support for score in known), default=0.0),
        )

    def _verdict(self, claims: tuple[Claim, ...], failure: Verdict | None) -> Verdict:
        weighed = weigh(claims, self.threshold, failure.reason if failure else Reason.VERDICT_MALFORMED)
        if weighed is None:
            return Verdict(Decision.UNKNOWN, Reason.VERDICT_MALFORMED, claims=claims, detail="no claims")
        verdict = Verdict(weighed.decision, weighed.reason, score=weighed.score, claims=claims)
        if failure is None or weighed.decision is not Decision.UNKNOWN:
            return verdict
        return replace(verdict, detail=failure.detail, error_type=failure.error_type)


def _premises(chunks: Sequence[Chunk], size: int) -> Iterator[_Premise]:
    for name, chunk in zip(chunk_names(chunks), chunks, strict=True):
        for text in windows(chunk.text, size):
            yield _Premise(name, text)


def windows(text: str, size: int) -> Iterator[str]:
    """Read a text in windows of whole sentences.

    Args:
        text: Any text.
        size: Characters of a window at most; a sentence that is longer is a window of its own.

    Yields:
        The windows in order, as they stand in the text. Every sentence is in one of them, and neighbours share one
        sentence if it fits into both beside another.
    """
    found = statements(text)
    begin = 0
    while begin < len(found):
        end = begin + 1
        while end < len(found) and found[end].end - found[begin].start <= size:
            end += 1
        yield text[found[begin].start : found[end - 1].end]
        shares = end < len(found) and found[end].end - found[end - 1].start <= size
        begin = end - 1 if shares else end


def _is_results(said: object) -> TypeGuard[Iterable[object]]:
    """Whether it is one result after the other; a table iterates over its columns, and a buffer over its bytes."""
    if isinstance(said, memoryview):
        return False
    if is_sequence(said) or isinstance(said, Iterator):
        return True
    return get(said, "ndim") == 1 and not has(said, "columns") and is_iterable(said)


def _listed(results: Iterable[object], most: int) -> list[object]:
    """In a call of its own: what computes its results only when asked for them takes time, or has no end."""
    return list(islice(results, most))


def _read(result: object) -> _Score | Verdict:
    values: dict[object, object] = {"entailment": result, "contradiction": 0.0}
    if is_mapping(result):
        values = {key.lower() if isinstance(key, str) else key: value for key, value in result.items()}
        if len(values) != len(result) or not values.keys() >= _NEEDED or not values.keys() <= _LABELS:
            return _malformed("a mapping with other keys than entailment, neutral and contradiction")
    numbers: dict[object, float] = {}
    for key, value in values.items():
        if isinstance(value, bool) or not isinstance(value, Real):
            return _malformed(f"{told(value)} instead of a probability")
        numbers[key] = float(value)
    if not all(0 <= number <= 1 for number in numbers.values()):  # NaN is not
        return _malformed("a number that is no probability")
    return _Score(numbers["entailment"], numbers["contradiction"])


def _malformed(what: str) -> Verdict:
    return Verdict(Decision.UNKNOWN, Reason.VERDICT_MALFORMED, detail=f"it returned {what}")


def _check_count(value: object, name: str) -> None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return
    got = value if isinstance(value, (int, float)) else told(value)
    raise UsageError(f"{name} is a whole number from 1; got {got}")
