"""The recipes under docs/observability: their Python blocks, run as a user would run them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
APP = (ROOT / "tests" / "support" / "guarded_app.py").read_text("utf-8")
OURS = ("OTEL_", "OPENINFERENCE_", "COV", "OPENAI_", "PHOENIX_", "MLFLOW_")


def blocks(page: str) -> list[str]:
    """The Python blocks of a page, in order."""
    text = (ROOT / "docs" / "observability" / f"{page}.md").read_text("utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without what would change the outcome, and with `given`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {**kept, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", **given}


def run_program(*parts: str, folder: Path, given: Mapping[str, str]) -> list[dict[str, Any]]:
    """Run parts one after the other as one program; it must end well, say nothing but JSON lines, and nothing on stderr."""
    program = folder / "program.py"
    program.write_text("\n".join(parts), "utf-8")
    done = subprocess.run(
        [sys.executable, program],
        cwd=folder,
        env=environment(given),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]
