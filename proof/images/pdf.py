"""Scans bound into one PDF: a page of it is addressed as `scan.pdf#12`, counted from 1, like an image file.

A scanned page is rendered at the resolution of the image in it, so that its pixels are the scanner's. PDFium renders:
it supports JBIG2, JPEG 2000 and the layered pages of scanning software. It is not thread-safe, so that one page is
rendered at a time."""

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
"""Resolution of a page without a scan, with text from fonts."""

SCAN_COVERS = 0.05
"""Share of a page's area below which an image is an ornament and does not set the resolution."""

BAND = 8_000_000
"""Pixels that are rendered at once."""

BELOW = 1 - 1e-5
"""Factor for the scale, since PDFium rounds up: otherwise a scan of 1516 pixels would become 1517."""

_PDFIUM = threading.Lock()


@dataclass(frozen=True, slots=True)
class PdfPage:
    """A page of a PDF; `number` counts from 1."""

    file: Path
    number: int

    @classmethod
    def match(cls, path: Path) -> PdfPage | None:
        """The page of a path such as `scans/010.pdf#12`; None for any other path."""
        name, mark, number = path.name.rpartition("#")
        if not mark or not name.lower().endswith(SUFFIX) or not (number.isascii() and number.isdigit()):
            return None
        return cls(path.with_name(name), int(number))

    @property
    def path(self) -> Path:
        return self.file.with_name(f"{self.file.name}#{self.number}")


def stem_of(path: Path) -> str:
    """The name of an image without suffix; for a page of a PDF `scan-12`, as tools name pages that they extract."""
    page = PdfPage.match(path)
    return f"{page.file.stem}-{page.number}" if page else path.stem


def file_name(path: Path) -> str:
    """The file name of an image for other programs; for a page of a PDF as if it were a file (`scan-12.png`)."""
    return f"{stem_of(path)}.png" if PdfPage.match(path) else path.name


def page_labels(file: Path) -> list[str]:
    """The page labels of a PDF; '' for a label that is just a number.

    Raises ImageError if the file is no PDF, is damaged, or needs a password.
    """
    with _opened(file) as document:
        labels = [document.get_page_label(number).strip() for number in range(len(document))]
    return ["" if label.isdigit() else label for label in labels]


def draw(page: PdfPage, max_megapixels: float) -> Image.Image:
    """A rendered page, RGB. Raises ImageError if there is no such page or it is larger than the limit."""
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
    """The page, rendered band by band: as a whole it would be in memory three times, in PDFium, in Pillow, and as
    RGB."""
    drawn = Image.new("RGB", size)
    width, height = size
    rows = max(BAND // width, 1)
    for top in range(0, height, rows):
        below = max(height - top - rows, 0)
        # PDFium's binding rounds the cropped margins up to whole pixels: subtract half a pixel
        cut = (0, max(below - 0.5, 0) / scale, 0, max(top - 0.5, 0) / scale)
        band = sheet.render(scale=scale, crop=cut, rev_byteorder=True)
        drawn.paste(band.to_pil(), (0, top))
        band.close()
    return drawn


def _scale(sheet: pdfium.PdfPage) -> float:
    """Pixels per point of the finest scan on the page."""
    width, height = sheet.get_size()
    scale = 0.0
    for image in sheet.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        left, bottom, right, top = image.get_bounds()
        across, down = right - left, top - bottom
        if across <= 0 or down <= 0 or across * down < SCAN_COVERS * width * height:
            continue
        wide, high = image.get_px_size()
        # the width of a scan on its side is along the page's height
        scale = max(scale, (wide * high / (across * down)) ** 0.5)
    return (scale or DRAWN_DPI / POINTS_AN_INCH) * BELOW


@contextmanager
def _opened(file: Path) -> Iterator[pdfium.PdfDocument]:
    """The document, locked against other threads that use PDFium."""
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
