"""The beginning of the sample, laid out in a folder of a test's own."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

PAGES = Path(__file__).resolve().parents[1] / "pages"
TEXT = PAGES / "dasheyi.txt"


def half_folios(text: str) -> tuple[str, list[str]]:
    """What stands before the first page of a text marked as the sample is, and its pages, each with its mark."""
    head, *pages = re.split(r"(?m)^(?=卷十 第)", text)
    return head, pages


def lay_out(folder: Path, pages: int, text: str = "text.txt", images: str = "images") -> Path:
    """Writes the text of the sample's first so many half-folios and copies their images; gives `folder`."""
    head, marked = half_folios(TEXT.read_text(encoding="utf-8"))
    (folder / images).mkdir(parents=True, exist_ok=True)
    (folder / text).write_text(head + "".join(marked[:pages]), encoding="utf-8")
    for image in sorted(PAGES.glob("WYG*.png"))[:pages]:
        shutil.copy(image, folder / images)
    return folder
