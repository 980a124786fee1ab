"""A folder of reading files of other software, as an engine. It knows which file belongs to which image.

The engine reads no strips: the check of a page takes the lines of its image from it (`page_of`).
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from proof.errors import EngineError, os_errors_as
from proof.images.pdf import stem_of
from proof.locale.marking import Sentence, _
from proof.model.geometry import Box
from proof.model.notices import Notice, NoticeCode
from proof.ocr.engine import EngineIdentity, Pixels, Reading
from proof.ocr.external.model import ExternalPage, GivenCharacter, ReadingFileError
from proof.ocr.external.parse import parse_readings
from proof.ocr.null import NullEngine

SUFFIXES = frozenset({".xml", ".hocr", ".html", ".htm", ".xhtml", ".alto", ".page"})

MAX_FILE_BYTES = 200_000_000
"""Size above which a file is taken to be no reading file."""

MAX_SHAPE_DIFFERENCE = 0.02
"""Relative difference of the proportions of a reading and its image above which it belongs to another image."""

_IMAGE_NAMES = re.compile(
    rb"imageFilename\s*=\s*[\"']([^\"']*)[\"']|<(?:\w+:)?fileName>([^<]*)<|\bimage\s+(?:\"|&quot;|')?([^\"';&]+)"
)


class ExternalEngine(NullEngine):
    """The readings in the files of a folder, or in one file. Raises EngineError if there are none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        paths = [folder] if folder.is_file() else sorted(folder.rglob("*")) if folder.is_dir() else []
        files = [path for path in paths if path.suffix.lower() in SUFFIXES and path.is_file()]
        if not files:
            message = Sentence(
                _("%(folder)s: no PAGE XML, ALTO or hOCR is there; name the file, or the folder that holds them"),
                folder=folder,
            )
            raise EngineError(message)
        digest = hashlib.sha256()
        self._by_named_image: dict[str, list[Path]] = {}
        self._by_file_name: dict[str, list[Path]] = {}
        for path in files:
            data = _content(path)
            digest.update(f"{path.relative_to(folder)}\0{len(data)}\0".encode() + data)
            for key in dict.fromkeys(_image_keys(data)):
                self._by_named_image.setdefault(key, []).append(path)
            self._by_file_name.setdefault(_image_key(path.name), []).append(path)
        self.identity = EngineIdentity("readings", "1", folder.name, digest.hexdigest())
        self._parsed = lru_cache(maxsize=16)(lambda path: parse_readings(path, _content(path)))

    def knows(self, character: str) -> bool:
        return True

    def read(self, strips: Sequence[Pixels], sought: Sequence[str] = ()) -> list[Reading]:
        raise EngineError(
            _("%(folder)s: these readings are of whole pages, not of strips; choose another engine"),
            folder=self._folder,
        )

    def page_of(self, image: Path, size: tuple[int, int]) -> ExternalPage:
        """The reading of an image, in its pixels. Raises EngineError if there is none."""
        key = _image_key(image.name)
        naming_it, called_like_it = self._by_named_image.get(key, []), self._by_file_name.get(key, [])
        both = [path for path in called_like_it if path in naming_it]
        candidates = list(dict.fromkeys([*both, *naming_it, *called_like_it]))
        if not candidates:
            raise EngineError(
                _(
                    "%(folder)s: no file there is a reading of %(name)s; add one that names this image "
                    "or is called %(stem)s.xml"
                ),
                folder=self._folder,
                name=image.name,
                stem=stem_of(image),
            )
        path = candidates[0]
        pages = self._parsed(path)
        if not pages:
            raise ReadingFileError(path, None, _("contains no page; export it again"))
        # a file with the image's name need not name an image inside, but it must not name another one
        page = next((page for page in pages if _image_key(page.image) == key), None)
        page = page or next((page for page in pages if not page.image), None)
        if page is None:
            raise ReadingFileError(
                path,
                None,
                _("is a reading of %(image)s, not of %(name)s; rename it"),
                image=pages[0].image,
                name=image.name,
            )
        if len(candidates) > 1:
            others = ", ".join(map(str, candidates[1:]))
            notice = Notice.of(NoticeCode.SEVERAL_READINGS, file=str(path), others=others)
            page = replace(page, notices=(*page.notices, notice))
        return _scaled(page, size)


def _scaled(page: ExternalPage, size: tuple[int, int]) -> ExternalPage:
    """The page in the pixels of its image, which has another size if the software read a scaled copy or the file has
    another unit. Raises ReadingFileError if the proportions differ."""
    if min(page.size) <= 0 or page.size == size:
        return page
    across, down = size[0] / page.size[0], size[1] / page.size[1]
    if abs(across / down - 1) > MAX_SHAPE_DIFFERENCE:
        given = f"{page.size[0]:g} x {page.size[1]:g}"
        message = Sentence(
            _("is of an image of %(given)s, this one has %(width)s x %(height)s pixels; read this one, or use that"),
            given=given,
            width=size[0],
            height=size[1],
        )
        raise ReadingFileError(page.source, None, message)

    def scaled(box: Box) -> Box:
        return Box(box.x * across, box.y * down, box.w * across, box.h * down)

    def moved(character: GivenCharacter) -> GivenCharacter:
        return replace(character, box=scaled(character.box))

    lines = (replace(line, characters=tuple(map(moved, line.characters)), box=scaled(line.box)) for line in page.lines)
    return replace(page, lines=tuple(lines))


def _image_keys(data: bytes) -> list[str]:
    """The keys of the images that a file names."""
    names = (next((part for part in match.groups() if part), b"") for match in _IMAGE_NAMES.finditer(data))
    return [_image_key(html.unescape(name.decode("utf-8", "replace"))) for name in names if name.strip()]


def _image_key(name: str) -> str:
    """What the name of an image and that of its reading have in common: the name without folder, ending and case."""
    return stem_of(Path(name.strip().replace("\\", "/"))).casefold()


def _content(path: Path) -> bytes:
    with os_errors_as(ReadingFileError, path, None, _("cannot be read (%(reason)s); allow reading it")):
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ReadingFileError(
                path, None, _("has more than %(most)s MB; split it into pages"), most=MAX_FILE_BYTES // 1000000
            )
        return path.read_bytes()
