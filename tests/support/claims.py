"""Replies of a model that judges or draws claims, and a model that reads which claims it is asked about."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

Word = str | tuple[str, list[int]]


def verdicts(*words: Word, first: int = 1) -> str:
    """One verdict for each number from `first` on: a word, or a word and the passages that support the claim."""
    pairs = [(word, []) if isinstance(word, str) else word for word in words]
    return json.dumps(
        {"verdicts": [{"id": at, "verdict": word, "passages": cited} for at, (word, cited) in enumerate(pairs, first)]}
    )


def claims(*pairs: tuple[int, str]) -> str:
    """Claims, each with the number of its statement."""
    return json.dumps({"claims": [{"statement": number, "claim": claim} for number, claim in pairs]})


def asked_about(prompt: str, name: str = "claims") -> dict[int, str]:
    """The numbered claims (or statements, or passages) of a prompt."""
    block = re.search(rf"^<{name}>\n(.*?)\n</{name}>$", prompt, re.DOTALL | re.MULTILINE)
    lines = [] if block is None else re.findall(r"^\[(\d+)\] (.*)$", block[1], re.MULTILINE)
    return {int(number): json.loads(text) for number, text in lines}


def reading(decide: Callable[[str], str], seen: list[str] | None = None) -> Callable[[str], str]:
    """A model, for either door, that decides each claim it is asked about by its text; `seen` keeps the prompts."""

    def model(prompt: str) -> str:
        if seen is not None:
            seen.append(prompt)
        entries: list[dict[str, Any]] = [
            {"id": number, "verdict": decide(text), "passages": []} for number, text in asked_about(prompt).items()
        ]
        return json.dumps({"verdicts": entries})

    return model
