"""What stands on images of pages beside text: figures, seals, rulers, bars of colour, labels, neighbouring leaves."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.layout.labels import Label
from scripts.segmenter.canvas import Block, Canvas, filled, script

Pixels = NDArray[np.uint8]

LATIN = ("123", "No. 47", "IMG_0032", "p. 12", "KUL 1928", "- 5 -", "Library of the University", "https://",
         "Color Control", "0 1 2 3 4 5", "T 2103", "File  Edit  View", "12 / 340")  # fmt: skip


def figure(canvas: Canvas, place: Block) -> None:
    """A drawing of lines, circles, boxes, curves and hatching, with some characters on it."""
    left, top, right, bottom = place
    wide, high = right - left, bottom - top
    if wide < 12 or high < 12:
        return
    sort = canvas.rng.random()
    if sort < 0.3:
        _diagram(canvas, place)
    elif sort < 0.65:
        _landscape(canvas, place)
    else:
        _strokes(canvas, place)
    labelled = int(canvas.rng.choice([0, 0, 2, 8, 20]))
    for _ in range(int(canvas.rng.integers(0, labelled + 1))):
        size = min(canvas.between(7, 24), 0.4 * wide, 0.4 * high)
        x, y = canvas.between(left + size, right - size), canvas.between(top + size, bottom - size)
        count = int(canvas.rng.integers(1, 7))
        if canvas.chance(0.3):
            box = round(x - 0.7 * size), round(y - 0.8 * size), round(1.4 * size), round(1.3 * size * count)
            cv2.rectangle(canvas.ink, box, (0,), -1)
            cv2.rectangle(canvas.ink, box, (230,), 1)
        script(canvas, x, y, size, count, Label.PICTURE, canvas.chance(0.2))
    canvas.labels[max(0, round(top)) : round(bottom), max(0, round(left)) : round(right)] |= np.uint8(Label.PICTURE)


def _diagram(canvas: Canvas, place: Block) -> None:
    """Circles within circles, spokes, boxes within boxes, lines between them."""
    left, top, right, bottom = place
    x, y = round((left + right) / 2), round((top + bottom) / 2)
    thick = int(canvas.rng.integers(1, 4))
    largest = canvas.between(0.3, 0.49) * min(right - left, bottom - top)
    round_ones = canvas.chance(0.6)
    for share in np.sort(canvas.rng.uniform(0.2, 1.0, int(canvas.rng.integers(1, 7)))):
        radius = round(share * largest)
        if round_ones:
            cv2.circle(canvas.ink, (x, y), radius, (240,), thick, cv2.LINE_AA)
        else:
            cv2.rectangle(canvas.ink, (x - radius, y - radius), (x + radius, y + radius), (240,), thick)
        if canvas.chance(0.4) and radius > 20:
            size = canvas.between(6, 14)
            for angle in np.arange(0, 6.28, canvas.between(0.2, 0.8)):
                at = radius - size
                canvas.glyph(x + at * float(np.cos(angle)), y + at * float(np.sin(angle)), size, size)
    for angle in canvas.rng.uniform(0, 6.28, int(canvas.rng.integers(0, 13))):
        end = round(x + largest * float(np.cos(angle))), round(y + largest * float(np.sin(angle)))
        cv2.line(canvas.ink, (x, y), end, (240,), 1, cv2.LINE_AA)


def _landscape(canvas: Canvas, place: Block) -> None:
    """Winding outlines with hatching along them, dense patches: hills, robes, trees, buildings."""
    left, top, right, bottom = place
    wide, high = right - left, bottom - top
    for _ in range(int(canvas.rng.integers(3, 26))):
        start = canvas.rng.uniform((left, top), (right, bottom))
        steps = int(canvas.rng.integers(10, 60))
        turns = np.cumsum(canvas.rng.normal(0, canvas.between(0.1, 0.6), steps)) + canvas.between(0, 6.28)
        reach = canvas.between(0.008, 0.04) * max(wide, high)
        path = start + np.cumsum(np.stack([np.cos(turns), np.sin(turns)], 1) * reach, axis=0)
        path = np.clip(path, (left, top), (right, bottom))
        cv2.polylines(
            canvas.ink,
            [path.round().astype(np.int32)],
            canvas.chance(0.2),
            (240,),
            int(canvas.rng.integers(1, 3)),
            cv2.LINE_AA,
        )
        if canvas.chance(0.35):
            side = canvas.rng.normal(0, 1, 2) * canvas.between(3, 14)
            for point in path[:: int(canvas.rng.integers(1, 4))]:
                a, b = (
                    tuple(int(v) for v in end) for end in (point, np.clip(point + side, (left, top), (right, bottom)))
                )
                cv2.line(canvas.ink, a, b, (230,), 1, cv2.LINE_AA)
    for _ in range(int(canvas.rng.integers(0, 5))):
        # roofs, walls, leaves: many strokes side by side
        x, y = canvas.between(left, right - 0.2 * wide), canvas.between(top, bottom - 0.2 * high)
        gap, across, down = canvas.between(2, 9), canvas.between(0.05, 0.3) * wide, canvas.between(0.03, 0.3) * high
        for k in range(int((across if canvas.chance(0.5) else down) / gap)):
            if canvas.chance(0.5):
                cv2.line(
                    canvas.ink,
                    (round(x + k * gap), round(y)),
                    (round(x + k * gap), round(min(bottom, y + down))),
                    (220,),
                    1,
                )
            else:
                cv2.line(
                    canvas.ink,
                    (round(x), round(min(bottom, y + k * gap))),
                    (round(min(right, x + across)), round(min(bottom, y + k * gap))),
                    (220,),
                    1,
                )


def _strokes(canvas: Canvas, place: Block) -> None:
    """Lines, boxes, ovals and curves of all kinds, few or many."""
    left, top, right, bottom = place
    wide, high = right - left, bottom - top
    x, y = (left + right) / 2, (top + bottom) / 2
    thick = int(canvas.rng.integers(1, 4))
    for _ in range(int(canvas.rng.integers(2, 12))):
        kind = int(canvas.rng.integers(5))
        a = (round(canvas.between(left, right)), round(canvas.between(top, bottom)))
        b = (round(canvas.between(left, right)), round(canvas.between(top, bottom)))
        if kind == 0:
            radii = round(canvas.between(0.1, 0.48) * wide), round(canvas.between(0.1, 0.48) * high)
            cv2.ellipse(canvas.ink, (round(x), round(y)), radii, 0, 0, 360, (240,), thick, cv2.LINE_AA)
        elif kind == 1:
            cv2.line(canvas.ink, a, b, (240,), thick, cv2.LINE_AA)
        elif kind == 2:
            cv2.rectangle(canvas.ink, a, b, (240,), thick if canvas.chance(0.8) else -1)
        elif kind == 3:
            steps = np.cumsum(canvas.rng.normal(0, 0.06, (14, 2)), axis=0) * (wide, high) + a
            inside = np.clip(steps, (left, top), (right, bottom)).round().astype(np.int32)
            cv2.polylines(canvas.ink, [inside], False, (240,), thick, cv2.LINE_AA)
        else:
            step = canvas.between(0.03, 0.08) * wide
            for k in range(int(canvas.rng.integers(4, 20))):
                if left + k * step < right:
                    cv2.line(canvas.ink, (round(left + k * step), a[1]), (round(left + k * step), b[1]), (220,), 1)


def fish_tail(canvas: Canvas, place: Block) -> None:
    """The fish tail of a fold strip, black or in outline."""
    left, top, right, bottom = place
    notch = top + canvas.between(0.3, 0.7) * (bottom - top)
    points = [(left, top), (right, top), (right, bottom), ((left + right) / 2, notch), (left, bottom)]
    if canvas.chance(0.5):
        points = [(px, top + bottom - py) for px, py in points]
    if canvas.chance(0.75):
        filled(canvas, points)
    else:
        cv2.polylines(canvas.ink, [np.array(points).round().astype(np.int32)], True, (240,), 1, cv2.LINE_AA)


def seals(canvas: Canvas, block: Block, count: int) -> None:
    """Seals, square or long or round, over the text or beside it, more or less black."""
    hand = canvas.other_hand()
    for _ in range(count):
        side = round(canvas.between(12, 80) if canvas.chance(0.85) else canvas.between(80, 200))
        rows, columns = (int(canvas.rng.integers(1, 5)) for _ in range(2))
        shape = rows / columns if canvas.chance(0.5) else canvas.between(0.8, 1.4)
        high = round(max(10, min(side * shape, 0.6 * canvas.height)))
        y = int(canvas.rng.integers(-high // 4, max(1, canvas.height - high // 2)))
        x = int(canvas.rng.integers(-side // 4, max(1, canvas.width - side // 2)))
        if canvas.chance(0.5):
            # in the margin, or at the foot or head of a column
            x = round(canvas.between(block[0], block[2] - min(side, block[2] - block[0] - 1)))
        stamp = np.zeros((high, side), np.uint8)
        thick = int(canvas.rng.integers(1, 5))
        oval = canvas.chance(0.25)
        if canvas.chance(0.85):
            if oval:
                cv2.ellipse(stamp, (side // 2, high // 2), (side // 2 - 1, high // 2 - 1), 0, 0, 360, (255,), thick)
            else:
                cv2.rectangle(stamp, (0, 0), (side - 1, high - 1), (255,), thick)
        room = 0.16 if oval else 0.02
        width, height = round(side * (1 - 2 * room) / columns), round(high * (1 - 2 * room) / rows)
        if min(width, height) > 5:
            for row in range(rows):
                for at in range(columns):
                    own = hand.glyphs[int(canvas.rng.integers(len(hand.glyphs)))][4:-4, 4:-4]
                    top, left = round(high * room + row * height), round(side * room + at * width)
                    part = stamp[top : top + height, left : left + width]
                    np.maximum(part, cv2.resize(own, part.shape[::-1], interpolation=cv2.INTER_AREA), out=part)
        if canvas.chance(0.35):
            stamp = 255 - stamp
            if oval:
                inside = np.zeros_like(stamp)
                cv2.ellipse(inside, (side // 2, high // 2), (side // 2 - 1, high // 2 - 1), 0, 0, 360, (255,), -1)
                stamp &= inside
        turn = canvas.between(-8, 8) if canvas.chance(0.6) else 0.0
        turned = cv2.warpAffine(stamp, cv2.getRotationMatrix2D((side / 2, high / 2), turn, 1), (side, high))
        worn = cv2.resize(canvas.rng.random((6, 6), np.float32), (side, high), interpolation=cv2.INTER_CUBIC)
        shade = canvas.between(0.25, 1.0) * np.clip(worn + canvas.between(0.2, 1), 0.2, 1)
        canvas.paste((turned * shade).astype(np.uint8), x, y)
        canvas.mark(Label.PICTURE, x, y, x + side, y + high)


def marginalia(canvas: Canvas, block: Block, pitch: float) -> None:
    """Headnotes, titles and page numbers in the margins, ears beside the frame, a reader's notes."""
    left, top, right, bottom = block
    size = max(4.0, pitch * canvas.between(0.3, 0.75))
    hand = canvas.other_hand() if canvas.chance(0.6) else canvas
    if top > 3 * size and canvas.chance(0.15):
        x = right - canvas.between(0, 0.6) * (right - left)
        y = canvas.between(0.6, 1.5) * size
        for _ in range(int(canvas.rng.integers(1, 12))):
            rows = int((top - 0.3 * size - y) / (1.2 * size))
            if rows > 1 and x > left:
                script(hand, x, y + size / 2, size, int(canvas.rng.integers(1, rows + 1)))
            x -= canvas.between(1.05, 1.5) * size
    if top > 2 * size and canvas.chance(0.15):
        script(
            hand,
            canvas.between(left, right),
            top - canvas.between(1, 2) * size,
            size,
            int(canvas.rng.integers(1, 12)),
            level=True,
        )
    if canvas.height - bottom > 2 * size and canvas.chance(0.2):
        y = (bottom + canvas.height) / 2
        script(hand, canvas.between(left, right), y, size, int(canvas.rng.integers(1, 6)), level=canvas.chance(0.8))
    for margin, x in ((left, left - 0.8 * size), (canvas.width - right, right + 0.8 * size)):
        if margin > 1.6 * size and canvas.chance(0.2):
            y = top + canvas.between(0, 0.8) * (bottom - top)
            count = int(canvas.rng.integers(1, 12))
            for _ in range(int(canvas.rng.choice([1, 1, 2, 3]))):
                if canvas.chance(0.4):
                    box = (
                        round(x - 0.7 * size),
                        round(y - 0.8 * size),
                        round(1.4 * size),
                        round((count + 0.6) * 1.2 * size),
                    )
                    cv2.rectangle(canvas.ink, box, (230,), 1)
                script(hand, x, y, size, count)
                y += (count + canvas.between(1, 6)) * 1.4 * size
                count = int(canvas.rng.integers(1, 6))
    if canvas.chance(0.15):
        words = str(canvas.rng.choice(LATIN))
        place = (
            round(canvas.between(0.02, 0.8) * canvas.width),
            round(float(canvas.rng.choice([14, canvas.height - 6]))),
        )
        cv2.putText(canvas.ink, words, place, cv2.FONT_HERSHEY_COMPLEX_SMALL, canvas.between(0.4, 0.9), (220,), 1)


def outside_things(canvas: Canvas, block: Block, lone: bool = False, pitch: float = 0.0) -> None:
    """A ruler, a bar of colours, a bar code, a label, a part of the neighbouring leaf, where there is margin for it."""
    left, top, right, bottom = block
    rooms = {"left": left, "right": canvas.width - right, "top": top, "bottom": canvas.height - bottom}
    for side, room in rooms.items():
        if room < 14:
            continue
        thing = canvas.rng.random() * (0.3 if lone else 1.0)
        depth = canvas.between(0.4, 0.95) * min(room, 120)
        length = canvas.width if side in ("top", "bottom") else canvas.height
        start, end = sorted(canvas.rng.uniform(0.02, 0.98, 2) * length)
        if thing < 0.05 and end - start > 60:
            strip = _ruler(canvas, round(depth), round(end - start))
        elif thing < 0.09 and end - start > 60:
            count = int(canvas.rng.integers(3, 25))
            fields = np.repeat(canvas.rng.integers(10, 255, count), max(2, round((end - start) / count)))
            strip = np.repeat(fields[None, :], round(depth), axis=0).astype(np.uint8)
            if canvas.chance(0.5):
                strip[:: max(4, round(depth) - 1)] = 255
        elif thing < 0.11 and end - start > 40:
            bars = np.repeat(canvas.rng.random(round((end - start) / 3)) < 0.5, 3)
            strip = np.repeat(bars[None, :] * np.uint8(255), max(4, round(min(depth, 30))), axis=0)
        elif thing < 0.14 and end - start > 30:
            strip = _label(canvas, round(min(depth, 60)), round(min(end - start, 160)))
        elif thing < 0.3 and side in ("left", "right"):
            _neighbour(canvas, side, depth, (top, bottom), pitch if canvas.chance(0.7) else 0.0)
            continue
        else:
            continue
        _put(canvas, side, strip, round(start))


def _ruler(canvas: Canvas, depth: int, length: int) -> Pixels:
    strip = np.full((max(4, depth), length), int(canvas.rng.choice([0, 0, 90, 180, 255])), np.uint8)
    step = int(canvas.rng.integers(3, 12))
    tone = 230 if strip[0, 0] < 120 else 0
    for number, at in enumerate(range(0, length, step)):
        strip[: strip.shape[0] // (2 if number % 5 == 0 else 4), at] = tone
        if number % 10 == 0 and strip.shape[0] > 14:
            cv2.putText(strip, str(number), (at + 1, strip.shape[0] - 3), cv2.FONT_HERSHEY_PLAIN, 0.6, (tone,), 1)
    if canvas.chance(0.5):
        strip[0], strip[-1] = tone, tone
    return strip


def _label(canvas: Canvas, depth: int, length: int) -> Pixels:
    strip = np.full((max(8, depth), length), int(canvas.rng.choice([0, 40])), np.uint8)
    cv2.rectangle(strip, (1, 1), (length - 2, strip.shape[0] - 2), (220,), 1)
    for y in range(12, strip.shape[0], 12):
        cv2.putText(strip, str(canvas.rng.choice(LATIN)), (5, y), cv2.FONT_HERSHEY_PLAIN, 0.7, (230,), 1)
    return strip


def black_edges(canvas: Canvas) -> None:
    """The black edges of the leaves beneath and of the gutter, as bars with white beyond them."""
    depth = canvas.between(0.005, 0.06) * canvas.width
    for x in (depth, canvas.width - depth):
        for k in range(int(canvas.rng.choice([0, 1, 1, 3, 6]))):
            thick = int(canvas.rng.integers(1, 10 if not k else 3))
            at = x + k * canvas.between(-6, 6)
            ends = (round(at), round(canvas.between(0, 30))), (round(at + canvas.between(-4, 4)), canvas.height)
            cv2.line(canvas.ink, *ends, (canvas.between(120, 255),), thick)
    if canvas.chance(0.5):
        y = canvas.height - round(canvas.between(2, 0.05 * canvas.height))
        cv2.line(canvas.ink, (0, y), (canvas.width, y), (255,), int(canvas.rng.integers(2, 12)))
    if canvas.width > canvas.height and canvas.chance(0.6):
        x = canvas.width // 2
        cv2.line(canvas.ink, (x, 0), (x, canvas.height), (255,), int(canvas.rng.integers(1, 7)))


def littered_edge(canvas: Canvas, block: Block) -> None:
    """What copying makes of the edges of the leaves beneath and of dirt beside a frame: a strip of dots and strokes."""
    left, top, right, bottom = block
    wide = round(canvas.between(4, 45))
    first = round(canvas.between(0.0, 0.6) * (bottom - top) + top)
    last = round(canvas.between(first + 20, canvas.height)) if canvas.height - first > 40 else canvas.height
    if last - first < 8:
        return
    beside = left - wide - canvas.between(-0.3, 1.0) * wide, right + canvas.between(-0.3, 1.0) * wide
    x = round(beside[0] if canvas.chance(0.5) else beside[1])
    stretch = int(canvas.rng.integers(1, 4)), int(canvas.rng.integers(1, 9))
    size = (last - first) // stretch[1] + 1, wide // stretch[0] + 1
    dots = (canvas.rng.random(size) < canvas.between(0.05, 0.5)).astype(np.uint8) * np.uint8(canvas.between(120, 255))
    strip = cv2.resize(dots, None, fx=stretch[0], fy=stretch[1], interpolation=cv2.INTER_NEAREST)
    fading = np.linspace(1.0, canvas.between(0.0, 1.0), strip.shape[1])[None, :: int(canvas.rng.choice([-1, 1]))]
    kept = canvas.rng.random(strip.shape) < fading
    canvas.paste(np.ascontiguousarray(strip * kept).astype(np.uint8), x, first)


def _put(canvas: Canvas, side: str, strip: Pixels, start: int) -> None:
    upright = np.ascontiguousarray(strip.T if side in ("left", "right") else strip)
    high, wide = upright.shape
    y = start if side in ("left", "right") else 2 if side == "top" else canvas.height - high - 2
    x = start if side in ("top", "bottom") else 2 if side == "left" else canvas.width - wide - 2
    canvas.paste(upright, x, y)
    canvas.mark(Label.PICTURE, x, y, x + wide, y + high)


def _neighbour(canvas: Canvas, side: str, depth: float, rows: tuple[float, float], pitch: float) -> None:
    """A part of the leaf beyond, cut off by the edge of the image: a column or two, and its frame.

    Its columns stand as far apart as those of the page, at another distance where `pitch` is 0.
    """
    size = canvas.between(0.55, 0.95) * pitch if pitch else canvas.between(8, 34)
    inward = 1 if side == "left" else -1
    start = 0.0 if side == "left" else float(canvas.width)
    edge = start + inward * depth
    x = edge - inward * canvas.between(0.5, 0.7) * (pitch or 1.4 * size)
    if canvas.chance(0.7):
        thick = int(canvas.rng.integers(1, 4))
        canvas.line((edge, rows[0]), (edge, rows[1]), thick, canvas.between(0.4, 1))
        for y in rows:
            if canvas.chance(0.6):
                canvas.line((start, y), (edge, y), thick, canvas.between(0.4, 1))
    while inward * (x - start) > -0.5 * size and size > 3:
        step = canvas.between(1.0, 1.5) * size
        top = rows[0] + size * (0.7 if canvas.chance(0.7) else canvas.between(1, 5))
        count = max(1, int((rows[1] - top) / (1.3 * step) * (1.0 if canvas.chance(0.7) else canvas.between(0.2, 1.0))))
        if canvas.chance(0.85):
            script(canvas, x, top, size, count, Label.OTHER)
        x -= inward * (pitch or 1.4 * size)


def edge_of_fold(canvas: Canvas, x: float, rows: tuple[float, float], at_left: bool) -> None:
    """Blots and bars of black along the fold at which a leaf is cut, and beyond it."""
    outward = -1 if at_left else 1
    for _ in range(int(canvas.rng.integers(1, 14))):
        y = canvas.between(*rows)
        high = canvas.between(2, 0.3 * (rows[1] - rows[0]))
        near, far = x + outward * canvas.between(-4, 6), x + outward * canvas.between(2, 18)
        waver = canvas.between(0, 4)
        corners = (near, y), (far, y + 2), (far, y + high), (near, y + high)
        filled(canvas, [(at + canvas.between(-waver, waver), row) for at, row in corners], canvas.between(150, 255))
    if canvas.chance(0.5):
        foot = x + canvas.between(-2, 2)
        canvas.line((x, rows[0]), (foot, rows[1]), canvas.between(1, 7), 1.0, canvas.between(0.4, 1))


def surround(canvas: Canvas, block: Block) -> None:
    """The black or grey ground on which the page lies, and ragged edges of leaves beneath."""
    tone = int(canvas.rng.choice([250, 235, 180, 128]))
    left, top, right, bottom = block
    rooms = (left, canvas.width - right, top, canvas.height - bottom)
    ragged_share = canvas.chance(0.4)
    for side, room in enumerate(rooms):
        if not canvas.chance(0.6):
            continue
        length = canvas.height if side < 2 else canvas.width
        ragged = np.cumsum(canvas.rng.normal(0, 0.5, length)) * (0.3 if ragged_share else 0.0)
        ragged = ragged - ragged.min() + canvas.between(-0.01, 0.01) * np.arange(length)
        edge = np.clip(ragged + canvas.between(1, max(2, 0.8 * room)), 0, max(1, room + 2))
        across = canvas.width if side < 2 else canvas.height
        reach = np.arange(across)
        hidden = reach[None, :] < edge[:, None]
        for k in range(int(canvas.rng.choice([0, 0, 2, 5]))):
            # edges of the leaves beneath
            at = np.round(edge + (k + 1) * canvas.between(1.5, 3)).astype(int)
            line = reach[None, :] == at[:, None]
            line = line[:, ::-1] if side % 2 else line
            line = line if side < 2 else line.T
            canvas.ink[line] = np.maximum(canvas.ink[line], np.uint8(canvas.between(60, 200)))
        hidden = hidden[:, ::-1] if side % 2 else hidden
        hidden = hidden if side < 2 else hidden.T
        canvas.ink[hidden] = tone
        canvas.labels[hidden] = 0


def holes_and_thumbs(canvas: Canvas) -> None:
    """Punched or wormed holes, a thumb or a paperweight at the edge, which hide what lies under them."""
    rng, height, width = canvas.rng, canvas.height, canvas.width
    if canvas.chance(0.06):
        x = float(rng.choice([0.04, 0.96])) * width
        for y in rng.uniform(0.05, 0.95, int(rng.integers(2, 6))) * height:
            cv2.circle(canvas.ink, (round(x), round(y)), int(rng.integers(4, 12)), (float(rng.choice([250, 30])),), -1)
    if canvas.chance(0.1):
        tone = float(rng.choice([0, 250]))
        for _ in range(int(rng.integers(3, 16))):
            path = np.cumsum(rng.normal(0, 5, (int(rng.integers(3, 24)), 2)), axis=0) + rng.uniform(0, 1, 2) * (
                width,
                height,
            )
            cv2.polylines(canvas.ink, [path.astype(np.int32)], False, (tone,), int(rng.integers(1, 5)), cv2.LINE_AA)
    if canvas.chance(0.06):
        for _ in range(int(rng.integers(1, 3))):
            y = height if canvas.chance(0.6) else round(rng.uniform(0.3, 0.9) * height)
            x = round(rng.uniform(0.1, 0.9) * width) if y == height else int(rng.choice([0, width]))
            size = canvas.between(0.7, 1.6)
            axes = (round(26 * size), round(50 * size)) if y == height else (round(50 * size), round(26 * size))
            cv2.ellipse(canvas.ink, (x, y), axes, 0, 0, 360, (canvas.between(60, 190),), -1, cv2.LINE_AA)
            cover = np.zeros_like(canvas.labels)
            cv2.ellipse(cover, (x, y), axes, 0, 0, 360, (1,), -1)
            canvas.labels[cover > 0] = 0
