"""What became of the chunks, as people met it: each test is named after the report it answers."""

import json
from types import SimpleNamespace

import pytest

from groundguard.guard import Guard
from groundguard.judges import FactCheck, Lexical, Window
from groundguard.models import Reply
from groundguard.records import Reason, Status, Usage
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever

ANSWER = "It takes three minutes."
WINDOW = Window(2_000, count=lambda text: len(text.split()))
UNDIVIDED = Window(2_000, count=lambda text: len(text.split()), split=False)
TINY = Window(40, count=lambda text: len(text.split()))


def asked(judge, chunks, answer=ANSWER):
    guard = Guard(judge, retriever=ScriptedRetriever(chunks), generator=ScriptedGenerator(answer))
    response = guard.ask("How long does it take?")
    assert response.answer == answer
    return response


@pytest.mark.parametrize("chunks", [[""], ["", " \n"], ["\u200b", "\ufeff"], ["\u3164"]])
def test_ctx_blank_grounding_is_an_api_error(chunks):
    judge = ScriptedJudge(ValueError("the passages are blank"))
    response = asked(judge, chunks)
    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.BLANK_CHUNKS)
    assert response.verdict is None
    assert judge.exchanges == []


@pytest.mark.parametrize("chunks", [[], (), None, iter([])])
def test_ctx_empty_and_made_up_answer(chunks):
    judge = ScriptedJudge(True)
    response = asked(judge, chunks, "It was written by the harbour master.")
    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.NO_CHUNKS)
    assert judge.exchanges == []


@pytest.mark.parametrize("answer", ["The door code is Curlew-31.", "The door code is Dunlin-88."])
def test_ctx_judge_window_silently_cut(answer):
    chunks = ["FACT: the door code is Curlew-31.", " ".join(["filler"] * 8_000)]
    model = ScriptedModel(Reply("yes", "stop", usage=Usage(1_987, 1)))
    response = asked(FactCheck(model), chunks, answer)
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.JUDGE_TRUNCATED)
    assert response.verdict.detail.startswith("the judge saw a cut prompt: 1987 tokens reported")
    assert response.verdict.raw == "yes"
    assert json.dumps(chunks[0])[1:-1] in model.prompts[0].user
    whole = ScriptedModel(Reply("yes", "stop", usage=Usage(9_500, 1)))
    assert asked(FactCheck(whole), chunks, answer).status is Status.ANSWERED


@pytest.mark.parametrize(
    ("answer", "status"),
    [("The door code is Curlew-31.", Status.ANSWERED), ("The door code is Dunlin-88.", Status.UNGROUNDED)],
)
@pytest.mark.parametrize("at", [0, 1])
def test_ctx_judge_window_silently_cut_is_never_reached_where_it_is_known(answer, status, at):
    prompts = []

    def keeps_the_last_words(prompt):
        prompts.append(prompt)
        seen = " ".join(prompt.split()[-2_000:])
        wanted = answer.split()[-1]
        affirms = "contradict the answer?" not in prompt and wanted in seen.split("</passages>")[0]
        return "yes" if affirms else "no"

    chunks = ["Nothing is said here of doors. " * 1_400]
    chunks.insert(at, "FACT: the door code is Curlew-31.")
    response = asked(FactCheck(keeps_the_last_words, window=WINDOW), chunks, answer)
    assert response.status is status
    assert len(prompts) > 4
    assert max(len(prompt.split()) for prompt in prompts) <= 2_000
    shown = " ".join(prompt.split("<passages>")[1].split("</passages>")[0] for prompt in prompts)
    assert shown.count("Nothing is said here of doors.") >= 1_400
    assert "Curlew-31" in shown


@pytest.mark.parametrize("window", [UNDIVIDED, TINY], ids=["not to be split", "smaller than the question"])
def test_ctx_judge_window_silently_cut_is_said_where_nothing_fits(window):
    model = ScriptedModel("yes")
    response = asked(FactCheck(model, window=window), ["FACT: it takes three minutes.", "filler. " * 8_000])
    assert (response.status, response.reason) == (Status.UNGROUNDED, Reason.JUDGE_TRUNCATED)
    assert response.verdict.detail == f"the prompt does not fit into the window of {window.tokens} tokens"
    assert model.prompts == []


class Odd:
    @property
    def text(self):
        raise RuntimeError("no text here")


@pytest.mark.parametrize(
    "found",
    [
        {"text": None, "metadata": {"title": "Kettle sheet", "page": 3}},
        {"metadata": {"title": "only"}},
        {"text": 12, "metadata": {}},
        SimpleNamespace(page_content=None, metadata={"title": "Kettle sheet"}),
        SimpleNamespace(metadata=None),
        Odd(),
        object(),
        5,
        None,
    ],
    ids=lambda found: type(found).__name__,
)
def test_ctx_missing_text_field(found):
    response = asked(ScriptedJudge(True), [found])
    assert (response.status, response.reason) == (Status.NO_CONTEXT, Reason.BLANK_CHUNKS)
    assert len(response.chunks) == 1


def test_ctx_missing_text_field_raised_by_the_chain_itself():
    error = KeyError("text")
    guard = Guard(ScriptedJudge(True), retriever=ScriptedRetriever(error), generator=ScriptedGenerator(ANSWER))
    with pytest.raises(KeyError) as caught:
        guard.ask("How long does it take?")
    assert caught.value is error


@pytest.mark.parametrize("order", [["p1", "p2", "p3"], ["p3", "p1", "p2"], ["p1", "p1", "p2"]])
def test_ctx_order_kept(order):
    model = ScriptedModel("yes")
    judge = FactCheck(model)
    for _ in range(2):
        response = asked(judge, order)
        assert [chunk.text for chunk in response.chunks] == order
    first, second = model.prompts
    assert first == second
    passages = first.user.split("</passages>")[0].splitlines()[1:]
    assert passages == [f'[{number}] "{text}"' for number, text in enumerate(order, 1)]


# ctx-more-passages-change-the-verdict: KRLabsOrg/LettuceDetect#11


@pytest.mark.parametrize("before", [0, 3, 9])
@pytest.mark.parametrize("after", [0, 3, 9])
@pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")
def test_more_passages_do_not_change_the_verdict(before, after):
    told = "The nightly backup may be skipped on Fridays."
    distractors = [
        f"{topic} are counted in hall {n} by team {n} every morning. " * 25 for n, topic in enumerate(TOPICS)
    ]
    chunks = [*distractors[:before], told, *distractors[9 - after :]]
    guard = Guard(Lexical())
    assert guard.check("When?", answer=told, chunks=chunks).status == "answered"
    assert guard.check("When?", answer="Backups are no longer encrypted.", chunks=chunks).status == "ungrounded"


TOPICS = ("Pallets", "Ladders", "Gloves", "Trolleys", "Helmets", "Batteries", "Ropes", "Keys", "Barrels")
