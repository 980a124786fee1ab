"""Measure the check of damaged images of real pages: what is raised beyond the sound page, and what is named.

    python -m scripts.bench geometry [--half develop|judge|all] [--only skew,curl] [--seeds 1]

Real half-folios with their texts are damaged by random amounts: parts cut off, skew, perspective, shadows, curved
paper, white on black, and a sheet that is turned, mirrored or scaled down too far. A row for each damage: the flags
raised beyond those of the undamaged page (the sum over its pages, and the maximum), the pages with a finding that names
the damage, and seconds a page. `--keep` keeps the images with the columns drawn on them. Pages are in two halves:
`develop` was used for development, `judge` was not.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.images.find import FoundBy, PageImage
from proof.images.load import LoadedImage, load_image
from proof.layout.half_folio import find_layout
from proof.locale.notices import in_english
from proof.model.flags import Flag
from proof.model.geometry import Box
from proof.model.result import PageResult
from proof.ocr.page import PageEngine
from proof.ocr.ppocr import PPOCR
from proof.settings.config import Settings
from proof.text.model import Page, Script
from proof.text.read import read_transcription
from proof.text.variants import policy_of
from proof.verify.page import Checker, half_folio
from scripts.bench.material import TableRow, marked, tell

Pixels = NDArray[np.uint8]
QUADRANTS = {"16a": "a", "16b": "b", "17a": "c", "17b": "d"}
"""Of the real plate: which folio stands where."""


@dataclass(frozen=True)
class Sound:
    """A page as it is: its text, its pixels, and the inner frame (left, top, right, bottom) in them."""

    name: str
    page: Page
    pixels: Pixels
    frame: tuple[float, float, float, float]

    @property
    def paper(self) -> float:
        return float(np.percentile(self.pixels, 75))


Damage = Callable[[Sound, np.random.Generator], Pixels]


def top_cut(sound: Sound, rng: np.random.Generator) -> Pixels:
    """One to six characters of each column are missing above."""
    _, top, _, bottom = sound.frame
    return sound.pixels[round(top + rng.uniform(0.06, 0.3) * (bottom - top)) :]


def bottom_cut(sound: Sound, rng: np.random.Generator) -> Pixels:
    _, top, _, bottom = sound.frame
    return sound.pixels[: round(bottom - rng.uniform(0.06, 0.3) * (bottom - top))]


def left_half(sound: Sound, rng: np.random.Generator) -> Pixels:
    """The left half alone."""
    left, _, right, _ = sound.frame
    return sound.pixels[:, : round(left + rng.uniform(0.44, 0.56) * (right - left))]


def right_half(sound: Sound, rng: np.random.Generator) -> Pixels:
    left, _, right, _ = sound.frame
    return sound.pixels[:, round(left + rng.uniform(0.44, 0.56) * (right - left)) :]


def skewed(degrees: float) -> Damage:
    """Turned by an angle; the sheet grows, so that nothing is lost."""

    def damage(sound: Sound, rng: np.random.Generator) -> Pixels:
        height, width = sound.pixels.shape
        turn = np.radians(degrees)
        size = (
            round(width * np.cos(turn) + height * abs(np.sin(turn))),
            round(height * np.cos(turn) + width * abs(np.sin(turn))),
        )
        matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
        matrix[:, 2] = matrix[:, 2] + np.array([size[0] - width, size[1] - height]) / 2
        paper = (sound.paper,)
        return np.asarray(cv2.warpAffine(sound.pixels, matrix, size, borderValue=paper), dtype=np.uint8)

    return damage


def perspective(sound: Sound, rng: np.random.Generator) -> Pixels:
    """Photographed by hand: each corner off by up to a fourteenth of the page, on a table or on paper."""
    height, width = sound.pixels.shape
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    off = rng.uniform(0.0, 0.07, (4, 2)) * (width, height) * ((1, 1), (-1, 1), (-1, -1), (1, -1))
    matrix = cv2.getPerspectiveTransform(corners, (corners + off).astype(np.float32))
    ground = (float(rng.choice([40.0, sound.paper])),)
    return np.asarray(cv2.warpPerspective(sound.pixels, matrix, (width, height), borderValue=ground), dtype=np.uint8)


def _lit(sound: Sound, light: NDArray[np.float64], rng: np.random.Generator) -> Pixels:
    noise = rng.normal(0.0, 2.0, sound.pixels.shape)
    return np.asarray(np.clip((sound.pixels * 0.9 + 12.0) * light + noise, 0, 255), dtype=np.uint8)


def _along(sound: Sound, rng: np.random.Generator) -> NDArray[np.float64]:
    """Of each pixel its distance from the middle of the page in some direction, in sizes of the page."""
    height, width = sound.pixels.shape
    ys, xs = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j]
    angle = rng.uniform(0, 2 * np.pi)
    along: NDArray[np.float64] = (xs - 0.5) * np.cos(angle) + (ys - 0.5) * np.sin(angle)
    return along


def even_shadow(sound: Sound, rng: np.random.Generator) -> Pixels:
    return _lit(sound, np.full(sound.pixels.shape, rng.uniform(0.3, 0.6)), rng)


def graded_shadow(sound: Sound, rng: np.random.Generator) -> Pixels:
    """Light that falls off to one side."""
    along = _along(sound, rng)
    return _lit(sound, 1.0 - rng.uniform(0.5, 0.7) * np.clip(along + 0.5, 0, 1), rng)


def cast_shadow(sound: Sound, rng: np.random.Generator) -> Pixels:
    """The shadow of a hand: a soft edge across the page, dark on one side."""
    along = _along(sound, rng) + rng.uniform(-0.2, 0.2)
    return _lit(sound, 1.0 - rng.uniform(0.4, 0.6) / (1.0 + np.exp(-along / 0.03)), rng)


def _with_margin(sound: Sound) -> Pixels:
    """The page with paper around it, so that bending cuts nothing off."""
    edge = round(0.07 * sound.pixels.shape[0])
    paper = (sound.paper,)
    return np.asarray(
        cv2.copyMakeBorder(sound.pixels, edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=paper), dtype=np.uint8
    )


def curl(sound: Sound, rng: np.random.Generator) -> Pixels:
    """Paper that rises to the gutter at one side: top and bottom bend apart, columns grow narrow there."""
    flat = _with_margin(sound)
    height, width = flat.shape
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float64)
    s, t = xs / width, ys / height - 0.5
    s = s if rng.random() < 0.5 else 1 - s
    rise, squeeze, bend = rng.uniform(0.04, 0.08), rng.uniform(0.05, 0.12), rng.uniform(0.5, 1.0)
    grown = s**3
    from_y = ys - height * rise * grown * (2 * t * bend + rng.choice([-1.0, 1.0]) * (1 - bend))
    from_s = s + squeeze * (s**3 - s**2)
    side = from_s if s[0, 0] < 0.5 else 1 - from_s
    return _bent(flat, side * width, from_y, sound.paper)


def bowed(sound: Sound, rng: np.random.Generator) -> Pixels:
    """Paper that does not lie flat: lines of both directions are bent like an arch."""
    flat = _with_margin(sound)
    height, width = flat.shape
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float64)
    s, t = xs / width - 0.5, ys / height - 0.5
    across, down = rng.uniform(0.012, 0.025, 2) * rng.choice([-1.0, 1.0], 2)
    from_x = xs - width * across * (4 * t * t - 1)
    from_y = ys - height * down * (4 * s * s - 1)
    return _bent(flat, from_x, from_y, sound.paper)


def _bent(flat: Pixels, from_x: NDArray[np.float64], from_y: NDArray[np.float64], paper: float) -> Pixels:
    """The page whose pixels come from these places of the flat one; beyond it is paper."""
    maps = from_x.astype(np.float32), from_y.astype(np.float32)
    return np.asarray(cv2.remap(flat, *maps, cv2.INTER_LINEAR, borderValue=(paper,)), dtype=np.uint8)


def coarse(sound: Sound, rng: np.random.Generator) -> Pixels:
    """A scan of six to eight pixels a character, enlarged."""
    height, width = sound.pixels.shape
    _, top, _, bottom = sound.frame
    scale = rng.uniform(6.0, 8.0) * 21 / (bottom - top)
    small = cv2.resize(sound.pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC), dtype=np.uint8)


def blurred(sound: Sound, rng: np.random.Generator) -> Pixels:
    """Out of focus, beyond what can be read."""
    _, top, _, bottom = sound.frame
    return np.asarray(cv2.GaussianBlur(sound.pixels, (0, 0), rng.uniform(0.07, 0.09) * (bottom - top) / 21), np.uint8)


DAMAGES: dict[str, tuple[Damage, tuple[str, ...]]] = {
    "top cut off": (top_cut, ("top of the page",)),
    "bottom cut off": (bottom_cut, ("bottom of the page", "foot of the page")),
    "left half only": (left_half, ("right half",)),
    "right half only": (right_half, ("left half",)),
    "skew 5": (skewed(5.0), ("tilted",)),
    "skew -5": (skewed(-5.0), ("tilted",)),
    "skew 10": (skewed(10.0), ("tilted",)),
    "skew -10": (skewed(-10.0), ("tilted",)),
    "perspective": (perspective, ("perspective", "angle")),
    "even shadow": (even_shadow, ("shade", "shadow", "dark")),
    "graded shadow": (graded_shadow, ("shade", "shadow", "dark")),
    "cast shadow": (cast_shadow, ("shade", "shadow", "dark")),
    "curl": (curl, ("curve", "bent")),
    "bowed": (bowed, ("curve", "bent")),
    "coarse": (coarse, ("coarse",)),
    "out of focus": (blurred, ("focus",)),
    "white on black": (lambda sound, _: 255 - sound.pixels, ("negative", "inverted", "white on black")),
    "upside down": (lambda sound, _: np.rot90(sound.pixels, 2), ("upside down",)),
    "mirrored": (lambda sound, _: sound.pixels[:, ::-1], ("mirrored",)),
}
"""Damages by name, each with words of which a finding that names it has one."""


def no_pages() -> PageEngine:
    raise LookupError("no columns were found")


def sound_pages(shared: Path, half: str) -> list[Sound]:
    """The real half-folios with texts, every other one for judging."""
    pages = []
    folder = shared / "facsimile/JMML"
    for text in sorted(folder.glob("JMML_*.txt")):
        for page in read_transcription(text).pages:
            images = sorted((folder / "images").glob(page.id.replace("_WYG_", "_") + ".*"))
            pages += [_sound(page, load_image(path)) for path in images]
    plate = load_image(shared / "facsimile/plates/WYG0140/WYG0140-0330.png")
    for page in read_transcription(shared / "kanripo/KR1d0087/KR1d0087_223.txt").pages:
        quadrant = QUADRANTS.get(str(page.folio))
        if quadrant:
            pages.append(_sound(page, half_folio(plate, quadrant)))
    return {"develop": pages[::2], "judge": pages[1::2], "all": pages}[half]


def _sound(page: Page, image: LoadedImage) -> Sound:
    layout = find_layout(image.pixels)
    box: Box = layout.outline.file_box(
        min(c.left for c in layout.columns),
        layout.columns[0].top,
        max(c.right for c in layout.columns),
        layout.columns[0].bottom,
    )
    return Sound(page.id, page, image.pixels, (box.x, box.y, box.right, box.bottom))


@dataclass
class Row:
    """What came of one damage: flags beyond the sound page's by page, pages named, seconds."""

    beyond: list[int]
    named: int
    seconds: list[float]
    notes: list[str]


class Damaged:
    def __init__(self, folder: Path, out: Path | None) -> None:
        policy = policy_of(Script.TRADITIONAL, None)
        self.checker = Checker.of(PPOCR(), policy, 8, 21, Settings().flags.threshold, no_pages)
        self.folder = folder
        self.out = out

    def check(self, sound: Sound, pixels: Pixels) -> PageResult:
        image = _as_file(np.ascontiguousarray(pixels), self.folder)
        page_image = PageImage(image.path, "", FoundBy.NAME)
        return self.checker.check(sound.page, sound.name, page_image, image, [])

    def row(self, name: str, pages: Sequence[tuple[Sound, PageResult]], seeds: int) -> Row:
        damage, words = DAMAGES[name]
        row = Row([], 0, [], [])
        for sound, before in pages:
            known = {_identity(flag) for flag in before.flags if flag.raised}
            for seed in range(seeds):
                rng = np.random.default_rng([seed, len(name), *name.encode(), *sound.name.encode()])
                pixels = np.ascontiguousarray(damage(sound, rng))
                started = time.perf_counter()
                try:
                    result = self.check(sound, pixels)
                except LookupError as error:
                    row.beyond.append(99)
                    row.notes.append(f"{sound.name} {seed}: {error}")
                    continue
                row.seconds.append(time.perf_counter() - started)
                findings = _findings(result)
                named = any(word in finding for finding in findings for word in words)
                raised = [flag for flag in result.flags if flag.raised and _identity(flag) not in known]
                telling = [flag for flag in raised if not flag.line and any(w in _said(flag) for w in words)]
                row.beyond.append(len(raised) - len(telling))
                row.named += named
                listed = " | ".join(findings)
                row.notes.append(f"{sound.name} {seed}: {row.beyond[-1]} {'' if named else 'NOT NAMED '}{listed}")
                if self.out:
                    shown = marked(pixels, (column.box for column in result.columns), result.flags)
                    cv2.imwrite(str(self.out / f"{name.replace(' ', '_')}-{sound.name}-{seed}.jpg"), shown)
        return row


def _as_file(pixels: Pixels, folder: Path) -> LoadedImage:
    """The pixels as they are loaded from an image file: a negative is turned over."""
    path = folder / "page.png"
    cv2.imwrite(str(path), pixels)
    return load_image(path)


def _identity(flag: Flag) -> tuple[int, int, str, str]:
    return (flag.line, flag.offset, flag.kind.value, flag.suggested)


def _said(flag: Flag) -> str:
    return f"{flag.evidence.reason} {in_english(flag.evidence.notice) if flag.evidence.notice else ''}".lower()


def _findings(result: PageResult) -> list[str]:
    """All that is said of the page as a whole."""
    findings = [_said(flag) for flag in result.flags if not flag.line]
    return findings + [in_english(notice).lower() for notice in result.notices]


HEADINGS = ("damage", "pages", "beyond: sum", "most", "over 3", "named", "s a page")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--half", choices=("develop", "judge", "all"), default="develop")
    parser.add_argument("--only", default="", help="damages whose name has one of these, parted by commas")
    parser.add_argument("--pages", type=int, default=0, help="the first so many pages of the half")
    parser.add_argument("--seeds", type=int, default=1)


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    """Check the pages, sound and damaged."""
    bench = Damaged(options.folder, options.folder if options.keep else None)
    pages = sound_pages(options.shared, options.half)[: options.pages or None]
    started = time.perf_counter()
    checked = [(sound, bench.check(sound, sound.pixels)) for sound in pages]
    each = (time.perf_counter() - started) / len(pages)
    sound_flags = [sum(flag.raised for flag in result.flags) for _, result in checked]
    tell(f"sound: {' '.join(s.name for s, _ in checked)}: flags {sound_flags}, {each:.2f} s a page")
    wanted = [part for part in options.only.split(",") if part]
    for name in DAMAGES:
        if wanted and not any(word in name for word in wanted):
            continue
        row = bench.row(name, checked, options.seeds)
        for note in row.notes:
            tell(f"  {name}: {note}")
        count, seconds = len(row.beyond), f"{np.mean(row.seconds):.2f}" if row.seconds else ""
        over = sum(distance > 3 for distance in row.beyond)
        sums = (str(sum(row.beyond)), str(max(row.beyond)), str(over))
        yield name, str(count), *sums, f"{row.named}/{count}", seconds
