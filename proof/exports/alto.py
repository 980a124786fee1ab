"""Writing a page as ALTO 4.3, the first version that has both `ReadingOrder` and `BASEDIRECTION`.

A column is a block; a run of main text and a half-row of a note are lines; glyphs have coordinates. The tests validate
the files against `tests/exports/alto_4_3.rng`, which defines these elements as `alto-4-3.xsd` does.

An ALTO glyph holds exactly one code point. Entities, compositions and characters with a variation selector are
therefore only in the text of the line."""

from __future__ import annotations

from lxml import etree

import proof
from proof.exports.marked_pages import MarkedLine, MarkedPage
from proof.exports.xml import add, centre_line, corners, legal, root_of, written
from proof.model.geometry import Box

NAMESPACE = "http://www.loc.gov/standards/alto/ns-v4#"
VERSION = "4.3"


def alto(page: MarkedPage) -> bytes:
    """The ALTO file of a page, as bytes."""
    root = root_of("alto", NAMESPACE)
    root.set("SCHEMAVERSION", VERSION)
    description = add(root, "Description")
    add(description, "MeasurementUnit").text = "pixel"
    add(add(description, "sourceImageInformation"), "fileName").text = legal(page.name)
    processing = add(description, "Processing", ID="proof")
    add(processing, "processingCategory").text = "contentModification"
    software = add(processing, "processingSoftware")
    add(software, "softwareName").text = "proof"
    add(software, "softwareVersion").text = proof.__version__
    tags = add(root, "Tags")
    for row in ("right", "left"):
        add(tags, "OtherTag", ID=f"note-{row}", LABEL=f"note-{row}", TYPE="type")
    columns = [column for column in page.columns if column.lines]
    if columns:
        order = add(add(root, "ReadingOrder"), "OrderedGroup", ID="columns")
        for column in columns:
            add(order, "ElementRef", ID=f"o{column.number}", REF=f"c{column.number}")
    size = {"WIDTH": str(page.size[0]), "HEIGHT": str(page.size[1])}
    body = add(add(root, "Layout"), "Page", ID="page", PHYSICAL_IMG_NR="1", **size)
    space = add(body, "PrintSpace", HPOS="0", VPOS="0", **size)
    for column in columns:
        block = add(space, "TextBlock", ID=f"c{column.number}", **_place(column.box))
        for number, line in enumerate(column.lines, start=1):
            _add_line(block, f"c{column.number}_l{number}", line)
    return written(root)


def _add_line(block: etree._Element, line_id: str, line: MarkedLine) -> None:
    tags = {} if line.row == "main" else {"TAGREFS": f"note-{line.row.value}"}
    element = add(
        block, "TextLine", ID=line_id, BASELINE=centre_line(line.box), BASEDIRECTION="ttb", **tags, **_place(line.box)
    )
    add(add(element, "Shape"), "Polygon", POINTS=corners(line.box))
    string = add(element, "String", ID=f"{line_id}_s", CONTENT=line.text, **_place(line.box))
    for index, glyph in enumerate(line.glyphs, start=1):
        if len(glyph.text) == 1:
            certainty = {} if glyph.confidence is None else {"GC": f"{glyph.confidence:.4f}"}
            add(string, "Glyph", ID=f"{line_id}_g{index}", CONTENT=glyph.text, **certainty, **_place(glyph.box))


def _place(box: Box) -> dict[str, str]:
    """The attributes of an element at a box, in whole pixels."""
    x, y, w, h = box.rounded()
    return {"HPOS": str(x), "VPOS": str(y), "WIDTH": str(w), "HEIGHT": str(h)}
