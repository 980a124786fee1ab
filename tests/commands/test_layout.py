"""`proof layout`: what was found, for programs and for eyes."""

from __future__ import annotations

import json
from pathlib import Path

import cv2

from proof.cli import main
from tests.layout.drawn import Layout, draw


def test_the_columns_of_an_image_are_told_and_drawn(tmp_path: Path) -> None:
    page = draw(Layout(registers=2, columns=6))
    image = tmp_path / "page.png"
    cv2.imwrite(str(image), page.pixels)
    assert main(["layout", str(image), "--out", str(tmp_path / "out"), "-q"]) == 0
    record = json.loads((tmp_path / "out" / "page.json").read_text())
    assert (len(record["columns"]), record["notes"]) == (12, [])
    upper, lower = record["columns"][:6], record["columns"][6:]
    lefts = [column["x"] for column in upper]
    assert lefts == sorted(lefts, reverse=True)
    assert max(column["y"] + column["h"] for column in upper) < min(column["y"] for column in lower)
    picture = cv2.imread(str(tmp_path / "out" / "page.png"))
    assert picture.shape[:2] == page.pixels.shape
