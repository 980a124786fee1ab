"""Readings of page images by other software: PAGE XML, ALTO and hOCR."""
