"""Every numbered example runs, offline, and prints what it is about."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("[0-9]*.py"))

PRINTS = {
    "01_plain_functions": ["answered", "ungrounded  unsupported", "no_context  no_chunks"],
    "02_decorator": ["answered", "ungrounded (unsupported) -> The warranty lasts ten years."],
    "03_langchain": ["answered"],
    "04_streaming": [
        "'on 240 volts.'\n   ungrounded",
        "'Better ask an electrician.'\n   ungrounded",
        "(experimental):\n   'It has a steel foot.'\n   ungrounded",
    ],
    "05_spans": [
        "invoke_workflow groundguard  CHAIN  answered",
        "  retrieval groundguard  RETRIEVER",
        "  groundguard check  GUARDRAIL  answered\n    chat scripted  LLM",
    ],
    "07_regenerate": [
        "answered    The Aldona lamp runs on 12 volts.\n  before: The Aldona lamp runs on 240 volts.",
        "answered    It has a steel foot.\n  before:",
        "- cut: The Aldona lamp runs on 240 volts.",
        "no_context  I don't know.",
    ],
    "08_conversation": [
        "ThisTurn()  no_context  The cord of the lamp is 240 cm long.",
        "LastTurns(turns=2)  answered    The cord of the lamp is 240 cm long.",
        "headline 0.33, mean 0.5, 2 of 3 turns scored",
    ],
    "10_llama_index": [
        "answered  supported  The lamp runs on 12 volts.",
        "ungrounded  unsupported  The lamp runs on 240 volts.",
        "no_context  no_chunks  Empty Response",
        "['The lamp runs ', 'on 12 volts.', <Status.ANSWERED: 'answered'>]",
        "answered - The lamp runs on 12 volts. - 2 messages",
    ],
    "12_golden_set": [
        "quillwater 1 60 items, 0 findings",
        "How much cash at home is insured? -> Up to 1,500 euros. ('contents.md#valuables',)",
        "good:    Cash at home is insured up to 1,500 euros.\ninvents: Cash at home is insured up to 1,500 euros. On",
        "warning  few-items: 9 items only",
        "18 of 60 held out",
        "items changed, but the version is still '1' (changed: ",
    ],
}

NEEDS = {"10_llama_index": "llama_index.core"}


@pytest.mark.parametrize("name", sorted(PRINTS))
def test_the_example_prints(name):
    pytest.importorskip(NEEDS.get(name, "groundguard"))
    done = run(next(path for path in EXAMPLES if path.stem == name))
    assert done.returncode == 0, done.stderr
    assert [line for line in PRINTS[name] if line not in done.stdout] == []


def test_no_example_is_left_out():
    assert {path.stem for path in EXAMPLES} == {
        *PRINTS,
        "06_model_judge",
        "09_fastapi",
        "11_phoenix",
    }  # one needs a key, one serves: see test_fastapi.py, one needs Phoenix: see backends/test_phoenix.py


def run(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=60, check=False)
