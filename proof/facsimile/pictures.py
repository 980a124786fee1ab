"""What stands on images of pages beside text: figures, seals, rulers, bars of colour, labels, neighbouring leaves."""

from __future__ import annotations

import numpy as np

from proof.facsimile.labelled import Canvas, script
from proof.images.opencv import cv2
from proof.layout.labels import Label

Block = tuple[float, float, float, float]


def figure(canvas: Canvas, place: Block) -> None:
    """A drawing of lines, circles, boxes, curves and hatching, with some characters on it."""
    left, top, right, bottom = place
    wide, high = right - left, bottom - top
    x, y = (left + right) / 2, (top + bottom) / 2
    thick = int(canvas.rng.integers(1, 4))
    for _ in range(int(canvas.rng.integers(2, 9))):
        kind = int(canvas.rng.integers(5))
        a = (round(canvas.between(left, right)), round(canvas.between(top, bottom)))
        b = (round(canvas.between(left, right)), round(canvas.between(top, bottom)))
        if kind == 0:
            radii = round(canvas.between(0.1, 0.48) * wide), round(canvas.between(0.1, 0.48) * high)
            cv2.ellipse(canvas.ink, (round(x), round(y)), radii, 0, 0, 360, (240,), thick, cv2.LINE_AA)
        elif kind == 1:
            cv2.line(canvas.ink, a, b, (240,), thick, cv2.LINE_AA)
        elif kind == 2:
            cv2.rectangle(canvas.ink, a, b, (240,), thick)
        elif kind == 3:
            steps = np.cumsum(canvas.rng.normal(0, 0.06, (14, 2)), axis=0) * (wide, high) + a
            inside = np.clip(steps, (left, top), (right, bottom)).round().astype(np.int32)
            cv2.polylines(canvas.ink, [inside], False, (240,), thick, cv2.LINE_AA)
        else:
            for k in range(int(canvas.rng.integers(4, 20))):
                at = left + k * canvas.between(0.03, 0.08) * wide
                if at < right:
                    cv2.line(canvas.ink, (round(at), a[1]), (round(at), b[1]), (220,), 1)
    for _ in range(int(canvas.rng.integers(0, 9))):
        size = min(canvas.between(7, 20), 0.4 * wide, 0.4 * high)
        px, py = canvas.between(left + size, right - size), canvas.between(top + size, bottom - size)
        script(canvas, px, py, size, int(canvas.rng.integers(1, 4)), Label.PICTURE, canvas.chance(0.2))
    canvas.labels[max(0, round(top)) : round(bottom), max(0, round(left)) : round(right)] |= int(Label.PICTURE)


def fish_tail(canvas: Canvas, place: Block) -> None:
    left, top, right, bottom = place
    notch = top + canvas.between(0.3, 0.7) * (bottom - top)
    points = [(left, top), (right, top), (right, bottom), ((left + right) / 2, notch), (left, bottom)]
    if canvas.chance(0.5):
        points = [(px, top + bottom - py) for px, py in points]
    cv2.fillPoly(canvas.ink, [np.array(points).round().astype(np.int32)], (240,))


def seals(canvas: Canvas, place: Block) -> None:
    """Seals, square or long or round, over the text or beside it, more or less black."""
    for _ in range(int(canvas.rng.integers(1, 4))):
        side = round(canvas.between(14, 75))
        high = round(side * canvas.between(0.8, 2.0))
        y, x = int(canvas.rng.integers(0, canvas.height - 8)), int(canvas.rng.integers(0, canvas.width - 8))
        stamp = np.zeros((high, side), np.uint8)
        thick = int(canvas.rng.integers(1, 4))
        cv2.rectangle(stamp, (0, 0), (side - 1, high - 1), (255,), thick)
        step = max(6, round(side / float(canvas.rng.integers(1, 4))))
        for row in range(thick, high - step + 1, step):
            for at in range(thick, side - step + 1, step):
                own = canvas.glyphs[int(canvas.rng.integers(len(canvas.glyphs)))]
                stamp[row : row + step, at : at + step] = cv2.resize(own, (step, step), interpolation=cv2.INTER_AREA)
        if canvas.chance(0.4):
            stamp[:] = 255 - stamp
        shade = canvas.between(0.25, 1.0)
        part = canvas.ink[y : y + high, x : x + side]
        np.maximum(part, (stamp[: part.shape[0], : part.shape[1]] * shade).astype(np.uint8), out=part)
        canvas.labels[y : y + high, x : x + side] |= int(Label.PICTURE)


def marginalia(canvas: Canvas, block: Block, pitch: float) -> None:
    """Headnotes, titles and page numbers in the margins, ears beside the frame."""
    left, top, right, bottom = block
    size = max(4.0, pitch * canvas.between(0.35, 0.7))
    if top > 4 * size and canvas.chance(0.15):
        x = right - canvas.between(0, 0.5) * (right - left)
        for _ in range(int(canvas.rng.integers(1, 9))):
            rows = int((top - size) / (1.2 * size))
            if rows > 1 and x > left:
                script(canvas, x, canvas.between(0.6, 1.5) * size, size, int(canvas.rng.integers(1, rows + 1)))
            x -= 1.3 * size
    if top > 2 * size and canvas.chance(0.2):
        script(canvas, canvas.between(left, right), top - 1.2 * size, size, int(canvas.rng.integers(1, 12)), level=True)
    if canvas.height - bottom > 2 * size and canvas.chance(0.2):
        y = (bottom + canvas.height) / 2
        script(canvas, canvas.between(left, right), y, size, int(canvas.rng.integers(1, 6)), level=True)
    for margin, x in ((left, left - 0.8 * size), (canvas.width - right, right + 0.8 * size)):
        if margin > 1.6 * size and canvas.chance(0.15):
            y = top + canvas.between(0, 0.6) * (bottom - top)
            script(canvas, x, y, size, int(canvas.rng.integers(1, 12)))
            if canvas.chance(0.4):
                box = (round(x - 0.6 * size), round(y - size), round(1.2 * size), round(6 * size))
                cv2.rectangle(canvas.ink, box, (230,), 1)
    if canvas.chance(0.15):
        words = str(canvas.rng.choice(["123", "No. 47", "IMG_0032", "p. 12", "KUL 1928", "- 5 -"]))
        place = (
            round(canvas.between(0.02, 0.8) * canvas.width),
            round(float(canvas.rng.choice([14, canvas.height - 6]))),
        )
        cv2.putText(canvas.ink, words, place, cv2.FONT_HERSHEY_COMPLEX_SMALL, canvas.between(0.4, 0.9), (220,), 1)


def outside_things(canvas: Canvas, block: Block) -> None:
    """A ruler, a bar of colours, a bar code, a part of the neighbouring leaf, where there is margin for it."""
    left, top, right, bottom = block
    rooms = {"left": left, "right": canvas.width - right, "top": top, "bottom": canvas.height - bottom}
    for side, room in rooms.items():
        if room < 18:
            continue
        thing = canvas.rng.random()
        depth = canvas.between(0.4, 0.9) * room
        length = canvas.width if side in ("top", "bottom") else canvas.height
        start, end = sorted(canvas.rng.uniform(0.02, 0.98, 2) * length)
        if thing < 0.05 and end - start > 60:
            strip = _ruler(canvas, round(depth), round(end - start))
        elif thing < 0.09 and end - start > 60:
            fields = np.repeat(canvas.rng.integers(10, 255, 12), max(2, round((end - start) / 12)))
            strip = np.repeat(fields[None, :], round(depth), axis=0).astype(np.uint8)
        elif thing < 0.11 and end - start > 40:
            bars = np.repeat(canvas.rng.random(round((end - start) / 3)) < 0.5, 3)
            strip = np.repeat(bars[None, :] * np.uint8(255), round(min(depth, 30)), axis=0)
        elif thing < 0.16 and side in ("left", "right"):
            _neighbour(canvas, side, depth, (top, bottom))
            continue
        else:
            continue
        _put(canvas, side, strip, round(start))


def _ruler(canvas: Canvas, depth: int, length: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    strip = np.full((max(4, depth), length), int(canvas.rng.choice([0, 0, 90, 180])), np.uint8)
    step = int(canvas.rng.integers(3, 12))
    tone = 230 if strip[0, 0] < 120 else 0
    for number, at in enumerate(range(0, length, step)):
        strip[: strip.shape[0] // (2 if number % 5 == 0 else 4), at] = tone
        if number % 10 == 0 and strip.shape[0] > 14:
            place = (at + 1, strip.shape[0] - 3)
            cv2.putText(strip, str(number), place, cv2.FONT_HERSHEY_PLAIN, 0.6, (tone,), 1)
    return strip


def black_edges(canvas: Canvas) -> None:
    """The black edges of the leaves beneath and of the gutter, as bars with white beyond them."""
    depth = canvas.between(0.005, 0.06) * canvas.width
    for x in (depth, canvas.width - depth):
        if canvas.chance(0.6):
            thick = int(canvas.rng.integers(2, 12))
            ends = (round(x), round(canvas.between(0, 30))), (round(x), canvas.height)
            cv2.line(canvas.ink, *ends, (255,), thick)
    if canvas.chance(0.5):
        y = canvas.height - round(canvas.between(2, 0.05 * canvas.height))
        cv2.line(canvas.ink, (0, y), (canvas.width, y), (255,), int(canvas.rng.integers(2, 12)))
    if canvas.width > canvas.height and canvas.chance(0.6):
        x = canvas.width // 2
        cv2.line(canvas.ink, (x, 0), (x, canvas.height), (255,), int(canvas.rng.integers(1, 5)))


def _put(canvas: Canvas, side: str, strip: np.ndarray[tuple[int, int], np.dtype[np.uint8]], start: int) -> None:
    upright = strip.T if side in ("left", "right") else strip
    high, wide = upright.shape
    y = start if side in ("left", "right") else 2 if side == "top" else canvas.height - high - 2
    x = start if side in ("top", "bottom") else 2 if side == "left" else canvas.width - wide - 2
    part = canvas.ink[max(0, y) : y + high, max(0, x) : x + wide]
    np.maximum(part, upright[: part.shape[0], : part.shape[1]], out=part)
    canvas.labels[max(0, y) : y + high, max(0, x) : x + wide] |= int(Label.PICTURE)


def _neighbour(canvas: Canvas, side: str, depth: float, rows: tuple[float, float]) -> None:
    """A part of the leaf beyond, cut off by the edge of the image: half a column and its frame."""
    size = canvas.between(8, 26)
    x = depth - size if side == "left" else canvas.width - depth + size
    edge = x + 0.8 * size if side == "left" else x - 0.8 * size
    if canvas.chance(0.7):
        canvas.line((edge, rows[0]), (edge, rows[1]), int(canvas.rng.integers(1, 4)), canvas.between(0.4, 1))
    before = canvas.ink.copy()
    script(canvas, x, rows[0] + size, size, max(1, int((rows[1] - rows[0]) / (1.5 * size))), Label.OTHER)
    cut = slice(0, max(0, round(x - 0.1 * size))) if side == "left" else slice(round(x + 0.1 * size), canvas.width)
    canvas.ink[:, cut] = before[:, cut]
