"""The labels of the parts of a page."""

from enum import IntFlag


class Label(IntFlag):
    """The labels of a pixel, as bits: a pixel may have several."""

    CORE = 1
    """The middle of a column of text, from its first to its last character."""
    TEXT = 2
    """A column of text, as wide as its glyphs."""
    RIGHT = 4
    """The right half-row of a note."""
    LEFT = 8
    """The left half-row of a note."""
    LINE = 16
    """A rule, the line of a frame or a table."""
    OTHER = 32
    """Script outside the text of the page: fold strip, marginal title, headnote, page number."""
    PICTURE = 64
    """A figure, a seal, a ruler, a colour bar."""


SIDE_PX = 640
"""Pages are scaled to the area of a square with this side, in pixels, before they are labelled."""
