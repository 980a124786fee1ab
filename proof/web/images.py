"""Page images cut on demand, at addresses of the IIIF Image API 3.0 (level 1, with `w,h`).

The identifier of an image is the hash of its bytes: so answers can be cached for good, and no address reaches a file
that was not checked. An image that lies on its side or upside down has a second identifier, under which it is turned
upright (`name_of`).
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from proof.errors import ImageError, ToldError
from proof.images.load import sha256_of
from proof.images.pdf import PdfPage
from proof.locale.marking import _
from proof.report.crops import METHOD, load_picture, pack_piece
from proof.report.glyphs import GLYPH_METHOD, GlyphPlace, cut_glyph
from proof.report.upright import turn_of, turned_picture, turned_size
from proof.store.cache import Bounded

OPEN_BYTES = 160 << 20
PIECES_BYTES = 64 << 20
LARGEST_SIDE = 4000
LARGEST_GLYPH = 400
TILE = 512

_NAME = re.compile(r"([0-9a-f]{64})(?:-(90|180|270))?")
_REGION = re.compile(r"full|(\d{1,6}),(\d{1,6}),(\d{1,6}),(\d{1,6})")
_SIZE = re.compile(r"max|(\d{1,6}),(\d{1,6})?|,(\d{1,6})")


def name_of(sha: str, skew: float) -> str:
    """The identifier under which an image of that skew (`PageResult.skew`, degrees) is upright: its hash, followed by
    the degrees by which it is turned clockwise, if any."""
    turn = turn_of(skew)
    return f"{sha}-{turn}" if turn else sha


class NoPieceError(ToldError):
    """The address names a region or size that the image does not have."""

    http_status = 400


class GoneImageError(ToldError):
    """No image with this hash is in the store, or its file is gone or has changed since it was checked."""

    http_status = 404


@dataclass(frozen=True, slots=True)
class ImageRegion:
    """A piece of an image as WebP, with its strong entity tag; `data` is empty if the client has it already."""

    data: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class _StoredImage:
    """An image with its path, its size before turning, and the degrees by which it is turned clockwise."""

    sha: str
    path: Path
    size: tuple[int, int]
    turn: int


class Images:
    """The images of a project. `find` gives the path, at the time of the check, and the size of the image with a hash;
    `folders` are searched if the project was moved since."""

    def __init__(self, find: Callable[[str], tuple[str, int, int] | None], folders: Iterable[Path]) -> None:
        self._find = find
        self._folders = tuple(folders)
        self._open: Bounded[str, Image.Image] = Bounded(OPEN_BYTES, _bytes_of)
        self._pieces: Bounded[str, bytes] = Bounded(PIECES_BYTES, len)
        self._places: dict[str, Path] = {}
        self._opening = threading.Lock()

    def piece(self, name: str, region: str, size: str, known: Collection[str] = ()) -> ImageRegion:
        """The piece `region` of an image at `size`, both in IIIF notation; not cut if its entity tag is among the
        `known` ones. Raises NoPieceError, GoneImageError."""
        stored = self._stored(name)
        edges = _edges(region, *turned_size(stored.size, stored.turn))
        wanted = _wanted(size, edges[2] - edges[0], edges[3] - edges[1])

        def cut() -> Image.Image:
            piece = self._picture(name, stored).crop(edges)
            return piece if piece.size == wanted else piece.resize(wanted, Image.Resampling.LANCZOS)

        return self._region((METHOD, name, *edges, *wanted), cut, known)

    def glyph(self, name: str, place: GlyphPlace, known: Collection[str] = ()) -> ImageRegion:
        """The tile of a glyph (`proof.report.glyphs`) of an image; not cut if its entity tag is among the `known` ones.
        Raises NoPieceError, GoneImageError."""

        def cut() -> Image.Image:
            tile = cut_glyph(self._picture(name), place)
            if tile is None:
                raise NoPieceError(_("the glyph lies outside its image"))
            tile.picture.thumbnail((LARGEST_GLYPH, LARGEST_GLYPH), Image.Resampling.LANCZOS)
            return tile.picture

        return self._region((METHOD, GLYPH_METHOD, name, place), cut, known)

    def _region(self, parts: Sequence[object], cut: Callable[[], Image.Image], known: Collection[str]) -> ImageRegion:
        """The image that `cut` makes, as WebP, with an entity tag made from `parts`; not cut if that is `known`."""
        etag = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=16).hexdigest()
        if etag in known:
            return ImageRegion(b"", etag)
        data = self._pieces.get(etag)
        if data is None:
            data = pack_piece(cut())
            self._pieces.put(etag, data)
        return ImageRegion(data, etag)

    def size(self, name: str) -> tuple[int, int]:
        """Width and height of an image, in pixels. Raises GoneImageError."""
        stored = self._stored(name)
        return turned_size(stored.size, stored.turn)

    def _stored(self, name: str) -> _StoredImage:
        """The image of that name. Raises GoneImageError."""
        match = _NAME.fullmatch(name)
        stored = self._find(match[1]) if match else None
        if match is None or stored is None:
            raise GoneImageError(_("there is no such image in the store"))
        path, width, height = stored
        return _StoredImage(match[1], Path(path), (width, height), int(match[2] or 0))

    def _picture(self, name: str, stored: _StoredImage | None = None) -> Image.Image:
        opened = self._open.get(name)
        if opened is None:
            with self._opening:  # one at a time: the other tiles of the page wait for the first
                opened = self._open.get(name)
                if opened is None:
                    stored = stored or self._stored(name)
                    opened = load_picture(self._path(stored.sha, stored.path))
                    if opened is None or opened.size != stored.size:
                        raise GoneImageError(
                            _("the image cannot be read any more, or has changed: check its page again")
                        )
                    opened = turned_picture(opened, stored.turn)
                    self._open.put(name, opened)
        return opened

    def _path(self, sha: str, name: Path) -> Path:
        """The present path of an image that was at the path `name` when it was checked. Raises GoneImageError."""
        candidates = [self._places[sha]] if sha in self._places else []
        candidates += [name, *(folder / name.name for folder in self._folders)]
        bound = PdfPage.match(name)
        for folder in self._folders:
            if bound:
                candidates += [PdfPage(file, bound.number).path for file in folder.rglob(bound.file.name)]
            else:
                candidates += folder.rglob(name.name)
        for path in candidates:
            try:
                if sha256_of(path) == sha:
                    self._places[sha] = path
                    return path
            except ImageError:
                continue
        raise GoneImageError(
            _("%(name)s: the image is gone or has changed since it was checked: check its page again"), name=name.name
        )


def _bytes_of(image: Image.Image) -> int:
    return image.width * image.height * len(image.getbands())


def _edges(region: str, width: int, height: int) -> tuple[int, int, int, int]:
    match = _REGION.fullmatch(region)
    if match is None:
        raise NoPieceError(_("the region is `full` or `x,y,w,h` in pixels"))
    if region == "full":
        return 0, 0, width, height
    x, y, w, h = (int(group) for group in match.groups())
    if w == 0 or h == 0 or x >= width or y >= height:
        raise NoPieceError(
            _("the region lies outside the image of %(width)s x %(height)s pixels"), width=width, height=height
        )
    return x, y, min(x + w, width), min(y + h, height)


def _wanted(size: str, width: int, height: int) -> tuple[int, int]:
    match = _SIZE.fullmatch(size)
    if match is None:
        raise NoPieceError(_("the size is `max`, `w,`, `,h` or `w,h` in pixels"))
    w, h, alone = (int(group) if group else 0 for group in match.groups())
    if size == "max":
        w, h = width, height
    elif alone:
        w, h = round(width * alone / height), alone
    elif not h:
        h = round(height * w / width)
    w, h = max(w, 1), max(h, 1)
    if size == "max":
        return w, h
    if w > width or h > height:  # a browser enlarges as well, and for nothing
        shrink = min(width / w, height / h)
        w, h = max(round(w * shrink), 1), max(round(h * shrink), 1)
    if max(w, h) > LARGEST_SIDE:
        raise NoPieceError(_("a piece has at most %(most)s pixels a side"), most=LARGEST_SIDE)
    return w, h
