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
from proof.report.crops import PIECES_PER_WRITE, Cutter, PageImageFile


def picture(uri: str) -> Image.Image:
    head, data = uri.split(",", 1)
    assert head == "data:image/webp;base64"
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    image.load()
    return image


def known(path: Path | None, sha: str = "", size: tuple[int, int] = (300, 200)) -> PageImageFile:
    """An image as a check would know it."""
    return PageImageFile(path, sha, size)


def cut(
    path: Path | None, area: Box, width: int = 1000, *, size: tuple[int, int] = (300, 200)
) -> tuple[Box, Image.Image] | None:
    """The area of the image that is shown, and the piece."""
    crop = Cutter().cut(known(path, size=size), area, width)
    return (crop.area, picture(crop.uri)) if crop else None


def piece(path: Path | None, area: Box, width: int = 1000, *, size: tuple[int, int] = (300, 200)) -> Image.Image:
    crop = cut(path, area, width, size=size)
    assert crop is not None
    return crop[1]


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
    shown = np.asarray(piece(checkered(tmp_path, mode), Box(100.4, 50.0, 99.5, 40.0)).convert("L"))
    assert shown.shape == (40, 100)
    assert shown[:, :45].max() < 40
    assert shown[:, 55:].min() > 215


@pytest.mark.parametrize(
    ("area", "width", "shown", "size"),
    [
        (Box(100.4, 50.0, 99.5, 40.0), 1000, Box(100, 50, 100, 40), (100, 40)),
        (Box(0, 0, 300, 200), 60, Box(0, 0, 300, 200), (60, 40)),
        (Box(-20, 150, 60, 400), 100, Box(0, 150, 40, 50), (40, 50)),
    ],
    ids=["between pixels", "wide", "at the edge"],
)
def test_a_piece_lies_on_the_image_and_a_wide_one_is_brought_down(
    tmp_path: Path, area: Box, width: int, shown: Box, size: tuple[int, int]
) -> None:
    crop = cut(checkered(tmp_path), area, width)
    assert crop is not None
    assert (crop[0], crop[1].size) == (shown, size)


def test_an_image_that_is_gone_broken_or_smaller_than_the_one_checked_gives_no_piece(tmp_path: Path) -> None:
    whole, broken = checkered(tmp_path), tmp_path / "broken.png"
    broken.write_bytes(whole.read_bytes()[:60])
    for path in (tmp_path / "gone.png", broken, None):
        assert cut(path, Box(0, 0, 10, 10)) is None
    assert cut(whole, Box(400, 0, 10, 10)) is None
    assert cut(whole, Box(250, 150, 100, 100), size=(600, 400)) is None


class CountingCache:
    """A cache that counts how often it is asked for something and given something."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.given = 0

    def get(self, key: str) -> bytes | None:
        return self.kept.get(key)

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        self.given += 1
        self.kept |= entries


def test_what_was_cut_once_is_taken_from_the_cache_even_without_the_image(tmp_path: Path) -> None:
    """A piece of an image without a hash is never put into it."""
    path, cache = checkered(tmp_path), CountingCache()
    image = known(path, "5eed")
    cutter = Cutter(cache)
    areas = [Box(float(x), 10, 40, 40) for x in range(PIECES_PER_WRITE + 5)]
    first = [cutter.cut(image, area, 100) for area in areas]
    cutter.close()
    assert (cache.given, len(cache.kept)) == (2, len(areas))
    cutter = Cutter(cache)
    assert cutter.cut(known(path), Box(0, 0, 40, 40), 100) is not None
    cutter.close()
    assert (cache.given, len(cache.kept)) == (2, len(areas))
    path.unlink()
    again = Cutter(cache)
    assert [again.cut(image, area, 100) for area in areas] == first
    assert again.cut(replace(image, sha="another image"), areas[0], 100) is None
    assert again.cut(image, areas[0], 20) is None
