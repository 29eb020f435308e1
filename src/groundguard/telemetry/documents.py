"""The chunks that a retriever found, in the forms that Phoenix and MLflow read.

Phoenix reads `retrieval.documents.*` and the JSON of `gen_ai.retrieval.documents`; MLflow's scorers read the output of
the RETRIEVER span, a list of `page_content` and `metadata.doc_uri`. Without content a document is its score, and a
digest instead of its id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from groundguard.fields import is_list, is_mapping, plain
from groundguard.records import Chunk, evidence_digest
from groundguard.telemetry import names
from groundguard.telemetry.capture import Content
from groundguard.telemetry.content import Shown
from groundguard.telemetry.values import LIMIT, as_json, text

MOST_DOCUMENTS = 20
"""How many documents one span describes; `groundguard.evidence.count` has the number of all."""

_EACH = LIMIT // 4
_MOST_ITEMS = 64


def found(question: str, chunks: Sequence[Chunk], content: Content) -> Shown:
    """The attributes of a retrieval."""
    first = chunks[:MOST_DOCUMENTS]
    shown = content.on_spans and content.chunks
    attributes: Shown = {}
    for index, chunk in enumerate(first):
        attributes |= _shown(chunk, index) if shown else _hidden(chunk, index)
    if content.on_spans and content.question:
        attributes |= text(names.QUERY_TEXT, question)
    return {**attributes, **(_lists(first) if shown else {})}


def _hidden(chunk: Chunk, index: int) -> Shown:
    return {_name(index, "id"): f"sha256:{evidence_digest([chunk])[:16]}", _name(index, "score"): chunk.score}


def _shown(chunk: Chunk, index: int) -> Shown:
    about = _known({"source": chunk.source, **plain(chunk.metadata)})
    metadata = as_json(_name(index, "metadata"), lambda most: _short(about, most), 0, _EACH) if about else {}
    return {
        _name(index, "id"): chunk.id,
        _name(index, "score"): chunk.score,
        **metadata,
        **text(_name(index, "content"), chunk.text, _EACH),
    }


def _name(index: int, part: str) -> str:
    return names.DOCUMENT.format(index=index, part=part)


def _lists(first: Sequence[Chunk]) -> Shown:
    longest = max((len(chunk.text) for chunk in first), default=0)
    return {
        **as_json(names.DOCUMENTS, lambda most: [_short(_document(chunk), most) for chunk in first], longest),
        **as_json(names.OUTPUT_VALUE, lambda most: [_short(_page(chunk), most) for chunk in first], longest),
        names.OUTPUT_MIME: names.JSON,
    }


def _document(chunk: Chunk) -> dict[str, Any]:
    return _known({"id": chunk.id, "score": chunk.score, "content": chunk.text})


def _page(chunk: Chunk) -> dict[str, Any]:
    uri = chunk.source if chunk.source is not None else chunk.id
    return {"page_content": chunk.text, "metadata": _known({"doc_uri": uri, "chunk_id": chunk.id})}


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _short(value: Any, most: int) -> Any:
    """A JSON value of short texts and small collections; the names that we chose ourselves stay whole."""
    if isinstance(value, str):
        return value[:most]
    few = min(most, _MOST_ITEMS)
    if is_mapping(value):
        return {str(key)[: max(most, 16)]: _short(item, most) for key, item in list(value.items())[: max(few, 4)]}
    return [_short(item, most) for item in value[:few]] if is_list(value) else value
