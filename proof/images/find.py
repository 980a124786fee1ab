"""Finds the image file of a page: by the image list, by what the text itself names, or by the page's name."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Self

from proof.errors import ImageError, ImageListError, UsageError, reason_of
from proof.images import pdf
from proof.images.formats import SUFFIXES
from proof.images.imglist import Entry, ImageList, ImageLists, place_of
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
    COUNTED: the pages of a PDF correspond by number to those of the text; ASSIGNED: a person chose it."""

    IMAGE_LIST = "image list"
    REFERENCE = "reference"
    NAME = "name"
    PLATE = "plate"
    COUNTED = "counted"
    ASSIGNED = "assigned"


@dataclass(frozen=True, slots=True)
class PageImage:
    """The file that shows a page: the whole image, or (`quadrant` a to d) a quarter of a plate or half of an opening.

    On a plate a is upper right, b upper left, c lower right, d lower left; on an opening a is right, b left. The image
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
    """All image files of the folders, in their order, and by lookup key. `pdf_pages` are the pages of each PDF, by the
    key of its name; `outward_links` are links that lead out of the folders, with their targets."""

    files: list[_ImageFile] = field(default_factory=list)
    by_path: dict[str, list[_ImageFile]] = field(default_factory=lambda: defaultdict(list))
    by_name: dict[str, list[_ImageFile]] = field(default_factory=lambda: defaultdict(list))
    by_folder_and_name: dict[str, list[_ImageFile]] = field(default_factory=lambda: defaultdict(list))
    outward_links: dict[str, Path] = field(default_factory=dict)
    pdf_pages: dict[str, list[list[_ImageFile]]] = field(default_factory=lambda: defaultdict(list))
    notices: list[Notice] = field(default_factory=list)

    def add(self, file: _ImageFile, root: str) -> None:
        self.files.append(file)
        self.by_path[_path_key(file.relative)].append(file)
        folder_key = _name_key(Path(f"{root}/{file.relative}").parent.name)
        for key in map(_name_key, file.names):
            self.by_name[key].append(file)
            self.by_folder_and_name[f"{folder_key}-{key}"].append(file)

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
            names = (stem_of(path), path.name, label) if label else (stem_of(path), path.name)
            page = _ImageFile(path, f"{file.relative}#{number}", f"{file.identity}#{number}", names)
            pages.append(page)
            self.add(page, root)
        self.pdf_pages[_name_key(file.path.stem)].append(pages)


class ImageIndex:
    """The image files of one or several folders, subfolders included.

    Building it reads the listings of the folders and opens only PDFs, whose pages are images as well. Links are
    followed if they stay inside the folders. If several files match a page, the file of the first folder is taken,
    within a folder the file whose path sorts first, and the `PageImage` has a notice."""

    def __init__(
        self, folders: Iterable[Path | str], lists: Iterable[Path | str] = (), pages: Sequence[Page] = ()
    ) -> None:
        """Raises UsageError for a missing folder, ImageListError for an unreadable list of the `pages` of a text."""
        self._shelf = _scan([Path(folder) for folder in folders])
        self._lists = ImageLists(ImageList.read(path, pages) for path in lists)

    def with_lists(self, lists: Iterable[Path | str], pages: Sequence[Page] = ()) -> Self:
        """The index of the same folders with other image lists: the `pages` of every text have their own lists, but the
        folders are read only once."""
        index = object.__new__(type(self))
        index._shelf = self._shelf
        index._lists = ImageLists(ImageList.read(path, pages) for path in lists)
        return index

    def files(self) -> list[tuple[str, Path]]:
        """All image files: for each the path inside its folder, by which it can be assigned to a page, and the file. If
        two folders have the same path, the file of the first folder counts."""
        files: dict[str, Path] = {}
        for file in self._shelf.files:
            files.setdefault(file.relative, file.path)
        return list(files.items())

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
        """The image of `page`: by its line in the image list, then by the file or the reference that the text itself
        names, then by the page's name.

        For a half-folio without a file of its own it is the plate or the opening that contains it. Raises
        ImageListError, with file and line, if the page's line in the list leads out of the folders.
        """
        entry = self._lists.entry(page)
        image = self._image_of_entry(entry) if entry else None
        if image is None and page.image:
            image = self._image_named(page.image, FoundBy.REFERENCE, self._files_at)
        if image is None and page.ref:
            image = self._image_named(str(page.ref), FoundBy.REFERENCE, self._files_named)
        return image or self._image_by_page_name(page)

    def image_of(self, text: Transcription, number: int) -> PageImage | None:
        """The image of page `number` (from 0) of a text: as `find` gives it, or as `counted`. Raises ImageListError."""
        return self.find(text.pages[number]) or self.counted(text.path.stem, number, len(text.pages))

    def counted(self, name: str, number: int, pages: int) -> PageImage | None:
        """The image of page `number` (from 0) of the text `name`, in a PDF of the same name that has as many pages as
        the text (`pages`)."""
        for pdf_pages in self._shelf.pdf_pages.get(_name_key(name), ()):
            if len(pdf_pages) == pages:
                return PageImage(pdf_pages[number].path, "", FoundBy.COUNTED)
            file = pdf_pages[0].path.name.rpartition("#")[0]
            notice = Notice.of(NoticeCode.PDF_OTHER_LENGTH, file=file, pages=len(pdf_pages), expected=pages)
            if notice not in self._shelf.notices:
                self._shelf.notices.append(notice)
        return None

    def sequence(self) -> list[tuple[str, PageImage]]:
        """The half-folios of all images with their names (parts of an image with their letters), each name once: in the
        order of the image lists, or, without lists, folder by folder in the order of names."""
        images: dict[str, PageImage] = {}
        for entry in self._lists.all():
            image = None if entry.error else self._image_of_entry(entry)
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
        return self._image_named(file, FoundBy.IMAGE_LIST, self._files_at)

    def _image_of_entry(self, entry: Entry) -> PageImage | None:
        """The image that a line of an image list names. Raises ImageListError if it leads out of the folders."""
        image = self.listed(entry.file)
        if image is None:
            self._refuse_outward_link(entry)
        return image

    def _image_named(
        self, name: str, how: FoundBy, files_of: Callable[[str], Sequence[_ImageFile]]
    ) -> PageImage | None:
        """The image with that name, or else the sheet of which the name denotes a part. `files_of` looks a name up."""
        image = _choose(files_of(name), how, suffix=Path(_last(name)).suffix)
        sheet, quadrant = _sheet_of(name)
        if image or not sheet:
            return image
        files = files_of(sheet)
        if ImageRef.match(name) is None and "#" not in sheet:
            # the name KR1d0030_010-1 of page 1 of KR1d0030_010.pdf counts pages: it is no sheet with the half 1a
            files = [file for file in files if not PdfPage.match(file.path)]
        return _choose(files, FoundBy.PLATE, quadrant)

    def _image_by_page_name(self, page: Page) -> PageImage | None:
        """The image whose file is named after the page, or after an opening with the page."""
        by_name, by_folder_and_name = self._shelf.by_name, self._shelf.by_folder_and_name
        for key in map(_name_key, _spellings(page)):
            if image := _choose(by_name.get(key, ()) or by_folder_and_name.get(key, ()), FoundBy.NAME):
                return image
        if place := place_of(page):
            # a file called only 1a lies directly in a folder that the user named for this text
            files = [file for file in by_name.get(str(place[1]), ()) if "/" not in file.relative]
            if image := _choose(files, FoundBy.NAME):
                return image
        for name, half in _openings(page):
            if image := _choose(by_name.get(_name_key(name), ()), FoundBy.PLATE, half):
                return image
        return None

    def _files_at(self, path: str) -> Sequence[_ImageFile]:
        """The files with that path in a folder, or else with its name."""
        return self._shelf.by_path.get(_path_key(path)) or self._files_named(_last(path))

    def _files_named(self, name: str) -> Sequence[_ImageFile]:
        return self._shelf.by_name.get(_name_key(_without_suffix(name)), ())

    def _refuse_outward_link(self, entry: Entry) -> None:
        """Raise ImageListError if the path of a line of an image list leads out of the folders by a link."""
        path = _normal(entry.file)
        for link, target in self._shelf.outward_links.items():
            if path == link or path.startswith(f"{link}/"):
                message = Sentence(
                    _("%(file)s is a link out of the image folders, to %(target)s; name that folder as one of them"),
                    file=entry.file,
                    target=target,
                )
                raise ImageListError(entry.source, entry.line, message)


def _choose(files: Sequence[_ImageFile], how: FoundBy, quadrant: str = "", suffix: str = "") -> PageImage | None:
    """The first of `files`, or the file beside it that differs only in its ending, `suffix`; a notice names the others.
    None without files."""
    if not files:
        return None
    stem = files[0].path.with_suffix("")
    with_suffix = (file for file in files if file.path.suffix == suffix and file.path.with_suffix("") == stem)
    chosen = next(with_suffix, files[0])
    others = {file.identity: str(file.path) for file in files if file.identity != chosen.identity}
    if not others:
        return PageImage(chosen.path, quadrant, how)
    notice = Notice.of(NoticeCode.SEVERAL_FILES, file=str(chosen.path), others=", ".join(others.values()))
    return PageImage(chosen.path, quadrant, how, (notice,))


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
    sheet, letter = stem[:-1], stem[-1:].lower()
    return (sheet, letter) if _last(sheet) and letter and letter in ImageRef.QUADRANTS else ("", "")


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
    opened_book = (f"{leaf}b-{leaf + 1}a", "a") if side == "b" else (f"{leaf - 1}b-{leaf}a", "b")
    stems = [name.removesuffix(str(folio)) for name in _spellings(page) if name.endswith(str(folio))]
    return [(f"{stem}{ending}", half) for stem in stems for ending, half in ((f"{leaf}ab", side), opened_book)]


def _name_key(stem: str) -> str:
    """The key by which names are compared, without case, kind of separator and leading zeros of numbers: `JMML_000-1a`,
    `jmml-000-01A` and `JMML 0 1a` have the same."""
    parts = _SEPARATORS.split(unicodedata.normalize("NFC", stem).casefold())
    return "-".join(re.sub(r"^0+(?=[0-9])", "", part) for part in parts if part)


def _path_key(path: str) -> str:
    folder, slash, name = _normal(path).rpartition("/")
    return unicodedata.normalize("NFC", f"{folder}{slash}{_without_suffix(name)}").casefold()


def _suffix(name: str) -> str:
    """The ending of a file name, in lower case."""
    return os.path.splitext(name)[1].lower()  # noqa: PTH122 - a name, not a path of this machine


def _without_suffix(name: str) -> str:
    """A name without the ending of an image file, if it has one."""
    suffix = _suffix(name)
    return name[: -len(suffix)] if suffix in SUFFIXES else name


def _normal(path: str) -> str:
    return os.path.normpath(path).replace(os.sep, "/")


def _scan(folders: Sequence[Path]) -> _Shelf:
    """The image files of the folders. Raises UsageError for a missing folder."""
    shelf = _Shelf()
    roots = [os.path.realpath(folder) for folder in folders]
    for folder, root in zip(folders, roots, strict=True):
        if not folder.is_dir():
            fault = Sentence(_("does not exist"))
            if folder.exists():
                fault = Sentence(_("is a file; name its folder"))
            raise UsageError(_("the image folder %(folder)s %(fault)s"), folder=folder, fault=fault)
        _scan_folder(shelf, folder, root, roots)
    return shelf


def _scan_folder(shelf: _Shelf, folder: Path, root: str, roots: Sequence[str]) -> None:
    """Add every image file under `folder` to the shelf, in the order of their paths. `root` is the real path of the
    folder, `roots` are those of all folders."""
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        try:
            with os.scandir(folder / inside) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            path = str(folder / inside)
            shelf.notices.append(Notice.of(NoticeCode.FOLDER_UNREADABLE, path=path, error=reason_of(error)))
            continue
        subfolders: list[str] = []
        for entry in entries:
            relative = f"{inside}/{entry.name}" if inside else entry.name
            if entry.name.startswith(".") or not _is_usable(shelf, entry, relative, roots):
                continue
            if entry.is_dir(follow_symlinks=False):
                subfolders.append(relative)
            elif _suffix(entry.name) in BOUND_OR_SINGLE and _is_file(entry, shelf):
                identity = os.path.realpath(entry.path) if entry.is_symlink() else f"{root}{os.sep}{relative}"
                file = _ImageFile(Path(entry.path), relative, identity, (Path(entry.name).stem,))
                if _suffix(entry.name) == pdf.SUFFIX:
                    shelf.add_pages(file, root)
                else:
                    shelf.add(file, root)
        waiting.extend(reversed(subfolders))


def _is_usable(shelf: _Shelf, entry: os.DirEntry[str], relative: str, roots: Sequence[str]) -> bool:
    """Whether the name of a file or folder is UTF-8, and its link, if it is one, stays inside the folders; otherwise
    the shelf gets a notice. `relative` is its path in the folder."""
    name = entry.name.encode(errors="backslashreplace").decode()
    if name != entry.name:  # neither a list nor the store can name it
        notice = Notice.of(
            NoticeCode.FILE_UNREADABLE, path=str(Path(entry.path).with_name(name)), error="rename it in UTF-8"
        )
        shelf.notices.append(notice)
        return False
    if not entry.is_symlink():
        return True
    target = os.path.realpath(entry.path)
    if _inside(target, roots):
        return True
    shelf.outward_links[relative] = Path(target)
    shelf.notices.append(Notice.of(NoticeCode.LINK_OUTWARD, path=str(Path(entry.path)), target=target))
    return False


def _is_file(entry: os.DirEntry[str], shelf: _Shelf) -> bool:
    try:
        return entry.is_file()
    except OSError as error:  # a link that leads to itself
        shelf.notices.append(Notice.of(NoticeCode.LINK_BROKEN, path=entry.path, error=reason_of(error)))
        return False


def _inside(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in roots)
