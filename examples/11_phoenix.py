"""Every query as a trace in Phoenix, with its documents, its verdict and the judge's part of it.

In an environment of its own: `pip install arize-phoenix && phoenix serve`. Then, beside groundguard:
`pip install opentelemetry-exporter-otlp-proto-http`, and run this file. How to add the verdict as an annotation is in
docs/observability/phoenix.md.
"""

import os

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from groundguard import Chunk, Guard
from groundguard.judges import Lexical

os.environ.setdefault("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")  # off unless you ask for it
phoenix = os.environ.get("PHOENIX_COLLECTOR_ENDPOINT", "http://127.0.0.1:6006")

provider = TracerProvider(resource=Resource.create({"openinference.project.name": "groundguard-example"}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{phoenix}/v1/traces")))
trace.set_tracer_provider(provider)

passages = [
    Chunk("The lamp runs on 12 volts.", id="lamp-1", source="manual.pdf", score=0.9),
    Chunk("The warranty covers every lamp for two years.", id="lamp-2", source="terms.pdf", score=0.4),
]
answers = {
    "How long is the warranty?": "The warranty covers every lamp for two years.",
    "Which voltage does the lamp need?": "The lamp runs on 240 volts.",
}
guard = Guard(
    Lexical(),  # or FactCheck("openai:NAME"), whose calls become spans as well
    retriever=lambda question: passages,
    generator=lambda question, chunks: answers[question],
)

for question in answers:
    print(f"{guard.ask(question).status}  {question}")

provider.shutdown()  # sends what is left
print(f"See {phoenix}/projects, project groundguard-example.")
