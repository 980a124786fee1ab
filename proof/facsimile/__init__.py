"""Draws pages from a text, with wear, and records the true box of every character."""
