"""A IIIF Presentation 3 manifest of the checked pages, with the flags as W3C Web Annotations on them.

The flags then show in any viewer that knows the two, such as Mirador. Pages are read from right to left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from proof.exports.note_files import character_number
from proof.images.pdf import file_name
from proof.model.flags import Flag, Kind, is_moved
from proof.model.geometry import Box
from proof.model.result import PageResult

PRESENTATION = "http://iiif.io/api/presentation/3/context.json"
ANNOTATION = "http://www.w3.org/ns/anno.jsonld"
MOTIVATIONS = ("commenting", "editing")
"""What the annotations are for: they propose an edit; viewers such as Mirador list only what comments."""
_FORMATS = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "tif": "image/tiff", "tiff": "image/tiff"}
_FORMATS |= {"webp": "image/webp", "gif": "image/gif", "jp2": "image/jp2"}


@dataclass(frozen=True, slots=True)
class Addressed:
    """The pages of a text, and the addresses of what a manifest has: `base` is that under which it will be served,
    `name` the text's own. An image is a canvas; the pages that it shows, as the half-folios of a plate, share it."""

    base: str
    name: str
    pages: Sequence[PageResult]

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", self.base.rstrip("/"))
        shown = [page for page in self.pages if page.image is not None and min(page.image_size) > 0]
        object.__setattr__(self, "pages", shown)

    @property
    def manifest(self) -> str:
        return f"{self.base}/{quote(self.name, safe='')}.manifest.json"

    @property
    def images(self) -> list[list[PageResult]]:
        """The pages of each image."""
        pages_of: dict[object, list[PageResult]] = {}
        for page in self.pages:
            pages_of.setdefault(page.image, []).append(page)
        return list(pages_of.values())

    def canvas(self, page: str) -> str:
        """The canvas that shows a page: called by the first of its pages."""
        own = next(page_result.image for page_result in self.pages if page_result.page == page)
        first = next(page_result.page for page_result in self.pages if page_result.image == own)
        return self.item("canvas", first)

    def item(self, kind: str, name: str) -> str:
        """The address of a part of the manifest."""
        return f"{self.base}/{quote(self.name, safe='')}/{kind}/{quote(name, safe='')}"


def manifest(addressed: Addressed, title: str) -> dict[str, Any]:
    """The manifest as JSON takes it: a canvas for each image, the flags that are shown to the proofreader embedded;
    pages that share an image are ranges, each a region of its canvas. Images lie in the folder `images` beside it."""
    whole = {
        "@context": PRESENTATION,
        "id": addressed.manifest,
        "type": "Manifest",
        "label": {"lzh": [title]},
        "viewingDirection": "right-to-left",
        "behavior": ["paged"],
        "items": [_canvas(pages, addressed) for pages in addressed.images],
    }
    ranges = [_range(page, addressed) for pages in addressed.images if len(pages) > 1 for page in pages]
    return whole | ({"structures": ranges} if ranges else {})


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
    """The flags of a page that are shown to the proofreader as a Web Annotation page, called by its `address`.
    `target` is the address of the image or of the canvas that their boxes lie on."""
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
    name = file_name(first.image) if first.image else ""
    suffix = name.rpartition(".")[2].lower()
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
                            "format": _FORMATS.get(suffix, "image/png"),
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
    """An annotation for each flag; for the two of a character that moved one with both places, that where it belongs
    first."""
    by_id = {flag.id: flag for flag in flags if flag.id}
    pairs = ((flag, by_id.get(flag.moved)) for flag in flags)
    moved = {flag.id: (other,) for flag, other in pairs if other and other.moved == flag.id and is_moved(flag, other)}
    return [
        {
            "id": f"{address}/{flag.id or index}",
            "type": "Annotation",
            "motivation": list(MOTIVATIONS),
            "body": {
                "type": "TextualBody",
                "value": "; ".join(_in_words(part, page) for part in (flag, *moved.get(flag.id, ()))),
                "format": "text/plain",
                "language": "zh-Hant",
                "purpose": "editing",
            },
            "target": [_place(part, target, page) for part in (flag, *moved[flag.id])]
            if flag.id in moved
            else _place(flag, target, page),
        }
        for index, flag in enumerate(flags)
        if flag.id not in moved or not flag.transcribed
    ]


def _place(flag: Flag, target: str, page: PageResult) -> dict[str, Any]:
    """Where on the image a flag is."""
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
    """The finding in words, its place as collation notes have it: page, column, and the character from 1 on; a finding
    about the page as a whole has neither, one about a column no character."""
    where, column = [flag.page], page.column_of(flag)
    if flag.line:
        where.append(str(flag.line))
        if column is not None and flag.kind is not Kind.LAYOUT:
            where.append(str(character_number(column.source, flag.offset)))
    return f"{', '.join(where)}, {flag.kind.value}: {flag.transcribed or '∅'} → {flag.suggested or '∅'}"


def region(box: Box | None, size: tuple[int, int]) -> str:
    """The box as a media fragment; the whole page where a finding has none."""
    x, y, w, h = box.rounded() if box is not None else (0, 0, *size)
    return f"xywh={max(0, x)},{max(0, y)},{max(1, w)},{max(1, h)}"
