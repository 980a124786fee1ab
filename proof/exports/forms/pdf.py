"""A searchable PDF: the images of the pages, and over each glyph its corrected character, invisible and vertical.

The text is set in a font with a single square glyph (`FONT`), as Tesseract does: no real font is embedded, and
characters of every plane can be searched. The font writes vertically, so that programs take columns for columns and not
for lines. pikepdf writes the file: reportlab cannot write characters beyond the first plane vertically.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pikepdf
from pikepdf import Array, Dictionary, Name, Pdf, Stream, String
from PIL import ExifTags, Image

from proof.errors import ImageError, OutputError, UsageError
from proof.exports.files import Material, marked_pages, write_file
from proof.exports.forms import ExportForm
from proof.exports.marked import MarkedPage
from proof.images.load import load_image
from proof.images.pdf import PdfPage
from proof.model.geometry import Box
from proof.model.result import PageResult
from proof.text.column import parse_column

POINTS_A_PIXEL = 72 / 300
"""Points (1/72 inch) for a pixel of the image, as of a scan with 300 pixels an inch."""

JPEG_QUALITY = 85

SPACED = 1.6
"""Distance of two characters, relative to the usual one of their line, up to which no space is between them."""

EM = 1000
"""Side of the font's square, in units of the font."""

FONT = Path(__file__).with_name("glyphless.ttf")
"""A TrueType font with one glyph, a full square: PDFium, which browsers use, skips glyphs without extent. It is never
drawn, since the text is invisible (`3 Tr`). A test makes the font again and compares."""


def searchable_pdf(pages: Iterable[tuple[PageResult, MarkedPage]], title: str) -> bytes:
    """The pages as one PDF. Raises ImageError where an image cannot be read."""
    with Pdf.new() as pdf:
        font = _TextFont(pdf)
        for result, page in pages:
            _add_page(pdf, result, page, font)
        font.finish()
        with pdf.open_metadata() as metadata:
            metadata["dc:title"] = title
        pdf.docinfo["/Title"] = String(title)
        pdf.Root.Lang = String("zh-Hant")
        # no Direction R2L: PDFium would take the lines for right-to-left, and reverse the text around a comma
        pdf.Root.ViewerPreferences = Dictionary(DisplayDocTitle=True)
        target = io.BytesIO()
        pdf.save(target, deterministic_id=True)
    return target.getvalue()


def _add_page(pdf: Pdf, result: PageResult, page: MarkedPage, font: _TextFont) -> None:
    assert result.image is not None, "only pages with images are marked"
    part = result.image_box or Box(0, 0, *result.image_size)
    width, height = part.w * POINTS_A_PIXEL, part.h * POINTS_A_PIXEL
    image = _image(pdf, result.image, result.image_box)
    content = [f"q {width:.3f} 0 0 {height:.3f} 0 0 cm /Im Do Q BT 3 Tr /T 1 Tf"]
    for column in page.columns:
        for line in column.lines:
            clusters = list(line.clusters())
            boxes = _touching([box for _, box, _ in clusters])
            for (characters, *_), box in zip(clusters, boxes, strict=True):
                content += _text_operators(characters, box, part, font)
    content.append("ET")
    contents = Stream(pdf, "\n".join(content).encode())
    resources = Dictionary(XObject=Dictionary(Im=image), Font=Dictionary(T=font.reference))
    pdf.pages.append(
        pikepdf.Page(
            pdf.make_indirect(
                Dictionary(
                    Type=Name.Page, MediaBox=Array([0, 0, round(width, 3), round(height, 3)]), Resources=resources,
                    Contents=pdf.make_indirect(contents),
                )
            )
        )
    )  # fmt: skip


def _touching(boxes: Sequence[Box]) -> list[Box]:
    """The boxes of the glyphs of a line, made equally high about their centres, so that each reaches the next: where
    there is a gap, or another size, programs take it for a space, and a search for words does not find them."""
    pitches = [below.centre[1] - box.centre[1] for box, below in pairwise(boxes)]
    usual = median(pitches) if pitches else 0
    height = max((pitch for pitch in pitches if pitch <= SPACED * usual), default=0)
    return [replace(box, y=box.centre[1] - height / 2, h=height) if height > 0 else box for box in boxes]


def _text_operators(characters: str, box: Box, part: Box, font: _TextFont) -> Iterable[str]:
    """The PDF operators that write characters into equal parts of a box from top to bottom; `part` is the part of the
    image that is the page."""
    scale = POINTS_A_PIXEL
    cells = [cell.text for run in parse_column(characters).runs for cell in run.cells] or [characters]
    height = box.h / len(cells)
    for number, cell in enumerate(cells):
        x = (box.x + box.w / 2 - part.x) * scale
        y = (part.h - (box.y + number * height - part.y)) * scale
        yield f"{box.w * scale:.3f} 0 0 {height * scale:.3f} {x:.3f} {y:.3f} Tm <{font.code(cell):04X}> Tj"


def _image(pdf: Pdf, path: Path, part: Box | None) -> pikepdf.Object:
    """The image, or the `part` of it that is the page. A whole JPEG is embedded unchanged, other images in grey."""
    if part is None and path.suffix.lower() in (".jpg", ".jpeg") and PdfPage.match(path) is None:
        unchanged = _unchanged(pdf, path)
        if unchanged is not None:
            return unchanged
    pixels = load_image(path, part).pixels
    target = io.BytesIO()
    Image.fromarray(np.asarray(pixels)).save(target, "JPEG", quality=JPEG_QUALITY)
    return _jpeg(pdf, target.getvalue(), (pixels.shape[1], pixels.shape[0]), Name.DeviceGray)


def _unchanged(pdf: Pdf, path: Path) -> pikepdf.Object | None:
    """A JPEG with its own bytes; None if it cannot be read, is turned (by its EXIF), or is neither grey nor RGB."""
    try:
        data = path.read_bytes()
        with Image.open(io.BytesIO(data)) as image:
            turned = image.getexif().get(ExifTags.Base.Orientation, 1) != 1
            colours = {"L": Name.DeviceGray, "RGB": Name.DeviceRGB}.get(image.mode)
            size = image.size
    except OSError:
        return None
    return None if turned or colours is None else _jpeg(pdf, data, size, colours)


def _jpeg(pdf: Pdf, data: bytes, size: tuple[int, int], colours: Any) -> pikepdf.Object:
    stream = Stream(pdf, data)
    stream.update(
        Dictionary(Type=Name.XObject, Subtype=Name.Image, Width=size[0], Height=size[1], ColorSpace=colours,
                   BitsPerComponent=8, Filter=Name.DCTDecode)
    )  # fmt: skip
    return pdf.make_indirect(stream)


class _TextFont:
    """The font of a document; a cell of the text gets its code when it first occurs."""

    def __init__(self, pdf: Pdf) -> None:
        self._pdf = pdf
        self._codes: dict[str, int] = {}
        self.reference = pdf.make_indirect(Dictionary(Type=Name.Font))

    def code(self, cell: str) -> int:
        return self._codes.setdefault(cell, len(self._codes) + 1)

    def finish(self) -> None:
        """Write the font, after the last page. Raises UsageError if there are more characters than codes."""
        if len(self._codes) > 0xFFFF:
            raise UsageError("a PDF has more than 65,535 different characters: export fewer pages at once")
        pdf, count = self._pdf, len(self._codes)
        file = pdf.make_indirect(Stream(pdf, FONT.read_bytes()))
        descriptor = Dictionary(
            Type=Name.FontDescriptor, FontName=Name("/GlyphLess"), Flags=5, FontBBox=Array([0, 0, EM, EM]),
            ItalicAngle=0, Ascent=EM, Descent=0, CapHeight=EM, StemV=80, FontFile2=file,
        )  # fmt: skip
        to_glyph = pdf.make_indirect(Stream(pdf, b"\0\1" * (count + 1)))
        descendant = Dictionary(
            Type=Name.Font, Subtype=Name.CIDFontType2, BaseFont=Name("/GlyphLess"), CIDToGIDMap=to_glyph, DW=EM,
            DW2=Array([EM, -EM]), FontDescriptor=pdf.make_indirect(descriptor),
            CIDSystemInfo=Dictionary(Registry=String("Adobe"), Ordering=String("Identity"), Supplement=0),
        )  # fmt: skip
        to_unicode = pdf.make_indirect(Stream(pdf, _to_unicode(list(self._codes))))
        self.reference.update(
            Dictionary(
                Subtype=Name.Type0, BaseFont=Name("/GlyphLess"), Encoding=Name("/Identity-V"),
                DescendantFonts=Array([pdf.make_indirect(descendant)]), ToUnicode=to_unicode,
            )
        )  # fmt: skip


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
        made = searchable_pdf(pages, material.named)
    except ImageError as error:
        raise OutputError(f"the PDF cannot be made: {error}") from error
    return [write_file(folder / f"{material.corrected.edition.path.stem}.pdf", made)]


FORM = ExportForm("pdf", _write, on_images=True)
