"""Seals that stand where a column could: told by their frame, which is larger than any glyph of the page."""

from __future__ import annotations

from proof.layout.rules import Mask, connected

MIN_SEAL_SIDE = 1.2
"""Widths of a glyph: the side of a seal is longer; a single character in a frame of its own (國) has one at most."""

MAX_SEAL_SIDE = 4.5
"""Widths of a glyph: the side of a seal is shorter."""

SQUARE = 1.35
"""A seal is no longer than so many times its breadth."""

ALONE = 0.5
"""Of the height of all that is looked at: a seal over text is lower."""

FRAME_SIDES = 0.12
"""Of the side of a seal: within so much of its edge runs its frame."""

MIN_CLOSED_SHARE = 0.85
"""Of each side of a seal: so much has ink at its edge."""


def is_seal(ink: Mask, glyph: float) -> bool:
    """Whether what stands in `ink` is a seal: its largest piece as high as half of it at least, nearly a square, larger
    than a glyph, which is `glyph` pixels wide, and closed on its four sides."""
    labels, boxes, _ = connected(ink)
    if len(boxes) < 2:
        return False
    number = 1 + int((boxes[1:, 2] * boxes[1:, 3]).argmax())
    x, y, width, height, _ = boxes[number].tolist()
    if height < ALONE * ink.shape[0]:
        return False
    if (
        not MIN_SEAL_SIDE * glyph
        < min(height, width)
        <= max(height, width)
        < min(MAX_SEAL_SIDE * glyph, SQUARE * min(height, width))
    ):
        return False
    own = labels[y : y + height, x : x + width] == number
    down, over = max(2, round(FRAME_SIDES * height)), max(2, round(FRAME_SIDES * width))
    sides = own[:down].any(axis=0), own[-down:].any(axis=0), own[:, :over].any(axis=1), own[:, -over:].any(axis=1)
    return all(float(side.mean()) > MIN_CLOSED_SHARE for side in sides)
