"""What a run has to reach, and when to ask for more."""
