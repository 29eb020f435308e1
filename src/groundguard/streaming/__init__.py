"""The same path for answers that arrive in pieces: what leaves when, and what comes last.

The last item is always the labelled response. What leaves before it, the mode says: `after`, `hold` or `gate`.
"""

from groundguard.streaming.modes import Mode
from groundguard.streaming.stream import AsyncStream, Stream

__all__ = ["AsyncStream", "Mode", "Stream"]
