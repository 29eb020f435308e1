"""The nouns that travel along the path of a query. All are frozen values; none does anything."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar, cast

from groundguard.fields import (
    built,
    choose,
    collect,
    entries,
    expect,
    freeze,
    joined,
    listed,
    measure,
    plain,
    plain_fields,
    reading,
)
from groundguard.text import is_blank

T_co = TypeVar("T_co", covariant=True)


class Status(StrEnum):
    """What the guard reports for a response. There are three, for ever."""

    ANSWERED = "answered"
    """A judge affirmed support for this answer on these chunks."""
    UNGROUNDED = "ungrounded"
    """The judge said anything else, or failed."""
    NO_CONTEXT = "no_context"
    """Nothing was retrieved; the judge was not asked."""


class Decision(StrEnum):
    """What a judge said."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"
    """The judge failed, was cut, timed out or said something else."""


class Reason(StrEnum):
    """Why a response has its status. A closed list; none is ever renamed."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    VERDICT_MALFORMED = "verdict_malformed"
    JUDGE_REFUSED = "judge_refused"
    JUDGE_FILTERED = "judge_filtered"
    JUDGE_TRUNCATED = "judge_truncated"
    JUDGE_TIMEOUT = "judge_timeout"
    JUDGE_RATE_LIMITED = "judge_rate_limited"
    JUDGE_ERROR = "judge_error"
    NO_CHUNKS = "no_chunks"
    BLANK_CHUNKS = "blank_chunks"
    RETRIEVAL_NOT_OBSERVED = "retrieval_not_observed"
    EMPTY_ANSWER = "empty_answer"


JUDGE_FAILURES = frozenset(
    reason for reason in Reason if reason.startswith("judge_") or reason is Reason.VERDICT_MALFORMED
)
"""The reasons of an UNKNOWN verdict: the judge could not say."""


class ChunksFrom(StrEnum):
    """Where the chunks of a response come from."""

    RETRIEVER = "retriever"
    """The guard's own retriever; exact."""
    GIVEN = "given"
    """Handed to `check`; exact."""
    RETURNED = "returned"
    """The pair `(answer, chunks)` that the function returned; exact."""
    OUTPUT = "output"
    """A key or extractor of the chain's output; exact."""
    RECORDED = "recorded"
    """`record_chunks(...)` below the guard; exact."""
    EVENTS = "events"
    """LangChain's retriever events: an observation, not exact."""
    NOT_OBSERVED = "not_observed"
    """Nobody reported any chunks."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One retrieved passage.

    Attributes:
        text: The passage itself.
        id: The retriever's name for it, if any.
        source: Where it comes from: a path, a URL.
        score: The retriever's score, on the retriever's own scale; finite, or None.
        metadata: JSON values; anything else becomes its `str`. Read-only.
    """

    text: str = field(repr=False)
    id: str | None = field(default=None, repr=False)
    source: str | None = field(default=None, repr=False)
    score: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False, hash=False)

    def __post_init__(self) -> None:
        expect(self, str, "text")
        expect(self, str | None, "id", "source")
        expect(self, Mapping, "metadata")
        measure(self, "score")
        object.__setattr__(self, "metadata", freeze(self.metadata))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Chunk(<{len(self.text)} characters>, score={self.score})"

    def __reduce__(self) -> tuple[type[Chunk], tuple[Any, ...]]:
        return type(self), (self.text, self.id, self.source, self.score, plain(self.metadata))


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message of a conversation: shown to a judge to resolve "it" and "that", never as evidence."""

    role: str = field(repr=False)
    content: str = field(repr=False)

    def __post_init__(self) -> None:
        expect(self, str, "role", "content")


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a judge is asked about: is `answer` supported by `chunks`?"""

    question: str = field(repr=False)
    chunks: tuple[Chunk, ...]
    answer: str = field(repr=False)
    history: tuple[Turn, ...] = ()

    def __post_init__(self) -> None:
        expect(self, str, "question", "answer")
        collect(self, Chunk, "chunks")
        collect(self, Turn, "history")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server reported them; None where it did not, never an estimate."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    def __post_init__(self) -> None:
        expect(self, int | None, "input_tokens", "output_tokens")

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
        )


def total_usage(parts: Iterable[Usage | None]) -> Usage | None:
    """The tokens of several calls, or None if no server reported any; a call that reported none adds nothing."""
    known = [part for part in parts if part is not None]
    return functools.reduce(Usage.__add__, known) if known else None


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer, and what the judge made of it.

    Attributes:
        text: The statement.
        decision: The judge's word on it; None if it asserts no fact.
        start: Offset in the answer where it begins, or where the statement begins that it was drawn from; None if it
            can't be found there.
        end: Offset after its last character.
        chunk_ids: The chunks that support it: their ids if every chunk has one of its own, else their positions from 1.
        missing: What the chunks lack: words, numbers, names.
        score: How well it is supported, 0 to 1, if the judge knows.
    """

    text: str = field(repr=False)
    decision: Decision | None
    start: int | None = None
    end: int | None = None
    chunk_ids: tuple[str, ...] = field(default=(), repr=False)
    missing: tuple[str, ...] = field(default=(), repr=False)
    score: float | None = None

    def __post_init__(self) -> None:
        expect(self, str, "text")
        expect(self, int | None, "start", "end")
        collect(self, str, "chunk_ids", "missing")
        measure(self, "score", least=0, most=1)
        if self.decision is not None:
            choose(self, Decision, "decision")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said about one exchange.

    Attributes:
        decision: SUPPORTED, UNSUPPORTED or UNKNOWN.
        reason: Why; follows from the decision, but for UNKNOWN, where it defaults to `judge_error`.
        score: 0 to 1, or None if the judge gives none.
        claims: The statements it looked at, if it looks at statements.
        raw: The reply as it came, in memory only: never in `repr`, never in telemetry by default.
        detail: What went wrong, in words; may quote an error message.
        error_type: Name of the exception's class, if one was raised.
        judge: Name of the judge.
        fingerprint: Covers kind, prompt, model name and settings of the judge.
        prompt_version: Version of the prompt, if there was one.
        prompt_hash: SHA-256 of the prompt's constant parts, if there was one.
        model: The model's name as the server reported it.
        usage: Tokens as the server reported them.
        calls: How many calls of a model, of a scorer (one a batch) or of a function of yours it took, retries included;
            of a member, without its retries.
        seconds: How long the judgement took.
        members: What each judge said that this one asked, in order: each with its own cost and time.
        calls_saved: How many judges did not need asking, since an earlier one was sure.
    """

    decision: Decision
    reason: Reason = cast("Reason", None)  # noqa: RUF009  # a cast does nothing
    score: float | None = None
    claims: tuple[Claim, ...] = ()
    raw: str | None = field(default=None, repr=False)
    detail: str | None = field(default=None, repr=False)
    error_type: str | None = None
    judge: str | None = None
    fingerprint: str | None = None
    prompt_version: str | None = None
    prompt_hash: str | None = field(default=None, repr=False)
    model: str | None = None
    usage: Usage | None = None
    calls: int = 0
    seconds: float | None = None
    members: tuple[Verdict, ...] = ()
    calls_saved: int = 0

    def __post_init__(self) -> None:
        choose(self, Decision, "decision")
        allowed = _REASONS[self.decision]
        if cast("Reason | None", self.reason) is None:
            object.__setattr__(self, "reason", allowed[0])
        choose(self, Reason, "reason")
        if self.reason not in allowed:
            raise ValueError(f"a verdict that is {self.decision} can't have the reason {self.reason}")
        expect(self, str | None, "raw", "detail", "error_type", "judge", "fingerprint")
        expect(self, str | None, "prompt_version", "prompt_hash", "model")
        expect(self, Usage | None, "usage")
        expect(self, int, "calls", "calls_saved")
        collect(self, Claim, "claims")
        collect(self, Verdict, "members")
        measure(self, "score", least=0, most=1)
        measure(self, "seconds")

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON values."""
        return plain_fields(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Verdict:
        """The verdict back from `to_dict()`; raises `InputError` on anything else."""
        with reading("a verdict"):
            names = [f.name for f in fields(cls)]
            values = entries("Verdict", data, ("decision", "claims", "usage", "members"), names)
            values["claims"] = tuple(built(Claim, claim) for claim in listed(values, "claims"))
            values["usage"] = None if values["usage"] is None else built(Usage, values["usage"])
            values["members"] = tuple(cls.from_dict(member) for member in listed(values, "members"))
            return cls(**values)


_REASONS: Mapping[Decision, tuple[Reason, ...]] = {
    Decision.SUPPORTED: (Reason.SUPPORTED,),
    Decision.UNSUPPORTED: (Reason.UNSUPPORTED,),
    Decision.UNKNOWN: (Reason.JUDGE_ERROR, *sorted(JUDGE_FAILURES - {Reason.JUDGE_ERROR})),
}

_REASONS_OF_STATUS: Mapping[Status, frozenset[Reason]] = {
    Status.ANSWERED: frozenset({Reason.SUPPORTED}),
    Status.UNGROUNDED: JUDGE_FAILURES | {Reason.UNSUPPORTED, Reason.EMPTY_ANSWER},
    Status.NO_CONTEXT: frozenset({Reason.NO_CHUNKS, Reason.BLANK_CHUNKS, Reason.RETRIEVAL_NOT_OBSERVED}),
}


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds each stage took; None for a stage that did not run."""

    retrieval: float | None = None
    generation: float | None = None
    judge: float | None = None
    total: float | None = None

    def __post_init__(self) -> None:
        measure(self, "retrieval", "generation", "judge", "total")


@dataclass(frozen=True, slots=True)
class Attempt:
    """An earlier generated text of the same query, and how it was judged.

    Attributes:
        generated: The text.
        status: Its status.
        reason: Why that status.
        verdict: The judge's verdict on it; None if no judge was asked.
        removed: What was cut from it to make the next text; empty if that was generated anew.
    """

    generated: str = field(repr=False)
    status: Status
    reason: Reason
    verdict: Verdict | None = None
    removed: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        expect(self, str, "generated")
        expect(self, Verdict | None, "verdict")
        collect(self, str, "removed")
        check_label(self, visible=not is_blank(self.generated))


@dataclass(frozen=True, slots=True)
class Response(Generic[T_co]):
    """A labelled answer.

    `status`, `reason` and `verdict` describe `generated`; `answer` is what the policy delivers.

    Attributes:
        answer: The delivered text.
        generated: The generator's text, which was judged.
        status: `answered`, `ungrounded` or `no_context`.
        reason: Why that status.
        verdict: The judge's verdict; None if no judge was asked.
        question: The question.
        chunks: The chunks that the generator saw and the judge was given: the same tuple.
        chunks_from: Who reported them.
        chunks_exact: Whether they are known to be what the generator saw.
        attempts: Earlier generated texts, oldest first.
        timings: Seconds per stage.
        output: What the wrapped chain returned, untouched. In this process only: left out of `to_dict`, pickle and
            equality.
    """

    answer: str = field(repr=False)
    generated: str = field(repr=False)
    status: Status
    reason: Reason
    verdict: Verdict | None
    question: str = field(repr=False)
    chunks: tuple[Chunk, ...] = field(repr=False)
    chunks_from: ChunksFrom
    chunks_exact: bool = True
    attempts: tuple[Attempt, ...] = ()
    timings: Timings = field(default_factory=Timings, repr=False)
    output: T_co = field(default=cast("T_co", None), repr=False, compare=False)

    def __post_init__(self) -> None:
        expect(self, str, "answer", "generated", "question")
        expect(self, Verdict | None, "verdict")
        expect(self, bool, "chunks_exact")
        expect(self, Timings, "timings")
        collect(self, Chunk, "chunks")
        collect(self, Attempt, "attempts")
        choose(self, ChunksFrom, "chunks_from")
        check_label(self, visible=not is_blank(self.generated))
        seen = self.chunks_from is not ChunksFrom.NOT_OBSERVED and not all(is_blank(c.text) for c in self.chunks)
        if self.status is Status.ANSWERED and not seen:
            raise ValueError("`answered` needs visible chunks")
        if self.status is Status.ANSWERED and self.answer != self.generated:
            raise ValueError("`answered` delivers the text that was judged, and no other")

    @property
    def usage(self) -> Usage | None:
        """Tokens of the judgement as the server reported them; None if it did not."""
        return None if self.verdict is None else self.verdict.usage

    @property
    def removed(self) -> tuple[str, ...]:
        """The statements that were cut away to make `generated`, in the order in which they went."""
        return tuple(statement for attempt in self.attempts for statement in attempt.removed)

    @property
    def evidence_digest(self) -> str:
        """SHA-256 over the chunk texts in order, each as UTF-8 after its length in 8 bytes, big-endian."""
        return evidence_digest(self.chunks)

    def to_dict(self) -> dict[str, Any]:
        """The response as JSON values, without `output`."""
        data = plain_fields(self)
        del data["output"]
        return data | {"usage": plain(self.usage), "evidence_digest": self.evidence_digest}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:
        """For pydantic and what builds on it, such as FastAPI: a mapping as `to_dict` writes it."""
        from pydantic_core import core_schema as schema  # noqa: PLC0415  # whoever calls this has loaded it

        written = schema.plain_serializer_function_ser_schema(cls.to_dict, return_schema=schema.dict_schema())
        read = schema.no_info_after_validator_function(cls.from_dict, schema.dict_schema())
        either = schema.json_or_python_schema(read, schema.union_schema([schema.is_instance_schema(cls), read]))
        return {**either, "serialization": written}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Response[None]:
        """The response back from `to_dict()`; raises `InputError` on anything else, a wrong digest included."""
        with reading("a response"):
            written = [f.name for f in fields(Response) if f.name != "output"]
            names = (*written, "usage", "evidence_digest")
            values = entries("Response", data, names, names)
            digest = values.pop("evidence_digest")
            values.pop("usage")
            values["chunks"] = tuple(built(Chunk, chunk) for chunk in listed(values, "chunks"))
            values["verdict"] = _verdict(values["verdict"])
            values["attempts"] = tuple(_attempt(attempt) for attempt in listed(values, "attempts"))
            values["timings"] = built(Timings, values["timings"])
            response: Response[None] = Response(**values, output=None)
            if response.evidence_digest != digest:
                raise ValueError("the chunks don't match evidence_digest")
            return response

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Response, tuple(getattr(self, f.name) for f in fields(self) if f.name != "output")


def evidence_digest(chunks: Iterable[Chunk]) -> str:
    """SHA-256 over the chunk texts in order, each as UTF-8 after its length in 8 bytes, big-endian."""
    digest = hashlib.sha256()
    for chunk in chunks:
        encoded = joined(chunk.text).encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()


def _verdict(data: Mapping[str, Any] | None) -> Verdict | None:
    return None if data is None else Verdict.from_dict(data)


def _attempt(data: Mapping[str, Any]) -> Attempt:
    names = [f.name for f in fields(Attempt)]
    values = entries("Attempt", data, ("generated", "status", "reason", "verdict"), names)
    values["verdict"] = _verdict(values["verdict"])
    return Attempt(**values)


class _Labelled(Protocol):
    @property
    def status(self) -> Status: ...

    @property
    def reason(self) -> Reason: ...

    @property
    def verdict(self) -> Verdict | None: ...


def check_label(record: _Labelled, *, visible: bool = True) -> None:
    """Make a `Status` and a `Reason` of these fields; raises `ValueError` unless they and the verdict go together.

    Args:
        record: What is labelled.
        visible: Whether the text that was judged is visible, where the record has one.
    """
    choose(record, Status, "status")
    choose(record, Reason, "reason")
    if record.reason not in _REASONS_OF_STATUS[record.status]:
        raise ValueError(f"a status of {record.status} can't have the reason {record.reason}")
    affirmed = record.verdict is not None and record.verdict.decision is Decision.SUPPORTED
    if record.status is Status.ANSWERED and not (affirmed and visible):
        raise ValueError("`answered` needs a SUPPORTED verdict on a visible answer")
