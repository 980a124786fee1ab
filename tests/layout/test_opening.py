"""An opening is cut into its two half-folios, wherever they lie on it, in whatever light, on whatever ground."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from proof.facsimile.leaf import Style
from proof.facsimile.render import RenderedPage, render_page
from proof.facsimile.wear import LEVELS, without_seal
from proof.images.load import load_image
from proof.layout.half_folio import Layout, find_layout
from proof.layout.opening import Half, opening_halves
from proof.layout.plate import quadrant_boxes
from proof.model.geometry import Box
from proof.ocr.engine import Pixels
from tests.half_folios import MakePage
from tests.layout.half_folio import LINES
from tests.layout.openings import Photograph, side_by_side
from tests.sampling import looks_wide

pytestmark = pytest.mark.slow


PHOTOGRAPHS = {
    "narrow": Photograph(gutter=0, margin=0.02),
    "slanted, in shade": Photograph(gutter=0.12, margin=0.1, skew=1.5, shadow=0.6),
    "on dark ground": Photograph(gutter=0.12, skew=-1, shadow=0.6, surround=0.08, lower=0.02),
}


@pytest.fixture(scope="module")
def drawn(make_page: MakePage) -> dict[str, RenderedPage]:
    """Half-folios by their sides; the fold is on the left of a, on the right of b."""
    wear = without_seal(LEVELS["moderate"])
    pages = [make_page(*LINES, folio=folio, name=f"P-{folio}") for folio in ("1a", "1b")]
    return {page.id[-1]: render_page(page, Style(scale=0.7), wear, seed=5) for page in pages}


def area(page: RenderedPage) -> Box:
    points = np.array(page.halves[0].frame)
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    return Box(float(x0), float(y0), float(x1 - x0), float(y1 - y0))


def columns_area(layout: Layout) -> Box:
    last, first = layout.columns[-1], layout.columns[0]
    return layout.outline.file_box(last.left, first.top, first.right, first.bottom)


def found(image: Pixels, columns: int = 8) -> dict[str, Half]:
    halves = opening_halves(image, columns)
    assert halves is not None
    assert set(halves) == {"a", "b"}
    assert all(half.pixels.shape == (half.box.h, half.box.w) for half in halves.values())
    return halves


def assert_laid_out(half: Half, wanted: Box) -> None:
    """The columns that are found on a half are those of its half-folio, to a quarter of a column and of a character."""
    layout = find_layout(half.pixels, origin=(half.box.x, half.box.y))
    assert layout.ruled, layout.outline.why
    got = columns_area(layout)
    assert max(abs(got.x - wanted.x), abs(got.right - wanted.right)) < wanted.w / 8 / 4, (got, wanted)
    assert max(abs(got.y - wanted.y), abs(got.bottom - wanted.bottom)) < wanted.h / 21 / 2, (got, wanted)


@pytest.mark.parametrize("how", PHOTOGRAPHS)
def test_each_half_holds_the_columns_of_its_own_half_folio(drawn: dict[str, RenderedPage], how: str) -> None:
    """Of a book that lies open, b is on the right; of a leaf that was never folded, a."""
    for sides in ("ba", "ab") if looks_wide() else (("ba", "ab")[list(PHOTOGRAPHS).index(how) % 2],):
        right, left = drawn[sides[0]], drawn[sides[1]]
        opening = side_by_side(right.image, left.image, PHOTOGRAPHS[how])
        halves = found(opening.image)
        assert_laid_out(halves["a"], opening.box("a", area(right)))
        assert_laid_out(halves["b"], opening.box("b", area(left)))


@pytest.mark.parametrize("blank", ["a", "b"])
def test_the_first_and_the_last_opening_of_a_book_may_be_half_blank(drawn: dict[str, RenderedPage], blank: str) -> None:
    page = drawn["a"]
    nothing = np.full_like(page.image, 255)
    right, left = (nothing, page.image) if blank == "a" else (page.image, nothing)
    opening = side_by_side(right, left)
    shown = "b" if blank == "a" else "a"
    assert_laid_out(found(opening.image)[shown], opening.box(shown, area(page)))


@pytest.mark.parametrize(
    ("how", "beside"),
    [
        ("on dark ground", ("JMML_000-1b", "JMML_000-2a")),
        ("slanted, in shade", ("JMML_001-2a", "JMML_001-2b")),
    ],
)
def test_real_pages_beside_one_another_are_parted(shared: Path, how: str, beside: tuple[str, str]) -> None:
    pages = []
    for name in beside:
        (path,) = (shared / "facsimile" / "JMML" / "images").glob(f"{name}.*")
        pages.append(load_image(path).pixels)
    opening = side_by_side(pages[0], pages[1], PHOTOGRAPHS[how])
    halves = found(opening.image)
    for part, page in zip("ab", pages, strict=True):
        assert_laid_out(halves[part], opening.box(part, columns_area(find_layout(page))))


def test_what_has_no_rules_is_parted_where_no_ink_is() -> None:
    rng = np.random.default_rng(1)
    sheet = np.full((900, 1300), 255, np.uint8)
    for left in (100, 700):
        for x in range(left, left + 500, 60):
            for y in range(100, 800, 45):
                sheet[y : y + 30, x : x + 30] = np.where(rng.random((30, 30)) < 0.5, 0, 255)
    halves = found(sheet)
    assert halves["b"].box.right >= 630
    assert halves["a"].box.x <= 700
    assert 570 < halves["b"].box.right < 700 or 570 < halves["a"].box.x <= 700


def test_a_half_folio_a_plate_and_a_blank_sheet_are_no_openings_and_openings_no_plates(
    drawn: dict[str, RenderedPage], shared: Path
) -> None:
    assert opening_halves(drawn["a"].image) is None
    for image in sorted((shared / "facsimile" / "JMML" / "images").iterdir()):
        assert opening_halves(load_image(image).pixels) is None, image.name
    assert opening_halves(load_image(shared / "facsimile" / "plates" / "WYG0140" / "WYG0140-0330.png").pixels) is None
    for tone in (0, 128, 255):
        assert opening_halves(np.full((600, 900), tone, np.uint8)) is None
    for how in PHOTOGRAPHS.values():
        assert quadrant_boxes(side_by_side(drawn["b"].image, drawn["a"].image, how).image) is None
