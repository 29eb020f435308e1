"""What content may leave the process: none, unless the environment says so."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

from groundguard.errors import warn_once
from groundguard.telemetry import names

_MODES = {
    "NO_CONTENT": (False, False),
    "SPAN_ONLY": (True, False),
    "EVENT_ONLY": (False, True),
    "SPAN_AND_EVENT": (True, True),
}
_SHOWN = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Content:
    """What content may leave the process, and where.

    Attributes:
        on_spans: Whether spans may carry content.
        in_events: Whether log events may.
        question: Whether the question may leave.
        answer: Whether the answer may.
        chunks: Whether the chunks may, with ids, sources and metadata.
        prompt: Whether what a judge's model was sent may: it holds all three.
        reply: Whether what a judge said may: it may quote all three.
    """

    on_spans: bool = False
    in_events: bool = False
    question: bool = False
    answer: bool = False
    chunks: bool = False
    prompt: bool = False
    reply: bool = False


NOTHING = Content()


def captured() -> Content:
    """What the environment allows at this moment."""
    on_spans, in_events = _MODES[_mode()]
    if not (on_spans or in_events):
        return NOTHING
    question, answer = not _hidden("INPUTS", "INPUT_TEXT"), not _hidden("OUTPUTS", "OUTPUT_TEXT")
    chunks = not _hidden("OUTPUTS", "RETRIEVAL_DOCUMENTS")
    everything = question and answer and chunks
    return Content(
        on_spans,
        in_events,
        question,
        answer,
        chunks,
        prompt=everything and not _hidden("INPUT_MESSAGES", "PROMPTS"),
        reply=everything and not _hidden("OUTPUT_MESSAGES", "CHOICES"),
    )


def _mode() -> str:
    said = os.environ.get(names.CAPTURE, "").strip().upper() or "NO_CONTENT"
    if said in _MODES:
        return said
    with contextlib.suppress(Exception):  # a warning made an error must not reach the caller either
        warn_once(f"{names.CAPTURE} is none of {', '.join(_MODES)}: it means NO_CONTENT", "capture")
    return "NO_CONTENT"


def _hidden(*what: str) -> bool:
    """Whether one of the variables that hide content is set, to whatever but a clear no."""
    return any(os.environ.get(names.HIDE + name, "").strip().lower() not in _SHOWN for name in what)
