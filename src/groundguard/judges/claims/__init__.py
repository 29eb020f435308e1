"""The judge of single claims: calls of the model, strict readings of its replies, and what they amount to."""

from groundguard.judges.claims.judge import Claims

__all__ = ["Claims"]
