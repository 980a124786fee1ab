"""The formats of image files, and the sizes of images, that are read.

Settings and lists of files need these names without the libraries that read images."""

from __future__ import annotations

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "JPEG2000", "GIF", "BMP")
"""Pillow's names of the formats that are read."""

SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".tif", ".tiff", ".webp", ".jp2", ".j2k", ".jpx", ".jpf", ".gif", ".bmp"}
)
"""Endings of image files, in lower case."""

DEFAULT_MAX_MEGAPIXELS = 100.0
"""Default of `max_megapixels`: an A3 sheet at 600 dpi has 70. Converting a colour image to grey takes 5 bytes a
pixel."""

PILLOW_MEGAPIXELS = 178.0
"""Greatest value of `max_megapixels`: Pillow refuses larger images."""
