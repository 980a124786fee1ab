"""Measure how still the glyph in question stands on the screen from flag to flag, on real pages.

    bench_steady.py [--flags 100] [--shared DIR] [--folder DIR]

The half-folios of JMML, some of whose characters are put out of their place first so that there are enough flags, are
checked and served by `proof serve`. In Chromium the desk is walked with the arrow key, at the sizes of four screens;
what is measured is how far the middle of the mark about the glyph is from where it mostly stands.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from proof.check.pipeline import check  # noqa: E402
from proof.settings.config import Settings  # noqa: E402
from tests.web.served import serving  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""
SCREENS = ((1440, 900), (1024, 768), (768, 1024), (390, 844))
EVERY = 9
"""One character in so many is exchanged with the one behind it."""


def spoiled(source: str) -> str:
    """A text in which characters within columns have changed places."""
    lines = source.split("\n")
    for number, line in enumerate(lines):
        letters = list(line)
        for at in range(number % EVERY, len(letters) - 1, EVERY):
            if all("\u4e00" <= one <= "\u9fff" for one in letters[at : at + 2]) and not line.startswith("#"):
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
    values = {"project.texts": texts, "project.images": [images], "project.out": folder / "out"}
    check(Settings().replace({**values, "store.url": f"sqlite:///{folder}/proof.sqlite"}), None)
    (folder / "config.toml").write_text(f'[project]\nimages = ["{images}"]\n', encoding="utf-8")


def places(page: Page, address: str, flags: int) -> list[tuple[float, float]]:
    """Where the middle of the glyph stands on the screen, flag for flag."""
    page.goto(f"{address}?state=&raised=all")
    found: list[tuple[float, float]] = []
    for _ in range(flags):
        page.locator("#stage:not(.waiting) .place").first.wait_for()
        box = page.locator("#stage .place").first.bounding_box()
        assert box is not None
        found.append((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
        before = page.locator("body").get_attribute("data-flag")
        page.keyboard.press("ArrowRight")
        page.locator(f"body:not([data-flag='{before}'])").wait_for()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flags", type=int, default=100)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--folder", type=Path, help="a project checked earlier, or where to keep it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as driver:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        project(folder, given.shared.resolve())
        print("| screen | flags | farthest from its place | of them within 8 px |\n| --- | --- | --- | --- |")  # noqa: T201
        with serving(folder) as address:
            opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
            for width, height in SCREENS:
                page = opened.new_page(viewport={"width": width, "height": height})
                page.goto(address)
                work = page.locator("a[href*='/works/']").first.get_attribute("href") or ""
                desk = f"{address}/works/{work.split('/works/')[1].split('/')[0]}/desk"
                found = places(page, desk, given.flags)
                across, down = (statistics.median(axis) for axis in zip(*found, strict=True))
                off = [max(abs(x - across), abs(y - down)) for x, y in found]
                still = sum(one <= 8 for one in off)
                print(f"| {width}×{height} | {len(found)} | {max(off):.1f} px | {still} |")  # noqa: T201
                page.close()
            opened.close()


if __name__ == "__main__":
    main()
