"""hOCR 1.2: one file per page, columns as `ocr_carea`, vertical lines as `ocr_line`, glyphs as `ocrx_cinfo`."""

from __future__ import annotations

from lxml import etree

import proof
from proof.exports.files import page_form
from proof.exports.marked_pages import MarkedLine, MarkedPage
from proof.exports.xml import add, legal, root_of, written
from proof.model.geometry import Box

NAMESPACE = "http://www.w3.org/1999/xhtml"
_CAPABILITIES = "ocr_page ocr_carea ocr_line ocrx_word ocrx_cinfo"


def hocr(page: MarkedPage) -> bytes:
    """The page as an hOCR file."""
    root = root_of("html", NAMESPACE)
    head = add(root, "head")
    add(head, "title").text = legal(page.id)
    for name, content in (("ocr-system", f"proof {proof.__version__}"), ("ocr-capabilities", _CAPABILITIES)):
        meta = add(head, "meta", content=content)
        meta.set("name", name)
    page_box = Box(0, 0, *page.size)
    image = page.name.replace('"', "")
    body = add(add(root, "body"), "div", id="page", title=f'image "{image}"; {_bbox(page_box)}; ppageno 0')
    body.set("class", "ocr_page")
    for column in page.columns:
        if column.lines:
            name = f"c{column.number}"
            area = add(body, "div", id=name, title=_bbox(column.box))
            area.set("class", "ocr_carea")
            for number, line in enumerate(column.lines, start=1):
                _line(area, f"{name}_l{number}", line)
    return written(root)


def _line(area: etree._Element, name: str, line: MarkedLine) -> None:
    element = add(area, "span", id=name, title=_bbox(line.box), lang="zh")
    element.set("class", "ocr_line")
    word = add(element, "span", id=f"{name}_w", title=_bbox(line.box))
    word.set("class", "ocrx_word")
    for number, (text, box, confidence) in enumerate(line.clusters(), start=1):
        conf = "" if confidence is None else f"; x_conf {100 * confidence:.0f}"
        glyph = add(word, "span", id=f"{name}_g{number}", title=_bbox(box, "x_bboxes") + conf)
        glyph.set("class", "ocrx_cinfo")
        glyph.text = legal(text)


def _bbox(box: Box, name: str = "bbox") -> str:
    """The property `name` with the corners of a box in whole pixels."""
    x, y, w, h = box.rounded()
    return f"{name} {x} {y} {x + w} {y + h}"


FORM = page_form("hocr", ".hocr", lambda page, _: hocr(page))
