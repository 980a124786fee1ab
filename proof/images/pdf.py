"""Renders pages of PDF files as page images. A path such as `scan.pdf#12` names a page; pages count from 1.

A page is rendered at the resolution of the scan in it, so that its pixels are the scanner's. PDFium renders, since it
supports JBIG2, JPEG 2000 and the layered pages of scanning software. It is not thread-safe: a lock admits one thread at
a time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from math import ceil
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image

from proof.errors import ImageError
from proof.model.notices import NoticeCode

SUFFIX = ".pdf"

POINTS_AN_INCH = 72
DRAWN_DPI = 300
"""Resolution of a page without a scan, whose text is drawn from fonts."""

MIN_SCAN_SHARE = 0.05
"""Minimum area of a scan, as a share of the page's. Smaller images are ornaments and do not set the resolution."""

BAND_PIXELS = 8_000_000
"""Number of pixels that are rendered at once."""

SHRINK = 1 - 1e-5
"""Factor that lowers the scale a little, since PDFium rounds up: a scan 1516 pixels wide would become 1517 pixels
wide."""

_PDFIUM_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class PdfPage:
    """A page of a PDF file; `number` counts from 1."""

    file: Path
    number: int

    @classmethod
    def match(cls, path: Path) -> PdfPage | None:
        """The page that a path such as `scans/010.pdf#12` names; None for any other path."""
        name, mark, number = path.name.rpartition("#")
        if not mark or not name.lower().endswith(SUFFIX) or not (number.isascii() and number.isdigit()):
            return None
        return cls(path.with_name(name), int(number))

    @property
    def path(self) -> Path:
        return self.file.with_name(f"{self.file.name}#{self.number}")


def stem_of(path: Path) -> str:
    """The file name of an image without suffix; `scan-12` for a page of a PDF, as `pdftoppm` names extracted pages."""
    page = PdfPage.match(path)
    return f"{page.file.stem}-{page.number}" if page else path.stem


def file_name(path: Path) -> str:
    """The file name of an image in exports; `scan-12.png` for a page of a PDF."""
    return f"{stem_of(path)}.png" if PdfPage.match(path) else path.name


def file_names(paths: Iterable[Path]) -> dict[Path, str]:
    """The file names of images in exports, each unique: a name that several images have is preceded by the name of its
    folder (`v1_001.png`), with a number where that is not enough (`v1_2_001.png`)."""
    images = tuple(dict.fromkeys(paths))
    uses = Counter(map(file_name, images))
    taken = {name for name, number in uses.items() if number == 1}
    names = {}
    for image in images:
        own_name = name = file_name(image)
        if uses[own_name] > 1:
            folder = image.parent.name
            name = f"{folder}_{own_name}"
            for number in count(2):
                if name not in taken:
                    break
                name = f"{folder}_{number}_{own_name}"
            taken.add(name)
        names[image] = name
    return names


def page_labels(file: Path) -> list[str]:
    """The page labels of a PDF, in the order of its pages; '' for labels that are numbers.

    Raises ImageError if the file is no PDF, is damaged, or needs a password.
    """
    with _opened(file) as document:
        labels = [document.get_page_label(index).strip() for index in range(len(document))]
    return ["" if label.isdigit() else label for label in labels]


def draw(page: PdfPage, max_megapixels: float) -> Image.Image:
    """Render a page as RGB. Raises ImageError if it is missing, larger than the limit, or cannot be rendered."""
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
            return _in_bands(sheet, scale, (width, height))
        except pdfium.PdfiumError as error:
            raise ImageError(page.path, NoticeCode.PDF_UNDRAWABLE, error=str(error)) from error


def _in_bands(sheet: pdfium.PdfPage, scale: float, size: tuple[int, int]) -> Image.Image:
    """Render a page band by band: as a whole, it would be in memory three times, in PDFium, in Pillow, and as RGB."""
    drawn = Image.new("RGB", size)
    width, height = size
    rows = max(BAND_PIXELS // width, 1)
    for top in range(0, height, rows):
        rows_below = max(height - top - rows, 0)
        # left, bottom, right, top, in points; pypdfium2 rounds them up to whole pixels: subtract half a pixel
        margins = (0, max(rows_below - 0.5, 0) / scale, 0, max(top - 0.5, 0) / scale)
        band = sheet.render(scale=scale, crop=margins, rev_byteorder=True)
        drawn.paste(band.to_pil(), (0, top))
        band.close()
    return drawn


def _scale(sheet: pdfium.PdfPage) -> float:
    """Pixels per point of the finest scan on the page, or of `DRAWN_DPI` on a page without a scan."""
    page_width, page_height = sheet.get_size()
    scale = 0.0
    for image in sheet.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        left, bottom, right, top = image.get_bounds()
        width, height = right - left, top - bottom
        if width <= 0 or height <= 0 or width * height < MIN_SCAN_SHARE * page_width * page_height:
            continue
        pixel_width, pixel_height = image.get_px_size()
        # compare areas: a scan may be placed on its side, its width along the page's height
        scale = max(scale, (pixel_width * pixel_height / (width * height)) ** 0.5)
    return (scale or DRAWN_DPI / POINTS_AN_INCH) * SHRINK


@contextmanager
def _opened(file: Path) -> Iterator[pdfium.PdfDocument]:
    """The open document, while other threads are locked out of PDFium. Raises ImageError if it cannot be opened."""
    if not file.is_file():
        raise ImageError(file, NoticeCode.FILE_MISSING)
    with _PDFIUM_LOCK:
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
