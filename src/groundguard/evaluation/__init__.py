"""Offline evaluation: golden sets, runs, the panel, gates, comparison, calibration; with the guard and judges of production."""
