"""A PDF with a title and a table of two columns on A4 pages, in a Chinese font that PDF readers provide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from proof.exports.pdf_file import Name, PdfFile, Reference

POINTS_A_MM = 72 / 25.4
PAGE_WIDTH, PAGE_HEIGHT = 210 * POINTS_A_MM, 297 * POINTS_A_MM
MARGIN_POINTS = 20 * POINTS_A_MM
VALUES_LEFT = MARGIN_POINTS + 60 * POINTS_A_MM
"""Left edge of the second column, in points."""
GUTTER_POINTS = 12.0
"""Space between the columns, in points."""
TITLE_SIZE, TEXT_SIZE = 18.0, 10.5
"""Font sizes, in points."""
LEADING_RATIO = 1.4
"""Distance from one line to the next, relative to the size of the font."""
ROW_GAP_POINTS = 6.0
"""Space between rows, in points."""

FONT_NAME = "F"
"""The font's name in the resources of a page."""

UNBROKEN = re.compile(r"[!-~]+ *|.", re.DOTALL)
"""A piece of text in which no line is broken: a word in Latin letters with the spaces after it, or any other
character."""


@dataclass(frozen=True, slots=True)
class ReaderFont:
    """A font of Adobe's Asian font packs. It is not embedded: PDF readers have it, or another in its place. `ordering`
    is the name of its character collection, `encoding` that of the map from UTF-16 to it. `widths` are those of the
    characters `!` to `~`, `space` is that of the space, in thousandths of the size. All other characters are as wide as
    high."""

    name: str
    ordering: str
    encoding: str
    space: int
    widths: tuple[int, ...]

    def width(self, text: str, size: float) -> float:
        """The width of a text in points."""
        return sum(self._width(char) for char in text) * size / 1000

    def _width(self, char: str) -> int:
        if char == " ":
            return self.space
        return self.widths[ord(char) - ord("!")] if "!" <= char <= "~" else 1000

    def add_to(self, pdf: PdfFile) -> Reference:
        """Add the font to a file."""
        descriptor = {
            "Type": Name("FontDescriptor"), "FontName": Name(self.name), "Flags": 6, "ItalicAngle": 0,
            "FontBBox": [-160, -254, 1015, 888], "Ascent": 752, "Descent": -271, "CapHeight": 737, "StemV": 58,
        }  # fmt: skip
        descendant = {
            "Type": Name("Font"), "Subtype": Name("CIDFontType0"), "BaseFont": Name(self.name), "DW": 1000,
            "W": [1, [self.space, *self.widths]], "FontDescriptor": pdf.add(descriptor),
            "CIDSystemInfo": {"Registry": "Adobe", "Ordering": self.ordering, "Supplement": 0},
        }  # fmt: skip
        composite = {
            "Type": Name("Font"), "Subtype": Name("Type0"), "BaseFont": Name(f"{self.name}-{self.encoding}"),
            "Encoding": Name(self.encoding), "DescendantFonts": [pdf.add(descendant)],
        }  # fmt: skip
        return pdf.add(composite)


# fmt: off
SIMPLIFIED = ReaderFont("STSong-Light", "GB1", "UniGB-UTF16-H", 207, (
    270, 342, 467, 462, 797, 710, 239, 374, 374, 423, 605, 238, 375, 238, 334, *(10 * [462]), 238, 238, 605, 605, 605,
    344, 748, 684, 560, 695, 739, 563, 511, 729, 793, 318, 312, 666, 526, 896, 758, 772, 544, 772, 628, 465, 607, 753,
    711, 972, 647, 620, 607, 374, 333, 374, 606, 500, 239, 417, 503, 427, 529, 415, 264, 444, 518, 241, 230, 495, 228,
    793, 527, 524, 524, 504, 338, 336, 277, 517, 450, 652, 466, 452, 407, 370, 258, 370, 605,
))
TRADITIONAL = ReaderFont("MSung-Light", "CNS1", "UniCNS-UTF16-H", 250, (
    250, 408, 668, 490, 875, 698, 250, 240, 240, 417, 667, 250, 313, 250, 520, *(10 * [500]), 250, 250, 667, 667, 667,
    396, 921, 677, 615, 719, 760, 625, 552, 771, 802, 354, 354, 781, 604, 927, 750, 823, 563, 823, 729, 542, 698, 771,
    729, 948, 771, 677, 635, 344, 520, 344, 469, 500, 250, 469, 521, 427, 521, 438, 271, 469, 531, 250, 250, 458, 240,
    802, 531, 500, 521, 521, 365, 333, 292, 521, 458, 677, 479, 458, 427, 480, 496, 480, 667,
))
# fmt: on


def table_pdf(font: ReaderFont, title: str, heading: str, rows: Iterable[tuple[str, str]], language: str) -> bytes:
    """A file with the title, the heading and the rows, on as many pages as they need; `language` is that of the
    texts."""
    sheets = _Sheets(font)
    sheets.write_row([(MARGIN_POINTS, PAGE_WIDTH - MARGIN_POINTS, title)], TITLE_SIZE)
    sheets.write_row([(MARGIN_POINTS, PAGE_WIDTH - MARGIN_POINTS, heading)], TEXT_SIZE)
    for name, value in rows:
        columns = [(MARGIN_POINTS, VALUES_LEFT - GUTTER_POINTS, name), (VALUES_LEFT, PAGE_WIDTH - MARGIN_POINTS, value)]
        sheets.write_row(columns, TEXT_SIZE)
    return sheets.to_bytes(f"{title}: {heading}", language)


class _Sheets:
    """The pages of a file, filled from top to bottom."""

    def __init__(self, font: ReaderFont) -> None:
        self._font = font
        self._pages: list[list[str]] = [[]]
        self._top = PAGE_HEIGHT - MARGIN_POINTS
        """Where the next row begins, in points from the bottom of the page."""

    def write_row(self, columns: Sequence[tuple[float, float, str]], size: float) -> None:
        """Write texts beside each other, each given with its left and its right edge. The row begins a new page if it
        has no room on the present one; if it is higher than a page, it goes on on the next."""
        lines_at = [(left, list(wrapped(text, self._font, size, right - left))) for left, right, text in columns]
        leading, count = size * LEADING_RATIO, max(len(lines) for _, lines in lines_at)
        if self._top - count * leading < MARGIN_POINTS:
            self._begin_page()
        for number in range(count):
            if self._top - leading < MARGIN_POINTS:
                self._begin_page()
            for left, lines in lines_at:
                if number < len(lines):
                    code, baseline = lines[number].encode("utf-16-be").hex(), self._top - size
                    self._pages[-1].append(f"BT /{FONT_NAME} {size} Tf {left:.2f} {baseline:.2f} Td <{code}> Tj ET")
            self._top -= leading
        self._top -= ROW_GAP_POINTS

    def _begin_page(self) -> None:
        self._pages.append([])
        self._top = PAGE_HEIGHT - MARGIN_POINTS

    def to_bytes(self, title: str, language: str) -> bytes:
        """The pages as a file."""
        pdf = PdfFile()
        resources = {"Font": {FONT_NAME: self._font.add_to(pdf)}}
        for operators in self._pages:
            pdf.add_page((PAGE_WIDTH, PAGE_HEIGHT), resources, operators)
        return pdf.to_bytes(title, language)


def wrapped(text: str, font: ReaderFont, size: float, width: float) -> Iterator[str]:
    """The lines of a text, of at most `width` points. Only a word that is longer than a line is broken."""
    line = ""
    for part in UNBROKEN.findall(text):
        if line and font.width(line + part.rstrip(), size) > width:
            yield line.rstrip()
            line = ""
        for char in part:
            if line and font.width(line + char, size) > width and char != " ":
                yield line
                line = ""
            line += char
    yield line.rstrip()
