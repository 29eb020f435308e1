"""The command line under test: in this process, and as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

import groundguard
from groundguard.cli.app import app
from groundguard.errors import forget_warnings

COMMAND = (sys.executable, "-m", "groundguard")


def invoke(*args, env=None, stdin=None):
    """Run a command in this process."""
    forget_warnings()
    result = CliRunner().invoke(app, [str(arg) for arg in args], env=env, input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def environment(**changes):
    """The environment of a process that finds groundguard and no key."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("OPENAI_", "PYTHON", "LC_"))}
    source = str(Path(groundguard.__file__).parents[1])
    return {**kept, "PYTHONPATH": source, **{key: value for key, value in changes.items() if value is not None}}


def process(*args, code=None, stdin=b"", **changes):
    """Run a command, or a line of Python, as a process of its own; bytes in and out."""
    command = (sys.executable, "-c", code) if code else (*COMMAND, *map(str, args))
    return subprocess.run(
        command, input=stdin, capture_output=True, env=environment(**changes), timeout=60, check=False
    )
