"""Exports: the corrected source, its changes, and formats for other tools."""
