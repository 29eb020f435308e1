"""groundguard: the RAG guardrail that never calls an unchecked answer checked.

Start with `Guard`; judges are in `groundguard.judges`, policies in `groundguard.policy`, models in
`groundguard.models`, fakes for tests in `groundguard.testing`.

A name is loaded when it is first used (PEP 562): the pytest plugin makes every test run of an environment import this
package, and one that guards nothing shall not pay for it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundguard.capture import Capture, record_chunks
    from groundguard.errors import GroundguardError, UngroundedError
    from groundguard.guard import Guard
    from groundguard.records import Chunk, Decision, Exchange, Reason, Response, Status, Verdict
    from groundguard.retry import Retry
else:  # type checkers read the imports above, and report a name that is not there

    def __getattr__(name: str) -> object:
        """Load a name, or a part of the package, at its first use."""
        from importlib import import_module  # noqa: PLC0415  # and not before

        if name in _PARTS:
            return import_module(f"groundguard.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"groundguard.{_HOMES[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *_PARTS})


_HOMES = {
    "Capture": "capture",
    "Chunk": "records",
    "Decision": "records",
    "Exchange": "records",
    "GroundguardError": "errors",
    "Guard": "guard",
    "Reason": "records",
    "Response": "records",
    "Retry": "retry",
    "Status": "records",
    "UngroundedError": "errors",
    "Verdict": "records",
    "record_chunks": "capture",
}
"""Where each name stands."""

_PARTS = frozenset(
    {
        "conversation",
        "errors",
        "evaluation",
        "integrations",
        "judges",
        "models",
        "policy",
        "records",
        "streaming",
        "testing",
    }
)
"""What `import groundguard` alone gives access to, as `groundguard.judges`."""

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
