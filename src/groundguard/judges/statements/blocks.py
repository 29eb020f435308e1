"""From a text to its blocks: paragraphs, list items, headings, table rows, code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

MARKER = re.compile(
    r"\s*+(?:>\s*+)*+"
    r"(?:(?:[-*+•‣◦▪·●○■◆\u2013]|[(\uff08]?(?:\d{1,3}|[A-Za-z])[.)])\s++"
    r"|(?:[(\uff08]?(?:\d{1,3}|[A-Za-z]|[一二三四五六七八九十]{1,3})[\uff09\u3001\uff0e]|[\u2460-\u2473・※])\s*+)"
    r"|\s*+>\s*+"
)
"""What stands before a list item or a quoted line."""

_FENCE = re.compile(r"\s*+(?:>\s*+)*+(`{3,}+(?![^\n]*`)|~{3,}+)")
_QUOTE = re.compile(r"\s*+(?:>\s?)++")
_WHOLE = re.compile(r"\s*+(?:>\s*+)*+(?:#{1,6}\s|\|)|[^\w]++\Z")
_DELIMITER = re.compile(r"\s*+\|?+\s*+:?-++:?+\s*+(?:\|\s*+:?-++:?+\s*+)++\|?+\s*+\Z")
_UNDERLINE = re.compile(r"\s*+=++\s*+\Z")
_FIRST = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff]|\S++")

_SHORT_LINE = 40


def blocks(answer: str) -> Iterator[tuple[int, int, bool]]:
    """Runs of lines that belong together, without a gap: start, end, and whether they are prose."""
    lines = answer.splitlines(keepends=True)
    fence, start, end, previous, table = "", 0, 0, "", False
    for line, following in pairwise([*lines, ""]):
        begin, end = end, end + len(line)
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                yield start, end, False
                fence, start, previous = "", end, ""
            continue
        table = "|" in line and (table or bool(_DELIMITER.match(following)))
        whole = not mark and (table or _is_whole(line, following))
        if begin > start and (whole or not _wraps(previous, line)):
            yield start, begin, True
            start = begin
        if whole:
            yield start, end, False
            start = end
        fence, previous = mark[1] if mark else "", line
    if start < end:
        yield start, end, not fence


def _is_whole(line: str, following: str) -> bool:
    """Whether a line is a heading, a table row, or marks alone."""
    return bool(_WHOLE.match(line) or (_UNDERLINE.match(following) and not MARKER.match(line)))


def _wraps(previous: str, line: str) -> bool:
    """Whether the break between two lines only wraps a long line of prose, quoted or not."""
    quoted, quoting = _QUOTE.match(line), _QUOTE.match(previous)
    if quoted and quoting and quoted[0].split() == quoting[0].split():
        previous, line = previous[quoting.end() :], line[quoted.end() :]
    before, after = previous.strip(), line.strip()
    if len(before) < _SHORT_LINE or not after or MARKER.match(line) or _FENCE.match(line):
        return False
    return not (_begins(after[0]) and len(before) + 1 + len(_FIRST.findall(after[:_SHORT_LINE])[0]) <= len(after))


def _begins(letter: str) -> bool:
    """Whether a line may begin a sentence. It doesn't go on with one if its first word had room on the line before."""
    return not (letter.islower() or letter.isdecimal())
