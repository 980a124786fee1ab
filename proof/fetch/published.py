"""Reads a IIIF manifest from its address or a file, and names its images in the image folder.

A manifest's images go into a subfolder named after it, with the manifest itself beside them, so that a second run makes
no request. An image is named after the label of its canvas if that is an image reference, or a half-folio with its
juan; its page then finds it by name. Other images are named after the number of their canvas, even if the user says
which half-folios they show.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import httpx

from proof.atomic import whole_file
from proof.errors import ComeAgainError, ProofError, SourceError, os_errors_as
from proof.fetch.client import Client, status_of
from proof.fetch.iiif import Canvas, CanvasImage, Collection, Manifest, parse
from proof.fetch.index import FetchIndex, FileRecord
from proof.fetch.model import ImageSource, WantedImage
from proof.fetch.ssrf import file_name, path_inside
from proof.images.formats import SUFFIXES
from proof.locale.marking import Sentence, _
from proof.model.half_folios import half_folio_name, parse_label
from proof.model.notices import Notice, NoticeCode
from proof.model.refs import ImageRef, PageId

KEPT = "manifest.json"
"""Name of the file of a manifest in the folder of its images."""

MAX_MANIFEST_BYTES = 100_000_000
"""Size of the largest accepted manifest. Those of whole works, with annotations, have some ten million bytes."""

_MAX_NAMED_MANIFESTS = 20
"""Maximum number of manifests of a collection that a message names."""
_ACCEPT = {"Accept": "application/ld+json, application/json;q=0.9, */*;q=0.1"}
_SUFFIX_OF = {
    "image/png": ".png",
    "image/tiff": ".tif",
    "image/jp2": ".jp2",
    "image/webp": ".webp",
    "image/gif": ".gif",
}


@dataclass(frozen=True, slots=True)
class _Document:
    """The bytes of a manifest or a collection. `record` is that of its download, None for a file of the user."""

    address: str
    data: bytes
    record: FileRecord | None


@dataclass(frozen=True, slots=True)
class ManifestReader:
    """Reads manifests whose images go into `folder`. `width` is the width of the images in pixels, None for full size.

    With `keep` manifests are written beside their images; with `refresh` kept manifests are fetched again if they
    changed.
    """

    folder: Path
    client: Client
    width: int | None = None
    refresh: bool = False
    keep: bool = True

    def images(self, where: str | Path, *, members: bool = False) -> ImageSource:
        """The images of the manifest at `where`, an address or a file; with `members` those of all manifests of a
        collection.

        Raises SourceError (also for a collection without `members`), AddressError, ServerError and OutputError.
        """
        document = self._from_file(where) if isinstance(where, Path) else self._from_web(where)
        parsed = parse(document.data, document.address)
        if isinstance(parsed, Manifest):
            return self._of_manifest(parsed, document)
        if not members:
            raise SourceError(document.address, _manifests_of(parsed))
        return self._of_collection(parsed)

    def _of_collection(self, collection: Collection) -> ImageSource:
        sources, notices, failures = [], [], []
        for member in collection.members:
            if member.is_collection:
                notices.append(Notice.of(NoticeCode.COLLECTION_WITHIN, address=member.address))
                continue
            try:
                sources.append(self.images(member.address))
            except ComeAgainError:
                raise
            except ProofError as error:
                failures.append(Sentence.of(error))
        images = [wanted for source in sources for wanted in source.images]
        return ImageSource(
            collection.label or collection.address,
            tuple(replace(wanted, number=number) for number, wanted in enumerate(images, start=1)),
            tuple(dict.fromkeys(right for source in sources for right in source.rights)),
            (*notices, *(notice for source in sources for notice in source.notices)),
            (*failures, *(failure for source in sources for failure in source.failures)),
        )

    def _of_manifest(self, manifest: Manifest, document: _Document) -> ImageSource:
        address = document.address if document.record else manifest.address or document.address
        subfolder = self._subfolder(manifest, address)
        if self.keep:
            self._write(f"{subfolder}/{KEPT}", document, address)
        stems = _stems(manifest.canvases)
        images, failures = [], []
        for canvas in manifest.canvases:
            picture = canvas.picture
            if picture is not None:
                place, image_address = parse_label(canvas.label), picture.at(self.width)
                name = f"{subfolder}/{stems[canvas.number]}{_suffix(picture, image_address)}"
                places = (place,) if place else ()
                images.append(WantedImage(canvas.number, name, image_address, canvas.label, places))
            elif canvas.pictures:
                message = _(
                    "%(canvas)s is put together from %(number)s images, and none of them covers it: it is not "
                    "fetched; save the page as the library's viewer shows it"
                )
                failures.append(Sentence(message, canvas=canvas.name, number=len(canvas.pictures)))
        return ImageSource(manifest.label or address, tuple(images), manifest.rights, manifest.notices, tuple(failures))

    def _subfolder(self, manifest: Manifest, address: str) -> str:
        """The name of the manifest's folder: its label, else the last distinctive part of its address. A number is
        added if another manifest has that name."""
        parts = [file_name(unquote(part)).removesuffix(".json") for part in _path(address).split("/")]
        distinctive = [part for part in parts if part not in ("", "manifest", "iiif")]
        name = file_name(manifest.label) or (distinctive[-1] if distinctive else "manifest")
        others = {file for file, record in FetchIndex.read(self.folder).files.items() if record.address != address}
        numbered = chain([name], (f"{name}-{number}" for number in count(2)))
        return next(subfolder for subfolder in numbered if f"{subfolder}/{KEPT}" not in others)

    def _from_file(self, path: Path) -> _Document:
        with os_errors_as(SourceError, path, _("cannot be read (%(reason)s): name a IIIF manifest or an imglist")):
            return _Document(str(path), path.read_bytes(), None)

    def _from_web(self, address: str) -> _Document:
        """The manifest at `address`; the kept one, unless it is to be refreshed and has changed."""
        kept = self._kept(address)
        if kept and not self.refresh:
            return kept
        headers = _ACCEPT | (kept.record.conditions if kept and kept.record else {})

        def take(answer: httpx.Response) -> _Document:
            if answer.status_code == 304 and kept:
                return kept
            if answer.status_code != 200:
                raise SourceError(
                    address,
                    _("the server answers %(status)s; is this the manifest's address?"),
                    status=status_of(answer),
                )
            data = bytearray()
            for chunk in answer.iter_bytes():
                data += chunk
                if len(data) > MAX_MANIFEST_BYTES:
                    raise SourceError(
                        address,
                        _("is larger than %(most)s bytes, too large for a manifest"),
                        most=f"{MAX_MANIFEST_BYTES:,}",
                    )
            return _Document(address, bytes(data), FileRecord.of(address, answer, len(data)))

        return self.client.get(address, lambda: headers, take)

    def _kept(self, address: str) -> _Document | None:
        """The manifest that an earlier run fetched from `address` and wrote beside its images, or None."""
        for name, record in FetchIndex.read(self.folder).files.items():
            if record.address == address and PurePosixPath(name).name == KEPT:
                try:
                    return _Document(address, path_inside(self.folder, name).read_bytes(), record)
                except OSError:
                    return None
        return None

    def _write(self, name: str, document: _Document, address: str) -> None:
        """Write a manifest from `address` as the file `name` of the folder, unless the folder has it. Raises
        OutputError."""
        index, path = FetchIndex.read(self.folder), path_inside(self.folder, name)
        record = document.record or FileRecord(address, len(document.data))
        if path.exists() and index.files.get(name) == record:
            return
        with whole_file(path, newline="") as file:
            file.write(document.data.decode("utf-8-sig"))
        index.files[name] = record
        index.write()


def _stems(canvases: tuple[Canvas, ...]) -> dict[int, str]:
    """The names of the images, without ending, by the numbers of their canvases."""
    stems = {canvas.number: _stem(canvas) for canvas in canvases}
    counts = Counter(stem.casefold() for stem in stems.values())
    return {number: stem if stem and counts[stem.casefold()] == 1 else f"{number:04}" for number, stem in stems.items()}


def _stem(canvas: Canvas) -> str:
    """The name of an image, without ending, by the label of its canvas; empty if that names no half-folio."""
    ref = ImageRef.match(canvas.label)
    if ref:
        return file_name(str(ref))
    place = parse_label(canvas.label)
    if place is None:
        return ""
    page = PageId.match(canvas.label)
    return file_name(str(page) if page else half_folio_name(place))


def _suffix(picture: CanvasImage, address: str) -> str:
    """The ending of the file at `address`; an image service is always asked for JPEG."""
    if address != picture.address:
        return ".jpg"
    suffix = PurePosixPath(_path(address)).suffix.lower()
    return suffix if suffix in SUFFIXES else _SUFFIX_OF.get(picture.form.lower(), ".jpg")


def _path(address: str) -> str:
    try:
        return urlsplit(address).path
    except ValueError:  # the client refuses the address when it is requested
        return ""


def _manifests_of(collection: Collection) -> str:
    """The end of a message that names the manifests of a collection."""
    named = [f"\n  {member.address}  {member.label}".rstrip() for member in collection.members]
    if not named:
        return Sentence(_("is a IIIF collection that names no manifest"))
    more = ""
    if len(named) > _MAX_NAMED_MANIFESTS:
        more = Sentence(_("\n  ... and %(number)s more"), number=f"{len(named) - _MAX_NAMED_MANIFESTS:,}")
    return Sentence(
        _(
            "is a IIIF collection of %(number)s; name one of its manifests, or fetch them all "
            "with --all:%(named)s%(more)s"
        ),
        number=f"{len(named):,}",
        named="".join(named[:_MAX_NAMED_MANIFESTS]),
        more=more,
    )
