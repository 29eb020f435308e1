"""Whatever happens, nothing of the user's leaves the process: not by a span, an event, a metric, a log or a stream."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PROGRAM = """
import asyncio, gc, logging, os, traceback, warnings
import openai, structlog
from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider, LogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from groundguard import Chunk, Guard, Reason, Retry, UngroundedError, Verdict, Decision
from groundguard.errors import GroundguardError
from groundguard.judges import Cascade, Claims, FactCheck, Lexical, Majority
from groundguard.models import OpenAIModel, Reply
from groundguard.policy import Prune, Raise, Regenerate, Replace, Return
from groundguard.records import Claim, Usage
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever
from support.server import Server, hang, say, send, status

records = []

class Everything(LogRecordProcessor):
    def on_emit(self, log_record):
        records.append(repr(vars(log_record.log_record)))
    emit = on_emit
    def shutdown(self): ...
    def force_flush(self, timeout_millis=0): ...

exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
metrics.set_meter_provider(MeterProvider([reader]))
logs = LoggerProvider()
logs.add_log_record_processor(Everything())
_logs.set_logger_provider(logs)
said = []

class Kept(logging.Handler):
    def emit(self, record):
        said.append(logging.Formatter("%(message)s").format(record) + repr(vars(record)))

ours = logging.getLogger("groundguard")
ours.addHandler(Kept())
ours.setLevel(logging.DEBUG)
logging.basicConfig(level=logging.WARNING)
warnings.simplefilter("always")

CHUNKS = [
    Chunk("MARKER-CHUNK", id="MARKER-ID", source="MARKER-SOURCE", score=0.5, metadata={"MARKER-KEY": "MARKER-META"})
]
QUESTION, ANSWER, HISTORY = "MARKER-QUESTION?", "MARKER-ANSWER.", [("user", "MARKER-TURN")]
KEY = "sk-MARKER-KEY"
QUICK = Retry(attempts=2, initial=0, maximum=0)

class MarkerError(Exception):
    status_code = 503
    def __init__(self):
        super().__init__("MARKER-ERROR " + KEY)
        self.body = {"error": {"message": "MARKER-BODY"}}

def judges():
    for reason in Reason:
        if reason in {Reason.SUPPORTED, Reason.UNSUPPORTED}:
            decision = Decision.SUPPORTED if reason is Reason.SUPPORTED else Decision.UNSUPPORTED
        elif reason.startswith("judge_") or reason is Reason.VERDICT_MALFORMED:
            decision = Decision.UNKNOWN
        else:
            continue
        claims = (Claim("MARKER-CLAIM", decision, missing=("MARKER-MISSING",), chunk_ids=("MARKER-ID",)),)
        yield ScriptedJudge(Verdict(decision, reason, raw="MARKER-REPLY", detail="MARKER-DETAIL", claims=claims))
    for reply in ("yes", "no", "MARKER-REPLY", "yes MARKER-REPLY", None, ["MARKER-REPLY"], MarkerError()):
        yield FactCheck(ScriptedModel(reply))
    yield FactCheck(ScriptedModel(MarkerError(), Reply("yes", "MARKER FINISH", usage=Usage(4200, 1))))
    yield FactCheck(ScriptedModel(Reply("no", "content_filter", refusal="MARKER-REFUSAL")))
    yield FactCheck(ScriptedModel("MARKER-REPLY"), constrained=True)
    yield Claims(ScriptedModel('{"verdicts": "MARKER-REPLY"}'))
    yield Majority(FactCheck(ScriptedModel("MARKER-REPLY")), of=3)
    yield Cascade(Lexical(), then=FactCheck(ScriptedModel("MARKER-REPLY")))
    yield Lexical()
    yield lambda exchange: "MARKER-REPLY"
    def failing(exchange):
        key, passages = KEY, exchange.chunks
        raise ValueError(key, passages, exchange.answer)
    yield failing

def guards(judge):
    for policy in (Return(), Raise(), Replace("MARKER-POLICY"), Prune(then=Return()), Regenerate(1, then=Return())):
        yield Guard(judge, retriever=ScriptedRetriever(CHUNKS), generator=ScriptedGenerator(ANSWER), policy=policy, retry=QUICK)
    yield Guard(judge, retriever=ScriptedRetriever([]), generator=ScriptedGenerator(ANSWER))
    yield Guard(judge, retriever=ScriptedRetriever(" "), generator=ScriptedGenerator(ANSWER))
    yield Guard(judge, retriever=ScriptedRetriever(CHUNKS), generator=ScriptedGenerator(" "))
    yield Guard(judge, retriever=ScriptedRetriever(MarkerError()), generator=ScriptedGenerator(ANSWER))
    yield Guard(judge, retriever=ScriptedRetriever(CHUNKS), generator=ScriptedGenerator(MarkerError()))

def note(response):
    said.append(repr(response) + str(response) + repr(response.verdict) + repr(response.chunks) + repr(response.attempts))

def told(run):
    try:
        note(run())
    except UngroundedError as error:
        said.append(str(error) + "".join(traceback.format_exception(error)))
    except GroundguardError as error:
        said.append("".join(traceback.format_exception(error)))
    except MarkerError:
        pass  # the user's own, untouched

def breaks_off(guard):
    def pieces(question):
        yield "MARKER-ANSWER", CHUNKS
        yield "MARKER-ANSWER"
    with_guard = guard(pieces)(QUESTION)
    next(with_guard)
    with_guard.close()

async def abreaks_off(guard):
    async def pieces(question):
        yield "MARKER-ANSWER", CHUNKS
        await asyncio.sleep(0)
        yield "MARKER-ANSWER"
    items = guard(pieces)(QUESTION)
    await anext(items)
    await items.aclose()

def last(items):
    for item in items: pass
    return item

def run_all():
    for judge in judges():
        for guard in guards(judge):
            told(lambda: guard.ask(QUESTION, history=HISTORY))
            told(lambda: asyncio.run(guard.aask(QUESTION, history=HISTORY)))
            told(lambda: last(guard.stream(QUESTION)))
        plain = Guard(judge, retry=QUICK)
        told(lambda: plain.check(QUESTION, answer=ANSWER, chunks=CHUNKS))
        told(lambda: plain(lambda question: {"answer": ANSWER, "context": CHUNKS})(QUESTION))
        told(lambda: plain(lambda question: {"MARKER-ANSWER": 1})(QUESTION))
        told(lambda: plain(lambda question: ANSWER)(QUESTION))
        breaks_off(plain)
        asyncio.run(abreaks_off(plain))
    for behaviour in (
        say("yes"), say("MARKER-REPLY"), say(None, refusal="MARKER-REFUSAL"), status(401), status(500),
        send("MARKER-REPLY"), hang(),
    ):
        with Server(behaviour) as server, openai.OpenAI(api_key=KEY, base_url=server.url) as client:
            guard = Guard(FactCheck(OpenAIModel(client, "judge-model", user="MARKER-USER")), retry=QUICK, timeout=0.5)
            said.append(repr(guard) + repr(guard.judge))
            told(lambda: guard.check(QUESTION, answer=ANSWER, chunks=CHUNKS))

run_all()
structlog.configure(processors=[structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()])
run_all()
gc.collect()
spans = [
    (span.name, dict(span.attributes), [(event.name, dict(event.attributes)) for event in span.events],
     span.status.description, span.links, span.resource.attributes)
    for span in exporter.get_finished_spans()
]
observed = {"spans": repr(spans), "events": repr(records), "metrics": reader.get_metrics_data().to_json(), "said": repr(said)}
for name, text in observed.items():
    for marker in os.environ["MARKERS"].split():
        at = text.find(marker)
        assert at < 0, (name, text[max(0, at - 300) : at + 100])
statuses = {attributes.get("groundguard.status") for _, attributes, *_ in spans}
assert statuses == {None, "answered", "ungrounded", "no_context"}, statuses
reasons = {attributes.get("groundguard.reason") for _, attributes, *_ in spans}
assert reasons - {None} == set(Reason), set(Reason) - reasons
print(len(spans), len(records), len(said))
"""


@pytest.mark.parametrize(
    ("mode", "markers"),
    [
        (None, ["MARKER"]),
        ("true", ["MARKER"]),
        ("SPAN_AND_EVENT", ["sk-MARKER", "MARKER-ERROR", "MARKER-BODY"]),  # no key and no exception is content
    ],
)
def test_no_marker_leaves_the_process(mode: str | None, markers: list[str]) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "COV", "OPENAI_"))}
    capture = {} if mode is None else {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": mode}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**kept, **capture, "MARKERS": " ".join(markers), "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for marker in markers:
        assert marker not in done.stdout
        at = done.stderr.find(marker)
        assert at < 0, done.stderr[max(0, at - 600) : at + 200]
    assert "Failed to detach context" not in done.stderr
    assert int(done.stdout.split()[0]) > 500
