"""Golden sets: a versioned file of questions with hand-verified ground truth.

`load` reads one and `dump` writes one; `lock` notes what belongs to its version and `verify` holds it to that; `lint`
says what is wrong with it as an instrument; `split` holds a part out; `difference` compares two; `import_file` takes
over the files of ragas and deepeval. `SAMPLE` is one to try everything on.
"""

from groundguard.evaluation.golden.diff import Change, Difference, difference
from groundguard.evaluation.golden.finding import Finding, Severity
from groundguard.evaluation.golden.importing import Imported, import_file
from groundguard.evaluation.golden.items import GoldenItem, GoldenSet, Origin, Split, Want
from groundguard.evaluation.golden.lint import lint
from groundguard.evaluation.golden.lock import lock, lock_path, verify
from groundguard.evaluation.golden.reading import dump, load
from groundguard.evaluation.golden.sample import SAMPLE, write_sample
from groundguard.evaluation.golden.splitting import split

__all__ = [
    "SAMPLE",
    "Change",
    "Difference",
    "Finding",
    "GoldenItem",
    "GoldenSet",
    "Imported",
    "Origin",
    "Severity",
    "Split",
    "Want",
    "difference",
    "dump",
    "import_file",
    "lint",
    "load",
    "lock",
    "lock_path",
    "split",
    "verify",
    "write_sample",
]
