"""Witnesses against each other, without images: where they differ, and what the apparatus says about it."""
