"""Offline evaluation: golden sets, runs, the panel, gates, comparison, calibration; by the guard of production.

```python
run = evaluate(load("golden.jsonl"), "app:chain", judge=Claims("openai:NAME"))
print(figures(run))
```
"""

from groundguard.evaluation.calibration.calibrate import acalibrate, calibrate
from groundguard.evaluation.calibration.record import Calibration
from groundguard.evaluation.comparison.compare import Comparison, compare
from groundguard.evaluation.figures import figures
from groundguard.evaluation.gates.gates import Gate, GateResult, held
from groundguard.evaluation.golden.items import GoldenItem, GoldenSet, Origin, Split, Want
from groundguard.evaluation.golden.reading import load
from groundguard.evaluation.overfit import overfit
from groundguard.evaluation.panel import Metric, Panel, diagnose_run
from groundguard.evaluation.results import Figure, Interval, ItemResult, Pins, Run, Score
from groundguard.evaluation.runner.budget import Budget
from groundguard.evaluation.runner.files import read_run, write_run
from groundguard.evaluation.runner.run import aevaluate, evaluate
from groundguard.evaluation.runner.work import Progress
from groundguard.evaluation.spread import spread

__all__ = [
    "Budget",
    "Calibration",
    "Comparison",
    "Figure",
    "Gate",
    "GateResult",
    "GoldenItem",
    "GoldenSet",
    "Interval",
    "ItemResult",
    "Metric",
    "Origin",
    "Panel",
    "Pins",
    "Progress",
    "Run",
    "Score",
    "Split",
    "Want",
    "acalibrate",
    "aevaluate",
    "calibrate",
    "compare",
    "diagnose_run",
    "evaluate",
    "figures",
    "held",
    "load",
    "overfit",
    "read_run",
    "spread",
    "write_run",
]
