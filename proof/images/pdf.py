"""Scans bound into one PDF: a page of it is addressed as `scan.pdf#12`, counted from 1, like an image file.

A scanned page is drawn at the resolution of the image that it holds, so that its pixels are the scanner's. PDFium
draws; it knows JBIG2, JPEG 2000 and the layered pages of scanning software, and it is not safe for threads, so that
one page is drawn at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image

from proof.errors import ImageError
from proof.model.notices import NoticeCode

SUFFIX = ".pdf"

POINTS_AN_INCH = 72
DRAWN_DPI = 300
"""A page without a scan on it, text set from fonts, is drawn at this resolution."""

SCAN_COVERS = 0.05
"""Of a page's area: a smaller image is an ornament and does not set the resolution."""

BAND = 8_000_000
"""Pixels that are drawn at once."""

BELOW = 1 - 1e-5
"""PDFium rounds sides up: a hair less, so that a scan of 1516 pixels does not become 1517."""

_PDFIUM = threading.Lock()


@dataclass(frozen=True, slots=True)
class PdfPage:
    """A page of a PDF; `number` counts from 1."""

    file: Path
    number: int

    @classmethod
    def match(cls, path: Path) -> PdfPage | None:
        """The page that a path such as `scans/010.pdf#12` addresses; None for any other path."""
        name, mark, number = path.name.rpartition("#")
        if not mark or not name.lower().endswith(SUFFIX) or not (number.isascii() and number.isdigit()):
            return None
        return cls(path.with_name(name), int(number))

    @property
    def path(self) -> Path:
        return self.file.with_name(f"{self.file.name}#{self.number}")


def stem_of(path: Path) -> str:
    """The name of an image without its ending: of a page of a PDF `scan-12`, as tools call it that take PDFs apart."""
    page = PdfPage.match(path)
    return f"{page.file.stem}-{page.number}" if page else path.stem


def file_name(path: Path) -> str:
    """What the file of an image is called; a page of a PDF as if it were one (`scan-12.png`), for other programs."""
    return f"{stem_of(path)}.png" if PdfPage.match(path) else path.name


def page_labels(file: Path) -> list[str]:
    """For every page of a PDF the label that it has there, where that is more than a number; else ''.

    Raises ImageError where the file is no PDF, is damaged, or asks for a password.
    """
    with _opened(file) as document:
        labels = [document.get_page_label(number).strip() for number in range(len(document))]
    return ["" if label.isdigit() else label for label in labels]


def draw(page: PdfPage, max_megapixels: float) -> Image.Image:
    """A page as it is looked at, RGB. Raises ImageError where there is no such page or it is larger than the limit."""
    with _opened(page.file) as document:
        if not 1 <= page.number <= len(document):
            raise ImageError(page.path, NoticeCode.PDF_PAGE_MISSING, pages=len(document))
        try:
            sheet = document[page.number - 1]
            scale = _scale(sheet)
            width, height = (ceil(side * scale) for side in sheet.get_size())
            if width * height > max_megapixels * 1e6:
                values = {"width": width, "height": height, "limit": f"{max_megapixels:g}"}
                raise ImageError(page.path, NoticeCode.PDF_PAGE_TOO_LARGE, **values)
            drawn = _in_bands(sheet, scale, (width, height))
        except pdfium.PdfiumError as error:
            raise ImageError(page.path, NoticeCode.PDF_UNDRAWABLE, error=str(error)) from error
    return drawn


def _in_bands(sheet: pdfium.PdfPage, scale: float, size: tuple[int, int]) -> Image.Image:
    """The page, drawn band by band: whole, it would be in memory three times over, as PDFium draws it, as Pillow takes
    that, and as RGB."""
    drawn = Image.new("RGB", size)
    width, height = size
    rows = max(BAND // width, 1)
    for top in range(0, height, rows):
        below = max(height - top - rows, 0)
        # PDFium's binding rounds what is cut off up to whole pixels; half a pixel less and it rounds to these
        cut = (0, max(below - 0.5, 0) / scale, 0, max(top - 0.5, 0) / scale)
        band = sheet.render(scale=scale, crop=cut, rev_byteorder=True)
        drawn.paste(band.to_pil(), (0, top))
        band.close()
    return drawn


def _scale(sheet: pdfium.PdfPage) -> float:
    """Pixels a point: those of the finest scan on the page."""
    width, height = sheet.get_size()
    scale = 0.0
    for image in sheet.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        left, bottom, right, top = image.get_bounds()
        across, down = right - left, top - bottom
        if across <= 0 or down <= 0 or across * down < SCAN_COVERS * width * height:
            continue
        wide, high = image.get_px_size()
        # a scan that lies on its side has its width along the page's height
        scale = max(scale, (wide * high / (across * down)) ** 0.5)
    return (scale or DRAWN_DPI / POINTS_AN_INCH) * BELOW


@contextmanager
def _opened(file: Path) -> Iterator[pdfium.PdfDocument]:
    """The document, while no other thread uses PDFium."""
    if not file.is_file():
        raise ImageError(file, NoticeCode.FILE_MISSING)
    with _PDFIUM:
        try:
            document = pdfium.PdfDocument(file)
        except pdfium.PdfiumError as error:
            if "password" in str(error).lower():
                raise ImageError(file, NoticeCode.PDF_LOCKED) from error
            raise ImageError(file, NoticeCode.PDF_DAMAGED, error=str(error)) from error
        try:
            yield document
        finally:
            document.close()
