"""Other instrumentations in the same process: one model call, one span; one query, one trace.

What instruments the client below ours is told to stay silent. util-genai, on which OpenTelemetry's own instrumentations
stand, folds a call that it finds inside another into that. OpenLLMetry has a key for language models. OpenInference,
and OpenLLMetry for LangChain, heed only the key that silences every instrumentation, that of the HTTP client as well:
it is set only where they are loaded. OpenTelemetry's older instrumentation of the openai client heeds no key: where it
is at work, the span is left to it.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context, set_value

_UTIL_GENAI = "opentelemetry.util.genai.invocation"
_UTIL_GENAI_KEY = "opentelemetry.genai.client.inference.context"
_LANGUAGE_MODELS_KEY = "suppress_language_model_instrumentation"
_OPENAI_V2 = "opentelemetry.instrumentation.openai_v2"
_OPENINFERENCE_LANGCHAIN = "openinference.instrumentation.langchain"
_DEAF_TO_THAT = ("openinference.instrumentation", "opentelemetry.instrumentation.langchain")


def alone(context: Context) -> Context:
    """A context in which nobody else makes a span of a model call."""
    context = set_value(_LANGUAGE_MODELS_KEY, True, context)  # noqa: FBT003  # what the key holds
    with contextlib.suppress(Exception):
        if any(module in sys.modules for module in _DEAF_TO_THAT):
            everything: str = vars(otel_context)["_SUPPRESS_INSTRUMENTATION_KEY"]  # made up anew in every process
            context = set_value(everything, True, context)  # noqa: FBT003  # what the key holds
    with contextlib.suppress(Exception):
        genai: Any = sys.modules[_UTIL_GENAI]
        context = set_value(_UTIL_GENAI_KEY, genai.InferenceData(), context)
    return context


def told_elsewhere(provider: str) -> bool:
    """Whether an instrumentation that can't be silenced makes the span of a call to this provider."""
    with contextlib.suppress(Exception):
        instrumentation: Any = sys.modules[_OPENAI_V2]
        return provider == "openai" and bool(instrumentation.OpenAIInstrumentor().is_instrumented_by_opentelemetry)
    return False


def above() -> Context | None:
    """Where a query begins; None for the current context.

    OpenInference makes no span current for the runs of LangChain: where none is, it is asked for the one of this run.
    """
    with contextlib.suppress(Exception):
        if not trace.get_current_span().get_span_context().is_valid:
            instrumentation: Any = sys.modules[_OPENINFERENCE_LANGCHAIN]
            span = instrumentation.get_current_span()
            return None if span is None else trace.set_span_in_context(span)
    return None
