"""Make the pictures of docs/: the report of the sample, and the views of its desk, as a browser shows them.

proof check -q && python -m scripts.make_picture [PROJECT]

PROJECT is a folder in which the sample was checked; the server runs on it while the pictures are taken. Nothing is
decided.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from scripts.bench.material import CHROMIUM, ROOT
from tests.web.served import serving_process

PICTURES = ROOT / "docs" / "pictures"
WIDTH, HEIGHT, ROWS = 1100, 700, 2
COLOURS = 64
LANGUAGES = {"en": "", "zh-Hant": ".zh"}
"""What a browser asks for, and the ending that its pictures have."""


def main(project: Path) -> None:
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as driver, serving_process(project.resolve()) as (_, address):
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for language, ending in LANGUAGES.items():
            context = browser.new_context(locale=language, viewport={"width": WIDTH, "height": HEIGHT})
            of_desk(context.new_page(), address, ending)
            of_report(browser.new_page(viewport={"width": WIDTH, "height": 900}), project, language, ending)
        browser.close()


def of_desk(page: Page, address: str, ending: str) -> None:
    """The queue, the desk, a page and the confusions."""
    page.goto(address)
    work = page.url
    for view, path in {"queue": "", "desk": "desk", "page": "pages/5", "pairs": "pairs"}.items():
        page.goto(work + path)
        take(page, f"{view}{ending}")


def of_report(page: Page, project: Path, language: str, ending: str) -> None:
    """The first flags of the report in a language, written into a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "proof", "report", "--quiet", "--lang", language, "--out", folder]
        subprocess.run(command, cwd=project, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)  # noqa: S603
        page.goto((Path(folder) / "report.html").as_uri())
    boxes = [card.bounding_box() for card in page.locator("article").all()[: 2 * ROWS]]
    known = [box for box in boxes if box]
    top, foot = min(box["y"] for box in known), max(box["y"] + box["height"] for box in known)
    clip = {"x": 0.0, "y": top - 12, "width": float(WIDTH), "height": foot - top + 24}
    keep(page.screenshot(clip=clip, full_page=True), f"report{ending}")  # type: ignore[arg-type] # a dictionary of these keys


def take(page: Page, name: str) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)  # images are drawn after they came
    keep(page.screenshot(), name)


def keep(taken: bytes, name: str) -> None:
    Image.open(io.BytesIO(taken)).convert("RGB").quantize(COLOURS).save(PICTURES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
