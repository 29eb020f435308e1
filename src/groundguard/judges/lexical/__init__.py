"""The embedded judge: `judge` compares each statement's `tokens` with the `evidence`, by `match` and `order`."""

from groundguard.judges.lexical.judge import Lexical

__all__ = ["Lexical"]
