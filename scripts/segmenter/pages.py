"""Whole pages with labels, of any kind: one leaf or an opening, registers, tables, figures, empty halves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np

from proof.layout.labels import Label
from scripts.segmenter.canvas import NARROWEST_PITCH_PX, Block, Canvas, Setting, column, filled, paired, script, setting
from scripts.segmenter.glyphs import GlyphPool
from scripts.segmenter.pictures import (
    black_edges,
    edge_of_fold,
    figure,
    fish_tail,
    holes_and_thumbs,
    littered_edge,
    marginalia,
    outside_things,
    seals,
    surround,
)

SHAPES = ((832, 512), (736, 576), (640, 640), (576, 736), (512, 832))
"""Height and width of the pages that are drawn, in pixels: of about the same area."""


WELL_RULED = 0.95, 0.8, 1.0
"""Of the rules are printed, and how black and how thick (px) they are at least where they alone tell two columns of
small script from two columns of text."""

RULED_FRAMES = ("single", "double", "thick")
FRAMES = ("none", "none", "single", "double", "ends", "sides")


@dataclass(frozen=True, slots=True)
class Make:
    """How a page is made: `pitch` of its columns in pixels; which lines are printed, how thick (px), how black and how
    much of them; `regular` is a page whose columns are full.
    """

    pitch: float
    registers: int
    ruled: bool
    frame: str
    parted: str
    rule_px: float
    frame_px: float
    strength: float
    printed: float
    aligned: bool
    fold: str
    table: bool
    titles: float
    empty: float
    figures: float
    glossed: float
    regular: bool
    well_ruled: bool
    paired: bool
    alternate: bool
    glossed_along: bool
    missing: float
    level_notes: bool


def _make(canvas: Canvas, leaf_width: float, leaf_height: float) -> Make:
    rng = canvas.rng
    few = canvas.chance(0.1)
    count = canvas.between(2.5, 7) if few else float(np.exp(canvas.between(np.log(6), np.log(26))))
    if leaf_width < 0.6 * leaf_height:
        count = min(count, 14)
    table = canvas.chance(0.06)
    ruled = table or canvas.chance(0.5)
    printed = float(rng.choice([1.0, 1.0, 0.95, 0.85, 0.6, 0.35, 0.15]))
    rule_px = float(rng.choice([0.5, 0.8, 1, 1.3, 2, 3]))
    strength = canvas.between(0.25, 1.0) if canvas.chance(0.5) else canvas.between(0.8, 1.0)
    well_ruled = (
        ruled and not table and all(a >= b for a, b in zip((printed, strength, rule_px), WELL_RULED, strict=True))
    )
    glossed_along = not table and canvas.chance(0.05)
    missing = canvas.between(0.1, 0.95) if ruled and not table and canvas.chance(0.2) else 0.0
    return Make(
        max(NARROWEST_PITCH_PX, leaf_width / count),
        int(rng.integers(3, 9) if table else rng.choice(6, p=[0.66, 0.18, 0.08, 0.04, 0.02, 0.02]) + 1),
        ruled,
        str(rng.choice(RULED_FRAMES if ruled else FRAMES)),
        "line" if table else str(rng.choice(["line", "gap", "both"])),
        rule_px,
        float(rng.choice([1, 2, 3, 4, 6, 9])),
        strength,
        printed,
        canvas.chance(0.55),
        str(rng.choice(["none", "strip", "outer", "outer"])),
        table,
        canvas.between(0.02, 0.25) if canvas.chance(0.3) else 0.0,
        0.35 if canvas.chance(0.12) else 0.03,
        0.5 if canvas.chance(0.08) else 0.03,
        canvas.between(0.3, 1.0) if glossed_along else canvas.between(0.05, 0.5) if canvas.chance(0.08) else 0.0,
        canvas.chance(0.55),
        well_ruled and not missing,
        well_ruled and not missing and canvas.chance(0.15),
        canvas.chance(0.06),
        glossed_along,
        missing,
        canvas.chance(0.05),
    )  # fmt: skip


def labelled_page(pool: GlyphPool, rng: np.random.Generator, shape: tuple[int, int]) -> Canvas:
    """A page at random of this height and width; ink and labels, before it is photographed."""
    canvas = Canvas.blank(pool, rng, *shape)
    canvas.jitter = float(rng.choice([0.0, 0.02, 0.04, 0.08]))
    canvas.uneven = float(rng.choice([0.0, 0.04, 0.1, 0.3], p=[0.3, 0.4, 0.2, 0.1]))
    height, width = shape
    opening = canvas.chance(0.85 if width > 1.1 * height else 0.4 if width == height else 0.06)
    sides = rng.uniform(0.005, 0.13, 4) if canvas.chance(0.8) else rng.uniform(0.02, 0.32, 4)
    if canvas.chance(0.25):
        sides[2:] = sides[:2] = rng.uniform(0.0, 0.03)
    block = (sides[0] * width, sides[1] * height, (1 - sides[2]) * width, (1 - sides[3]) * height)
    make = None
    sort = rng.random()
    if sort < 0.03:
        _without_text(canvas, block)
    elif sort < 0.07:
        # two sheets, one above the other, on one image
        middle = (block[1] + block[3]) / 2
        gap = canvas.between(0.005, 0.05) * height
        make = _make(canvas, (block[2] - block[0]) / (2.1 if opening else 1), (block[3] - block[1]) / 2)
        for rows in ((block[1], middle - gap), (middle + gap, block[3])):
            _sheet(canvas, make, (block[0], rows[0], block[2], rows[1]), opening)
    else:
        make = _make(canvas, (block[2] - block[0]) / (2.1 if opening else 1), block[3] - block[1])
        _sheet(canvas, make, block, opening)
        marginalia(canvas, block, make.pitch)
    outside_things(canvas, block, pitch=make.pitch if make else 0.0)
    if canvas.chance(0.3):
        seals(canvas, block, int(rng.integers(1, 4 if canvas.chance(0.8) else 9)))
    if canvas.chance(0.1):
        black_edges(canvas)
    if canvas.chance(0.15):
        littered_edge(canvas, block)
    if canvas.chance(0.25):
        surround(canvas, block)
    holes_and_thumbs(canvas)
    return canvas


def _without_text(canvas: Canvas, block: Block) -> None:
    """A cover, an empty leaf, a figure, a leaf with a label: nothing that is a column of text, or a title alone."""
    left, top, right, bottom = block
    sort = canvas.rng.random()
    if sort < 0.35:
        figure(canvas, block)
    elif sort < 0.6:
        make = _make(canvas, right - left, bottom - top)
        _leaf(canvas, make, block, single=True, blank=True, outer=False)
    seals(canvas, block, int(canvas.rng.integers(1, 6)))
    outside_things(canvas, block, lone=True)


def _sheet(canvas: Canvas, make: Make, block: Block, opening: bool) -> None:
    """A leaf, or the two leaves of an opening with what stands between them."""
    if not opening:
        _leaf(canvas, make, block, single=True, blank=canvas.chance(0.02), outer=False)
        return
    left, top, right, bottom = block
    gap = make.pitch * canvas.between(0.1, 2.6)
    middle = (left + right) / 2 + canvas.between(-0.02, 0.02) * canvas.width
    if make.fold == "strip":
        gap = make.pitch * canvas.between(0.45, 1.5)
        if make.frame not in ("none", "sides"):
            for y in (top, bottom):
                canvas.line((middle - gap / 2, y), (middle + gap / 2, y), make.frame_px, make.strength)
        _strip(canvas, make, (middle - gap / 2, top, middle + gap / 2, bottom))
    elif gap > 0.7 * make.pitch and canvas.chance(0.3):
        wide = min(gap, make.pitch) * canvas.between(0.4, 0.75)
        script(canvas, middle, top + canvas.between(0.05, 0.6) * (bottom - top), wide, int(canvas.rng.integers(2, 12)))
    for number, leaf in enumerate([(middle + gap / 2, top, right, bottom), (left, top, middle - gap / 2, bottom)]):
        free = make.fold != "strip" and gap > make.pitch
        shift = canvas.between(-0.015, 0.015) * (bottom - top) if free else 0.0
        own = (leaf[0], max(3.0, leaf[1] + shift), leaf[2], min(canvas.height - 3.0, leaf[3] + shift))
        _leaf(canvas, make, own, single=False, blank=canvas.chance(0.08), outer=bool(number))


def _strip(canvas: Canvas, make: Make, place: Block, size: float = 0.0) -> None:
    """A fold strip: a title in pieces, fish tails, black bars, a page number."""
    left, top, right, bottom = place
    wide, x = right - left, (left + right) / 2
    size = size or min(0.9 * wide, make.pitch) * canvas.between(0.4, 0.9)
    y = top + canvas.between(0.0, 0.12) * (bottom - top)
    if canvas.chance(0.25):
        bar = canvas.between(0.5, 0.5 * wide)
        filled(canvas, [(x - bar / 2, top), (x + bar / 2, top), (x + bar / 2, y + size), (x - bar / 2, y + size)])
        y += size
    for _ in range(int(canvas.rng.integers(1, 5))):
        count = int(canvas.rng.integers(1, 9))
        if size < 3 or y + count * 1.4 * size > bottom:
            break
        if canvas.chance(0.12) and count > 1:
            for side in (0.27, -0.27):
                script(canvas, x + side * size, y + size, 0.5 * size, count)
        else:
            script(canvas, x, y + size, size, count)
        y += (count + 1) * 1.3 * size
        if canvas.chance(0.6) and y + wide < bottom:
            fish_tail(canvas, (left + 1, y, right - 1, y + canvas.between(0.4, 1.0) * min(wide, make.pitch)))
            y += min(wide, make.pitch)
        if canvas.chance(0.3):
            canvas.line((left, y), (right, y), make.rule_px, make.strength)
        y += canvas.between(0.0, 0.3) * (bottom - y)
        size *= canvas.between(0.6, 1.1)
    if canvas.chance(0.2):
        filled(
            canvas,
            [
                (x - 0.1 * wide, bottom - 2 * wide),
                (x + 0.1 * wide, bottom - 2 * wide),
                (x + 0.1 * wide, bottom),
                (x - 0.1 * wide, bottom),
            ],
        )
    canvas.mark(Label.OTHER, left + 0.1 * wide, top, right - 0.1 * wide, bottom)


def _half_strip(canvas: Canvas, make: Make, edge: float, top: float, bottom: float, at_left: bool) -> None:
    """Half of a fold strip beyond the frame, its glyphs cut through at the fold, or a narrow strip that is whole."""
    if canvas.chance(0.3):
        wide, gap = make.pitch * canvas.between(0.3, 0.65), canvas.between(0.0, 0.5) * make.pitch
        x = edge - gap - wide if at_left else edge + gap
        if x > 0 and x + wide < canvas.width:
            _strip(canvas, make, (x, top, x + wide, bottom))
        return
    size = make.pitch * canvas.between(0.4, 0.95)
    half = canvas.between(0.5, 0.9) * size
    gap = canvas.between(0.0, 0.35) * make.pitch
    fold = edge - gap - half if at_left else edge + gap + half
    cut = fold + canvas.between(-0.1, 0.35) * size * (1 if at_left else -1)
    hidden = slice(0, max(0, round(cut))) if at_left else slice(max(0, round(cut)), canvas.width)
    before, labels = canvas.ink[:, hidden].copy(), canvas.labels[:, hidden].copy()
    _strip(canvas, make, (fold - half, top, fold + half, bottom), size)
    canvas.ink[:, hidden], canvas.labels[:, hidden] = before, labels
    if canvas.chance(0.3):
        edge_of_fold(canvas, cut, (top, bottom), at_left)


def _leaf(canvas: Canvas, make: Make, place: Block, single: bool, blank: bool, outer: bool) -> None:
    """One leaf: its frame, its registers, and half a fold strip at one of its sides."""
    left, top, right, bottom = place
    if make.fold == "strip" and single and right - left > 5 * make.pitch:
        wide = make.pitch * canvas.between(0.35, 1.1)
        at_left = canvas.chance(0.5)
        strip = (left, top, left + wide, bottom) if at_left else (right - wide, top, right, bottom)
        _strip(canvas, make, strip)
        if canvas.chance(0.7):
            edge = strip[2] if at_left else strip[0]
            canvas.line((edge, top), (edge, bottom), make.rule_px, make.strength, make.printed)
        left, right = (strip[2], right) if at_left else (left, strip[0])
    if make.fold == "outer":
        at_left = outer or (single and canvas.chance(0.5))
        room = left if at_left else canvas.width - right
        if room < 0.9 * make.pitch and right - left > 4 * make.pitch:
            # make room for it within the image
            left, right = (left + 0.9 * make.pitch, right) if at_left else (left, right - 0.9 * make.pitch)
        _half_strip(canvas, make, left if at_left else right, top, bottom, at_left)
    _frame(canvas, make, (left, top, right, bottom))
    if blank and not make.ruled:
        return
    text = left, right
    if not blank and canvas.chance(make.figures + 0.04):
        wide = (1.0 if canvas.chance(0.15) else canvas.between(0.2, 0.9)) * (right - left)
        at_left = canvas.chance(0.5)
        drawing = (left, top, left + wide, bottom) if at_left else (right - wide, top, right, bottom)
        if canvas.chance(0.3):
            drawing = (drawing[0], top, drawing[2], top + canvas.between(0.4, 0.8) * (bottom - top))
        figure(canvas, drawing)
        text = (drawing[2], right) if at_left else (left, drawing[0])
    if not blank and canvas.chance(make.empty):
        # the text ends somewhere
        text = (max(text[0], left + canvas.between(0.2, 0.8) * (right - left)), text[1])
    if text[1] - text[0] < 1.2 * make.pitch:
        return
    _registers(canvas, make, (left, top, right, bottom), text, blank)


def _frame(canvas: Canvas, make: Make, place: Block) -> None:
    left, top, right, bottom = place
    if make.frame == "none":
        return
    outs = [(0.0, make.frame_px)]
    if make.frame == "double":
        outs = [(0.0, min(make.rule_px, 1.5)), (canvas.between(2, 8), make.frame_px)]
    printed = 1.0 if canvas.chance(0.6) else max(canvas.between(0.7, 1.0), make.printed)
    for out, thick in outs:
        if make.frame != "ends":
            for x in (left - out, right + out):
                canvas.line((x, top - out), (x, bottom + out), thick, make.strength, printed)
        if make.frame != "sides":
            for y in (top - out, bottom + out):
                canvas.line((left - out, y), (right + out, y), thick, make.strength, printed)
    if canvas.chance(0.06):
        for x in (left, right):
            for y in (top, bottom):
                size = round(canvas.between(0.2, 0.8) * make.pitch)
                cv2.ellipse(canvas.ink, (round(x), round(y)), (size, size), 0, 0, 360, (230,), 1 + size // 8)
    if canvas.chance(0.1):
        # an ear beside the frame
        wide, high = canvas.between(0.4, 0.8) * make.pitch, canvas.between(2, 6) * make.pitch
        x = left - wide if canvas.chance(0.5) else right
        if x > 0 and x + wide < canvas.width and top + high < bottom:
            cv2.rectangle(canvas.ink, (round(x), round(top)), (round(x + wide), round(top + high)), (230,), 1)
            script(canvas, x + wide / 2, top + wide, 0.7 * wide, max(1, int(high / wide) - 1))


def _registers(canvas: Canvas, make: Make, place: Block, text: tuple[float, float], blank: bool) -> None:
    left, top, right, bottom = place
    shares = canvas.rng.uniform(0.85, 1.15, make.registers)
    if canvas.chance(0.35):
        shares = canvas.rng.uniform(0.15, 1.3, make.registers)
    edges = top + np.concatenate([[0.0], np.cumsum(shares) / shares.sum()]) * (bottom - top)
    room = canvas.between(0.05, 0.5) * make.pitch if make.parted != "gap" else canvas.between(0.5, 1.5) * make.pitch
    count = max(1, round((right - left) / make.pitch))
    how, uneven = None, canvas.between(0.0, 0.12) if canvas.chance(0.2) else 0.0
    canvas.wander = canvas.between(0.3, 0.2 * make.pitch) if canvas.chance(0.2) and not make.ruled else 0.0
    widths = None
    for number in range(make.registers):
        own = count if make.aligned else max(2, count + int(canvas.rng.integers(-3, 4)))
        pitch = max(NARROWEST_PITCH_PX, (right - left) / own)
        own = max(1, int((right - left) / pitch + 0.01))
        high, low = float(edges[number]), float(edges[number + 1])
        if number and (make.parted != "gap" or make.ruled):
            canvas.line((left, high), (right, high), make.rule_px, make.strength, max(0.7, make.printed))
        inner = (high + (room / 2 if number else canvas.between(1, 5)), low - room / 2)
        if how is None or not make.aligned or canvas.chance(0.3):
            how = setting(canvas, pitch, make.ruled, make.well_ruled)
            if make.paired:
                how = paired(canvas, how)
            if make.table:
                how = replace(how, blank=how.blank + 0.05, raised=0.0, short=0.9, indent=0)
            elif make.regular:
                how = replace(how, blank=min(how.blank, 0.05), spaced=min(how.spaced, 0.1), ragged=0.0,
                              short=min(how.short, 0.15))  # fmt: skip
            if make.level_notes:
                start = canvas.between(0.0, 0.7)
                how = replace(
                    how, level=(start, start + canvas.between(0.15, 0.7)), notes=0.0, whole_notes=0.0, spaced=0.0
                )
            if make.alternate and canvas.chance(0.6):
                how = replace(how, blank=0.0, notes=0.0, whole_notes=0.0, short=0.05)
        if number:
            how = replace(how, raised=0.0)
        if widths is None or len(widths) != own:
            widths = pitch * (1 + uneven * canvas.rng.normal(0, 1, own))
            widths *= own * pitch / widths.sum()
        ruled = make.ruled if make.aligned or make.paired or canvas.chance(0.7) else not make.ruled
        _columns(canvas, replace(make, ruled=ruled), how, widths, text, (right, high, low), inner, blank)
    canvas.wander = 0.0


def _columns(
    canvas: Canvas, make: Make, how: Setting, widths: np.ndarray[tuple[int], np.dtype[np.float64]],
    text: tuple[float, float], outer: tuple[float, float, float], inner: tuple[float, float], blank: bool,
) -> None:  # fmt: skip
    """The columns of one register, right to left; `outer` is its right side, its top and its foot."""
    right, high, low = outer
    if inner[1] - inner[0] < 0.9 * how.cell:
        return
    shift = 0.0 if make.ruled else canvas.between(-0.1, 0.1) * how.pitch
    gloss = canvas.between(0.2, 0.36) * how.pitch
    if make.glossed_along:
        narrower = min(1.0, (how.pitch - 1.1 * gloss) / how.wide)
        how = replace(how, wide=narrower * how.wide, high=narrower * how.high)
    short_end = inner[0] + canvas.between(0.15, 0.7) * (inner[1] - inner[0])
    edge, k = right, 0
    wide_titles = make.titles if inner[1] - inner[0] > 3 * how.pitch else 0.0
    while k < len(widths):
        wide, own = float(widths[k]), how
        titled = k + 1 < len(widths) and not blank and canvas.chance(wide_titles + (2 * wide_titles if not k else 0))
        if titled:
            # a heading over two columns, with no rule between them
            wide += float(widths[k + 1])
            k += 1
            big = canvas.between(0.75, 1.15) * how.wide * 2 * canvas.between(0.7, 1)
            own = replace(how, pitch=wide, wide=big, high=big * canvas.between(0.85, 1.1),
                          cell=big * canvas.between(0.95, 1.4), whole_notes=0.0, notes=how.notes / 2, short=0.7,
                          points=0.0, side_marks=0.0)  # fmt: skip
        x = edge - wide / 2
        if make.ruled and edge < right - 1 and not canvas.chance(make.missing):
            lean = canvas.between(-0.8, 0.8)
            foot = low if canvas.chance(0.95) else canvas.between(high, low)
            canvas.line((edge, high), (edge + lean, foot), make.rule_px, make.strength, make.printed)
        edge -= wide
        k += 1
        if blank or not text[0] - 1 <= x - wide / 2 <= x + wide / 2 <= text[1] + 1:
            continue
        short = make.alternate and k % 2 == 0 and short_end - inner[0] > how.cell
        column(canvas, own, x + shift, inner[0], short_end if short else inner[1], plain=titled)
        if make.glossed and how.pitch > 11 and canvas.chance(make.glossed):
            _gloss(canvas, gloss, x + shift - how.pitch / 2, inner, make.glossed_along)


def _gloss(canvas: Canvas, size: float, x: float, rows: tuple[float, float], along: bool) -> None:
    """A reader's or printer's line in small script between two columns, as far as these go (`along`) or shorter."""
    y = canvas.between(rows[0], rows[0] + 4 * size) if along else canvas.between(*rows)
    most = int((rows[1] - y) / (1.4 * size))
    count = round(canvas.between(0.4, 1.0) * most) if along else min(int(canvas.rng.integers(2, 16)), most)
    script(canvas, x, y, size, max(1, count))
