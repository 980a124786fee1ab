"""Parsers of PAGE XML (any year), ALTO (2 to 4) and hOCR, recognised by their root element.

Known dialects: Transkribus (lines with coordinates and baselines, words or not), kraken and eScriptorium
(baselines and polygons, points with or without commas, glyphs), Tesseract (hOCR with or without boxes of
characters, ALTO with words).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree, html

from proof.locale.marking import Sentence, _
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.ocr.external.model import ExternalLine, ExternalPage, ReadingFileError, TextPiece, line_of

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2})?")

_MAX_COORDINATE_PX = 1e6
"""Largest coordinate in pixels; a larger one is a damaged number."""

UNSTATED_CONFIDENCE = 0.01
"""Confidence of an `ALTERNATIVE` in ALTO, for which the format has none."""

_IS_VERTICAL_IN_ALTO = {"ttb": True, "btt": True, "ltr": False, "rtl": False}
"""Whether a line is vertical, by its `BASEDIRECTION` in ALTO."""

_HOCR_LINES = frozenset({"ocr_line", "ocrx_line", "ocr_header", "ocr_caption", "ocr_textfloat"})
"""Classes of the elements of hOCR that are lines of text."""

_HOCR_IMAGE = re.compile(r"\bimage\s+(?:\"([^\"]*)\"|'([^']*)'|([^;]+))")
"""The name of the image in the `title` of a page of hOCR: in quotation marks of either kind, or bare."""


class _TextEquivalent(NamedTuple):
    """The text of a PAGE element, its confidence, and its other readings with their confidences."""

    text: str
    confidence: float | None
    alternatives: tuple[tuple[str, float], ...]


def parse_readings(path: Path, data: bytes) -> tuple[ExternalPage, ...]:
    """The pages of a file of readings. Raises ReadingFileError, with the path and the line of the fault."""
    if re.search(rb"class\s*=\s*[\"'][^\"'>]*\bocr_page\b", data):
        return _hocr_pages(path, data)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root: Any = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        message = Sentence(_("is not well-formed XML (%(msg)s); export it again"), msg=error.msg)
        line = int(error.lineno) if error.lineno else None
        raise ReadingFileError(path, line, message) from error
    except ValueError as error:
        raise ReadingFileError(path, None, _("is not XML (%(error)s); export it again"), error=error) from error
    kind = etree.QName(root).localname
    if kind == "PcGts":
        return tuple(_page_xml_page(path, page) for page in root.iter("{*}Page"))
    if kind == "alto":
        return tuple(_alto_page(path, root, page) for page in root.iter("{*}Page"))
    expected = "PAGE XML (PcGts), ALTO (alto) or hOCR (ocr_page)"
    raise ReadingFileError(
        path,
        root.sourceline,
        _("its root is %(kind)s, expected %(expected)s; export it as one of these"),
        kind=kind,
        expected=expected,
    )


def _page_xml_page(path: Path, page: Any) -> ExternalPage:
    """A page of a PAGE file, from its element `Page`."""
    lines, notices = [], []
    for element in page.iter("{*}TextLine"):
        line_text = _text_equivalent(path, element)
        words = element.findall("{*}Word")
        pieces = _page_xml_pieces(path, words)
        box = _page_xml_box(path, element) or (_box_around(pieces) if pieces else None)
        if box is None:
            if line_text.text:
                notices.append(_no_place_notice(path, element, "coordinates"))
            continue
        text = line_text.text or "".join(_text_equivalent(path, word).text for word in words)
        is_vertical = _is_vertical(element, element.getparent())
        lines.append(line_of(text, box, pieces, is_vertical, line_text.confidence))
    size = (_number(path, page, "imageWidth"), _number(path, page, "imageHeight"))
    return _page_of_lines(path, page, page.get("imageFilename", ""), size, lines, notices)


def _page_xml_pieces(path: Path, words: Iterable[Any]) -> list[TextPiece]:
    """The pieces of a PAGE line: of each word its glyphs, if it has any, else the word."""
    pieces = []
    for word in words:
        for part in word.findall("{*}Glyph") or [word]:
            content, confidence, alternatives = _text_equivalent(path, part)
            box = _page_xml_box(path, part)
            if content and box is not None:
                pieces.append(TextPiece(content, box, confidence, alternatives))
    return pieces


def _alto_page(path: Path, root: Any, page: Any) -> ExternalPage:
    """A page of an ALTO file, from its element `Page`."""
    name = root.findtext(".//{*}fileName", "")
    size = (_number(path, page, "WIDTH"), _number(path, page, "HEIGHT"))
    lines, notices = [], []
    for element in page.iter("{*}TextLine"):
        strings = element.findall("{*}String")
        text = "".join(string.get("CONTENT", "") for string in strings)
        pieces = [piece for string in strings for piece in _alto_string(path, string)]
        box = _alto_box(path, element) or (_box_around(pieces) if pieces else None)
        if box is None:
            if text:
                notices.append(_no_place_notice(path, element, "coordinates"))
            continue
        vertical = _IS_VERTICAL_IN_ALTO.get(element.get("BASEDIRECTION", ""))
        confidence = _lowest_confidence(_confidence(path, string, "WC") for string in strings)
        lines.append(line_of(text, box, pieces, vertical, confidence))
    # without the size of the page, places in another unit cannot be scaled to the image
    unit = root.findtext(".//{*}MeasurementUnit", "pixel").strip()
    if unit != "pixel" and min(size) <= 0:
        message = Sentence(
            _("is measured in %(unit)s and does not say how large the page is; export it in pixels"), unit=unit
        )
        raise ReadingFileError(path, page.sourceline, message)
    return _page_of_lines(path, page, name.strip(), size, lines, notices)


def _lowest_confidence(confidences: Iterable[float | None]) -> float | None:
    """The lowest of the confidences that are stated: a line is as sure as its least sure part."""
    return min((confidence for confidence in confidences if confidence is not None), default=None)


def _alto_string(path: Path, string: Any) -> list[TextPiece]:
    """The pieces of an ALTO `String`: its glyphs if they have boxes, else the string."""
    glyphs = [piece for glyph in string.findall("{*}Glyph") if (piece := _alto_glyph(path, glyph))]
    box, content = _alto_box(path, string), string.get("CONTENT", "")
    if glyphs or box is None or not content:
        return glyphs
    # ALTO's scale of the confidence of a character: 0 is sure, 9 a guess
    confidences = tuple(1.0 - int(digit) / 10 for digit in string.get("CC", "") if digit in "0123456789")
    texts = [child.text or "" for child in string.iterfind("{*}ALTERNATIVE")]
    alternatives = tuple((text, UNSTATED_CONFIDENCE) for text in texts if len(text) == len(content) == 1)
    return [TextPiece(content, box, _confidence(path, string, "WC"), alternatives, confidences)]


def _alto_glyph(path: Path, glyph: Any) -> TextPiece | None:
    """The piece of an ALTO `Glyph`; None if it has no box or no text."""
    box, content = _alto_box(path, glyph), glyph.get("CONTENT", "")
    if box is None or not content:
        return None
    variants = [variant for variant in glyph.iterfind("{*}Variant") if variant.get("CONTENT")]
    alternatives = tuple((variant.get("CONTENT"), _confidence(path, variant, "VC") or 0.0) for variant in variants)
    return TextPiece(content, box, _confidence(path, glyph, "GC"), alternatives)


def _hocr_pages(path: Path, data: bytes) -> tuple[ExternalPage, ...]:
    """The pages of an hOCR file."""
    try:
        root = html.document_fromstring(data, parser=html.HTMLParser(encoding="utf-8", huge_tree=False))
    except (etree.LxmlError, ValueError) as error:
        raise ReadingFileError(
            path, None, _("is not hOCR that can be read (%(error)s); export it again"), error=error
        ) from error
    return tuple(_hocr_page(path, element) for element in root.iter() if "ocr_page" in _html_classes(element))


def _hocr_page(path: Path, page: Any) -> ExternalPage:
    """A page of an hOCR file, from its element of the class `ocr_page`."""
    lines, notices = [], []
    for element in page.iter():
        if not _html_classes(element) & _HOCR_LINES:
            continue
        pieces = _hocr_pieces(path, element)
        text = "".join(str(part) for part in element.itertext())
        box = _hocr_box(path, element, "bbox") or (_box_around(pieces) if pieces else None)
        if box is not None:
            lines.append(line_of("".join(text.split()), box, pieces, None, None))
        elif text.strip():
            notices.append(_no_place_notice(path, element, "bbox"))
    match = _HOCR_IMAGE.search(page.get("title", ""))
    image = next((name for name in match.groups() if name), "").strip() if match else ""
    page_box = _hocr_box(path, page, "bbox")
    size = (page_box.right, page_box.bottom) if page_box else (0.0, 0.0)
    return _page_of_lines(path, page, image, size, lines, notices)


def _hocr_pieces(path: Path, line: Any) -> list[TextPiece]:
    """The pieces of an hOCR line: its characters if they have boxes, else its words."""
    pieces: list[TextPiece] = []
    for word in (element for element in line.iter() if "ocrx_word" in _html_classes(element)):
        letters = [element for element in word.iter() if "ocrx_cinfo" in _html_classes(element)]
        for letter in letters:
            box, content = _hocr_box(path, letter, "x_bboxes"), "".join(letter.itertext()).strip()
            if box is not None and content:
                pieces.append(TextPiece(content, box, _hocr_confidence(path, letter, "x_conf")))
        if not letters:
            pieces += _hocr_text(path, word)
    return pieces or (_hocr_text(path, line) if _hocr_property(line, "x_bboxes") else [])


def _hocr_text(path: Path, element: Any) -> list[TextPiece]:
    """The text of an hOCR element, as one piece per character if `x_bboxes` has a box for each."""
    content = "".join("".join(element.itertext()).split())
    confidence = _hocr_confidence(path, element, "x_wconf")
    numbers = _numbers(path, element, _hocr_property(element, "x_bboxes"))
    if content and len(numbers) == 4 * len(content):
        boxes = [_box_of_corners(*numbers[start : start + 4]) for start in range(0, len(numbers), 4)]
        stated = [number / 100 for number in _numbers(path, element, _hocr_property(element, "x_confs"))]
        confidences = stated if len(stated) == len(content) else [confidence] * len(content)
        return [TextPiece(*piece) for piece in zip(content, boxes, confidences, strict=True)]
    box = _hocr_box(path, element, "bbox")
    return [TextPiece(content, box, confidence)] if content and box is not None else []


def _no_place_notice(path: Path, line: Any, missing: str) -> Notice:
    """The notice for a line without a place on the image; `missing` names the element or attribute that should state
    it."""
    return Notice.of(NoticeCode.LINE_WITHOUT_PLACE, where=f"{path}:{line.sourceline}", what=missing)


def _page_of_lines(
    path: Path, page: Any, name: str, size: tuple[float, float], lines: list[ExternalLine], notices: list[Notice]
) -> ExternalPage:
    """A page with its image's name and size. Raises ReadingFileError if all of its lines are without a place."""
    if notices and not lines:
        raise ReadingFileError(path, page.sourceline, _("no line of this page has a place; export it with coordinates"))
    return ExternalPage(path, name, size, tuple(line for line in lines if line.characters), tuple(notices))


def _text_equivalent(path: Path, element: Any) -> _TextEquivalent:
    """The readings of a PAGE element, in the order of their `index`; the first one is the text."""
    equivalents = element.findall("{*}TextEquiv")
    equivalents.sort(key=lambda equivalent: _number(path, equivalent, "index"))
    readings = []
    for equivalent in equivalents:
        content = equivalent.findtext("{*}Unicode", "")
        if content:
            readings.append((content, _confidence(path, equivalent, "conf")))
    if not readings:
        return _TextEquivalent("", None, ())
    (text, confidence), *others = readings
    return _TextEquivalent(text, confidence, tuple((other, conf or 0.0) for other, conf in others))


def _page_xml_box(path: Path, element: Any) -> Box | None:
    """The box of a PAGE element: around its polygon, or along its baseline if it has no polygon."""
    for name in ("Coords", "Baseline"):
        coords = element.find(f"{{*}}{name}")
        if coords is None:
            continue
        numbers = _numbers(path, coords, coords.get("points", ""))
        for point in coords.iterfind("{*}Point"):  # as PAGE had it until 2010
            numbers += [_number(path, point, "x"), _number(path, point, "y")]
        if len(numbers) >= 4:
            return _box_of_points(numbers)
    return None


def _alto_box(path: Path, element: Any) -> Box | None:
    """The box of an ALTO element: the one it states, else that around its polygon, else that along its baseline."""
    if all(element.get(key) for key in ("HPOS", "VPOS", "WIDTH", "HEIGHT")):
        x, y, w, h = (_number(path, element, key) for key in ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
        if w > 0 and h > 0:
            return Box(x, y, w, h)
    polygon = element.find("{*}Shape//{*}Polygon")
    numbers = _numbers(path, element, polygon.get("POINTS", "") if polygon is not None else "")
    if len(numbers) < 4:
        numbers = _numbers(path, element, element.get("BASELINE", ""))
    return _box_of_points(numbers) if len(numbers) >= 4 else None


def _hocr_box(path: Path, element: Any, name: str) -> Box | None:
    """The first box in the property `name` of an hOCR element."""
    numbers = _numbers(path, element, _hocr_property(element, name))
    return _box_of_corners(*numbers[:4]) if len(numbers) >= 4 else None


def _box_of_points(numbers: list[float]) -> Box:
    """The box around points, given as x, y, x, y and so on."""
    xs, ys = numbers[0::2], numbers[1::2]
    box = _box_of_corners(min(xs), min(ys), max(xs), max(ys))
    if min(box.w, box.h) >= 2:
        return box
    # a baseline has no height (or width), but a box must have some
    return Box(box.x - 1, box.y - 1, max(box.w, 2.0), max(box.h, 2.0))


def _box_of_corners(left: float, top: float, right: float, bottom: float) -> Box:
    """The box between two opposite corners, in any order."""
    return Box(min(left, right), min(top, bottom), abs(right - left), abs(bottom - top))


def _box_around(pieces: list[TextPiece]) -> Box:
    return Box.around(piece.box for piece in pieces)


def _is_vertical(*elements: Any) -> bool | None:
    """Whether a line of PAGE is vertical, by the first of these elements that has a reading direction; None if none
    has."""
    for element in elements:
        named = element.get("readingDirection") if element is not None else None
        if named:
            return str(named) in ("top-to-bottom", "bottom-to-top")
    return None


def _numbers(path: Path, element: Any, text: str) -> list[float]:
    """All numbers in a text of an element. Raises ReadingFileError if one is damaged."""
    numbers = [float(number) for number in _NUMBER.findall(text)]
    if any(abs(number) > _MAX_COORDINATE_PX for number in numbers):
        raise ReadingFileError(path, element.sourceline, _("a coordinate is outside any image; export the file again"))
    return numbers


def _number(path: Path, element: Any, key: str) -> float:
    """The number in an attribute: a coordinate in pixels, a confidence or an index; 0 if it is missing."""
    text = (element.get(key) or "0").strip()
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= _MAX_COORDINATE_PX:
        message = Sentence(
            _("%(key)s is %(text)s, expected a number of pixels; export the file again"), key=key, text=repr(text[:40])
        )
        raise ReadingFileError(path, element.sourceline, message)
    return value


def _confidence(path: Path, element: Any, key: str) -> float | None:
    """A confidence, 0 to 1; percentages, which some software writes, are converted."""
    if not (element.get(key) or "").strip():
        return None
    value = _number(path, element, key)
    return min(max(value / 100 if value > 1 else value, 0.0), 1.0)


def _hocr_confidence(path: Path, element: Any, name: str) -> float | None:
    """A confidence in a property of an hOCR element, a percentage, as a number from 0 to 1; None if it is missing."""
    numbers = _numbers(path, element, _hocr_property(element, name))
    return min(max(numbers[0] / 100, 0.0), 1.0) if numbers else None


def _hocr_property(element: Any, name: str) -> str:
    """The value of a property of an hOCR element, from its `title`, which has all of them; '' if it is missing."""
    match = re.search(rf"(?:^|;)\s*{name}\s+([^;]*)", element.get("title", ""))
    return match[1] if match else ""


def _html_classes(element: Any) -> set[str]:
    """The classes of an HTML element; a comment has none."""
    return set((element.get("class") or "").split()) if isinstance(element.tag, str) else set()
