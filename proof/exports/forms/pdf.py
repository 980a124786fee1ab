"""A searchable PDF: the images of the pages, and over each glyph its corrected character, invisible and vertical.

The text is set in a font with a single square glyph (`FONT`), as Tesseract does: no real font is embedded, and
characters of every plane can be searched. The font writes vertically, so that programs take columns for columns and not
for lines.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
from PIL import ExifTags, Image

from proof.errors import ImageError, OutputError, UsageError
from proof.exports.files import Material, marked_pages, write_file
from proof.exports.forms import ExportForm
from proof.exports.marked_pages import MarkedPage
from proof.exports.pdf_file import Name, PdfFile, Reference
from proof.images.load import load_image
from proof.images.pdf import PdfPage
from proof.locale.marking import _
from proof.model.geometry import Box
from proof.model.result import PageResult
from proof.text.column import parse_column

POINTS_A_PIXEL = 72 / 300
"""Points (1/72 inch) for a pixel of the image, as of a scan with 300 pixels an inch."""

JPEG_QUALITY = 85

MAX_UNSPACED_RATIO = 1.6
"""Maximum distance of two characters without a space between them, relative to the usual distance in their line."""

FONT_NAME = "T"
"""The font's name in the resources of a page."""

IMAGE_NAME = "I"
"""The image's name in the resources of a page."""

EM_UNITS = 1000
"""Side of the font's square, in units of the font."""

FONT = Path(__file__).with_name("glyphless.ttf")
"""A TrueType font with one glyph, a full square: PDFium, which browsers use, skips glyphs without extent. It is never
drawn, since the text is invisible (`3 Tr`). A test makes the font again and compares."""


def searchable_pdf(pages: Iterable[tuple[PageResult, MarkedPage]], title: str) -> bytes:
    """The pages as one PDF. Raises ImageError if an image cannot be read."""
    pdf, codes = PdfFile(), CellCodes()
    font = pdf.reserve()
    for result, page in pages:
        _add_page(pdf, font, result, page, codes)
    _add_font(pdf, font, codes)
    return pdf.to_bytes(title)


def _add_page(pdf: PdfFile, font: Reference, result: PageResult, page: MarkedPage, codes: CellCodes) -> None:
    assert result.image is not None, "only pages with images are marked"
    part = result.image_box or Box(0, 0, *result.image_size)
    width, height = part.w * POINTS_A_PIXEL, part.h * POINTS_A_PIXEL
    operators = [f"q {width:.3f} 0 0 {height:.3f} 0 0 cm /{IMAGE_NAME} Do Q", f"BT 3 Tr /{FONT_NAME} 1 Tf"]
    for column in page.columns:
        for line in column.lines:
            clusters = list(line.clusters())
            boxes = _touching([cluster[1] for cluster in clusters])
            for (characters, *_rest), box in zip(clusters, boxes, strict=True):
                operators += _text_operators(characters, box, part, codes)
    operators.append("ET")
    image = _add_image(pdf, result.image, result.image_box)
    pdf.add_page((width, height), {"Font": {FONT_NAME: font}, "XObject": {IMAGE_NAME: image}}, operators)


def _touching(boxes: Sequence[Box]) -> list[Box]:
    """The boxes of the glyphs of a line, made equally high about their centres, so that each reaches the next. Programs
    take a gap or another height for a space, and then do not find words that contain it."""
    pitches = [below.centre[1] - box.centre[1] for box, below in pairwise(boxes)]
    usual = median(pitches) if pitches else 0
    height = max((pitch for pitch in pitches if pitch <= MAX_UNSPACED_RATIO * usual), default=0)
    if height <= 0:
        return list(boxes)
    return [replace(box, y=box.centre[1] - height / 2, h=height) for box in boxes]


def _text_operators(characters: str, box: Box, part: Box, codes: CellCodes) -> Iterable[str]:
    """The PDF operators that write characters into equal parts of a box from top to bottom; `part` is the part of the
    image that is the page."""
    scale = POINTS_A_PIXEL
    cells = [cell.text for cell in parse_column(characters).cells] or [characters]
    height = box.h / len(cells)
    for number, cell in enumerate(cells):
        x = (box.x + box.w / 2 - part.x) * scale
        y = (part.h - (box.y + number * height - part.y)) * scale
        yield f"{box.w * scale:.3f} 0 0 {height * scale:.3f} {x:.3f} {y:.3f} Tm <{codes[cell]:04X}> Tj"


def _add_image(pdf: PdfFile, path: Path, part: Box | None) -> Reference:
    """Add the image, or the `part` of it that is the page. A whole JPEG is embedded unchanged, other images in grey."""
    if part is None and path.suffix.lower() in (".jpg", ".jpeg") and PdfPage.match(path) is None:
        unchanged = _unchanged(path)
        if unchanged is not None:
            return _add_jpeg(pdf, *unchanged)
    pixels = load_image(path, part).pixels
    target = io.BytesIO()
    Image.fromarray(np.asarray(pixels)).save(target, "JPEG", quality=JPEG_QUALITY)
    return _add_jpeg(pdf, target.getvalue(), (pixels.shape[1], pixels.shape[0]), "DeviceGray")


def _unchanged(path: Path) -> tuple[bytes, tuple[int, int], str] | None:
    """The bytes of a JPEG, its size and its colours; None if it cannot be read, is turned (by its EXIF), or is neither
    grey nor RGB."""
    try:
        data = path.read_bytes()
        with Image.open(io.BytesIO(data)) as image:
            turned = image.getexif().get(ExifTags.Base.Orientation, 1) != 1
            colours = {"L": "DeviceGray", "RGB": "DeviceRGB"}.get(image.mode)
            size = image.size
    except OSError:
        return None
    return None if turned or colours is None else (data, size, colours)


def _add_jpeg(pdf: PdfFile, data: bytes, size: tuple[int, int], colours: str) -> Reference:
    entries = {
        "Type": Name("XObject"), "Subtype": Name("Image"), "Width": size[0], "Height": size[1],
        "ColorSpace": Name(colours), "BitsPerComponent": 8, "Filter": Name("DCTDecode"),
    }  # fmt: skip
    return pdf.add_stream(data, entries)


class CellCodes(dict[str, int]):
    """The codes of a document's font, from 1 on, by the cells of the text; a cell gets its code when it first occurs.
    Raises UsageError if there are more characters than codes."""

    def __missing__(self, cell: str) -> int:
        if len(self) == 0xFFFF:
            raise UsageError(_("a PDF has more than 65,535 different characters: export fewer pages at once"))
        self[cell] = len(self) + 1
        return self[cell]


def _add_font(pdf: PdfFile, font: Reference, codes: CellCodes) -> None:
    """Add the font under its number, after the last page, when all codes are known."""
    cells = list(codes)
    descriptor = pdf.add({
        "Type": Name("FontDescriptor"), "FontName": Name("GlyphLess"), "Flags": 5,
        "FontBBox": [0, 0, EM_UNITS, EM_UNITS],
        "ItalicAngle": 0, "Ascent": EM_UNITS, "Descent": 0, "CapHeight": EM_UNITS, "StemV": 80,
        "FontFile2": pdf.add_stream(FONT.read_bytes()),
    })  # fmt: skip
    descendant = pdf.add({
        "Type": Name("Font"), "Subtype": Name("CIDFontType2"), "BaseFont": Name("GlyphLess"),
        "CIDToGIDMap": pdf.add_stream(b"\0\1" * (len(cells) + 1)), "DW": EM_UNITS, "DW2": [EM_UNITS, -EM_UNITS],
        "FontDescriptor": descriptor,
        "CIDSystemInfo": {"Registry": "Adobe", "Ordering": "Identity", "Supplement": 0},
    })  # fmt: skip
    composite = {
        "Type": Name("Font"), "Subtype": Name("Type0"), "BaseFont": Name("GlyphLess"), "Encoding": Name("Identity-V"),
        "DescendantFonts": [descendant], "ToUnicode": pdf.add_stream(_to_unicode(cells)),
    }  # fmt: skip
    pdf.add(composite, font)


def _to_unicode(characters: Sequence[str]) -> bytes:
    """The CMap that gives the character of each code."""
    texts = [char.encode("utf-16-be").hex().upper() for char in characters]
    lines = [f"<{code:04X}> <{text}>" for code, text in enumerate(texts, start=1)]
    parts = [lines[start : start + 100] for start in range(0, len(lines), 100)]  # a section has at most 100 lines
    body = "".join(f"{len(part)} beginbfchar\n" + "\n".join(part) + "\nendbfchar\n" for part in parts)
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
        "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\n"
        f"endcodespacerange\n{body}endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
    ).encode()


def _write(material: Material, folder: Path) -> list[Path]:
    by_id = {page.page: page for page in material.pages}
    pages = [(by_id[page.id], page) for page in marked_pages(material, folder, ".pdf").values()]
    try:
        pdf = searchable_pdf(pages, material.named)
    except ImageError as error:
        raise OutputError(_("the PDF cannot be made: %(error)s"), error=error) from error
    return [write_file(folder / f"{material.stem}.pdf", pdf)]


FORM = ExportForm("pdf", _write, on_images=True)
