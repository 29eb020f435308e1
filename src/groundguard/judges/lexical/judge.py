"""The embedded judge: words, numbers, names and negation, and no understanding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from groundguard.errors import UsageError
from groundguard.flow.steps import Call, Callee, Flow
from groundguard.judges.base import Judge, fingerprint
from groundguard.judges.lexical.evidence import LONGEST, Evidence, Window
from groundguard.judges.lexical.match import Match, about_another, match
from groundguard.judges.lexical.numbers import Token
from groundguard.judges.lexical.tokens import Reading, read
from groundguard.judges.lexical.words import ANAPHORA, ASKING
from groundguard.judges.scoring import chunk_names
from groundguard.judges.statements import Statement, statements
from groundguard.records import Claim, Decision, Exchange, Verdict

_VERSION = "lexical/3"
_FRAGMENT = 3
_ON_TOPIC = 0.4
_AS_GOOD = 1e-6
_START = Token("")

_HONEST = (
    "Lexical() compares words, numbers, names and negation with the chunks and understands nothing: the real thing is"
    ' a judge that reads, such as FactCheck("openai:NAME")'
)


@dataclass(frozen=True)
class Lexical(Judge):
    """Compares the words of an answer with the chunks: deterministic, without a model, without a network.

    Each statement of the answer is held against each sentence of the chunks. Words count by their rarity in the
    chunks, general words less. What the sentence itself lacks may come, at a discount, from the sentence before or
    after it or from the first of its chunk, if the later of the two has a pronoun, or begins with a word of the other
    and has no name of its own. A number or a name is borrowed only if the sentence has no other of its kind. The
    statement's score is the share that is found. It is halved, and the statement is not supported whatever the
    threshold, if

    - a number, a name or a code is not there, or a number has another unit, counts another thing, or is one end of a
      range whose other end the statement lacks;
    - the number or name belongs to another clause of the sentence, where the clauses make that plain;
    - the number has a sign that the sentence's number lacks, such as `≠`, `>` or `~`, unless it says so in words; or is
      `≠` in the sentence only; or names a version or a section that is written otherwise (`2.10`, `2.1`);
    - the sentence has a negation or an opposite that the statement lacks, or the other way round; a cross such as ❌
      negates;
    - two words have changed places, as in `A acquired B` and `B acquired A`;
    - another word stands in the place of one of the statement's words, a general word before a number excepted;
    - it is a bare fragment, and the passage says too little of the question.

    A statement of more than 2,000 words and marks is supported only if a chunk has it word for word.

    The claim's `missing` names what the best passage lacks, with a note in brackets where it is not simply absent:
    `the passage says …`, `in another sentence`, `a negation differs`, `the opposite`, `another sign`, `swapped`,
    `of the question`, `the passage is about it`. Of a statement that is too long it says `too long to compare`.

    The verdict is SUPPORTED if every statement that asserts something is, and there is one. Its score is the lowest of
    the statements' scores. A statement without a content word has the decision None and doesn't count. The question
    is never evidence, and a question in the chunks is none for a statement.

    It understands nothing. Right answers in other words, or drawn from several sentences at once, are rejected:
    expect many false alarms on anything but quotes, extracts and light paraphrase. Wrong answers made of the right
    words may pass: a wrong inference, a general word before a number exchanged for another, any word added among many
    right ones, a word of quantity exchanged (`all`, `some`), a condition left out, a pronoun that means somebody
    else, what one sentence says of two things (`Ada was born in Riga and Ben in Oslo` for `Ada was born in Oslo`,
    `dogs may enter the park and cats the hall` for `dogs may enter the hall`, `opens at 9 and closes at 5` for
    `closes at 9`), an exception or a `few` that is dropped, irony. Opposites, stems, function
    words and number words are English, negations those of a few more European languages and Chinese; in other
    languages it compares words as they are written, and pairs of letters where a script writes no spaces. Across
    languages it finds nothing.

    Args:
        threshold: The least score of a supported statement, above 0 and up to 1. Higher passes less.

    Raises:
        UsageError: if the threshold is not a number in (0, 1].
    """

    threshold: float = 0.75

    def __post_init__(self) -> None:
        given: object = self.threshold
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= 1:
            raise UsageError(f"Lexical's threshold is a number above 0 and up to 1; got {self.threshold!r}")

    @property
    def name(self) -> str:
        """`lexical`."""
        return "lexical"

    @property
    def fingerprint(self) -> str:
        """Covers the version of the rules and the threshold."""
        return fingerprint("lexical", version=_VERSION, threshold=self.threshold)

    @property
    def notice(self) -> str:
        """What it is not."""
        return _HONEST

    def flow(self, exchange: Exchange) -> Flow[Verdict]:
        """Compare, in one plain call, so that a deadline can end it."""
        verdict: Verdict = yield Call(Callee(self._judge, None, "the judge lexical"), (exchange,))
        return verdict

    def _judge(self, exchange: Exchange) -> Verdict:
        evidence = Evidence(chunk.text for chunk in exchange.chunks)
        question, names = read(exchange.question), chunk_names(exchange.chunks)
        claims = tuple(
            self._claim(statement, _matches(read(statement.text), evidence, question), names)
            for statement in statements(exchange.answer)
        )
        scores = [claim.score for claim in claims if claim.score is not None]
        supported = bool(scores) and all(claim.decision is not Decision.UNSUPPORTED for claim in claims)
        decision = Decision.SUPPORTED if supported else Decision.UNSUPPORTED
        return Verdict(decision, score=min(scores, default=0.0), claims=claims)

    def _claim(self, statement: Statement, matches: list[Match] | None, names: Sequence[str]) -> Claim:
        text, start, end = statement.text, statement.start, statement.end
        if matches is None:
            return Claim(text, None, start, end)
        good = [found for found in matches if not found.conflict and found.score >= self.threshold]
        if good:
            ids = dict.fromkeys(names[found.chunk] for found in good)
            score = max(found.score for found in good)
            return Claim(text, Decision.SUPPORTED, start, end, chunk_ids=tuple(ids), score=score)
        best = matches[0]
        return Claim(text, Decision.UNSUPPORTED, start, end, missing=best.missing, score=best.score)


def _matches(reading: Reading, evidence: Evidence, question: Reading) -> list[Match] | None:
    """The sentences that say most of the statement, the best first; None if it asserts nothing.

    Only they may speak for it: a sentence that says less of it, but happens not to contradict it, may not.
    """
    if not reading.content:
        return None
    same = [Match(1.0, (), conflict=False, chunk=window.chunk, core=1.0) for window in evidence.same(reading)]
    if same:
        return same
    if len(reading.tokens) > LONGEST:
        return [Match(0.0, ("too long to compare",), conflict=True, chunk=0, core=0.0)]
    found = [
        _on_topic(match(reading, window, evidence.weight), reading, window, question)
        for window in evidence.nearest(reading)
    ]
    if not found:
        return [Match(0.0, tuple(token.text for token in reading.content), conflict=False, chunk=0, core=0.0)]
    best = max(each.core for each in found)
    nearest = [each for each in found if each.core >= best - _AS_GOOD]
    return sorted(nearest, key=lambda each: (each.conflict, -each.score))


def _on_topic(found: Match, reading: Reading, window: Window, question: Reading) -> Match:
    """What only answers or points back must stand where the chunk speaks of the question."""
    fragment = len(reading.content) < _FRAGMENT
    points_back = reading.tokens[0].text.casefold() in ANAPHORA
    missing: tuple[str, ...] = ()
    if fragment:
        missing = _unasked(reading, window, question)
    if (fragment or points_back) and not missing and question.names and not question.names & window.core.bases:
        others = about_another(window.core, reading.bases | question.bases)
        missing = tuple(f"{name} (the passage is about it)" for name in others)
    return found.against(missing) if missing else found


def _unasked(reading: Reading, window: Window, question: Reading) -> tuple[str, ...]:
    """The words of the question that neither the window nor the statement has, if they are too many.

    The word after `how`, `what` or `which` says only what kind of answer is wanted.
    """
    asked = {
        token: 1 + token.specific + (token.base in question.names)
        for before, token in pairwise((_START, *question.tokens))
        if token.counts and before.base not in ASKING
    }
    lacking = [token for token in asked if token.base not in window.nearby | reading.bases]
    if sum(map(asked.__getitem__, lacking)) <= (1 - _ON_TOPIC) * sum(asked.values()):
        return ()
    return tuple(dict.fromkeys(f"{token.text} (of the question)" for token in lacking))
