"""Measure how far the marked glyph moves on the screen from flag to flag, on real pages.

    python -m scripts.bench steady [--flags 100]

The half-folios of JMML are checked, after some of their characters were moved so that there are enough flags, and
served by `proof serve`. In Chromium the arrow key goes from flag to flag, at the sizes of four screens. The figures are
the distances of the centre of the mark from its median position.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from scripts.bench.material import CHROMIUM, TableRow, check_in
from tests.web.served import serving

SCREENS = ((1440, 900), (1024, 768), (768, 1024), (390, 844))
EVERY = 9
"""One character in so many is exchanged with the one behind it."""


def spoiled(source: str) -> str:
    """A text in which characters within columns have changed places."""
    lines = source.split("\n")
    for number, line in enumerate(lines):
        letters = list(line)
        for at in range(number % EVERY, len(letters) - 1, EVERY):
            if all("\u4e00" <= letter <= "\u9fff" for letter in letters[at : at + 2]) and not line.startswith("#"):
                letters[at], letters[at + 1] = letters[at + 1], letters[at]
        lines[number] = "".join(letters)
    return "\n".join(lines)


def project(folder: Path, shared: Path) -> None:
    """Check the spoiled text into a project in `folder`, unless that was done before."""
    if (folder / "config.toml").is_file():
        return
    texts = []
    for path in sorted((shared / "facsimile/JMML").glob("*.txt")):
        texts.append(folder / path.name)
        texts[-1].write_text(spoiled(path.read_text(encoding="utf-8")), encoding="utf-8")
    images = shared / "facsimile/JMML/images"
    check_in(folder, texts, [images])
    (folder / "config.toml").write_text(f'[project]\nimages = ["{images}"]\n', encoding="utf-8")


def places(page: Page, address: str, flags: int) -> list[tuple[float, float]]:
    """Where the middle of the glyph stands on the screen, flag for flag."""
    page.goto(f"{address}?state=&raised=all")
    corners: list[tuple[float, float]] = []
    for _ in range(flags):
        page.locator("#stage:not(.waiting) .place").first.wait_for()
        box = page.locator("#stage .place").first.bounding_box()
        assert box is not None
        corners.append((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
        before = page.locator("body").get_attribute("data-flag")
        page.keyboard.press("ArrowRight")
        page.locator(f"body:not([data-flag='{before}'])").wait_for()
    return corners


HEADINGS = ("screen", "flags", "farthest from its place", "of them within 8 px")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--flags", type=int, default=100)


def measure(options: argparse.Namespace) -> Iterator[TableRow]:
    project(options.folder, options.shared.resolve())
    with sync_playwright() as driver, serving(options.folder) as address:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for width, height in SCREENS:
            page = opened.new_page(viewport={"width": width, "height": height})
            page.goto(address)
            work = page.locator("a[href*='/works/']").first.get_attribute("href") or ""
            desk = f"{address}/works/{work.split('/works/')[1].split('/')[0]}/desk"
            corners = places(page, desk, options.flags)
            across, down = (statistics.median(axis) for axis in zip(*corners, strict=True))
            off = [max(abs(x - across), abs(y - down)) for x, y in corners]
            yield (
                f"{width}×{height}",
                str(len(corners)),
                f"{max(off):.1f} px",
                str(sum(distance <= 8 for distance in off)),
            )
            page.close()
        opened.close()
