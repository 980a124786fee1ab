"""Finding the image file of a page: by the image list, by the page's own reference, or by name."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Self

from proof.errors import ImageError, ImageListError, UsageError, reason_of
from proof.images import pdf
from proof.images.imglist import Entry, ImageList, ImageLists, place_of
from proof.images.load import SUFFIXES
from proof.images.pdf import PdfPage, stem_of
from proof.locale.marking import Sentence, _
from proof.model.notices import Notice, NoticeCode
from proof.model.refs import ImageRef, PageId
from proof.paths import natural
from proof.text.model import Page
from proof.text.transcription import Transcription

BOUND_OR_SINGLE = SUFFIXES | {pdf.SUFFIX}
"""Endings of image files and of PDFs, in lower case."""

_OPENING = re.compile(r"[_.\- ][0-9]+(?:ab|b[_.\- ][0-9]+a)$", re.IGNORECASE)
"""The end of the name of an opening: `010-1ab`, `010-1b-2a`."""
_SEPARATORS = re.compile(r"[\s_.\-]+")


class FoundBy(StrEnum):
    """How an image was found. PLATE: the half-folio has no file of its own but is part of a plate or an opening;
    COUNTED: the pages of a PDF correspond to those of the text by number; ASSIGNED: a person chose it."""

    IMAGE_LIST = "image list"
    REFERENCE = "reference"
    NAME = "name"
    PLATE = "plate"
    COUNTED = "counted"
    ASSIGNED = "assigned"


@dataclass(frozen=True, slots=True)
class PageImage:
    """The file that shows a page: the whole image, or (`quadrant` a to d) a quarter of a plate or half of an opening.

    On a plate a is upper right, b upper left, c lower right, d lower left, on an opening a right and b left; the image
    is divided later. `notices` say which file was chosen if several matched."""

    path: Path
    quadrant: str
    how: FoundBy
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class _ImageFile:
    """A file in one of the folders, or a page of a PDF there. `relative` is its path in the folder, `identity` its real
    path; `names` are its names without suffix."""

    path: Path
    relative: str
    identity: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shelf:
    """All image files of the folders, by lookup key, in the order of the folders."""

    files: list[_ImageFile] = field(default_factory=list)
    by_path: dict[str, list[_ImageFile]] = field(default_factory=lambda: defaultdict(list))
    by_name: dict[str, list[_ImageFile]] = field(default_factory=lambda: defaultdict(list))
    by_folder_and_name: dict[str, list[_ImageFile]] = field(default_factory=lambda: defaultdict(list))
    outward_links: dict[str, Path] = field(default_factory=dict)
    bound: dict[str, list[list[_ImageFile]]] = field(default_factory=lambda: defaultdict(list))
    notices: list[Notice] = field(default_factory=list)

    def add(self, file: _ImageFile, root: str) -> None:
        self.files.append(file)
        folder = f"{root}/{file.relative}".rpartition("/")[0]
        self.by_path[_path_key(file.relative)].append(file)
        for stem in map(_name_key, file.names):
            self.by_name[stem].append(file)
            self.by_folder_and_name[f"{_name_key(Path(folder).name)}-{stem}"].append(file)

    def add_pages(self, file: _ImageFile, root: str) -> None:
        """Add every page of a PDF as an image, also under its page label (`10-1a`)."""
        try:
            labels = pdf.page_labels(file.path)
        except ImageError as error:
            self.notices.append(Notice.of_error(error))
            return
        pages = []
        for number, label in enumerate(labels, 1):
            path = PdfPage(file.path, number).path
            names = (stem_of(path), path.name, *([label] if label else []))
            pages.append(_ImageFile(path, f"{file.relative}#{number}", f"{file.identity}#{number}", names))
            self.add(pages[-1], root)
        self.bound[_name_key(file.path.stem)].append(pages)


class ImageIndex:
    """The image files of one or several folders, subfolders included.

    Building it reads the listings of the folders and opens only PDFs, whose pages are images as well. Links are
    followed if they stay inside the folders. If several files match a page, that of the first folder is taken, then
    that whose path sorts first, and the `PageImage` has a notice."""

    def __init__(self, folders: Iterable[Path | str], lists: Iterable[Path | str] = ()) -> None:
        """Raises UsageError for a folder that is not there, ImageListError for an unreadable list."""
        self._shelf = _scan([Path(folder) for folder in folders])
        self._lists = ImageLists(ImageList.read(path) for path in lists)

    def with_lists(self, lists: Iterable[Path | str]) -> Self:
        """The index of the same folders with other image lists: every text has its own lists, but the folders are read
        only once."""
        other = object.__new__(type(self))
        other._shelf = self._shelf
        other._lists = ImageLists(ImageList.read(path) for path in lists)
        return other

    def files(self) -> list[tuple[str, Path]]:
        """All image files: for each the path inside its folder, by which it can be assigned to a page, and the file. If
        two folders have the same path, the file of the first folder counts."""
        path_of_name: dict[str, Path] = {}
        for file in self._shelf.files:
            path_of_name.setdefault(file.relative, file.path)
        return list(path_of_name.items())

    def every_file(self) -> list[tuple[str, Path]]:
        """All image files, also those with the same path in another folder."""
        return [(file.relative, file.path) for file in self._shelf.files]

    def assigned(self, name: str, quadrant: str = "") -> PageImage | None:
        """The image with that path inside the folders, which a person assigned to a page; None if there is none."""
        path = dict(self.files()).get(name)
        return None if path is None else PageImage(path, quadrant, FoundBy.ASSIGNED)

    def __len__(self) -> int:
        return len({file.identity for file in self._shelf.files})

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices about unusable lines of the image lists, and about skipped links and folders."""
        return (*self._lists.notices, *self._shelf.notices)

    def find(self, page: Page) -> PageImage | None:
        """The image of `page`: by its line in the image list, then by its reference, then by its name.

        For a half-folio without a file of its own it is the plate or the opening that contains it. Raises
        ImageListError, with file and line, if the page's line in the list leads out of the folders.
        """
        entry = self._lists.entry(page)
        return (entry and self._listed(entry)) or (page.ref and self._referred(page.ref)) or self._named(page)

    def image_of(self, text: Transcription, number: int) -> PageImage | None:
        """The image of page `number` (from 0) of a text: as `find` gives it, or as `counted`. Raises ImageListError."""
        return self.find(text.pages[number]) or self.counted(text.path.stem, number, len(text.pages))

    def counted(self, name: str, number: int, pages: int) -> PageImage | None:
        """The image of page `number` (from 0) of the text `name`, in a PDF of the same name that has as many pages as
        the text (`pages`)."""
        for bound in self._shelf.bound.get(_name_key(name), ()):
            if len(bound) == pages:
                return PageImage(bound[number].path, "", FoundBy.COUNTED)
            file = bound[0].path.name.rpartition("#")[0]
            notice = Notice.of(NoticeCode.PDF_OTHER_LENGTH, file=file, pages=len(bound), expected=pages)
            if notice not in self._shelf.notices:
                self._shelf.notices.append(notice)
        return None

    def sequence(self) -> list[tuple[str, PageImage]]:
        """The half-folios of all images with their names (those of parts with their letters), each name once: in the
        order of the image lists, or, without lists, folder by folder in the order of names."""
        images: dict[str, PageImage] = {}
        for entry in self._lists.all():
            image = self._listed(entry) if not entry.error else None
            if image is not None:
                images.setdefault(f"{stem_of(image.path)}{image.quadrant}", image)
        if images:
            return list(images.items())
        for file in sorted(self._shelf.files, key=lambda file: (str(file.path.parent), natural(file.names[0]))):
            for quadrant in _parts_of(file):
                how = FoundBy.PLATE if quadrant else FoundBy.NAME
                images.setdefault(f"{file.names[0]}{quadrant}", PageImage(file.path, quadrant, how))
        return list(images.items())

    def reference(self, page: Page) -> ImageRef | None:
        """The page's own image reference, or that of its line in the image list."""
        if page.ref:
            return page.ref
        try:
            entry = self._lists.entry(page)
        except ImageListError:
            return None
        return ImageRef.match(entry.file) if entry else None

    def listed(self, file: str) -> PageImage | None:
        """The image that an image list names `file`: a file, or a part of one; None if there is none."""
        return self._served(file, FoundBy.IMAGE_LIST, lambda path: self._at(path) or self._called(_last(path)))

    def _listed(self, entry: Entry) -> PageImage | None:
        image = self.listed(entry.file)
        if image is None:
            self._refuse_outward_link(entry)
        return image

    def _referred(self, ref: ImageRef) -> PageImage | None:
        return self._served(str(ref), FoundBy.REFERENCE, self._called)

    def _served(self, name: str, how: FoundBy, files: Callable[[str], Sequence[_ImageFile]]) -> PageImage | None:
        """The image with that name, or else the sheet of which the name denotes a part."""
        if image := _choose(files(name), how, suffix=Path(_last(name)).suffix):
            return image
        sheet, quadrant = _sheet_of(name)
        # the name KR1d0030_010-1 of page 1 of KR1d0030_010.pdf counts pages: it is no sheet with the half 1a
        counted = ImageRef.match(name) is None and "#" not in sheet
        whole = files(sheet) if sheet else ()
        return _choose([file for file in whole if not (counted and PdfPage.match(file.path))], FoundBy.PLATE, quadrant)

    def _named(self, page: Page) -> PageImage | None:
        for name in _spellings(page):
            key = _name_key(name)
            if image := _choose(self._shelf.by_name.get(key) or self._shelf.by_folder_and_name.get(key), FoundBy.NAME):
                return image
        place = place_of(page)
        # A file called 1a alone lies directly in a folder that the user named for this text.
        top = [file for file in self._shelf.by_name.get(str(place[1]), ()) if "/" not in file.relative] if place else []
        if image := _choose(top, FoundBy.NAME):
            return image
        for name, quadrant in _openings(page):
            key = _name_key(name)
            if image := _choose(self._shelf.by_name.get(key), FoundBy.PLATE, quadrant):
                return image
        return None

    def _at(self, path: str) -> Sequence[_ImageFile]:
        return self._shelf.by_path.get(_path_key(path), ())

    def _called(self, name: str) -> Sequence[_ImageFile]:
        return self._shelf.by_name.get(_name_key(_without_suffix(name)), ())

    def _refuse_outward_link(self, entry: Entry) -> None:
        path = _normal(entry.file)
        for link, target in self._shelf.outward_links.items():
            if path == link or path.startswith(f"{link}/"):
                message = Sentence(
                    _("%(file)s is a link out of the image folders, to %(target)s; name that folder as one of them"),
                    file=entry.file,
                    target=target,
                )
                raise ImageListError(entry.source, entry.line, message)


def _choose(files: Sequence[_ImageFile] | None, how: FoundBy, quadrant: str = "", suffix: str = "") -> PageImage | None:
    """The first of `files`, or the one beside it that differs in its ending alone, `suffix`; a notice names the others.
    None without files."""
    if not files:
        return None
    stem = files[0].path.with_suffix("")
    first = next((file for file in files if file.path.suffix == suffix and file.path.with_suffix("") == stem), files[0])
    others = {file.identity: file for file in files if file.identity != first.identity}
    image = PageImage(first.path, quadrant, how)
    if not others:
        return image
    rest = ", ".join(str(file.path) for file in others.values())
    return replace(image, notices=(Notice.of(NoticeCode.SEVERAL_FILES, file=str(first.path), others=rest),))


def _parts_of(file: _ImageFile) -> Sequence[str]:
    """The letters of an image's parts according to its name: four of a plate, two of an opening, '' of a half-folio."""
    ref = ImageRef.match(file.names[0]) if PdfPage.match(file.path) is None else None
    if ref is not None and ref.is_plate:
        return ImageRef.QUADRANTS
    return "ab" if any(map(_OPENING.search, file.names)) else ("",)


def names_of(page: Page) -> list[str]:
    """The longest and the shortest name, without ending, that an image of `page` may have."""
    names = _spellings(page)
    return list(dict.fromkeys((names[0], names[-1])))


def _spellings(page: Page) -> list[str]:
    """The names, without suffix, that an image of `page` may have, the most specific first."""
    parts, place = PageId.match(page.id), place_of(page)
    names = [page.id]
    if parts:
        names += [f"{parts.work}_{parts.juan}-{parts.folio}", f"{parts.edition}_{parts.juan}-{parts.folio}"]
        names.append(f"{parts.juan}-{parts.folio}")
    elif place:
        names.append(f"{place[0]}-{place[1]}")
    return names


def _sheet_of(name: str) -> tuple[str, str]:
    """The sheet, and the part of it that the last letter of a name denotes; ("", "") without such a letter.

    `WYG0140-0330c.png` is quadrant c of the plate `WYG0140-0330`, `book/0012b.jpg` the left half of the opening
    `book/0012`, `scan.pdf#12a` the right half of page 12.
    """
    stem = f"{name.removesuffix(_last(name))}{_without_suffix(_last(name))}"
    whole, letter = stem[:-1], stem[-1:].lower()
    return (whole, letter) if _last(whole) and letter and letter in ImageRef.QUADRANTS else ("", "")


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _openings(page: Page) -> list[tuple[str, str]]:
    """The names, without suffix, that an opening with `page` may have, each with the half that shows it: `010-1ab` is
    an unfolded leaf, `010-1b-2a` an opened book."""
    place = place_of(page)
    if place is None:
        return []
    _, folio = place
    leaf, side = folio.leaf, folio.side
    pairs = [(f"{leaf}ab", side), (f"{leaf}b-{leaf + 1}a", "a") if side == "b" else (f"{leaf - 1}b-{leaf}a", "b")]
    stems = [name.removesuffix(str(folio)) for name in _spellings(page) if name.endswith(str(folio))]
    return [(f"{stem}{pair}", half) for stem in stems for pair, half in pairs]


def _name_key(stem: str) -> str:
    """The key by which names are compared, without case, kind of separator and leading zeros of numbers: `JMML_000-1a`,
    `jmml-000-01A` and `JMML 0 1a` have the same."""
    parts = _SEPARATORS.split(unicodedata.normalize("NFC", stem).casefold())
    return "-".join(re.sub(r"^0+(?=[0-9])", "", part) for part in parts if part)


def _path_key(path: str) -> str:
    folder, slash, name = _normal(path).rpartition("/")
    return unicodedata.normalize("NFC", f"{folder}{slash}{_without_suffix(name)}").casefold()


def _without_suffix(name: str) -> str:
    stem, suffix = os.path.splitext(name)  # noqa: PTH122 - a name, not a path of this machine
    return stem if suffix.lower() in SUFFIXES else name


def _normal(path: str) -> str:
    return os.path.normpath(path).replace(os.sep, "/")


def _scan(folders: Sequence[Path]) -> _Shelf:
    shelf = _Shelf()
    roots = [os.path.realpath(folder) for folder in folders]
    for folder, root in zip(folders, roots, strict=True):
        if not folder.is_dir():
            fault = (
                Sentence(_("is a file; name the folder it lies in"))
                if folder.exists()
                else Sentence(_("does not exist"))
            )
            raise UsageError(_("the image folder %(folder)s %(fault)s"), folder=folder, fault=fault)
        _scan_folder(shelf, folder, root, roots)
    return shelf


def _scan_folder(shelf: _Shelf, folder: Path, root: str, roots: Sequence[str]) -> None:
    """Add every image file under `folder` to the shelf, in the order of their paths."""
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        try:
            with os.scandir(folder / inside) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            where, why = str(folder / inside), reason_of(error)
            shelf.notices.append(Notice.of(NoticeCode.FOLDER_UNREADABLE, path=where, error=why))
            continue
        below: list[str] = []
        for entry in entries:
            relative = f"{inside}/{entry.name}" if inside else entry.name
            if entry.name.startswith("."):
                continue
            name = entry.name.encode(errors="backslashreplace").decode()
            if name != entry.name:  # bytes that are not UTF-8, which neither a list nor the store can name
                shelf.notices.append(
                    Notice.of(NoticeCode.FILE_UNREADABLE, path=str(folder / inside / name), error="rename it in UTF-8")
                )
                continue
            if entry.is_symlink() and not _inside(os.path.realpath(entry.path), roots):
                target = Path(os.path.realpath(entry.path))
                shelf.outward_links[relative] = target
                where = str(folder / relative)
                shelf.notices.append(Notice.of(NoticeCode.LINK_OUTWARD, path=where, target=str(target)))
            elif entry.is_dir(follow_symlinks=False):
                below.append(relative)
            elif os.path.splitext(entry.name)[1].lower() in BOUND_OR_SINGLE and _is_file(entry, shelf):  # noqa: PTH122
                identity = os.path.realpath(entry.path) if entry.is_symlink() else f"{root}{os.sep}{relative}"
                file = _ImageFile(Path(entry.path), relative, identity, (Path(entry.name).stem,))
                if file.path.suffix.lower() == pdf.SUFFIX:
                    shelf.add_pages(file, root)
                else:
                    shelf.add(file, root)
        waiting.extend(reversed(below))


def _is_file(entry: os.DirEntry[str], shelf: _Shelf) -> bool:
    try:
        return entry.is_file()
    except OSError as error:  # a link that leads to itself
        shelf.notices.append(Notice.of(NoticeCode.LINK_BROKEN, path=entry.path, error=reason_of(error)))
        return False


def _inside(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in roots)
