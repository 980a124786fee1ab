"""Measuring which errors a run and its proofreaders miss: samples, seeded errors, and scores against a key."""
