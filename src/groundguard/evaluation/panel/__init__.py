"""The panel: what is measured about each answer, and which stage of the pipeline is at fault."""

from groundguard.evaluation.panel.base import FunctionMetric, Metric, as_metric
from groundguard.evaluation.panel.context import ContextPrecision, ContextRecall
from groundguard.evaluation.panel.diagnosis import Diagnosis, RunDiagnosis, Stage, diagnose, diagnose_run
from groundguard.evaluation.panel.faithfulness import Faithfulness
from groundguard.evaluation.panel.refusal import Refusal, refused
from groundguard.evaluation.panel.relevancy import AnswerRelevancy
from groundguard.evaluation.panel.whole import Panel, panel

__all__ = [
    "AnswerRelevancy",
    "ContextPrecision",
    "ContextRecall",
    "Diagnosis",
    "Faithfulness",
    "FunctionMetric",
    "Metric",
    "Panel",
    "Refusal",
    "RunDiagnosis",
    "Stage",
    "as_metric",
    "diagnose",
    "diagnose_run",
    "panel",
    "refused",
]
