"""Measures against known truth: `python -m scripts.bench`."""
