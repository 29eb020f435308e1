"""The sample set and its chains: each seeded fault is found by the metric that should find it, and only by that."""

import functools
import re
from itertools import chain as flat

import pytest

from groundguard import Guard
from groundguard.evaluation.golden import SAMPLE, Want, load
from groundguard.evaluation.golden.sample import chain
from groundguard.evaluation.panel import Stage, diagnose_run, panel
from groundguard.evaluation.results import ItemResult
from groundguard.judges import Lexical
from support.panel import Reader

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

FIVE = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "refusal")


def words(text):
    return set(re.findall(r"[a-z]{4,}|[0-9]+", text.lower()))


def reader(item):
    """A model that knows what the item is about, and what its chains say when they decline."""
    known = words(item.question) | words(item.answer or "")
    return Reader(
        relevant=lambda statement: statement != chain.REFUSAL and len(words(statement) & known) >= 2,
        declines=lambda answer: answer == chain.REFUSAL,
    )


def results(name, *, by_model):
    for item in load(SAMPLE).items:
        answer, chunks = getattr(chain, name)(item.question)
        response = Guard(Lexical()).check(item.question, answer=answer, chunks=chunks)
        whole = panel(reader(item), Lexical(), context="ids") if by_model else panel(judge=Lexical())
        yield ItemResult(item.id, 0, item.question, response, scores=whole(item, response), want=item.want)


@functools.cache
def measured(name, *, by_model):
    found = list(results(name, by_model=by_model))
    scores = list(flat.from_iterable(result.scores for result in found))
    values = {
        metric: [score.value for score in scores if score.metric == metric and score.value is not None]
        for metric in FIVE
    }
    return {metric: sum(each) / len(each) for metric, each in values.items() if each}, diagnose_run(found)


def test_the_sound_chain_has_no_fault_anywhere():
    means, found = measured("good", by_model=True)
    assert means == pytest.approx(dict.fromkeys(FIVE, 1.0), abs=0.1)
    assert (found.answers, dict(found.unknown)) == (60, {})


@pytest.mark.parametrize(
    ("name", "metric", "stage", "others"),
    [
        ("misses_evidence", "context_recall", Stage.MISSES_EVIDENCE, ["refusal"]),
        (
            "loud_retriever",
            "context_precision",
            Stage.LOUD,
            ["faithfulness", "answer_relevancy", "context_recall", "refusal"],
        ),
        ("invents", "faithfulness", Stage.INVENTS, ["context_precision", "context_recall", "refusal"]),
        (
            "answers_another_question",
            "answer_relevancy",
            Stage.ANOTHER_QUESTION,
            ["faithfulness", "context_precision", "context_recall", "refusal"],
        ),
        (
            "never_refuses",
            "refusal",
            Stage.DECLINES_TOO_LITTLE,
            ["faithfulness", "answer_relevancy", "context_precision", "context_recall"],
        ),
    ],
)
def test_each_fault_lowers_its_metric_and_is_named(name, metric, stage, others):
    good, _ = measured("good", by_model=True)
    means, found = measured(name, by_model=True)
    assert means[metric] <= good[metric] - 0.15
    assert found.stage is stage
    wanted = Want.REFUSAL if stage is Stage.DECLINES_TOO_LITTLE else Want.ANSWER
    assert found.first[stage] >= 0.6 * sum(item.want is wanted for item in load(SAMPLE).items)
    if name != "misses_evidence":
        assert {other: means[other] for other in others} == pytest.approx(
            {other: good[other] for other in others}, abs=0.05
        )


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("good", None),
        ("misses_evidence", Stage.MISSES_EVIDENCE),
        ("loud_retriever", Stage.LOUD),
        ("invents", Stage.INVENTS),
        ("answers_another_question", None),
        ("never_refuses", None),
    ],
)
def test_without_a_model_three_of_five_are_found_and_the_others_are_said_to_be_unknown(name, stage):
    _, found = measured(name, by_model=False)
    assert found.stage is stage
    assert (found.unknown["answer_relevancy"], found.unknown["refusal"]) == (50, 60)
