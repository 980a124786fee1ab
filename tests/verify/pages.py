"""Pages to be checked, what is checked of them, and what a result says."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proof.images.find import FoundBy, PageImage
from proof.images.load import LoadedImage, load_image
from proof.locale.notices import in_english
from proof.model.flags import Flag
from proof.model.result import PageResult
from proof.ocr.page import PageEngine
from proof.ocr.ppocr import PPOCR
from proof.ocr.readings import HalfFolioReadings
from proof.text.column import parse_column
from proof.text.model import Column, Page, Script
from proof.text.read import read_transcription
from proof.text.variants import VariantPolicy
from proof.verify.page import Checker
from proof.verify.pairing import neighbours_of

PAGES = Path(__file__).resolve().parents[2] / "pages"
THRESHOLD = 3.0


def no_pages() -> PageEngine:
    raise AssertionError("this page has columns: the page pipeline is not needed")


def checker(engine: PPOCR, script: Script = Script.TRADITIONAL, threshold: float = THRESHOLD) -> Checker:
    return Checker.of(engine, VariantPolicy(script, None), 8, 21, threshold, no_pages)


def line(source: str, number: int = 1) -> Column:
    return Column(number, source, 0, number, parse_column(source).runs)


def with_lines(page: Page, sources: Sequence[str]) -> Page:
    """The page with other lines."""
    return replace(page, cut=tuple(line(source, number) for number, source in enumerate(sources, 1)))


def sources_of(page: Page) -> list[str]:
    return [column.source for column in page.columns]


def with_line(page: Page, number: int, source: str) -> Page:
    """The page with another line of that number, from 1."""
    sources = sources_of(page)
    return with_lines(page, [*sources[: number - 1], source, *sources[number:]])


def with_character(page: Page, number: int, offset: int, character: str = "馬") -> Page:
    """The page with another character at one place."""
    source = sources_of(page)[number - 1]
    return with_line(page, number, source[:offset] + character + source[offset + 1 :])


def check_image(engine: PPOCR, page: Page, image: LoadedImage) -> PageResult:
    found = PageImage(image.path, "", FoundBy.NAME)
    return checker(engine).check(page, page.id, found, image, [])


def check_pixels(engine: PPOCR, page: Page, pixels: NDArray[np.uint8]) -> PageResult:
    shown = np.ascontiguousarray(pixels)
    return check_image(engine, page, LoadedImage(Path("P.png"), shown, (shown.shape[1], shown.shape[0]), "P"))


def raised(result: PageResult) -> list[Flag]:
    return [flag for flag in result.flags if flag.raised]


def reasons(result: PageResult) -> list[str]:
    """Why each raised flag was raised."""
    return [flag.evidence.reason for flag in raised(result)]


def said_of_page(result: PageResult) -> list[str]:
    """What is said of the page as a whole."""
    return [in_english(flag.evidence.notice) for flag in raised(result) if not flag.line and flag.evidence.notice]


def sound_sample() -> tuple[Page, ...]:
    """The sample's pages without its known errors."""
    with (PAGES / "planted.tsv").open(encoding="utf-8", newline="") as file:
        key = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    pages = []
    for page in read_transcription(PAGES / "dasheyi.txt").pages:
        sources = sources_of(page)
        for row in key:
            if row["page"] == page.id:
                at, start, length = int(row["line"]) - 1, int(row["offset"]), int(row["length"])
                sources[at] = sources[at][:start] + row["reading"] + sources[at][start + length :]
        pages.append(with_lines(page, sources))
    return tuple(pages)


@dataclass(frozen=True)
class Sample:
    """The sample's pages, and a way to check one of them with other lines; each image is read once."""

    pages: tuple[Page, ...]
    checker: Checker
    read: dict[Path, HalfFolioReadings] = field(default_factory=dict)

    def page(self, ref: str) -> Page:
        (page,) = [page for page in self.pages if page.id == ref]
        return page

    def sources(self, ref: str) -> list[str]:
        return sources_of(self.page(ref))

    def check(self, ref: str, sources: Sequence[str] | None = None, image: str = "") -> PageResult:
        """Check a page as it is or with other lines, on its own image or on that of another page."""
        page = self.page(ref)
        near = neighbours_of(self.pages, self.pages.index(page))
        path = PAGES / f"{image or ref}.png"
        found = PageImage(path, "", FoundBy.REFERENCE)
        if path not in self.read:
            self.read[path] = self.checker.readings(found, lambda: load_image(path))
        shown = page if sources is None else with_lines(page, sources)
        return self.checker.judge(shown, ref, found, self.read[path], near)
