"""What telemetry costs a response: ratios within one run, against the same checks with no provider set.

    python benchmarks/telemetry.py

A plain judge that takes 20 ms, one check at a time. With a provider: spans, metrics and log events, in batches, to a
collector that answers, one that accepts and never answers, and a port that nobody listens on. Needs
opentelemetry-exporter-otlp-proto-http.
"""

import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import _logs, metrics, trace
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from groundguard import Guard
from groundguard.judges import FactCheck
from groundguard.models import Reply
from groundguard.records import Usage
from groundguard.testing import ScriptedModel

CHECKS, ROUNDS, JUDGING = 60, 5, 0.02


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@contextmanager
def answering() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


@contextmanager
def black_hole() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0), backlog=128)) as listening:
        yield listening.getsockname()[1]


@contextmanager
def closed_port() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]
    yield port


def set_up_exporters() -> None:
    traces, logs = TracerProvider(), LoggerProvider()
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=100))
    logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(), schedule_delay_millis=100))
    trace.set_tracer_provider(traces)
    _logs.set_logger_provider(logs)
    metrics.set_meter_provider(MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter(), 500)]))


def child(collector: str) -> None:
    """Print the median seconds of a check, and the worst."""

    class Model(ScriptedModel):
        def reply(self, prompt, schema=None):  # type: ignore[no-untyped-def]
            time.sleep(JUDGING)
            return (yield from super().reply(prompt, schema))

    if collector != "none":
        set_up_exporters()
    guard = Guard(FactCheck(Model(Reply("yes", "stop", usage=Usage(4200, 1)))))
    guard.check("Q?", answer="A", chunks=["c"] * 5)
    times = []
    for _ in range(CHECKS):
        began = time.perf_counter()
        guard.check("Q?", answer="A", chunks=["c"] * 5)
        times.append(time.perf_counter() - began)
    print(statistics.median(times), max(times), flush=True)


def measured(collector: str, port: int) -> tuple[float, float, float]:
    """Median and worst seconds of a check, and the seconds from the last check to the end of the process."""
    there = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}", "OTEL_EXPORTER_OTLP_TIMEOUT": "2"}
    with subprocess.Popen(
        [sys.executable, __file__, collector],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **there},
    ) as process:
        assert process.stdout is not None
        median, worst = map(float, process.stdout.readline().split())
        ended = time.perf_counter()
        assert process.wait() == 0
    return median, worst, time.perf_counter() - ended


def main() -> None:
    with answering() as alive, black_hole() as silent, closed_port() as nobody:
        ports = {"none": 0, "answering": alive, "black hole": silent, "closed port": nobody}
        runs = [{name: measured(name, port) for name, port in ports.items()} for _ in range(ROUNDS)]
    base = statistics.median(run["none"][0] for run in runs)
    print(f"{CHECKS} checks, a judge of {JUDGING * 1000:.0f} ms, medians of {ROUNDS} rounds; no provider = 1")
    print(f"{'collector':12}{'median':>10}{'ratio':>8}{'worst':>10}{'ratio':>8}{'exit':>9}")
    for name in ports:
        median, worst, ending = (statistics.median(run[name][at] for run in runs) for at in range(3))
        ratios = statistics.median(run[name][0] / run["none"][0] for run in runs), worst / base
        print(f"{name:12}{median * 1000:7.2f} ms{ratios[0]:8.2f}{worst * 1000:7.2f} ms{ratios[1]:8.2f}{ending:7.2f} s")


if __name__ == "__main__":
    child(sys.argv[1]) if len(sys.argv) > 1 else main()
