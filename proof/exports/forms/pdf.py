"""A searchable PDF: the images of the pages, and on each glyph its character as corrected, invisible and vertical.

The text is set in a font of one square (`FONT`), as Tesseract does: nothing of a real font is embedded, and characters
of every plane can be searched. The font writes vertically, so that a reader knows columns from lines. Written with
pikepdf, which is kept well and brings qpdf; reportlab has no vertical writing of characters beyond the first plane.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pikepdf
from pikepdf import Array, Dictionary, Name, Pdf, Stream, String
from PIL import Image

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
"""Pages are as large as a scan of 300 pixels an inch."""

JPEG_QUALITY = 85
EM = 1000

FONT = Path(__file__).with_name("glyphless.ttf")
"""A TrueType font with one glyph, a full square: PDFium, which browsers use, passes over glyphs without extent. It is
never drawn, since the text is set invisible (`3 Tr`). A test makes it anew and compares."""


def searchable_pdf(pages: Iterable[tuple[PageResult, MarkedPage]], title: str) -> bytes:
    """The pages as one PDF. Raises ImageError where an image cannot be read."""
    with Pdf.new() as pdf:
        text = _TextFont(pdf)
        for result, page in pages:
            _add_page(pdf, result, page, text)
        text.finish()
        with pdf.open_metadata() as metadata:
            metadata["dc:title"] = title
        pdf.docinfo["/Title"] = String(title)
        pdf.Root.Lang = String("zh-Hant")
        # no Direction R2L: PDFium would take the lines for right-to-left, and turn what stands around a comma about
        pdf.Root.ViewerPreferences = Dictionary(DisplayDocTitle=True)
        target = io.BytesIO()
        pdf.save(target, deterministic_id=True)
    return target.getvalue()


def _add_page(pdf: Pdf, result: PageResult, page: MarkedPage, text: _TextFont) -> None:
    assert result.image is not None, "only pages with images are marked"
    part = result.image_box or Box(0, 0, *result.image_size)
    width, height = part.w * POINTS_A_PIXEL, part.h * POINTS_A_PIXEL
    image = _image(pdf, result.image, result.image_box)
    content = [f"q {width:.3f} 0 0 {height:.3f} 0 0 cm /Im Do Q BT 3 Tr /T 1 Tf"]
    for column in page.columns:
        for line in column.lines:
            for characters, box, _ in line.clusters():
                content += _set(characters, box, part, text)
    content.append("ET")
    contents = Stream(pdf, "\n".join(content).encode())
    resources = Dictionary(XObject=Dictionary(Im=image), Font=Dictionary(T=text.reference))
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


def _set(characters: str, box: Box, part: Box, text: _TextFont) -> Iterable[str]:
    """The characters of one place, in equal parts of its box from top to bottom."""
    scale = POINTS_A_PIXEL
    cells = [cell.text for run in parse_column(characters).runs for cell in run.cells] or [characters]
    share = box.h / len(cells)
    for number, char in enumerate(cells):
        x = (box.x + box.w / 2 - part.x) * scale
        y = (part.h - (box.y + number * share - part.y)) * scale
        yield f"{box.w * scale:.3f} 0 0 {share * scale:.3f} {x:.3f} {y:.3f} Tm <{text.code(char):04X}> Tj"


def _image(pdf: Pdf, path: Path, part: Box | None) -> pikepdf.Object:
    """The image, or its part that is the page: a JPEG as it is, any other in grey."""
    if part is None and path.suffix.lower() in (".jpg", ".jpeg") and PdfPage.match(path) is None:
        kept = _as_it_is(pdf, path)
        if kept is not None:
            return kept
    pixels = load_image(path, part).pixels
    target = io.BytesIO()
    Image.fromarray(np.asarray(pixels)).save(target, "JPEG", quality=JPEG_QUALITY)
    return _jpeg(pdf, target.getvalue(), (pixels.shape[1], pixels.shape[0]), Name.DeviceGray)


def _as_it_is(pdf: Pdf, path: Path) -> pikepdf.Object | None:
    """A JPEG whose bytes a PDF can hold; None for one that is turned, or in other colours."""
    try:
        data = path.read_bytes()
        with Image.open(io.BytesIO(data)) as image:
            turned = image.getexif().get(0x0112, 1) != 1
            space = {"L": Name.DeviceGray, "RGB": Name.DeviceRGB}.get(image.mode)
            size = image.size
    except OSError:
        return None
    return None if turned or space is None else _jpeg(pdf, data, size, space)


def _jpeg(pdf: Pdf, data: bytes, size: tuple[int, int], space: Any) -> pikepdf.Object:
    stream = Stream(pdf, data)
    stream.update(
        Dictionary(Type=Name.XObject, Subtype=Name.Image, Width=size[0], Height=size[1], ColorSpace=space,
                   BitsPerComponent=8, Filter=Name.DCTDecode)
    )  # fmt: skip
    return pdf.make_indirect(stream)


class _TextFont:
    """The font for the characters of a document; a character gets its code when it comes first."""

    def __init__(self, pdf: Pdf) -> None:
        self._pdf = pdf
        self._codes: dict[str, int] = {}
        self.reference = pdf.make_indirect(Dictionary(Type=Name.Font))

    def code(self, char: str) -> int:
        return self._codes.setdefault(char, len(self._codes) + 1)

    def finish(self) -> None:
        """Write the font as the document needs it. Raises UsageError for more characters than a font can have."""
        if len(self._codes) >= 0xFFFF:
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
    """The CMap that leads from codes to characters."""
    codes = [char.encode("utf-16-be").hex().upper() for char in characters]
    lines = [f"<{number:04X}> <{code}>" for number, code in enumerate(codes, start=1)]
    parts = [lines[start : start + 100] for start in range(0, len(lines), 100)]
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
