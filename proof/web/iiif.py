"""`/iiif`: pieces of page images at IIIF addresses."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, request, url_for

from proof.web.images import MAX_SIDE_PX, VIEWER_TILE_PX, ImageRegion
from proof.web.project import project

CACHE_CONTROL = "private, max-age=31536000, immutable"
"""Pieces can be cached indefinitely, since their address contains the hash of the image."""

iiif = Blueprint("iiif", __name__, url_prefix="/iiif")


@iiif.get("/<name>/info.json")
def info(name: str) -> Response:
    """The IIIF image information of an image."""
    width, height = project().images.size(name)
    factors = [1 << n for n in range(8) if (VIEWER_TILE_PX << n) < 2 * max(width, height)] or [1]
    response = jsonify(
        {
            "@context": "http://iiif.io/api/image/3/context.json",
            "id": url_for("iiif.info", name=name, _external=True).removesuffix("/info.json"),
            "type": "ImageService3",
            "protocol": "http://iiif.io/api/image",
            "profile": "level1",
            "width": width,
            "height": height,
            "maxWidth": MAX_SIDE_PX,
            "tiles": [{"width": VIEWER_TILE_PX, "scaleFactors": factors}],
            "preferredFormats": ["webp"],
            "extraFormats": ["webp"],
            "extraFeatures": ["sizeByWh"],
        }
    )
    response.headers["Cache-Control"] = CACHE_CONTROL
    return response


@iiif.get("/<name>/<region>/<size>/0/default.webp")
def piece(name: str, region: str, size: str) -> Response:
    """A piece of an image; 304 if the client has it."""
    return image_answer(project().images.piece(name, region, size, request.if_none_match), CACHE_CONTROL)


def image_answer(region: ImageRegion, cache_control: str) -> Response:
    """The answer with a piece of an image; 304 if the client has it."""
    response = Response(region.data, mimetype="image/webp") if region.data else Response(status=304)
    response.set_etag(region.etag)
    response.headers["Cache-Control"] = cache_control
    return response
