"""One query as a tree of spans, on the console. With your own exporter it goes to your observability stack."""

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

from groundguard import Guard
from groundguard.judges import Lexical


def one_line(span: ReadableSpan) -> str:
    status = (span.attributes or {}).get("groundguard.status", "")
    return f"{'  ' if span.parent else ''}{span.name}  {status}\n"


provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=one_line)))
trace.set_tracer_provider(provider)

guard = Guard(
    Lexical(),
    retriever=lambda question: ["The warranty covers every lamp for two years."],
    generator=lambda question, chunks: "The warranty covers every lamp for two years.",
)
print(guard.ask("How long is the warranty?").answer)
