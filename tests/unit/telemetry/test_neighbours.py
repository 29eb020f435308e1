"""Other instrumentations in the same process, played by modules of their names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest
from opentelemetry import context, trace

from groundguard import Guard
from groundguard.flow.steps import Call, as_callee
from groundguard.judges import FactCheck
from groundguard.models import Prompt, Reply
from groundguard.testing import ScriptedModel
from support.telemetry import Measured, Spans

tracer = trace.get_tracer("instrumented client")
everything = vars(context)["_SUPPRESS_INSTRUMENTATION_KEY"]
Load = Callable[..., None]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    def load(name: str, **contents: Any) -> None:
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)

    for name in list(sys.modules):
        if name.startswith(("openinference.", "opentelemetry.instrumentation.", "opentelemetry.util.genai")):
            monkeypatch.delitem(sys.modules, name)
    return load


class Instrumented(ScriptedModel):
    """A model whose client is instrumented: silent where `key` is set."""

    def __init__(self, key: str, provider: str = "openai") -> None:
        super().__init__("yes")
        self.key, self.by = key, provider
        self.seen: list[object] = []

    @property
    def provider(self) -> str:
        return self.by

    def reply(self, prompt: Prompt, schema: Mapping[str, Any] | None = None) -> Any:
        def ask() -> Reply:
            self.seen.append(context.get_value(self.key))
            if not self.seen[-1]:
                with tracer.start_as_current_span("theirs"):
                    pass
            return Reply("yes")

        return (yield Call(as_callee(ask, "model")))


def check(model: ScriptedModel) -> list[str]:
    spans = Spans()
    Guard(FactCheck(model)).check("Q?", answer="A.", chunks="c")
    return [span.name for span in spans.ended if span.name not in {"groundguard check", "invoke_workflow groundguard"}]


def test_alone_nothing_else_is_silenced(load: Load) -> None:
    model = Instrumented(everything)
    assert check(model) == ["theirs", "chat scripted"]
    assert model.seen == [None]


def test_what_knows_language_models_is_silent() -> None:
    assert check(Instrumented("suppress_language_model_instrumentation")) == ["chat scripted"]


@pytest.mark.parametrize("module", ["openinference.instrumentation", "opentelemetry.instrumentation.langchain"])
def test_what_knows_only_silence_is_silent(module: str, load: Load) -> None:
    load(module)
    assert check(Instrumented(everything)) == ["chat scripted"]
    assert context.get_value(everything) is None


def test_util_genai_finds_its_data(load: Load) -> None:
    class InferenceData: ...

    load("opentelemetry.util.genai.invocation", InferenceData=InferenceData)
    model = Instrumented("opentelemetry.genai.client.inference.context")
    assert check(model) == ["chat scripted"]
    assert isinstance(model.seen[0], InferenceData)


def test_a_util_genai_without_it_costs_nothing(load: Load) -> None:
    load("opentelemetry.util.genai.invocation")
    assert check(Instrumented("suppress_language_model_instrumentation")) == ["chat scripted"]


@pytest.mark.parametrize(
    ("provider", "active", "ours"),
    [("openai", True, "groundguard ask scripted"), ("openai", False, "chat scripted"), ("x", True, "chat scripted")],
)
def test_what_cannot_be_silenced_makes_the_span(provider: str, active: bool, ours: str, load: Load) -> None:
    class OpenAIInstrumentor:
        is_instrumented_by_opentelemetry = active

    load("opentelemetry.instrumentation.openai_v2", OpenAIInstrumentor=OpenAIInstrumentor)
    times = Measured("gen_ai.client.operation.duration")
    assert check(Instrumented("no key", provider)) == ["theirs", ours]
    assert times.count == int(ours.startswith("chat"))


def test_a_run_of_langchain_is_the_parent_where_openinference_traces_it(load: Load) -> None:
    spans = Spans()
    run = tracer.start_span("run")
    load("openinference.instrumentation.langchain", get_current_span=lambda: run)
    guard = Guard(lambda exchange: True)
    guard.check("Q?", answer="A.", chunks="c")
    with tracer.start_as_current_span("nearer"):
        guard.check("Q?", answer="A.", chunks="c")
    load("openinference.instrumentation.langchain", get_current_span=lambda: None)
    guard.check("Q?", answer="A.", chunks="c")
    run.end()

    queries = [span for span in spans.started if span.name == "invoke_workflow groundguard"]
    assert [spans.parent_of(query) for query in queries] == ["run", "nearer", None]
