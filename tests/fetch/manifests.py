"""Manifests as libraries publish them, built after the specifications and the IIIF cookbook
(https://iiif.io/api/presentation/2.1/#example-manifest-response, https://iiif.io/api/cookbook/, recipes 0001, 0005,
0009 and 0033)."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]
COOKBOOK = "https://iiif.io/api/image/3.0/example/reference"


def canvas_2(number: int, label: str, base: str) -> Json:
    """A canvas of Presentation 2 whose image has an Image API 2 service."""
    service = {
        "@context": "http://iiif.io/api/image/2/context.json",
        "@id": f"{base}/images/book1-page{number}",
        "profile": "http://iiif.io/api/image/2/level1.json",
    }
    resource = {
        "@id": f"{base}/iiif/book1/res/page{number}.jpg",
        "@type": "dctypes:Image",
        "format": "image/jpeg",
        "service": service,
        "height": 2000,
        "width": 1500,
    }
    where = f"{base}/iiif/book1/canvas/p{number}"
    painting = {"@type": "oa:Annotation", "motivation": "sc:painting", "resource": resource, "on": where}
    size = {"height": 1000, "width": 750}
    return {"@id": where, "@type": "sc:Canvas", "label": label, **size, "images": [painting], "otherContent": []}


def book_2(base: str = "http://example.org", labels: Sequence[str] = ("p. 1", "p. 2")) -> Json:
    """Presentation 2: a book, with a second sequence and a service that is none of images."""
    canvases = [canvas_2(number, label, base) for number, label in enumerate(labels, start=1)]
    return {
        "@context": "http://iiif.io/api/presentation/2/context.json",
        "@type": "sc:Manifest",
        "@id": f"{base}/iiif/book1/manifest",
        "label": "Book 1",
        "license": "http://example.org/license.html",
        "attribution": "Provided by <b>Example</b> Organization",
        "service": {"@context": "http://example.org/ns/jsonld/context.json", "@id": f"{base}/service/example"},
        "sequences": [
            {"@id": f"{base}/iiif/book1/sequence/normal", "@type": "sc:Sequence", "canvases": canvases},
            {"@id": f"{base}/iiif/book1/sequence/back", "@type": "sc:Sequence", "canvases": canvases[::-1]},
        ],
        "structures": [{"@type": "sc:Range", "label": "Introduction", "canvases": [f"{base}/iiif/book1/canvas/p1"]}],
    }


def canvas_3(number: int, label: Any, body: Any, base: str = "https://example.org") -> Json:
    """A canvas of Presentation 3."""
    where = f"{base}/canvas/p{number}"
    note = {
        "id": f"{base}/annotation/p{number:04}-image",
        "type": "Annotation",
        "motivation": "painting",
        "body": body,
        "target": where,
    }
    page = {"id": f"{base}/page/p{number}/1", "type": "AnnotationPage", "items": [note]}
    return {"id": where, "type": "Canvas", "label": label, "height": 4613, "width": 3204, "items": [page]}


def image_3(name: str, base: str = COOKBOOK, profile: str = "level1", **service: Any) -> Json:
    """An image with an Image API 3 service, as recipe 0005 has it."""
    return {
        "id": f"{base}/{name}/full/max/0/default.jpg",
        "type": "Image",
        "format": "image/jpeg",
        "height": 4613,
        "width": 3204,
        "service": [{"id": f"{base}/{name}", "type": "ImageService3", "profile": profile, **service}],
    }


def manifest_3(*canvases: Json, label: str = "儀禮集釋", base: str = "https://example.org") -> Json:
    """A manifest of Presentation 3."""
    return {
        "@context": "http://iiif.io/api/presentation/3/context.json",
        "id": f"{base}/manifest.json",
        "type": "Manifest",
        "label": {"zh-Hant": [label], "en": ["Collected Commentaries"]},
        "rights": "http://creativecommons.org/licenses/by/4.0/",
        "requiredStatement": {"label": {"en": ["Attribution"]}, "value": {"en": ["Provided by Example Library"]}},
        "items": list(canvases),
    }


def book_3(labels: Sequence[str], base: str = COOKBOOK) -> Json:
    """Presentation 3: a book, as recipe 0009 has it; image `n` is at `base`/p`n`."""
    return manifest_3(*(canvas_3(n, {"none": [label]}, image_3(f"p{n}", base)) for n, label in enumerate(labels, 1)))


def data(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KINDS = "Manifest sc:Manifest Collection Canvas Choice oa:Choice SpecificResource Image Annotation"
WELL_FORMED = (
    book_2(),
    book_3(["010-1a", "x"]),
    manifest_3(canvas_3(1, "a", {"type": "Choice", "items": [image_3("p")]})),
)


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """A manifest in which something stands where something else should."""
    value: Any = copy.deepcopy(draw(st.sampled_from(WELL_FORMED)))
    for _ in range(draw(st.integers(1, 4))):
        at: Any = value
        for _ in range(draw(st.integers(0, 9))):
            below = [key for key in keys_of(at) if isinstance(at[key], dict | list)]
            if not below:
                break
            at = at[draw(st.sampled_from(below))]
        if keys := keys_of(at):
            at[draw(st.sampled_from(keys))] = draw(JSON | st.sampled_from(KINDS.split()))
    return value


def keys_of(value: Any) -> list[Any]:
    return list(value) if isinstance(value, dict) else list(range(len(value)))
