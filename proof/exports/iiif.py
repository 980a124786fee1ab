"""A IIIF Presentation 3 manifest of the checked pages, with the flags as W3C Web Annotations on them.

Viewers that support both, such as Mirador, show the flags. Pages are read from right to left.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from PIL import Image

from proof.exports.marked_pages import image_names
from proof.exports.note_files import character_number
from proof.model.flags import Flag, Kind, is_about_moved_text, other_half
from proof.model.geometry import Box
from proof.model.result import PageResult

PRESENTATION = "http://iiif.io/api/presentation/3/context.json"
ANNOTATION = "http://www.w3.org/ns/anno.jsonld"

MOTIVATIONS = ("commenting", "editing")
"""The motivations of an annotation: it proposes an edit, but viewers such as Mirador list only comments."""


class Addressed:
    """The pages of a text that are shown on an image, and the addresses of the manifest and its parts. `base` is the
    address under which the manifest will be served, `name` the name of the text. Each image is a canvas, which all
    pages on the image share, such as the half-folios of a plate."""

    def __init__(self, base: str, name: str, pages: Sequence[PageResult]) -> None:
        self.base, self.name = base.rstrip("/"), name
        self.pages = [page for page in pages if page.shown]
        self.image_names = image_names(pages)
        """The name of each image in the exported folder, by its file."""
        self.pages_by_image: dict[Path | None, list[PageResult]] = {}
        """The pages of each image, in the order of the first ones."""
        for page in self.pages:
            self.pages_by_image.setdefault(page.image, []).append(page)
        self._image_of = {page.page: page.image for page in self.pages}

    @property
    def manifest(self) -> str:
        """The address of the manifest."""
        return f"{self.base}/{quote(self.name, safe='')}.manifest.json"

    def canvas(self, page: str) -> str:
        """The address of the canvas that shows the page of this id; it has the id of the first page on the canvas."""
        return self.item("canvas", self.pages_by_image[self._image_of[page]][0].page)

    def item(self, kind: str, name: str) -> str:
        """The address of a part of the manifest: of the canvas, range or flags (`kind`) of this name."""
        return f"{self.base}/{quote(self.name, safe='')}/{kind}/{quote(name, safe='')}"


def manifest(addressed: Addressed, title: str) -> dict[str, Any]:
    """The manifest as JSON: a canvas for each image, with the flags that are shown to the proofreader. Pages that share
    an image are ranges, each with a region of the canvas. The images are expected in a folder `images` beside the
    manifest."""
    contents = {
        "@context": PRESENTATION,
        "id": addressed.manifest,
        "type": "Manifest",
        "label": {"lzh": [title]},
        "viewingDirection": "right-to-left",
        "behavior": ["paged"],
        "items": [_canvas(pages, addressed) for pages in addressed.pages_by_image.values()],
    }
    shared = (pages for pages in addressed.pages_by_image.values() if len(pages) > 1)
    ranges = [_range(page, addressed) for pages in shared for page in pages]
    return contents | ({"structures": ranges} if ranges else {})


def _range(page: PageResult, addressed: Addressed) -> dict[str, Any]:
    return {
        "id": addressed.item("range", page.page),
        "type": "Range",
        "label": {"none": [page.page]},
        "items": [
            {
                "type": "SpecificResource",
                "source": {"id": addressed.canvas(page.page), "type": "Canvas"},
                "selector": {"type": "FragmentSelector", "value": region(page.image_box, page.image_size)},
            }
        ],
    }


def flag_annotations(page: PageResult, target: str, address: str) -> dict[str, Any]:
    """A Web Annotation page at this `address`, with the flags of a page that are shown to the proofreader. `target` is
    the address of the image or canvas on which they are."""
    flags = [flag for flag in page.flags if flag.raised]
    return {
        "@context": ANNOTATION,
        "id": address,
        "type": "AnnotationPage",
        "items": _items(flags, target, address, page),
    }


def _canvas(pages: Sequence[PageResult], addressed: Addressed) -> dict[str, Any]:
    first = pages[0]
    canvas, (width, height) = addressed.canvas(first.page), first.image_size
    name = addressed.image_names[first.image] if first.image else ""
    image_format = Image.registered_extensions().get(Path(name).suffix.lower(), "PNG")
    embedded = [flag_annotations(page, canvas, addressed.item("flags", page.page)) for page in pages]
    for flags in embedded:
        del flags["@context"]
    return {
        "id": canvas,
        "type": "Canvas",
        "label": {"none": [page.page for page in pages]},
        "width": width,
        "height": height,
        "items": [
            {
                "id": f"{canvas}/page",
                "type": "AnnotationPage",
                "items": [
                    {
                        "id": f"{canvas}/image",
                        "type": "Annotation",
                        "motivation": "painting",
                        "body": {
                            "id": f"{addressed.base}/images/{quote(name)}",
                            "type": "Image",
                            "format": Image.MIME[image_format],
                            "width": width,
                            "height": height,
                        },
                        "target": canvas,
                    }
                ],
            }
        ],
        "annotations": embedded,
    }


def _items(flags: Sequence[Flag], target: str, address: str, page: PageResult) -> list[dict[str, Any]]:
    """An annotation for each flag. The two flags of a character that moved have one annotation with both places: first
    the place where the character is missing in the text, then the place where it stands."""
    annotations = []
    for index, flag in enumerate(flags):
        other = other_half(flag, flags)
        halves = [flag, other] if other is not None and is_about_moved_text(flag, other) else [flag]
        if len(halves) > 1 and flag.transcribed:  # the annotation belongs to the other half
            continue
        places = [_place(half, target, page) for half in halves]
        annotations.append(
            {
                "id": f"{address}/{flag.id or index}",
                "type": "Annotation",
                "motivation": list(MOTIVATIONS),
                "body": {
                    "type": "TextualBody",
                    "value": "; ".join(_in_words(half, page) for half in halves),
                    "format": "text/plain",
                    "language": "zh-Hant",
                    "purpose": "editing",
                },
                "target": places if len(halves) > 1 else places[0],
            }
        )
    return annotations


def _place(flag: Flag, target: str, page: PageResult) -> dict[str, Any]:
    """The region of a flag on the image or canvas `target`."""
    return {
        "type": "SpecificResource",
        "source": target,
        "selector": {
            "type": "FragmentSelector",
            "conformsTo": "http://www.w3.org/TR/media-frags/",
            "value": region(flag.bbox, page.image_size),
        },
    }


def _in_words(flag: Flag, page: PageResult) -> str:
    """A flag in words. Its place is given as in collation notes: page, column, and number of the character, from 1; a
    flag about a page has no column, one about a column no character."""
    where, column = [flag.page], page.column_of(flag)
    if flag.line:
        where.append(str(flag.line))
        if column is not None and flag.kind is not Kind.LAYOUT:
            where.append(str(character_number(column.source, flag.offset)))
    return f"{', '.join(where)}, {flag.kind.value}: {flag.transcribed or '∅'} → {flag.suggested or '∅'}"


def region(box: Box | None, size: tuple[int, int]) -> str:
    """A box as a media fragment; without a box, the whole image, which has this `size`."""
    x, y, w, h = box.rounded() if box is not None else (0, 0, *size)
    return f"xywh={max(0, x)},{max(0, y)},{max(1, w)},{max(1, h)}"
