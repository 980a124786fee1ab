"""Measure the crops that show a glyph: is all its ink inside and not paled, and is it centred?

    python -m scripts.bench crops [--pages 200] [--sheet FLAGS.png]

Pages of the transcriptions are drawn with every kind of wear and checked with the real recogniser. Every crop is
compared with the true box of what wear has left of the glyph's ink. `--sheet` draws a hundred flags of the real pages,
to be judged by eye.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from math import cos, radians, sin
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from proof.facsimile.fonts import find_faces
from proof.facsimile.render import RenderedPage
from proof.images.load import load_picture
from proof.layout.strips import DARK
from proof.model.flags import Flag
from proof.model.geometry import Box
from proof.model.result import PageResult
from proof.report.glyphs import GlyphPlace, character_place, cut_glyph, flag_place
from scripts.bench.drawn_pages import choose, rendered
from scripts.bench.material import TableRow, check_in, kanripo_texts, results_in, tell, write_drawn
from scripts.bench.pool import write_pages

SEED = 20
"""The pages of the table; other seeds are for tuning."""
SHOWN_FLAGS = 100
"""Flags of the sheet, the most suspicious ones."""
MIN_INK_PX = 12
"""Minimum ink of a glyph, in pixels: of one with less it is not known where it was."""
MAX_CUT_CELLS = 0.07
"""Maximum distance in cells by which the shown ink ends inside its true box."""

MAX_OFF_CENTRE_CELLS = 0.1
"""Maximum distance in cells between the middle of a tile and that of the ink."""


def draw(folder: Path, shared: Path, count: int, seed: int) -> None:
    """Draw the pages once."""
    if not (folder / "text.txt").is_file():
        trials = choose(kanripo_texts(shared), count, seed)
        write_drawn(folder, rendered(trials, seed, with_owners=True), _boxes)


def _boxes(page: RenderedPage) -> list[dict[str, object]]:
    return [
        {"line": c.line, "offset": c.offset, "box": astuple(left_of(page, number))}
        for number, c in enumerate(page.characters, 1)
        if not c.missing
    ]


def left_of(page: RenderedPage, number: int) -> Box:
    """The box of what is left on the page of the ink of a character, which is counted from 1; of what was drawn where
    nothing is."""
    box = page.characters[number - 1].box
    top, left = max(int(box.y) - 3, 0), max(int(box.x) - 3, 0)
    place = np.s_[top : int(box.bottom) + 4, left : int(box.right) + 4]
    assert page.owners is not None
    ys, xs = np.nonzero((page.owners[place] == number) & (page.image[place] < DARK))
    if ys.size < MIN_INK_PX:
        return box
    x, y = float(left + xs.min()), float(top + ys.min())
    return Box(x, y, float(left + xs.max() + 1) - x, float(top + ys.max() + 1) - y)


@dataclass(frozen=True)
class Score:
    """Of so many crops, on how many the ink is whole, in the middle, and both."""

    crops: int
    whole: int
    centred: int
    both: int
    missed: list[str]
    seconds: float


def score(folder: Path, every: int) -> Score:
    """Compare each `every`-th crop with the true box of the ink that is left on the page.

    Whole: the box is in the tile, and what is shown as the glyph's own ink ends at most `MAX_CUT_CELLS` cells inside it
    on every side. Centred: the middle of the tile is within `MAX_OFF_CENTRE_CELLS` cells of the middle of the box.
    """
    boxes = json.loads((folder / "boxes.json").read_text(encoding="utf-8"))
    true = {(record["page"], record["line"], record["offset"]): Box(*record["box"]) for record in boxes}
    crops = wholes = centreds = both = 0
    missed = []
    seconds = 0.0
    number = 0
    for result in results_in(folder / "proof.sqlite"):
        image = load_picture(result.image) if result.image else None
        for character in result.characters:
            box = true.get((result.page, character.line, character.offset))
            number += box is not None
            if box is None or number % every or image is None:
                continue
            started = time.perf_counter()
            place = character_place(result, character)
            tile = cut_glyph(image, place)
            seconds += time.perf_counter() - started
            whole = centred = False
            if tile is not None and tile.ink is not None:
                wide, high = tile.picture.size
                x, y = box_middle(tile.corner, box, place)
                half_wide, half_high = box.w / 2, box.h / 2
                left, top, right, bottom = x - half_wide, y - half_high, x + half_wide, y + half_high
                short = MAX_CUT_CELLS * place.cell
                whole = min(left, top, wide - right, high - bottom) > -0.02 * place.cell and not (
                    tile.ink.x > left + short
                    or tile.ink.y > top + short
                    or tile.ink.right < right - short
                    or tile.ink.bottom < bottom - short
                )
                centred = max(abs(x - wide / 2), abs(y - high / 2)) < MAX_OFF_CENTRE_CELLS * place.cell
            crops, wholes, centreds, both = crops + 1, wholes + whole, centreds + centred, both + (whole and centred)
            if not (whole and centred):
                missed.append(f"{result.page} {character.line} {character.offset} {character.text}")
    return Score(crops, wholes, centreds, both, missed, seconds)


def box_middle(corner: tuple[float, float], box: Box, place: GlyphPlace) -> tuple[float, float]:
    """The middle of a box of the image on an upright tile whose corner lies there, seen from the glyph's place."""
    lean = radians(place.skew)
    x, y = box.centre[0] - place.focus.centre[0], box.centre[1] - place.focus.centre[1]
    return x * cos(lean) - y * sin(lean) - corner[0], x * sin(lean) + y * cos(lean) - corner[1]


def pictures(results: Iterable[PageResult]) -> Iterator[tuple[Flag, Image.Image]]:
    """The flags of pages, each with its glyph as people see it."""
    for result in results:
        image = load_picture(result.image) if result.image else None
        for flag in result.flags if image else ():
            place = flag_place(result, flag)
            tile = cut_glyph(image, place) if image and place else None
            if tile is not None:
                yield flag, tile.picture


def write_sheet(shown: Sequence[tuple[str, Image.Image]], out: Path) -> None:
    """Draw pictures side by side, each with its words."""
    font = ImageFont.truetype(str(find_faces()[0].path), 20)
    across, side, words = 12, 100, 26
    drawn = Image.new("RGB", (across * side, -(-len(shown) // across) * (side + words)), "#ddd")
    pen = ImageDraw.Draw(drawn)
    for number, (text, picture) in enumerate(shown):
        x, y = number % across * side, number // across * (side + words)
        picture.thumbnail((side - 4, side - 4))
        drawn.paste(picture, (x + (side - picture.width) // 2, y + (side - picture.height) // 2))
        pen.text((x + 4, y + side), text, font=font, fill="black")
    drawn.save(out)


def change_of(flag: Flag) -> str:
    return f"{flag.transcribed or '∅'}→{flag.suggested or '∅'}"


def check_real(folder: Path, shared: Path) -> list[Path]:
    """Check the real pages, and give the folders of the checks."""
    jmml, plate = folder / "jmml", folder / "plate"
    for sheet in (jmml, plate):
        sheet.mkdir(parents=True, exist_ok=True)
    check_in(jmml, sorted((shared / "facsimile/JMML").glob("*.txt")), [shared / "facsimile/JMML/images"])
    text = plate / "KR1d0087_223.txt"
    write_pages(shared / "kanripo/KR1d0087/KR1d0087_223.txt", "-1[67][ab]$", text)
    check_in(plate, [text], [shared / "facsimile/plates/WYG0140"], shared / "kanripo/KR1d0087/imglist")
    return [jmml, plate]


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--every", type=int, default=1, help="only every so-manieth crop")
    parser.add_argument("--sheet", type=Path, help="draw flags of the real pages there")


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    if options.sheet:
        folders = check_real(options.folder / "real", options.shared)
        shown = [shown for folder in folders for shown in pictures(results_in(folder / "proof.sqlite"))]
        shown = sorted(shown, key=lambda flag_shown: -flag_shown[0].score)[:SHOWN_FLAGS]
        write_sheet([(change_of(flag), picture) for flag, picture in shown], options.sheet)
        yield "flags drawn", str(len(shown))
        return
    folder = options.folder / f"rendered-{options.pages}-{options.seed}"
    draw(folder, options.shared, options.pages, options.seed)
    check_in(folder, [folder / "text.txt"], [folder])
    found = score(folder, options.every)
    for name, count in (("whole", found.whole), ("centred", found.centred), ("whole and centred", found.both)):
        yield f"ink {name}, {found.crops} crops", f"{count / found.crops:.4f}", "0.995"
    yield "a crop", f"{1000 * found.seconds / found.crops:.1f} ms"
    tell("\n".join(found.missed[:40]))
