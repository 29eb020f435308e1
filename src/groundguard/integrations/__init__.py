"""Chains that we did not build: each framework in a file of its own, loaded on first need."""
