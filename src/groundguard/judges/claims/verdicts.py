"""From the replies that `Claims` gets to verdicts by number, and to claims: strict, and total but for one exception."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Container
from dataclasses import dataclass
from typing import Any, NoReturn

from groundguard.fields import is_list, is_mapping
from groundguard.judges.verdicts import literal, no_repeats, shape
from groundguard.records import Decision
from groundguard.text import is_blank

_FENCED = re.compile(r"[ \t\r\n]*```\w*[ \t]*\r?\n(?P<inside>.*)\n[ \t]*```[ \t\r\n]*", re.DOTALL)

MISSING = "missing"
REPEATED = "repeated"
OTHER_WORD = "answered with another word"
NO_SUCH_PASSAGE = "supported by a passage that is not there"


class MalformedError(ValueError):
    """The reply as a whole is not what was asked for. Its message tells the shape of the reply, never its words."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a reply says about one claim.

    Attributes:
        decision: SUPPORTED, UNSUPPORTED, UNKNOWN, or None for a claim that asserts nothing.
        passages: The numbers of the passages that support it, in the reply's order.
        wrong: Why the decision is UNKNOWN.
    """

    decision: Decision | None
    passages: tuple[int, ...] = ()
    wrong: str | None = None


UNSAID = Said(Decision.UNKNOWN)
"""What is said about a claim whose call failed."""


def read_verdicts(
    text: str, numbers: Collection[int], passages: Container[int], *, constrained: bool
) -> dict[int, Said]:
    """Read the verdicts on the claims that were asked about.

    Args:
        text: The reply, `{"verdicts": [{"id": 1, "verdict": "yes", "passages": [2]}, …]}`. An entry without `passages`
            names none.
        numbers: The numbers that were asked about.
        passages: The numbers of the passages that were shown.
        constrained: Whether the server was given the schema. If not, one Markdown code fence is taken off.

    Returns:
        What is said about each of `numbers`: UNKNOWN where it is missing, repeated, answered with another word than
        `yes`, `no` and `none`, or supported by a passage that was not shown.

    Raises:
        MalformedError: if the reply is anything else, or speaks of a number that was not asked about: then every other
            number may be shifted, too.
    """
    said: defaultdict[int, list[tuple[str, tuple[int, ...]]]] = defaultdict(list)
    for entry in entries(text, "verdicts", constrained=constrained):
        number, word, cited = _verdict(entry)
        if number not in numbers:
            raise MalformedError("a verdict with a number that was not asked about")
        said[number].append((word, cited))
    return {number: _said(said[number], passages) for number in numbers}


def read_claims(text: str, statements: int, *, constrained: bool) -> tuple[tuple[int, str], ...]:
    """Read the claims that an extraction found.

    Args:
        text: The reply, `{"claims": [{"statement": 1, "claim": "…"}, …]}`.
        statements: How many statements there are; they are numbered from 1.
        constrained: As for `read_verdicts`.

    Returns:
        The number of a statement and the text of a claim, in the reply's order; repeats in one statement are merged.

    Raises:
        MalformedError: if the reply is anything else, a claim is blank or its statement is not there.
    """
    claims = [_claim(entry) for entry in entries(text, "claims", constrained=constrained)]
    if not all(1 <= number <= statements for number, _ in claims):
        raise MalformedError("a claim with the number of a statement that is not there")
    if any(is_blank(claim) for _, claim in claims):
        raise MalformedError("a claim without visible text")
    return tuple(dict.fromkeys(claims))


def _said(entries: list[tuple[str, tuple[int, ...]]], passages: Container[int]) -> Said:
    if len(entries) != 1:
        return Said(Decision.UNKNOWN, wrong=REPEATED if entries else MISSING)
    ((word, cited),) = entries
    if word.isascii() and word.lower() == "none":
        return Said(None)
    decision = literal(word)
    if decision is None:
        return Said(Decision.UNKNOWN, wrong=OTHER_WORD)
    if decision is Decision.UNSUPPORTED:
        return Said(decision)
    if not all(number in passages for number in cited):
        return Said(Decision.UNKNOWN, wrong=NO_SUCH_PASSAGE)
    return Said(decision, tuple(dict.fromkeys(cited)))


def _verdict(entry: object) -> tuple[int, str, tuple[int, ...]]:
    if not is_mapping(entry) or {*entry, "passages"} != {"id", "verdict", "passages"}:
        raise MalformedError("a verdict that has other keys than id, verdict and passages")
    number, word, cited = entry["id"], entry["verdict"], entry.get("passages", [])
    if type(number) is not int or not isinstance(word, str):
        raise MalformedError("a verdict whose id is no whole number, or whose word is no text")
    if not is_list(cited) or not all(type(each) is int for each in cited):
        raise MalformedError("a verdict whose passages are no list of whole numbers")
    return number, word, tuple(cited)


def _claim(entry: object) -> tuple[int, str]:
    if not is_mapping(entry) or set(entry) != {"statement", "claim"}:
        raise MalformedError("a claim that has other keys than statement and claim")
    number, claim = entry["statement"], entry["claim"]
    if type(number) is not int or not isinstance(claim, str):
        raise MalformedError("a claim whose statement is no whole number, or whose claim is no text")
    return number, claim


def entries(text: str, key: str, *, constrained: bool) -> list[Any]:
    """The list under the one key of a reply."""
    fenced = None if constrained else _FENCED.fullmatch(text)
    try:
        value: object = json.loads(
            fenced["inside"] if fenced else text, object_pairs_hook=no_repeats, parse_constant=_no_constant
        )
    except (ValueError, RecursionError):
        raise MalformedError(f"not one JSON object of {key}: {shape(text)}") from None
    entries: object = value[key] if is_mapping(value) and set(value) == {key} else None
    if not is_list(entries):
        raise MalformedError(f"JSON, but no object with a list of {key} and nothing else")
    return entries


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
