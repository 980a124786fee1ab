"""Measure the check on pages without rules drawn in many styles: columns, false flags, planted errors, by kind of page.

    python -m scripts.bench plain [--pages 30] [--first 0] [--photographs | --book NAME]

`plain_pages.py` draws the pages: registers, openings, fold strips, titles beside the frame, notes and numbers in small
script, verse, empty columns, seals; scanned, or photographed at an angle, curved, in uneven light, coarse; or pages of
printed books, with rules or without (`book_pages.py`; `all`: so many of each kind). Columns are
right where one found column holds the middle of a true one, most of its height and little more than its width. Pages
on which something is wrong are told with their seed, and drawn with the columns that were found into `--keep`.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from proof.images.find import FoundBy, PageImage
from proof.images.load import LoadedImage
from proof.layout.drawing import columns_of
from proof.model.geometry import Box
from proof.model.result import PageResult
from proof.text.column import parse_column
from proof.text.model import Page
from proof.verify.page import Checker
from scripts.bench.book_pages import KINDS as BOOKS
from scripts.bench.book_pages import draw_book_kind
from scripts.bench.material import TableRow, engine_and_checker, letters, marked, tell
from scripts.bench.plain_pages import PlainPage, draw_plain

RATE = 0.03


def draw_of_book(kind: str, letters: Iterator[str], seed: int) -> PlainPage:
    """A page of a kind of book, with its columns as its text."""
    book = draw_book_kind(kind, letters, [seed])
    return PlainPage.of(f"B_{seed:04}", book.image, book.lines, book.boxes)


def spoiled(page: Page, rng: np.random.Generator) -> tuple[Page, set[tuple[int, int]]]:
    """The page with characters of main text exchanged for others of it, and where."""
    pool = [cell.text for column in page.columns for cell in column.cells if cell.han]
    lines, places = [], set()
    for column in page.columns:
        source = list(column.source)
        for cell in column.cells:
            wrong = str(rng.choice(pool))
            if cell.han and rng.random() < RATE and wrong != cell.text:
                source[cell.offset] = wrong
                places.add((column.number, cell.offset))
        text = "".join(source)
        lines.append(replace(column, source=text, parsed=parse_column(text).runs))
    return replace(page, cut=tuple(lines)), places


def right(boxes: Sequence[Box], corners: NDArray[np.float64]) -> bool:
    """Whether exactly one found column holds the middle of a true one, most of its height and little more of its
    width."""
    x, y = corners.mean(axis=0)
    mine = [box for box in boxes if box.contains(float(x), float(y))]
    if len(mine) != 1:
        return False
    top, bottom = corners[:2, 1].mean(), corners[2:, 1].mean()
    wide = corners[:, 0].max() - corners[:, 0].min()
    return bool(
        mine[0].w < 1.7 * wide
        and min(mine[0].bottom, bottom) - max(mine[0].y, top) > 0.85 * (bottom - top) - 0.3 * wide
    )


def measured(
    checker: Checker, drawn: PlainPage, rng: np.random.Generator
) -> tuple[Counter[str], list[Box], PageResult]:
    """What is counted of one page, the columns that were found, and the result of its clean text."""
    height, width = drawn.image.shape
    image = LoadedImage(Path(f"{drawn.page.id}.png"), drawn.image, (width, height), drawn.page.id)
    page_image = PageImage(image.path, "", FoundBy.NAME)
    readings = checker.readings(page_image, lambda: image)
    boxes = [readings.outline.file_box(*rectangle) for rectangle in columns_of(readings.outline)]
    counts = Counter(columns=len(drawn.corners), right=sum(right(boxes, corner) for corner in drawn.corners))
    counts["extra"] = sum(not any(box.contains(*map(float, c.mean(axis=0))) for c in drawn.corners) for box in boxes)
    clean = checker.judge(drawn.page, "", page_image, readings, ())
    counts["characters"] = sum(cell.han for column in drawn.page.columns for cell in column.cells)
    counts["false"] = sum(flag.raised for flag in clean.flags)
    counts["layout"] = sum(flag.raised and not flag.length and flag.kind.value == "layout" for flag in clean.flags)
    page, places = spoiled(drawn.page, rng)
    raised = {
        (flag.line, flag.offset) for flag in checker.judge(page, "", page_image, readings, ()).flags if flag.raised
    }
    counts["errors"], counts["caught"] = len(places), len(places & raised)
    counts["pages"] = 1
    return counts, boxes, clean


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--photographs", action="store_true")
    parser.add_argument("--book", choices=[*BOOKS, "all"])


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    engine, checker = engine_and_checker()
    total: Counter[str] = Counter()
    started = time.monotonic()
    kinds = [*BOOKS] if options.book == "all" else [options.book]
    for kind, seed in product(kinds, range(options.first, options.first + options.pages)):
        rng = np.random.default_rng([seed, 6])
        characters = letters(options.shared, rng, engine)
        if options.book:
            drawn = draw_of_book(kind, characters, seed)
        else:
            drawn = draw_plain(characters, [seed], options.photographs, f"P_{seed:04}")
        counts, found, clean = measured(checker, drawn, rng)
        total += counts
        caught = counts["caught"] == counts["errors"]
        if counts["right"] < counts["columns"] or counts["extra"] or counts["false"] or not caught:
            tell(kind or "", seed, clean.status.value, dict(counts))
            for flag in [flag for flag in clean.flags if flag.raised][:6]:
                description = f"{flag.transcribed}→{flag.suggested} {flag.score:.1f} {flag.evidence.reason}"
                tell(f"     {flag.line}:{flag.offset} {flag.kind.value} {description}")
            name = f"{kind or ''}{seed}{'p' * options.photographs}.png"
            cv2.imwrite(str(options.folder / name), marked(drawn.image, found, clean.flags))
    yield "columns", f"{total['right']} of {total['columns']}", "", f"{total['extra']} beside them"
    per = 1000 * total["false"] / max(total["characters"], 1)
    counted = f"{total['false']} in {total['characters']}, {total['layout']} of them about columns and pages"
    yield "false in 1,000", f"{per:.2f}", "", counted
    yield "errors raised", f"{total['caught']} of {total['errors']}"
    yield "seconds", f"{time.monotonic() - started:.0f}"
