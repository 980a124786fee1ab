"""Pieces of images as data URIs."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from proof.model.geometry import Box
from proof.report.crops import AT_ONCE, Crop, Cutter, PageImageFile


def picture(uri: str) -> Image.Image:
    head, data = uri.split(",", 1)
    assert head == "data:image/webp;base64"
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    image.load()
    return image


def known(path: Path | None, sha: str = "") -> PageImageFile:
    """An image as a check would know it."""
    size = (300, 200)
    if path and path.is_file():
        with Image.open(path) as image:
            size = image.size
    return PageImageFile(path, sha, size)


def cut(path: Path | None, area: Box, width: int = 1000) -> Crop | None:
    return Cutter().cut(known(path), area, width)


def checkered(tmp_path: Path, mode: str = "L") -> Path:
    """An image whose left half is black and whose right half is white."""
    pixels = np.full((200, 300), 255, dtype=np.uint8)
    pixels[:, :150] = 0
    path = tmp_path / f"half.{'tif' if mode in ('I;16', 'CMYK', 'F') else 'png'}"
    if mode == "I;16":
        Image.fromarray(pixels.astype(np.uint16) * 257).save(path)
    else:
        Image.fromarray(pixels).convert(mode).save(path)
    return path


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "CMYK", "I;16", "F"])
def test_a_piece_shows_what_lies_there_in_every_kind_of_image(tmp_path: Path, mode: str) -> None:
    crop = cut(checkered(tmp_path, mode), Box(100.4, 50.0, 99.5, 40.0))
    assert crop is not None
    assert crop.area == Box(100, 50, 100, 40)
    shown = np.asarray(picture(crop.uri).convert("L"))
    assert shown.shape == (40, 100)
    assert shown[:, :45].max() < 40
    assert shown[:, 55:].min() > 215


def test_a_wide_piece_is_brought_down_and_keeps_its_shape(tmp_path: Path) -> None:
    crop = cut(checkered(tmp_path), Box(0, 0, 300, 200), 60)
    assert crop is not None
    assert picture(crop.uri).size == (60, 40)
    assert crop.area == Box(0, 0, 300, 200)


def test_a_piece_is_cut_at_the_edge_of_the_image(tmp_path: Path) -> None:
    crop = cut(checkered(tmp_path), Box(-20, 150, 60, 400), 100)
    assert crop is not None
    assert crop.area == Box(0, 150, 40, 50)


def test_red_ink_stays_red_and_tinted_paper_turns_grey(tmp_path: Path) -> None:
    pixels = np.full((80, 80, 3), (236, 228, 210), dtype=np.uint8)
    pixels[30:50, 30:50] = 20
    Image.fromarray(pixels).save(tmp_path / "tinted.png")
    pixels[5:25, 5:25] = (190, 30, 30)
    Image.fromarray(pixels).save(tmp_path / "seal.png")
    tinted = cut(tmp_path / "tinted.png", Box(0, 0, 80, 80), 80)
    sealed = cut(tmp_path / "seal.png", Box(0, 0, 80, 80), 80)
    assert tinted is not None
    assert sealed is not None
    grey = np.asarray(picture(tinted.uri).convert("RGB")).astype(int)
    assert np.ptp(grey, axis=2).max() <= 2
    red, green, _ = picture(sealed.uri).convert("RGB").getpixel((15, 15))  # type: ignore[misc]
    assert red - green > 100


def test_an_image_that_is_gone_or_broken_gives_no_piece(tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(checkered(tmp_path).read_bytes()[:60])
    assert cut(tmp_path / "gone.png", Box(0, 0, 10, 10)) is None
    assert Cutter().cut(PageImageFile(broken, "", (300, 200)), Box(0, 0, 10, 10), 100) is None
    assert cut(None, Box(0, 0, 10, 10)) is None
    assert cut(checkered(tmp_path), Box(400, 0, 10, 10)) is None


def test_an_image_smaller_than_the_one_checked_gives_no_piece(tmp_path: Path) -> None:
    assert Cutter().cut(PageImageFile(checkered(tmp_path), "", (600, 400)), Box(250, 150, 100, 100), 100) is None


def test_an_image_that_lies_on_its_side_is_cut_as_it_is_looked_at(tmp_path: Path) -> None:
    with Image.open(checkered(tmp_path)) as image:
        exif = image.getexif()
        exif[0x0112] = 6  # to be turned a quarter clockwise: what was on the left is then above
        image.save(tmp_path / "turned.jpg", exif=exif, quality=95)
    crop = Cutter().cut(PageImageFile(tmp_path / "turned.jpg", "", (200, 300)), Box(0, 100, 200, 100), 200)
    assert crop is not None
    shown = np.asarray(picture(crop.uri).convert("L"))
    assert shown.shape == (100, 200)
    assert shown[:45].max() < 60
    assert shown[55:].min() > 195


class Shelf:
    """A shelf that counts how often it is asked for something and given something."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.given = 0

    def get(self, key: str) -> bytes | None:
        return self.kept.get(key)

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        self.given += 1
        self.kept |= entries


def test_what_was_cut_once_is_taken_from_the_shelf_even_without_the_image(tmp_path: Path) -> None:
    path, shelf = checkered(tmp_path), Shelf()
    image = known(path, "5eed")
    cutter = Cutter(shelf)
    areas = [Box(float(x), 10, 40, 40) for x in range(AT_ONCE + 5)]
    first = [cutter.cut(image, area, 100) for area in areas]
    cutter.close()
    assert shelf.given == 2
    path.unlink()
    again = Cutter(shelf)
    assert [again.cut(image, area, 100) for area in areas] == first
    assert again.cut(replace(image, sha="another image"), areas[0], 100) is None
    assert again.cut(image, areas[0], 20) is None


def test_an_image_without_a_hash_is_never_put_on_the_shelf(tmp_path: Path) -> None:
    shelf = Shelf()
    cutter = Cutter(shelf)
    assert cutter.cut(known(checkered(tmp_path)), Box(0, 0, 40, 40), 100) is not None
    cutter.close()
    assert shelf.kept == {}


def test_a_column_of_a_black_and_white_scan_takes_few_bytes(facsimile: Path) -> None:
    crop = cut(facsimile, Box(886, 400, 140, 525), 200)
    assert crop is not None
    assert len(crop.uri) < 9_000
