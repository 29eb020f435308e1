"""Items and responses for the panel, and a model that reads what a metric asks it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from groundguard import Chunk, Response, Verdict
from groundguard.chunks import freeze
from groundguard.evaluation.golden.items import GoldenItem, Want
from groundguard.records import ChunksFrom, Decision
from groundguard.status import label
from support.claims import asked_about

QUESTION = "What voltage does the lamp need?"
REFERENCE = "The lamp runs on 12 volts."


def item(**fields: Any) -> GoldenItem:
    """An item that wants an answer, or with `refusal=True` none."""
    want = Want.REFUSAL if fields.pop("refusal", False) else Want.ANSWER
    return GoldenItem(**{"id": "q1", "question": QUESTION, "answer": REFERENCE, "want": want, **fields})


def response(
    generated: str = REFERENCE,
    chunks: object = (REFERENCE,),
    *,
    verdict: Verdict | None = None,
    delivered: str | None = None,
    observed: bool = True,
) -> Response[Any]:
    """A response as a guard labels it."""
    frozen = freeze(chunks)
    status, reason = label(frozen, generated, verdict, observed=observed)
    source = ChunksFrom.GIVEN if observed else ChunksFrom.NOT_OBSERVED
    answer = generated if delivered is None else delivered
    return Response(answer, generated, status, reason, verdict, QUESTION, frozen, source)


def named(*ids: str | None) -> tuple[Chunk, ...]:
    """Chunks by their ids, each with a text of its own."""
    return tuple(Chunk(f"Passage {at}.", id=id_) for at, id_ in enumerate(ids, 1))


def words(*verdicts: str, first: int = 1) -> str:
    """One verdict a number."""
    return json.dumps({"verdicts": [{"id": at, "verdict": word} for at, word in enumerate(verdicts, first)]})


Decide = Callable[[str], bool]


@dataclass
class Reader:
    """A model that answers every question of the panel by rules on the texts it finds in the prompt.

    Args:
        relevant: Whether a statement addresses the question.
        declines: Whether an answer declines.
        supported: Whether the passages support a claim: by default, if it stands in one of them word for word.
        useful: Whether a passage is useful: by default, if the reference answer stands in it or it in that.
    """

    relevant: Decide = lambda statement: True
    declines: Decide = lambda answer: False
    supported: Callable[[str, Sequence[str]], bool] = lambda claim, passages: any(claim in each for each in passages)
    useful: Callable[[str, str], bool] = lambda passage, reference: passage in reference or reference in passage
    prompts: list[str] = field(default_factory=list)

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        passages = asked_about(prompt, "passages")
        if "<statements>" in prompt:
            said = {number: self.relevant(text) for number, text in asked_about(prompt, "statements").items()}
        elif "<reference>" in prompt:
            said = {number: self.useful(text, _one(prompt, "reference")) for number, text in passages.items()}
        elif "<claims>" in prompt:
            texts = list(passages.values())
            said = {number: self.supported(claim, texts) for number, claim in asked_about(prompt).items()}
        else:
            return "yes" if self.declines(_one(prompt, "answer")) else "no"
        return json.dumps({"verdicts": [{"id": at, "verdict": "yes" if yes else "no"} for at, yes in said.items()]})


def _one(prompt: str, name: str) -> str:
    found = re.search(rf"^<{name}>\n(.*)\n</{name}>$", prompt, re.MULTILINE)
    assert found is not None
    text: str = json.loads(found[1])
    return text


SUPPORTED, UNSUPPORTED, UNKNOWN = Decision.SUPPORTED, Decision.UNSUPPORTED, Decision.UNKNOWN
