"""A judge held against human labels, and what that is worth."""
