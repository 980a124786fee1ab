"""What the parts of a page are labelled with."""

from enum import IntFlag


class Label(IntFlag):
    """What stands at a pixel; the bits of a label."""

    CORE = 1
    """The middle of a column of text, from its first to its last character."""
    TEXT = 2
    """A column of text, as wide as its glyphs."""
    NOTE = 4
    """The half-rows of a note."""
    LINE = 8
    """A rule, a frame, a line of a table."""
    OTHER = 16
    """Script that is no text of the page: fold strip, marginal title, headnote, page number."""
    PICTURE = 32
    """A figure, a seal, a ruler, a colour bar."""


LONG_SIDE_PX = 640
"""How long the longer side of a page is when its parts are labelled."""
