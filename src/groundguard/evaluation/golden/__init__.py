"""Golden sets: a versioned file of questions with hand-verified ground truth."""
