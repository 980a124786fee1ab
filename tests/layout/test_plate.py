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
from proof.text.model import Page
from tests.layout.half_folio import LINES

MakePage = Callable[..., Page]


@dataclass(frozen=True)
class Sheet:
    """A drawn plate, its ruled areas by quadrant."""

    drawn: RenderedPage
    areas: dict[str, Box]


def bounds(corners: tuple[tuple[float, float], ...]) -> Box:
    points = np.array(corners)
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    return Box(float(x0), float(y0), float(x1 - x0), float(y1 - y0))


@pytest.fixture(scope="session", params=["clean", "worn"])
def sheet(request: pytest.FixtureRequest, make_page: MakePage) -> Sheet:
    pages = [make_page(*LINES, folio=folio, name=f"P-{folio}") for folio in ("1a", "1b", "2a", "2b")]
    wear = Wear() if request.param == "clean" else without_seal(LEVELS["moderate"])
    drawn = render_plate(pages, Style(scale=0.6), wear, seed=4, label="140-330")
    return Sheet(drawn, {name: bounds(half.frame) for name, half in zip("abcd", drawn.halves, strict=True)})


@pytest.fixture(scope="session")
def plate(shared: Path) -> Pixels:
    return load_image(shared / "facsimile" / "plates" / "WYG0140" / "WYG0140-0330.png").pixels


def holds(box: Box, area: Box, slack: float) -> bool:
    return (
        box.x <= area.x + slack
        and box.y <= area.y + slack
        and box.right >= area.right - slack
        and box.bottom >= area.bottom - slack
    )


def near(one: Box, other: Box, tolerance: float) -> bool:
    pairs = zip((one.x, one.y, one.right, one.bottom), (other.x, other.y, other.right, other.bottom), strict=True)
    return all(abs(a - b) <= tolerance for a, b in pairs)


def test_each_quadrant_holds_its_ruled_area_and_little_of_its_neighbours(sheet: Sheet) -> None:
    boxes = quadrant_boxes(sheet.drawn.image)
    assert boxes is not None
    assert set(boxes) == set("abcd")
    for name, area in sheet.areas.items():
        assert holds(boxes[name], area, slack=0.01 * area.w), name
        for other, neighbour in sheet.areas.items():
            if other != name:
                shared_width = min(boxes[name].right, neighbour.right) - max(boxes[name].x, neighbour.x)
                shared_height = min(boxes[name].bottom, neighbour.bottom) - max(boxes[name].y, neighbour.y)
                # less than a third of a column of the other half, and no row of the other leaf
                assert shared_width < area.w / 24 or shared_height < area.h / 40, (name, other)


def test_a_is_upper_right_b_upper_left_c_lower_right_d_lower_left(plate: Pixels) -> None:
    boxes = quadrant_boxes(plate)
    assert boxes is not None
    assert boxes["a"].x > boxes["b"].x
    assert boxes["c"].x > boxes["d"].x
    assert max(boxes["a"].bottom, boxes["b"].bottom) <= min(boxes["c"].y, boxes["d"].y)
    height, width = plate.shape
    assert all(b.x >= 0 and b.y >= 0 and b.right <= width and b.bottom <= height for b in boxes.values())


def test_the_cuts_follow_the_frames_when_the_sheet_is_shifted(plate: Pixels) -> None:
    before = quadrant_boxes(plate)
    assert before is not None
    for left, right, above, below in ((700, 0, 0, 0), (0, 900, 0, 400), (250, 0, 900, 0)):
        padded = np.pad(plate, ((above, below), (left, right)), constant_values=255)
        after = quadrant_boxes(padded)
        assert after is not None, (left, right, above, below)
        for name, box in before.items():
            moved = Box(box.x + left, box.y + above, box.w, box.h)
            assert near(after[name], moved, 0.01 * plate.shape[1]), (name, left, right, above, below)


def test_the_cuts_follow_the_frames_when_the_margins_are_cut_off(plate: Pixels) -> None:
    before = quadrant_boxes(plate)
    assert before is not None
    cut = quadrant_boxes(plate[250:-150, 180:-100])
    assert cut is not None
    for name, box in before.items():
        moved = Box(box.x - 180, box.y - 250, box.w, box.h)
        # an edge that was cut off is where the sheet ends
        assert abs(cut[name].bottom - moved.bottom) <= 0.01 * plate.shape[0] or name in "cd", name
        assert abs((cut[name].x if name in "ac" else cut[name].right) - (moved.x if name in "ac" else moved.right)) < (
            0.01 * plate.shape[1]
        ), name


def test_the_cuts_scale_with_the_sheet(plate: Pixels) -> None:
    before, half = quadrant_boxes(plate), quadrant_boxes(np.ascontiguousarray(plate[::2, ::2]))
    assert before is not None
    assert half is not None
    for name, box in before.items():
        doubled = Box(half[name].x * 2, half[name].y * 2, half[name].w * 2, half[name].h * 2)
        assert near(doubled, box, 0.01 * plate.shape[1]), name


def test_a_half_folio_is_no_plate(make_page: MakePage, shared: Path) -> None:
    assert quadrant_boxes(render_page(make_page(*LINES), Style(scale=0.6)).image) is None
    for image in sorted((shared / "facsimile" / "JMML" / "images").iterdir()):
        assert quadrant_boxes(load_image(image).pixels) is None, image.name


def test_a_page_of_another_layout_is_no_plate(shared: Path) -> None:
    for image in sorted((shared / "facsimile" / "other").iterdir()):
        assert quadrant_boxes(load_image(image).pixels) is None, image.name


def test_half_a_plate_is_no_plate(plate: Pixels) -> None:
    height, _width = plate.shape
    assert quadrant_boxes(plate[: height // 2]) is None
    assert quadrant_boxes(plate[height // 2 :]) is None


@pytest.mark.parametrize("tone", [0, 128, 255])
def test_a_sheet_without_anything_on_it_is_no_plate(tone: int) -> None:
    assert quadrant_boxes(np.full((800, 600), tone, np.uint8)) is None
