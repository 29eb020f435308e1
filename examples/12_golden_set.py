"""A golden set: load the sample, lint it, hold it to its lock, split it anew, and ask a chain one of its questions."""

import datetime as dt
import tempfile
from dataclasses import replace
from pathlib import Path

from groundguard.errors import InputError
from groundguard.evaluation.golden import Split, dump, lint, load, split, write_sample
from groundguard.evaluation.golden.sample import chain

TODAY = dt.datetime.now(tz=dt.UTC).date()

with tempfile.TemporaryDirectory() as folder:
    file = write_sample(Path(folder, "insurer"))
    golden = load(file, locked=True)
    print(golden.name, golden.version, len(golden.items), "items,", len(lint(golden, today=TODAY)), "findings")

    item = next(item for item in golden.items if item.id == "c-cash")
    print(item.question, "->", item.answer, item.chunk_ids)
    print("good:   ", chain.good(item.question)[0])
    print("invents:", chain.invents(item.question)[0])

    for finding in lint(replace(golden, items=golden.items[:9]), today=TODAY):
        print(f"{finding.severity}  {finding.code}: {finding.message}; {finding.advice}")

    again = split(golden, heldout=0.3, force=True)
    print(sum(item.split is Split.HELDOUT for item in again.items), "of", len(again.items), "held out")
    dump(again, file)  # other items, the same version
    try:
        load(file, locked=True)
    except InputError as error:
        print(error)
