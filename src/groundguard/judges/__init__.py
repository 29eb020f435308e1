"""Judges: is the answer supported by those chunks?"""

from groundguard.judges.base import FunctionJudge, Judge, as_judge, fingerprint, judged
from groundguard.judges.fact_check import FactCheck
from groundguard.judges.lexical import Lexical
from groundguard.judges.window import Window

__all__ = ["FactCheck", "FunctionJudge", "Judge", "Lexical", "Window", "as_judge", "fingerprint", "judged"]
