"""From what stands on the command line to target and panel; in this process, or in a worker of a cluster."""

from __future__ import annotations

from typing import Any

from groundguard.cli.exits import CommandError
from groundguard.cli.options import CLAIMS, judge_named
from groundguard.evaluation.panel import Panel
from groundguard.evaluation.panel import panel as usual_panel
from groundguard.evaluation.panel.whole import panel_of
from groundguard.evaluation.runner.plan import Metrics
from groundguard.evaluation.runner.run import targeted
from groundguard.evaluation.runner.target import GuardTarget, Target, resolve
from groundguard.guard import Guard
from groundguard.judges import Judge, as_judge

FACTORY = f"{__name__}:parts"
"""What a worker is told to call."""


def parts(
    target: str,
    *,
    judge: str | None = None,
    panel: str | None = None,
    constrained: bool | None = None,
    timeout: float = 30.0,
    question: str | None = None,
    chunks: str | None = None,
    answer: str | None = None,
) -> tuple[Target, Metrics]:
    """The target and the panel, each from the options of the same names.

    Raises:
        CommandError: if the judge is none, or an option does not go with it.
        InputError: if something that is named is not there.
        UsageError: if it is not what it should be.
    """
    found = named_or_own(judge or "lexical", constrained=constrained)
    system = targeted(target, Guard(found, timeout=timeout), question=question, chunks=chunks, answer=answer)
    if panel is not None:
        thing: Any = resolve(panel)
        return system, thing if isinstance(thing, Panel) else Panel(thing, timeout=timeout)
    if judge is None:
        own = system.guard.judge if isinstance(system, GuardTarget) else found
        return system, panel_of(own, timeout=timeout)
    model = judge.removeprefix(CLAIMS)
    if not model.startswith("openai:"):
        return system, panel_of(found, timeout=timeout)
    return system, usual_panel(model, found, constrained=constrained, timeout=timeout)


def named_or_own(name: str, *, constrained: bool | None) -> Judge:
    """The judge by its name, or the object that `module:object` names.

    Raises:
        CommandError: if it names none.
        InputError: if something that is named is not there.
        UsageError: if it is no judge, or the environment lacks what it needs.
    """
    if name == "lexical" or name.startswith(("openai:", CLAIMS)) or ":" not in name:
        return judge_named(name, constrained=constrained)
    if constrained is not None:
        raise CommandError("--constrained is for a judge by name: a judge of your own has options of its own")
    return as_judge(resolve(name))
