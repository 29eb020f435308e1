"""Counters and histograms: names, units, labels, bounds; whichever provider the application has at the moment."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from groundguard import Guard
from groundguard.judges import FactCheck
from groundguard.models import Reply
from groundguard.records import JUDGE_FAILURES, Decision, Usage, Verdict
from groundguard.telemetry.metrics import MOST_MODELS, Label
from groundguard.testing import ScriptedGenerator, ScriptedJudge, ScriptedModel, ScriptedRetriever
from support.doors import Door, both_doors
from support.scripts import run_script
from support.telemetry import Counts, Measured, metric_reader

pytestmark = pytest.mark.filterwarnings("ignore::groundguard.errors.GroundguardWarning")

SECONDS = tuple(0.01 * 2**power for power in range(14))
TOKENS = tuple(4.0**power for power in range(14))
UNITS = {
    "rag.queries": "{query}",
    "rag.faithfulness.judge_failures": "{query}",
    "rag.query.duration": "s",
    "rag.retrieval.duration": "s",
    "rag.generation.duration": "s",
    "rag.faithfulness.judge.duration": "s",
    "gen_ai.client.operation.duration": "s",
    "gen_ai.client.token.usage": "{token}",
}
STAGES = ("rag.retrieval.duration", "rag.generation.duration", "rag.faithfulness.judge.duration")


def guard_of(judge: Any, chunks: Any = "c") -> Guard:
    return Guard(judge, retriever=ScriptedRetriever(chunks), generator=ScriptedGenerator("A"))


def points(reader: InMemoryMetricReader) -> dict[str, Any]:
    data = reader.get_metrics_data()
    return {
        metric.name: metric
        for resource in (data.resource_metrics if data else ())
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


def test_every_instrument_by_its_exact_name_unit_and_buckets() -> None:
    metric_reader()
    guard_of(FactCheck(ScriptedModel(Reply("yes", usage=Usage(4200, 1))))).ask("Q?")
    guard_of(ScriptedJudge(LookupError())).ask("Q?")
    seen = points(metric_reader())

    assert {name: seen[name].unit for name in UNITS} == UNITS
    assert {name for name in seen if name.startswith(("rag.", "gen_ai."))} == set(UNITS)
    for name, metric in seen.items():
        if name in UNITS and name.endswith(("duration", "usage")):
            assert tuple(metric.data.data_points[0].explicit_bounds) == (TOKENS if "token" in name else SECONDS)


@both_doors
@pytest.mark.parametrize(
    ("said", "chunks", "status", "failed"),
    [
        (True, "c", "answered", {}),
        (False, "c", "ungrounded", {}),
        (True, [], "no_context", {}),
        (LookupError(), "c", "ungrounded", {"judge_error": 1}),
        *(
            (Verdict(Decision.UNKNOWN, reason), "c", "ungrounded", {reason.value: 1})
            for reason in sorted(JUDGE_FAILURES)
        ),
    ],
)
def test_once_a_response(door: Door, said: Any, chunks: Any, status: str, failed: dict[str, int]) -> None:
    counts, total = Counts(), Measured("rag.query.duration")
    stages = {name: Measured(name) for name in STAGES}
    response = door.ask(guard_of(ScriptedJudge(said), chunks))

    assert (counts.queries, counts.judge_failures) == ({status: 1}, failed)
    ((labels, count, seconds),) = total.since
    assert (labels, count) == ({"status": status}, 1)
    assert seconds == pytest.approx(response.timings.total)
    asked = 0 if response.verdict is None else 1
    expected = dict(zip(STAGES, (1, 1, asked), strict=True))
    assert {name: stage.count for name, stage in stages.items()} == expected
    assert all(labels == {} for stage in stages.values() for labels, _, _ in stage.since)


@both_doors
def test_no_response_no_measurement(door: Door) -> None:
    counts, measured = Counts(), [Measured(name) for name in ("rag.query.duration", *STAGES)]
    with pytest.raises(LookupError):
        door.ask(guard_of(True_, LookupError()))
    assert counts.queries == {}
    assert [each.count for each in measured] == [0] * 4


def True_(exchange: object) -> bool:
    return True


@both_doors
def test_a_models_call_is_measured_as_the_conventions_say_and_as_the_judges(door: Door) -> None:
    times, tokens = Measured("gen_ai.client.operation.duration"), Measured("gen_ai.client.token.usage")
    door.ask(guard_of(FactCheck(ScriptedModel(Reply("yes", usage=Usage(4200, 1))))))

    about = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "_OTHER",
        "gen_ai.request.model": "scripted",
        "groundguard.role": "judge",
    }
    ((labels, count, _),) = times.since
    assert (labels, count) == (about, 1)
    assert sorted(tokens.since, key=lambda each: each[2]) == [
        ({**about, "gen_ai.token.type": "output"}, 1, 1),
        ({**about, "gen_ai.token.type": "input"}, 1, 4200),
    ]


def test_models_without_number_make_labels_of_a_number() -> None:
    run_script(
        f"""
    from groundguard.judges import FactCheck
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider([reader]))
    for number in range(300):
        error = type(f"Error{{number}}", (Exception,), {{"status_code": 500}})(f"message {{number}}")
        model = ScriptedModel(error if number % 2 else "yes", name=f"model {{number}} " + "x" * 999)
        Guard(FactCheck(model), retry=Retry(attempts=1)).check(f"question {{number}}", answer="A", chunks="c")
    (resource,) = reader.get_metrics_data().resource_metrics
    seen = {{each.name: each.data.data_points for scope in resource.scope_metrics for each in scope.metrics}}
    models = {{point.attributes["gen_ai.request.model"] for point in seen["gen_ai.client.operation.duration"]}}
    assert len(models) <= {MOST_MODELS} + 1, len(models)
    assert "_OTHER" in models
    assert max(map(len, models)) <= 128
    errors = {{point.attributes.get("error.type") for point in seen["gen_ai.client.operation.duration"]}}
    assert errors == {{None, "judge_error"}}, errors
    """
    )


def test_a_label_knows_so_many_values_and_no_more() -> None:
    label = Label(2)
    assert [label.of(each) for each in ("a", "b", "c", "a", "d", "b")] == ["a", "b", "_OTHER", "a", "_OTHER", "b"]
    assert len(Label(1).of("\ud800" * 1000)) == 128


def test_every_provider_gets_what_comes_while_it_is_the_applications() -> None:
    run_script(
        """
    import opentelemetry.metrics._internal as internal
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    def queries(reader):
        data = reader.get_metrics_data()
        return sum(
            point.value
            for resource in (data.resource_metrics if data else ()) for scope in resource.scope_metrics
            for metric in scope.metrics if metric.name == "rag.queries" for point in metric.data.data_points
        )
    guard = Guard(ScriptedJudge(True))
    guard.check("Q?", answer="A", chunks="c")
    readers = [InMemoryMetricReader() for _ in range(3)]
    for number, reader in enumerate(readers):
        internal._METER_PROVIDER_SET_ONCE = internal.Once()
        internal._METER_PROVIDER = None
        metrics.set_meter_provider(MeterProvider([reader]))
        for _ in range(number + 1):
            guard.check("Q?", answer="A", chunks="c")
    assert [queries(reader) for reader in readers] == [1, 2, 3]
    """
    )
