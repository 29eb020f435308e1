"""An answer cut into stretches by its claims, and the claims tied to the chunks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundguard.evaluation.report.items import Stretch, reason_of, shown_items, shown_result, stretches
from groundguard.evaluation.results import ItemResult, Score
from groundguard.records import Chunk, Claim, Decision, Reason
from support.runs import THEFT, WATER, claim, insurer, result, verdict

GOOD, BAD, UNKNOWN = Decision.SUPPORTED, Decision.UNSUPPORTED, Decision.UNKNOWN


def test_stretches_carry_the_worst_decision_of_the_claims_that_cover_them() -> None:
    answer = "One. Two."
    claims = [
        Claim("One.", GOOD, 0, 4),
        Claim("Two.", UNKNOWN, 5, 9),
        Claim("both", BAD, 2, 7),
        Claim("aside", None, 4, 5),
    ]

    assert stretches(answer, claims) == (
        Stretch("On", (1,), GOOD),
        Stretch("e.", (1, 3), BAD, ends=(1,)),
        Stretch(" ", (3, 4), BAD, ends=(4,)),
        Stretch("Tw", (2, 3), BAD, ends=(3,)),
        Stretch("o.", (2,), UNKNOWN, ends=(2,)),
    )


def test_a_claim_that_is_not_in_the_answer_marks_nothing() -> None:
    claims = [
        Claim("x", BAD),
        Claim("x", BAD, 3, 99),
        Claim("x", BAD, -1, 2),
        Claim("x", BAD, 2, 2),
        Claim("x", BAD, 1),
    ]

    assert stretches("Answer", claims) == (Stretch("Answer"),)
    assert stretches("", claims) == ()


@given(
    st.text(),
    st.lists(st.builds(Claim, st.just("c"), st.sampled_from(Decision), st.integers(-2, 9), st.integers(-2, 9))),
)
def test_the_stretches_put_together_are_the_answer(answer: str, claims: list[Claim]) -> None:
    cut = stretches(answer, claims)

    assert "".join(each.text for each in cut) == answer
    ends = [number for each in cut for number in each.ends]
    assert len(ends) == len(set(ends))


def test_claims_and_chunks_point_at_each_other() -> None:
    said = verdict(claim("A. B.", "A.", GOOD, "theft-2", "theft-2", "water-1"), claim("A. B.", "B.", BAD, "elsewhere"))
    shown = shown_result(result("x", answer="A. B.", said=said, chunk_ids=("water-1", "lost")))

    assert [(each.number, each.chunks, each.elsewhere) for each in shown.claims] == [
        (1, (2, 1), ()),
        (2, (), ("elsewhere",)),
    ]
    assert [(each.number, each.claims, each.wanted) for each in shown.chunks] == [(1, (1,), True), (2, (1,), False)]
    assert shown.missed == ("lost",)


def test_chunks_without_ids_are_named_by_their_position() -> None:
    said = verdict(claim("A.", "A.", GOOD, "2"))

    shown = shown_result(result("x", answer="A.", chunks=(Chunk("one"), Chunk("two")), said=said))

    assert shown.claims[0].chunks == (2,)


def test_the_verdict_of_the_metric_goes_before_that_of_the_guard() -> None:
    own, metric = verdict(claim("A.", "A.", GOOD)), verdict(claim("A.", "A.", BAD))
    scored = result("x", answer="A.", said=own, scores=(Score("faithfulness", 0.0, verdict=metric),))

    assert shown_result(scored).verdict is metric
    assert shown_result(replace(scored, scores=())).verdict is own


def test_an_item_holds_all_its_repeats() -> None:
    first = result("x", chunks=(WATER, THEFT))
    again = result("x", repeat=1, said=verdict(unknown=Reason.JUDGE_TIMEOUT))

    (item,) = shown_items(insurer(results=(first, again)))

    assert (item.statuses, item.reasons) == (("answered", "ungrounded"), ("supported", "judge_timeout"))
    assert item.values == {"faithfulness": None, "context_recall": 1.0, "refusal": 1.0}
    assert item.is_unscored


@pytest.mark.parametrize(("error", "reason"), [("OSError", "OSError"), (None, "no response")])
def test_a_pipeline_that_failed_is_an_error(error: str | None, reason: str) -> None:
    failed = ItemResult("x", 0, "Q?", error=error)

    (item,) = shown_items(insurer(results=(failed,)))

    assert (item.statuses, reason_of(failed), item.results[0].answer) == (("error",), reason, ())
