"""Conversations: each assistant turn is judged on an explicit evidence rule, live in a session or from a log."""

from groundguard.conversation.evidence import EvidenceRule, LastTurns, ThisTurn
from groundguard.conversation.recorded import aturn_faithfulness, turn_faithfulness
from groundguard.conversation.session import Session
from groundguard.conversation.summary import TurnFaithfulness, TurnResult

__all__ = [
    "EvidenceRule",
    "LastTurns",
    "Session",
    "ThisTurn",
    "TurnFaithfulness",
    "TurnResult",
    "aturn_faithfulness",
    "turn_faithfulness",
]
