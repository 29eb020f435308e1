"""The public names and their signatures, written out by hand: a change here is a change for users."""

from __future__ import annotations

import dataclasses
import enum
import inspect
from types import ModuleType
from typing import Any

import pytest

import groundguard
from groundguard import conversation, errors, evaluation, judges, models, policy, records, streaming, testing
from groundguard.evaluation import golden, panel
from groundguard.evaluation.calibration import kept as calibrations
from groundguard.evaluation.calibration import labels
from groundguard.evaluation.calibration import record as calibration
from groundguard.evaluation.calibration.calibrate import acalibrate, calibrate
from groundguard.evaluation.comparison import differing
from groundguard.evaluation.comparison.compare import Comparison, compare
from groundguard.evaluation.figures import figures, figures_of
from groundguard.evaluation.gates import gates, ratchet
from groundguard.evaluation.gates import options as gate_options
from groundguard.evaluation.noise import band
from groundguard.evaluation.overfit import Gap, overfit
from groundguard.records import Claim, Timings, Turn, Usage

NAMES: dict[ModuleType, list[str]] = {
    evaluation: [
        "Budget", "Calibration", "Comparison", "Figure", "Gate", "GateResult", "GoldenItem", "GoldenSet", "Interval",
        "ItemResult", "Metric", "Origin", "Panel", "Pins", "Progress", "Run", "Score", "Split", "Want", "acalibrate",
        "aevaluate", "calibrate", "compare", "diagnose_run", "evaluate", "figures", "held", "load", "overfit", "read_run",
        "spread", "write_run",
    ],
    groundguard: [
        "Capture", "Chunk", "Decision", "Exchange", "GroundguardError", "Guard", "Reason", "Response", "Retry", "Status",
        "UngroundedError", "Verdict", "record_chunks",
    ],
    policy: [
        "Feedback", "NOT_ANSWERED", "Policy", "Prune", "Raise", "Regenerate", "Replace", "Return", "Revision", "as_policy",
    ],
    conversation: [
        "EvidenceRule", "LastTurns", "Session", "ThisTurn", "TurnFaithfulness", "TurnResult", "aturn_faithfulness",
        "turn_faithfulness",
    ],
    streaming: ["AsyncStream", "Mode", "Stream"],
    panel: [
        "AnswerRelevancy", "ContextPrecision", "ContextRecall", "Diagnosis", "Faithfulness", "FunctionMetric", "Metric",
        "Panel", "Refusal", "RunDiagnosis", "Stage", "as_metric", "diagnose", "diagnose_run", "panel", "refused",
    ],
    testing: [
        "ScriptedGenerator", "ScriptedJudge", "ScriptedModel", "ScriptedRetriever", "assert_grounded", "forget_warnings",
    ],
}  # fmt: skip

SIGNATURES: dict[Any, str] = {
    evaluation.evaluate: (
        "(golden, target, *, judge=None, panel=None, repeats=1, seed=0, concurrency=8, budget=*, pipeline=None,"
        " pipeline_model=None, question=None, chunks=None, answer=None, store=None, resume=False, patience=10,"
        " progress=None, tell=*)"
    ),
    evaluation.aevaluate: (
        "(golden, target, *, judge=None, panel=None, repeats=1, seed=0, concurrency=8, budget=*, pipeline=None,"
        " pipeline_model=None, question=None, chunks=None, answer=None, store=None, resume=False, patience=10,"
        " progress=None, tell=*)"
    ),
    evaluation.spread: (
        "(golden, factory, arguments=None, *, engine='ray', workers=None, shards=16, repeats=1, seed=0, concurrency=8,"
        " budget=*, pipeline=None, pipeline_model=None, store=None, resume=False, patience=10, tell=*)"
    ),
    evaluation.Budget: "(calls=None, tokens=None, cost=None, price_in=None, price_out=None)",
    evaluation.read_run: "(path)",
    evaluation.write_run: "(run, path)",
    groundguard.Guard: (
        "(judge, *, retriever=None, generator=None, policy=Return(skip_generator=False), retry=None, timeout=30.0,"
        " capture=Capture(question=None, chunks=None, answer=None, retriever_events=True), streaming=None)"
    ),
    groundguard.Guard.ask: "(self, question, *, history=())",
    groundguard.Guard.aask: "(self, question, *, history=())",
    groundguard.Guard.stream: "(self, question, *, history=())",
    groundguard.Guard.astream: "(self, question, *, history=())",
    groundguard.Guard.check: "(self, question, *, answer, chunks, history=())",
    groundguard.Guard.acheck: "(self, question, *, answer, chunks, history=())",
    groundguard.Guard.check_many: "(self, exchanges, *, concurrency=16)",
    groundguard.Guard.acheck_many: "(self, exchanges, *, concurrency=16)",
    groundguard.Guard.wrap: "(self, chain, *, question=None, chunks=None, answer=None)",
    groundguard.Guard.wraps: "(self, *, question=None, chunks=None, answer=None)",
    groundguard.Guard.session: "(self, *, evidence, window=10)",
    groundguard.Guard.with_options: "(self, **changes)",
    groundguard.Guard.__call__: "(self, fn, /)",
    groundguard.Capture: "(question=None, chunks=None, answer=None, retriever_events=True)",
    groundguard.Retry: "(attempts=3, initial=0.5, maximum=8.0)",
    groundguard.record_chunks: "(chunks, *, replace=False)",
    groundguard.UngroundedError: "(response)",
    policy.Return: "(skip_generator=False)",
    policy.Raise: "(on=*)",
    policy.Replace: "(text, on=*, skip_generator=False)",
    policy.Regenerate: "(times, then, *, on_failure=False, on=*)",
    policy.Prune: "(then, *, on=*)",
    policy.Feedback: "(answer, reason, claims=())",
    policy.Revision: "(policy, revised, removed=())",
    judges.Claims: (
        "(model, *, threshold=1.0, extract='local', constrained=None, instructions=*, per_call=20, most=400, window=None)"
    ),
    judges.FactCheck: "(model, *, instructions=*, constrained=False, window=None)",
    judges.Window: "(tokens, split=True, count=*)",
    judges.Lexical: "(threshold=*)",
    judges.Cascade: "(first, then, *, no_at=None, yes_at=None)",
    judges.Majority: "(judge, *others, of=None)",
    judges.Entailment: (
        "(scorer, *, support=0.5, contradiction=0.5, threshold=1.0, window=1200, batch=32, hypothesis=None)"
    ),
    judges.Conversation: "(model, *, window=None, threshold=1.0, extract='local', constrained=None)",
    judges.Decide: "(model, *, threshold=1.0, over=0.5, per_call=20)",
    testing.ScriptedModel: "(*replies, name='scripted')",
    testing.ScriptedJudge: "(*verdicts)",
    testing.ScriptedRetriever: "(chunks=())",
    testing.ScriptedGenerator: "(*answers)",
    testing.assert_grounded: "(response)",
    models.as_model: "(model)",
    golden.load: "(path, *, locked=False)",
    golden.dump: "(golden, path)",
    golden.lock: "(golden, path)",
    golden.verify: "(golden, path)",
    golden.lock_path: "(path)",
    golden.lint: "(golden, *, today, lines=None)",
    golden.split: "(golden, *, heldout=0.5, seed=0, force=False)",
    golden.difference: "(old, new)",
    golden.import_file: "(path, *, name, version='1', format=None, delimiter='|', origin=None)",
    golden.write_sample: "(folder)",
    panel.Panel: "(metrics, *, timeout=30.0, retry=None)",
    panel.Panel.flow: "(self, item, response, clock=*)",
    panel.panel: "(model=None, judge=None, *, context=None, constrained=None, timeout=30.0, retry=None)",
    panel.Faithfulness: "(judge)",
    panel.AnswerRelevancy: "(model=None, *, constrained=None)",
    panel.ContextPrecision: "(model=None, *, ranked=True, constrained=None)",
    panel.ContextRecall: "(judge=None)",
    panel.Refusal: "(model=None, *, constrained=None)",
    panel.FunctionMetric: "(function, label=None)",
    panel.as_metric: "(metric)",
    panel.diagnose: "(scores, want=*, bars=*)",
    panel.diagnose_run: "(results, bars=*)",
    panel.refused: "(item, response, scores)",
    figures: "(run, *, level=0.95)",
    figures_of: "(results, *, seed=0, level=0.95)",
    band: "(figure, repeats, level=0.95)",
    gates.held: "(gates, figures, *, repeats=1, most_failed=0.05, most_unscored=0.5, allow_noisy=False)",
    gates.exit_code: "(figures, results=())",
    gates.shown: "(value, at=None)",
    gate_options.parsed: "(flags)",
    gate_options.read: "(path)",
    ratchet.propose: "(gate, runs, *, step=0.1, recent=3)",
    overfit: "(run)",
    compare: "(before, after, *, allow=(), margin=None, level=0.95)",
    calibrate: "(labels, judge, *, timeout=30.0, concurrency=8, target=0.1, made=None, counted=*)",
    acalibrate: "(labels, judge, *, timeout=30.0, concurrency=8, target=0.1, made=None, counted=*)",
    labels.read_labels: "(path)",
    calibration.Calibration.fits: "(self, judge, models=())",
    calibration.Calibration.lacks: "(self, *, least=50, kappa=None)",
    calibration.Calibration.corrected: "(self, passed, n)",
    calibrations.save: "(calibration, folder=*)",
    calibrations.load: "(folder=*)",
    calibrations.calibration_of: "(judge, folder=*, *, models=())",
    conversation.ThisTurn: "()",
    conversation.LastTurns: "(turns)",
    conversation.Session.ask: "(self, question)",
    conversation.Session.aask: "(self, question)",
    conversation.Session.check: "(self, question, *, answer, chunks)",
    conversation.Session.acheck: "(self, question, *, answer, chunks)",
    conversation.Session.summary: "(self)",
    conversation.turn_faithfulness: ("(turns, judge, *, evidence, window=10, timeout=30.0, retry=None, concurrency=8)"),
    conversation.aturn_faithfulness: (
        "(turns, judge, *, evidence, window=10, timeout=30.0, retry=None, concurrency=8)"
    ),
}

FIELDS: dict[type, str] = {
    groundguard.Chunk: "text id source score metadata",
    groundguard.Exchange: "question chunks answer history",
    groundguard.Verdict: (
        "decision reason score claims raw detail error_type judge fingerprint prompt_version prompt_hash model usage"
        " calls seconds members calls_saved"
    ),
    groundguard.Response: (
        "answer generated status reason verdict question chunks chunks_from chunks_exact attempts timings output"
    ),
    records.Attempt: "generated status reason verdict removed",
    Claim: "text decision start end chunk_ids missing score",
    Turn: "role content",
    conversation.TurnResult: "index status reason verdict",
    conversation.TurnFaithfulness: "turns",
    golden.GoldenItem: (
        "id question answer chunks chunk_ids want verified_by verified_on origin split tags history metadata"
    ),
    golden.GoldenSet: "name version items description",
    golden.Finding: "severity code message advice ids line",
    golden.Difference: "header added removed changed unchanged",
    golden.Change: "id fields",
    golden.Imported: "golden format left_out",
    panel.Diagnosis: "stages unknown",
    panel.RunDiagnosis: "answers failed first found unknown",
    gates.Gate: "metric at bound",
    gates.GateResult: "gate outcome value why noise",
    ratchet.Proposal: "gate proposed lowest runs why",
    Gap: "metric tune heldout gap interval smells perfect why",
    differing.Difference: "metric tag n unscored before after change interval gained lost p word no_worse",
    Comparison: "before after differs metrics slices changes only_before only_after edited context_changed notes missing",
    labels.Label: "exchange grounded id line labeller kind",
    calibration.Calibration: (
        "judge fingerprint models prompt_hash labels_hash n human by_model distinct human_ungrounded grounded ungrounded sensitivity specificity"
        " false_pass false_pass_upper balanced_accuracy kappa auroc sweep false_passes false_stops labels_needed target"
        " made notes"
    ),
    calibration.Row: "passed stopped unknown",
    calibration.Rate: "value interval n",
    calibrations.Stale: "calibration why",
    Usage: "input_tokens output_tokens",
    Timings: "retrieval generation judge total",
}

VALUES: dict[type[enum.Enum], str] = {
    groundguard.Status: "answered ungrounded no_context",
    groundguard.Decision: "supported unsupported unknown",
    groundguard.Reason: (
        "supported unsupported verdict_malformed judge_refused judge_filtered judge_truncated judge_timeout"
        " judge_rate_limited judge_error no_chunks blank_chunks retrieval_not_observed empty_answer"
    ),
    golden.Origin: "human synthetic",
    golden.Split: "tune heldout",
    golden.Want: "answer refusal",
    golden.Severity: "error warning note",
    gates.Bound: "value lower",
    gates.Outcome: "passed failed refused",
    labels.Labeller: "human model unsaid",
    records.ChunksFrom: "retriever given returned output recorded events not_observed",
}


@pytest.mark.parametrize("module", NAMES, ids=lambda module: module.__name__)
def test_names(module: ModuleType) -> None:
    assert sorted(module.__all__) == sorted(NAMES[module])
    assert all(hasattr(module, name) for name in module.__all__)


def test_a_name_that_is_not_there_is_an_error_as_in_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'groundguard' has no attribute 'Gard'"):
        _ = groundguard.Gard  # type: ignore[attr-defined]
    assert {*groundguard.__all__, "judges", "testing"} <= set(dir(groundguard))


def shown(parameter: inspect.Parameter, written: str) -> str:
    """A parameter without its annotation; a default is `*` where it is written so."""
    parameter = parameter.replace(annotation=parameter.empty)
    return f"{parameter.name}=*" if f"{parameter.name}=*" in written else str(parameter)


@pytest.mark.parametrize(("thing", "written"), SIGNATURES.items(), ids=lambda value: getattr(value, "__qualname__", ""))
def test_signatures(thing: Any, written: str) -> None:
    parameters = inspect.signature(thing).parameters.values()
    texts = [shown(parameter, written) for parameter in parameters]
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        texts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    if inspect.Parameter.POSITIONAL_ONLY in kinds:
        texts.append("/")
        texts[-2:] = [texts[-2], "/"]
    assert f"({', '.join(texts)})" == written


@pytest.mark.parametrize(("kind", "written"), FIELDS.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_fields(kind: Any, written: str) -> None:
    assert [field.name for field in dataclasses.fields(kind)] == written.split()
    assert kind.__dataclass_params__.frozen


@pytest.mark.parametrize(("kind", "written"), VALUES.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_values(kind: Any, written: str) -> None:
    assert [str(member) for member in kind] == written.split()
    assert issubclass(kind, enum.StrEnum)


def test_the_tree_of_errors() -> None:
    parents = {
        errors.GroundguardError: Exception,
        errors.UsageError: errors.GroundguardError,
        errors.InputError: errors.GroundguardError,
        errors.UngroundedError: errors.GroundguardError,
        errors.NoContextError: errors.UngroundedError,
        errors.GroundguardWarning: UserWarning,
    }
    assert {kind: kind.__base__ for kind in parents} == parents


def test_everything_public_has_a_docstring() -> None:
    for module in (groundguard, judges, models, policy, testing):
        assert module.__doc__
    for thing in SIGNATURES:
        assert inspect.getdoc(thing)
