"""Make docs/report.png: the first flags of the sample's report, as a browser shows them.

proof demo && python scripts/make_picture.py [out/report.html]
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
WIDTH, ROWS = 1100, 2
COLOURS = 64


def main(report: Path, picture: Path) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(report.resolve().as_uri())
        boxes = [card.bounding_box() for card in page.locator("article").all()[: 2 * ROWS]]
        known = [box for box in boxes if box]
        top, foot = min(box["y"] for box in known), max(box["y"] + box["height"] for box in known)
        clip = {"x": 0.0, "y": top - 12, "width": float(WIDTH), "height": foot - top + 24}
        taken = page.screenshot(clip=clip, full_page=True)  # type: ignore[arg-type] # a dictionary of these keys
        browser.close()
    picture.parent.mkdir(exist_ok=True)
    Image.open(io.BytesIO(taken)).convert("RGB").quantize(COLOURS).save(picture, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/report.html"), ROOT / "docs" / "report.png")
