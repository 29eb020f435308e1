"""Runs of an evaluation, made by hand: a fictional insurer's, and of whatever size."""

from dataclasses import replace

from groundguard.evaluation.golden.items import Split, Want
from groundguard.evaluation.results import ItemResult, Pins, Run, Score
from groundguard.records import Chunk, ChunksFrom, Claim, Decision, Reason, Response, Timings, Verdict
from groundguard.status import label

PINS = Pins(
    "insurer",
    "1.2.0",
    "9f2b7c11d0aa5e4400cc",
    pipeline="v7",
    model="muse-9",
    judges={"faithfulness": "claims:4c1d", "context_recall": "recall:77aa"},
    judge_models=("muse-9-2031-01",),
    library="0.1.0",
)

WATER = Chunk(
    "Burst pipes are covered up to 5,000 euros. The excess is 150 euros per claim.", "water-1", "water.md", 0.91
)
THEFT = Chunk("Theft of bicycles is covered if the bicycle was locked.", "theft-2", "theft.md", 0.42)


def claim(answer, text, decision, *chunk_ids, missing=()):
    """A claim that stands in the answer where its text does."""
    start = answer.find(text)
    place = (start, start + len(text)) if start >= 0 else (None, None)
    return Claim(text, decision, *place, chunk_ids=chunk_ids, missing=missing)


def verdict(*claims, unknown=None):
    """The verdict that follows from claims by the binary reading."""
    if unknown is not None:
        return Verdict(Decision.UNKNOWN, unknown, claims=claims, judge="claims", fingerprint="claims:4c1d")
    good = all(claim.decision is Decision.SUPPORTED for claim in claims)
    share = sum(claim.decision is Decision.SUPPORTED for claim in claims) / len(claims) if claims else None
    decision = Decision.SUPPORTED if good else Decision.UNSUPPORTED
    return Verdict(decision, score=share, claims=claims, judge="claims", fingerprint="claims:4c1d")


def response(question, answer, chunks, said):
    """A response labelled by the one rule."""
    chunks = tuple(chunks)
    status, reason = label(chunks, answer, said if chunks and answer.strip() else None)
    return Response(
        answer, answer, status, reason, said, question, chunks, ChunksFrom.RETURNED, timings=Timings(total=1.25)
    )


def result(id_, question="How much?", answer="5,000 euros.", chunks=(WATER, THEFT), said=None, **more):
    """A result whose faithfulness is the verdict's score."""
    said = said or verdict(claim(answer, answer, Decision.SUPPORTED, "water-1"))
    scores = more.pop("scores", None)
    if scores is None:
        value = said.score
        why = None if value is not None else said.reason.value
        scores = (Score("faithfulness", value, why, verdict=said), Score("context_recall", 1.0), Score("refusal", 1.0))
    return ItemResult(
        id_, more.pop("repeat", 0), question, response(question, answer, chunks, said), scores=scores, **more
    )


INVENTED = "Burst pipes are covered up to 5,000 euros. Floods are covered without limit."


def insurer(**changes):
    """Eight results of which each shows something else."""
    good, bad, unknown = Decision.SUPPORTED, Decision.UNSUPPORTED, Decision.UNKNOWN
    results = (
        result("pipe-limit", "Up to what amount are burst pipes covered?", tags=("water", "limits"), split=Split.TUNE,
               reference="Up to 5,000 euros.", chunk_ids=("water-1", "water-9")),
        result("flood", "Are burst pipes and floods covered?", INVENTED, tags=("water",), split=Split.HELDOUT,
               said=verdict(claim(INVENTED, "Burst pipes are covered up to 5,000 euros.", good, "water-1"),
                            claim(INVENTED, "Floods are covered without limit.", bad, missing=("floods", "limit")),
                            claim(INVENTED, "The insurer is Swiss", None))),
        result("silent", "What is the excess?", "150 euros.", tags=("water",), split=Split.HELDOUT,
               said=verdict(claim("150 euros.", "150 euros.", unknown), unknown=Reason.JUDGE_TIMEOUT)),
        result("nothing", "Is my parrot insured?", "I don't know.", chunks=(), split=Split.HELDOUT, want=Want.REFUSAL,
               tags=("refusals",), refused=True,
               scores=(Score("faithfulness", None, applies=False), Score("context_recall", None, applies=False),
                       Score("refusal", 1.0))),
        ItemResult("down", 0, "Is hail covered?", error="ConnectionError", tags=("weather",), split=Split.TUNE),
        result("bike", "هل سرقة الدراجة مشمولة؟", "نعم، إذا كانت مقفلة.", tags=("theft",), split=Split.HELDOUT),
        result("whole", "Is a locked bicycle covered?", "Yes, if it was locked.", tags=("theft",), split=Split.TUNE,
               said=Verdict(good, judge="fact_check"), scores=(Score("faithfulness", 1.0), Score("context_recall", 0.5), Score("refusal", 1.0))),
        result("marks", "Is it \u202ecovered\u202c?", "It is\u200b covered.", tags=("theft", "limits"), split=Split.TUNE),
    )  # fmt: skip
    run = Run(PINS, results, len(results), "2031-05-04T09:30:00Z", calls=41, input_tokens=120_400, output_tokens=3_100)
    return replace(run, **changes)


def big(count, repeats=1):
    """A run of many items, two long passages each."""
    passage = "Burst pipes are covered up to 5,000 euros, and the excess is 150 euros per claim. " * 8
    results = tuple(
        result(
            f"item-{number:04}",
            f"Question number {number}: how much is covered?",
            INVENTED if number % 7 == 0 else "Burst pipes are covered up to 5,000 euros. The excess is 150 euros.",
            (Chunk(passage, "a", "water.md", 0.9), Chunk(passage, "b", "theft.md", 0.5)),
            verdict(
                claim(INVENTED, "Burst pipes are covered up to 5,000 euros.", Decision.SUPPORTED, "a"),
                *([claim(INVENTED, "Floods are covered without limit.", Decision.UNSUPPORTED)] * (number % 7 == 0)),
            ),
            repeat=repeat,
            tags=(f"tag-{number % 9}",),
            split=Split.TUNE if number % 2 else Split.HELDOUT,
            reference="Up to 5,000 euros.",
        )
        for number in range(count)
        for repeat in range(repeats)
    )
    return Run(replace(PINS, repeats=repeats), results, count * repeats, "2031-05-04T09:30:00Z")


def hostile(payload):
    """A run whose every text is the same."""
    said = replace(
        verdict(claim(payload, payload, Decision.UNSUPPORTED, payload, missing=(payload,)), claim("", payload, None)),
        judge=payload,
    )
    unknown = replace(verdict(unknown=Reason.JUDGE_ERROR), detail=payload, error_type=payload)
    chunk = Chunk(payload, payload, payload)
    shared = {"tags": (payload,), "reference": payload, "chunk_ids": (payload, payload + "2")}
    scores = (
        Score(payload, None, payload),
        Score("faithfulness", 0.5, verdict=said),
        Score("x" + payload, 0.2, verdict=said),
    )
    rows = (
        result(payload, payload, payload, (chunk,), said, scores=scores, **shared),
        result(payload + "b", payload, payload, (chunk,), unknown, **shared),
        ItemResult(payload + "c", 0, payload, error=payload, split=Split.TUNE, **shared),
    )
    pins = replace(
        PINS, dataset=payload, version=payload, content_hash=payload, pipeline=payload, model=payload, library=payload,
        judges={payload: payload}, judge_models=(payload,),
    )  # fmt: skip
    return insurer(results=rows, pins=pins, started=payload, stopped=payload, expected=7)
