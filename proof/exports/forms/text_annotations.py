"""The corrected text on the images: a IIIF annotation on its canvas for each line, and for each flag a link that opens
a viewer at its place (IIIF Content State 1.0)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from proof.errors import UsageError
from proof.exports.files import Material, as_json, decided_pages, marked_pages, safe_name, write_file
from proof.exports.forms import ExportForm
from proof.exports.iiif import ANNOTATION, Addressed, region
from proof.exports.marked_pages import MarkedPage
from proof.locale.marking import _
from proof.model.geometry import Box


def line_annotations(page: MarkedPage, canvas: str, address: str) -> dict[str, Any]:
    """The annotation page, called by its `address`, with the lines of a page in reading order."""
    lines = [line for column in page.columns for line in column.lines if line.text]
    return {
        "@context": ANNOTATION,
        "id": address,
        "type": "AnnotationPage",
        "items": [
            {
                "id": f"{address}#{number}",
                "type": "Annotation",
                "motivation": "supplementing",
                "body": {"type": "TextualBody", "value": line.text, "format": "text/plain", "language": "lzh"},
                "target": f"{canvas}#{region(line.box, page.size)}",
            }
            for number, line in enumerate(lines, start=1)
        ],
    }


def content_state(manifest: str, canvas: str, box: Box | None, size: tuple[int, int]) -> str:
    """The value of the parameter `iiif-content` in a link that opens a viewer at a box of a canvas; without a box, at
    the whole canvas, which has this `size`."""
    target = {
        "id": f"{canvas}#{region(box, size)}",
        "type": "Canvas",
        "partOf": [{"id": manifest, "type": "Manifest"}],
    }
    return base64.urlsafe_b64encode(json.dumps(target).encode()).decode().rstrip("=")


def _write(material: Material, folder: Path) -> list[Path]:
    if not material.base:
        raise UsageError(_("annotations refer to the canvases of a manifest: name its address with --base"))
    addressed = Addressed(
        material.base, material.stem, [page for page in decided_pages(material) if page.image is not None]
    )
    written = []
    for path, page in marked_pages(material, folder / "text-annotations", ".json").items():
        address = f"{addressed.base}/text-annotations/{path.name}"
        written.append(write_file(path, as_json(line_annotations(page, addressed.canvas(page.id), address))))
    links = ["page\tcolumn\tchange\tiiif-content\n"]
    for result in addressed.pages:
        for flag in result.flags:
            if flag.raised:
                link = content_state(addressed.manifest, addressed.canvas(result.page), flag.bbox, result.image_size)
                links.append(f"{flag.page}\t{flag.line}\t{flag.transcribed}→{flag.suggested}\t{link}\n")
    return [*written, write_file(folder / f"{safe_name(material.stem)}.links.tsv", "".join(links).encode())]


FORM = ExportForm("text-annotations", _write, on_images=True)
