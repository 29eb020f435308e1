"""From an answer to its statements: locally, deterministically, and with nothing lost.

Every character of the answer that shows something belongs to exactly one statement, and the offsets are exact, so a
caller can mark, drop or number statements without a gap through which a claim could slip.

What a statement is:

- Prose: a sentence. A line break ends it, unless it only wraps a long line: the next line goes on in lower case, or
  with a word that had no room before the break.
- List item: its sentences. The marker (`-`, `1.`, `(a)`, `•`, `一、`) belongs to the first of them.
- Table row: the whole line, header and delimiter row included; rows begin with `|`, or stand about a delimiter row.
- Heading: the whole line, behind `#` or above a line of `=`. A line of marks alone is a statement too.
- Code: a fenced block from fence to fence, as one statement. A span in backticks or an address is never cut.
- Block quote: its sentences; each line keeps its `>`. Quoted speech is part of the sentence that quotes it: it isn't
  cut inside the marks, nor after them where the sentence goes on (`“Go!” he said`, `「行こう。」と言った`).

What ends a sentence, in every script at once, since a text may mix them:

- A full stop, question or exclamation mark of any script: the Chinese and Japanese ones also without a space behind
  them, the danda, the Arabic and Urdu ones. A colon or a semicolon ends none, full width or not.
- A full stop ends none behind a title, an abbreviation, an initial or a German ordinal. There is no sure way to tell
  the language of a short text, so the abbreviations of English, German, French, Spanish, Hindi and Arabic count
  everywhere. One that may close a sentence (`etc.`, `U.S.`, `p.m.`) does so if the next word looks like a beginning.
- In doubt nothing is cut: two sentences in one statement are judged together, but no judge can check half of one.
- Marks without a word, such as an emoji behind the last sentence, belong to the sentence before them.
- A sentence of thousands of characters is cut between words, or between characters where no space is in reach.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from groundguard.judges.statements.blocks import blocks
from groundguard.judges.statements.sentences import sentences
from groundguard.text import is_invisible

__all__ = ["Statement", "statements"]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of an answer.

    Attributes:
        text: Its text, as it stands in the answer.
        start: Offset of its first character in the answer.
        end: Offset after its last character.
    """

    text: str = field(repr=False)
    start: int
    end: int


def statements(answer: str) -> tuple[Statement, ...]:
    """Split an answer into its statements: sentences, table rows, headings and blocks of code, as the module says.

    Args:
        answer: Any text, in any script.

    Returns:
        The statements in order, without the blanks around them. They don't overlap, every visible character of the
        answer is in one of them, and `answer[start:end]` is the text of each.
    """
    trimmed = (_trim(answer, start, end) for start, end in _spans(answer))
    return tuple(Statement(answer[start:end], start, end) for start, end in trimmed if start < end)


def _spans(answer: str) -> Iterator[tuple[int, int]]:
    for start, end, prose in blocks(answer):
        if prose:
            yield from sentences(answer, start, end)
        else:
            yield start, end


def _trim(answer: str, start: int, end: int) -> tuple[int, int]:
    while start < end and is_invisible(answer[start]):
        start += 1
    while start < end and is_invisible(answer[end - 1]):
        end -= 1
    return start, end
