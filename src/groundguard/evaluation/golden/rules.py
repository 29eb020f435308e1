"""The rules of the lint: each looks at the items and says what an expert would say."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from groundguard.evaluation.golden.finding import Finding, Severity
from groundguard.evaluation.golden.items import GoldenItem, Origin, Split, Want
from groundguard.evaluation.golden.record import as_date
from groundguard.evaluation.golden.similar import alike, same, words

Items = Sequence[GoldenItem]
Rule = Callable[[Items, dt.date], Iterator[Finding]]

ENOUGH = 50
"""Fewer items than this are warned about."""
ENOUGH_HELDOUT = 20
"""Fewer held-out items than this are warned about."""

_SHORTEST_LEAK = 2
_LEAKED = 0.9
_LEAKED_WORDS = 6

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def size(items: Items, _: dt.date) -> Iterator[Finding]:
    """Enough items for an interval that says something."""
    if len(items) < ENOUGH:
        yield Finding(
            WARNING,
            "few-items",
            f"{_count(items)} only: a figure of 0.80 on so few is known to about ±{_margin(len(items))}",
            f"write at least {ENOUGH} (±{_margin(ENOUGH)}); 100 to 200 tell small changes apart",
        )


def verification(items: Items, today: dt.date) -> Iterator[Finding]:
    """Somebody has checked every item, and says when."""
    unverified = [item for item in items if item.verified_by is None]
    synthetic = [item for item in unverified if item.origin is Origin.SYNTHETIC]
    human = [item for item in unverified if item.origin is Origin.HUMAN]
    if synthetic:
        yield _about(
            WARNING,
            "unverified-synthetic",
            synthetic,
            f"{_count(synthetic)} made by a model and checked by nobody: they measure agreement with that model",
            "have a person check question, answer and chunks, and set verified_by and verified_on",
        )
    if human:
        yield _about(
            NOTE,
            "unverified",
            human,
            f"{_count(human)} checked by nobody but who wrote them",
            "have another person check them, and set verified_by and verified_on",
        )
    yield from _dates(items, today)


def _dates(items: Items, today: dt.date) -> Iterator[Finding]:
    future = [item for item in items if item.verified_on and (as_date(item.verified_on) or today) > today]
    if future:
        message = f"{_count(future)} verified on a day that has not come"
        yield _about(ERROR, "verified-in-future", future, message, "correct verified_on")
    half = [item for item in items if (item.verified_by is None) is not (item.verified_on is None)]
    if half:
        yield _about(
            NOTE,
            "half-verified",
            half,
            f"{_count(half)} with only one of verified_by and verified_on",
            "set both: documents change, and a check is as good as its date",
        )
    verifiers = {item.verified_by for item in items if item.verified_by is not None}
    if len(verifiers) == 1 and len(items) > 1:
        yield Finding(
            NOTE,
            "one-verifier",
            "every check was made by the same person, whose blind spots nobody sees",
            "have a second person check a sample of 20, and see how often the two agree",
        )


def duplicates(items: Items, _: dt.date) -> Iterator[Finding]:
    """No question stands twice, whether in the same words or in nearly the same."""
    questions = [item.asked for item in items]
    for group in same(questions):
        alike_items = [items[at] for at in group]
        yield (
            _duplicate(alike_items)
            if _agree(alike_items)
            else _about(
                ERROR,
                "contradiction",
                alike_items,
                "the same question, but not the same wanted outcome or answer: one of them can't be met",
                "find out which is right, and remove the other",
            )
        )
    for one, other, share in alike(questions):
        if not _is_leak(items[one], items[other]):
            yield _about(
                WARNING,
                "near-duplicate",
                [items[one], items[other]],
                f"nearly the same question ({share:.0%} in common): it counts twice, and the interval is too narrow",
                "remove one, or reword it so that it asks something else",
            )


def _duplicate(items: Items) -> Finding:
    return _about(
        ERROR,
        "duplicate",
        items,
        f"the same question {len(items)} times: it counts as often, and the interval is too narrow",
        "keep one of them",
    )


def _agree(items: Items) -> bool:
    return len({(item.want, tuple(words(item.answer or ""))) for item in items}) == 1


def leaks(items: Items, _: dt.date) -> Iterator[Finding]:
    """What is held out is not tuned on under another id."""
    questions = [item.asked for item in items]
    pairs = [*((one, other) for one, other, _ in alike(questions)), *_pairs(same(questions))]
    for one, other in pairs:
        if _is_leak(items[one], items[other]):
            yield _about(
                ERROR,
                "leak",
                [items[one], items[other]],
                "nearly the same question in tune and in heldout: what is tuned on is measured with",
                "put both on the same side; `groundguard golden split --force` does",
            )


def _pairs(groups: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, int]]:
    """The first of every group with each of the others."""
    return ((group[0], other) for group in groups for other in group[1:])


def _is_leak(one: GoldenItem, other: GoldenItem) -> bool:
    return {one.split, other.split} == {Split.TUNE, Split.HELDOUT}


def splits(items: Items, _: dt.date) -> Iterator[Finding]:
    """A part is held out, and it is large enough."""
    heldout = [item for item in items if item.split is Split.HELDOUT]
    unsplit = [item for item in items if item.split is None]
    if not heldout:
        yield Finding(
            WARNING,
            "no-heldout",
            "nothing is held out: whoever tunes on these items measures how well they were tuned on",
            "run `groundguard golden split`, and look at the held-out items as rarely as you can",
        )
        return
    if unsplit:
        yield _about(
            WARNING,
            "unsplit",
            unsplit,
            f"{_count(unsplit)} neither in tune nor in heldout",
            "run `groundguard golden split`, which leaves the others where they are",
        )
    if len(heldout) < ENOUGH_HELDOUT:
        yield Finding(
            WARNING,
            "small-heldout",
            f"{_count(heldout)} held out: a figure of 0.80 on so few is known to about ±{_margin(len(heldout))}",
            f"hold out at least {ENOUGH_HELDOUT}",
        )
    if not any(item.want is Want.REFUSAL for item in heldout) and any(item.want is Want.REFUSAL for item in items):
        yield Finding(
            WARNING,
            "heldout-without-refusals",
            "no held-out item wants a refusal: there, a pipeline that never declines looks perfect",
            "run `groundguard golden split --force`, which spreads them",
        )


def refusals(items: Items, _: dt.date) -> Iterator[Finding]:
    """Some questions have no answer in the documents, as in life."""
    wanting = [item for item in items if item.want is Want.REFUSAL]
    if not wanting:
        yield Finding(
            WARNING,
            "no-refusals",
            "no item wants a refusal: a pipeline that invents an answer to everything can't be told from a good one",
            "add questions that sound right and that the documents don't answer: one in six or so",
        )
    mixed = [item for item in wanting if item.chunk_ids or item.chunks]
    if mixed:
        yield _about(
            WARNING,
            "refusal-with-chunks",
            mixed,
            f"{_count(mixed)} to be refused although reference chunks hold the answer",
            "remove the chunks, or want an answer",
        )


def references(items: Items, _: dt.date) -> Iterator[Finding]:
    """There is something to hold an answer and its chunks against, and it is not in the question already."""
    answered = [item for item in items if item.want is Want.ANSWER]
    without = [item for item in answered if not words(item.answer or "")]
    if without:
        yield _about(
            WARNING,
            "no-reference-answer",
            without,
            f"{_count(without)} without a reference answer: context recall can't be scored on them by a model",
            "write the answer that the documents give, in one or two sentences",
        )
    bare = [item for item in answered if not (item.chunk_ids or item.chunks)]
    if bare:
        yield _about(
            WARNING,
            "no-reference-chunks",
            bare,
            f"{_count(bare)} without reference chunks: the retriever can't be measured on them without a model",
            "name the ids of the chunks that hold the answer in chunk_ids",
        )
    leaking = [item for item in answered if _leaks(item)]
    if leaking:
        yield _about(
            WARNING,
            "answer-in-question",
            leaking,
            f"{_count(leaking)} whose question gives its answer away: it can be answered without any document",
            "ask as somebody would who doesn't know the answer",
        )


def _leaks(item: GoldenItem) -> bool:
    asked, answer = words(item.question), words(item.answer or "")
    if len(answer) < _SHORTEST_LEAK:
        return False
    if f" {' '.join(answer)} " in f" {' '.join(asked)} ":
        return True
    distinct = set(answer)
    return len(distinct) >= _LEAKED_WORDS and len(distinct & set(asked)) >= _LEAKED * len(distinct)


def tags(items: Items, _: dt.date) -> Iterator[Finding]:
    """A tag has enough items to be a slice."""
    counts = Counter(tag for item in items for tag in item.tags)
    for tag, count in counts.items():
        if count == 1:
            yield _about(
                NOTE,
                "lonely-tag",
                [item for item in items if tag in item.tags],
                f"the tag {tag!r} has one item: a slice of one says nothing",
                "add items, or use another tag",
            )


RULES: tuple[Rule, ...] = (size, verification, duplicates, leaks, splits, refusals, references, tags)
"""Every rule, in the order in which a person would look."""


def _about(severity: Severity, code: str, items: Items, message: str, advice: str) -> Finding:
    return Finding(severity, code, message, advice, tuple(item.id for item in items))


def _count(items: Items) -> str:
    return f"{len(items)} item{'' if len(items) == 1 else 's'}"


def _margin(n: int) -> str:
    """Half the width of the 95 % Wilson interval around 0.8 on n items."""
    z, share = 1.96, 0.8
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n) if n else 1.0
    return f"{half:.2f}"
