"""Rows of deepeval: goldens as `EvaluationDataset.save_as` and `Synthesizer.save_as` write them, and camel case.

`context` is the ground truth; `retrieval_context` and `actual_output` are what a pipeline did. In CSV and JSON Lines
the contexts are one string with `|` between them.
"""

from __future__ import annotations

from groundguard.evaluation.golden.foreign import Reader, mapping, optional, question
from groundguard.evaluation.golden.items import GoldenItem, Origin
from groundguard.evaluation.golden.located import Record
from groundguard.evaluation.golden.tables import texts
from groundguard.records import Chunk

_QUESTION = ("input", "scenario")
_ANSWER = ("expected_output", "expectedOutput")
_SOURCE = ("source_file", "sourceFile")
_MORE = ("additional_metadata", "additionalMetadata")
_GENERATED = frozenset({"evolutions", "synthetic_input_quality", "context_quality"})


def _item(record: Record, delimiter: str) -> GoldenItem:
    if record.values.get("scenario") is not None:
        raise record.wrong("a conversational golden: it has a scenario and no question, so it can't be imported")
    more, source = mapping(record, _MORE), optional(record, _SOURCE)
    about = {"name": optional(record, ("name",)), "comments": optional(record, ("comments",)), "source_file": source}
    return GoldenItem(
        id="",
        question=question(record, _QUESTION[:1]),
        answer=optional(record, _ANSWER),
        chunks=tuple(
            Chunk(text, source=source) for text in texts(record, record.values.get("context"), "context", delimiter)
        ),
        origin=Origin.SYNTHETIC if source or _GENERATED & more.keys() else Origin.HUMAN,
        metadata={**more, **{name: value for name, value in about.items() if value is not None}},
    )


READER = Reader(_QUESTION, frozenset((*_QUESTION, *_ANSWER, *_SOURCE, *_MORE, "context", "name", "comments")), _item)
"""How rows of deepeval are read."""
