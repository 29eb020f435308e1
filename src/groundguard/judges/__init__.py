"""Judges: is the answer supported by those chunks?"""

from groundguard.judges.base import FunctionJudge, Judge, as_judge, fingerprint, judged
from groundguard.judges.claims import Claims
from groundguard.judges.compose import Cascade, Majority
from groundguard.judges.conversation import Conversation
from groundguard.judges.decide import Decide
from groundguard.judges.entailment import Entailment
from groundguard.judges.fact_check import FactCheck
from groundguard.judges.lexical import Lexical
from groundguard.judges.window import Window

__all__ = [
    "Cascade",
    "Claims",
    "Conversation",
    "Decide",
    "Entailment",
    "FactCheck",
    "FunctionJudge",
    "Judge",
    "Lexical",
    "Majority",
    "Window",
    "as_judge",
    "fingerprint",
    "judged",
]
