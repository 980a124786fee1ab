"""Builds XML documents in UTF-8 with a declaration, without characters that XML does not allow."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from proof.model.geometry import Box

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def written(root: etree._Element) -> bytes:
    """The document as bytes."""
    text: bytes = etree.tostring(root, encoding="UTF-8", xml_declaration=True, pretty_print=False)
    return text + b"\n"


def legal(text: str) -> str:
    """The text without the characters that XML 1.0 cannot hold, such as control characters."""
    return _FORBIDDEN.sub("", text)


def root_of(name: str, namespace: str) -> etree._Element:
    """The root element of a document with a single namespace."""
    names: Any = {None: namespace}
    return etree.Element(f"{{{namespace}}}{name}", nsmap=names)


def add(parent: etree._Element, name: str, **attributes: str) -> etree._Element:
    """Add an element to `parent`, in the same namespace, and return it."""
    named = etree.QName(etree.QName(parent).namespace, name)
    return etree.SubElement(parent, named, {key: legal(value) for key, value in attributes.items()})


def identified(element: etree._Element, name: str) -> etree._Element:
    """Set the `xml:id` of an element, and return the element."""
    element.set("{http://www.w3.org/XML/1998/namespace}id", name)
    return element


def centre_line(box: Box) -> str:
    """The vertical line through the middle of a box, in whole pixels: the baseline of a column."""
    middle = round(box.x + box.w / 2)
    return f"{middle},{round(box.y)} {middle},{round(box.bottom)}"


def corners(box: Box) -> str:
    """The corners of a box in whole pixels, clockwise, as ALTO and PAGE write points."""
    left, top, right, bottom = (round(value) for value in (box.x, box.y, box.right, box.bottom))
    return f"{left},{top} {right},{top} {right},{bottom} {left},{bottom}"
