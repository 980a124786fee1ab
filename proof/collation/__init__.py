"""Collating witnesses of a text, without images: their differences, and the notes of their apparatus on these."""
