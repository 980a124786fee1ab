"""Samples and seeded errors: what a run and its readers miss."""
