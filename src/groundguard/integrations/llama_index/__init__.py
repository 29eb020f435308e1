"""LlamaIndex: query engines and chat engines whose every answer is judged and labelled.

Everything is recognised by its attributes; LlamaIndex itself is never imported. The chunks are the response's own
`source_nodes`, which its postprocessors have filtered and reordered, with the text that stands in the prompt. They come
with the response and before its first piece, and an empty list of them is a report: nothing was found.
"""

from groundguard.integrations.llama_index.engines import (
    GuardedChatEngine,
    GuardedEngine,
    GuardedQueryEngine,
    guard_engine,
    is_engine,
)

__all__ = ["GuardedChatEngine", "GuardedEngine", "GuardedQueryEngine", "guard_engine", "is_engine"]
