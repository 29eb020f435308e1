"""One query as a tree of spans, on the console. With your own exporter it goes to your observability stack."""

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from groundguard import Guard
from groundguard.judges import FactCheck
from groundguard.testing import ScriptedModel

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))  # in an application: BatchSpanProcessor(OTLPSpanExporter())
trace.set_tracer_provider(provider)

guard = Guard(
    FactCheck(ScriptedModel("yes")),  # in an application: FactCheck("openai:NAME")
    retriever=lambda question: ["The warranty covers every lamp for two years."],
    generator=lambda question, chunks: "The warranty covers every lamp for two years.",
)
print(guard.ask("How long is the warranty?").answer)


def show(parent: int | None, depth: int = 0) -> None:
    """The spans below a parent, and what is below each."""
    for span in sorted(exporter.get_finished_spans(), key=lambda each: each.start_time):
        if (span.parent.span_id if span.parent else None) == parent:
            kind, status = (span.attributes.get(key) for key in ("openinference.span.kind", "groundguard.status"))
            print(f"{'  ' * depth}{span.name}  {kind}  {status or ''}".rstrip())
            show(span.context.span_id, depth + 1)


show(None)
