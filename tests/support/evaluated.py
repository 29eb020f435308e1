"""A run that can be killed: a pipeline, a judge and a metric that write every call into a log, as a process of its own.

`python -m support.evaluated LOG STORE OUTPUT ITEMS [KEY=VALUE ...]`, with `tests` on the path.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from groundguard import Guard
from groundguard.evaluation.golden.items import GoldenItem, GoldenSet
from groundguard.evaluation.panel import AnswerRelevancy, Faithfulness, Panel
from groundguard.evaluation.results import Run
from groundguard.evaluation.runner.files import write_run
from groundguard.evaluation.runner.run import evaluate
from groundguard.judges import FactCheck
from groundguard.models import Reply
from groundguard.records import Usage

KINDS = ("pipeline", "judge", "relevancy")
"""The calls that an item takes, in both repeats."""


def golden(items: int) -> GoldenSet:
    """Items whose number stands in question and answer."""
    return GoldenSet(
        "kill",
        "1",
        tuple(GoldenItem(f"item {n}", f"What is number {n}?", answer=f"Number {n} is red.") for n in range(items)),
    )


class Log:
    """One line a call when it begins and when it ends, appended so that no kill tears it."""

    def __init__(self, path: str, seconds: float) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._seconds = seconds

    def call(self, kind: str, text: str) -> None:
        """Note a call about the number that stands in a text."""
        number = next(word for word in text.replace("?", " ").split() if word.isdigit())
        os.write(self._file, f"begin {kind} {number}\n".encode())
        time.sleep(self._seconds)
        os.write(self._file, f"end {kind} {number}\n".encode())


def judged(log: Log, kind: str, said: str):
    """A model that says one thing, but falls silent about every seventh number."""

    def model(prompt: str) -> Reply:
        text = prompt[prompt.rindex("What is number") :]
        log.call(kind, text)
        number = int(text.split()[3].rstrip('?"\\'))
        return Reply(said if number % 7 else "hm", "stop", usage=Usage(len(prompt), 1), model="fake-1")

    return model


def run(log: str, store: str, items: int, *, seconds: float = 0.0, **options) -> Run:
    """Evaluate; what is in `options` goes to `evaluate`."""
    calls = Log(log, seconds)

    def pipeline(question: str):
        calls.call("pipeline", question)
        number = int(question.split()[3].rstrip("?"))
        if number % 11 == 0:
            raise LookupError(number)
        return f"Number {number} is red.", [f"Number {number} is red."]

    judge = FactCheck(judged(calls, "judge", "yes"))
    relevancy = AnswerRelevancy(judged(calls, "relevancy", '{"verdicts": [{"id": 1, "verdict": "yes"}]}'))
    return evaluate(
        golden(items),
        pipeline,
        judge=Guard(judge, timeout=None),
        panel=Panel([Faithfulness(judge), relevancy], timeout=None),
        store=store,
        resume=True,
        **options,
    )


if __name__ == "__main__":
    log_path, store_path, output, count, *given = sys.argv[1:]
    found = run(
        log_path,
        store_path,
        int(count),
        **{key: float(value) if key == "seconds" else int(value) for key, value in (pair.split("=") for pair in given)},
    )
    write_run(found, output)
    Path(f"{output}.canonical").write_bytes(found.canonical())
