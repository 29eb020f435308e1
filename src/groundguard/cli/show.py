"""What people see. Text from outside is shown as text: never as markup, never as a command to the terminal."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from groundguard.records import Chunk, Claim, Decision, Reason, Response, Status, Timings
from groundguard.text import escaped, is_blank

COLOURS = {Status.ANSWERED: "bold green", Status.UNGROUNDED: "bold red", Status.NO_CONTEXT: "bold yellow"}

REASONS = {
    Reason.SUPPORTED: "the judge found the whole answer in the chunks",
    Reason.UNSUPPORTED: "the answer says something that the chunks do not",
    Reason.VERDICT_MALFORMED: "the judge replied, but not with a verdict; `groundguard doctor` shows what it says",
    Reason.JUDGE_REFUSED: "the judge refused to judge this",
    Reason.JUDGE_FILTERED: "the provider's content filter stopped the judge",
    Reason.JUDGE_TRUNCATED: "the judge's prompt or reply was cut, so its verdict counts for nothing",
    Reason.JUDGE_TIMEOUT: "the judge took too long; --timeout gives it more time",
    Reason.JUDGE_RATE_LIMITED: "the judge's server is rate-limiting; try again later",
    Reason.JUDGE_ERROR: "the judge failed, so nothing was checked",
    Reason.NO_CHUNKS: "nothing was retrieved, so there was nothing to check against",
    Reason.BLANK_CHUNKS: "every chunk is blank, so there was nothing to check against",
    Reason.RETRIEVAL_NOT_OBSERVED: "nobody reported any chunks, so nothing was checked",
    Reason.EMPTY_ANSWER: "the answer is blank",
}
"""Every reason in a few words."""

MUCH = 400
"""Characters of a chunk that are shown."""

QUOTED = "the answer quotes the documents; whether it answers the question is for you to see"

_OPENAI = "https://api.openai.com/v1"
_USER = re.compile(r"(?<=//)[^/@]*@")
_HARMLESS = frozenset("\n\u200c\u200d")


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let the command decide, where rich would exit with 1."""
        raise BrokenPipeError


def out() -> Console:
    """Where results go."""
    return _Console(highlight=False, markup=False, emoji=False)


def err() -> Console:
    """Where everything else goes."""
    return _Console(stderr=True, highlight=False, markup=False, emoji=False)


def print_json(value: Any) -> None:  # any JSON value
    """One line of strict JSON in ASCII, on stdout, at once."""
    sys.stdout.write(as_json(value) + "\n")
    sys.stdout.flush()


def as_json(value: Any) -> str:  # any JSON value
    """Strict JSON in ASCII, on one line: lone surrogates survive as escapes, NaN is refused."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def visible(text: str) -> str:
    """`text` with control and bidirectional characters as escapes; line breaks stay, a tab becomes spaces."""
    text = text.replace("\r\n", "\n").replace("\t", "    ")
    return "".join(character if _is_safe(character) else escaped(character) for character in text)


def cut(text: str, most: int = MUCH) -> str:
    """`text`, or its beginning and how much is left out."""
    return text if len(text) <= most else f"{text[:most]} [... {len(text) - most} more characters]"


def paragraph(console: Console, text: str, style: str = "", indent: int = 2) -> None:
    """Print text with an indent; wrapped in a terminal, and line by line anywhere else."""
    shown = Text(visible(text), style=style)
    if console.is_terminal:
        console.print(Padding(shown, (0, 0, 0, indent), expand=False))
        return
    for part in shown.split("\n", allow_blank=True):
        line(console, Text(" " * indent) + part if part else part)


def line(console: Console, text: Text) -> None:
    """Print one line of styled text; wrapped in a terminal only."""
    console.print(text, soft_wrap=not console.is_terminal)


def show_label(console: Console, response: Response[Any], indent: int = 0) -> None:
    """Print the status and the reason in words, and what the judge found wrong."""
    label = Text(" " * indent).append(response.status.value, COLOURS[response.status])
    line(console, label.append(f"  {REASONS[response.reason]} ({response.reason.value})"))
    verdict = response.verdict
    if verdict is None:
        return
    if verdict.decision is Decision.UNKNOWN and verdict.detail:
        paragraph(console, explained(verdict.error_type, verdict.detail), "dim", indent + 2)
    for claim in verdict.claims:
        if claim.decision in {Decision.UNSUPPORTED, Decision.UNKNOWN}:
            paragraph(console, f"- {cut(claim.text)} ({_against(claim)})", "red", indent + 2)


def explained(error_type: str | None, detail: str) -> str:
    """What went wrong; if there was no connection, to which server."""
    if error_type == "APIConnectionError":
        url = _USER.sub("", os.environ.get("OPENAI_BASE_URL") or _OPENAI)
        return f"no connection to {url}: start a server there, or set OPENAI_BASE_URL to where one listens"
    return cut(detail)


def _against(claim: Claim) -> str:
    """What speaks against a claim. Its words may be in the chunks all the same: far apart, or saying something else."""
    if claim.decision is Decision.UNKNOWN:
        return "the judge gave no verdict on it"
    if claim.missing:
        return f"the closest passage lacks or contradicts: {cut(', '.join(claim.missing))}"
    if claim.score is None:
        return "no passage supports it"
    return "the closest passage has these words, but says something else"


def show_answer(console: Console, response: Response[Any], indent: int = 0) -> None:
    """Print the answer, or that there is none."""
    if is_blank(response.answer):
        paragraph(console, "(no answer)", "dim", indent)
    else:
        paragraph(console, response.answer, "bold", indent)


def show_response(response: Response[Any], judged_by: str, *, quoted: bool = False) -> None:
    """Print everything a person wants to know about a response.

    Args:
        response: The response.
        judged_by: The judge, in words.
        quoted: Whether the answer consists of quotes, which are always supported and may be beside the point.
    """
    console = out()
    show_answer(console, response)
    console.print()
    show_label(console, response)
    if quoted and response.status is Status.ANSWERED:
        paragraph(console, QUOTED, "dim", 0)
    if response.verdict is not None:
        paragraph(console, f"judged by {judged_by}", "dim", 0)
    for chunk in response.chunks:
        console.print()
        _show_chunk(console, chunk)
    console.print()
    paragraph(console, took(response.timings), "dim", 0)


def took(timings: Timings) -> str:
    """What each stage took."""
    stages = {"retrieval": timings.retrieval, "generation": timings.generation, "judge": timings.judge}
    parts = [f"{name} {_seconds(seconds)}" for name, seconds in stages.items() if seconds is not None]
    return f"took {_seconds(timings.total or 0.0)}" + (f" ({', '.join(parts)})" if parts else "")


def _show_chunk(console: Console, chunk: Chunk) -> None:
    score = "" if chunk.score is None else f"  score {chunk.score:.2f}"
    paragraph(console, f"{chunk.source or chunk.id or 'chunk'}{score}", "cyan", 2)
    paragraph(console, cut(chunk.text.strip("\n")), "", 4)


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def _is_safe(character: str) -> bool:
    category = unicodedata.category(character)
    return character in _HARMLESS or not (category[0] == "C" or category in {"Zl", "Zp"})
