"""Documents cut into chunks: along headings and paragraphs, so that one chunk says one thing. No text is lost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from groundguard.quickstart.documents import Document
from groundguard.records import Chunk

SMALL = 200
"""Characters below which a chunk takes in the paragraph after it, if both stand under the same heading."""
LARGE = 800
"""Characters above which a paragraph is cut: at a line, a sentence, a space, in this order."""

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_CUTS = (re.compile(r"\n"), re.compile(r"[.!?](?=\s)\s*|[\u3002\uff01\uff1f]"), re.compile(r"\s"))


@dataclass(slots=True)
class _Block:
    """A run of lines without a blank one between them, and the headings above it."""

    heading: str
    line: int
    lines: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def split(documents: Iterable[Document]) -> tuple[Chunk, ...]:
    """Cut documents into chunks of about 200 to 800 characters.

    The headings above a chunk are its first line, as in `Refunds > Time limits`, and its `metadata["heading"]`, so that
    retriever, generator and judge all know what a paragraph is about. The id reads `refunds.md#2`, the source
    `refunds.md:12` with the line where the chunk begins.
    """
    return tuple(chunk for document in documents for chunk in _chunks(document))


def body(chunk: Chunk) -> str:
    """The text of a chunk without the line of headings that `split` put before it."""
    return chunk.text.removeprefix(f"{chunk.metadata.get('heading')}\n\n")


def _chunks(document: Document) -> Iterator[Chunk]:
    pieces = _packed(piece for block in _blocks(document.text) for piece in _pieces(block))
    for number, block in enumerate(pieces, 1):
        above = [block.heading] if block.heading else []
        yield Chunk(
            text="\n\n".join([*above, block.text] if block.text else above),
            id=f"{document.path}#{number}",
            source=f"{document.path}:{block.line}",
            metadata={"heading": block.heading, "line": block.line},
        )


def _blocks(text: str) -> Iterator[_Block]:
    """The paragraphs of a text; a heading with nothing below it is a block without lines."""
    above: list[tuple[int, str]] = []
    block, fence, unused = _Block("", 1), "", False
    for number, line in enumerate(text.split("\n"), 1):
        heading = None if fence else _HEADING.match(line)
        if heading:
            level = len(heading[1])
            if block.lines or (unused and above[-1][0] >= level):
                yield block
            above = [*(item for item in above if item[0] < level), (level, _title(heading[2]))]
            block, unused = _Block(_path(above), number), True
        elif line.strip() or fence:
            fence = _fence(line, fence)
            block = block if block.lines else _Block(block.heading, number)
            block.lines.append(line)
            unused = False
        elif block.lines:
            yield block
            block = _Block(block.heading, number)
    if block.lines or unused:
        yield block


def _title(text: str | None) -> str:
    return re.sub(r"[ \t]+#+[ \t]*$", "", text or "").strip()


def _path(above: Iterable[tuple[int, str]]) -> str:
    return " > ".join(title for _, title in above if title)


def _fence(line: str, fence: str) -> str:
    """The mark of the code block that is open after `line`."""
    mark = _FENCE.match(line)
    if not mark:
        return fence
    if not fence:
        return mark[1]
    return "" if mark[1].startswith(fence) else fence


def _pieces(block: _Block) -> Iterator[_Block]:
    """The block itself, or its pieces if it is too large."""
    text, line = block.text, block.line
    while len(text) > LARGE:
        at = _cut(text)
        yield _Block(block.heading, line, text[:at].split("\n"))
        line += text.count("\n", 0, at)
        text = text[at:]
    yield _Block(block.heading, line, text.split("\n") if text else [])


def _cut(text: str) -> int:
    """Where to cut a text that is too large: the last good place that leaves enough before it."""
    for pattern in _CUTS:
        ends = [match.end() for match in pattern.finditer(text, SMALL, LARGE)]
        if ends:
            return ends[-1]
    return LARGE


def _packed(blocks: Iterable[_Block]) -> Iterator[_Block]:
    """Small blocks joined with the next one under the same heading."""
    held: _Block | None = None
    for block in blocks:
        if held is None:
            held = block
        elif held.heading == block.heading and len(held.text) < SMALL and len(held.text) + len(block.text) < LARGE:
            held.lines += ["", *block.lines]
        else:
            yield held
            held = block
    if held is not None:
        yield held
