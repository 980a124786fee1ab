"""PAGE XML (2019-07-15): columns as regions, runs and half-rows as vertical lines, glyphs with coordinates."""

from __future__ import annotations

from datetime import datetime

from lxml import etree

import proof
from proof.exports.marked_pages import MarkedLine, MarkedPage
from proof.exports.xml import add, centre_line, corners, legal, root_of, written

NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
_VERTICAL = {"readingDirection": "top-to-bottom"}


def page_xml(page: MarkedPage, made: datetime) -> bytes:
    """The page as a PAGE XML file; `made` is the time it gives (with its zone)."""
    root = root_of("PcGts", NAMESPACE)
    metadata = add(root, "Metadata")
    add(metadata, "Creator").text = f"proof {proof.__version__}"
    stamp = made.isoformat(timespec="seconds")
    add(metadata, "Created").text = stamp
    add(metadata, "LastChange").text = stamp
    width, height = page.size
    body = add(
        root,
        "Page",
        imageFilename=page.name,
        imageWidth=str(width),
        imageHeight=str(height),
        readingDirection="top-to-bottom",
        textLineOrder="right-to-left",
    )
    columns = [column for column in page.columns if column.lines]
    if columns:
        order = add(add(body, "ReadingOrder"), "OrderedGroup", id="columns")
        for index, column in enumerate(columns):
            add(order, "RegionRefIndexed", index=str(index), regionRef=f"c{column.number}")
    for column in columns:
        region = add(
            body, "TextRegion", id=f"c{column.number}", type="paragraph", textLineOrder="right-to-left", **_VERTICAL
        )
        add(region, "Coords", points=corners(column.box))
        for number, line in enumerate(column.lines, start=1):
            _line(region, f"c{column.number}_l{number}", line)
        _equivalent(region, "\n".join(line.text for line in column.lines))
    return written(root)


def _line(region: etree._Element, name: str, line: MarkedLine) -> None:
    kind = "structure {type:default;}" if line.row == "main" else f"structure {{type:note-{line.row.value};}}"
    element = add(region, "TextLine", id=name, custom=kind, **_VERTICAL)
    add(element, "Coords", points=corners(line.box))
    add(element, "Baseline", points=centre_line(line.box))
    word = add(element, "Word", id=f"{name}_w", **_VERTICAL)
    add(word, "Coords", points=corners(line.box))
    for index, glyph in enumerate(line.glyphs, start=1):
        if glyph.text:
            element_of_glyph = add(word, "Glyph", id=f"{name}_g{index}")
            add(element_of_glyph, "Coords", points=corners(glyph.box))
            _equivalent(element_of_glyph, glyph.text, glyph.confidence)
    _equivalent(word, line.text)
    _equivalent(element, line.text)


def _equivalent(parent: etree._Element, text: str, confidence: float | None = None) -> None:
    element = add(parent, "TextEquiv")
    if confidence is not None:
        element.set("conf", f"{confidence:.4f}")
    add(element, "Unicode").text = legal(text)
