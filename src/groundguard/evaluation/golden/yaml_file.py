"""YAML on its way in: plain data only, no aliases, no tags, no key twice; every item knows its line."""

from __future__ import annotations

import importlib
import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groundguard.errors import UsageError
from groundguard.evaluation.golden.files import read_text
from groundguard.evaluation.golden.located import DEEPEST, Record, kind, wrong
from groundguard.fields import is_list

_BREAK = re.compile(r"\r\n?|\n")
_TAGGED = "a tag (!name): golden sets hold plain values only"
_TAG = "tag:yaml.org,2002:"


def records_of_yaml(path: Path) -> Iterator[Record]:
    """The header, then every item.

    Raises:
        InputError: if the file is anything but a mapping whose key `items` holds a list of mappings.
        UsageError: if PyYAML isn't installed.
    """
    text = read_text(path)
    lines = _Lines(text)
    top = _Reader(path, lines).mapping(_composed(path, text, lines), "the file")
    items = top.values.get("items", [])
    if not is_list(items):
        raise top.wrong(f"items must be a list, not {kind(items)}", "items")
    header = {key: value for key, value in top.values.items() if key != "items"}
    yield Record(top.file, top.line, header, top.lines)
    yield from items


def yaml() -> Any:
    """The library PyYAML, at first need.

    Raises:
        UsageError: if it isn't installed.
    """
    try:
        return importlib.import_module("yaml")
    except ModuleNotFoundError as error:
        raise UsageError('a golden set in YAML needs PyYAML: pip install "groundguard-rag[eval]"') from error


class _Lines:
    """Which line a place of the text is on. YAML's own count takes U+2028 and the like for ends of lines."""

    def __init__(self, text: str) -> None:
        self.starts = [found.end() for found in _BREAK.finditer(text)]

    def __call__(self, mark: Any) -> int:
        return bisect_right(self.starts, mark.index) + 1


def _composed(path: Path, text: str, lines: _Lines) -> Any:
    """The tree of nodes, before anything is made of them."""
    library = yaml()
    try:
        loader = library.SafeLoader(text)
        loader.compose_node = _bounded(path, lines, loader, loader.compose_node)
        return loader.get_single_node()
    except library.reader.ReaderError as error:
        raise wrong(path, text.count("\n", 0, error.position) + 1, "a character that YAML doesn't allow") from None
    except library.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise wrong(path, lines(mark), f"not YAML: {error.problem or error.context}") from None


def _bounded(path: Path, lines: _Lines, loader: Any, compose: Any) -> Any:
    """The loader's own step, without aliases (a few lines of them make billions of items), and not too deep."""
    depth = 0

    def compose_node(parent: object, index: object) -> Any:
        nonlocal depth
        event = loader.peek_event()
        line = lines(event.start_mark)
        if isinstance(event, yaml().AliasEvent):
            raise wrong(path, line, "an alias (*name): write the value out")
        if depth == DEEPEST:
            raise wrong(path, line, "nested too deeply")
        depth += 1
        node = compose(parent, index)
        depth -= 1
        return node

    return compose_node


class _Reader:
    """Plain values from nodes. An item of the list `items` stays a record with its lines."""

    def __init__(self, path: Path, lines: _Lines) -> None:
        self.path, self.line = path, lines
        self.constructor = yaml().constructor.SafeConstructor()

    def mapping(self, node: Any, what: str) -> Record:
        """A mapping with the lines of its keys."""
        line = 1 if node is None else self.line(node.start_mark)
        if node is None or node.id != "mapping":
            raise wrong(self.path, line, f"{what} must be a mapping")
        self.untagged(node, "map")
        values, lines = dict[str, Any](), dict[str, int]()
        for key, value in node.value:
            name = self.key(key, values)
            lines[name] = self.line(key.start_mark)
            values[name] = self.items(value) if what == "the file" and name == "items" else self.value(value)
        return Record(str(self.path), line, values, lines)

    def items(self, node: Any) -> Any:
        if node.id != "sequence":
            return self.value(node)
        self.untagged(node, "seq")
        return [self.mapping(item, "an item") for item in node.value]

    def key(self, node: Any, before: dict[str, Any]) -> str:
        line = self.line(node.start_mark)
        if node.id != "scalar" or node.tag not in {f"{_TAG}str", f"{_TAG}merge", f"{_TAG}value"}:
            raise wrong(self.path, line, "a key must be a string")
        if node.value in before:
            raise wrong(self.path, line, "a key stands twice in the same mapping")
        return str(node.value)

    def untagged(self, node: Any, name: str) -> None:
        if node.tag != f"{_TAG}{name}":
            raise wrong(self.path, self.line(node.start_mark), _TAGGED)

    def value(self, node: Any) -> Any:
        if node.id == "sequence":
            self.untagged(node, "seq")
            return [self.value(item) for item in node.value]
        if node.id == "mapping":
            self.untagged(node, "map")
            values = dict[str, Any]()
            for key, value in node.value:
                values[self.key(key, values)] = self.value(value)
            return values
        return self.scalar(node)

    def scalar(self, node: Any) -> Any:
        """Text, a number, a truth value or nothing; a date stays the text that it is."""
        line, name = self.line(node.start_mark), node.tag.removeprefix(_TAG)
        if name in {"str", "timestamp", "merge", "value"}:
            return node.value
        if name not in {"null", "bool", "int", "float"}:
            raise wrong(self.path, line, _TAGGED)
        try:
            value = self.constructor.construct_object(node)
        except (ValueError, KeyError):
            raise wrong(self.path, line, "a number that can't be read: put it in quotes") from None
        if isinstance(value, float) and not math.isfinite(value):
            raise wrong(self.path, line, "a number that is not finite")
        return value
