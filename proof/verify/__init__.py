"""Verifying one page: its lines are compared with its columns, its characters with the glyphs; differences are
flags."""
