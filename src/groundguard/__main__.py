"""`python -m groundguard` is the command line."""

from groundguard.cli import main

main()
