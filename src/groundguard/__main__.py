"""`python -m groundguard` is the command line."""

from groundguard.cli import main

if __name__ == "__main__":
    main()
