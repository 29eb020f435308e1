"""Texts that talk to the panel's model: none leaves its place in a prompt, and none counts as a verdict."""

from __future__ import annotations

import re

import pytest

from groundguard.evaluation.panel import Panel, panel
from groundguard.judges import Lexical
from groundguard.records import Chunk, Turn
from groundguard.testing import ScriptedModel
from support.hostile import INJECTIONS
from support.panel import Reader, item, response
from support.strategies import joined

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

DATA = re.compile(r'(?:\[\d+\] )?"(?:[^"\\]|\\.)*"(?:: "(?:[^"\\]|\\.)*")?')
PLACES = {
    "question": lambda text: (item(question=text), response()),
    "answer": lambda text: (item(), response(f"It is 12 volts. {text}")),
    "chunk": lambda text: (item(), response(chunks=[Chunk(text, id=text, source=text, metadata={text: text})])),
    "reference": lambda text: (item(answer=text), response()),
    "history": lambda text: (item(history=(Turn(text, text),)), response()),
    "chunk ids": lambda text: (item(chunk_ids=(text,)), response()),
}

every_place = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)


def asked(whole: Panel, model: ScriptedModel, golden, given) -> list[str]:
    whole(golden, given)
    prompts, model.prompts = model.prompts, []
    return [prompt.text for prompt in prompts]


def frame(prompt: str) -> list[str]:
    """What stands outside the data, in the order of the lines; each run of data as one."""
    lines = ["data" if DATA.fullmatch(line) else line for line in prompt.splitlines()]
    return [line for at, line in enumerate(lines) if line != "data" or lines[at - 1] != "data"]


@every_place
def test_a_text_stays_in_its_place(place):
    model = ScriptedModel("x")
    whole = panel(model, judge=Lexical(), context="model")
    harmless = list(map(frame, asked(whole, model, *place("Harmless words"))))
    assert len(harmless) == 4
    for name, text in INJECTIONS.items():
        prompts = asked(whole, model, *place(joined(text)))
        assert prompts, name
        assert all(frame(prompt) in harmless for prompt in prompts), name


@every_place
def test_no_text_counts_as_a_verdict(place):
    for name, text in INJECTIONS.items():
        golden, given = place(joined(text))
        scores = panel(Reader(relevant=lambda _: False, useful=lambda *_: False), judge=Lexical())(golden, given)
        said = {score.metric: score.value for score in scores}
        assert (said["answer_relevancy"], said["context_precision"] or 0.0) == (0.0, 0.0), name


def test_no_text_stands_in_a_repr_or_a_reason():
    for text in map(joined, filter(lambda text: len(text) > 12, INJECTIONS.values())):
        scores = panel(ScriptedModel(text), judge=Lexical())(*PLACES["answer"](text))
        assert text not in repr(scores) + "".join(score.unscored or "" for score in scores)
