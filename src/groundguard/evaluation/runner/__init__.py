"""A golden set through a pipeline: what is under test, what it may cost, and where the results are kept."""
