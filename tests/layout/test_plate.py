"""A whole plate: its four half-folios are found from the frames, wherever on the sheet they lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from proof.facsimile.leaf import Style
from proof.facsimile.render import RenderedPage, render_page, render_plate
from proof.facsimile.wear import LEVELS, Wear, without_seal
from proof.images.load import load_image
from proof.layout.plate import quadrant_boxes
from proof.model.geometry import Box
from proof.ocr.engine import Pixels
from tests.half_folios import MakePage
from tests.layout.half_folio import LINES


@dataclass(frozen=True)
class Sheet:
    """A drawn plate, its ruled areas by quadrant."""

    drawn: RenderedPage
    areas: dict[str, Box]


def bounds(corners: tuple[tuple[float, float], ...]) -> Box:
    points = np.array(corners)
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    return Box(float(x0), float(y0), float(x1 - x0), float(y1 - y0))


@pytest.fixture(scope="module", params=["clean", "worn"])
def sheet(request: pytest.FixtureRequest, make_page: MakePage) -> Sheet:
    pages = [make_page(*LINES, folio=folio, name=f"P-{folio}") for folio in ("1a", "1b", "2a", "2b")]
    wear = Wear() if request.param == "clean" else without_seal(LEVELS["moderate"])
    drawn = render_plate(pages, Style(scale=0.6), wear, seed=4, label="140-330")
    return Sheet(drawn, {name: bounds(half.frame) for name, half in zip("abcd", drawn.halves, strict=True)})


@pytest.fixture(scope="module")
def plate(shared: Path) -> Pixels:
    return load_image(shared / "facsimile" / "plates" / "WYG0140" / "WYG0140-0330.png").pixels


def test_each_quadrant_holds_its_ruled_area_and_little_of_its_neighbours(sheet: Sheet) -> None:
    boxes = quadrant_boxes(sheet.drawn.image)
    assert boxes is not None
    assert set(boxes) == set("abcd")
    for name, area in sheet.areas.items():
        slack, box = 0.01 * area.w, boxes[name]
        assert box.x <= area.x + slack, name
        assert box.y <= area.y + slack, name
        assert box.right >= area.right - slack, name
        assert box.bottom >= area.bottom - slack, name
        for other, neighbour in sheet.areas.items():
            if other != name:
                shared_width = min(boxes[name].right, neighbour.right) - max(boxes[name].x, neighbour.x)
                shared_height = min(boxes[name].bottom, neighbour.bottom) - max(boxes[name].y, neighbour.y)
                # less than a third of a column of the other half, and no row of the other leaf
                assert shared_width < area.w / 24 or shared_height < area.h / 40, (name, other)


@pytest.mark.parametrize(
    ("changed", "scale", "shift", "lost"),
    [
        pytest.param(lambda plate: np.pad(plate, ((0, 0), (700, 0)), constant_values=255), 1, (700, 0), "", id="right"),
        pytest.param(lambda plate: plate[::2, ::2], 0.5, (0, 0), "", id="half as large"),
        # an edge that was cut off is where the sheet ends
        pytest.param(lambda plate: plate[250:-150, 180:-100], 1, (-180, -250), "outer", id="without margins"),
    ],
)
def test_the_cuts_follow_the_frames_wherever_they_lie_on_the_sheet(
    plate: Pixels, changed: Callable[[Pixels], Pixels], scale: float, shift: tuple[int, int], lost: str
) -> None:
    before, after = quadrant_boxes(plate), quadrant_boxes(np.ascontiguousarray(changed(plate)))
    assert before is not None
    assert after is not None
    height, width = plate.shape
    for name, box in before.items():
        left, top = box.x * scale + shift[0], box.y * scale + shift[1]
        right, bottom = left + box.w * scale, top + box.h * scale
        inner = (name in "ac", name in "cd", name in "bd", name in "ab")
        wanted = (left, top, right, bottom)
        found = (after[name].x, after[name].y, after[name].right, after[name].bottom)
        for own, true, is_inner, size in zip(found, wanted, inner, (width, height) * 2, strict=True):
            assert abs(own - true) <= 0.01 * size or (lost and not is_inner), name


def no_plate(image: Pixels) -> bool:
    return quadrant_boxes(np.ascontiguousarray(image)) is None


def test_what_is_no_plate_is_not_cut(plate: Pixels, make_page: MakePage, shared: Path) -> None:
    """Half-folios, pages of another layout, half a plate, and sheets without anything on them."""
    assert no_plate(render_page(make_page(*LINES), Style(scale=0.6)).image)
    for folder in ("JMML/images", "other"):
        for image in sorted((shared / "facsimile" / folder).iterdir()):
            assert no_plate(load_image(image).pixels), image.name
    half = plate.shape[0] // 2
    assert no_plate(plate[:half])
    assert no_plate(plate[half:])
    for tone in (0, 128, 255):
        assert no_plate(np.full((800, 600), tone, np.uint8))
