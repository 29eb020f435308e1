"""`gen_ai.evaluation.result`: one log event a verdict, parented to the query that was judged."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry._logs import SeverityNumber

from groundguard import Decision, Guard, Reason, Verdict
from groundguard.policy import Prune, Return
from groundguard.records import JUDGE_FAILURES
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedRetriever
from support.doors import Door, both_doors
from support.scripts import run_script
from support.telemetry import Events, Spans, has_events

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

EVENT = "gen_ai.evaluation.result"


def guard_of(said: Any, chunks: Any = "c", answer: Any = "A", **options: Any) -> Guard:
    judge = ScriptedJudge(said)
    return Guard(judge, retriever=ScriptedRetriever(chunks), generator=ScriptedGenerator(answer), **options)


@has_events
@both_doors
@pytest.mark.parametrize(
    ("said", "label", "reason", "error"),
    [
        (True, "supported", Reason.SUPPORTED, None),
        (Verdict(Decision.SUPPORTED, score=1), "supported", Reason.SUPPORTED, None),
        (False, "unsupported", Reason.UNSUPPORTED, None),
        (LookupError("down"), "unknown", Reason.JUDGE_ERROR, "LookupError"),
        *(
            (Verdict(Decision.UNKNOWN, reason, score=0.5), "unknown", reason, reason.value)
            for reason in sorted(JUDGE_FAILURES)
        ),
    ],
)
def test_every_verdict_is_one_event(door: Door, said: Any, label: str, reason: Reason, error: str | None) -> None:
    spans, events = Spans(), Events()
    response = door.ask(guard_of(said))

    (record,) = events.records
    score = response.verdict.score
    assert (record.event_name, record.severity_number, record.body) == (EVENT, SeverityNumber.INFO, None)
    assert dict(record.attributes) == {
        "gen_ai.evaluation.name": "groundedness",
        "gen_ai.evaluation.score.label": label,
        **({} if score is None else {"gen_ai.evaluation.score.value": score}),
        **({} if error is None else {"error.type": error}),
        "groundguard.judge": "scripted",
        "groundguard.judge.fingerprint": "scripted",
        "groundguard.status": response.status.value,
        "groundguard.reason": reason.value,
    }
    types = {type(value) for name, value in record.attributes.items() if name != "gen_ai.evaluation.score.value"}
    assert types == {str}
    assert score is None or type(record.attributes["gen_ai.evaluation.score.value"]) is float
    query = spans.one("invoke_workflow groundguard").context
    assert (record.trace_id, record.span_id) == (query.trace_id, query.span_id)
    assert record.timestamp


@both_doors
@pytest.mark.parametrize(("chunks", "answer"), [([], "A"), (" ", "A"), ("c", " ")])
def test_no_verdict_no_event(door: Door, chunks: Any, answer: str) -> None:
    events = Events()
    door.ask(guard_of(True, chunks, answer))
    assert events.records == []


@has_events
@both_doors
def test_every_attempt_has_a_verdict_of_its_own(door: Door) -> None:
    from groundguard.judges import Lexical

    events = Events()
    answer = "The lamp runs on 12 volts. The lamp runs on 240 volts."
    chunks = "The lamp runs on 12 volts."
    guard = Guard(
        Lexical(),
        retriever=ScriptedRetriever(chunks),
        generator=ScriptedGenerator(answer),
        policy=Prune(then=Return()),
    )
    response = door.ask(guard)
    labels = [each["gen_ai.evaluation.score.label"] for each in events.named(EVENT)]
    assert labels == ["unsupported", "supported"]
    assert len(response.attempts) == 1


def test_a_logger_that_fails_or_takes_no_events_reaches_nobody() -> None:
    run_script(
        """
    from opentelemetry import _logs
    asked = []
    class Broken(_logs.NoOpLogger):
        def emit(self, *arguments, **keywords):
            asked.append(keywords)
            raise RuntimeError("broken")
    class Old(_logs.NoOpLogger):
        def emit(self, record):
            asked.append(record)
    class Provider(_logs.NoOpLoggerProvider):
        made = Broken
        def get_logger(self, name, version=None, schema_url=None, attributes=None):
            return self.made(name, version=version, schema_url=schema_url, attributes=attributes)
    provider = Provider()
    _logs.set_logger_provider(provider)
    guard = Guard(ScriptedJudge(True))
    assert guard.check("Q?", answer="A", chunks="c").status == "answered"
    assert len(asked) == 1
    Provider.made = Old
    assert guard.check("Q?", answer="A", chunks="c").status == "answered"
    assert len(asked) == 1
    def gone(*_, **__):
        raise RuntimeError("gone")
    Provider.get_logger = gone
    assert guard.check("Q?", answer="A", chunks="c").status == "answered"
    """
    )
