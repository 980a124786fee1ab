"""IIIF manifests: the canvases in order, and the address of the image of each at a given size.

Presentation API 2 and 3 and Image API 1 to 3 are supported (https://iiif.io/api/presentation/3.0/,
https://iiif.io/api/image/3.0/). Manifests of libraries often violate the specifications; faults that do not concern
the images are ignored. iiif-prezi3 is not used: it supports only version 3 and rejects a manifest for any invalid
property.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from proof.errors import SourceError
from proof.locale.marking import Sentence, _
from proof.model.notices import Notice, NoticeCode

_LANGUAGES_BY_PREFERENCE = ("zh-Hant", "zh", "zh-Hans", "lzh", "none", "@none", "en", "")
_IMAGE_API = re.compile(r"ImageService([123])|/image(?:-api)?/([123])(?:\.[0-9]+)*/")
_FRAGMENT = re.compile(
    r"(?:^|[#&])xywh=(?P<unit>pixel:|percent:)?"
    r"(?P<x>[0-9]{1,9}(?:\.[0-9]{1,9})?),(?P<y>[0-9]{1,9}(?:\.[0-9]{1,9})?),(?P<w>[0-9]{1,9}(?:\.[0-9]{1,9})?),(?P<h>[0-9]{1,9}(?:\.[0-9]{1,9})?)(?:$|&)"
)
_MAX_NESTING = 12
"""Maximum depth of nested bodies (choices, resources with parts)."""

MIN_COVERING_SHARE = 0.9
"""Minimum share of a canvas that an image of the whole page covers; smaller images are details painted over it."""

Value = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Service:
    """A IIIF image service. `sizes` are the widths and heights that it has ready; a `fixed` service has no others. A
    `limited` one does not give the image in full size. `width` is that of the full image, 0 if unknown."""

    address: str
    version: int
    fixed: bool = False
    limited: bool = False
    sizes: tuple[tuple[int, int], ...] = ()
    width: int = 0

    def image(self, width: int | None = None) -> str:
        """The address of the whole image, about `width` pixels wide or, without one, as large as possible. It is never
        enlarged."""
        quality = "native" if self.version == 1 else "default"
        return f"{self.address}/full/{self._size(width)}/0/{quality}.jpg"

    def _size(self, width: int | None) -> str:
        whole = "max" if self.version == 3 or (self.version == 2 and self.limited) else "full"
        if width is None or (self.width and width >= self.width):
            return whole
        if not self.fixed:
            return f"{width},"
        w, h = min((size for size in self.sizes if size[0] >= width), default=(0, 0))
        if w in (0, self.width):
            return whole
        return f"{w},{h}" if self.version == 3 else f"{w},"


@dataclass(frozen=True, slots=True)
class CanvasImage:
    """An image of a canvas: a file at `address`, or an image service, or both. `form` is its media type, `share` the
    share of the canvas that it covers."""

    address: str
    form: str = ""
    service: Service | None = None
    share: float = 1.0

    def at(self, width: int | None = None) -> str:
        """The address of the image, about `width` pixels wide if a service can do that, else as large as possible."""
        service = self.service
        if service is None:
            return self.address
        cannot_scale = service.fixed and not service.sizes
        return self.address if cannot_scale and width and self.address else service.image(width)


@dataclass(frozen=True, slots=True)
class Canvas:
    """A canvas with its images; `number` counts from 1 in the manifest."""

    number: int
    label: str
    pictures: tuple[CanvasImage, ...]

    @property
    def picture(self) -> CanvasImage | None:
        """The image that shows the whole canvas: the only one, or the first that covers it; else None."""
        if len(self.pictures) == 1:
            return self.pictures[0]
        return next((picture for picture in self.pictures if picture.share >= MIN_COVERING_SHARE), None)

    @property
    def name(self) -> str:
        return f"canvas {self.number}{f' ({self.label})' if self.label else ''}"


@dataclass(frozen=True, slots=True)
class Manifest:
    address: str
    label: str
    canvases: tuple[Canvas, ...]
    rights: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a collection: a manifest, or another collection."""

    address: str
    label: str
    is_collection: bool


@dataclass(frozen=True, slots=True)
class Collection:
    address: str
    label: str
    members: tuple[Member, ...]


def parse(data: bytes, where: str) -> Manifest | Collection:
    """The manifest or collection in `data`, which came from `where`. Raises SourceError, with the line if it is not
    JSON."""
    try:
        whole = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SourceError(where, _("is not a IIIF manifest: it is not UTF-8")) from error
    except json.JSONDecodeError as error:
        message = Sentence(_("not JSON (%(msg)s)"), msg=error.msg)
        if data.lstrip().startswith(b"<"):
            message = Sentence(_("a web page; name the address of the manifest itself"))
        raise SourceError(
            where, _("is not a IIIF manifest: it is %(message)s"), error.lineno, message=message
        ) from error
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, or lists nested too deeply
        raise SourceError(
            where, _("is not a IIIF manifest: its JSON cannot be read (%(error)s)"), error=error
        ) from error
    if not isinstance(whole, dict):
        raise SourceError(where, _("is not a IIIF manifest: expected a JSON object with a type"))
    kind = _type(whole)
    if kind == "collection":
        return Collection(_id(whole), _text(whole.get("label")), tuple(_members(whole)))
    if kind not in ("manifest", "") or not ("sequences" in whole or "items" in whole):
        named = f"a {kind}" if kind else "without a type"
        raise SourceError(
            where,
            _(
                "is not a IIIF manifest but %(named)s: expected `sequences` (Presentation 2) or `items` "
                "(Presentation 3)"
            ),
            named=named,
        )
    canvases = tuple(_canvases(whole))
    notices = tuple(_notices(canvases))
    if not any(canvas.pictures for canvas in canvases):
        part = "items[].items[].items[].body" if "items" in whole else "sequences[].canvases[].images[].resource"
        raise SourceError(
            where,
            _("shows no image: none of its %(number)s canvases has one in %(part)s"),
            number=len(canvases),
            part=part,
        )
    return Manifest(_id(whole), _text(whole.get("label")), canvases, tuple(_rights(whole)), notices)


def _canvases(whole: Value) -> Iterator[Canvas]:
    """The canvases of a manifest; in version 2 those of the first sequence, since others only reorder them."""
    if "sequences" in whole:
        first = next(iter(_objects(whole.get("sequences"))), {})
        for number, canvas in enumerate(_objects(first.get("canvases")), start=1):
            painting = [(image.get("resource"), image.get("on")) for image in _objects(canvas.get("images"))]
            yield Canvas(number, _text(canvas.get("label")), tuple(_painted(canvas, painting)))
        return
    for number, canvas in enumerate(_objects(whole.get("items")), start=1):
        notes = [note for page in _objects(canvas.get("items")) for note in _objects(page.get("items"))]
        painting = [
            (note.get("body"), note.get("target"))
            for note in notes
            if note.get("motivation", "painting") in ("painting", ["painting"])
        ]
        yield Canvas(number, _text(canvas.get("label")), tuple(_painted(canvas, painting)))


def _painted(canvas: Value, painting: Iterable[tuple[object, object]]) -> Iterator[CanvasImage]:
    """The images of the annotations `painting`, pairs of body and target, from the lowest to the topmost."""
    for body, target in painting:
        share = _share(canvas, target)
        for picture in _bodies(body):
            yield replace(picture, share=share)


def _share(canvas: Value, target: object) -> float:
    """The share of a canvas that a target covers: all, or the part that a fragment names (`#xywh=0,0,600,900`)."""
    addresses = [address for address in _list(target) if isinstance(address, str)]
    for value in _objects(target):
        addresses += [_id(value), _source(value)]
        addresses += [str(selector.get("value", "")) for selector in _objects(value.get("selector"))]
    fragment = next((match for address in addresses if (match := _FRAGMENT.search(address))), None)
    if fragment is None:
        return 1.0
    x, y, w, h = (float(fragment[name]) for name in "xywh")
    width, height = _number(canvas.get("width")), _number(canvas.get("height"))
    if fragment["unit"] == "percent:":
        width, height = 100, 100
    if not width or not height:
        return 1.0
    covered_width, covered_height = max(0.0, min(x + w, width) - x), max(0.0, min(y + h, height) - y)
    return covered_width * covered_height / (width * height)


def _source(value: Value) -> str:
    source = value.get("source") or value.get("full") or ""
    return source if isinstance(source, str) else ""


def _bodies(value: object, depth: int = 0) -> list[CanvasImage]:
    """The images in the body of an annotation; for a choice those of the first alternative that has any."""
    if depth > _MAX_NESTING or not isinstance(value, list | str | dict):
        return []
    if isinstance(value, list):
        return [picture for each in value for picture in _bodies(each, depth + 1)]
    if isinstance(value, str):
        return [CanvasImage(value)]
    kind = _type(value)
    if kind == "choice":
        choices = _list(value.get("default")) + _list(value.get("item")) + _list(value.get("items"))
        alternatives = (_bodies(choice, depth + 1) for choice in choices)
        return next((pictures for pictures in alternatives if pictures), [])
    if kind == "specificresource":
        return _bodies(value.get("full") or value.get("source"), depth + 1)
    address, service = _id(value), _image_service(value)
    is_image = not kind or kind.endswith("image")
    return [CanvasImage(address, str(value.get("format", "")), service)] if is_image and (address or service) else []


def _image_service(body: Value) -> Service | None:
    """The image service of a body; of several the one with the newest version."""
    services = [value for value in _objects(body.get("service")) if _id(value)]
    image_services = []
    for value in services:
        profiles = [profile for profile in _list(value.get("profile")) if isinstance(profile, str)]
        kind, context = str(value.get("type") or value.get("@type") or ""), str(value.get("@context", ""))
        description = " ".join([kind, context, *profiles])
        version = _version(description, alone=len(services) == 1)
        if not version:
            continue
        sizes = [(_number(size.get("width")), _number(size.get("height"))) for size in _objects(value.get("sizes"))]
        has_limit = any(
            "maxWidth" in limits or "maxArea" in limits for limits in (value, *_objects(value.get("profile")))
        )
        image_services.append(
            Service(
                _id(value).rstrip("/"),
                version,
                fixed="level0" in description,
                limited=has_limit,
                sizes=tuple(size for size in sizes if min(size) > 0),
                width=_number(value.get("width")) or _number(body.get("width")),
            )
        )
    return max(image_services, key=lambda service: service.version, default=None)


def _version(description: str, *, alone: bool) -> int:
    """The version of the Image API that a `description` names, a service's type, context and profiles; 0 for another
    service, such as a search or a log-in. `alone`: the body has no other service."""
    named = _IMAGE_API.search(description)
    if named:
        return int(named[1] or named[2])
    if "/image-api/" in description:
        return 1
    if re.search(r"(?:^|\s)level[012](?:\s|$)", description):
        return 3
    return 2 if alone and not description.strip() else 0


def _members(whole: Value) -> Iterator[Member]:
    for key in ("manifests", "collections", "members", "items"):
        for value in _objects(whole.get(key)):
            if _id(value) and (kind := _type(value) or key.rstrip("s")) in ("manifest", "collection"):
                yield Member(_id(value), _text(value.get("label")), kind == "collection")


def _notices(canvases: tuple[Canvas, ...]) -> Iterator[Notice]:
    for canvas in canvases:
        if not canvas.pictures:
            yield Notice.of(NoticeCode.CANVAS_EMPTY, canvas=canvas.name)
        elif len(canvas.pictures) > 1 and canvas.picture:
            yield Notice.of(NoticeCode.CANVAS_SEVERAL, canvas=canvas.name, number=len(canvas.pictures))


def _rights(whole: Value) -> Iterator[str]:
    statement = whole.get("requiredStatement")
    texts = [statement.get("value")] if isinstance(statement, dict) else []
    for value in (*texts, whole.get("attribution"), whole.get("rights"), whole.get("license")):
        text = " ".join(re.sub(r"<[^>]*>", " ", _text(value)).split())
        if text:
            yield text


def _text(value: object) -> str:
    """The text of a label: a plain string, strings by language (Presentation 3), or values with their language
    (Presentation 2)."""
    if isinstance(value, dict) and "@value" not in value:
        value = value[min(value, key=_preference)] if value else ""
    strings = [string for string in _list(value) if isinstance(string, str)]
    if not strings:
        with_language = min(_objects(value), key=lambda option: _preference(option.get("@language")), default={})
        preferred = with_language.get("@value")
        strings = [preferred] if isinstance(preferred, str) else []
    return " ".join(" ".join(strings).split()).encode("utf-8", "replace").decode()


def _preference(language: object) -> int:
    order = _LANGUAGES_BY_PREFERENCE
    return order.index(language) if language in order else len(order)


def _type(value: Value) -> str:
    """The type of an object in lower case, without prefix: `manifest` for `sc:Manifest` and `Manifest`."""
    given = value.get("type") or value.get("@type") or ""
    first = next((each for each in _list(given) if isinstance(each, str)), "")
    return first.rpartition(":")[2].rpartition("/")[2].casefold()


def _id(value: Value) -> str:
    given = value.get("id") or value.get("@id") or ""
    return given.strip() if isinstance(given, str) else ""


def _number(value: object) -> int:
    """A size in pixels; 0 for any value that is not a plausible one."""
    return value if type(value) is int and 0 < value < 1_000_000 else 0


def _list(value: object) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _objects(value: object) -> Iterator[Value]:
    return (item for item in _list(value) if isinstance(item, dict))
