"""Five chains with one fault each, over a small set about a fictional insurer: each is found by its own metric."""

import pytest

from groundguard import Guard
from groundguard.evaluation.golden.items import GoldenItem, Want
from groundguard.evaluation.panel import Stage, diagnose_run, panel
from groundguard.evaluation.results import ItemResult
from groundguard.judges import Claims, Lexical
from groundguard.records import Chunk
from support.doors import both_doors
from support.panel import Reader

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

FACTS = {
    "water": ("What does the water cover pay?", "The water cover pays up to 9000 euros a year."),
    "theft": ("When must a theft be reported?", "A theft must be reported within 48 hours."),
    "storm": ("Which wind counts as a storm?", "A storm is a wind of force 8 or more."),
    "glass": ("What is the excess for glass?", "The excess for glass is 150 euros a case."),
}
NOISE = tuple(Chunk(f"The branch in street {at} opens at nine.", id=f"noise-{at}") for at in range(4))
SORRY = "Our documents do not say that."
ITEMS = [
    *(GoldenItem(id_, question, fact, chunk_ids=(id_,)) for id_, (question, fact) in FACTS.items()),
    GoldenItem("moon", "Is damage on the moon covered?", want=Want.REFUSAL),
]
WANTED = {item.question: item for item in ITEMS}
STREETS = "The branch in street 0 opens at nine."


def evidence(question):
    return [Chunk(item.answer, id=item.id) for item in [WANTED[question]] if item.answer]


def good_retriever(question):
    return [*evidence(question), *NOISE[:2]]


def good_generator(question, chunks):
    return next((chunk.text for chunk in chunks if chunk.text == WANTED[question].answer), SORRY)


def never_refuses(question, chunks):
    said = good_generator(question, chunks)
    return "Yes, damage on the moon is covered up to 5 million euros." if said == SORRY else said


CHAINS = {
    "fine": (good_retriever, good_generator),
    "misses evidence": (lambda question: NOISE, good_generator),
    "loud": (lambda question: [*NOISE, *evidence(question)], good_generator),
    "invents": (
        good_retriever,
        lambda question, chunks: f"It pays {len(question)} thousand dollars." if evidence(question) else SORRY,
    ),
    "another question": (
        good_retriever,
        lambda question, chunks: STREETS if evidence(question) else SORRY,
    ),
    "never refuses": (good_retriever, never_refuses),
}


class Judge(Reader):
    """Reads like a person would who knows the questions."""

    def __init__(self):
        super().__init__(
            relevant=lambda statement: "branch" not in statement and statement != SORRY,
            declines=lambda answer: answer == SORRY,
        )


def evaluate(door, kind, make):
    retriever, generator = CHAINS[kind]
    whole, judge = make()
    guard = Guard(judge, retriever=retriever, generator=generator)
    results = []
    for item in ITEMS:
        response = door.ask(guard, item.question)
        scores = door.call(whole.acall if door.is_async else whole, item, response)
        results.append(ItemResult(item.id, 0, item.question, response, scores=scores, want=item.want))
    return results


def means(results):
    values = {}
    for result in results:
        for score in result.scores:
            if score.value is not None:
                values.setdefault(score.metric, []).append(score.value)
    return {metric: sum(found) / len(found) for metric, found in values.items()}


def by_model():
    reader = Judge()
    return panel(reader), Claims(reader)


def by_ids():
    reader = Judge()
    return panel(reader, context="ids"), Claims(reader)


def offline():
    return panel(judge=Lexical()), Lexical()


FINE = dict.fromkeys(["faithfulness", "answer_relevancy", "context_precision", "context_recall", "refusal"], 1.0)


@both_doors
@pytest.mark.parametrize("make", [by_model, by_ids])
@pytest.mark.parametrize(
    ("kind", "stage", "low"),
    [
        ("fine", None, {}),
        (
            "misses evidence",
            Stage.MISSES_EVIDENCE,
            dict.fromkeys(["context_recall", "context_precision", "answer_relevancy", "faithfulness"], 0.0)
            | {"refusal": 0.2},
        ),
        ("loud", Stage.LOUD, {"context_precision": 0.2}),
        ("invents", Stage.INVENTS, {"faithfulness": 0.0}),
        ("another question", Stage.ANOTHER_QUESTION, {"answer_relevancy": 0.0}),
        ("never refuses", Stage.DECLINES_TOO_LITTLE, {"refusal": 0.8, "faithfulness": 0.8}),
    ],
)
def test_each_fault_is_found_by_the_metric_that_should_find_it(door, make, kind, stage, low):
    results = evaluate(door, kind, make)
    assert means(results) == pytest.approx({**FINE, **low})
    assert diagnose_run(results).stage is stage


@both_doors
@pytest.mark.parametrize(
    ("kind", "stage"),
    [("misses evidence", Stage.MISSES_EVIDENCE), ("loud", Stage.LOUD), ("invents", Stage.INVENTS_OR_DECLINES)],
)
def test_without_a_model_what_needs_none_is_found_and_the_rest_is_left_unknown(door, kind, stage):
    found = diagnose_run(evaluate(door, kind, offline))
    assert found.stage is stage
    assert (found.unknown["answer_relevancy"], found.unknown["refusal"]) == (4, 5)
