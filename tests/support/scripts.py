"""Python programs in a process of their own: for what can be set or seen only once in a process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

PREAMBLE = """
import asyncio
from groundguard import *
from groundguard.testing import *
"""


def run_script(code: str, *, preamble: str = PREAMBLE) -> subprocess.CompletedProcess[str]:
    """Run a program, warnings as errors; it must end well."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "COV", "OPENAI_"))
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", preamble + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done
