"""The statistics of an evaluation, in plain Python: pure functions of numbers, each with the source of its formula."""
