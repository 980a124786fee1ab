"""What the parts of a page are labelled with."""

from enum import IntFlag


class Label(IntFlag):
    """What stands at a pixel; the bits of a label."""

    CORE = 1
    """The middle of a column of text, from its first to its last character."""
    TEXT = 2
    """A column of text, as wide as its glyphs."""
    RIGHT = 4
    """The right half-row of a note."""
    LEFT = 8
    """The left half-row of a note."""
    LINE = 16
    """A rule, a frame, a line of a table."""
    OTHER = 32
    """Script that is no text of the page: fold strip, marginal title, headnote, page number."""
    PICTURE = 64
    """A figure, a seal, a ruler, a colour bar."""


SIDE_PX = 640
"""The square root of the area, in pixels, at which a page is labelled: all pages have about as many pixels."""
