"""Page images cut on demand, at addresses of the IIIF Image API 3.0 (level 1, with `w,h`).

The identifier of an image is the hash of its bytes: so answers can be cached indefinitely, and only checked files can
be requested. An image that lies on its side or upside down has a second identifier, under which it is turned upright
(`name_of`)."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from proof.errors import ImageError, PublicError
from proof.images.load import load_picture, sha256_of
from proof.images.pdf import PdfPage
from proof.locale.marking import _
from proof.report.crops import METHOD_VERSION, pack_piece
from proof.report.glyphs import GLYPH_METHOD_VERSION, GlyphPlace, cut_glyph
from proof.report.upright import turn_of, turned_picture, turned_size
from proof.store.cache import Bounded

OPEN_BYTES = 160 << 20
"""Maximum memory for decoded images."""
PIECES_BYTES = 64 << 20
"""Maximum memory for pieces as WebP."""
MAX_SIDE_PX = 4000
"""Maximum length of the longer side of a piece."""
MAX_GLYPH_PX = 400
"""Maximum length of the longer side of a glyph tile."""
VIEWER_TILE_PX = 512
"""Side of the tiles that the viewer requests."""

_NAME = re.compile(r"([0-9a-f]{64})(?:-(90|180|270))?")
_REGION = re.compile(r"full|(\d{1,6}),(\d{1,6}),(\d{1,6}),(\d{1,6})")
_SIZE = re.compile(r"max|(\d{1,6}),(\d{1,6})?|,(\d{1,6})")


def name_of(sha: str, skew: float) -> str:
    """The identifier under which an image with that skew (`PageResult.skew`, degrees) is upright: its hash, followed by
    the degrees by which it must be turned clockwise, if any."""
    turn = turn_of(skew)
    return f"{sha}-{turn}" if turn else sha


class NoPieceError(PublicError):
    """The address names a region or size that the image does not have."""

    http_status = 400


class GoneImageError(PublicError):
    """No image with this hash is in the store, or its file is gone or has changed since it was checked."""

    http_status = 404


@dataclass(frozen=True, slots=True)
class ImageRegion:
    """A piece of an image as WebP, with its entity tag; `data` is empty if the client already has it."""

    data: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class _StoredImage:
    """An image: its path when it was checked, its width and height before turning, and the degrees by which it is
    turned clockwise."""

    sha: str
    path: Path
    size: tuple[int, int]
    turn: int


class Images:
    """The images of a project. `find` gives, for the hash of an image, its path at the time of the check, its width and
    its height. If the image was moved since, the `folders` are searched for it."""

    def __init__(self, find: Callable[[str], tuple[str, int, int] | None], folders: Iterable[Path]) -> None:
        self._find = find
        self._folders = tuple(folders)
        self._open: Bounded[str, Image.Image] = Bounded(OPEN_BYTES, _bytes_of)
        self._pieces: Bounded[str, bytes] = Bounded(PIECES_BYTES, len)
        self._present_paths: dict[str, Path] = {}
        self._opening = threading.Lock()

    def piece(self, name: str, region: str, size: str, known_tags: Collection[str] = ()) -> ImageRegion:
        """The piece `region` of an image at `size`, both in IIIF notation; not cut if its entity tag is in
        `known_tags`. Raises NoPieceError, GoneImageError."""
        stored = self._stored(name)
        left, top, right, bottom = edges = _edges(region, *turned_size(stored.size, stored.turn))
        target_size = _size_in_pixels(size, right - left, bottom - top)

        def cut() -> Image.Image:
            piece = self._picture(name).crop(edges)
            return piece if piece.size == target_size else piece.resize(target_size, Image.Resampling.LANCZOS)

        return self._region((METHOD_VERSION, name, *edges, *target_size), cut, known_tags)

    def glyph(self, name: str, place: GlyphPlace, known_tags: Collection[str] = ()) -> ImageRegion:
        """The tile of a glyph (`proof.report.glyphs`) of an image; not cut if its entity tag is in `known_tags`.
        Raises NoPieceError, GoneImageError."""

        def cut() -> Image.Image:
            tile = cut_glyph(self._picture(name), place)
            if tile is None:
                raise NoPieceError(_("the glyph is outside its image"))
            tile.picture.thumbnail((MAX_GLYPH_PX, MAX_GLYPH_PX), Image.Resampling.LANCZOS)
            return tile.picture

        return self._region((METHOD_VERSION, GLYPH_METHOD_VERSION, name, place), cut, known_tags)

    def _region(
        self, parts: Sequence[object], cut: Callable[[], Image.Image], known_tags: Collection[str]
    ) -> ImageRegion:
        """The image that `cut` returns, as WebP, with an entity tag made from `parts`. If the tag is in `known_tags`,
        `cut` is not called."""
        etag = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=16).hexdigest()
        if etag in known_tags:
            return ImageRegion(b"", etag)
        return ImageRegion(self._pieces.get(etag) or self._pieces.put(etag, pack_piece(cut())), etag)

    def size(self, name: str) -> tuple[int, int]:
        """Width and height of an image, in pixels. Raises GoneImageError."""
        stored = self._stored(name)
        return turned_size(stored.size, stored.turn)

    def _stored(self, name: str) -> _StoredImage:
        """The image with the identifier `name`. Raises GoneImageError."""
        match = _NAME.fullmatch(name)
        stored = self._find(match[1]) if match else None
        if match is None or stored is None:
            raise GoneImageError(_("there is no such image in the store"))
        path, width, height = stored
        return _StoredImage(match[1], Path(path), (width, height), int(match[2] or 0))

    def _picture(self, name: str) -> Image.Image:
        """The decoded image, upright. Raises GoneImageError."""
        opened = self._open.get(name)
        if opened is None:
            with self._opening:  # concurrent requests for tiles of an image decode it once
                opened = self._open.get(name)
                if opened is None:
                    stored = self._stored(name)
                    opened = load_picture(self._path(stored.sha, stored.path))
                    if opened is None or opened.size != stored.size:
                        raise GoneImageError(
                            _("the image cannot be read any more, or has changed: check its page again")
                        )
                    opened = self._open.put(name, turned_picture(opened, stored.turn))
        return opened

    def _path(self, sha: str, checked: Path) -> Path:
        """The present path of an image; `checked` is its path at the time of the check. Raises GoneImageError."""
        for path in self._candidates(sha, checked):
            try:
                if sha256_of(path) == sha:
                    self._present_paths[sha] = path
                    return path
            except ImageError:
                continue
        message = _("%(name)s: the image is gone or has changed since it was checked: check its page again")
        raise GoneImageError(message, name=checked.name)

    def _candidates(self, sha: str, checked: Path) -> Iterator[Path]:
        """Paths at which an image may be, the likeliest first, so that only a moved image needs a search."""
        if sha in self._present_paths:
            yield self._present_paths[sha]
        yield checked
        yield from (folder / checked.name for folder in self._folders)
        page = PdfPage.match(checked)
        for folder in self._folders:
            if page:
                yield from (PdfPage(file, page.number).path for file in folder.rglob(page.file.name))
            else:
                yield from folder.rglob(checked.name)


def _bytes_of(image: Image.Image) -> int:
    return image.width * image.height * len(image.getbands())


def _edges(region: str, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a `region`, in IIIF notation, of an image of that size. Raises NoPieceError."""
    match = _REGION.fullmatch(region)
    if match is None:
        raise NoPieceError(_("the region is `full` or `x,y,w,h` in pixels"))
    if region == "full":
        return 0, 0, width, height
    x, y, w, h = (int(group) for group in match.groups())
    if w == 0 or h == 0 or x >= width or y >= height:
        raise NoPieceError(
            _("the region is outside the image of %(width)s x %(height)s pixels"), width=width, height=height
        )
    return x, y, min(x + w, width), min(y + h, height)


def _size_in_pixels(size: str, width: int, height: int) -> tuple[int, int]:
    """Width and height for a `size`, in IIIF notation, of a region of `width` x `height`. Raises NoPieceError."""
    match = _SIZE.fullmatch(size)
    if match is None:
        raise NoPieceError(_("the size is `max`, `w,`, `,h` or `w,h` in pixels"))
    if size == "max":
        return width, height
    w, h, only_h = (int(group) if group else 0 for group in match.groups())
    if only_h:
        w, h = round(width * only_h / height), only_h
    elif not h:
        h = round(height * w / width)
    w, h = max(w, 1), max(h, 1)
    if w > width or h > height:  # not enlarged: browsers can do that as well
        shrink = min(width / w, height / h)
        w, h = max(round(w * shrink), 1), max(round(h * shrink), 1)
    if max(w, h) > MAX_SIDE_PX:
        raise NoPieceError(_("a piece has at most %(most)s pixels a side"), most=MAX_SIDE_PX)
    return w, h
