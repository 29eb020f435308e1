"""groundguard: the RAG guardrail that never calls an unchecked answer checked.

Start with `Guard`; judges are in `groundguard.judges`, policies in `groundguard.policy`, models in
`groundguard.models`, fakes for tests in `groundguard.testing`.
"""

from groundguard.capture import Capture, record_chunks
from groundguard.errors import GroundguardError, UngroundedError
from groundguard.guard import Guard
from groundguard.records import Chunk, Decision, Exchange, Reason, Response, Status, Verdict
from groundguard.retry import Retry

__all__ = [
    "Capture",
    "Chunk",
    "Decision",
    "Exchange",
    "GroundguardError",
    "Guard",
    "Reason",
    "Response",
    "Retry",
    "Status",
    "UngroundedError",
    "Verdict",
    "record_chunks",
]
