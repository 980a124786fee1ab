"""What is asked of a half-folio is answered from what was kept of it, and where that does not say from its image."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from proof.facsimile.render import render_page
from proof.facsimile.wear import Wear
from proof.images.load import LoadedImage
from proof.layout.half_folio import find_layout
from proof.layout.runs import CutBy
from proof.ocr.page_record import CutStrip, PageRecord
from proof.ocr.ppocr import PPOCR
from proof.ocr.readings import HalfFolioReadings
from proof.text.model import Page, Row

MakePage = Callable[..., Page]
LINES = ("司射適", "射于公", "乘矢", *["司射適西階西倚扑升自西階東面請射于公"] * 5)


def test_a_short_strip_that_is_looked_at_again_whole_is_asked_for_another_character(
    make_page: MakePage, ppocr: PPOCR
) -> None:
    """What was read on it is kept, and its pixels are not: for what is sought there anew it is cut again."""
    page = make_page(*LINES)
    pixels = render_page(page, wear=Wear(), seed=3).image
    image = LoadedImage(Path("drawn.png"), pixels, (pixels.shape[1], pixels.shape[0]), "")
    known = PageRecord()
    for sought in (("矢",), ("矢", "射")):
        readings = HalfFolioReadings(ppocr, 21, lambda: image, lambda image: find_layout(image.pixels), known)
        (strip,) = readings.cut(readings.outline.columns[2], page.columns[2], CutBy.BEST)
        shown = readings.window(strip, strip.top - 50, strip.bottom + 50, 1.5, False)
        assert shown == strip
        (spikes,) = readings.read([shown], [sought])
        assert all(spike.believed[character] < 0.0 for spike in spikes for character in sought)
        known = PageRecord.unpacked(readings.used.packed())


def test_a_column_is_cut_as_its_line_says_whatever_line_it_was_cut_by_before(make_page: MakePage, ppocr: PPOCR) -> None:
    """A line that begins or ends with blanks has the same runs, and other cells of them are written."""
    page = make_page("司射適西階(案注疏本/此下有)", *["司射適西階西倚扑升自西階東面請射于公"] * 7)
    pixels = render_page(page, wear=Wear(), seed=3).image
    image = LoadedImage(Path("drawn.png"), pixels, (pixels.shape[1], pixels.shape[0]), "")

    def cut(line: str, known: PageRecord) -> tuple[tuple[CutStrip, ...], PageRecord]:
        readings = HalfFolioReadings(ppocr, 21, lambda: image, lambda image: find_layout(image.pixels), known)
        column = make_page(line).columns[0]
        strips = readings.cut(readings.outline.columns[0], column, CutBy.COUNTED)
        readings.read(strips, [("射",)] * len(strips))
        return strips, PageRecord.unpacked(readings.used.packed())

    lines = ("司射適西階(案注疏本/此下有)", "　　射適西(案注疏本/此下有)", "司射適西階(案注疏　/此下　　)")
    known = PageRecord()
    for line in lines:
        strips, known = cut(line, known)
        assert strips == cut(line, PageRecord())[0]


def test_shape_span_and_size_of_a_glyph_are_kept_and_the_image_not_opened_for_them_again(
    make_page: MakePage, ppocr: PPOCR
) -> None:
    pixels = render_page(make_page(*LINES), wear=Wear(), seed=3).image
    image = LoadedImage(Path("drawn.png"), pixels, (pixels.shape[1], pixels.shape[0]), "")
    readings = HalfFolioReadings(ppocr, 21, lambda: image, lambda image: find_layout(image.pixels))
    area = readings.outline.columns[0]
    places = [area.top + (number + 0.5) * area.cell(21) for number in range(3)]
    shapes = [readings.shape(area, Row.MAIN, places, number) for number in range(3)]
    spans = readings.spans(area, Row.MAIN, places)
    sizes = [readings.ink_size(area, Row.MAIN, places, number) for number in range(3)]
    assert all(0.5 < side / area.cell(21) < 1.3 for size in sizes for side in size)
    assert all(shape.any() for shape in shapes)
    assert not (shapes[0] == shapes[1]).all()

    known = PageRecord.unpacked(readings.used.packed())
    from_record = HalfFolioReadings(ppocr, 21, lambda: image, lambda image: find_layout(image.pixels), known)
    assert [from_record.shape(area, Row.MAIN, places, number).tolist() for number in range(3)] == [
        shape.tolist() for shape in shapes
    ]
    assert from_record.spans(area, Row.MAIN, places) == spans
    assert [from_record.ink_size(area, Row.MAIN, places, number) for number in range(3)] == sizes
    assert from_record.are_all_stored
