"""Names of test cases that are the same in every process: parallel workers must collect the same ones."""

from __future__ import annotations

import re


def steady(value: object) -> str:
    """The repr of a value, without where it lies in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
